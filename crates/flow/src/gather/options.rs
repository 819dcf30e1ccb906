//! Options of a growing merge.

use dataset::layout::Layout;

use crate::arrow::write::{AutoSave, Order};
use crate::execute::budget::Budget;
use crate::plan::options::PlanOptions;
use crate::rewrite::options::{CompressionOptions, Options};

/// The least memory of the engine that moves records: the buffers of one thread.
const LEAST_ENGINE: u64 = 64 << 20;

/// Options of a growing merge.
#[derive(Clone, Debug)]
pub struct GatherOptions {
    /// The layout. What it leaves open stays as the parts have it.
    pub layout: Layout,
    /// How parts whose tables differ are joined.
    pub plan: PlanOptions,
    /// Compression settings besides those of the layout.
    pub compression: CompressionOptions,
    /// The order of parts: as they arrive, or by the numbers of their tasks.
    pub order: Order,
    /// When the unfinished file is made whole. [`AutoSave::Entries`] counts those of all tables. Never if absent.
    pub auto_save: Option<AutoSave>,
    /// Whether an existing file is replaced.
    pub overwrite: bool,
    /// The threads that regroup or compress anew. Records that are copied need one.
    pub threads: usize,
    /// Whether copied records are decompressed, to check them.
    pub check: bool,
}

impl Default for GatherOptions {
    fn default() -> Self {
        Self {
            layout: Layout::default(),
            plan: PlanOptions::default(),
            compression: CompressionOptions::default(),
            order: Order::default(),
            auto_save: None,
            overwrite: false,
            threads: 1,
            check: false,
        }
    }
}

impl GatherOptions {
    /// The options of a merge of such parts, beside parts of `limit` bytes.
    pub(super) fn rewrite(&self, limit: u64) -> Options {
        Options {
            layout: self.layout.clone(),
            plan: self.plan,
            compression: self.compression,
            budget: Budget::new(limit.max(LEAST_ENGINE), self.threads.max(1)),
            overwrite: self.overwrite,
            check: self.check,
            ..Options::default()
        }
    }
}
