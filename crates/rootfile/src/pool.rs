//! Shares file descriptors and streamer infos among many input files.
//!
//! A merge has thousands of files open but reads them nearly in order. A [`FilePool`] closes the file that was opened
//! first when there are too many, and opens it again at the next read. Files of one production have the same streamer
//! infos, which are parsed once.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::address::{self, Credentials};
use crate::reach::Follow;
use crate::source::{self, Source};
use crate::streamer::StreamerInfos;
use crate::url::url;
use crate::{Error, Result};

/// The default number of open files: well below the usual limit of 1024 descriptors. Reopening a file takes
/// microseconds.
pub const OPEN_FILES: usize = 128;

/// Files that share descriptors and streamer infos.
#[derive(Debug)]
pub struct FilePool {
    limit: AtomicUsize,
    follow: Follow,
    open: Mutex<VecDeque<Weak<Slot>>>,
    infos: Mutex<HashMap<(u64, u64), Arc<StreamerInfos>>>,
}

#[derive(Debug)]
struct Slot {
    path: PathBuf,
    size: u64,
    /// Device, inode and time of change, to detect a file that was replaced.
    identity: (u64, u64, i64, i64),
    file: Mutex<Option<Arc<File>>>,
}

struct PooledFile {
    slot: Arc<Slot>,
    pool: Arc<FilePool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn identity(meta: &std::fs::Metadata) -> (u64, u64, i64, i64) {
    (meta.dev(), meta.ino(), meta.mtime(), meta.mtime_nsec())
}

impl FilePool {
    /// A pool that keeps at most `limit` files open, at least one.
    pub fn new(limit: usize) -> Arc<Self> {
        Self::following(limit, Follow::default())
    }

    /// A pool like that, of files whose addresses of other files are followed so far.
    pub fn following(limit: usize, follow: Follow) -> Arc<Self> {
        let limit = AtomicUsize::new(limit.max(1));
        Arc::new(Self { limit, follow, open: Mutex::default(), infos: Mutex::default() })
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
    pub fn source(self: &Arc<Self>, path: &Path) -> Result<Arc<dyn Source>> {
        self.source_as(path, Credentials::Users)
    }

    /// The same with these credentials.
    pub(crate) fn source_as(self: &Arc<Self>, path: &Path, credentials: Credentials) -> Result<Arc<dyn Source>> {
        if let Some(url) = url(path) {
            return address::open_url(url, credentials);
        }
        let path = &*address::local(path);
        let file = self.open_file(path).map_err(|e| Error::from(e).file(path))?;
        let meta = source::metadata_of(&file, path)?;
        let slot = Arc::new(Slot {
            path: path.to_path_buf(),
            size: meta.len(),
            identity: identity(&meta),
            file: Mutex::new(Some(Arc::new(file))),
        });
        lock(&self.open).push_back(Arc::downgrade(&slot));
        Ok(Arc::new(PooledFile { slot, pool: Arc::clone(self) }))
    }

    /// The streamer infos with this hash; parsed if the pool does not have them.
    pub(crate) fn shared_infos(
        &self,
        hash: (u64, u64),
        make: impl FnOnce() -> Result<StreamerInfos>,
    ) -> Result<Arc<StreamerInfos>> {
        if let Some(known) = lock(&self.infos).get(&hash) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(make()?);
        // Another thread may have parsed the same meanwhile: all files share one.
        Ok(Arc::clone(lock(&self.infos).entry(hash).or_insert(made)))
    }

    /// Opens a file; closes others if there are too many.
    fn open_file(&self, path: &Path) -> std::io::Result<File> {
        loop {
            while lock(&self.open).len() >= self.limit.load(Ordering::Relaxed) && self.close_oldest() {}
            match source::open_at_once(path) {
                // The process may open fewer files than the limit: halve the limit.
                Err(e) if is_out_of_descriptors(&e) && self.close_oldest() => {
                    let half = lock(&self.open).len() / 2;
                    self.limit.store(half.max(1), Ordering::Relaxed);
                }
                opened => return opened,
            }
        }
    }

    fn close_oldest(&self) -> bool {
        let oldest = lock(&self.open).pop_front();
        if let Some(slot) = oldest.as_ref().and_then(Weak::upgrade) {
            lock(&slot.file).take();
        }
        oldest.is_some()
    }
}

/// EMFILE and ENFILE have no `ErrorKind`.
fn is_out_of_descriptors(e: &std::io::Error) -> bool {
    matches!(e.raw_os_error(), Some(23 | 24))
}

impl PooledFile {
    fn file(&self) -> Result<Arc<File>> {
        let slot = &self.slot;
        // A closed slot is not in the queue, so `close_oldest` never waits for it.
        let mut held = lock(&slot.file);
        if let Some(file) = &*held {
            return Ok(Arc::clone(file));
        }
        let with_path = |e: std::io::Error| Error::from(e).file(&slot.path);
        let file = Arc::new(self.pool.open_file(&slot.path).map_err(with_path)?);
        if identity(&file.metadata().map_err(with_path)?) != slot.identity {
            return Err(Error::corrupt("was changed while it was being read").file(&slot.path));
        }
        *held = Some(Arc::clone(&file));
        drop(held);
        lock(&self.pool.open).push_back(Arc::downgrade(slot));
        Ok(file)
    }
}

impl Source for PooledFile {
    fn size(&self) -> u64 {
        self.slot.size
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        source::read_exact_at(&*self.file()?, &self.slot.path, offset, buf)
    }

    fn will_need(&self, ranges: &[Range<u64>]) {
        if let Ok(file) = self.file() {
            source::will_need(&file, ranges);
        }
    }

    fn name(&self) -> &Path {
        &self.slot.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_closed_and_reopened() {
        let dir = tempfile::tempdir().unwrap();
        let pool = FilePool::new(2);
        let sources: Vec<_> = (0..5u8)
            .map(|i| {
                let path = dir.path().join(i.to_string());
                std::fs::write(&path, [i; 10]).unwrap();
                pool.source(&path).unwrap()
            })
            .collect();
        for _ in 0..2 {
            for (i, source) in sources.iter().enumerate() {
                assert_eq!(source.read(3, 4).unwrap(), [i as u8; 4]);
                let open =
                    lock(&pool.open).iter().filter_map(Weak::upgrade).filter(|s| lock(&s.file).is_some()).count();
                assert!(open <= 2, "{open}");
            }
        }
        std::fs::write(dir.path().join("0"), [9; 10]).unwrap();
        assert!(sources[0].read(0, 1).unwrap_err().to_string().contains("changed"));
    }
}
