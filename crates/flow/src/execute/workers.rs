//! Runs work on several threads: the same work on each, or numbered tasks. The caller handles panics.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rootfile::{Error, Result};

/// Runs `work` on `threads` threads and returns when all have ended. The calling thread is one of them, so that a budget of
/// one thread spawns none.
pub(crate) fn run_workers(threads: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(&work);
        }
        work();
    });
}

/// The results so far by task, and the first failing task with its error.
type Done<T> = (BTreeMap<usize, T>, Option<(usize, Error)>);

/// Runs the tasks from 0 to `count` on at most `threads` threads, and returns their results in order. The error of the first
/// failing task is returned, whatever the timing; tasks that have not started by then do not start.
pub(crate) fn run_tasks<T: Send>(
    threads: usize,
    count: usize,
    task: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Done<T>> = Mutex::new((BTreeMap::new(), None));
    run_workers(threads.min(count), || {
        loop {
            // Numbers are taken in order, so all tasks before a failing one are complete or will be.
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let result = task(number);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            match result {
                Ok(value) => {
                    done.0.insert(number, value);
                }
                Err(error) => {
                    next.store(count, Ordering::Relaxed);
                    if done.1.as_ref().is_none_or(|(first, _)| number < *first) {
                        done.1 = Some((number, error));
                    }
                }
            }
        }
    });
    match done.into_inner().unwrap_or_else(PoisonError::into_inner) {
        (_, Some((_, error))) => Err(error),
        (values, None) => Ok(values.into_values().collect()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn results_are_in_order() {
        let squares = run_tasks(4, 100, |n| Ok(n * n)).unwrap();
        assert_eq!(squares, (0..100).map(|n| n * n).collect::<Vec<_>>());
        assert!(run_tasks(4, 0, Ok).unwrap().is_empty());
    }

    #[test]
    fn the_error_of_the_first_task_is_reported() {
        // Task 1 fails only after task 2 has failed.
        let both = Barrier::new(2);
        let error = run_tasks(2, 50, |n| match n {
            0 => Ok(()),
            1 => {
                both.wait();
                std::thread::sleep(std::time::Duration::from_millis(20));
                Err(Error::corrupt("first"))
            }
            2 => {
                both.wait();
                Err(Error::corrupt("second"))
            }
            _ => panic!("starts after a failure"),
        });
        assert_eq!(error.unwrap_err().to_string(), "first");
    }

    #[test]
    fn a_failure_ends_the_work() {
        let started = AtomicUsize::new(0);
        let error = run_tasks(1, 1000, |n| {
            started.fetch_add(1, Ordering::Relaxed);
            if n == 3 { Err(Error::corrupt("three")) } else { Ok(()) }
        });
        assert_eq!((error.unwrap_err().to_string(), started.into_inner()), ("three".to_owned(), 4));
    }
}
