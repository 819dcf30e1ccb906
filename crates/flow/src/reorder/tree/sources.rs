//! The entries of a column of sources that are merged: of each source one basket is in memory, and the next one takes its place when its
//! first entry is asked for. So each basket is read and decompressed once, those of a source in the order of its entries, and those
//! without an asked entry never.

use dataset::tree::basket::BasketData;
use rootfile::{Error, Result};

use super::rows::Rows;
use crate::execute::encode::tree::basket_builder::in_form_of;
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::table::piece::Files;
use crate::table::tree::column::Column;

/// Bytes that a basket in memory takes besides its entries.
const BESIDE: u64 = 256;

/// The baskets of a column in memory, one of each source.
pub(super) struct Windows(Vec<Window>);

/// Where a source is read.
struct Window {
    /// The piece behind the basket.
    next: usize,
    /// A basket, and its first entry.
    basket: Option<(u64, BasketData)>,
}

impl Windows {
    /// Those of sources that end at `ends`, before the first basket of each is read.
    pub fn new(column: &Column, ends: &[u64]) -> Self {
        let pieces = &column.source.pieces;
        let starts = std::iter::once(0).chain(ends.iter().copied()).take(ends.len());
        let first = |start: u64| pieces.partition_point(|piece| piece.end() <= start);
        Self(starts.map(|start| Window { next: first(start), basket: None }).collect())
    }

    /// Bytes of the largest baskets of a column, one of each source.
    pub fn memory(column: &Column, ends: &[u64]) -> u64 {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let largest = |(start, end): (u64, &u64)| column.largest(column.source.overlapping(&(start..*end))) + BESIDE;
        starts.zip(ends).map(largest).fold(0, u64::saturating_add)
    }
}

/// The entries of sources that are merged.
pub(super) struct SourceMerge<'a> {
    pub files: &'a Files,
    pub column: &'a Column,
    /// Behind the last entry of each source.
    pub ends: &'a [u64],
    /// What is added to the process identifiers of each file.
    pub pid_offsets: &'a [u16],
    pub windows: &'a mut Windows,
    pub fetcher: Fetcher,
}

impl Rows for SourceMerge<'_> {
    fn find(&mut self, entry: u64) -> Result<(&BasketData, usize)> {
        let lost = || Error::corrupt(format!("entry {entry} is in no basket"));
        let number = self.ends.partition_point(|end| *end <= entry);
        let window = self.windows.0.get_mut(number).ok_or_else(lost)?;
        let pieces = &self.column.source.pieces;
        if window.basket.as_ref().is_none_or(|(first, basket)| entry >= first + u64::from(basket.count)) {
            if let Some((_, basket)) = window.basket.take() {
                self.fetcher.give_back(basket);
            }
            let skipped = pieces.iter().skip(window.next).take_while(|piece| piece.end() <= entry).count();
            let index = window.next + skipped;
            let piece = pieces.get(index).ok_or_else(lost)?;
            let mut data = in_form_of(self.column, self.fetcher.load(self.files, self.column, index)?)?;
            let pid_offset = piece.file().and_then(|file| self.pid_offsets.get(file as usize)).copied().unwrap_or(0);
            data.pid_offset = data.pid_offset.wrapping_add(pid_offset);
            (window.next, window.basket) = (index + 1, Some((piece.first_entry, data)));
        }
        let (first, basket) = window.basket.as_ref().ok_or_else(lost)?;
        let place = entry.checked_sub(*first).and_then(|place| usize::try_from(place).ok()).ok_or_else(lost)?;
        if place >= basket.count as usize {
            return Err(lost());
        }
        Ok((basket, place))
    }
}
