//! The work that the engine runs: tasks in the order of the output, and how a worker performs one. There is one kind of work for
//! trees and one for RNTuples.

use rootfile::Result;

use super::task_error::{Stopped, TaskError};
use crate::commit::append::Batch;

/// Deals out tasks in the order of the output.
pub(crate) trait Supply: Send {
    /// A piece of work.
    type Task;

    /// The next task. None after the last.
    fn next(&mut self) -> Result<Option<Self::Task>>;
}

/// Takes finished records of the current task.
pub(crate) type Emit<'a, B> = &'a mut dyn FnMut(&mut B) -> std::result::Result<(), Stopped>;

/// How tasks are performed.
pub(crate) trait Work: Sync {
    /// A piece of work.
    type Task;
    /// The records that a task makes.
    type Batch: Batch;
    /// Buffers and codecs of one worker.
    type Scratch;

    /// New buffers and codecs.
    fn scratch(&self) -> Self::Scratch;

    /// Performs a task. Finished records are emitted, the last ones may stay in the [`rest`](Self::rest).
    fn perform(
        &self,
        task: Self::Task,
        scratch: &mut Self::Scratch,
        emit: Emit<'_, Self::Batch>,
    ) -> std::result::Result<(), TaskError>;

    /// The records that a task left in the buffers.
    fn rest<'s>(&self, scratch: &'s mut Self::Scratch) -> &'s mut Self::Batch;
}
