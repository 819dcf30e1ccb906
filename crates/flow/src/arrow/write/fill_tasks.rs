//! Distributes numbered tasks to threads. The caller fills the entries of each task.

use std::borrow::Borrow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rootfile::{Error, Result};

use super::fill_context::FillContext;
use super::writer::{ParallelWriter, TableId};
use crate::execute::workers::run_workers;

/// Fills the tasks from 0 to `count` of some trees on `threads` threads, including the calling one. `fill` gets a task's
/// number and its contexts, in the order of the trees. The first error ends the work.
pub fn fill_tasks<W: Borrow<ParallelWriter> + Sync>(
    trees: &[(W, TableId)],
    count: u64,
    threads: usize,
    fill: impl Fn(u64, &mut [FillContext]) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicU64::new(0);
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let failed = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    let one = |number| {
        let begin = |(writer, tree): &(W, TableId)| writer.borrow().fill_task(*tree, number);
        let mut contexts = trees.iter().map(begin).collect::<Result<Vec<FillContext>>>()?;
        if let Err(error) = fill(number, &mut contexts) {
            // Keep the error before the contexts are dropped, which gives the output up for all.
            failed().get_or_insert(error);
            return Ok(());
        }
        contexts.into_iter().try_for_each(FillContext::finish)
    };
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count || failed().is_some() {
                return;
            }
            if let Err(error) = one(number) {
                failed().get_or_insert(error);
            }
        }
    };
    run_workers(threads.min(usize::try_from(count).unwrap_or(usize::MAX)), work);
    match failed().take() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}
