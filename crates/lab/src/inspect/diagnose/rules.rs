//! Detects the faults of the file and of each tree. A rule has a threshold below which a fault is not reported, and an
//! estimate of the cost.

use rootfile::codec::Algorithm;

use super::detected::Detected;
use super::speeds::{self, EMBEDDED_BYTE};
use super::sums::{BYTES, SHARE, absent, embedded_bytes};
use super::{baskets, codecs};
use crate::cost::codec_speeds::CodecSpeeds;
use crate::inspect::finding::{Cost, Fault, Price};
use crate::inspect::report::{BranchReport, Report, TreeReport};
use crate::math::as_f64;

/// Faults of the file as a whole.
pub(super) fn file(report: &Report) -> Vec<Detected> {
    let mut found = Vec::new();
    let danger = Cost { danger: true, ..Cost::default() };
    if report.file.recovered {
        found.push(Detected::new(Fault::NotClosed, danger));
    }
    let unreadable = report.skipped.iter().filter(|line| !line.unsupported).count() as u64;
    if unreadable > 0 {
        found.push(Detected::new(Fault::Unreadable { objects: unreadable }, danger));
    }
    let bytes = report.file.free_bytes;
    if bytes > BYTES / 10 && bytes > report.file.bytes / SHARE {
        let fault = Fault::FreeGaps { gaps: report.file.free_segments, bytes };
        found.push(Detected::new(fault, Cost { bytes, ..Cost::default() }));
    }
    let saved = |tree: &&TreeReport| !tree.newest && !tree.is_another;
    let old = || report.trees.iter().filter(saved);
    let bytes = old().map(|tree| tree.metadata.bytes).sum();
    if bytes > BYTES / 10 && bytes > report.file.bytes / SHARE {
        let fault = Fault::OldCycles { cycles: old().count() as u64, bytes };
        found.push(Detected::new(fault, Cost { bytes, ..Cost::default() }));
    }
    found
}

/// Faults of one tree.
pub(super) fn tree(report: &Report, tree: &TreeReport) -> Vec<Detected> {
    let setting = report.file.compression;
    let found = [
        baskets::tiny(tree, speeds::OF_BASKET),
        baskets::huge(tree, setting),
        baskets::clusters(tree, setting, speeds::OF_BASKET),
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
    found.into_iter().flatten().chain(counters).chain(missing(tree)).chain(entries(tree)).collect()
}

/// Most branches that a fault names.
const NAMED_BRANCHES: usize = 5;

/// Numbers of entries that contradict each other. A count that no branch reaches is one fault, not one of each branch.
fn entries(tree: &TreeReport) -> Vec<Detected> {
    let (entries, danger) = (tree.entries, Cost { danger: true, ..Cost::default() });
    if let Some(held) = tree.held {
        return vec![Detected::new(Fault::EntriesMissing { entries, held }, danger)];
    }
    let mut found = Vec::new();
    let listed = |texts: &[String]| (texts.len() as u64, texts.get(..NAMED_BRANCHES).unwrap_or(texts).to_vec());
    let short = |branch: &BranchReport| Some(format!("{}: {} of {entries}", branch.name, branch.held?));
    let short: Vec<String> = tree.branches.iter().filter_map(short).collect();
    if !short.is_empty() {
        let (branches, examples) = listed(&short);
        found.push(Detected::new(Fault::ShortBranches { entries, branches, examples }, danger));
    }
    let long = tree.branches.iter().filter(|branch| branch.beyond > 0);
    let long: Vec<String> = long.map(|branch| format!("{}: {} more", branch.name, branch.beyond)).collect();
    if !long.is_empty() {
        let (branches, examples) = listed(&long);
        found.push(Detected::new(Fault::LongBranches { entries, branches, examples }, Cost::default()));
    }
    found
}

fn missing(tree: &TreeReport) -> Vec<Detected> {
    let mut files: Vec<&str> = absent(tree).map(|branch| branch.file_name.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    let found = files.into_iter().map(|missing| {
        let of = absent(tree).filter(|branch| branch.file_name == missing);
        let fault = Fault::MissingFile { branches: of.map(|b| b.name.clone()).collect(), missing: missing.to_owned() };
        Detected::new(fault, Cost { danger: true, ..Cost::default() })
    });
    found.collect()
}

/// Baskets of the record need more room as baskets of their own, which no codec makes up for at the same size.
fn by_branch(tree: &TreeReport, setting: i32) -> Option<Detected> {
    codecs::by_branch(tree, setting).filter(|_| embedded_bytes(tree) < tree.zip_bytes / SHARE)
}

fn uncompressed_record(report: &Report, tree: &TreeReport) -> Option<Detected> {
    let compressible_to = tree.record_compressible_to?;
    // Baskets in the record become baskets of their own, and keep the compression of their branch.
    let bytes = tree.metadata.bytes.saturating_sub(embedded_bytes(tree));
    let saved = speeds::bytes(as_f64(bytes) * (1.0 - compressible_to));
    let fault = Fault::UncompressedRecord { bytes: tree.metadata.bytes, compressible_to };
    let zip = bytes - saved;
    let read_seconds = CodecSpeeds::of(Some(Algorithm::Zlib)).reading.seconds(bytes, zip, 1);
    let price = Price { read_seconds, ..Price::default() };
    (saved > BYTES / 10 && saved > report.file.bytes / SHARE)
        .then(|| Detected::new(fault, Cost { bytes: saved, ..Cost::default() }).priced(price))
}

fn metadata(tree: &TreeReport) -> Option<Detected> {
    let (metadata, data) = (tree.metadata.raw_bytes.saturating_sub(embedded_bytes(tree)), tree.zip_bytes);
    let fault = Fault::MetadataLargerThanData { metadata, data, branches: tree.branches.len() as u64 };
    let cost = Cost { read_seconds: speeds::open(tree), ..Cost::default() };
    (metadata > BYTES && metadata > data + embedded_bytes(tree)).then(|| Detected::new(fault, cost))
}

fn embedded(tree: &TreeReport) -> Option<Detected> {
    let bytes = embedded_bytes(tree);
    let baskets = tree.branches.iter().map(|branch| branch.embedded.len() as u64).sum();
    let cost = Cost { open_seconds: as_f64(bytes) * EMBEDDED_BYTE, ..Cost::default() };
    (bytes > 2 * BYTES && bytes > (tree.zip_bytes + bytes) / 10)
        .then(|| Detected::new(Fault::EmbeddedBaskets { baskets, bytes }, cost))
}

fn out_of_range(branch: &BranchReport) -> impl Iterator<Item = Detected> {
    branch.leaves.iter().filter_map(|leaf| {
        let (maximum, at_least) = (leaf.maximum?, leaf.counted_at_least?);
        let beyond = u64::try_from(maximum).map_or(at_least > 0, |maximum| at_least > maximum);
        let fault = Fault::CounterOutOfRange { leaf: leaf.name.clone(), maximum, at_least };
        beyond.then(|| Detected::new(fault, Cost { danger: true, ..Cost::default() }))
    })
}
