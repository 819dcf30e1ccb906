//! Shares descriptors and streamer infos among the input files of a job. Files of one production have the same streamer infos, which
//! are parsed once. What holds the descriptors is in `descriptors`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Result;
use crate::address::{self, Credentials};
use crate::descriptors::{Descriptors, PooledFile};
use crate::reach::Follow;
use crate::source::Source;
use crate::streamer::StreamerInfos;
use crate::url::url;

/// Files that share descriptors and streamer infos.
#[derive(Debug)]
pub struct FilePool {
    descriptors: Arc<Descriptors>,
    follow: Follow,
    infos: Mutex<HashMap<(u64, u64), Arc<StreamerInfos>>>,
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
        let infos = || self.infos.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = infos().get(&hash) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(make()?);
        // Another thread may have parsed the same meanwhile: all files share one.
        Ok(Arc::clone(infos().entry(hash).or_insert(made)))
    }
}
