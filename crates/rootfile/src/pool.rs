//! Shares descriptors and streamer infos among the input files of a job. Files of one production have the same streamer infos, which
//! are parsed once. What holds the descriptors is in `descriptors`.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::Result;
use crate::address::{self, Credentials};
use crate::descriptors::{Descriptors, PooledFile};
use crate::reach::Follow;
use crate::source::Source;
use crate::streamer::StreamerInfos;
use crate::url::url;

/// Streamer infos that are kept while no open file has them: those of the productions that alternate in a list of files.
const KEPT_INFOS: usize = 16;

/// A hash of a record of streamer infos.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct InfosHash(pub u64, pub u64);

/// Streamer infos that files share: those of open files, found by the hash of their record, and the last few that were parsed.
#[derive(Debug, Default)]
struct KnownInfos {
    all: HashMap<InfosHash, Weak<StreamerInfos>>,
    newest: VecDeque<Arc<StreamerInfos>>,
}

/// Files that share descriptors and streamer infos.
#[derive(Debug)]
pub struct FilePool {
    descriptors: Arc<Descriptors>,
    follow: Follow,
    infos: Mutex<KnownInfos>,
}

impl FilePool {
    /// A pool whose files are opened while the process has fewer than `limit` open for reading, at least one; the others are closed,
    /// and opened again when they are read. Where the system grants few descriptors, files may hold half of them.
    pub fn new(limit: usize) -> Arc<Self> {
        Self::following(limit, Follow::default())
    }

    /// A pool like that, of files whose addresses of other files are followed so far.
    pub fn following(limit: usize, follow: Follow) -> Arc<Self> {
        Arc::new(Self { descriptors: Descriptors::new(limit), follow, infos: Mutex::default() })
    }

    /// How far addresses in its files are followed.
    pub(crate) fn follow(&self) -> Follow {
        self.follow
    }

    /// A source with the bytes of a file. The pool opens and closes a local file as needed; URLs are opened as by [`crate::RootFile::open`].
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or is not a regular file.
    pub fn source(&self, path: &Path) -> Result<Arc<dyn Source>> {
        self.source_as(path, Credentials::Users)
    }

    /// The same with these credentials.
    pub(crate) fn source_as(&self, path: &Path, credentials: Credentials) -> Result<Arc<dyn Source>> {
        match url(path) {
            Some(url) => address::open_url(url, credentials),
            None => Ok(Arc::new(PooledFile::open(&address::local(path), &self.descriptors)?)),
        }
    }

    /// The streamer infos with this hash; parsed if the pool does not have them.
    pub(crate) fn shared_infos(
        &self,
        hash: InfosHash,
        make: impl FnOnce() -> Result<StreamerInfos>,
    ) -> Result<Arc<StreamerInfos>> {
        let lock = || self.infos.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().find(hash) {
            return Ok(known);
        }
        let made = Arc::new(make()?);
        // Another thread may have parsed the same meanwhile: all files share one.
        let mut infos = lock();
        Ok(infos.find(hash).unwrap_or_else(|| infos.add(hash, made)))
    }
}

impl KnownInfos {
    fn find(&self, hash: InfosHash) -> Option<Arc<StreamerInfos>> {
        self.all.get(&hash)?.upgrade()
    }

    fn add(&mut self, hash: InfosHash, made: Arc<StreamerInfos>) -> Arc<StreamerInfos> {
        if self.newest.len() >= KEPT_INFOS {
            self.newest.pop_front();
        }
        self.newest.push_back(Arc::clone(&made));
        self.all.retain(|_, infos| infos.strong_count() > 0);
        self.all.insert(hash, Arc::downgrade(&made));
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streamer_infos_are_shared_by_open_files_and_few_others() {
        let pool = FilePool::new(1);
        let of = |number: u64| pool.shared_infos(InfosHash(number, 0), || Ok(StreamerInfos::new())).unwrap();
        let first = of(0);
        let last = (1..100).fold(Arc::clone(&first), |_, number| of(number));
        assert!(Arc::ptr_eq(&of(0), &first));
        assert!(Arc::ptr_eq(&of(99), &last));
        assert_eq!(lock_of(&pool).all.values().filter(|infos| infos.strong_count() > 0).count(), KEPT_INFOS + 1);
    }

    fn lock_of(pool: &FilePool) -> std::sync::MutexGuard<'_, KnownInfos> {
        pool.infos.lock().unwrap()
    }
}
