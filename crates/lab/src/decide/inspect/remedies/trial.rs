//! A trial of a rewrite, on samples and in little memory. What is asked of its outcome is in the modules beside it.

use std::path::Path;

use flow::{Budget, Options, Outlook};
use rootfile::{Error, Result};

/// Bytes of memory of a trial; what needs more is not tried.
const MEMORY: u64 = 64_000_000;

/// What a rewrite of a file with these options would write, from samples of at most so many seconds of one core.
pub(super) fn forecast(path: &Path, options: Options, seconds: f64) -> Result<Outlook> {
    let options = Options { budget: Budget::new(MEMORY, 1), ..options };
    flow::forecast_within(&[path.to_path_buf()], Path::new("trial.root"), &options, seconds)
}

/// Whether a trial was refused because it needs more memory.
pub(super) fn needs_memory(error: &Error) -> bool {
    error.hints().iter().any(|hint| hint.option() == "memory")
}
