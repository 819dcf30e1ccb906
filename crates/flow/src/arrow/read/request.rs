//! A request to read: columns, entries, and resources.

use std::borrow::Cow;
use std::ops::Range;

use dataset::EntrySet;
use dataset::table::piece::Piece;

use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::table::tree::column::Column;

/// A request to read columns of a data set.
#[derive(Clone)]
pub struct Request<'a> {
    /// Columns, by their indices in the data set.
    pub columns: Vec<usize>,
    /// Entries, counted over all files.
    pub entries: Range<u64>,
    /// The entries among these. All, if not given.
    pub selection: Option<EntrySet>,
    /// Memory besides the arrays, and threads.
    pub budget: Budget,
    /// Gets numbers of entries as they are read, each entry once for every column. It can end the reading.
    pub progress: Progress<'a>,
}

impl Request<'_> {
    /// The entries, as far as a data set of `all` entries has them.
    pub(super) fn entries(&self, all: u64) -> Range<u64> {
        let end = self.entries.end.min(all);
        self.entries.start.min(end)..end
    }
}

/// The entries of a request: those of a set in a range, or all entries in the range.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestedEntries<'a> {
    start: u64,
    end: u64,
    set: Option<&'a EntrySet>,
}

impl<'a> RequestedEntries<'a> {
    pub fn new(entries: &Range<u64>, set: Option<&'a EntrySet>) -> Self {
        let all = entries.start..entries.end.max(entries.start);
        let Range { start, end } = set.map_or(all.clone(), |set| set.span(all));
        Self { start, end, set }
    }

    /// From the first of them to the last.
    pub fn span(&self) -> Range<u64> {
        self.start..self.end
    }

    /// Number of them in a range.
    pub fn count(&self, range: &Range<u64>) -> u64 {
        let range = self.within(range);
        self.set.map_or(range.end.saturating_sub(range.start), |set| set.count(&range))
    }

    /// Approximate bytes that they take in a column's baskets, before compression.
    pub fn bytes(&self, column: &Column) -> u64 {
        let pieces = column.source.pieces_with(&self.span());
        let share = |p: &Piece| {
            let share = u128::from(column.source.expanded_bytes(p)) * u128::from(self.count(&(p.first_entry..p.end())));
            u64::try_from(share / u128::from(p.entries.max(1))).unwrap_or(u64::MAX)
        };
        pieces.iter().map(share).fold(0, u64::saturating_add)
    }

    /// Those in a range, unless they are neighbours.
    pub fn scattered(&self, range: &Range<u64>) -> Option<Cow<'a, [u64]>> {
        self.set?.scattered(&self.within(range))
    }

    /// Those in a range, as runs of neighbours.
    pub fn runs(&self, range: &Range<u64>) -> impl Iterator<Item = Range<u64>> + 'a {
        let range = self.within(range);
        let all = (self.set.is_none() && !range.is_empty()).then(|| range.clone());
        let some = self.set.map(|set| set.runs(set.rank(range.start)..set.rank(range.end)));
        all.into_iter().chain(some.into_iter().flatten())
    }

    fn within(&self, range: &Range<u64>) -> Range<u64> {
        range.start.max(self.start)..range.end.min(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_cut_where_neighbours_end() {
        let set = EntrySet::sorted([1, 2, 3, 7, 9, 10]).unwrap();
        let requested = RequestedEntries::new(&(2..10), Some(&set));
        assert_eq!(requested.span(), 2..10);
        assert_eq!(requested.runs(&(0..100)).collect::<Vec<_>>(), [2..4, 7..8, 9..10]);
        assert_eq!(requested.runs(&(3..9)).collect::<Vec<_>>(), [3..4, 7..8]);
        assert_eq!(requested.scattered(&(0..5)), None);
        assert_eq!(requested.scattered(&(3..9)).as_deref(), Some(&[3, 7][..]));
        assert_eq!(requested.count(&(3..9)), 2);
        let all = RequestedEntries::new(&(2..10), None);
        assert_eq!(all.runs(&(0..5)).next(), Some(2..5));
        assert_eq!((all.count(&(0..5)), all.runs(&(20..30)).count()), (3, 0));
        assert!(RequestedEntries::new(&(4..7), Some(&set)).span().is_empty());
    }
}
