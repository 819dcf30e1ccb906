//! Values of some entries: one value, or nested lists of values, for each. The lists are levels of offsets, outermost first, and the values
//! of all lists lie in one array. A constant is one value for all entries.

mod load;

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_buffer::OffsetBuffer;
use arrow_select::take::take;

pub(crate) use load::{load, unnested};

/// Values of some entries.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    /// First item of each list, and at the end the number of items; outermost level first.
    pub levels: Vec<OffsetBuffer<i64>>,
    /// The values: truth values, numbers of 64 bits, or large texts.
    pub leaf: ArrayRef,
    /// Whether the one value is that of every entry.
    pub is_constant: bool,
}

impl Values {
    /// One value for each entry.
    pub fn flat(leaf: ArrayRef) -> Self {
        Self { levels: Vec::new(), leaf, is_constant: false }
    }

    /// The first value of each entry in the array, and at the end the number of values.
    pub fn bounds(&self) -> Vec<usize> {
        let Some((first, rest)) = self.levels.split_first() else { return (0..=self.leaf.len()).collect() };
        let mut bounds: Vec<usize> = first.iter().map(|&at| place(at)).collect();
        for level in rest {
            for bound in &mut bounds {
                *bound = level.get(*bound).map_or(0, |&at| place(at));
            }
        }
        bounds
    }

    /// The entry of a value, counted from the first of these.
    pub fn entry_of(&self, value: usize) -> usize {
        self.bounds().partition_point(|&start| start <= value).saturating_sub(1)
    }
}

/// An offset of a list as a place in memory.
pub(crate) fn place(offset: i64) -> usize {
    usize::try_from(offset).unwrap_or(0)
}

/// Offsets of lists with these lengths.
pub(crate) fn offsets(lengths: impl Iterator<Item = usize>) -> OffsetBuffer<i64> {
    OffsetBuffer::from_lengths(lengths)
}

/// The items at some places: lists of the first of these levels, or values where there is none. An absent place gives an empty list, or
/// no value.
pub(crate) fn gather(levels: &[OffsetBuffer<i64>], leaf: &ArrayRef, places: &[Option<u64>]) -> Values {
    let Some((first, rest)) = levels.split_first() else {
        let places: UInt64Array = places.iter().copied().collect();
        // Places are those of items that exist.
        let leaf = take(leaf.as_ref(), &places, None).unwrap_or_else(|_| leaf.slice(0, 0));
        return Values::flat(leaf);
    };
    let range = |at: &Option<u64>| {
        let at = usize::try_from((*at)?).ok()?;
        Some(u64::try_from(*first.get(at)?).ok()?..u64::try_from(*first.get(at + 1)?).ok()?)
    };
    let ranges: Vec<_> = places.iter().map(|at| range(at).unwrap_or(0..0)).collect();
    let lengths = ranges.iter().map(|range| usize::try_from(range.end - range.start).unwrap_or(0));
    let level = offsets(lengths);
    let below: Vec<_> = ranges.into_iter().flatten().map(Some).collect();
    let mut found = gather(rest, leaf, &below);
    found.levels.insert(0, level);
    found
}
