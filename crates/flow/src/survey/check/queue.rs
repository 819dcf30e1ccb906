//! The queue of a check: files that are not open yet, and jobs of open files. Jobs come first, so that few files are open.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::report::CheckedFile;

/// What a thread does next.
pub(super) enum Next<J> {
    /// Open the file of this number, and call [`Queue::opened`].
    Open(usize),
    /// Part of an open file.
    Job(J),
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
    stopped: bool,
}

impl<J> Queue<J> {
    /// A queue of this many files.
    pub fn new(files: usize) -> Self {
        let state = State {
            next: 0,
            opening: 0,
            jobs: VecDeque::new(),
            results: std::iter::repeat_with(|| None).take(files).collect(),
            stopped: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), files }
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next work; waits while a file that is being opened may have some. None if nothing is left.
    pub fn next(&self) -> Option<Next<J>> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(Next::Job(job));
            }
            if state.next < self.files {
                state.next += 1;
                state.opening += 1;
                return Some(Next::Open(state.next - 1));
            }
            if state.opening == 0 || state.stopped {
                return None;
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

    /// Ends all waiting: the work ends early.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// The results of all files.
    pub fn into_results(self) -> Vec<CheckedFile> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).results.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;
    use crate::execute::progress::unwatched;
    use crate::execute::workers::Workers;

    #[test]
    fn who_waits_for_the_jobs_of_a_file_ends_when_its_opening_panics() {
        let (queue, both) = (Queue::<()>::new(2), Barrier::new(2));
        let stop = || queue.stop();
        let workers = Workers::new("the check", 3, &unwatched).in_order().giving_up(&stop);
        let checked = workers.run(
            || Ok(queue.next()),
            || (),
            |_, next, ()| {
                let Next::Open(number) = next else { return Ok(()) };
                both.wait();
                match number {
                    0 => queue.opened([]),
                    // The others find nothing to do meanwhile.
                    _ => panic!("while a file is opened"),
                }
                Ok(())
            },
        );
        assert!(checked.unwrap_err().to_string().contains("internal error in task 1 of the check"));
    }
}
