//! Shares descriptors and streamer infos among the input files of a job. Files of one production have the same streamer infos, which
//! are parsed once. What holds the descriptors is in `descriptors`.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Result;
use crate::address::{self, Credentials};
use crate::descriptors::{Descriptors, PooledFile};
use crate::reach::Follow;
use crate::source::Source;
use crate::streamer::StreamerInfos;
use crate::url::url;

/// Streamer infos that are kept: those of the productions that alternate in a list of files.
const KEPT_INFOS: usize = 16;

/// Streamer infos with the hashes of their records, the newest last.
type KnownInfos = VecDeque<((u64, u64), Arc<StreamerInfos>)>;

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
        hash: (u64, u64),
        make: impl FnOnce() -> Result<StreamerInfos>,
    ) -> Result<Arc<StreamerInfos>> {
        let lock = || self.infos.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |all: &KnownInfos| all.iter().find(|(of, _)| *of == hash).map(|(_, infos)| Arc::clone(infos));
        if let Some(known) = find(&lock()) {
            return Ok(known);
        }
        let made = Arc::new(make()?);
        // Another thread may have parsed the same meanwhile: all files share one.
        let mut infos = lock();
        if let Some(known) = find(&infos) {
            return Ok(known);
        }
        if infos.len() >= KEPT_INFOS {
            infos.pop_front();
        }
        infos.push_back((hash, Arc::clone(&made)));
        Ok(made)
    }
}
