//! Finished clusters that wait for earlier tasks, in a file without a name, while the memory is needed for others. The file is where the
//! output is, and gone with the process. Which clusters go there, and when, is decided by the committer.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rootfile::{Error, Result};

use crate::execute::scratch_file::folder_beside;

/// The bytes of clusters that are not in memory.
#[derive(Debug)]
pub(crate) struct SpillFile {
    folder: PathBuf,
    /// The file, while it has clusters.
    file: Option<File>,
    /// Where the next cluster goes.
    end: u64,
    /// Clusters in the file.
    clusters: usize,
}

/// Where the bytes of a cluster are.
#[derive(Debug)]
pub(crate) struct Spilled {
    offset: u64,
    /// Bytes of each column.
    lengths: Vec<usize>,
}

impl Spilled {
    /// Bytes of all columns.
    pub fn bytes(&self) -> u64 {
        self.lengths.iter().map(|length| *length as u64).sum()
    }
}

impl SpillFile {
    /// In the folder of a file that is written, or of temporary files where none is.
    pub fn beside(output: Option<&Path>) -> Self {
        Self { folder: folder_beside(output), file: None, end: 0, clusters: 0 }
    }

    fn failed(&self, what: &str, why: std::io::Error) -> Error {
        let room = "clusters that wait for earlier tasks are kept there while the memory budget is used up; \
                    make room, give more memory, or fill the tasks in their order";
        Error::from(why).object(format!("{what} a temporary file ({room})")).file(&self.folder)
    }

    /// Moves the bytes of a cluster's columns to the file.
    pub fn put(&mut self, columns: Vec<&mut Vec<u8>>) -> Result<Spilled> {
        if self.file.is_none() {
            self.file = Some(tempfile::tempfile_in(&self.folder).map_err(|e| self.failed("making", e))?);
        }
        let mut spilled = Spilled { offset: self.end, lengths: Vec::new() };
        let mut at = self.end;
        for buffer in columns {
            let written = self.file.iter().try_for_each(|file| file.write_all_at(buffer, at));
            written.map_err(|e| self.failed("writing", e))?;
            at += buffer.len() as u64;
            spilled.lengths.push(buffer.len());
            *buffer = Vec::new();
        }
        (self.end, self.clusters) = (at, self.clusters + 1);
        Ok(spilled)
    }

    /// Reads the bytes of a cluster back, and forgets them here.
    pub fn take(&mut self, spilled: &Spilled, columns: Vec<&mut Vec<u8>>) -> Result<()> {
        let mut at = spilled.offset;
        for (buffer, length) in columns.into_iter().zip(&spilled.lengths) {
            buffer.resize(*length, 0);
            let read = self.file.iter().try_for_each(|file| file.read_exact_at(buffer, at));
            read.map_err(|e| self.failed("reading", e))?;
            at += *length as u64;
        }
        self.clusters = self.clusters.saturating_sub(1);
        if self.clusters == 0 {
            // Its space goes back to the system.
            (self.file, self.end) = (None, 0);
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    type Columns = [Vec<u8>; 3];

    fn columns(texts: [&str; 3]) -> Columns {
        texts.map(|text| text.as_bytes().to_vec())
    }

    #[test]
    fn clusters_come_back_in_any_order_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = SpillFile::beside(Some(&folder.path().join("out.root")));
        let given = [columns(["abc", "", "d"]), columns(["e", "fgh", "ij"])];
        for _ in 0..2 {
            let [mut one, mut two] = given.clone();
            let first = spill.put(one.iter_mut().collect()).unwrap();
            let second = spill.put(two.iter_mut().collect()).unwrap();
            assert_eq!((first.bytes(), second.bytes(), one[0].capacity()), (4, 6, 0));
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
            spill.take(&second, two.iter_mut().collect()).unwrap();
            spill.take(&first, one.iter_mut().collect()).unwrap();
            assert_eq!([one, two], given);
            assert!(spill.file.is_none());
        }
    }

    #[test]
    fn a_folder_that_is_gone_is_named() {
        let mut spill = SpillFile::beside(Some(Path::new("/nowhere/at/all/out.root")));
        let error = spill.put(columns(["abc", "", ""]).iter_mut().collect()).unwrap_err().to_string();
        assert!(error.contains("/nowhere/at/all") && error.contains("more memory"), "{error}");
    }
}
