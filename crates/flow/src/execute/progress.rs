//! Progress reports of long work, which can end the work as well.

use std::ops::ControlFlow;

use rootfile::{Error, Result};

/// Callback for progress bars: gets the bytes that were appended or compared. `Break` ends the work with
/// [`ErrorKind::Interrupted`](rootfile::ErrorKind::Interrupted).
pub type Progress<'a> = &'a (dyn Fn(u64) -> ControlFlow<()> + Sync);

/// A [`Progress`] that ignores the bytes.
pub fn unwatched(_bytes: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Reports progress. Fails if the callback ends the work.
pub fn tell(progress: Progress<'_>, bytes: u64) -> Result<()> {
    match progress(bytes) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::interrupted()),
    }
}
