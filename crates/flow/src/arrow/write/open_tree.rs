//! A tree that is being written.

use std::sync::Arc;

use dataset::tree::Tree;
use rootfile::DirId;

use super::tree_plan::TreePlan;
use crate::commit::sink::Sink;

/// A tree that is being written.
pub(crate) struct OpenTree {
    pub plan: Arc<TreePlan>,
    pub tree: Tree,
    pub directory: DirId,
    pub sink: Sink,
    /// First entry of each cluster, and last the number of entries.
    pub bounds: Vec<u64>,
    pub maxima: Vec<u64>,
}

impl OpenTree {
    pub fn entries(&self) -> u64 {
        self.bounds.last().copied().unwrap_or(0)
    }
}
