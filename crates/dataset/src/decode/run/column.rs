//! The growing buffers of a column, and their conversion to an Arrow array. Knows nothing of files.

use std::sync::Arc;

use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, LargeBinaryArray, LargeListArray, LargeStringArray,
    NullArray, PrimitiveArray, StructArray, UnionArray,
};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use rootfile::{Error, Result};

use super::words::{MOST_HINTED, Offsets, Words};
use crate::decode::program::types::{Number, Shape};

/// A column that is being filled.
#[derive(Debug)]
pub(crate) enum Column {
    Numbers(Number, Words),
    /// Booleans of which eight share a byte.
    Bits(BooleanBufferBuilder),
    Text {
        offsets: Offsets,
        bytes: Vec<u8>,
    },
    Bytes {
        offsets: Offsets,
        bytes: Vec<u8>,
    },
    Fixed {
        size: usize,
        len: usize,
        items: Box<Column>,
        shape: Shape,
    },
    List {
        offsets: Offsets,
        items: Box<Column>,
        shape: Shape,
    },
    Record {
        len: usize,
        parts: Vec<Column>,
        names: Vec<(String, Shape)>,
    },
    Optional {
        valid: Vec<bool>,
        value: Box<Column>,
    },
    /// For each value its part, counted from 1, or 0 if it has none, and its number among the values of that part.
    Variant {
        tags: Vec<i8>,
        offsets: Vec<i32>,
        parts: Vec<Column>,
        names: Vec<(String, Shape)>,
    },
}

/// Most numbers in one default value.
const MOST_ZEROS: usize = 1 << 16;

impl Column {
    /// An empty column with room for `capacity` values.
    pub(crate) fn new(shape: &Shape, capacity: usize) -> Self {
        match shape {
            Shape::Number(number) => Self::Numbers(*number, Words::new(number.size(), capacity)),
            Shape::Text => Self::Text { offsets: Offsets::new(capacity), bytes: Vec::new() },
            Shape::Bytes => Self::Bytes { offsets: Offsets::new(capacity), bytes: Vec::new() },
            Shape::Fixed(size, inner) => Self::Fixed {
                size: *size,
                len: 0,
                items: Box::new(Self::new(inner, capacity.saturating_mul(*size))),
                shape: (**inner).clone(),
            },
            Shape::List(inner) => Self::List {
                offsets: Offsets::new(capacity),
                items: Box::new(Self::new(inner, 0)),
                shape: (**inner).clone(),
            },
            Shape::Record(parts) => Self::Record {
                len: 0,
                parts: parts.iter().map(|(_, shape)| Self::new(shape, capacity)).collect(),
                names: parts.clone(),
            },
            Shape::Optional(inner) => Self::Optional {
                valid: Vec::with_capacity(capacity.min(MOST_HINTED)),
                value: Box::new(Self::new(inner, capacity)),
            },
            Shape::Variant(parts) => Self::Variant {
                tags: Vec::with_capacity(capacity.min(MOST_HINTED)),
                offsets: Vec::with_capacity(capacity.min(MOST_HINTED / 4)),
                parts: parts.iter().map(|(_, shape)| Self::new(shape, 0)).collect(),
                names: parts.clone(),
            },
        }
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Numbers(_, words) => words.len(),
            Self::Bits(bits) => bits.len(),
            Self::Text { offsets, .. } | Self::Bytes { offsets, .. } | Self::List { offsets, .. } => offsets.len(),
            Self::Fixed { len, .. } | Self::Record { len, .. } => *len,
            Self::Optional { valid, .. } => valid.len(),
            Self::Variant { tags, .. } => tags.len(),
        }
    }

    /// Reserves memory for `bytes` bytes of entries, if they are lists of items of equal size.
    pub(in crate::decode) fn reserve_bytes(&mut self, bytes: usize) {
        if let Self::List { items, .. } = self
            && let Some(each) = items.size().filter(|size| *size > 0)
        {
            items.reserve(bytes.min(MOST_HINTED) / each);
        }
    }

    /// Bytes of a value, if all have the same.
    fn size(&self) -> Option<usize> {
        match self {
            Self::Numbers(number, _) => Some(number.size()),
            Self::Fixed { size, items, .. } => items.size()?.checked_mul(*size),
            Self::Record { parts, .. } => parts.iter().try_fold(0usize, |sum, part| sum.checked_add(part.size()?)),
            Self::Bits(_) | Self::Text { .. } | Self::Bytes { .. } | Self::List { .. } => None,
            Self::Optional { .. } | Self::Variant { .. } => None,
        }
    }

    /// Reserves memory for `n` more values of fixed size.
    pub(in crate::decode) fn reserve(&mut self, n: usize) {
        match self {
            Self::Numbers(_, Words::W1(v)) => v.reserve(n),
            Self::Numbers(_, Words::W2(v)) => v.reserve(n),
            Self::Numbers(_, Words::W4(v)) => v.reserve(n),
            Self::Numbers(_, Words::W8(v)) => v.reserve(n),
            Self::Fixed { size, items, .. } => items.reserve(n.saturating_mul(*size)),
            Self::Record { parts, .. } => parts.iter_mut().for_each(|part| part.reserve(n)),
            Self::Bits(_) | Self::Text { .. } | Self::Bytes { .. } | Self::List { .. } => {}
            Self::Optional { .. } | Self::Variant { .. } => {}
        }
    }

    /// The least count of numbers in one value.
    pub(in crate::decode) fn width(&self) -> usize {
        match self {
            Self::Numbers(..) | Self::Bits(_) => 1,
            Self::Text { .. } | Self::Bytes { .. } | Self::List { .. } | Self::Variant { .. } => 1,
            Self::Fixed { size, items, .. } => items.width().saturating_mul(*size),
            Self::Record { parts, .. } => parts.iter().fold(0, |sum, part| part.width().saturating_add(sum)),
            Self::Optional { value, .. } => value.width(),
        }
    }

    /// Appends `n` values that are zero or empty.
    pub(crate) fn push_default(&mut self, n: usize) -> Result<()> {
        if self.width() > MOST_ZEROS {
            return Err(Error::unsupported("default values of large arrays"));
        }
        self.push_zeros(n);
        Ok(())
    }

    pub(super) fn push_zeros(&mut self, n: usize) {
        match self {
            Self::Numbers(_, words) => words.extend_zero(n),
            Self::Bits(bits) => bits.append_n(n, false),
            Self::Text { offsets, .. } | Self::Bytes { offsets, .. } | Self::List { offsets, .. } => {
                (0..n).for_each(|_| offsets.push(0));
            }
            Self::Fixed { size, len, items, .. } => {
                *len += n;
                items.push_zeros(n.saturating_mul(*size));
            }
            Self::Record { len, parts, .. } => {
                *len += n;
                parts.iter_mut().for_each(|part| part.push_zeros(n));
            }
            Self::Optional { valid, value } => {
                valid.resize(valid.len() + n, false);
                value.push_zeros(n);
            }
            Self::Variant { tags, offsets, .. } => {
                tags.resize(tags.len() + n, 0);
                offsets.resize(offsets.len() + n, 0);
            }
        }
    }

    /// The Arrow array.
    pub(crate) fn finish(self) -> Result<ArrayRef> {
        self.finish_with(None)
    }

    fn finish_with(self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        Ok(match self {
            Self::Numbers(number, words) => numbers(number, words, nulls),
            Self::Bits(bits) => Arc::new(BooleanArray::new(bits.build(), nulls)),
            Self::Text { offsets, bytes } => text(offsets.finish(), bytes, nulls)?,
            Self::Bytes { offsets, bytes } => Arc::new(
                LargeBinaryArray::try_new(offsets.finish(), Buffer::from_vec(bytes), nulls).map_err(|e| wrong(&e))?,
            ),
            Self::Fixed { size, len, items, shape } => {
                let size = i32::try_from(size).map_err(|_| Error::unsupported("an array of more than 2^31 items"))?;
                let items = items.finish()?;
                let array = FixedSizeListArray::try_new_with_length(shape.item(), size, items, nulls, len);
                Arc::new(array.map_err(|e| wrong(&e))?)
            }
            Self::List { offsets, items, shape } => Arc::new(
                LargeListArray::try_new(shape.item(), offsets.finish(), items.finish()?, nulls)
                    .map_err(|e| wrong(&e))?,
            ),
            Self::Record { len, parts, names } => {
                let arrays = parts.into_iter().map(Self::finish).collect::<Result<Vec<_>>>()?;
                let array = StructArray::try_new_with_length(Shape::fields(&names), arrays, nulls, len);
                Arc::new(array.map_err(|e| wrong(&e))?)
            }
            Self::Optional { valid, value } => value.finish_with(Some(NullBuffer::from(valid)))?,
            Self::Variant { tags, offsets, parts, names } => variant(tags, offsets, parts, &names)?,
        })
    }
}

#[cold]
fn wrong(e: &arrow_schema::ArrowError) -> Error {
    Error::corrupt(format!("decoded values do not make a column: {e}"))
}

/// A dense union. Values of no part are those of its first, which is all null.
fn variant(tags: Vec<i8>, mut offsets: Vec<i32>, parts: Vec<Column>, names: &[(String, Shape)]) -> Result<ArrayRef> {
    let nulls =
        offsets.iter_mut().zip(&tags).filter(|(_, tag)| **tag == 0).zip(0..).map(|((to, _), i)| *to = i).count();
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(NullArray::new(nulls))];
    for part in parts {
        arrays.push(part.finish()?);
    }
    let (tags, offsets) = (ScalarBuffer::from(tags), Some(ScalarBuffer::from(offsets)));
    let array = UnionArray::try_new(Shape::alternatives(names), tags, offsets, arrays);
    Ok(Arc::new(array.map_err(|e| wrong(&e))?))
}

fn numbers(number: Number, words: Words, nulls: Option<NullBuffer>) -> ArrayRef {
    fn primitive<T: ArrowPrimitiveType>(words: Words, nulls: Option<NullBuffer>) -> ArrayRef {
        let len = words.len();
        Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::new(words.into_buffer(), 0, len), nulls))
    }
    match (number, words) {
        // Any byte but 0 is true, since writers copy bytes from memory.
        (Number::Bool, Words::W1(bytes)) => {
            Arc::new(BooleanArray::new(BooleanBuffer::new(bits(&bytes), 0, bytes.len()), nulls))
        }
        (Number::I8, words) => primitive::<Int8Type>(words, nulls),
        (Number::U8 | Number::Bool, words) => primitive::<UInt8Type>(words, nulls),
        (Number::I16, words) => primitive::<Int16Type>(words, nulls),
        (Number::U16, words) => primitive::<UInt16Type>(words, nulls),
        (Number::I32, words) => primitive::<Int32Type>(words, nulls),
        (Number::U32, words) => primitive::<UInt32Type>(words, nulls),
        (Number::I64, words) => primitive::<Int64Type>(words, nulls),
        (Number::U64, words) => primitive::<UInt64Type>(words, nulls),
        (Number::F32, words) => primitive::<Float32Type>(words, nulls),
        (Number::F64, words) => primitive::<Float64Type>(words, nulls),
    }
}

/// A bit for each byte, set if the byte is not 0. Eight bytes at a time.
fn bits(bytes: &[u8]) -> Buffer {
    const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    // Moves the lowest bit of byte `i` to bit `56 + i`.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (eights, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let pack = |eight: &[u8; 8]| {
        let word = u64::from_le_bytes(*eight);
        // The highest bit of each byte that is not 0.
        let set = (((word & LOW) + LOW) | word) & !LOW;
        let [.., packed] = (set >> 7).wrapping_mul(GATHER).to_le_bytes();
        packed
    };
    let last = (!rest.is_empty()).then(|| pack(&last));
    Buffer::from_vec(eights.iter().map(pack).chain(last).collect::<Vec<u8>>())
}

/// Strings. Each string that is not UTF-8 is read as Latin-1.
fn text(offsets: OffsetBuffer<i64>, bytes: Vec<u8>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let strings = |offsets: OffsetBuffer<i64>, bytes: Vec<u8>, nulls| {
        LargeStringArray::try_new(offsets, Buffer::from_vec(bytes), nulls).map_err(|e| wrong(&e))
    };
    if bytes.is_ascii() {
        return Ok(Arc::new(strings(offsets, bytes, nulls)?));
    }
    let mut ends = Offsets::new(offsets.len());
    let mut decoded = Vec::with_capacity(bytes.len() + bytes.len() / 8);
    for pair in offsets.windows(2) {
        let range =
            pair.first().zip(pair.last()).and_then(|(a, b)| Some(usize::try_from(*a).ok()?..usize::try_from(*b).ok()?));
        let string = range.and_then(|r| bytes.get(r)).unwrap_or_default();
        let start = decoded.len();
        if std::str::from_utf8(string).is_ok() {
            decoded.extend_from_slice(string);
        } else {
            let mut utf8 = [0; 2];
            string.iter().for_each(|&b| decoded.extend_from_slice(char::from(b).encode_utf8(&mut utf8).as_bytes()));
        }
        ends.push(decoded.len() - start);
    }
    Ok(Arc::new(strings(ends.finish(), decoded, nulls)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_for_each_byte_that_is_not_zero() {
        for len in [0, 1, 7, 8, 9, 64, 100] {
            let bytes: Vec<u8> = (0..len).map(|i| if i % 3 == 0 { 0 } else { (i * 37 % 255 + 1) as u8 }).collect();
            let packed = BooleanBuffer::new(bits(&bytes), 0, len);
            assert_eq!(packed, BooleanBuffer::collect_bool(len, |i| bytes[i] != 0), "{len}");
        }
    }
}
