//! The work on RNTuples: pages are copied or recompressed, or made anew where some entries of a cluster are kept. [`tasks`] reads page
//! lists group by group and deals out pages, and [`work`] moves them.

pub(crate) mod job;
mod outline;
pub(crate) mod shared;
mod slice;
mod slice_work;
mod tasks;
mod work;

use std::sync::Arc;

use rootfile::{FileWriter, Result};

use self::job::PageJob;
use self::tasks::PageTasks;
use self::work::PageWork;
use super::read_ahead;
use crate::commit::ntuple::page_sink::PageSink;
use crate::execute::budget::Share;
use crate::execute::pipeline::run_work;
use crate::execute::progress::Progress;
use crate::table::depth::Depths;

/// Writes the pages of an RNTuple, and all page lists.
pub(crate) fn run_pages(
    job: &PageJob,
    (writer, sink): (&mut FileWriter, &mut PageSink),
    share: Share,
    progress: Progress<'_>,
) -> Result<Depths> {
    let sources: Vec<_> = job.inputs.iter().map(|input| Arc::clone(&input.source)).collect();
    let (ahead, share) = read_ahead(&sources, share);
    let near = ahead.fetches().then(|| job.with_sources(ahead.files()));
    let job = near.as_ref().unwrap_or(job);
    let work = PageWork { job };
    let mut tasks = PageTasks::new(job, &ahead);
    run_work(&work, || tasks.next(), (&mut *writer, &mut *sink), share, progress)?;
    sink.end_group_here(writer)?;
    Ok(tasks.depths())
}
