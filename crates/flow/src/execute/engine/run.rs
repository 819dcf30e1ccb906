//! Runs a job on threads.

use rootfile::{FileWriter, Result};

use super::job::Job;
use super::queue::Queue;
use super::worker;
use crate::commit::sink::WrittenColumn;
use crate::execute::allocator;
use crate::execute::budget::Share;
use crate::execute::fetch::basket_cache::BasketCache;
use crate::execute::progress::Progress;
use crate::execute::workers::run_workers;

/// Runs a job.
pub(crate) fn run(
    job: &Job<'_>,
    writer: &mut FileWriter,
    share: Share,
    progress: Progress<'_>,
) -> Result<Vec<WrittenColumn>> {
    let queue = Queue::new(job, writer, share.waiting, progress);
    let cache = BasketCache::new(share.waiting / 4);
    if !job.recodes.is_empty() {
        // Decoding allocates new arrays for each portion.
        allocator::keep(share.waiting / 4);
    }
    run_workers(share.threads, || queue.guarded(|| worker::work(job, &queue, &cache)));
    queue.finish()
}
