//! Finished clusters that wait for earlier tasks, in a scratch file, while the memory is needed for others. Which clusters go there, and
//! when, is decided by the committer.

use std::path::Path;

use rootfile::{Result, Source};

use crate::execute::scratch_file::ScratchFile;

/// What waits in the file.
const WAITING: &str = "clusters that wait for earlier tasks are kept there while the memory budget is used up; make room, give more memory, or \
                       fill the tasks in their order";

/// The bytes of clusters that are not in memory.
#[derive(Debug)]
pub(crate) struct SpillFile {
    stored: ScratchFile,
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
        Self { stored: ScratchFile::new(0, output, WAITING), clusters: 0 }
    }

    /// Moves the bytes of a cluster's columns to the file.
    pub fn put(&mut self, columns: Vec<&mut Vec<u8>>) -> Result<Spilled> {
        let mut spilled = Spilled { offset: self.stored.size(), lengths: Vec::new() };
        for buffer in columns {
            self.stored.append(buffer)?;
            spilled.lengths.push(buffer.len());
            *buffer = Vec::new();
        }
        self.clusters += 1;
        Ok(spilled)
    }

    /// Reads the bytes of a cluster back, and forgets them here.
    pub fn take(&mut self, spilled: &Spilled, columns: Vec<&mut Vec<u8>>) -> Result<()> {
        let mut at = spilled.offset;
        for (buffer, length) in columns.into_iter().zip(&spilled.lengths) {
            buffer.resize(*length, 0);
            self.stored.read_exact_at(at, buffer)?;
            at += *length as u64;
        }
        self.clusters = self.clusters.saturating_sub(1);
        if self.clusters == 0 {
            self.stored.clear();
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
            assert_eq!(spill.stored.size(), 0);
        }
    }

    #[test]
    fn a_folder_that_is_gone_is_named() {
        let mut spill = SpillFile::beside(Some(Path::new("/nowhere/at/all/out.root")));
        let error = spill.put(columns(["abc", "", ""]).iter_mut().collect()).unwrap_err().to_string();
        assert!(error.contains("/nowhere/at/all") && error.contains("more memory"), "{error}");
    }
}
