//! The positions of the records that complete a file.

use super::gaps::Gaps;

/// The positions of the records that header and directories refer to.
#[derive(Clone, Debug, Default)]
pub(super) struct Trailer {
    /// Key list of each directory: offset and size.
    pub lists: Vec<(u64, u32)>,
    /// Streamer infos.
    pub infos: (u64, u32),
    /// Free list: offset, size and number of segments.
    pub free: (u64, u32, u32),
    /// The file's end.
    pub end: u64,
}

/// Number of segments in the free list.
pub(super) fn segments(gaps: &Gaps) -> u32 {
    u32::try_from(gaps.len()).unwrap_or(u32::MAX).saturating_add(1)
}
