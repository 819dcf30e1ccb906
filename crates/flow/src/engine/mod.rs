//! The engine: runs the tasks of a plan on threads and appends what they make in order.
//!
//! One way through: [`tasks`] deals out tasks in the order of the output, a [`worker`] fetches, decompresses,
//! regroups and compresses, and the [`queue`] appends in order, within its share of the budget.

mod builder;
mod copy;
mod generated;
mod lane;
mod queue;
mod rebase;
mod recode;
mod regroup;
mod tasks;
#[cfg(test)]
mod tests;
mod worker;

use std::ops::ControlFlow;
use std::sync::Arc;

use rootfile::{Error, FileWriter, Result, Source};

pub(crate) use builder::append_numbers;
pub use generated::Generated;
pub(crate) use lane::{Lane, RecodeSource};
pub use recode::Form;
pub(crate) use recode::{Recode, RecodeOutput, Sampled};
pub(crate) use regroup::spans_several;
pub(crate) use tasks::{Asked, depth};
pub use tasks::{Depth, Depths};
pub(crate) use worker::{Carry, Scratch, Whose};

use crate::allocator;
use crate::budget::Share;
use crate::column::Column;
use crate::sink::Written;
use queue::Queue;

/// What the engine is to do: columns, cut at clusters.
pub(crate) struct Job<'a> {
    /// The inputs' bytes.
    pub files: &'a [Arc<dyn Source>],
    /// Added to the process-identifier numbers inside the entries of each file.
    pub pid_offsets: &'a [u16],
    /// Columns of the output.
    pub columns: &'a [Column],
    /// Columns of the inputs that become others.
    pub recodes: &'a [Recode],
    /// First entry of each cluster, and last the number of entries.
    pub bounds: &'a [u64],
    /// Whether a cluster is put together from several of the inputs'.
    pub packed: &'a [bool],
    /// Offset of the directory that the tree lies in.
    pub seek_pdir: u64,
    /// Whether records may be copied: not if their keys have no room for positions beyond 2 GB.
    pub copies_fit: bool,
    /// Whether records that are copied are decompressed on the way, to see that they can be.
    pub check: bool,
    /// Process identifiers of each file, which the offset in a basket's key stays below.
    pub pids: &'a [u16],
}

/// Is told how many bytes were appended or compared; used for progress bars. Its `Break` ends the work.
pub type Progress<'a> = &'a (dyn Fn(u64) -> ControlFlow<()> + Sync);

/// The [`Progress`] of work that nobody watches.
pub fn unwatched(_bytes: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Tells of progress, and ends the work with an error if that is asked for.
pub(crate) fn tell(progress: Progress<'_>, bytes: u64) -> Result<()> {
    match progress(bytes) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(interrupted()),
    }
}

/// What work ends with where its [`Progress`] said so.
#[cold]
fn interrupted() -> Error {
    std::io::Error::new(std::io::ErrorKind::Interrupted, "interrupted").into()
}

/// Runs a job.
pub(crate) fn run(
    job: &Job<'_>,
    writer: &mut FileWriter,
    share: Share,
    progress: Progress<'_>,
) -> Result<Vec<Written>> {
    let queue = Queue::new(job, writer, share.waiting, progress);
    let carry = worker::Carry::new(share.waiting / 4);
    if !job.recodes.is_empty() {
        // Entries are decoded into arrays that are made anew for each portion.
        allocator::keep(share.waiting / 4);
    }
    std::thread::scope(|scope| {
        // The calling thread works as well: one thread means no thread at all.
        let work = || queue.guarded(|| worker::work(job, &queue, &carry));
        for _ in 1..share.threads {
            scope.spawn(work);
        }
        work();
    });
    queue.finish()
}
