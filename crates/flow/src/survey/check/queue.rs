//! The queue of a check: files that are not open yet, and jobs of open files. Jobs come first, so that few files are open.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rootfile::{Error, Result};

use super::report::CheckedFile;

/// What a thread does next.
pub(super) enum Next<J> {
    /// Open the file of this number, and call [`Queue::opened`].
    Open(usize),
    /// Part of an open file.
    Job(J),
    /// Nothing is left.
    End,
}

/// The queue.
pub(super) struct Queue<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
    files: usize,
}

struct State<J> {
    next: usize,
    opening: usize,
    jobs: VecDeque<J>,
    results: Vec<Option<CheckedFile>>,
    error: Option<(usize, Error)>,
}

impl<J> Queue<J> {
    /// A queue of this many files.
    pub fn new(files: usize) -> Self {
        let state = State {
            next: 0,
            opening: 0,
            jobs: VecDeque::new(),
            results: std::iter::repeat_with(|| None).take(files).collect(),
            error: None,
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), files }
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next work; waits while a file that is being opened may have some.
    pub fn next(&self) -> Next<J> {
        let mut state = self.lock();
        loop {
            if state.error.is_some() {
                return Next::End;
            }
            if let Some(job) = state.jobs.pop_front() {
                return Next::Job(job);
            }
            if state.next < self.files {
                state.next += 1;
                state.opening += 1;
                return Next::Open(state.next - 1);
            }
            if state.opening == 0 {
                return Next::End;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A file was opened: these are its jobs.
    pub fn opened(&self, jobs: impl IntoIterator<Item = J>) {
        let mut state = self.lock();
        state.opening -= 1;
        state.jobs.extend(jobs);
        self.changed.notify_all();
    }

    /// The result of a file.
    pub fn done(&self, number: usize, file: CheckedFile) {
        if let Some(slot) = self.lock().results.get_mut(number) {
            *slot = Some(file);
        }
    }

    /// Ends the work with an error. The error of the first file counts.
    pub fn fail(&self, number: usize, error: Error) {
        let mut state = self.lock();
        if state.error.as_ref().is_none_or(|(known, _)| number < *known) {
            state.error = Some((number, error));
        }
        self.changed.notify_all();
    }

    /// The results of all files, or the error.
    pub fn into_results(self) -> Result<Vec<CheckedFile>> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.error {
            Some((_, error)) => Err(error),
            None => Ok(state.results.into_iter().flatten().collect()),
        }
    }
}
