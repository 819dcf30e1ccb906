//! A worker: takes tasks from the queue, performs them with its own buffers and codecs, and hands their records over.

use super::job::Job;
use super::queue::Queue;
use super::scratch::WorkerScratch;
use super::task_error::{Stopped, TaskError};
use super::tasks::Task;
use super::{copy, recode, regroup};
use crate::execute::fetch::basket_cache::BasketCache;
use crate::table::chunk::Chunk;

/// Works until no tasks are left, or a task failed.
pub(crate) fn work(job: &Job<'_>, queue: &Queue<'_>, cache: &BasketCache) {
    let mut scratch = WorkerScratch::new();
    while let Some((number, task)) = queue.next() {
        let mut emit = |chunk: &mut Chunk| {
            let handed = queue.emit(number, chunk);
            chunk.bytes.clear();
            handed
        };
        let made = match task {
            Task::Copy(pieces) => copy::copy(job, &pieces, &mut scratch).map_err(TaskError::Failed),
            Task::Make { column, entries, depth } => {
                regroup::make(job, (column, entries, depth), &mut scratch, cache, &mut emit)
            }
            Task::Recode { group, entries } => recode::make(job, (group, entries), &mut scratch, cache, &mut emit),
        };
        let handed = match made {
            Ok(()) => queue.emit(number, &mut scratch.chunk).and_then(|()| queue.done(number)),
            Err(TaskError::Stopped) => Err(Stopped),
            Err(TaskError::Failed(error)) => {
                queue.fail(error);
                Err(Stopped)
            }
        };
        if handed.is_err() {
            return;
        }
    }
}
