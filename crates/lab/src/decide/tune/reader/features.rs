//! Features of a file: the amounts that a profile has a cost for.

use dataset::tree::basket::BasketHeader;
use rootfile::Result;
use rootfile::bytes::Cursor;
use rootfile::codec::Algorithm;

use super::profile::{PerValue, Profile, Read, wide};
use crate::cost::column::Column;
use crate::cost::statistics::FileStats;
use crate::cost::{CodecBench, Codecs, Kind};
use crate::math::as_f64;

/// The amounts in a file that a profile has costs for.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    pub trees: f64,
    pub branches: f64,
    pub baskets: f64,
    pub stored: f64,
    /// Bytes without compression.
    pub none: f64,
    /// Objects of split collections.
    pub items: f64,
    /// Entries of branches of wide trees.
    pub wide: f64,
    /// By codec, in the order of [`Algorithm::WRITTEN`].
    pub codecs: [Packed; Algorithm::WRITTEN.len()],
    /// By kind: entries, and values.
    pub values: [(f64, f64); Kind::ALL.len()],
}

/// The baskets of one codec.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packed {
    /// That basketry takes to decompress it.
    pub seconds: f64,
    pub baskets: f64,
    pub bytes: f64,
}

impl Features {
    /// The amounts, in the order of the fitted numbers.
    pub fn row(&self) -> Vec<f64> {
        let besides = [self.trees, self.branches, self.baskets, self.stored, self.none, self.items, self.wide];
        let codecs = self.codecs.iter().flat_map(|packed| [packed.seconds, packed.baskets]);
        let values = self.values.iter().flat_map(|(entries, values)| [*entries, *values]);
        besides.into_iter().chain(codecs).chain(values).collect()
    }

    /// The seconds that a profile says.
    pub fn expected(&self, profile: &Profile) -> f64 {
        let Read { tree, branch, basket, stored_byte, item, wide_entry } = profile.read;
        let codecs = self.codecs.iter().zip(Algorithm::WRITTEN).map(|(packed, codec)| {
            let speed = profile.speed(codec);
            packed.seconds * speed.seconds_per_byte / speed.basketry + packed.baskets * speed.seconds_per_basket
        });
        let values = self.values.iter().zip(Kind::ALL).map(|((entries, values), kind)| {
            let PerValue { entry, value } = profile.values(kind);
            entries * entry + values * value
        });
        let besides = self.trees * tree + self.branches * branch + self.baskets * basket + self.items * item;
        let besides = besides + self.wide * wide_entry;
        let stored = self.stored * stored_byte + self.none * profile.decompress.none.seconds_per_byte;
        besides + stored + codecs.sum::<f64>() + values.sum::<f64>()
    }
}

/// The features of a file, with the seconds that basketry takes to decompress it.
pub(super) fn features_of(stats: &FileStats) -> Result<Features> {
    let mut bench = Codecs::default();
    let mut buffer = Vec::new();
    let mut features = Features { trees: as_f64(stats.trees.len() as u64), ..Features::default() };
    features.items = stats.items().into_iter().sum();
    for column in &stats.columns {
        features.branches += 1.0;
        features.baskets += column.count();
        features.stored += column.on_disk();
        let codec = column.compression.algorithm().map(|codec| codec.facts().written_as);
        let codec = codec.and_then(|codec| Algorithm::WRITTEN.iter().position(|known| *known == codec));
        match codec.and_then(|codec| features.codecs.get_mut(codec)) {
            Some(packed) => {
                packed.seconds += unpack(stats, column, (&mut bench, &mut buffer))?;
                packed.baskets += column.count();
                packed.bytes += column.raw;
            }
            None => features.none += column.raw,
        }
        if let Some((entries, values)) =
            Kind::ALL.iter().position(|kind| *kind == column.kind).and_then(|kind| features.values.get_mut(kind))
        {
            *entries += column.entries;
            *values += column.values();
        }
    }
    // Each file has one tree.
    features.wide = wide(features.branches) * features.values.iter().map(|values| values.0).sum::<f64>();
    Ok(features)
}

/// Seconds that basketry takes to decompress all baskets of a column.
fn unpack(stats: &FileStats, column: &Column, (bench, buffer): (&mut Codecs, &mut Vec<u8>)) -> Result<f64> {
    let mut seconds = 0.0;
    for basket in column.written() {
        let record = stats.file.source().read(basket.seek, basket.nbytes as usize)?;
        let header = BasketHeader::parse(&mut Cursor::new(&record))?;
        let stored = record.get(header.keylen()..).unwrap_or_default();
        seconds += bench.unpack(stored, header.key.objlen as usize, buffer)?;
    }
    Ok(seconds)
}
