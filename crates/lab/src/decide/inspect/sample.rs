//! Compresses a small sample of baskets or pages, or of an uncompressed record, with other codecs: how far would it shrink?

use dataset::tree::{BasketRef, Branch, Tree};
use rootfile::codec::{Algorithm, BlockHeader, Compression, Compressor, is_stored};
use rootfile::{Key, RootFile};

use super::diagnose::speeds;
use super::values::{Mixed, Trial};
use crate::cost::codec_speeds::CodecSpeeds;
use crate::math::as_f64;
use crate::math::solve::{Choice, Problem};

/// Codecs that are tried: the quickest to read, and one that is quick and compresses well.
const CODECS: [(Algorithm, u8); 2] = [(Algorithm::Lz4, 4), (Algorithm::Zstd, 5)];
/// Baskets or pages of a sample, at least and at most.
const BASKETS: (u64, u64) = (12, 60);
/// Bytes that are compressed of each of them, and of all together.
const PIECE: usize = 48_000;
const PIECES: u64 = 600_000;
/// Larger ones are not decompressed for a sample.
const LARGEST: u64 = 16_000_000;
/// Seconds that may go into decompressing a sample.
const SECONDS: f64 = 0.06;
/// The distance of two sampled places as a share of a step. It is the golden ratio, which no pattern of branches has as
/// its period.
const GOLDEN: f64 = 0.618_033_988_749_895;
/// Records with fewer bytes are not sampled.
const RECORD: u32 = 10_000;

/// Largest branches that give a basket each.
const BRANCHES: usize = 8;
/// Bytes that are compressed of each basket: enough for a ratio, and quick.
const ENOUGH: usize = 64_000;
/// Trees with fewer uncompressed bytes are not sampled.
const WORTH_IT: u64 = 1_000_000;

/// Size that zlib:1 gives over the size on disk, for branches that are not compressed by intent; `None` where those
/// hold little.
pub fn compressible_to(file: &RootFile, tree: &Tree) -> Option<f64> {
    let setting = file.header().compress;
    let is_stored = |b: &&Branch| !b.baskets.is_empty() && b.compression(setting).is_none();
    let mut stored: Vec<_> = tree.branches.iter().filter(is_stored).collect();
    let total: u64 = stored.iter().map(|branch| branch.zip_bytes).sum();
    if total < WORTH_IT || total < tree.zip_bytes / 2 {
        return None;
    }
    stored.sort_by_key(|branch| std::cmp::Reverse(branch.zip_bytes));
    let mut compressor = Compressor::new();
    let (mut before, mut after) = (0.0, 0.0);
    for branch in stored.iter().take(BRANCHES) {
        let Some(basket) = branch.baskets.get(branch.baskets.len() / 2).filter(|basket| basket.seek > 0) else {
            continue;
        };
        let Some(data) = file.key_at(basket.seek).ok().and_then(|key| start_of(file, &key)) else { continue };
        let mut packed = Vec::new();
        let setting = Compression::new(Algorithm::Zlib, 1);
        let shrunk = compressor.compress(setting, &data, &mut packed).unwrap_or(false);
        // The weight of a branch is its size on disk.
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let (weight, ratio) = (branch.zip_bytes as f64, packed.len() as f64 / data.len().max(1) as f64);
        before += weight;
        after += if shrunk { weight * ratio } else { weight };
    }
    (before > 0.0).then(|| after / before)
}

/// A basket or page of a sample.
pub struct Record<'a> {
    /// The codec that it has; `None` where it is not compressed.
    pub codec: Option<Algorithm>,
    /// Bytes before compression.
    pub raw: u64,
    /// Bytes on disk, without key.
    pub stored: u64,
    /// Bytes of its key.
    pub key: u64,
    /// Reads and decompresses it. None if that fails.
    pub content: Box<dyn FnOnce() -> Option<Vec<u8>> + 'a>,
}

/// The effect of codecs on a sample of a tree's baskets, and of the best codec for each basket.
pub fn trials(file: &RootFile, tree: &Tree) -> (Vec<Trial>, Option<Mixed>) {
    let record = |basket: &BasketRef| {
        let key = file.key_at(basket.seek).ok()?;
        Some(Record {
            codec: codec_of(file, &key),
            raw: u64::from(key.objlen),
            stored: u64::from(key.payload_len()),
            key: u64::from(key.keylen),
            content: Box::new(move || file.payload(&key).ok()),
        })
    };
    let own = || tree.branches.iter().filter(|branch| branch.file_name.is_empty());
    let baskets = || own().flat_map(|branch| &branch.baskets).filter(|basket| basket.seek > 0 && basket.entries > 0);
    let raw = tree.tot_bytes / (baskets().count() as u64).max(1);
    try_codecs(evenly(baskets().map(|basket| (basket, u64::from(basket.nbytes))), raw).into_iter().filter_map(record))
}

/// The effect of codecs on a sample, and of the best codec for each record. The records are spread evenly over the bytes on
/// disk, so each stands for the same number of bytes.
pub fn try_codecs<'a>(records: impl Iterator<Item = Record<'a>>) -> (Vec<Trial>, Option<Mixed>) {
    let mut compressor = Compressor::new();
    let mut samples: Vec<Sample> = Vec::new();
    let mut left = SECONDS;
    let mut packed = Vec::new();
    for Record { codec, raw, stored, key, content } in records.filter(|record| record.raw <= LARGEST) {
        let seconds = CodecSpeeds::of(codec).reading.seconds(raw, stored, 1);
        // At least one record is sampled, whatever it costs.
        if seconds > left && !samples.is_empty() {
            break;
        }
        left -= seconds;
        let Some(data) = content() else { continue };
        let piece = data.get(..data.len().min(PIECE)).unwrap_or_default();
        if piece.is_empty() {
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let (part, whole) = (piece.len() as f64, data.len() as f64);
        let today = as_f64(key) + as_f64(stored);
        let with = |bytes: f64, codec| {
            let seconds = CodecSpeeds::of(codec).reading.seconds(raw, speeds::bytes(bytes), 1);
            Way { size: (as_f64(key) + bytes) / today, seconds: seconds / today }
        };
        let mut options = vec![with(as_f64(stored), codec), with(whole, None)];
        for (algorithm, level) in CODECS {
            packed.clear();
            let shrunk = compressor.compress(Compression::new(algorithm, level), piece, &mut packed).unwrap_or(false);
            #[expect(clippy::cast_precision_loss, reason = "an estimate")]
            let size = if shrunk { packed.len() as f64 * whole / part } else { whole };
            options.push(with(size, shrunk.then_some(algorithm)));
        }
        samples.push(options);
    }
    if samples.is_empty() {
        return (Vec::new(), None);
    }
    let mean = |of: usize| {
        let sizes = samples.iter().filter_map(|options| options.get(of)).map(|option| option.size);
        sizes.sum::<f64>() / as_f64(samples.len() as u64)
    };
    let trial = |(i, (algorithm, level)): (usize, (Algorithm, u8))| Trial {
        compression: Compression::new(algorithm, level).to_string(),
        size: mean(i + 2),
    };
    (CODECS.into_iter().enumerate().map(trial).collect(), mixed(&samples))
}

/// The choices for one record, today's first.
type Sample = Vec<Way>;

/// A record in some codec: bytes and seconds to decompress it, both for each byte that it has on disk today.
struct Way {
    size: f64,
    seconds: f64,
}

/// The quickest codec for each record, so that all together are no larger than today.
fn mixed(samples: &[Sample]) -> Option<Mixed> {
    let choice = |option: &Way| Choice {
        cost: option.seconds,
        uses: std::array::from_fn(|r| if r == 0 { option.size } else { 0.0 }),
    };
    let groups: Vec<Vec<Choice>> = samples.iter().map(|options| options.iter().map(choice).collect()).collect();
    let today = groups.iter().filter_map(|group| group.first());
    let (seconds, all) = today.fold((0.0, 0.0), |sum, one| (sum.0 + one.cost, sum.1 + one.uses[0]));
    let limits = std::array::from_fn(|r| if r == 0 { all } else { f64::INFINITY });
    let solution = Problem { groups, limits }.solve().ok().filter(|_| seconds > 0.0)?;
    Some(Mixed { time: solution.cost / seconds, size: solution.uses[0] / all })
}

/// The codec of a basket's first block.
fn codec_of(file: &RootFile, key: &Key) -> Option<Algorithm> {
    if is_stored(key.payload_len() as usize, key.objlen as usize) {
        return None;
    }
    let head = file.source().read(key.seek_key + u64::from(key.keylen), BlockHeader::SIZE).ok()?;
    Some(BlockHeader::parse(&head).ok()?.algorithm)
}

/// Some records, evenly over the bytes on disk, which come with them. `raw` is their mean size before compression.
pub fn evenly<T>(records: impl Iterator<Item = (T, u64)> + Clone, raw: u64) -> Vec<T> {
    let all = records.clone().map(|(_, bytes)| bytes).fold(0, u64::saturating_add);
    // The number of records depends on their size before compression.
    let wanted = (PIECES / raw.clamp(1, PIECE as u64)).clamp(BASKETS.0, BASKETS.1);
    let step = as_f64(all) / as_f64(wanted);
    let place = |k: u64| (as_f64(k) + (as_f64(k + 1) * GOLDEN).fract()) * step;
    let (mut k, mut at, mut found) = (0, 0u64, Vec::new());
    for (record, bytes) in records {
        at = at.saturating_add(bytes);
        if as_f64(at) > place(k) {
            found.push(record);
            // A record that spans several steps is taken once.
            while k < wanted && place(k) < as_f64(at) {
                k += 1;
            }
        }
        if k == wanted {
            break;
        }
    }
    found
}

/// Bytes of an uncompressed record with the file's codec, over its present bytes.
pub fn record_compressible_to(file: &RootFile, key: &Key) -> Option<f64> {
    let setting = Compression::from_root_setting(file.header().compress)?;
    if key.objlen < RECORD || key.payload_len() < key.objlen || setting.is_none() {
        return None;
    }
    // The sample is from the middle, where names of branches are, as in most of the record.
    let len = (key.objlen as usize).min(ENOUGH);
    let from = key.seek_key + u64::from(key.keylen) + (u64::from(key.objlen) - len as u64) / 2;
    let data = file.source().read(from, len).ok()?;
    let mut packed = Vec::new();
    let shrunk = Compressor::new().compress(setting, &data, &mut packed).unwrap_or(false);
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let ratio = packed.len() as f64 / data.len().max(1) as f64;
    Some(if shrunk { ratio } else { 1.0 })
}

fn start_of(file: &RootFile, key: &Key) -> Option<Vec<u8>> {
    let len = (key.payload_len() as usize).min(ENOUGH);
    file.source().read(key.seek_key + u64::from(key.keylen), len).ok().filter(|data| !data.is_empty())
}
