//! Runs the job of a tree.

use rootfile::{FileWriter, Result};

use super::job::Job;
use super::tasks::Tasks;
use super::worker::TreeWork;
use crate::commit::tree::sink::{Sink, WrittenColumn};
use crate::execute::allocator;
use crate::execute::budget::Share;
use crate::execute::engine::read_ahead;
use crate::execute::fetch::tree::basket_cache::BasketCache;
use crate::execute::pipeline::run_work;
use crate::execute::progress::Progress;
use crate::table::tree::column::Column;

/// Runs the job of a tree.
pub(crate) fn run(
    job: &Job<'_>,
    writer: &mut FileWriter,
    share: Share,
    progress: Progress<'_>,
) -> Result<Vec<WrittenColumn>> {
    if !job.recodes.is_empty() {
        // Decoding allocates new arrays for each portion.
        allocator::keep(share.waiting / 4);
    }
    let room = |column: &Column| WrittenColumn {
        baskets: Vec::with_capacity(column.source.pieces.len()),
        ..WrittenColumn::default()
    };
    let mut sink = Sink { seek_pdir: job.seek_pdir, written: job.columns.iter().map(room).collect() };
    let (ahead, share) = read_ahead(job.files, share);
    let job = &Job { files: ahead.files(), ..*job };
    let work = TreeWork { job, cache: BasketCache::new(share.waiting / 4) };
    let mut tasks = Tasks::new(job, &ahead);
    run_work(&work, || Ok(tasks.next()), (writer, &mut sink), share, progress)?;
    let mut written = sink.written;
    for (column, depths) in written.iter_mut().zip(tasks.depths()) {
        column.depths = depths;
        // Copied records keep their order in the input, which in a file with reused gaps is not that of entries.
        column.baskets.sort_by_key(|b| b.first_entry);
    }
    Ok(written)
}
