//! Nominal costs: fixed nanoseconds a byte for each codec, by which samples are planned. The plan does not depend on a clock,
//! so the same seed takes the same samples on every machine.

use rootfile::codec::{Algorithm, Compression};

use super::codec_speeds::CodecSpeeds;
use super::packing::Packing;
use super::statistics::FileStats;
use super::utility::Goal;

/// Trying codecs may take this share of the rewrite's CPU time, by plan. The promise is a quarter
/// for all measurements together.
const SHARE: f64 = 0.09;
/// Additional nominal seconds, so that small files have enough time: where reading, and where size is the goal.
const FLOOR_SECONDS: (f64, f64) = (0.2, 1.2);

/// Codecs that are tried.
pub(crate) fn candidates(goal: Goal) -> Vec<Compression> {
    match goal {
        Goal::Reading => fastest(),
        Goal::Size => smallest(),
        Goal::Balanced => balanced(),
    }
}

fn fastest() -> Vec<Compression> {
    vec![
        Compression::NONE,
        Compression::new(Algorithm::Lz4, 1),
        Compression::new(Algorithm::Lz4, 4),
        Compression::new(Algorithm::Zlib, 1),
        Compression::new(Algorithm::Zlib, 6),
        Compression::new(Algorithm::Zstd, 1),
        Compression::new(Algorithm::Zstd, 3),
        Compression::new(Algorithm::Zstd, 5),
    ]
}

/// All that may win by a price. LZMA is no candidate: trying it takes longer than all others together, and files that are read
/// often are dearer with it.
fn balanced() -> Vec<Compression> {
    let mut all = fastest();
    all.push(Compression::new(Algorithm::Zstd, 9));
    all
}

/// Compressing with the last ones takes three to five times as long as with the others.
fn smallest() -> Vec<Compression> {
    vec![
        Compression::NONE,
        Compression::new(Algorithm::Lz4, 4),
        Compression::new(Algorithm::Zlib, 6),
        Compression::new(Algorithm::Zstd, 5),
        Compression::new(Algorithm::Zstd, 7),
        Compression::new(Algorithm::Zstd, 9),
    ]
}

/// Codecs that are tried where nothing else meets a limit of size: compressing with them takes three to five times as long,
/// and reading LZMA, too.
pub(crate) fn last_resorts() -> Vec<Compression> {
    vec![
        Compression::new(Algorithm::Zstd, 9),
        Compression::new(Algorithm::Lzma, 1),
        Compression::new(Algorithm::Lzma, 5),
    ]
}

/// All codecs that are tried for some goal or limit.
pub(crate) fn all() -> Vec<Compression> {
    let mut all = fastest();
    for codec in smallest().into_iter().chain(last_resorts()) {
        if !all.contains(&codec) {
            all.push(codec);
        }
    }
    all
}

/// Nanoseconds for each byte to compress and decompress.
pub(super) fn codec(packing: Packing) -> f64 {
    CodecSpeeds::of(packing.algorithm()).trial.at(packing.compression.level())
}

/// Nominal nanoseconds to decompress a byte.
pub(super) fn decompression(compression: Compression) -> f64 {
    CodecSpeeds::of(compression.algorithm()).decompression
}

/// Nominal nanoseconds to decode a byte.
pub(super) const DECODE: f64 = 0.5;

/// Nominal nanoseconds of the cheapest rewrite that does anything; where size is the goal, of one that compresses well; by price, of one between.
pub(crate) fn rewrite(stats: &FileStats) -> f64 {
    let compression = match stats.goal {
        Goal::Reading => 4.0,
        Goal::Balanced => 25.0,
        Goal::Size => 80.0,
    };
    reading(stats) + stats.columns.iter().map(|c| c.raw * compression).sum::<f64>()
}

/// Nominal nanoseconds to read all columns.
pub(crate) fn reading(stats: &FileStats) -> f64 {
    stats.columns.iter().map(|c| c.raw * (decompression(c.compression) + DECODE)).sum()
}

/// Nominal nanoseconds that trying codecs may take: a share of such a rewrite.
pub(super) fn budget(stats: &FileStats) -> f64 {
    SHARE * rewrite(stats) + stats.goal.pick(FLOOR_SECONDS.0, FLOOR_SECONDS.1) * 1e9
}
