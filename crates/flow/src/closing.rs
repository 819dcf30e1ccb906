//! Ends a tree: what was written goes into its metadata, and what ROOT needs to read those into its file; and the date it gets. It knows
//! nothing of where the entries came from.

use std::sync::Arc;

use dataset::tree::{Branch, Tree, write};
use rootfile::FileWriter;
use rootfile::codec::Compression;
use rootfile::streamer::builtin;

use crate::plan::clusters;
use crate::sink::Written;

/// How large a buffer a branch says that its writer wants.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BufferSize {
    /// As it says.
    Keep,
    /// So many bytes.
    Bytes(u64),
    /// So many times its largest basket.
    Times(f64),
}

/// Puts what was written of a branch into it.
pub(crate) fn settle_branch(branch: &mut Branch, written: Written, compression: Compression, buffer: BufferSize) {
    branch.compress = compression.to_root_setting();
    branch.baskets = written.baskets;
    branch.embedded.clear();
    branch.tot_bytes = written.tot_bytes;
    branch.zip_bytes = written.zip_bytes;
    branch.first_entry = branch.baskets.first().map_or(0, |b| b.first_entry);
    branch.entries = branch.baskets.iter().map(|b| b.entries).sum();
    branch.entry_number = branch.first_entry + branch.entries;
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
    let size = match buffer {
        BufferSize::Keep => return,
        BufferSize::Bytes(bytes) => bytes,
        BufferSize::Times(ratio) => (written.largest as f64 * ratio).ceil() as u64,
    };
    // ROOT wants room for the key and the entry offsets.
    let least = 100 + branch.named.name.len() as u64 + u64::from(branch.entry_offset_len.max(0).unsigned_abs());
    branch.basket_size = u32::try_from(size.max(least)).unwrap_or(u32::MAX >> 1);
}

/// Sums a tree's branches up, and records its clusters: the first entry of each, and last the number of entries.
pub(crate) fn settle_tree(tree: &mut Tree, bounds: &[u64]) {
    tree.tot_bytes = tree.branches.iter().map(|b| b.tot_bytes).sum();
    tree.zip_bytes = tree.branches.iter().map(|b| b.zip_bytes).sum();
    tree.saved_bytes = tree.zip_bytes;
    tree.flushed_bytes = tree.zip_bytes;
    tree.cluster_ranges = clusters::ranges(bounds);
    if let Some((_, size)) = tree.cluster_ranges.last() {
        tree.auto_flush = *size;
    }
}

/// Adds the streamer infos of ROOT's own classes that a tree's record is made of.
pub(crate) fn add_own_infos(writer: &mut FileWriter, tree: &Tree) {
    for name in write::classes(tree) {
        if let Some(info) = builtin::infos().iter().filter(|i| i.name == name).max_by_key(|i| i.version) {
            writer.infos_mut().add(Arc::clone(info));
        }
    }
}

/// The date that an output's records get: SOURCE_DATE_EPOCH, or the newest of the inputs', or today's.
pub(crate) fn date(newest: Option<u32>) -> u32 {
    let epoch = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|s| s.trim().parse::<i64>().ok());
    let now = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(nearest_date(i64::try_from(since.as_secs()).ok()?))
    };
    epoch.map(nearest_date).or(newest).or_else(now).unwrap_or(0)
}

/// The date that ROOT has for a time in seconds since 1970: dates begin with 1995 and end with 2058. A time before or after
/// gets the first or last date, so that the same inputs make the same output whenever they are converted.
pub(crate) fn nearest_date(seconds: i64) -> u32 {
    const FIRST: i64 = 788_918_400;
    const LAST: i64 = 2_808_604_799;
    rootfile::datime_of_epoch(seconds.clamp(FIRST, LAST)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_root_has_no_date_for_gets_the_nearest() {
        let year = |packed: u32| 1995 + (packed >> 26);
        assert_eq!(year(nearest_date(0)), 1995);
        assert_eq!(year(nearest_date(i64::MAX)), 2058);
        assert_eq!(nearest_date(1_709_210_096), rootfile::datime_of_epoch(1_709_210_096).unwrap());
        for first_or_last in [788_918_400 - 1, 2_808_604_799 + 1] {
            assert_eq!(rootfile::datime_of_epoch(first_or_last), None);
        }
    }
}
