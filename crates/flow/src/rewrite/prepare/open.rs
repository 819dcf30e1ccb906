//! Opens the inputs of a rewrite on the budget's threads. Their content is not looked at.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootfile::{Error, FilePool, Result, RootFile, is_same_file};

use super::bad_inputs::{BadInputs, is_unreadable};
use crate::execute::progress::unwatched;
use crate::execute::workers::Workers;
use crate::plan::skipped::Skipped;
use crate::rewrite::options::Options;

/// Refuses an input that is the output as well, or leaves it out if requested.
pub(super) fn without_output(
    inputs: &[PathBuf],
    output: &Path,
    options: &Options,
    skipped: &mut Vec<Skipped>,
) -> Result<Vec<PathBuf>> {
    let mut left = Vec::with_capacity(inputs.len());
    for (i, input) in inputs.iter().enumerate() {
        if is_same_file(input, output) && !(options.inputs.append && i == 0) {
            let error = Error::request("is an input as well; choose another output").file(output);
            if !options.inputs.skip_bad {
                return Err(error);
            }
            skipped.push(Skipped { path: input.clone(), reason: error.to_string() });
            continue;
        }
        left.push(input.clone());
    }
    Ok(left)
}

/// Opens the inputs through a pool of descriptors.
pub(super) fn open_inputs(
    inputs: &[PathBuf],
    options: &Options,
    skipped: &mut Vec<Skipped>,
) -> Result<Vec<Arc<RootFile>>> {
    let limit = match options.inputs.open_files {
        0 => rootfile::OPEN_FILES,
        number => number,
    };
    let pool = FilePool::following(limit, options.inputs.follow);
    open_with(inputs, options.budget.threads.min(limit), options.inputs.skip_bad, skipped, |path| pool.open(path))
}

/// Opens the inputs with `open`. The first error in the order of the inputs is returned, unless it can be skipped.
pub(super) fn open_with(
    inputs: &[PathBuf],
    threads: usize,
    skip_bad: bool,
    skipped: &mut Vec<Skipped>,
    open: impl Fn(&Path) -> Result<RootFile> + Sync,
) -> Result<Vec<Arc<RootFile>>> {
    let workers = Workers::new("the opening of inputs", threads, &unwatched).in_order();
    let opened = workers.results(inputs.len(), |i| match inputs.get(i).map(|path| open(path)) {
        Some(Err(e)) if skip_bad && is_unreadable(&e) => Ok(Some(Err(e))),
        Some(opened) => opened.map(|file| Some(Ok(file))),
        None => Ok(None),
    })?;
    let mut bad = BadInputs::new(inputs.to_vec(), skip_bad);
    let mut files = Vec::with_capacity(inputs.len());
    for opened in opened.into_iter().flatten() {
        files.extend(bad.admit(opened)?.map(Arc::new));
    }
    skipped.extend(bad.leave_out(&mut Vec::<()>::new()));
    let mut bad = BadInputs::of(&files, skip_bad);
    for file in &files {
        // A truncated file may lack objects without a trace.
        bad.admit(file.check_length())?;
    }
    skipped.extend(bad.leave_out(&mut files));
    Ok(files)
}
