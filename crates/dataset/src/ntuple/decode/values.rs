//! The values of a field while clusters are appended: growing buffers that become the buffers of an Arrow array.

use arrow_buffer::{ArrowNativeType, Buffer};
use rootfile::{Error, Result};

use super::node::Node;
use crate::decode::program::types::{Number, Shape};
use crate::decode::run::column::Column;
use crate::decode::run::words::{Offsets, Words};
use crate::ntuple::element::{Elements, Kind};

/// Values of one node, of all clusters so far.
#[derive(Debug)]
pub(super) enum Values {
    /// Numbers, in elements of the number's own kind.
    Numbers(Elements),
    /// Text or bytes.
    Bytes {
        ends: Elements,
        bytes: Elements,
    },
    /// Decoded objects.
    Streamed(Column),
    Fixed {
        len: usize,
        items: Box<Values>,
    },
    List {
        ends: Elements,
        items: Box<Values>,
    },
    /// Values without gaps, and which of all values are there.
    Optional {
        valid: Vec<bool>,
        value: Box<Values>,
    },
    Record {
        len: usize,
        parts: Vec<Values>,
    },
    /// For each value its part, counted from 1, or 0; and its number among the values of that part.
    Variant {
        tags: Vec<i8>,
        offsets: Vec<i32>,
        parts: Vec<Values>,
    },
    Nothing {
        len: usize,
    },
}

/// The kind of elements that are numbers of one type.
pub(in crate::ntuple) fn kind_of(number: Number) -> Kind {
    match number {
        Number::Bool => Kind::Bool,
        Number::I8 => Kind::I8,
        Number::U8 => Kind::U8,
        Number::I16 => Kind::I16,
        Number::U16 => Kind::U16,
        Number::I32 => Kind::I32,
        Number::U32 => Kind::U32,
        Number::I64 => Kind::I64,
        Number::U64 => Kind::U64,
        Number::F32 => Kind::F32,
        Number::F64 => Kind::F64,
    }
}

/// No elements of a kind.
pub(in crate::ntuple) fn none_of(kind: Kind) -> Elements {
    Elements::new(kind, kind == Kind::F64)
}

impl Values {
    /// No values of a node.
    pub(super) fn new(node: &Node) -> Self {
        let boxed = |node: &Node| Box::new(Self::new(node));
        match node {
            Node::Number { number, .. } | Node::Lengths { number, .. } => Self::Numbers(none_of(kind_of(*number))),
            Node::Bytes { .. } => Self::Bytes { ends: none_of(Kind::Index), bytes: none_of(Kind::U8) },
            Node::Streamed { program, .. } => Self::Streamed(Column::new(&program.shape, 0)),
            Node::Fixed { item, .. } => Self::Fixed { len: 0, items: boxed(item) },
            Node::List { item, .. } => Self::List { ends: none_of(Kind::Index), items: boxed(item) },
            Node::Optional { item, .. } | Node::Alternative { item, .. } => {
                Self::Optional { valid: Vec::new(), value: boxed(item) }
            }
            Node::Record { parts } => Self::Record { len: 0, parts: parts.iter().map(Self::new).collect() },
            Node::Variant { parts, .. } => {
                Self::Variant { tags: Vec::new(), offsets: Vec::new(), parts: parts.iter().map(Self::new).collect() }
            }
            Node::Nothing => Self::Nothing { len: 0 },
        }
    }

    /// Number of values.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Numbers(elements) => elements.len(),
            Self::Streamed(column) => column.len(),
            Self::Bytes { ends, .. } | Self::List { ends, .. } => ends.len(),
            Self::Fixed { len, .. } | Self::Record { len, .. } | Self::Nothing { len } => *len,
            Self::Optional { valid, .. } => valid.len(),
            Self::Variant { tags, .. } => tags.len(),
        }
    }

    /// Makes room for more values, where their number says how much that is, and for items, as many as the values so far have.
    pub(super) fn reserve(&mut self, values: usize) -> Result<()> {
        match self {
            Self::Numbers(elements) => elements.reserve(values),
            Self::Bytes { ends, bytes } => {
                let items = likely(bytes.len(), ends.len(), values);
                ends.reserve(values)?;
                bytes.reserve(items)
            }
            Self::List { ends, items } => {
                let more = likely(items.len(), ends.len(), values);
                ends.reserve(values)?;
                items.reserve(more)
            }
            Self::Fixed { len, items } => {
                let more = likely(items.len(), *len, values);
                items.reserve(more)
            }
            Self::Record { parts, .. } => parts.iter_mut().try_for_each(|part| part.reserve(values)),
            _ => Ok(()),
        }
    }

    /// Appends other values of the same form.
    pub(super) fn append(&mut self, other: Self) -> Result<()> {
        match (self, other) {
            (Self::Numbers(own), Self::Numbers(other)) => own.append(other),
            (Self::Bytes { ends, bytes }, Self::Bytes { ends: their_ends, bytes: theirs }) => {
                ends.append(their_ends)?;
                bytes.append(theirs)
            }
            (Self::Streamed(own), Self::Streamed(other)) => own.append(other),
            (Self::List { ends, items }, Self::List { ends: their_ends, items: theirs }) => {
                ends.append(their_ends)?;
                items.append(*theirs)
            }
            (Self::Fixed { len, items }, Self::Fixed { len: more, items: theirs }) => {
                add_len(len, more)?;
                items.append(*theirs)
            }
            (Self::Optional { valid, value }, Self::Optional { valid: their_valid, value: theirs }) => {
                valid.extend(their_valid);
                value.append(*theirs)
            }
            (Self::Record { len, parts }, Self::Record { len: more, parts: theirs }) => {
                add_len(len, more)?;
                append_parts(parts, theirs)
            }
            (
                Self::Variant { tags, offsets, parts },
                Self::Variant { tags: their_tags, offsets: their_offsets, parts: theirs },
            ) => {
                for (&tag, offset) in their_tags.iter().zip(their_offsets) {
                    let behind = u64::try_from(offset).map_err(|_| mismatch())?;
                    offsets.push(variant_offset(parts, usize::try_from(tag).unwrap_or(0), behind)?);
                }
                tags.extend(their_tags);
                append_parts(parts, theirs)
            }
            (Self::Nothing { len }, Self::Nothing { len: more }) => {
                add_len(len, more)?;
                check_nothing(*len)
            }
            _ => Err(mismatch()),
        }
    }

    /// The values as a column of a shape, without a copy.
    pub(super) fn into_column(self, shape: &Shape) -> Result<Column> {
        Ok(match (self, shape) {
            (Self::Numbers(Elements::Bool(bits)), Shape::Number(Number::Bool)) => Column::Bits(bits),
            (Self::Numbers(elements), Shape::Number(number)) => Column::Numbers(*number, words(elements)?),
            (Self::Bytes { ends, bytes: Elements::U8(bytes) }, Shape::Text) => {
                Column::Text { offsets: offsets(ends)?, bytes }
            }
            (Self::Bytes { ends, bytes: Elements::U8(bytes) }, Shape::Bytes) => {
                Column::Bytes { offsets: offsets(ends)?, bytes }
            }
            (Self::Streamed(column), _) => column,
            (Self::Fixed { len, items }, Shape::Fixed(size, inner)) => {
                let items = Box::new(items.into_column(inner)?);
                Column::Fixed { size: *size, len, items, shape: (**inner).clone() }
            }
            (Self::List { ends, items }, Shape::List(inner)) => {
                let items = Box::new(items.into_column(inner)?);
                Column::List { offsets: offsets(ends)?, items, shape: (**inner).clone() }
            }
            (Self::Optional { valid, value }, Shape::Optional(inner)) => {
                let mut value = Box::new(value.into_column(inner)?);
                value.spread(0, &valid);
                Column::Optional { valid, value }
            }
            (Self::Record { len, parts }, Shape::Record(names)) => {
                Column::Record { len, parts: into_columns(parts, names)?, names: names.clone() }
            }
            (Self::Variant { tags, offsets, parts }, Shape::Variant(names)) => {
                Column::Variant { tags, offsets, parts: into_columns(parts, names)?, names: names.clone() }
            }
            (Self::Nothing { len }, shape) => {
                let mut column = Column::new(shape, 0);
                column.push_default(len)?;
                column
            }
            _ => return Err(mismatch()),
        })
    }
}

/// How many items more values will likely have, if so many have that number: a little more than on average, so that buffers seldom grow.
fn likely(items: usize, values: usize, more: usize) -> usize {
    const MOST: u128 = 1 << 23;
    let average = (items as u128 * more as u128).checked_div(values as u128).unwrap_or(0);
    usize::try_from((average + average / 16).min(MOST)).unwrap_or(0)
}

fn append_parts(parts: &mut [Values], theirs: Vec<Values>) -> Result<()> {
    if parts.len() != theirs.len() {
        return Err(mismatch());
    }
    parts.iter_mut().zip(theirs).try_for_each(|(part, other)| part.append(other))
}

/// Adds to a number of values.
pub(super) fn add_len(len: &mut usize, more: usize) -> Result<()> {
    // Arrow counts values with a sign.
    let sum = len.checked_add(more).filter(|sum| isize::try_from(*sum).is_ok());
    *len = sum.ok_or_else(too_many)?;
    Ok(())
}

/// The offset of a variant's value, which lies `behind` the values so far of its part. `tag` counts parts from 1; 0 is no value.
pub(super) fn variant_offset(parts: &[Values], tag: usize, behind: u64) -> Result<i32> {
    let part = tag.checked_sub(1).and_then(|part| parts.get(part));
    let base = u64::try_from(part.map_or(0, Values::len)).ok();
    let offset = base.and_then(|base| base.checked_add(behind)).and_then(|offset| i32::try_from(offset).ok());
    offset.ok_or_else(|| Error::unsupported("a variant with more than 2^31 values in one array: read fewer entries"))
}

#[cold]
pub(in crate::ntuple) fn too_many() -> Error {
    Error::corrupt("more values than an array can hold")
}

fn into_columns(parts: Vec<Values>, names: &[(String, Shape)]) -> Result<Vec<Column>> {
    parts.into_iter().zip(names).map(|(part, (_, shape))| part.into_column(shape)).collect()
}

fn offsets(ends: Elements) -> Result<Offsets> {
    match ends {
        Elements::Index(ends) => Ok(Offsets::of_lists(ends.into_offsets())),
        _ => Err(mismatch()),
    }
}

/// Typed values as bits of the same width, in the same memory.
fn words(elements: Elements) -> Result<Words> {
    Ok(match elements {
        Elements::U8(v) => Words::W1(v),
        Elements::I8(v) => Words::W1(as_bits(v)?),
        Elements::U16(v) => Words::W2(v),
        Elements::I16(v) => Words::W2(as_bits(v)?),
        Elements::U32(v) => Words::W4(v),
        Elements::I32(v) => Words::W4(as_bits(v)?),
        Elements::F32(v) => Words::W4(as_bits(v)?),
        Elements::U64(v) => Words::W8(v),
        Elements::I64(v) => Words::W8(as_bits(v)?),
        Elements::F64(v) => Words::W8(as_bits(v)?),
        Elements::Bool(_) | Elements::Index(_) | Elements::Switch(_) => return Err(mismatch()),
    })
}

/// Values as words of the same width. Arrow's buffers change their type without a look at the values.
fn as_bits<T: ArrowNativeType, W: ArrowNativeType>(values: Vec<T>) -> Result<Vec<W>> {
    Buffer::from_vec(values).into_vec().map_err(|_| mismatch())
}

/// Limit on values without stored elements, for a column in a cluster and for a field that cannot be read: a wrong number of entries must
/// not exhaust memory.
pub(in crate::ntuple) const MOST_SYNTHETIC: u64 = 1 << 28;

/// Checks the number of values of a field that cannot be read.
pub(super) fn check_nothing(len: usize) -> Result<()> {
    let few = u64::try_from(len).is_ok_and(|len| len <= MOST_SYNTHETIC);
    if few { Ok(()) } else { Err(Error::unsupported("so many entries of a field that cannot be read")) }
}

/// A node with the values of another one.
#[cold]
pub(in crate::ntuple) fn mismatch() -> Error {
    Error::unsupported("values that do not fit the plan of their field")
}
