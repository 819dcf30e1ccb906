//! What was tried for a choice, and what was not, in words: "best" is said only of what was tried.

use dataset::layout::{ByteSize, Container};

use crate::cost::Packing;
use crate::cost::measured::Measured;
use crate::cost::nominal;
use crate::cost::statistics::FileStats;

use super::candidates::{BASKET_SIZES, CHOICES, ClusterOption};
use super::options::{Containers, Options};

/// What was tried.
pub(super) fn tried(stats: &FileStats, measured: &Measured, clusterings: &[ClusterOption]) -> Vec<String> {
    let size = |bytes: u64| ByteSize(bytes).to_string();
    let mut sizes: Vec<String> = Vec::new();
    for option in clusterings {
        sizes.push(option.size.map_or_else(|| "as they are".to_owned(), |bytes| format!("of {}", size(bytes))));
    }
    let of_columns = |packing: &Packing| packing.to_string();
    let codecs: Vec<String> = measured.codecs.iter().chain(&measured.dropped).map(of_columns).collect();
    let ends = [BASKET_SIZES.first(), BASKET_SIZES.last()].map(|bytes| size(bytes.copied().unwrap_or(0).into()));
    let pieces = if stats.has_pages() { "pages" } else { "baskets" };
    vec![
        format!("{} for each column", codecs.join(", ")),
        format!("clusters {}", sizes.join(", ")),
        format!("{pieces} as they are and of {} to {}", ends[0], ends[1]),
    ]
}

/// What was not, and by which option it would be.
pub(super) fn not_tried(
    stats: &FileStats,
    measured: &Measured,
    clusterings: &[ClusterOption],
    options: &Options,
) -> Vec<String> {
    let mut left = Vec::new();
    let known = |codec| measured.codecs.iter().chain(&measured.dropped).any(|packing| packing.compression == codec);
    let more = nominal::all().into_iter().filter(|codec| !known(*codec)).map(|codec| codec.to_string());
    let more: Vec<String> = more.collect();
    if !more.is_empty() {
        left.push(format!("codecs that take longer to write or to read ({})", more.join(", ")));
    }
    let unsampled = stats.now().zip(&measured.columns).filter(|(_, cost)| cost.sampled <= 0.0).count();
    if unsampled > 0 {
        let columns = if unsampled == 1 { "column that was" } else { "columns that were" };
        left.push(format!("other codecs for {unsampled} {columns} not sampled"));
    }
    if stats.units.len() > CHOICES && clusterings.len() == 1 {
        left.push(format!("other clusters, of more than {CHOICES} columns (--min-clusters)"));
    }
    let fewest = clusterings.iter().map(ClusterOption::most).fold(f64::INFINITY, f64::min);
    if fewest >= 2.0 {
        left.push(format!("fewer than {fewest:.0} clusters (--min-clusters)"));
    }
    if !options.recode && stats.trees.iter().any(|tree| !tree.objects.is_empty()) {
        left.push("columns of objects split otherwise (--recode)".to_owned());
    }
    if options.containers == Containers::Own && options.reader.is_none() {
        let other = if stats.has_pages() { Container::Ttree } else { Container::Rntuple };
        left.push(format!("another container (--container {other})"));
    }
    left
}
