//! Whether files are whole and readable. The shallow check reads all metadata, and headers of baskets; the deep check
//! decompresses every basket, page and object too, and compares checksums.
//!
//! Threads share one queue of jobs: a thread opens the next file (`shallow`) only if no part of an open file waits (`deep`), so
//! few files are open at a time, and one large file keeps all threads busy.

mod deep;
mod opened;
mod queue;
mod report;
mod shallow;

use std::path::PathBuf;

use rootfile::{FilePool, Follow, OPEN_FILES, Result};

use crate::Budget;
use crate::execute::fetch::tree::sound_basket::MemoryLimit;
use crate::execute::progress::Progress;
use crate::execute::workers::Workers;
use crate::keys::files::KeyFiles;
use crate::keys::{KeyNames, duplicates_of_files};
use crate::plan::inputs::Input;

pub use report::{Checked, CheckedFile, CheckedTable, Condition, Problem};

/// Options of a check.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOptions {
    /// Whether to decompress all baskets, pages and objects.
    pub deep: bool,
    /// Whether whole files are left out of the look at keys that lack the table or the columns.
    pub skip_bad: bool,
    /// Memory and threads. The memory is that of decompressed data.
    pub budget: Budget,
}

/// Checks files. Damage is in the report; files are in their given order.
///
/// # Errors
///
/// The budget is too small for a basket or page, or the work was ended by `progress`.
pub fn check(paths: &[PathBuf], options: &CheckOptions, progress: Progress<'_>) -> Result<Checked> {
    let work = deep::Work {
        paths,
        deep: options.deep,
        pool: FilePool::new(OPEN_FILES),
        limit: MemoryLimit::new(options.budget),
        queue: queue::Queue::new(paths.len()),
        progress,
    };
    let stop = || work.queue.stop();
    let workers = Workers::new("the check", options.budget.threads, progress).in_order().giving_up(&stop);
    workers.run(|| Ok(work.queue.next()), deep::Scratch::default, |_, next, scratch| work.perform(next, scratch))?;
    Ok(Checked::of(work.queue.into_results(), options.deep))
}

/// Looks at the keys of checked files, those that are whole: which entries have the key of another. `inputs` are the files in their order,
/// with the tables that are meant. `progress` gets the bytes that are read.
///
/// # Errors
///
/// A file has no such table or no such column, or cannot be read after all.
pub fn check_keys(
    checked: &mut Checked,
    inputs: &[Input],
    key: &KeyNames,
    options: &CheckOptions,
    progress: Progress<'_>,
) -> Result<()> {
    let is_whole = |file: &CheckedFile| file.condition == Condition::Ok;
    let whole = checked.files.iter().zip(inputs).filter(|(file, _)| is_whole(file));
    let mut whole: Vec<Input> = whole.map(|(_, input)| input.clone()).collect();
    if options.skip_bad {
        let files = KeyFiles::new(&whole, key, options.budget, Follow::default())?;
        let (good, skipped) = files.without_bad(progress)?;
        (whole, checked.skipped) = (good, skipped);
    }
    checked.keys = Some(duplicates_of_files(&whole, key, options.budget, Follow::default(), progress)?);
    Ok(())
}
