//! Sorted rows that wait on disk, run after run in a file without a name: it is where the output is, and gone with the process.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootfile::{Error, Result};

use super::row::{ROW, Row};
use crate::execute::scratch_file::folder_beside;

/// Rows that are written at once.
const WRITTEN: usize = 1 << 14;

/// Runs on disk.
#[derive(Debug)]
pub(super) struct RunFile {
    folder: PathBuf,
    /// The file, once there is a run.
    file: Option<Arc<File>>,
    /// Where each run is, and the end of the last.
    runs: Vec<Range<u64>>,
    end: u64,
}

impl RunFile {
    /// In the folder of a file that is written, or of temporary files where none is.
    pub fn beside(output: Option<&Path>) -> Self {
        Self { folder: folder_beside(output), file: None, runs: Vec::new(), end: 0 }
    }

    /// Another one in the same folder.
    pub fn another(&self) -> Self {
        Self { folder: self.folder.clone(), file: None, runs: Vec::new(), end: 0 }
    }

    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Begins a run.
    pub fn begin(&mut self) {
        self.runs.push(self.end..self.end);
    }

    /// Adds rows to the last run.
    pub fn put(&mut self, rows: &[Row]) -> Result<()> {
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => Arc::new(tempfile::tempfile_in(&self.folder).map_err(|e| self.failed("making", e))?),
        };
        self.file = Some(Arc::clone(&file));
        let mut bytes = Vec::with_capacity(WRITTEN.min(rows.len()) * ROW);
        for rows in rows.chunks(WRITTEN) {
            bytes.clear();
            rows.iter().for_each(|row| bytes.extend(row.to_bytes()));
            file.write_all_at(&bytes, self.end).map_err(|e| self.failed("writing", e))?;
            self.end += bytes.len() as u64;
        }
        if let Some(run) = self.runs.last_mut() {
            run.end = self.end;
        }
        Ok(())
    }

    /// Readers of the runs, each with a buffer of so many rows.
    pub fn readers(&self, rows: usize) -> Vec<RunReader> {
        let reader = |run: &Range<u64>| {
            let file = self.file.clone()?;
            let folder = self.folder.clone();
            Some(RunReader { file, folder, left: run.clone(), rows: Vec::new(), at: 0, room: rows.max(1) })
        };
        self.runs.iter().filter_map(reader).collect()
    }

    fn failed(&self, what: &str, why: std::io::Error) -> Error {
        failed(&self.folder, what, why)
    }
}

/// The error of the file, which has no name.
fn failed(folder: &Path, what: &str, why: std::io::Error) -> Error {
    let room = "keys are sorted there where the memory budget has no room for all; make room, or give more memory";
    Error::from(why).object(format!("{what} a temporary file ({room})")).file(folder)
}

/// Reads a run from its first row to its last.
#[derive(Debug)]
pub(super) struct RunReader {
    file: Arc<File>,
    folder: PathBuf,
    left: Range<u64>,
    rows: Vec<Row>,
    at: usize,
    room: usize,
}

impl RunReader {
    /// The next row.
    pub fn next(&mut self) -> Result<Option<Row>> {
        if self.at == self.rows.len() {
            let bytes = (self.left.end - self.left.start).min((self.room * ROW) as u64);
            let mut buffer = vec![0; usize::try_from(bytes).unwrap_or(0)];
            let read = self.file.read_exact_at(&mut buffer, self.left.start);
            read.map_err(|e| failed(&self.folder, "reading", e))?;
            self.left.start += bytes;
            self.rows.clear();
            self.rows.extend(buffer.chunks_exact(ROW).map(Row::of_bytes));
            self.at = 0;
        }
        let row = self.rows.get(self.at).copied();
        self.at += usize::from(row.is_some());
        Ok(row)
    }
}
