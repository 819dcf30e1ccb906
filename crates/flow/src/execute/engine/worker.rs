//! A worker: takes tasks from the queue, performs them with its own buffers and codecs, and hands their records over.

use super::job::Job;
use super::queue::Queue;
use super::scratch::WorkerScratch;
use super::task_error::{Stopped, TaskError};
use super::tasks::Task;
use super::work::{Emit, Supply, Work};
use super::{copy, recode, regroup};
use crate::commit::append::Append;
use crate::execute::fetch::basket_cache::BasketCache;
use crate::table::chunk::Chunk;

/// Works until no tasks are left, or a task failed.
pub(crate) fn work<W, S, A>(work: &W, queue: &Queue<'_, S, A>)
where
    W: Work,
    S: Supply<Task = W::Task>,
    A: Append<Batch = W::Batch>,
{
    let mut scratch = work.scratch();
    while let Some((number, task)) = queue.next() {
        let made = work.perform(task, &mut scratch, &mut |batch| queue.emit(number, batch));
        let handed = match made {
            Ok(()) => queue.emit(number, work.rest(&mut scratch)).and_then(|()| queue.done(number)),
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

/// Work on a tree.
pub(crate) struct TreeWork<'a> {
    pub job: &'a Job<'a>,
    pub cache: BasketCache,
}

impl Work for TreeWork<'_> {
    type Task = Task;
    type Batch = Chunk;
    type Scratch = WorkerScratch;

    fn scratch(&self) -> WorkerScratch {
        WorkerScratch::new()
    }

    fn perform(
        &self,
        task: Task,
        scratch: &mut WorkerScratch,
        emit: Emit<'_, Chunk>,
    ) -> std::result::Result<(), TaskError> {
        let Self { job, cache } = self;
        let mut emit = |chunk: &mut Chunk| {
            let handed = emit(chunk);
            chunk.bytes.clear();
            handed
        };
        match task {
            Task::Copy(pieces) => copy::copy(job, &pieces, scratch).map_err(TaskError::Failed),
            Task::Make { column, entries, depth } => {
                regroup::make(job, (column, entries, depth), scratch, cache, &mut emit)
            }
            Task::Recode { group, entries } => recode::make(job, (group, entries), scratch, cache, &mut emit),
        }
    }

    fn rest<'s>(&self, scratch: &'s mut WorkerScratch) -> &'s mut Chunk {
        &mut scratch.chunk
    }
}
