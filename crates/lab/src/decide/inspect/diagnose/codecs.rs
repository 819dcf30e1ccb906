//! What compression costs a reader of a tree, today and in the codecs that were tried on a sample.

use dataset::tree::model;
use rootfile::codec::{Algorithm, Compression};

use super::speeds::{self, BASKET, decode_speed, decompress};
use super::sums::{BYTES, on_disk, sizes};
use crate::cost::codec_speeds::CodecSpeeds;
use crate::inspect::contents::{BranchReport, TreeReport};
use crate::inspect::fault_cost::STORAGE;
use crate::inspect::values::{ReadTime, Trial};
use crate::math::as_f64;

/// A faster codec is reported if the tree is then read in less than this share of the time.
pub(super) const FASTER: f64 = 0.75;
/// Smaller gains, in seconds at each full read, are not reported.
pub(super) const LEAST: f64 = 2e-3;
/// The same for codecs by branch. They have no price, but `tune` measures, and on a busy machine it cannot tell smaller gains from noise.
pub(super) const LEAST_BY_BRANCH: f64 = 5e-3;
pub(super) const FASTER_BY_BRANCH: f64 = 0.85;

/// The codec that most of a branch's baskets have.
pub(super) fn codec(branch: &BranchReport, setting: i32) -> &str {
    let most = branch.codecs.iter().max_by_key(|(_, n)| **n).map(|(name, _)| name.as_str());
    most.unwrap_or_else(|| own(branch, setting).algorithm().map_or("none", |algorithm| algorithm.name()))
}

/// The compression that a branch is set to.
pub(super) fn own(branch: &BranchReport, setting: i32) -> Compression {
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
pub(super) fn stored(tree: &TreeReport, setting: i32) -> u64 {
    on_disk(tree).filter(|branch| own(branch, setting).is_none()).map(|branch| branch.zip_bytes).sum()
}

/// The algorithm of a trial.
pub(super) fn algorithm(trial: &Trial) -> Option<Algorithm> {
    trial.compression.parse::<Compression>().ok()?.algorithm()
}

/// A tree in another codec: seconds to decompress it, and its bytes.
pub(super) fn tried(tree: &TreeReport, trial: &Trial) -> (f64, f64) {
    let (raw, zip) = sizes(tree);
    let size = as_f64(zip) * trial.size;
    (CodecSpeeds::of(algorithm(trial)).reading.seconds(raw, speeds::bytes(size), tree.baskets), size)
}

/// The best trial for readers, by seconds of the processor and of storage together.
pub(super) fn best(tree: &TreeReport) -> Option<&Trial> {
    let today = as_f64(sizes(tree).1);
    // Additional bytes are stored as well as read.
    let worth = |trial: &&Trial| {
        let (seconds, size) = tried(tree, trial);
        seconds + (size + (size - today).max(0.0)) / STORAGE
    };
    tree.trials.iter().min_by(|a, b| worth(a).total_cmp(&worth(b)))
}
