//! Faults of compression and decoding, and the time to read a tree.

use dataset::tree::model;
use rootfile::codec::{Algorithm, Compression};

use super::detected::Detected;
use super::format;
use super::speeds::{self, BASKET, decode_speed, decompress};
use super::sums::{BYTES, NAMED, on_disk, sizes};
use crate::cost::codec_speeds::CodecSpeeds;
use crate::inspect::finding::{Cost, Fault, Price, STORAGE};
use crate::inspect::report::{BranchReport, Decoded, ReadTime, TreeReport, Trial};
use crate::math::as_f64;
use crate::tune::READ_MEMORY;

/// A faster codec is reported if the tree is then read in less than this share of the time.
const FASTER: f64 = 0.75;
/// Smaller gains, in seconds at each full read, are not reported.
const LEAST: f64 = 2e-3;
/// The same for codecs by branch. They have no price, but `tune` measures, and on a busy machine it cannot tell smaller gains from noise.
const LEAST_BY_BRANCH: f64 = 5e-3;
const FASTER_BY_BRANCH: f64 = 0.85;
/// Branches whose setting one command changes.
pub(super) const MOST_SET: usize = 40;

/// The codec that most of a branch's baskets have.
fn codec(branch: &BranchReport, setting: i32) -> &str {
    let most = branch.codecs.iter().max_by_key(|(_, n)| **n).map(|(name, _)| name.as_str());
    most.unwrap_or_else(|| own(branch, setting).algorithm().map_or("none", |algorithm| algorithm.name()))
}

/// The compression that a branch is set to.
fn own(branch: &BranchReport, setting: i32) -> Compression {
    model::compression(branch.compression, setting, (branch.tot_bytes, branch.zip_bytes))
}

/// Seconds to decompress a branch.
pub(super) fn decompression(branch: &BranchReport, setting: i32) -> f64 {
    decompress(codec(branch, setting), branch.tot_bytes, branch.zip_bytes, branch.basket_summary.count)
}

/// Seconds to decode a branch.
pub(super) fn decoding(branch: &BranchReport) -> f64 {
    let baskets = as_f64(branch.basket_summary.count) * BASKET;
    branch.decoded.map_or(0.0, |kind| as_f64(branch.tot_bytes) / decode_speed(kind) + baskets)
}

/// Seconds that a reader of all branches needs, about.
pub(crate) fn read_time(tree: &TreeReport, setting: i32) -> ReadTime {
    let mut time = ReadTime { open: speeds::open(tree), ..ReadTime::default() };
    for branch in on_disk(tree) {
        time.decompress += decompression(branch, setting);
        time.decode += decoding(branch);
    }
    time
}

/// Whether other codecs are worth a trial on a sample: where decompression takes long, or nothing is compressed.
pub(crate) fn worth_trying(tree: &TreeReport, setting: i32) -> bool {
    let time = tree.read_time;
    let plain = stored(tree, setting);
    (time.decompress > LEAST_BY_BRANCH && time.decompress > (1.0 - FASTER_BY_BRANCH) * time.sum())
        || (plain > BYTES && plain > tree.zip_bytes / 2)
}

/// Bytes of branches that are not compressed by intent.
fn stored(tree: &TreeReport, setting: i32) -> u64 {
    on_disk(tree).filter(|branch| own(branch, setting).is_none()).map(|branch| branch.zip_bytes).sum()
}

/// The algorithm of a trial.
fn algorithm(trial: &Trial) -> Option<Algorithm> {
    trial.compression.parse::<Compression>().ok()?.algorithm()
}

/// A tree in another codec: seconds to decompress it, and its bytes.
fn tried(tree: &TreeReport, trial: &Trial) -> (f64, f64) {
    let (raw, zip) = sizes(tree);
    let size = as_f64(zip) * trial.size;
    (CodecSpeeds::of(algorithm(trial)).reading.seconds(raw, speeds::bytes(size), tree.baskets), size)
}

/// The best trial for readers, by seconds of the processor and of storage together.
fn best(tree: &TreeReport) -> Option<&Trial> {
    let today = as_f64(sizes(tree).1);
    // Additional bytes are stored as well as read.
    let worth = |trial: &&Trial| {
        let (seconds, size) = tried(tree, trial);
        seconds + (size + (size - today).max(0.0)) / STORAGE
    };
    tree.trials.iter().min_by(|a, b| worth(a).total_cmp(&worth(b)))
}

pub(super) fn heavy(tree: &TreeReport, setting: i32) -> Option<Detected> {
    let slow = |branch: &&BranchReport| !own(branch, setting).is_none() && codec(branch, setting) != "none";
    let mut by_codec: Vec<(&str, f64)> = Vec::new();
    for branch in on_disk(tree).filter(slow) {
        let (name, seconds) = (codec(branch, setting), decompression(branch, setting));
        match by_codec.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += seconds,
            None => by_codec.push((name, seconds)),
        }
    }
    let &(heavy, _) = by_codec.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let trial = best(tree)?;
    let (seconds, size) = tried(tree, trial);
    let (time, zip) = (tree.read_time, as_f64(sizes(tree).1));
    let cost = Cost { bytes: speeds::bytes(zip - size), read_seconds: time.decompress - seconds, ..Cost::default() };
    let price = Price { bytes: speeds::bytes(size - zip), ..Price::default() };
    let of = || on_disk(tree).filter(slow).filter(|branch| codec(branch, setting) == heavy);
    let fault = Fault::HeavyCodec {
        codec: heavy.to_owned(),
        branches: of().count() as u64,
        tot_bytes: of().map(|branch| branch.tot_bytes).sum(),
        share: as_f64(of().map(|branch| branch.zip_bytes).sum()) / zip.max(1.0),
        better: trial.compression.clone(),
        size: trial.size,
    };
    let worth = cost.read_seconds > LEAST
        && cost.read_seconds > (1.0 - FASTER) * time.sum()
        && cost.weight() > 2.0 * as_f64(price.bytes) / STORAGE
        && algorithm(trial) != Algorithm::named(heavy);
    worth.then(|| Detected::new(fault, cost).priced(price))
}

/// The best codec for each branch, where no single codec is better for all branches without more bytes. If settings
/// differ by branch, nothing is reported: the writer has chosen them.
pub(super) fn by_branch(tree: &TreeReport, setting: i32) -> Option<Detected> {
    let mut settings = on_disk(tree).map(|branch| own(branch, setting));
    let first = settings.next()?;
    if settings.any(|other| other != first) {
        return None;
    }
    let (mixed, time) = (tree.mixed?, tree.read_time);
    let better = time.decompress * mixed.time;
    let (_, zip) = sizes(tree);
    let cost = Cost {
        bytes: speeds::bytes(as_f64(zip) * (1.0 - mixed.size)),
        read_seconds: time.decompress - better,
        ..Cost::default()
    };
    let memory = speeds::bytes((READ_MEMORY.1 * as_f64(tree.memory.read)).max(READ_MEMORY.0));
    let note = format!(
        "The command measures the branches first. Clusters may grow: a reader of all branches needs at most {} of memory.",
        format::size(memory)
    );
    let worth = cost.read_seconds > LEAST_BY_BRANCH && cost.read_seconds > (1.0 - FASTER_BY_BRANCH) * time.sum();
    let fault = Fault::CodecsByBranch { decompress: time.decompress, better };
    worth.then(|| Detected::new(fault, cost).priced(Price { note, ..Price::default() }))
}

pub(super) fn uncompressed(tree: &TreeReport, setting: i32) -> Option<Detected> {
    let plain = stored(tree, setting);
    if plain < BYTES || plain <= tree.zip_bytes / 2 {
        return None;
    }
    let trial = best(tree).filter(|trial| trial.size < 0.8)?;
    let (seconds, size) = tried(tree, trial);
    let bytes = speeds::bytes(as_f64(sizes(tree).1) - size);
    let price = Price { read_seconds: (seconds - tree.read_time.decompress).max(0.0), ..Price::default() };
    let fault =
        Fault::Uncompressed { zip_bytes: plain, compressible_to: trial.size, better: trial.compression.clone() };
    Some(Detected::new(fault, Cost { bytes, ..Cost::default() }).priced(price))
}

pub(super) fn incompressible(tree: &TreeReport, setting: i32) -> Option<Detected> {
    let is_one =
        |b: &&BranchReport| !own(b, setting).is_none() && b.zip_bytes > BYTES && b.zip_bytes > b.tot_bytes / 100 * 98;
    let mut found: Vec<&BranchReport> = on_disk(tree).filter(is_one).collect();
    found.sort_by_key(|branch| std::cmp::Reverse(branch.zip_bytes));
    let mut cost = Cost::default();
    for branch in &found {
        let setting = own(branch, setting);
        let writing = CodecSpeeds::of(setting.algorithm()).writing;
        cost.write_seconds += as_f64(branch.tot_bytes) / writing.at(setting.level());
    }
    // Baskets that were stored because they do not shrink cost a reader nothing.
    cost.read_seconds = found.iter().map(|branch| decompression(branch, setting)).sum();
    let zip_bytes: u64 = found.iter().map(|branch| branch.zip_bytes).sum();
    let fault = Fault::Incompressible {
        branches: found.len() as u64,
        largest: found.iter().take(MOST_SET).map(|branch| branch.name.clone()).collect(),
        tot_bytes: found.iter().map(|branch| branch.tot_bytes).sum(),
        zip_bytes,
    };
    let price = Price { bytes: zip_bytes / 50, ..Price::default() };
    let found =
        (zip_bytes > tree.zip_bytes / 20 && !found.is_empty()).then(|| Detected::new(fault, cost).priced(price))?;
    Some(if found.cost.read_seconds < LEAST { found.of_writer() } else { found })
}

pub(super) fn slow_decoding(tree: &TreeReport, setting: i32) -> Option<Detected> {
    let can = |branch: &&BranchReport| branch.can_split && branch.decoded == Some(Decoded::Objects);
    let mut found: Vec<&BranchReport> = on_disk(tree).filter(can).collect();
    found.sort_by_key(|branch| std::cmp::Reverse(branch.tot_bytes));
    let tot_bytes: u64 = found.iter().map(|branch| branch.tot_bytes).sum();
    let decode: f64 = found.iter().map(|branch| decoding(branch)).sum();
    let share = decode / read_time(tree, setting).sum().max(f64::MIN_POSITIVE);
    let fault = Fault::SlowDecoding {
        branches: found.len() as u64,
        largest: found.iter().take(NAMED).map(|branch| branch.name.clone()).collect(),
        tot_bytes,
        share,
    };
    let read_seconds = as_f64(tot_bytes) * (1.0 / decode_speed(Decoded::Objects) - 1.0 / decode_speed(Decoded::Lists));
    let price = Price { note: "Each member becomes a branch: the tree's record grows.".to_owned(), ..Price::default() };
    (read_seconds > LEAST && share > 0.3)
        .then(|| Detected::new(fault, Cost { read_seconds, ..Cost::default() }).priced(price))
}
