//! Looks for each fault, in the file as a whole and in each tree. A rule has thresholds that say when it is worth a word,
//! and an estimate of what the fault costs.

use dataset::ntuple::is_ntuple;

use super::cost::{self, Cost, EMBEDDED_BYTE, Price, as_f64};
use super::{Fault, Found, baskets, codecs};
use crate::inspect::report::{BranchReport, Report, TreeReport};

/// Bytes below this are not worth a word.
pub(super) const BYTES: u64 = 100_000;
/// A share of the file's bytes below this is not worth a word.
const SHARE: u64 = 50;
/// Most branches that are named one by one.
pub(super) const NAMED: usize = 8;

/// Faults of the file as a whole.
pub(super) fn file(report: &Report) -> Vec<Found> {
    let mut found = Vec::new();
    let danger = Cost { danger: true, ..Cost::default() };
    if report.file.recovered {
        found.push(Found::new(Fault::NotClosed, danger));
    }
    let unreadable = report.skipped.iter().filter(|line| !is_ntuple(&line.class)).count() as u64;
    if unreadable > 0 {
        found.push(Found::new(Fault::Unreadable { objects: unreadable }, danger));
    }
    let bytes = report.file.free_bytes;
    if bytes > BYTES / 10 && bytes > report.file.bytes / SHARE {
        let fault = Fault::FreeGaps { gaps: report.file.free_segments, bytes };
        found.push(Found::new(fault, Cost { bytes, ..Cost::default() }));
    }
    let saved = |tree: &&TreeReport| !tree.newest && !tree.is_another;
    let old = || report.trees.iter().filter(saved);
    let bytes = old().map(|tree| tree.metadata.bytes).sum();
    if bytes > BYTES / 10 && bytes > report.file.bytes / SHARE {
        let fault = Fault::OldCycles { cycles: old().count() as u64, bytes };
        found.push(Found::new(fault, Cost { bytes, ..Cost::default() }));
    }
    found
}

/// Faults of one tree.
pub(super) fn tree(report: &Report, tree: &TreeReport) -> Vec<Found> {
    let setting = report.file.compression;
    let found = [
        baskets::tiny(tree),
        baskets::huge(tree, setting),
        baskets::clusters(tree, setting),
        baskets::misaligned(tree, setting),
        baskets::oversized(tree),
        baskets::uneven(tree),
        codecs::incompressible(tree, setting),
        codecs::heavy(tree, setting).or_else(|| by_branch(tree, setting)),
        codecs::slow_decoding(tree, setting),
        codecs::uncompressed(tree, setting),
        uncompressed_record(report, tree),
        metadata(tree),
        embedded(tree),
    ];
    let counters = tree.branches.iter().flat_map(out_of_range);
    found.into_iter().flatten().chain(counters).chain(missing(tree)).collect()
}

/// Branches with baskets, but those in a file that is not there.
pub(super) fn on_disk(tree: &TreeReport) -> impl Iterator<Item = &BranchReport> {
    tree.branches.iter().filter(|branch| branch.basket_summary.count > 0 && !branch.absent)
}

/// Bytes of their baskets before compression and on disk.
pub(super) fn sizes(tree: &TreeReport) -> (u64, u64) {
    on_disk(tree).fold((0, 0), |(raw, zip), branch| (raw + branch.tot_bytes, zip + branch.zip_bytes))
}

/// Branches whose file is not there, without those below one of them.
pub(super) fn absent(tree: &TreeReport) -> impl Iterator<Item = &BranchReport> {
    let is_below = |id: &str| {
        let above = |other: &&BranchReport| {
            other.absent && id.strip_prefix(other.id.as_str()).is_some_and(|rest| rest.starts_with('.'))
        };
        tree.branches.iter().any(|other| above(&other))
    };
    tree.branches.iter().filter(move |branch| branch.absent && !is_below(&branch.id))
}

fn missing(tree: &TreeReport) -> Vec<Found> {
    let mut files: Vec<&str> = absent(tree).map(|branch| branch.file_name.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    let found = files.into_iter().map(|missing| {
        let of = absent(tree).filter(|branch| branch.file_name == missing);
        let fault = Fault::MissingFile { branches: of.map(|b| b.name.clone()).collect(), missing: missing.to_owned() };
        Found::new(fault, Cost { danger: true, ..Cost::default() })
    });
    found.collect()
}

fn embedded_bytes(tree: &TreeReport) -> u64 {
    tree.branches.iter().flat_map(|branch| &branch.embedded).map(|basket| basket.bytes).sum()
}

/// Bytes by which any rewrite makes the file larger: each basket of a tree's record gets a key, and is compressed by itself.
pub(super) fn any_rewrite(report: &Report) -> u64 {
    let baskets = |tree: &TreeReport| tree.branches.iter().map(|branch| branch.embedded.len() as u64).sum::<u64>();
    let of = |tree: &TreeReport| baskets(tree) * cost::BASKET_BYTES + embedded_bytes(tree) / 60;
    report.newest().map(of).sum::<u64>()
}

/// Baskets of the record need more room as baskets of their own, which no codec makes up for at the same size.
fn by_branch(tree: &TreeReport, setting: i32) -> Option<Found> {
    codecs::by_branch(tree, setting).filter(|_| embedded_bytes(tree) < tree.zip_bytes / SHARE)
}

fn uncompressed_record(report: &Report, tree: &TreeReport) -> Option<Found> {
    let compressible_to = tree.record_compressible_to?;
    // Baskets in the record become baskets of their own, and keep the compression of their branch.
    let bytes = tree.metadata.bytes.saturating_sub(embedded_bytes(tree));
    let saved = cost::bytes(as_f64(bytes) * (1.0 - compressible_to));
    let fault = Fault::UncompressedRecord { bytes: tree.metadata.bytes, compressible_to };
    let zip = bytes - saved;
    let price = Price { read_seconds: cost::decompress("zlib", bytes, zip, 1), ..Price::default() };
    (saved > BYTES / 10 && saved > report.file.bytes / SHARE)
        .then(|| Found::new(fault, Cost { bytes: saved, ..Cost::default() }).priced(price))
}

fn metadata(tree: &TreeReport) -> Option<Found> {
    let (metadata, data) = (tree.metadata.raw_bytes.saturating_sub(embedded_bytes(tree)), tree.zip_bytes);
    let fault = Fault::MetadataLargerThanData { metadata, data, branches: tree.branches.len() as u64 };
    let cost = Cost { read_seconds: cost::open(tree), ..Cost::default() };
    (metadata > BYTES && metadata > data + embedded_bytes(tree)).then(|| Found::new(fault, cost))
}

fn embedded(tree: &TreeReport) -> Option<Found> {
    let bytes = embedded_bytes(tree);
    let baskets = tree.branches.iter().map(|branch| branch.embedded.len() as u64).sum();
    let cost = Cost { open_seconds: as_f64(bytes) * EMBEDDED_BYTE, ..Cost::default() };
    (bytes > 2 * BYTES && bytes > (tree.zip_bytes + bytes) / 10)
        .then(|| Found::new(Fault::EmbeddedBaskets { baskets, bytes }, cost))
}

fn out_of_range(branch: &BranchReport) -> impl Iterator<Item = Found> {
    branch.leaves.iter().filter_map(|leaf| {
        let (maximum, at_least) = (leaf.maximum?, leaf.counted_at_least?);
        let beyond = u64::try_from(maximum).map_or(at_least > 0, |maximum| at_least > maximum);
        let fault = Fault::CounterOutOfRange { leaf: leaf.name.clone(), maximum, at_least };
        beyond.then(|| Found::new(fault, Cost { danger: true, ..Cost::default() }))
    })
}
