//! The work on RNTuples: pages are copied or recompressed, or made anew where some entries of a cluster are kept. [`tasks`] reads page lists group by group and deals out pages, and
//! [`work`] moves them.

pub(crate) mod job;
mod outline;
mod shared;
mod slice;
mod slice_work;
mod tasks;
mod work;

use rootfile::{FileWriter, Result};

use self::job::PageJob;
use self::tasks::PageTasks;
use self::work::PageWork;
use super::run::run_work;
use crate::commit::page_sink::{PageSink, WrittenPages};
use crate::execute::budget::Share;
use crate::execute::progress::Progress;
use crate::table::depth::Depths;

/// Writes the pages and page lists of an RNTuple.
pub(crate) fn run_pages(
    job: &PageJob,
    (writer, sink): (&mut FileWriter, PageSink),
    share: Share,
    progress: Progress<'_>,
) -> Result<(WrittenPages, Depths)> {
    let work = PageWork { job };
    let (tasks, sink) = run_work(&work, PageTasks::new(job), (&mut *writer, sink), share, progress)?;
    Ok((sink.finish(writer)?, tasks.depths()))
}
