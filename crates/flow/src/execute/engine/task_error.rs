//! The ways in which a task fails.

use rootfile::Error;

/// Another worker failed; its error is in the queue.
#[derive(Debug)]
pub(crate) struct Stopped;

/// Why a task ended early.
#[derive(Debug)]
pub(crate) enum TaskError {
    /// It failed itself.
    Failed(Error),
    /// Another task failed.
    Stopped,
}

impl From<Error> for TaskError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Stopped> for TaskError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}
