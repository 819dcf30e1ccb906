//! Where the entries of a column are while they are moved: some of its baskets in memory, in which any entry is found, or several runs of
//! baskets in the scratch file, each of which has its entries in the order of the output.

use std::ops::Range;

use dataset::tree::basket::BasketData;
use rootfile::{Error, Result};

use crate::execute::encode::tree::basket_builder::in_form_of;
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::table::piece::Files;
use crate::table::tree::column::Column;

/// The entries of a column, in an order of the caller's.
pub(super) trait Rows {
    /// The basket of an entry, and its place there. It can be asked for again.
    fn find(&mut self, entry: u64) -> Result<(&BasketData, usize)>;

    /// The entry is done with: the next one that is asked for is another row.
    fn take(&mut self, _entry: u64) {}
}

/// Baskets of a column in memory. Their process identifiers are those of the output.
pub(super) struct LoadedRun {
    entries: Range<u64>,
    /// The baskets, each with its first entry.
    baskets: Vec<(u64, BasketData)>,
    /// For each stretch of 2 to the power of `shift` entries the basket of its first.
    index: Vec<u32>,
    shift: u32,
}

impl LoadedRun {
    /// Loads baskets from a piece on, one at least, until they take `room` bytes. `at` is the piece, and then the one behind the last.
    /// `pid_offset` is what is added to the process identifiers of a file.
    pub fn load(
        files: &Files,
        column: &Column,
        at: &mut usize,
        room: u64,
        pid_offset: &dyn Fn(u32) -> u16,
        fetcher: &mut Fetcher,
    ) -> Result<Self> {
        let mut baskets = Vec::new();
        let (mut taken, mut end) = (0, 0);
        while let Some(piece) = column.source.pieces.get(*at) {
            if taken >= room && !baskets.is_empty() {
                break;
            }
            let mut data = in_form_of(column, fetcher.load(files, column, *at)?)?;
            data.pid_offset = data.pid_offset.wrapping_add(piece.file().map_or(0, pid_offset));
            taken += data.memory();
            baskets.push((piece.first_entry, data));
            end = piece.end();
            *at += 1;
        }
        let start = baskets.first().map_or(0, |(first, _)| *first);
        let mean = (end - start) / (baskets.len() as u64).max(1);
        let shift = mean.max(1).ilog2();
        let stretches = (end - start).div_ceil(1 << shift);
        let mut basket = 0;
        let index = (0..stretches).map(|stretch| {
            let entry = start + (stretch << shift);
            while baskets.get(basket + 1).is_some_and(|(first, _)| *first <= entry) {
                basket += 1;
            }
            u32::try_from(basket).unwrap_or(u32::MAX)
        });
        Ok(Self { entries: start..end, index: index.collect(), shift, baskets })
    }

    /// The entries from the first basket to the last.
    pub fn entries(&self) -> &Range<u64> {
        &self.entries
    }
}

impl Rows for LoadedRun {
    fn find(&mut self, entry: u64) -> Result<(&BasketData, usize)> {
        let lost = || Error::corrupt(format!("entry {entry} is in no basket"));
        let stretch = usize::try_from(entry.checked_sub(self.entries.start).ok_or_else(lost)? >> self.shift);
        let first = stretch.ok().and_then(|stretch| self.index.get(stretch)).copied().ok_or_else(lost)?;
        let mut number = first as usize;
        while self.baskets.get(number + 1).is_some_and(|(first, _)| *first <= entry) {
            number += 1;
        }
        let (first, basket) = self.baskets.get(number).ok_or_else(lost)?;
        let place = usize::try_from(entry - first).unwrap_or(usize::MAX);
        if place >= basket.count as usize {
            return Err(lost());
        }
        Ok((basket, place))
    }
}

/// Runs in the scratch file, each of which has its entries in the order in which they are asked for.
pub(super) struct RunMerge<'a> {
    files: &'a Files,
    runs: Vec<RunCursor<'a>>,
    fetcher: Fetcher,
}

/// A run, and the entries of it that were asked for so far.
struct RunCursor<'a> {
    /// The entries of the column that it has some of.
    entries: Range<u64>,
    column: &'a Column,
    next: usize,
    basket: Option<(BasketData, usize)>,
}

impl<'a> RunMerge<'a> {
    /// Runs with the entries of ascending ranges.
    pub fn new(files: &'a Files, runs: &'a [(Range<u64>, Column)]) -> Self {
        let cursor = |(entries, column): &'a (Range<u64>, Column)| RunCursor {
            entries: entries.clone(),
            column,
            next: 0,
            basket: None,
        };
        Self { files, runs: runs.iter().map(cursor).collect(), fetcher: Fetcher::new() }
    }

    /// The run of an entry.
    fn run_of(&self, entry: u64) -> usize {
        self.runs.partition_point(|run| run.entries.end <= entry)
    }
}

impl Rows for RunMerge<'_> {
    fn find(&mut self, entry: u64) -> Result<(&BasketData, usize)> {
        let lost = || Error::corrupt(format!("entry {entry} is in no basket"));
        let number = self.run_of(entry);
        let run = self.runs.get_mut(number).ok_or_else(lost)?;
        if run.basket.as_ref().is_none_or(|(basket, taken)| *taken >= basket.count as usize) {
            if let Some((basket, _)) = run.basket.take() {
                self.fetcher.give_back(basket);
            }
            let basket = in_form_of(run.column, self.fetcher.load(self.files, run.column, run.next)?)?;
            run.next += 1;
            run.basket = Some((basket, 0));
        }
        let (basket, taken) = run.basket.as_ref().ok_or_else(lost)?;
        Ok((basket, *taken))
    }

    fn take(&mut self, entry: u64) {
        let number = self.run_of(entry);
        if let Some((_, taken)) = self.runs.get_mut(number).and_then(|run| run.basket.as_mut()) {
            *taken += 1;
        }
    }
}
