//! Entries that lie scattered in a basket, as values: their numbers or bytes are brought together first and decoded
//! as if they were neighbours. `entries` decodes what is neighbours; which entries those are is its caller's.

use rootfile::{Error, Result};

use super::column::{Column, Offsets, Words};
use super::entries::{beyond, ragged};
use super::machine::Machine;
use super::op::Op;
use crate::tree::basket::{BasketData, Entries};

/// Bytes that are copied at once. Most entries have no more, so that which of them do is easily foreseen.
const BLOCK: usize = 64;

/// Some entries of a basket, in ascending order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen<'a> {
    /// By their numbers in the tree.
    numbers: &'a [u64],
    /// The number of the basket's first entry.
    first: u64,
    count: usize,
}

impl<'a> Chosen<'a> {
    /// Those of these numbers, which the basket must have.
    pub(super) fn new(basket: &BasketData, first: u64, numbers: &'a [u64]) -> Result<Self> {
        let count = basket.count as usize;
        let has = |number: Option<&u64>| number.is_none_or(|n| (first..first + u64::from(basket.count)).contains(n));
        if has(numbers.first()) && has(numbers.last()) {
            Ok(Self { numbers, first, count })
        } else {
            Err(Error::request("entries that the basket does not have"))
        }
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Their places in the basket; no place is more than one behind its end, whatever the numbers are.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> + Clone + use<'a> {
        let place = move |&number: &u64| usize::try_from(number.wrapping_sub(self.first)).unwrap_or(usize::MAX);
        self.numbers.iter().map(move |number| place(number).min(self.count))
    }
}

/// Entries of one length, each one value.
pub(super) fn fixed(op: &Op, column: &mut Column, basket: &BasketData, chosen: Chosen<'_>) -> Result<()> {
    let size = op.fixed_size().unwrap_or(0);
    if let (Op::Number(_), Column::Numbers(_, words)) = (op, &mut *column)
        && basket.entries == Entries::Fixed(u32::try_from(size).unwrap_or(u32::MAX))
    {
        return if words.extend_picked(&basket.data, chosen.iter()) { Ok(()) } else { Err(beyond(basket)) };
    }
    let picked = Picked::of(basket, chosen)?;
    if Some(picked.bytes.len()) != size.checked_mul(chosen.len()) {
        let (n, len) = (chosen.len(), picked.bytes.len());
        return Err(Error::corrupt(format!("{n} entries in {len} bytes, where each takes {size}")));
    }
    Machine::new(&picked.bytes, &[], 0).read(op, chosen.len(), column)
}

/// Entries that are lists of values of one length.
pub(super) fn items(
    op: &Op,
    offsets: &mut Offsets,
    items: &mut Column,
    basket: &BasketData,
    chosen: Chosen<'_>,
) -> Result<()> {
    let size = op.fixed_size().filter(|size| *size > 0);
    let size = size.ok_or_else(|| Error::unsupported("items of varying length"))?;
    let long = basket.data.len() / BLOCK > basket.count as usize;
    let ends = match (op, &mut *items) {
        (Op::Number(_), Column::Numbers(_, words)) if long => {
            joined(basket, chosen, words).ok_or_else(|| beyond(basket))?
        }
        _ => {
            let Picked { bytes, ends } = Picked::of(basket, chosen)?;
            Machine::new(&bytes, &[], 0).read(op, bytes.len() / size, items)?;
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

/// Reads long entries from where they are, neighbours in one go. Gives where each ends.
fn joined(basket: &BasketData, chosen: Chosen<'_>, words: &mut Words) -> Option<Vec<u32>> {
    let mut ends = Vec::with_capacity(chosen.len());
    let (mut run, mut before) = (0..0, 0);
    for entry in chosen.iter() {
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
    fn of(basket: &BasketData, chosen: Chosen<'_>) -> Result<Self> {
        let picked = match &basket.entries {
            Entries::Offsets(bounds) => {
                let bounds = |entry: usize| bounds.get(entry..).and_then(|rest| rest.first_chunk().copied());
                Self::bounded(&basket.data, chosen, bounds)
            }
            Entries::Fixed(len) => Self::bounded(&basket.data, chosen, |entry| {
                let start = u32::try_from(entry).ok()?.checked_mul(*len)?;
                Some([start, start.checked_add(*len)?])
            }),
            Entries::Generated => None,
        };
        picked.ok_or_else(|| beyond(basket))
    }

    fn bounded(data: &[u8], chosen: Chosen<'_>, bounds: impl Fn(usize) -> Option<[u32; 2]>) -> Option<Self> {
        // Entries that follow each other have no more bytes than their basket.
        let mut bytes = vec![0; data.len() + BLOCK];
        let mut ends = Vec::with_capacity(chosen.len());
        let mut at = 0;
        for entry in chosen.iter() {
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

/// Copies what is no block. Not where blocks are copied: the compiler would make one copy of any length of both.
#[inline(never)]
fn copy(from: &[u8], to: &mut [u8], len: usize) -> Option<()> {
    to.get_mut(..len)?.copy_from_slice(from.get(..len)?);
    Some(())
}
