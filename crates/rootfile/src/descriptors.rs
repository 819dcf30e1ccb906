//! Local files that are read, and the descriptors of this process that they hold. A program may have thousands of files open and reads
//! them nearly in order, so the file that was opened first is closed when there are too many, and opened again at the next read. It
//! knows nothing of what is in the files.

use std::collections::VecDeque;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use rustix::process::{Resource, getrlimit};

use crate::source::{self, Source};
use crate::{Error, Result};

/// The default number of open files: well below the usual limit of 1024 descriptors. Reopening a file takes
/// microseconds.
pub const OPEN_FILES: usize = 128;

/// Of the descriptors that the system grants, one of so many may be for files that are read. The others are for what is written, and
/// for the program that reads.
const SHARE: usize = 2;

/// Open files, in the order in which they were opened.
type Queue = Mutex<VecDeque<Weak<Slot>>>;

/// The local files that this process reads: all pools share its descriptors.
static OPEN: LazyLock<Arc<Queue>> = LazyLock::new(Arc::default);

/// Those of files that are opened by themselves.
static ALONE: LazyLock<Arc<Descriptors>> = LazyLock::new(|| Descriptors::new(OPEN_FILES));

/// How many files may be open when some files are opened.
#[derive(Debug)]
pub(crate) struct Descriptors {
    most: AtomicUsize,
    open: Arc<Queue>,
}

#[derive(Debug)]
struct Slot {
    path: PathBuf,
    size: u64,
    /// Device, inode and time of change, to detect a file that was replaced.
    identity: (u64, u64, i64, i64),
    file: Mutex<Option<Arc<File>>>,
}

impl Slot {
    /// Whether these are the metadata of the file that was opened, as it was then but for what this process has added.
    fn is_still(&self, meta: &std::fs::Metadata) -> bool {
        let (device, inode, ..) = self.identity;
        let now = identity(meta);
        let is_updated = || (now.0, now.1) == (device, inode) && lock(&UPDATED).contains(&(device, inode));
        now == self.identity || is_updated()
    }
}

/// A local file that is open while it is read, and as long as there is a descriptor for it.
pub(crate) struct PooledFile {
    slot: Arc<Slot>,
    descriptors: Arc<Descriptors>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Device and inode of the files that this process updates in place: its own writes change their dates.
static UPDATED: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());

/// A file is updated in place, until this is dropped.
#[derive(Debug)]
pub(crate) struct Updating((u64, u64));

impl Updating {
    /// The file of an open one.
    pub fn of(file: &File) -> std::io::Result<Self> {
        let meta = file.metadata()?;
        let id = (meta.dev(), meta.ino());
        lock(&UPDATED).push(id);
        Ok(Self(id))
    }
}

impl Drop for Updating {
    fn drop(&mut self) {
        let mut all = lock(&UPDATED);
        if let Some(place) = all.iter().position(|id| *id == self.0) {
            all.swap_remove(place);
        }
    }
}

fn identity(meta: &std::fs::Metadata) -> (u64, u64, i64, i64) {
    (meta.dev(), meta.ino(), meta.mtime(), meta.mtime_nsec())
}

/// The number of descriptors that the system grants this process. It may change.
fn granted() -> usize {
    getrlimit(Resource::Nofile).current.and_then(|number| usize::try_from(number).ok()).unwrap_or(usize::MAX)
}

impl Descriptors {
    /// Descriptors for at most `most` files of this process, at least one.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most: AtomicUsize::new(most.max(1)), open: Arc::clone(&OPEN) })
    }

    /// Descriptors like these that no other files share.
    #[cfg(test)]
    fn apart(most: usize) -> Arc<Self> {
        Arc::new(Self { most: AtomicUsize::new(most), open: Arc::default() })
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed).min(granted() / SHARE).max(1)
    }

    /// Number of open files. Those that nobody uses any more are closed, and forgotten here.
    fn number(&self) -> usize {
        let mut open = lock(&self.open);
        open.retain(|slot| slot.strong_count() > 0);
        open.len()
    }

    /// Opens a file; closes others if there are too many.
    fn open(&self, path: &Path) -> std::io::Result<File> {
        loop {
            while self.number() >= self.most() && self.close_oldest() {}
            match source::open_at_once(path) {
                // The rest of the program has more open than was thought: halve the number.
                Err(e) if is_out_of_descriptors(&e) && self.close_oldest() => {
                    self.most.store((self.number() / 2).max(1), Ordering::Relaxed);
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
    /// Opens a regular file with one of these descriptors.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or is not a regular file.
    pub fn open(path: &Path, descriptors: &Arc<Descriptors>) -> Result<Self> {
        let file = descriptors.open(path).map_err(|e| Error::from(e).file(path))?;
        let meta = source::metadata_of(&file, path)?;
        let slot = Arc::new(Slot {
            path: path.to_path_buf(),
            size: meta.len(),
            identity: identity(&meta),
            file: Mutex::new(Some(Arc::new(file))),
        });
        lock(&descriptors.open).push_back(Arc::downgrade(&slot));
        Ok(Self { slot, descriptors: Arc::clone(descriptors) })
    }

    /// Opens a regular file by itself.
    ///
    /// # Errors
    ///
    /// As for [`PooledFile::open`].
    pub fn alone(path: &Path) -> Result<Self> {
        Self::open(path, &ALONE)
    }

    fn file(&self) -> Result<Arc<File>> {
        let slot = &self.slot;
        // A closed slot is not in the queue, so `close_oldest` never waits for it.
        let mut held = lock(&slot.file);
        if let Some(file) = &*held {
            return Ok(Arc::clone(file));
        }
        let with_path = |e: std::io::Error| Error::from(e).file(&slot.path);
        let file = Arc::new(self.descriptors.open(&slot.path).map_err(with_path)?);
        if !slot.is_still(&file.metadata().map_err(with_path)?) {
            return Err(Error::corrupt("was changed while it was being read").file(&slot.path));
        }
        *held = Some(Arc::clone(&file));
        drop(held);
        lock(&self.descriptors.open).push_back(Arc::downgrade(slot));
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

    fn is_unchanged(&self) -> bool {
        let meta = match &*lock(&self.slot.file) {
            Some(file) => file.metadata(),
            None => std::fs::metadata(&self.slot.path),
        };
        meta.is_ok_and(|meta| self.slot.is_still(&meta))
    }

    fn release(&self) {
        lock(&self.descriptors.open).retain(|slot| !std::ptr::eq(slot.as_ptr(), Arc::as_ptr(&self.slot)));
        lock(&self.slot.file).take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(dir: &Path, descriptors: &[&Arc<Descriptors>]) -> Vec<PooledFile> {
        let open = |(i, descriptors): (u8, &&Arc<Descriptors>)| {
            let path = dir.join(i.to_string());
            std::fs::write(&path, [i; 10]).unwrap();
            PooledFile::open(&path, descriptors).unwrap()
        };
        (0..).zip(descriptors).map(open).collect()
    }

    fn number_open(files: &[PooledFile]) -> usize {
        files.iter().filter(|file| lock(&file.slot.file).is_some()).count()
    }

    #[test]
    fn files_are_closed_and_reopened() {
        let dir = tempfile::tempdir().unwrap();
        let few = Descriptors::apart(2);
        let files = files(dir.path(), &[&few; 5]);
        for _ in 0..2 {
            for (i, file) in files.iter().enumerate() {
                assert_eq!(file.read(3, 4).unwrap(), [i as u8; 4]);
                assert!(number_open(&files) <= 2);
            }
        }
        let is_unchanged = |file: &PooledFile| file.is_unchanged();
        assert!(files.iter().all(is_unchanged));
        std::fs::write(dir.path().join("0"), [9; 10]).unwrap();
        assert!(!files[0].is_unchanged() && files[1..].iter().all(is_unchanged));
        assert!(files[0].read(0, 1).unwrap_err().to_string().contains("changed"));
    }

    #[test]
    fn pools_share_the_descriptors_of_the_process() {
        let dir = tempfile::tempdir().unwrap();
        let few = Descriptors::apart(3);
        let others = Arc::new(Descriptors { most: AtomicUsize::new(3), open: Arc::clone(&few.open) });
        let files = files(dir.path(), &[&few, &few, &others, &others, &others]);
        assert_eq!(number_open(&files), 3);
        assert_eq!(files[0].read(0, 1).unwrap(), [0]);
        assert_eq!(number_open(&files), 3);
        // Those that are dropped count no more.
        drop(files);
        assert_eq!(few.number(), 0);
    }

    #[test]
    fn what_is_released_is_opened_at_the_next_read() {
        let dir = tempfile::tempdir().unwrap();
        let few = Descriptors::apart(3);
        let files = files(dir.path(), &[&few; 2]);
        files[1].release();
        files[1].release();
        assert_eq!((number_open(&files), few.number()), (1, 1));
        assert_eq!(files[1].read(0, 1).unwrap(), [1]);
        assert_eq!((number_open(&files), few.number()), (2, 2));
    }

    #[test]
    fn a_process_with_few_descriptors_holds_fewer_files() {
        assert!(Descriptors::new(usize::MAX).most() <= granted() / SHARE);
        assert_eq!(Descriptors::new(0).most(), 1);
    }
}
