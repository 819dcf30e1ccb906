//! Streams of decoded columns: portion by portion, in the order of entries. Recoding and comparing by value use them.

use std::collections::VecDeque;
use std::ops::Range;

use arrow_array::ArrayRef;
use dataset::decode::ColumnPlan;
use dataset::table::piece::Piece;
use dataset::tree::basket::BasketData;
use rootfile::{Error, Result};

use super::basket_cache::{BasketCache, CacheKey, CachedBasket};
use super::counters::CounterReader;
use super::fetcher::Fetcher;
use crate::table::piece::{Files, spans_several};
use crate::table::tree::column::Column;

/// Bytes of entries that are decoded at a time. They stay in a core's cache.
const PORTION: u64 = 512 << 10;

/// A column to decode.
#[derive(Debug)]
pub(crate) struct DecodeSource {
    /// Where its entries are.
    pub column: Column,
    /// What its bytes mean.
    pub plan: ColumnPlan,
    /// The columns that count its items.
    pub counters: Vec<(Column, ColumnPlan)>,
}

impl DecodeSource {
    /// A column with its counters. `columns` are indexed by branch.
    pub fn of(plan: &ColumnPlan, plans: &[ColumnPlan], columns: &[Column]) -> Option<Self> {
        let counter = |branch: &usize| {
            let plan = plans.iter().find(|plan| plan.branch() == *branch)?;
            Some((columns.get(*branch)?.only_source(), plan.clone()))
        };
        let counters = plan.counters().iter().filter_map(counter).collect();
        Some(Self { column: columns.get(plan.branch())?.only_source(), plan: plan.clone(), counters })
    }

    /// Number of entries to decode at a time, so that they have about [`PORTION`] bytes.
    pub fn portion(sources: &[Self]) -> u64 {
        let source_bytes = |source: &Self| {
            source.column.source.pieces.iter().map(|p| source.column.source.expanded_bytes(p)).sum::<u64>()
        };
        let bytes: u64 = sources.iter().map(source_bytes).sum();
        let entries = |source: &Self| source.column.source.recorded_entries();
        let entries = sources.iter().map(entries).max().unwrap_or(0);
        let each = bytes.div_ceil(entries.max(1)).max(1);
        (PORTION / each).max(1)
    }

    /// Bytes on disk of some entries, by their share of baskets.
    pub fn share(&self, entries: &Range<u64>) -> f64 {
        self.column.source.share(self.column.source.overlapping(entries), entries)
    }

    /// Bytes of `entries` average entries, at most of all.
    #[expect(clippy::cast_possible_truncation, reason = "no more than there are")]
    pub fn bytes_of(&self, entries: u64) -> u64 {
        let total: u64 = self.column.source.pieces.iter().map(|p| self.column.source.expanded_bytes(p)).sum();
        let all = self.column.source.recorded_entries().max(1);
        (u128::from(total) * u128::from(entries.min(all)) / u128::from(all)) as u64
    }

    /// Bytes of buffers for portions of `portion` entries: fetched, decompressed, decoded, assembled, projected and
    /// encoded.
    pub fn scratch(&self, portion: u64) -> u64 {
        let column = &self.column;
        let most = column
            .source
            .pieces
            .iter()
            .map(|p| u64::from(p.packed_len()).saturating_add(column.source.loaded_bytes(p).saturating_mul(2)))
            .max()
            .unwrap_or(0);
        most.saturating_add(self.bytes_of(portion).saturating_mul(4))
    }
}

/// A column that is being decoded, with the baskets in use.
pub(crate) struct ColumnStream<'a> {
    source: &'a DecodeSource,
    /// The next piece to load.
    next: usize,
    loaded: VecDeque<(usize, CachedBasket)>,
    counters: Option<CounterReader<'a>>,
    /// The cache of baskets that several ranges between these entries use, if they are shared.
    shares: Option<(&'a BasketCache, CacheKey, &'a [u64])>,
}

impl<'a> ColumnStream<'a> {
    /// A stream that begins with entry `start`.
    pub fn new(files: &'a Files, source: &'a DecodeSource, start: u64) -> Self {
        let counters = source.counters.iter().map(|(column, plan)| (column, plan)).collect::<Vec<_>>();
        Self {
            source,
            next: source.column.source.overlapping(&(start..start.saturating_add(1))).start,
            loaded: VecDeque::new(),
            counters: (!counters.is_empty()).then(|| CounterReader::new(files, counters)),
            shares: None,
        }
    }

    /// Shares baskets that several ranges between `bounds` use with the other streams of the same source.
    pub fn share(&mut self, cache: &'a BasketCache, key: CacheKey, bounds: &'a [u64]) {
        self.shares = Some((cache, key, bounds));
    }

    /// Loads the baskets of some entries, and drops those before. Returns the bytes fetched.
    pub fn load(&mut self, files: &Files, entries: &Range<u64>, fetcher: &mut Fetcher) -> Result<u64> {
        let pieces = &self.source.column.source.pieces;
        while let Some((index, _)) = self.loaded.front() {
            if pieces.get(*index).is_some_and(|piece| piece.end() > entries.start) {
                break;
            }
            match (self.loaded.pop_front(), self.shares) {
                (Some((_, CachedBasket::Own(data))), _) => fetcher.give_back(data),
                (Some((index, CachedBasket::Shared(_))), Some((cache, key, _))) => cache.forget_shared(key, index),
                _ => {}
            }
        }
        let mut fetched = 0;
        while let Some(piece) = pieces.get(self.next).filter(|piece| piece.first_entry < entries.end) {
            let mut load = || fetcher.load(files, &self.source.column, self.next);
            let data = match self.shares {
                Some((cache, key, bounds)) if spans_several(piece, bounds) => {
                    CachedBasket::Shared(cache.shared(key, self.next, load)?)
                }
                _ => CachedBasket::Own(load()?),
            };
            self.loaded.push_back((self.next, data));
            fetched += u64::from(piece.packed_len());
            self.next += 1;
        }
        Ok(fetched)
    }

    /// Takes over a basket that another stream of this source left. Called before the first load.
    pub fn resume(&mut self, left: impl FnOnce(usize) -> Option<BasketData>) {
        if let Some(data) = left(self.next) {
            self.loaded.push_back((self.next, CachedBasket::Own(data)));
            self.next += 1;
        }
    }

    /// Gives up the basket with entries from `from` on, and its piece, for the next stream. Shared baskets stay.
    pub fn leave(&mut self, from: u64) -> Option<((usize, &'a Piece), BasketData)> {
        let (index, data) = self.loaded.pop_back()?;
        let goes_on = self.source.column.source.pieces.get(index).filter(|piece| piece.end() > from);
        match (data, goes_on, self.shares) {
            (CachedBasket::Own(data), Some(piece), _) => Some(((index, piece), data)),
            (CachedBasket::Shared(_), None, Some((cache, key, _))) => {
                cache.forget_shared(key, index);
                None
            }
            _ => None,
        }
    }

    /// The loaded baskets.
    pub fn loaded(&self) -> impl Iterator<Item = (&Piece, &BasketData)> {
        self.loaded.iter().filter_map(|(index, data)| Some((self.source.column.source.pieces.get(*index)?, &**data)))
    }

    /// Bytes of some entries. Their baskets must be loaded.
    pub fn bytes(&self, entries: &Range<u64>) -> u64 {
        let column = &self.source.column;
        let basket_bytes = |(index, data): &(usize, CachedBasket)| {
            let piece = column.source.pieces.get(*index)?;
            let taken = entries.start.max(piece.first_entry)..entries.end.min(piece.end());
            let bytes =
                column.source.indices(*index, &taken).filter(|places| !places.is_empty()).filter_map(|places| {
                    let (first, last) = (data.range(places.start)?, data.range(places.end - 1)?);
                    Some(last.end.saturating_sub(first.start))
                });
            Some(bytes.sum::<usize>() as u64)
        };
        self.loaded.iter().filter_map(basket_bytes).sum()
    }

    /// The values of some entries. Their baskets must be loaded.
    pub fn decode(&mut self, entries: &Range<u64>) -> Result<ArrayRef> {
        let column = &self.source.column;
        let rows = usize::try_from(entries.end - entries.start).unwrap_or(0);
        let mut builder = self.source.plan.start(rows, 0);
        for (index, data) in &self.loaded {
            let Some(piece) = column.source.pieces.get(*index) else { continue };
            let (from, to) = (entries.start.max(piece.first_entry), entries.end.min(piece.end()));
            if from >= to {
                continue;
            }
            let mut at = from;
            for places in column.source.indices(*index, &(from..to)) {
                let next = at + places.len() as u64;
                let counts = match &mut self.counters {
                    Some(counters) => counters.values(&(at..next))?,
                    None => Vec::new(),
                };
                builder.append(data, places, &counts).map_err(|e| piece.blame(e))?;
                at = next;
            }
        }
        if builder.len() != rows {
            let name = &column.name;
            return Err(Error::corrupt("some entries are in no basket").object(format!("branch {name}")));
        }
        builder.finish()
    }
}
