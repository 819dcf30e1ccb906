//! The engine: the jobs of trees and RNTuples, as [`work`](crate::execute::pipeline::Work) of a pipeline.

pub(crate) mod ntuple;
pub(crate) mod tree;

use crate::execute::budget::Share;
use crate::execute::fetch::read_ahead::ReadAhead;
use crate::table::piece::Files;

/// Files that may be read ahead, and the share without the memory for that.
fn read_ahead(files: &Files, share: Share) -> (ReadAhead, Share) {
    let room = ReadAhead::room(files, share.waiting);
    let (waiting, free) = (share.waiting.saturating_sub(room), share.free.saturating_sub(room));
    (ReadAhead::over(files, room), Share { waiting, free, ..share })
}
