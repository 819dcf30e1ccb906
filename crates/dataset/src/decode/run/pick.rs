//! Decodes scattered entries of a basket: gathers their bytes and decodes these as consecutive entries. The caller selects
//! the entries.

use rootfile::{Error, Result};

use super::column::Column;
use super::entries::{beyond, ragged};
use super::interpreter::Interpreter;
use super::words::{Offsets, Words};
use crate::decode::program::op::Op;
use crate::tree::basket::{BasketData, Entries};

/// Bytes that are copied at once. Most entries have no more, so that the branch is well predicted.
const BLOCK: usize = 64;

/// Some entries of a basket, in ascending order.
#[derive(Clone, Copy, Debug)]
pub(in crate::decode) struct SelectedEntries<'a> {
    /// By their numbers in the tree.
    numbers: &'a [u64],
    /// The number of the basket's first entry.
    first: u64,
    count: usize,
}

impl<'a> SelectedEntries<'a> {
    /// The entries with these numbers. The basket must have the first and the last.
    pub(in crate::decode) fn new(basket: &BasketData, first: u64, numbers: &'a [u64]) -> Result<Self> {
        let count = basket.count as usize;
        let has = |number: Option<&u64>| number.is_none_or(|n| (first..first + u64::from(basket.count)).contains(n));
        if has(numbers.first()) && has(numbers.last()) {
            Ok(Self { numbers, first, count })
        } else {
            Err(Error::request("entries that the basket does not have"))
        }
    }

    pub(in crate::decode) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Their positions in the basket, at most the number of its entries.
    pub(in crate::decode) fn iter(self) -> impl Iterator<Item = usize> + Clone + use<'a> {
        let place = move |&number: &u64| usize::try_from(number.wrapping_sub(self.first)).unwrap_or(usize::MAX);
        self.numbers.iter().map(move |number| place(number).min(self.count))
    }
}

/// Entries of equal length, each one value.
pub(in crate::decode) fn fixed(
    op: &Op,
    column: &mut Column,
    basket: &BasketData,
    selected: SelectedEntries<'_>,
) -> Result<()> {
    let size = op.fixed_size().unwrap_or(0);
    if let (Op::Number(_), Column::Numbers(_, words)) = (op, &mut *column)
        && basket.entries == Entries::Fixed(u32::try_from(size).unwrap_or(u32::MAX))
    {
        return if words.extend_picked(&basket.data, selected.iter()) { Ok(()) } else { Err(beyond(basket)) };
    }
    let picked = Picked::of(basket, selected)?;
    if Some(picked.bytes.len()) != size.checked_mul(selected.len()) {
        let (n, len) = (selected.len(), picked.bytes.len());
        return Err(Error::corrupt(format!("{n} entries in {len} bytes, where each takes {size}")));
    }
    Interpreter::new(&picked.bytes, &[], 0).read(op, selected.len(), column)
}

/// Entries that are lists of values of equal length.
pub(in crate::decode) fn items(
    op: &Op,
    offsets: &mut Offsets,
    items: &mut Column,
    basket: &BasketData,
    selected: SelectedEntries<'_>,
) -> Result<()> {
    let size = op.fixed_size().filter(|size| *size > 0);
    let size = size.ok_or_else(|| Error::unsupported("items of varying length"))?;
    let long = basket.data.len() / BLOCK > basket.count as usize;
    let ends = match (op, &mut *items) {
        (Op::Number(_), Column::Numbers(_, words)) if long => {
            joined(basket, selected, words).ok_or_else(|| beyond(basket))?
        }
        _ => {
            let Picked { bytes, ends } = Picked::of(basket, selected)?;
            Interpreter::new(&bytes, &[], 0).read(op, bytes.len() / size, items)?;
            ends
        }
    };
    let each = u32::try_from(size).map_err(|_| beyond(basket))?;
    let mut rest = 0;
    // Numbers have sizes that are powers of two: no division for each entry.
    if each.is_power_of_two() {
        let shift = each.trailing_zeros();
        offsets.extend_ends(ends.iter().map(|end| {
            rest |= end & (each - 1);
            i64::from(end >> shift)
        }));
    } else {
        offsets.extend_ends(ends.iter().map(|end| {
            rest |= end % each;
            i64::from(end / each)
        }));
    }
    if rest == 0 { Ok(()) } else { Err(ragged(size)) }
}

/// Reads long entries in place, consecutive ones in one go. Returns where each ends.
fn joined(basket: &BasketData, selected: SelectedEntries<'_>, words: &mut Words) -> Option<Vec<u32>> {
    let mut ends = Vec::with_capacity(selected.len());
    let (mut run, mut before) = (0..0, 0);
    for entry in selected.iter() {
        let range = basket.range(entry)?;
        if range.start != run.end {
            words.extend_be(basket.data.get(run.clone())?);
            before += run.len();
            run.start = range.start;
        }
        run.end = range.end;
        ends.push(u32::try_from(before + run.len()).ok()?);
    }
    words.extend_be(basket.data.get(run)?);
    Some(ends)
}

/// The bytes of entries, one after the other, and where each ends among them.
struct Picked {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Picked {
    fn of(basket: &BasketData, selected: SelectedEntries<'_>) -> Result<Self> {
        let picked = match &basket.entries {
            Entries::Offsets(bounds) => {
                let bounds = |entry: usize| bounds.get(entry..).and_then(|rest| rest.first_chunk().copied());
                Self::bounded(&basket.data, selected, bounds)
            }
            Entries::Fixed(len) => Self::bounded(&basket.data, selected, |entry| {
                let start = u32::try_from(entry).ok()?.checked_mul(*len)?;
                Some([start, start.checked_add(*len)?])
            }),
            Entries::Generated => None,
        };
        picked.ok_or_else(|| beyond(basket))
    }

    fn bounded(data: &[u8], selected: SelectedEntries<'_>, bounds: impl Fn(usize) -> Option<[u32; 2]>) -> Option<Self> {
        // Entries that follow each other have no more bytes than their basket.
        let mut bytes = vec![0; data.len() + BLOCK];
        let mut ends = Vec::with_capacity(selected.len());
        let mut at = 0;
        for entry in selected.iter() {
            let [start, end] = bounds(entry)?;
            let len = end.checked_sub(start)? as usize;
            let (from, to) = (data.get(start as usize..)?, bytes.get_mut(at..)?);
            match (from.first_chunk::<BLOCK>(), to.first_chunk_mut::<BLOCK>()) {
                (Some(from), Some(to)) if len <= BLOCK => *to = *from,
                _ => copy(from, to, len)?,
            }
            at += len;
            ends.push(u32::try_from(at).ok()?);
        }
        bytes.truncate(at);
        Some(Self { bytes, ends })
    }
}

/// Copies any number of bytes. Not inlined: the compiler would merge this copy with that of blocks.
#[inline(never)]
fn copy(from: &[u8], to: &mut [u8], len: usize) -> Option<()> {
    to.get_mut(..len)?.copy_from_slice(from.get(..len)?);
    Some(())
}
