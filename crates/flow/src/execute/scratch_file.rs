//! Bytes that wait: in memory as long as there is room, the others in a file without a name where the output is, which is gone with the
//! process. Any thread appends, and what was appended is read back from any place. What waits, and why, is the caller's: rows on their way into
//! another order, sorted keys, clusters ahead of their turn.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rootfile::{Error, Result, Source};

/// The folder for what waits on disk: that of a file that is written, or that of temporary files where none is.
pub(crate) fn folder_beside(output: Option<&Path>) -> PathBuf {
    let folder = output.and_then(Path::parent).map_or_else(std::env::temp_dir, Path::to_path_buf);
    if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder }
}

/// Bytes in memory or in a file.
#[derive(Debug)]
pub(crate) struct ScratchFile {
    folder: PathBuf,
    /// What waits there and what helps where there is no room, for messages.
    why: &'static str,
    /// Bytes for which there is room in memory.
    room: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    end: u64,
    /// What is in memory, by its first byte, and the number of these bytes.
    held: BTreeMap<u64, Arc<[u8]>>,
    held_bytes: u64,
    file: Option<Arc<File>>,
}

impl ScratchFile {
    /// With room for so many bytes in memory, and a file in the folder of one that is written, or of temporary files where none is. `why` says
    /// what waits there and what helps where there is no room.
    pub fn new(room: u64, beside: Option<&Path>, why: &'static str) -> Self {
        Self { folder: folder_beside(beside), why, room, state: Mutex::default() }
    }

    /// An empty one in the same folder, with room for so many bytes in memory.
    pub fn another(&self, room: u64) -> Self {
        Self { folder: self.folder.clone(), why: self.why, room, state: Mutex::default() }
    }

    /// Forgets all bytes. Their room goes back to the system.
    pub fn clear(&self) {
        *self.lock() = State::default();
    }

    /// Appends bytes. Returns where they are.
    ///
    /// # Errors
    ///
    /// The file cannot be made or written.
    pub fn append(&self, bytes: &[u8]) -> Result<u64> {
        let at = self.reserve(bytes.len() as u64);
        self.put(at, bytes)?;
        Ok(at)
    }

    /// Reserves so many bytes behind all others. Returns where they are: what they are may depend on that.
    pub fn reserve(&self, bytes: u64) -> u64 {
        let mut state = self.lock();
        let at = state.end;
        state.end += bytes;
        at
    }

    /// Puts bytes into a place that was reserved for them.
    ///
    /// # Errors
    ///
    /// The file cannot be made or written.
    pub fn put(&self, at: u64, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let file = {
            let mut state = self.lock();
            if state.held_bytes + bytes.len() as u64 <= self.room {
                state.held_bytes += bytes.len() as u64;
                state.held.insert(at, bytes.into());
                return Ok(());
            }
            let file = match &state.file {
                Some(file) => Arc::clone(file),
                None => Arc::new(tempfile::tempfile_in(&self.folder).map_err(|e| self.failed("making", e))?),
            };
            state.file = Some(Arc::clone(&file));
            file
        };
        file.write_all_at(bytes, at).map_err(|e| self.failed("writing", e))
    }

    /// Bytes that it takes in memory.
    pub fn held(&self) -> u64 {
        self.lock().held_bytes
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, what: &str, why: std::io::Error) -> Error {
        Error::from(why).object(format!("{what} a temporary file ({})", self.why)).file(&self.folder)
    }
}

impl Source for ScratchFile {
    fn size(&self) -> u64 {
        self.lock().end
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let (mut at, end) = (offset, offset.saturating_add(buf.len() as u64));
        let mut rest = buf;
        while !rest.is_empty() {
            let (part, file, next) = {
                let state = self.lock();
                if end > state.end {
                    return Err(Error::corrupt("ends too early").file(&self.folder));
                }
                let part =
                    state.held.range(..=at).next_back().filter(|(start, bytes)| *start + bytes.len() as u64 > at);
                let part = part.map(|(start, bytes)| (*start, Arc::clone(bytes)));
                let next = state.held.range(at + 1..).next().map(|(start, _)| *start);
                (part, state.file.clone(), next)
            };
            let left = rest.len();
            let until = |place: u64| usize::try_from(place.saturating_sub(at)).unwrap_or(usize::MAX).min(left);
            let taken = match (part, file) {
                (Some((start, bytes)), _) => {
                    let taken = until(start + bytes.len() as u64);
                    let from = usize::try_from(at - start).unwrap_or(usize::MAX);
                    let found = bytes.get(from..).and_then(|bytes| bytes.get(..taken));
                    if let (Some(found), Some(slot)) = (found, rest.get_mut(..taken)) {
                        slot.copy_from_slice(found);
                    }
                    taken
                }
                (None, Some(file)) => {
                    let taken = next.map_or(left, until);
                    let slot = rest.get_mut(..taken).unwrap_or_default();
                    file.read_exact_at(slot, at).map_err(|e| self.failed("reading", e))?;
                    taken
                }
                (None, None) => return Err(Error::corrupt("has a hole").file(&self.folder)),
            };
            rest = rest.get_mut(taken..).unwrap_or_default();
            at += taken as u64;
        }
        Ok(())
    }

    fn name(&self) -> &Path {
        &self.folder
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_memory_and_from_disk() {
        let folder = tempfile::tempdir().unwrap();
        let all: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
        for room in [0, 1000, 200_000, 1 << 20] {
            let scratch = ScratchFile::new(room, Some(&folder.path().join("out.root")), "more memory");
            scratch.append(&all).unwrap();
            scratch.clear();
            let mut at = 0;
            for len in (0..).step_by(37) {
                let part = &all[at..all.len().min(at + len)];
                assert_eq!(scratch.append(part).unwrap(), at as u64);
                at += part.len();
                if at == all.len() {
                    break;
                }
            }
            assert_eq!((scratch.size(), std::fs::read_dir(folder.path()).unwrap().count()), (all.len() as u64, 0));
            assert!(scratch.held() <= room);
            for (from, len) in [(0, all.len()), (1, 5), (900, 3000), (199_990, 40), (all.len() - 1, 1), (77, 0)] {
                assert_eq!(scratch.read(from as u64, len).unwrap(), &all[from..from + len]);
            }
            assert!(scratch.read(all.len() as u64 - 1, 2).is_err());
        }
    }

    #[test]
    fn a_folder_that_is_gone_is_named() {
        let scratch = ScratchFile::new(3, Some(Path::new("/nowhere/at/all/out.root")), "more memory");
        scratch.append(b"abc").unwrap();
        let error = scratch.append(b"d").unwrap_err().to_string();
        assert!(error.contains("/nowhere/at/all") && error.contains("more memory"), "{error}");
    }
}
