//! Gives operands the same form: a constant goes with everything, one value of an entry with each item of its lists, and lists with lists
//! of the same lengths.

use std::borrow::Cow;

use arrow_array::ArrayRef;
use arrow_buffer::OffsetBuffer;

use super::at::At;
use crate::error::Result;
use crate::values::{Values, gather, place};

/// Operands in one form.
pub(crate) struct Aligned<const N: usize> {
    pub levels: Vec<OffsetBuffer<i64>>,
    /// The values of each, which are as many as `len`; one value of a constant.
    pub leaves: [ArrayRef; N],
    pub len: usize,
    /// Whether all are constants.
    pub is_constant: bool,
}

impl<const N: usize> Aligned<N> {
    /// Values in this form.
    pub fn values(self, leaf: ArrayRef) -> Values {
        Values { levels: self.levels, leaf, is_constant: self.is_constant }
    }

    /// The entry of a value, counted from the first.
    pub fn entry_of(&self, value: usize) -> usize {
        Values { levels: self.levels.clone(), leaf: self.leaves[0].clone(), is_constant: false }.entry_of(value)
    }
}

/// Gives operands one form.
pub(crate) fn align<const N: usize>(operands: [&Values; N], at: &At<'_>) -> Result<Aligned<N>> {
    let deepest = operands.iter().filter(|one| !one.is_constant).max_by_key(|one| one.levels.len());
    let Some(deepest) = deepest else {
        let leaves = operands.map(|one| one.leaf.clone());
        return Ok(Aligned { levels: Vec::new(), leaves, len: 1, is_constant: true });
    };
    let mut made = Vec::with_capacity(N);
    for one in operands {
        made.push(if one.is_constant { Cow::Borrowed(&one.leaf) } else { expanded(one, deepest, at)? });
    }
    let mut made = made.into_iter().map(Cow::into_owned);
    let len = deepest.leaf.len();
    let leaves = std::array::from_fn(|_| made.next().unwrap_or_else(|| deepest.leaf.clone()));
    Ok(Aligned { levels: deepest.levels.clone(), leaves, len, is_constant: false })
}

/// The values of one operand in the lists of another.
fn expanded<'v>(one: &'v Values, form: &Values, at: &At<'_>) -> Result<Cow<'v, ArrayRef>> {
    for (depth, (own, other)) in one.levels.iter().zip(&form.levels).enumerate() {
        if !own.inner().ptr_eq(other.inner()) && own != other {
            return Err(unlike(one, form, depth, at));
        }
    }
    let Some(missing) = form.levels.get(one.levels.len()..).filter(|missing| !missing.is_empty()) else {
        return Ok(Cow::Borrowed(&one.leaf));
    };
    let below = Values { levels: missing.to_vec(), leaf: form.leaf.clone(), is_constant: false };
    let bounds = below.bounds();
    let counts = bounds.windows(2).map(|pair| pair[1] - pair[0]);
    let places: Vec<_> = counts.zip(0..).flat_map(|(count, value)| std::iter::repeat_n(Some(value), count)).collect();
    Ok(Cow::Owned(gather(&[], &one.leaf, &places).leaf))
}

#[cold]
fn unlike(one: &Values, form: &Values, depth: usize, at: &At<'_>) -> crate::error::Error {
    let (own, other) = (one.levels.get(depth), form.levels.get(depth));
    let lengths =
        own.into_iter().flat_map(|level| level.lengths()).zip(other.into_iter().flat_map(|level| level.lengths()));
    let (list, (a, b)) = lengths.enumerate().find(|(_, (a, b))| a != b).unwrap_or_default();
    // Above this level both have the same lists.
    let above = Values {
        levels: form.levels.get(..depth).unwrap_or_default().to_vec(),
        leaf: form.leaf.clone(),
        is_constant: false,
    };
    let entry = if depth == 0 { list } else { above.entry_of(list) };
    at.error(entry, &format!("lists of different lengths, {a} and {b}, are joined"))
}

/// An operand's values by place; a constant has one for all places.
#[derive(Clone, Copy)]
pub(crate) enum Operand<'a, T> {
    One(T),
    Many(&'a [T]),
}

impl<'a, T: Copy + Default> Operand<'a, T> {
    pub fn new(values: &'a [T], len: usize) -> Self {
        match values {
            [one] if len != 1 => Self::One(*one),
            many => Self::Many(many),
        }
    }

    pub fn get(self, at: usize) -> T {
        match self {
            Self::One(one) => one,
            Self::Many(many) => many.get(at).copied().unwrap_or_default(),
        }
    }
}

/// The offset of an item of a level.
pub(crate) fn bound(level: &OffsetBuffer<i64>, at: usize) -> usize {
    level.get(at).map_or(0, |&offset| place(offset))
}
