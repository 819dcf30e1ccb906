//! How a worker performs the tasks of a tree, with its own buffers and codecs.

use rootfile::Result;

use super::job::Job;
use super::scratch::WorkerScratch;
use super::tasks::Task;
use super::{copy, recode, regroup};
use crate::execute::fetch::tree::basket_cache::BasketCache;
use crate::execute::pipeline::{Emit, Work};
use crate::table::tree::chunk::Chunk;

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

    fn perform(&self, task: Task, scratch: &mut WorkerScratch, emit: Emit<'_, Chunk>) -> Result<()> {
        let Self { job, cache } = self;
        let mut emit = |chunk: &mut Chunk| {
            let handed = emit(chunk);
            chunk.bytes.clear();
            handed
        };
        match task {
            Task::Copy(pieces) => copy::copy(job, &pieces, scratch),
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
