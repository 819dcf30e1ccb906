//! The elements of an index column, as offsets into the elements of its collections.

use std::collections::TryReserveError;
use std::ops::Range;

use rootfile::{Error, Result};

/// Ends of collections. A page counts them from the start of its cluster; decoded, they continue over clusters and have a
/// leading zero, as the offsets of Arrow's lists do: collection `i` has the elements `offsets[i]..offsets[i + 1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Starts with 0 and never decreases.
    offsets: Vec<i64>,
    /// What an end in a page is less than its offset. Negative if the first elements of the cluster are not wanted.
    base: i64,
}

impl Default for Ends {
    fn default() -> Self {
        Self { offsets: vec![0], base: 0 }
    }
}

impl Ends {
    /// Ends that count from the start of one cluster.
    ///
    /// # Errors
    ///
    /// If they decrease.
    pub fn of(ends: impl Iterator<Item = u64>) -> Result<Self> {
        let mut all = Self::default();
        all.extend(ends);
        all.check(0)?;
        Ok(all)
    }

    /// How many collections.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no collection yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The offsets: a leading 0, and the end of each collection.
    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// The offsets: a leading 0, and the end of each collection.
    pub fn into_offsets(self) -> Vec<i64> {
        self.offsets
    }

    /// The elements of each collection.
    pub(in crate::ntuple) fn slices<'a, T>(&'a self, elements: &'a [T]) -> impl Iterator<Item = &'a [T]> {
        let at = |offset: i64| usize::try_from(offset).unwrap_or(usize::MAX);
        let ends = self.offsets.iter().skip(1);
        self.offsets.iter().zip(ends).map(move |(start, end)| elements.get(at(*start)..at(*end)).unwrap_or_default())
    }

    /// The end of the last collection: how many elements all collections have.
    pub fn last(&self) -> i64 {
        self.offsets.last().copied().unwrap_or_default()
    }

    /// The last end, as pages count it: from the start of the cluster.
    pub fn last_in_cluster(&self) -> u64 {
        u64::try_from(self.last().saturating_sub(self.base)).unwrap_or_default()
    }

    /// Ends that are decoded from now on are those of another cluster. `skipped` is the end of the last collection before the
    /// first decoded one, as the page has it: 0 if the cluster is decoded from its start.
    pub fn start_cluster(&mut self, skipped: u64) -> Result<()> {
        let skipped = i64::try_from(skipped).map_err(|_| too_large(skipped))?;
        self.base = self.last() - skipped;
        Ok(())
    }

    /// Adds collections that have no elements.
    pub(super) fn append_empty(&mut self, count: usize) {
        self.offsets.resize(self.offsets.len() + count, self.last());
    }

    /// Adds the collections of another column. Their elements lie behind the own ones.
    pub(super) fn append(&mut self, other: Self) -> Result<()> {
        let base = self.last();
        let more = other.len();
        if base.checked_add(other.last()).is_none() {
            return Err(too_large(other.last().cast_unsigned()));
        }
        if self.is_empty() && self.offsets.capacity() <= other.offsets.capacity() {
            *self = other;
            return Ok(());
        }
        self.try_reserve(more).map_err(|_| Error::corrupt(format!("no memory for {more} ends of collections")))?;
        self.offsets.extend(other.offsets.get(1..).unwrap_or_default().iter().map(|end| base + end));
        self.base = base + other.base;
        Ok(())
    }

    /// Makes room.
    pub(super) fn try_reserve(&mut self, additional: usize) -> std::result::Result<(), TryReserveError> {
        self.offsets.try_reserve(additional)
    }

    /// Adds ends, as pages have them. They are not checked before [`check`](Self::check).
    pub(super) fn extend(&mut self, ends: impl Iterator<Item = u64>) {
        let base = self.base.cast_unsigned();
        self.offsets.extend(ends.map(|end| end.wrapping_add(base).cast_signed()));
    }

    /// Checks that the ends from `from` on do not decrease; removes them if they do.
    pub(super) fn check(&mut self, from: usize) -> Result<()> {
        let new = self.offsets.get(from..).unwrap_or_default();
        let Some(last) = new.last() else { return Ok(()) };
        let decreases = new.iter().zip(new.get(1..).unwrap_or_default()).fold(false, |found, (a, b)| found | (a > b));
        let error = if decreases {
            Error::corrupt("the ends of collections decrease")
        } else if last.checked_sub(self.base).is_none_or(|end| end < 0) {
            too_large(last.wrapping_sub(self.base).cast_unsigned())
        } else {
            return Ok(());
        };
        self.offsets.truncate(from + 1);
        Err(error)
    }

    /// The offsets of collections, and what each is more than the end in a page of the last cluster.
    pub(super) fn in_cluster(&self, range: Range<usize>) -> Result<(&[i64], i64)> {
        let ends = self.offsets.get(range.start..=range.end).unwrap_or_default();
        match ends.split_first() {
            Some((start, ends)) if *start >= self.base => Ok((ends, self.base)),
            _ => Err(Error::request("ends of collections before the last cluster")),
        }
    }
}

fn too_large(end: u64) -> Error {
    Error::corrupt(format!("a collection ends at element {end}"))
}
