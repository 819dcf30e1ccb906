//! Progress of long work, and the one way to end it.

use std::ops::ControlFlow;

use rootfile::{Error, Result};

/// Gets the bytes that were appended or compared, or the entries that were read, since the last call: 0 before each task. `Break` ends
/// the work with [`ErrorKind::Interrupted`](rootfile::ErrorKind::Interrupted).
pub type Progress<'a> = &'a (dyn Fn(u64) -> ControlFlow<()> + Sync);

/// A [`Progress`] that ignores what is done.
pub fn unwatched(_bytes: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Reports progress. Fails if the callback ends the work.
///
/// # Errors
///
/// The callback ends the work.
pub fn tell(progress: Progress<'_>, bytes: u64) -> Result<()> {
    match progress(bytes) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::interrupted()),
    }
}
