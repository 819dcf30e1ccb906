//! Sorts rows within a budget: buffers that threads fill are sorted when they are full, and wait on disk. What is left in memory is one run
//! for each buffer.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::ThreadPool;
use rayon::slice::ParallelSliceMut;
use rootfile::Result;

use super::merged::{Merged, Run};
use super::row::{ROW, Row};
use super::runs::RunFile;
use crate::execute::budget::Budget;

/// Fewest rows of a buffer, and of a run that is read: below this, disks are asked too often.
const LEAST_ROWS: usize = 256;

/// Rows on their way into an order.
pub(crate) struct Sorter {
    /// Rows of a buffer.
    room: usize,
    /// Memory for the buffers of runs that are read.
    reading: u64,
    /// Buffers that no thread fills.
    buffers: Mutex<Vec<Vec<Row>>>,
    runs: Mutex<RunFile>,
    team: Option<Arc<ThreadPool>>,
}

impl Sorter {
    /// For rows of so many threads at a time. Of the budget a quarter is for rows, and an eighth for runs that are read back. Runs wait in
    /// the folder of `beside`.
    pub fn new(budget: Budget, threads: usize, beside: Option<&Path>) -> Result<Self> {
        let rows = budget.memory / 4 / (ROW * threads.max(1)) as u64;
        Ok(Self {
            room: usize::try_from(rows).unwrap_or(usize::MAX).max(LEAST_ROWS),
            reading: budget.memory / 8,
            buffers: Mutex::default(),
            runs: Mutex::new(RunFile::beside(beside)),
            team: budget.helpers()?,
        })
    }

    /// Threads that may help.
    pub fn team(&self) -> Option<Arc<ThreadPool>> {
        self.team.clone()
    }

    /// A buffer for the rows of one thread.
    pub fn filling(&self) -> Filling<'_> {
        let free = lock(&self.buffers).pop();
        // The system gives the memory that is used.
        let rows = free.unwrap_or_else(|| Vec::with_capacity(self.room));
        Filling { sorter: self, rows }
    }

    fn sort(&self, rows: &mut [Row]) {
        match &self.team {
            Some(team) => team.install(|| rows.par_sort_unstable()),
            None => rows.sort_unstable(),
        }
    }

    /// All rows in their order.
    ///
    /// # Errors
    ///
    /// The file of runs cannot be read or written.
    pub fn finish(self) -> Result<Merged> {
        let mut buffers = std::mem::take(&mut *lock(&self.buffers));
        buffers.iter_mut().for_each(|rows| self.sort(rows));
        let runs = self.runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        let rows = usize::try_from(self.reading).unwrap_or(usize::MAX) / (2 * ROW);
        let most = (rows / LEAST_ROWS).max(2);
        let runs = fewer(runs, most, rows)?;
        let disk = runs.readers(rows / runs.runs().max(1)).into_iter().map(Run::Disk);
        let memory = buffers.into_iter().filter(|rows| !rows.is_empty()).map(|rows| Run::Memory(rows.into_iter()));
        Merged::new(memory.chain(disk).collect())
    }
}

/// At most so many runs, which are merged until they are that few, with so many rows in memory.
fn fewer(mut runs: RunFile, most: usize, rows: usize) -> Result<RunFile> {
    while runs.runs() > most {
        let mut next = runs.another();
        let mut readers = runs.readers(rows / most).into_iter().map(Run::Disk).peekable();
        while readers.peek().is_some() {
            next.begin();
            Merged::new(readers.by_ref().take(most).collect())?.each_block(|rows| next.put(rows))?;
        }
        runs = next;
    }
    Ok(runs)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A buffer that a thread fills.
pub(crate) struct Filling<'a> {
    sorter: &'a Sorter,
    rows: Vec<Row>,
}

impl Filling<'_> {
    /// Adds rows.
    ///
    /// # Errors
    ///
    /// The file of runs cannot be written.
    pub fn add(&mut self, mut rows: impl Iterator<Item = Row>) -> Result<()> {
        loop {
            let room = self.sorter.room - self.rows.len();
            self.rows.extend(rows.by_ref().take(room));
            if self.rows.len() < self.sorter.room {
                return Ok(());
            }
            self.sorter.sort(&mut self.rows);
            let mut runs = lock(&self.sorter.runs);
            runs.begin();
            runs.put(&self.rows)?;
            self.rows.clear();
        }
    }
}

impl Drop for Filling<'_> {
    /// The next thread goes on with it.
    fn drop(&mut self) {
        lock(&self.sorter.buffers).push(std::mem::take(&mut self.rows));
    }
}
