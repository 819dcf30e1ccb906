//! Would uncompressed data shrink? Compresses a few baskets of a tree that is mostly stored as it is, and says how far.

use dataset::tree::{Branch, Tree};
use rootfile::codec::{Algorithm, Compression, Compressor};
use rootfile::{Key, RootFile};

/// Largest branches that give a basket each.
const BRANCHES: usize = 8;
/// Bytes that are compressed of each basket: enough for a ratio, and quick.
const ENOUGH: usize = 64_000;
/// Trees with fewer bytes that are not compressed are let be.
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
        // Each branch weighs what it has on disk.
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let (weight, ratio) = (branch.zip_bytes as f64, packed.len() as f64 / data.len().max(1) as f64);
        before += weight;
        after += if shrunk { weight * ratio } else { weight };
    }
    (before > 0.0).then(|| after / before)
}

fn start_of(file: &RootFile, key: &Key) -> Option<Vec<u8>> {
    let len = (key.payload_len() as usize).min(ENOUGH);
    file.source().read(key.seek_key + u64::from(key.keylen), len).ok().filter(|data| !data.is_empty())
}
