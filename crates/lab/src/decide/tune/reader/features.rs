//! Features of a file: the amounts that a profile has a cost for. Those of a file of RNTuples have other names, at the same places.

use dataset::tree::basket::BasketHeader;
use rootfile::Result;
use rootfile::bytes::Cursor;
use rootfile::codec::Algorithm;

use super::profile::{Decompress, PerValue, Profile, Read, wide};
use super::{NtupleCosts, NtupleRead};
use crate::cost::column::Column;
use crate::cost::statistics::FileStats;
use crate::cost::{CodecBench, Codecs, Kind};
use crate::math::as_f64;

/// Amounts before the codecs.
pub(super) const BESIDES: usize = 7;

/// The amounts in a file that a profile has costs for.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    /// Trees or RNTuples.
    pub trees: f64,
    /// Branches or columns.
    pub branches: f64,
    /// Baskets or pages.
    pub baskets: f64,
    pub stored: f64,
    /// Bytes without compression.
    pub none: f64,
    /// Objects of split collections; of RNTuples, bytes of elements whose bytes are split.
    pub items: f64,
    /// Entries of branches of wide trees; of RNTuples, bytes of other elements.
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
        let none = profile.decompress.none.seconds_per_byte;
        let besides = [tree, branch, basket, stored_byte, none, item, wide_entry];
        self.product(besides, &profile.decompress, &|kind| profile.values(kind))
    }

    /// The seconds that a profile says for RNTuples.
    pub fn expected_of_pages(&self, ntuple: &NtupleCosts) -> f64 {
        let NtupleRead { table, column, page, stored_byte, split_byte, plain_byte } = ntuple.read;
        let none = ntuple.decompress.none.seconds_per_byte;
        let besides = [table, column, page, stored_byte, none, split_byte, plain_byte];
        self.product(besides, &ntuple.decompress, &|kind| ntuple.values(kind))
    }

    fn product(&self, besides: [f64; BESIDES], decompress: &Decompress, per_value: &dyn Fn(Kind) -> PerValue) -> f64 {
        let codecs = Algorithm::WRITTEN.into_iter().flat_map(|codec| {
            let speed = decompress.speed(codec);
            [speed.seconds_per_byte / speed.basketry, speed.seconds_per_basket]
        });
        let values = Kind::ALL.into_iter().flat_map(|kind| {
            let PerValue { entry, value } = per_value(kind);
            [entry, value]
        });
        let numbers = besides.into_iter().chain(codecs).chain(values);
        self.row().into_iter().zip(numbers).map(|(amount, number)| amount * number).sum()
    }
}

/// The features of a file, with the seconds that basketry takes to decompress it.
pub(super) fn features_of(stats: &FileStats) -> Result<Features> {
    let mut bench = Codecs::default();
    let mut buffer = Vec::new();
    let mut features = Features { trees: as_f64(stats.trees.len() as u64), ..Features::default() };
    features.items = stats.items().into_iter().sum();
    let has_pages = stats.has_pages();
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
        if let Some(pages) = &column.pages {
            let is_split = pages.encoding.column_type().is_split();
            *(if is_split { &mut features.items } else { &mut features.wide }) += column.raw;
        }
        // Ends of collections are read with what they are the ends of.
        if column.has_ends() {
            continue;
        }
        if let Some((entries, values)) =
            Kind::ALL.iter().position(|kind| *kind == column.kind).and_then(|kind| features.values.get_mut(kind))
        {
            *entries += column.entries;
            *values += column.values();
        }
    }
    // Each file has one tree.
    if !has_pages {
        features.wide = wide(features.branches) * features.values.iter().map(|values| values.0).sum::<f64>();
    }
    Ok(features)
}

/// Seconds that basketry takes to decompress all baskets of a column.
fn unpack(stats: &FileStats, column: &Column, (bench, buffer): (&mut Codecs, &mut Vec<u8>)) -> Result<f64> {
    let mut seconds = 0.0;
    if let Some(own) = &column.pages {
        let source = &**stats.file.source();
        for (page, _) in own.pages.iter().zip(&column.baskets).filter(|(_, piece)| piece.seek > 0) {
            let Some(stored) = page.stored_len().and_then(|stored| usize::try_from(stored).ok()) else { continue };
            let record = page.read(source, own.max_key_size)?;
            let stored = record.get(..stored).unwrap_or(&record);
            seconds += bench.unpack(stored, page.raw_len(&own.encoding)?, buffer)?;
        }
        return Ok(seconds);
    }
    for basket in column.written() {
        let record = stats.file.source().read(basket.seek, basket.nbytes as usize)?;
        let header = BasketHeader::parse(&mut Cursor::new(&record))?;
        let stored = record.get(header.keylen()..).unwrap_or_default();
        seconds += bench.unpack(stored, header.key.objlen as usize, buffer)?;
    }
    Ok(seconds)
}
