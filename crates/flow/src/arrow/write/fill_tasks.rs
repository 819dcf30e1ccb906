//! Distributes numbered tasks to threads. The caller fills the entries of each task. A thread that comes while others fill helps them
//! first: it begins a task of its own when they leave it without work, so that few clusters are in memory.

use std::borrow::Borrow;
use std::sync::Arc;

use rootfile::Result;

use super::fill_context::FillContext;
use super::writer::{ParallelWriter, TableId};
use crate::execute::progress::unwatched;
use crate::execute::shared_work::{Filler, SharedWork};
use crate::execute::workers::{Workers, guarded};

/// What a thread does next.
enum Turn<'a> {
    /// It fills a task.
    Fill(u64, Filler<'a>),
    /// It makes pieces of clusters that others fill.
    Help,
}

/// Fills the tasks from 0 to `count` of some trees on `threads` threads, including the calling one. `fill` gets a task's
/// number and its contexts, in the order of the trees. The first error ends the work; a panic of `fill` is one. All threads make baskets
/// and pages of the tasks that are filled.
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
    let own = || Arc::new(SharedWork::new(0, || true, || ()));
    let work = trees.first().map_or_else(own, |(writer, _)| Arc::clone(writer.borrow().work()));
    let mut numbers = 0..count;
    let next = || -> Result<Option<Turn<'_>>> {
        if numbers.is_empty() {
            return Ok(work.is_filled().then_some(Turn::Help));
        }
        let Some(filler) = work.filler() else { return Ok(Some(Turn::Help)) };
        Ok(numbers.next().map(|number| Turn::Fill(number, filler)))
    };
    Workers::new("the filling", threads.max(1), &unwatched).run(
        next,
        // Contexts that failed are dropped, which gives the output up for all, only after their error is kept.
        Vec::new,
        |_, turn, contexts: &mut Vec<FillContext>| {
            let Turn::Fill(number, _filler) = turn else {
                work.help_while_filled();
                return Ok(());
            };
            let fill_task = || -> Result<()> {
                for (writer, tree) in trees {
                    contexts.push(writer.borrow().fill_task(*tree, number)?);
                }
                fill(number, contexts)?;
                while !contexts.is_empty() {
                    contexts.remove(0).finish()?;
                }
                Ok(())
            };
            guarded(|| format!("task {number} of the filling"), fill_task)
        },
    )
}
