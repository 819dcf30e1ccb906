//! Looks for each fault. A rule has thresholds that say when it is worth a word, and an estimate of what it costs.

use dataset::ntuple::is_ntuple;
use dataset::tree::model;
use rootfile::codec::Compression;

use super::cost::{BASKET, BASKET_BYTES, BASKET_ENTRY, Cost, as_f64, decode_speed, read_speed, write_speed};
use super::words;
use super::{Fault, Finding};
use crate::inspect::report::{BranchReport, ClustersKnown, Decoded, ReadTime, Report, TreeReport};

/// Baskets that hold less, before compression, cost more around them than in them.
const TINY: u64 = 4_000;
/// What a basket may well hold.
pub const GOOD_BASKET: u64 = 32_000;
/// Clusters with less on disk cannot be read in good pieces.
const SMALL_CLUSTER: u64 = 1_000_000;
/// ROOT's own size of a cluster, on disk.
pub const GOOD_CLUSTER: u64 = 30_000_000;
/// A read cache that jobs on a grid can still afford.
const HUGE_CLUSTER: u64 = 200_000_000;
/// Memory below this is not worth a word.
const MEMORY: u64 = 4_000_000;
/// Bytes below this are not worth a word.
const BYTES: u64 = 100_000;
/// Most branches that are named one by one.
const NAMED: usize = 8;
/// Bytes a second at which metadata become objects.
const METADATA_SPEED: f64 = 100e6;

/// Faults of the file as a whole.
pub fn file(report: &Report, found: &mut Vec<Finding>) {
    let mut say = |fault, cost| found.push(words::finding(report, None, fault, cost));
    if report.file.recovered {
        say(Fault::NotClosed, Cost { danger: true, ..Cost::default() });
    }
    let unreadable = report.skipped.iter().filter(|line| !is_ntuple(&line.class)).count() as u64;
    if unreadable > 0 {
        say(Fault::Unreadable { objects: unreadable }, Cost { danger: true, ..Cost::default() });
    }
    let bytes = report.file.free_bytes;
    if bytes > BYTES && bytes > report.file.bytes / 50 {
        say(Fault::FreeGaps { gaps: report.file.free_segments, bytes }, Cost { bytes, ..Cost::default() });
    }
    let old = || report.trees.iter().filter(|tree| !tree.newest);
    let bytes = old().map(|tree| tree.metadata.bytes).sum();
    if bytes > BYTES / 10 && bytes > report.file.bytes / 50 {
        say(Fault::OldCycles { cycles: old().count() as u64, bytes }, Cost { bytes, ..Cost::default() });
    }
}

/// Faults of one tree.
pub fn tree(report: &Report, tree: &TreeReport, found: &mut Vec<Finding>) {
    let file = report.file.compression;
    let faults = [
        tiny_baskets(tree),
        clusters(tree, file),
        misaligned(tree, file),
        oversized(tree),
        uneven(tree),
        incompressible(tree, file),
        heavy_codec(tree, file),
        slow_decoding(tree, file),
        uncompressed(tree, file),
        metadata(tree),
        embedded(tree),
    ];
    let counters = tree.branches.iter().flat_map(out_of_range);
    for (fault, cost) in faults.into_iter().flatten().chain(counters) {
        found.push(words::finding(report, Some(tree), fault, cost));
    }
}

type Found = Option<(Fault, Cost)>;

fn on_disk(tree: &TreeReport) -> impl Iterator<Item = &BranchReport> {
    tree.branches.iter().filter(|branch| branch.basket_summary.count > 0)
}

/// Baskets per branch that would do: one a cluster, or more where there is much.
fn enough(tree: &TreeReport, branch: &BranchReport) -> u64 {
    let clusters = match tree.clusters_known {
        ClustersKnown::Declared => tree.clusters.len() as u64,
        ClustersKnown::Estimated => 1,
    };
    clusters.max(branch.tot_bytes.div_ceil(GOOD_BASKET)).max(1)
}

fn tiny_baskets(tree: &TreeReport) -> Found {
    let is_tiny = |branch: &&BranchReport| {
        let count = branch.basket_summary.count;
        branch.tot_bytes / count.max(1) < TINY && count > 2 * enough(tree, branch)
    };
    let (mut branches, mut baskets, mut enough_baskets, mut bytes) = (0, 0, 0, 0);
    for branch in on_disk(tree).filter(is_tiny) {
        branches += 1;
        baskets += branch.basket_summary.count;
        enough_baskets += enough(tree, branch);
        bytes += branch.tot_bytes;
    }
    let extra = baskets - enough_baskets;
    if extra < 100 || extra < tree.baskets / 10 {
        return None;
    }
    let cost =
        Cost { bytes: extra * (BASKET_BYTES + BASKET_ENTRY), read_seconds: as_f64(extra) * BASKET, ..Cost::default() };
    Some((Fault::TinyBaskets { branches, baskets, enough: enough_baskets, mean_bytes: bytes / baskets }, cost))
}

fn clusters(tree: &TreeReport, file: i32) -> Found {
    let clusters = tree.clusters.len() as u64;
    if tree.clusters_known == ClustersKnown::Estimated {
        let fault = Fault::ClustersNotRecorded { common_boundaries: tree.common_boundaries };
        // Jobs that share the tree cut where no basket begins, and unpack the ones they cut twice.
        let twice = as_f64(tree.tot_bytes.min(clusters * on_disk(tree).count() as u64 * GOOD_BASKET));
        let cost = Cost { read_seconds: twice / tree_speed(tree, file), ..Cost::default() };
        return (tree.zip_bytes > GOOD_CLUSTER && tree.common_boundaries <= clusters).then_some((fault, cost));
    }
    if tree.largest_cluster > HUGE_CLUSTER {
        let memory = tree.memory.read.saturating_sub(2 * GOOD_CLUSTER);
        let fault = Fault::HugeClusters { largest_bytes: tree.largest_cluster, read_memory: tree.memory.read };
        return Some((fault, Cost { memory, ..Cost::default() }));
    }
    let mean_bytes = tree.zip_bytes / clusters.max(1);
    if clusters < 20 || mean_bytes > SMALL_CLUSTER {
        return None;
    }
    let needed = on_disk(tree).map(|b| b.tot_bytes.div_ceil(GOOD_BASKET)).sum::<u64>();
    let extra = tree.baskets.saturating_sub(needed);
    let cost =
        Cost { bytes: extra * (BASKET_BYTES + BASKET_ENTRY), read_seconds: as_f64(extra) * BASKET, ..Cost::default() };
    Some((Fault::SmallClusters { clusters, mean_bytes }, cost))
}

/// Bytes a second, before compression, of the tree's codecs together.
fn tree_speed(tree: &TreeReport, file: i32) -> f64 {
    let (mut bytes, mut seconds) = (0.0, 0.0);
    for branch in on_disk(tree) {
        bytes += as_f64(branch.tot_bytes);
        seconds += as_f64(branch.tot_bytes) / read_speed(codec(branch, file));
    }
    if seconds > 0.0 { bytes / seconds } else { read_speed("none") }
}

/// The codec that most of a branch's baskets have.
fn codec(branch: &BranchReport, file: i32) -> &str {
    let most = branch.codecs.iter().max_by_key(|(_, n)| **n).map(|(name, _)| name.as_str());
    most.unwrap_or_else(|| setting(branch, file).algorithm().map_or("none", |algorithm| algorithm.name()))
}

fn setting(branch: &BranchReport, file: i32) -> Compression {
    model::compression(branch.compression, file, (branch.tot_bytes, branch.zip_bytes))
}

fn misaligned(tree: &TreeReport, file: i32) -> Found {
    if tree.crossing < 10 || tree.crossing < tree.baskets / 20 {
        return None;
    }
    let mut seconds = 0.0;
    for branch in on_disk(tree) {
        let basket = branch.tot_bytes / branch.basket_summary.count.max(1);
        seconds += as_f64(branch.basket_summary.crossing * basket) / read_speed(codec(branch, file));
    }
    let fault = Fault::MisalignedClusters { crossing: tree.crossing, baskets: tree.baskets };
    Some((fault, Cost { read_seconds: seconds, ..Cost::default() }))
}

fn oversized(tree: &TreeReport) -> Found {
    let (buffers, used) = (tree.memory.write, tree.memory.read_baskets);
    let memory = buffers.saturating_sub(2 * used);
    let fault = Fault::OversizedBuffers { entries: tree.entries, buffers, used };
    (memory > MEMORY).then_some((fault, Cost { memory, ..Cost::default() }))
}

fn uneven(tree: &TreeReport) -> Found {
    let excess = |branch: &BranchReport| {
        let raw = branch.basket_summary.raw.filter(|raw| raw.max > 10 * raw.median.max(1))?;
        (branch.basket_summary.count >= 10).then_some((raw.max - raw.median, raw))
    };
    let uneven = || on_disk(tree).filter_map(|branch| Some((excess(branch)?, branch)));
    let memory = uneven().map(|((excess, _), _)| excess).sum();
    let ((_, raw), worst) = uneven().max_by_key(|((excess, _), _)| *excess)?;
    let fault = Fault::UnevenBaskets {
        branches: uneven().count() as u64,
        worst: worst.name.clone(),
        median: raw.median,
        max: raw.max,
    };
    (memory > MEMORY).then_some((fault, Cost { memory, ..Cost::default() }))
}

fn incompressible(tree: &TreeReport, file: i32) -> Found {
    let is_one =
        |b: &&BranchReport| !setting(b, file).is_none() && b.zip_bytes > BYTES && b.zip_bytes > b.tot_bytes / 100 * 98;
    let mut found: Vec<&BranchReport> = on_disk(tree).filter(is_one).collect();
    found.sort_by_key(|branch| std::cmp::Reverse(branch.zip_bytes));
    let mut cost = Cost::default();
    for branch in &found {
        let setting = setting(branch, file);
        let name = setting.algorithm().map_or("none", |algorithm| algorithm.name());
        cost.write_seconds += as_f64(branch.tot_bytes) / write_speed(name, setting.level());
        cost.read_seconds += as_f64(branch.tot_bytes) / read_speed(codec(branch, file));
    }
    let zip_bytes = found.iter().map(|branch| branch.zip_bytes).sum();
    let fault = Fault::Incompressible {
        branches: found.len() as u64,
        largest: found.iter().take(NAMED).map(|branch| branch.name.clone()).collect(),
        tot_bytes: found.iter().map(|branch| branch.tot_bytes).sum(),
        zip_bytes,
    };
    (zip_bytes > tree.zip_bytes / 20 && !found.is_empty()).then_some((fault, cost))
}

fn heavy_codec(tree: &TreeReport, file: i32) -> Found {
    let heavy = || on_disk(tree).filter(|branch| codec(branch, file) == "lzma");
    let tot_bytes = heavy().map(|branch| branch.tot_bytes).sum();
    let share = as_f64(heavy().map(|branch| branch.zip_bytes).sum()) / as_f64(tree.zip_bytes.max(1));
    if tot_bytes < 10 * BYTES {
        return None;
    }
    let bytes = as_f64(tot_bytes);
    let cost = Cost { read_seconds: bytes / read_speed("lzma") - bytes / read_speed("zstd"), ..Cost::default() };
    Some((Fault::HeavyCodec { codec: "lzma".to_owned(), branches: heavy().count() as u64, tot_bytes, share }, cost))
}

/// Seconds that a reader of all branches needs, about.
pub fn read_time(tree: &TreeReport, file: i32) -> ReadTime {
    let mut time = ReadTime::default();
    for branch in on_disk(tree) {
        time.decompress += as_f64(branch.tot_bytes) / read_speed(codec(branch, file));
        time.decode += decoding(branch);
    }
    time
}

fn decoding(branch: &BranchReport) -> f64 {
    branch.decoded.map_or(0.0, |kind| as_f64(branch.tot_bytes) / decode_speed(kind))
}

fn slow_decoding(tree: &TreeReport, file: i32) -> Found {
    let mut found: Vec<&BranchReport> = on_disk(tree).filter(|b| b.decoded == Some(Decoded::Objects)).collect();
    found.sort_by_key(|branch| std::cmp::Reverse(branch.tot_bytes));
    let tot_bytes: u64 = found.iter().map(|branch| branch.tot_bytes).sum();
    let decode: f64 = found.iter().map(|branch| decoding(branch)).sum();
    let all = read_time(tree, file);
    let share = decode / (all.decompress + all.decode).max(f64::MIN_POSITIVE);
    let fault = Fault::SlowDecoding {
        branches: found.len() as u64,
        largest: found.iter().take(NAMED).map(|branch| branch.name.clone()).collect(),
        tot_bytes,
        share,
    };
    let read_seconds = decode - as_f64(tot_bytes) / decode_speed(Decoded::Lists);
    (tot_bytes > 100 * BYTES && share > 0.5).then_some((fault, Cost { read_seconds, ..Cost::default() }))
}

fn uncompressed(tree: &TreeReport, file: i32) -> Found {
    let compressible_to = tree.compressible_to.filter(|ratio| *ratio < 0.8)?;
    let zip_bytes: u64 =
        on_disk(tree).filter(|branch| setting(branch, file).is_none()).map(|branch| branch.zip_bytes).sum();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the size")]
    let bytes = (as_f64(zip_bytes) * (1.0 - compressible_to)) as u64;
    // What is saved on storage is paid for in part by unpacking.
    let cost = Cost { bytes, read_seconds: -as_f64(zip_bytes) / read_speed("lz4"), ..Cost::default() };
    (zip_bytes > 0).then_some((Fault::Uncompressed { zip_bytes, compressible_to }, cost))
}

fn metadata(tree: &TreeReport) -> Found {
    let (metadata, data) = (tree.metadata.raw_bytes, tree.zip_bytes);
    let fault = Fault::MetadataLargerThanData { metadata, data, branches: tree.branches.len() as u64 };
    let cost = Cost { read_seconds: as_f64(metadata) / METADATA_SPEED, ..Cost::default() };
    (metadata > BYTES && metadata > data).then_some((fault, cost))
}

fn embedded(tree: &TreeReport) -> Found {
    let all = || tree.branches.iter().flat_map(|branch| &branch.embedded);
    let bytes = all().map(|basket| basket.bytes).sum();
    let cost = Cost { read_seconds: as_f64(bytes) / METADATA_SPEED, ..Cost::default() };
    let fault = Fault::EmbeddedBaskets { baskets: all().count() as u64, bytes };
    (bytes > 10 * BYTES && bytes > tree.zip_bytes / 10).then_some((fault, cost))
}

fn out_of_range(branch: &BranchReport) -> impl Iterator<Item = (Fault, Cost)> {
    branch.leaves.iter().filter_map(|leaf| {
        let (maximum, at_least) = (leaf.maximum?, leaf.counted_at_least?);
        let beyond = u64::try_from(maximum).map_or(at_least > 0, |maximum| at_least > maximum);
        let fault = Fault::CounterOutOfRange { leaf: leaf.name.clone(), maximum, at_least };
        beyond.then_some((fault, Cost { danger: true, ..Cost::default() }))
    })
}
