//! Makes the records of some entries of a column and discards them, to know their sizes: what a forecast tries.

use std::ops::Range;

use rootfile::Result;

use super::job::Job;
use super::regroup;
use super::scratch::WorkerScratch;
use crate::execute::fetch::tree::basket_cache::BasketCache;
use crate::table::depth::Depth;
use crate::table::piece::Files;
use crate::table::tree::chunk::Chunk;
use crate::table::tree::column::Column;

/// Bytes of baskets that are kept for the next cluster.
const KEPT: u64 = 32 << 20;

/// Tries columns of a tree, one after the other.
pub(crate) struct Trial<'a> {
    job: Job<'a>,
    scratch: WorkerScratch,
    cache: BasketCache,
}

/// Records that were made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Made {
    pub records: u64,
    /// Bytes before compression and on disk, keys included.
    pub raw: u64,
    pub zip: u64,
}

impl<'a> Trial<'a> {
    /// Tries columns with clusters of these bounds. `packed` and `copies_fit` are those of the plan.
    pub fn new(
        files: &'a Files,
        columns: &'a [Column],
        bounds: &'a [u64],
        packed: &'a [bool],
        copies_fit: bool,
    ) -> Self {
        let job = Job {
            files,
            pid_offsets: &[],
            columns,
            recodes: &[],
            bounds,
            packed,
            seek_pdir: 0,
            copies_fit,
            check: false,
            stays: None,
            pids: &[],
        };
        Self { job, scratch: WorkerScratch::new(), cache: BasketCache::new(KEPT) }
    }

    /// Forgets the baskets that the next cluster would use as well.
    pub fn elsewhere(&mut self) {
        self.cache = BasketCache::new(KEPT);
    }

    /// Makes the records of some entries of a column within one cluster.
    ///
    /// # Errors
    ///
    /// The entries cannot be read.
    pub fn make(&mut self, column: usize, entries: Range<u64>, depth: Depth) -> Result<Made> {
        let mut made = Made::default();
        let mut count = |chunk: &mut Chunk| {
            for record in chunk.records.drain(..) {
                made.records += 1;
                made.raw += u64::from(record.objlen) + u64::from(record.keylen);
                made.zip += u64::from(record.nbytes);
            }
            chunk.bytes.clear();
            Ok(())
        };
        regroup::make(&self.job, (column, entries, depth), &mut self.scratch, &self.cache, &mut count)?;
        count(&mut self.scratch.chunk)?;
        Ok(made)
    }
}
