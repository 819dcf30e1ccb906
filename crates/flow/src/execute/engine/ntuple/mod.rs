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
pub(crate) use self::outline::Running;
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
    let mut running = Running::new(job.columns.len());
    append_pages(job, writer, sink, &mut running, share, progress)?;
    sink.end_group_here(writer)?;
    Ok(running.depths)
}

/// Writes the pages of inputs behind those that `running` knows of. The last cluster and its group stay open.
pub(crate) fn append_pages(
    job: &PageJob,
    writer: &mut FileWriter,
    sink: &mut PageSink,
    running: &mut Running,
    share: Share,
    progress: Progress<'_>,
) -> Result<()> {
    let sources: Vec<_> = job.inputs.iter().map(|input| Arc::clone(&input.source)).collect();
    let (ahead, share) = read_ahead(&sources, share);
    let near = ahead.fetches().then(|| job.with_sources(ahead.files()));
    let job = near.as_ref().unwrap_or(job);
    let work = PageWork { job };
    let mut tasks = PageTasks::new(job, &ahead, std::mem::take(running));
    run_work(&work, || tasks.next(), (writer, sink), share, progress)?;
    *running = tasks.into_running();
    Ok(())
}
