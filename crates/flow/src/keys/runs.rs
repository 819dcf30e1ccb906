//! Sorted rows that wait on disk, run after run in a scratch file.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use rootfile::{Result, Source};

use super::row::{ROW, Row};
use crate::execute::scratch_file::ScratchFile;

/// Rows that are written at once.
const WRITTEN: usize = 1 << 14;
/// What waits in the file.
const WAITING: &str =
    "keys are sorted there where the memory budget has no room for all; make room, or give more memory";

/// Runs on disk.
#[derive(Debug)]
pub(super) struct RunFile {
    stored: Arc<ScratchFile>,
    /// Where each run is.
    runs: Vec<Range<u64>>,
}

impl RunFile {
    /// In the folder of a file that is written, or of temporary files where none is.
    pub fn beside(output: Option<&Path>) -> Self {
        Self { stored: Arc::new(ScratchFile::new(0, output, WAITING)), runs: Vec::new() }
    }

    /// Another one in the same folder.
    pub fn another(&self) -> Self {
        Self { stored: Arc::new(self.stored.another(0)), runs: Vec::new() }
    }

    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Begins a run.
    pub fn begin(&mut self) {
        let end = self.stored.size();
        self.runs.push(end..end);
    }

    /// Adds rows to the last run.
    pub fn put(&mut self, rows: &[Row]) -> Result<()> {
        let mut bytes = Vec::with_capacity(WRITTEN.min(rows.len()) * ROW);
        for rows in rows.chunks(WRITTEN) {
            bytes.clear();
            rows.iter().for_each(|row| bytes.extend(row.to_bytes()));
            self.stored.append(&bytes)?;
        }
        if let Some(run) = self.runs.last_mut() {
            run.end = self.stored.size();
        }
        Ok(())
    }

    /// Readers of the runs, each with a buffer of so many rows.
    pub fn readers(&self, rows: usize) -> Vec<RunReader> {
        let reader = |run: &Range<u64>| {
            let stored = Arc::clone(&self.stored);
            RunReader { stored, left: run.clone(), rows: Vec::new(), at: 0, room: rows.max(1) }
        };
        self.runs.iter().map(reader).collect()
    }
}

/// Reads a run from its first row to its last.
#[derive(Debug)]
pub(super) struct RunReader {
    stored: Arc<ScratchFile>,
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
            let buffer = self.stored.read(self.left.start, usize::try_from(bytes).unwrap_or(0))?;
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
