//! What an update in place knows of its file, and which records of the old state stay.

use std::collections::HashSet;
use std::sync::Arc;

use super::gaps::Gaps;
use crate::file::{Committed, Run};
use crate::streamer::StreamerInfos;
use crate::{Error, Result};

/// What an update knows of the file.
pub(super) struct Update {
    pub committed: Committed,
    /// Its streamer infos.
    pub infos: Arc<StreamerInfos>,
    /// The gaps that are left, of those that the file had.
    pub gaps: Gaps,
    /// Records of the old state that the new one has as well.
    pub kept: Vec<Run>,
    /// Records that only the old state has, besides those of keys and directories.
    pub retired: Vec<Run>,
    /// The offsets of the keys that stay.
    pub kept_keys: HashSet<u64>,
    /// What is left of the gap that was taken last.
    pub remainder: Option<Run>,
    /// Whether the streamer infos get another place, even if they stay the same.
    pub moves_infos: bool,
}

impl Update {
    /// Refuses a file whose free list has bytes of a record that stays.
    pub fn check_kept(&self) -> Result<()> {
        let mut gaps: Vec<Run> = self.committed.gaps.iter().chain(&self.committed.unmarked).copied().collect();
        gaps.sort_unstable();
        let clash = |run: &&Run| {
            let at = gaps.partition_point(|gap| gap.end() <= run.first);
            gaps.get(at).is_some_and(|gap| gap.first < run.end())
        };
        match self.kept.iter().find(clash) {
            None => Ok(()),
            Some(run) => Err(Error::corrupt("the free list has bytes of a record that is in use").at(run.first)),
        }
    }
}
