//! What is to be read: columns, entries, and means.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rootfile::{Error, Result};

use crate::execute::budget::Budget;
use crate::table::column::Column;
use crate::table::piece::Piece;

/// A choice of entries. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection(Arc<[u64]>);

impl Selection {
    /// These entries, which must ascend.
    pub fn sorted(entries: impl Into<Arc<[u64]>>) -> Result<Self> {
        let entries = entries.into();
        match entries.windows(2).find(|pair| pair[0] >= pair[1]) {
            Some(pair) => Err(Error::request(format!(
                "a selection must ascend, and has entry {} before {}; sort it, and leave out what stands twice",
                pair[0], pair[1]
            ))),
            None => Ok(Self(entries)),
        }
    }

    /// The entries whose place in the mask says so.
    pub fn mask(mask: impl IntoIterator<Item = bool>) -> Self {
        let chosen = mask.into_iter().zip(0u64..).filter_map(|(chosen, entry)| chosen.then_some(entry));
        Self(chosen.collect())
    }

    /// The entries.
    pub fn entries(&self) -> &[u64] {
        &self.0
    }
}

/// What is to be read.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Columns, by their places among those of the data set.
    pub columns: Vec<usize>,
    /// Entries, counted over all files.
    pub entries: Range<u64>,
    /// Which of these entries; all, if not given.
    pub selection: Option<Selection>,
    /// Memory besides the arrays, and threads.
    pub budget: Budget,
    /// Is looked at now and then; when it is set the work ends with an error.
    pub cancelled: Option<&'a AtomicBool>,
}

impl Request<'_> {
    /// The entries, as far as a data set of `all` entries has them.
    pub(super) fn entries(&self, all: u64) -> Range<u64> {
        let end = self.entries.end.min(all);
        self.entries.start.min(end)..end
    }
}

/// The entries of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    from: u64,
    to: u64,
    chosen: Option<&'a [u64]>,
}

impl<'a> Wanted<'a> {
    pub fn new(entries: &Range<u64>, selection: Option<&'a Selection>) -> Self {
        let chosen = selection.map(|s| within(s.entries(), entries));
        match chosen.map(|c| (c.first(), c.last())) {
            None => Self { from: entries.start, to: entries.end.max(entries.start), chosen },
            Some((Some(&first), Some(&last))) => Self { from: first, to: last + 1, chosen },
            Some(_) => Self { from: entries.start, to: entries.start, chosen },
        }
    }

    /// The first of them, and one more than the last.
    pub fn span(&self) -> Range<u64> {
        self.from..self.to
    }

    /// How many of them lie in a range.
    pub fn count(&self, range: &Range<u64>) -> u64 {
        match self.chosen {
            Some(chosen) => within(chosen, range).len() as u64,
            None => range.end.min(self.to).saturating_sub(range.start.max(self.from)),
        }
    }

    /// Bytes that they take about in a column's baskets, before compression.
    pub fn bytes(&self, column: &Column) -> u64 {
        let pieces = column.source.pieces.get(column.source.overlapping(&self.span())).unwrap_or_default();
        let of = |p: &Piece| {
            let share = u128::from(column.source.expanded_bytes(p)) * u128::from(self.count(&(p.first_entry..p.end())));
            u64::try_from(share / u128::from(p.entries.max(1))).unwrap_or(u64::MAX)
        };
        pieces.iter().map(of).fold(0, u64::saturating_add)
    }

    /// Those in a range, unless they are all or neighbours.
    pub fn scattered(&self, range: &Range<u64>) -> Option<&'a [u64]> {
        let chosen = within(self.chosen?, range);
        let (first, last) = chosen.first().zip(chosen.last())?;
        (last - first >= chosen.len() as u64).then_some(chosen)
    }

    /// Those in a range, as runs of neighbours.
    pub fn runs(&self, range: Range<u64>) -> Runs<'a> {
        let rest = match self.chosen {
            Some(chosen) => Rest::Chosen(within(chosen, &range)),
            None => Rest::All(range.start.max(self.from)..range.end.min(self.to)),
        };
        Runs { rest }
    }
}

/// What a sorted list has within a range.
fn within<'a>(entries: &'a [u64], range: &Range<u64>) -> &'a [u64] {
    let from = entries.partition_point(|e| *e < range.start);
    let to = entries.partition_point(|e| *e < range.end);
    entries.get(from..to).unwrap_or_default()
}

/// Runs of neighbouring entries.
#[derive(Debug)]
pub(super) struct Runs<'a> {
    rest: Rest<'a>,
}

#[derive(Debug)]
enum Rest<'a> {
    All(Range<u64>),
    Chosen(&'a [u64]),
}

impl Iterator for Runs<'_> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        match &mut self.rest {
            Rest::All(range) => {
                let run = range.clone();
                range.start = range.end;
                (!run.is_empty()).then_some(run)
            }
            Rest::Chosen(entries) => {
                let &first = entries.first()?;
                let len = entries.iter().zip(first..).take_while(|(entry, next)| **entry == *next).count();
                *entries = entries.get(len..).unwrap_or_default();
                Some(first..first + len as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_cut_where_neighbours_end() {
        let selection = Selection::sorted([1, 2, 3, 7, 9, 10]).unwrap();
        let wanted = Wanted::new(&(2..10), Some(&selection));
        assert_eq!(wanted.span(), 2..10);
        assert_eq!(wanted.runs(0..100).collect::<Vec<_>>(), [2..4, 7..8, 9..10]);
        assert_eq!(wanted.runs(3..9).collect::<Vec<_>>(), [3..4, 7..8]);
        assert_eq!((wanted.scattered(&(0..5)), wanted.scattered(&(3..9))), (None, Some(&[3, 7][..])));
        assert_eq!(wanted.count(&(3..9)), 2);
        let all = Wanted::new(&(2..10), None);
        assert_eq!(all.runs(0..5).next(), Some(2..5));
        assert_eq!((all.count(&(0..5)), all.runs(20..30).count()), (3, 0));
        assert!(Wanted::new(&(4..7), Some(&selection)).span().is_empty());
    }

    #[test]
    fn masks_choose_and_lists_must_ascend() {
        assert_eq!(Selection::mask([false, true, true]).entries(), [1, 2]);
        assert!(Selection::sorted([1, 1]).is_err());
    }
}
