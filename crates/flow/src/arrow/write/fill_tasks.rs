//! Distributes numbered tasks to threads. The caller fills the entries of each task.

use std::borrow::Borrow;

use rootfile::Result;

use super::fill_context::FillContext;
use super::writer::{ParallelWriter, TableId};
use crate::execute::progress::unwatched;
use crate::execute::workers::Workers;

/// Fills the tasks from 0 to `count` of some trees on `threads` threads, including the calling one. `fill` gets a task's
/// number and its contexts, in the order of the trees. The first error ends the work; a panic of `fill` is one.
///
/// # Errors
///
/// `fill` or a context fails: then the output is given up, and no further task begins.
pub fn fill_tasks<W: Borrow<ParallelWriter> + Sync>(
    trees: &[(W, TableId)],
    count: u64,
    threads: usize,
    fill: impl Fn(u64, &mut [FillContext]) -> Result<()> + Sync,
) -> Result<()> {
    let mut numbers = 0..count;
    let threads = threads.min(usize::try_from(count).unwrap_or(usize::MAX));
    Workers::new("the filling", threads, &unwatched).run(
        || Ok(numbers.next()),
        // Contexts that failed are dropped, which gives the output up for all, only after their error is kept.
        Vec::new,
        |_, number, contexts: &mut Vec<FillContext>| {
            for (writer, tree) in trees {
                contexts.push(writer.borrow().fill_task(*tree, number)?);
            }
            fill(number, contexts)?;
            while !contexts.is_empty() {
                contexts.remove(0).finish()?;
            }
            Ok(())
        },
    )
}
