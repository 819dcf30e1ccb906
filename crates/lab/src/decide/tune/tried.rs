//! What was tried for a choice, and what was not, in words: "best" is said only of what was tried.

use dataset::layout::{ByteSize, Compression, Container};

use crate::cost::Packing;
use crate::cost::measured::Measured;
use crate::cost::nominal;
use crate::cost::statistics::FileStats;

use super::candidates::{BASKET_SIZES, CHOICES, ClusterOption};
use super::options::{Containers, Options};

/// What was tried; `part` is the share of the entries of a trial, if not all were written.
pub(super) fn tried(
    stats: &FileStats,
    measured: &Measured,
    clusterings: &[ClusterOption],
    part: Option<f64>,
) -> Vec<String> {
    let size = |bytes: u64| ByteSize(bytes).to_string();
    let mut sizes: Vec<String> = Vec::new();
    for option in clusterings {
        sizes.push(option.size.map_or_else(|| "as they are".to_owned(), |bytes| format!("of {}", size(bytes))));
    }
    let of_columns = |packing: &Packing| packing.to_string();
    let codecs: Vec<String> = measured.codecs.iter().chain(&measured.dropped).map(of_columns).collect();
    let ends = [BASKET_SIZES.first(), BASKET_SIZES.last()].map(|bytes| size(bytes.copied().unwrap_or(0).into()));
    let pieces = if stats.has_pages() { "pages" } else { "baskets" };
    let mut all = vec![
        format!("{} for each column", codecs.join(", ")),
        format!("clusters {}", sizes.join(", ")),
        format!("{pieces} as they are and of {} to {}", ends[0], ends[1]),
    ];
    all.extend(part.map(|share| format!("{:.0} % of the entries in a chosen layout", (100.0 * share).max(1.0))));
    all
}

/// The codecs that are tried for other goals and limits only.
fn other_codecs(known: &[Compression]) -> Vec<String> {
    let more = nominal::all().into_iter().filter(|codec| !known.contains(codec));
    // One of a level between two that were tried does not take longer than both.
    let (between, longer): (Vec<_>, Vec<_>) = more.partition(|codec| {
        let same = known.iter().filter(|other| other.algorithm() == codec.algorithm());
        same.map(|other| other.level()).max().is_some_and(|most| most > codec.level())
    });
    let named = |codecs: Vec<Compression>, why: &str| {
        let names: Vec<String> = codecs.iter().map(ToString::to_string).collect();
        (!names.is_empty()).then(|| format!("{why} ({})", names.join(", ")))
    };
    let longer = named(longer, "codecs that take longer to write or to read");
    named(between, "levels of codecs below those that were tried").into_iter().chain(longer).collect()
}

/// What was not, and by which option it would be.
pub(super) fn not_tried(
    stats: &FileStats,
    measured: &Measured,
    clusterings: &[ClusterOption],
    options: &Options,
) -> Vec<String> {
    let mut left = Vec::new();
    let known: Vec<Compression> =
        measured.codecs.iter().chain(&measured.dropped).map(|packing| packing.compression).collect();
    left.extend(other_codecs(&known));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_takes_longer_is_said_to() {
        let known: Vec<Compression> =
            ["none", "lz4:4", "zlib:1", "zstd:5", "zstd:9"].map(|codec| codec.parse().unwrap()).into();
        let told = other_codecs(&known);
        let of = |why: &str| told.iter().find(|one| one.contains(why)).map_or("", String::as_str);
        assert!(of("below").contains("zstd:7") && of("below").contains("lz4:1"), "{told:?}");
        assert!(of("longer").contains("lzma:5") && !of("longer").contains("zstd:7"), "{told:?}");
        assert!(other_codecs(&nominal::all()).is_empty());
    }
}
