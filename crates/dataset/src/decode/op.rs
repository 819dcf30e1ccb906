//! Steps that read values: how the values of a [`Shape`](super::types::Shape) lie in bytes, and the machine that
//! reads them into a [`Column`]. Each step reads any number of values that follow each other, so that numbers
//! are taken in one go.

use rootfile::bytes::Cursor;
use rootfile::{Error, Result};

use super::column::Column;
use super::types::Number;

/// How values lie in bytes.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Big-endian numbers, as they are in the column.
    Number(Number),
    /// A `TString`: a byte that says how long, or 255 and four bytes, then the characters.
    Text,
    /// So many of the same.
    Fixed(usize, Box<Op>),
    /// As many of the same as a counter says, with a byte before them or not (`T*` members have it).
    Counted { counter: usize, flag: bool, item: Box<Op> },
    /// Parts of a record, one after the other.
    Record(Vec<Op>),
}

/// What a read needs besides bytes.
pub(crate) struct Machine<'a> {
    /// The bytes.
    pub cursor: Cursor<'a>,
    /// The values of each counter for the values that are read.
    pub counters: Vec<Vec<u64>>,
}

impl Op {
    /// Bytes of one value, if all have the same.
    pub(crate) fn fixed_size(&self) -> Option<usize> {
        match self {
            Self::Number(number) => Some(number.size()),
            Self::Fixed(n, item) => item.fixed_size()?.checked_mul(*n),
            Self::Record(parts) => parts.iter().try_fold(0usize, |sum, part| sum.checked_add(part.fixed_size()?)),
            Self::Text | Self::Counted { .. } => None,
        }
    }
}

impl Machine<'_> {
    /// Reads `n` values.
    pub(crate) fn read(&mut self, op: &Op, n: usize, column: &mut Column) -> Result<()> {
        match (op, column) {
            (Op::Number(number), Column::Numbers(_, words)) => {
                let len = n.checked_mul(number.size()).ok_or_else(too_many)?;
                words.extend_be(self.cursor.bytes(len)?);
            }
            (Op::Text, Column::Text { offsets, bytes }) => {
                for _ in 0..n {
                    let string = self.cursor.string_bytes()?;
                    bytes.extend_from_slice(string);
                    offsets.push(string.len());
                }
            }
            (Op::Fixed(size, item), Column::Fixed { len, items, .. }) => {
                self.read(item, n.checked_mul(*size).ok_or_else(too_many)?, items)?;
                *len += n;
            }
            (Op::Counted { counter, flag, item }, Column::List { offsets, items, .. }) => {
                for i in 0..n {
                    let count = self.counters.get(*counter).and_then(|c| c.get(i)).copied().unwrap_or(0);
                    let count = if *flag && self.cursor.u8()? == 0 { 0 } else { count };
                    let count = self.cursor.checked_count(i64::try_from(count).unwrap_or(-1), 1)?;
                    self.read(item, count, items)?;
                    offsets.push(count);
                }
            }
            (Op::Record(ops), Column::Record { len, parts, .. }) => {
                for _ in 0..n {
                    for (op, part) in ops.iter().zip(parts.iter_mut()) {
                        self.read(op, 1, part)?;
                    }
                }
                *len += n;
            }
            _ => return Err(Error::unsupported("a plan that does not fit its column")),
        }
        Ok(())
    }
}

#[cold]
fn too_many() -> Error {
    Error::corrupt("more values than there can be")
}
