//! The growing buffers of a column, and their conversion to an Arrow array. Knows nothing of files.

use std::sync::Arc;

use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, LargeBinaryArray, LargeListArray, LargeStringArray,
    PrimitiveArray, StructArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use rootfile::{Error, Result};

use super::value::Value;
use crate::decode::program::types::{Number, Shape};

/// Values of one width, as bits.
#[derive(Debug)]
pub(crate) enum Words {
    W1(Vec<u8>),
    W2(Vec<u16>),
    W4(Vec<u32>),
    W8(Vec<u64>),
}

/// The offsets of lists or strings among their items.
#[derive(Debug)]
pub(crate) struct Offsets(Vec<i64>);

/// A column that is being filled.
#[derive(Debug)]
pub(crate) enum Column {
    Numbers(Number, Words),
    Text { offsets: Offsets, bytes: Vec<u8> },
    Bytes { offsets: Offsets, bytes: Vec<u8> },
    Fixed { size: usize, len: usize, items: Box<Column>, shape: Shape },
    List { offsets: Offsets, items: Box<Column>, shape: Shape },
    Record { len: usize, parts: Vec<Column>, names: Vec<(String, Shape)> },
    Optional { valid: Vec<bool>, value: Box<Column> },
}

/// Most bytes that are allocated on a hint; more are allocated as values come.
const MOST_HINTED: usize = 256 << 20;
/// Most numbers in one default value.
const MOST_ZEROS: usize = 1 << 16;

impl Words {
    fn new(size: usize, capacity: usize) -> Self {
        let capacity = capacity.min(MOST_HINTED / size.max(1));
        match size {
            1 => Self::W1(Vec::with_capacity(capacity)),
            2 => Self::W2(Vec::with_capacity(capacity)),
            4 => Self::W4(Vec::with_capacity(capacity)),
            _ => Self::W8(Vec::with_capacity(capacity)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::W1(v) => v.len(),
            Self::W2(v) => v.len(),
            Self::W4(v) => v.len(),
            Self::W8(v) => v.len(),
        }
    }

    /// Appends big-endian values.
    #[inline]
    pub(in crate::decode) fn extend_be(&mut self, bytes: &[u8]) {
        match self {
            Self::W1(v) => v.extend_from_slice(bytes),
            Self::W2(v) => v.extend(bytes.as_chunks::<2>().0.iter().map(|b| u16::from_be_bytes(*b))),
            Self::W4(v) => v.extend(bytes.as_chunks::<4>().0.iter().map(|b| u32::from_be_bytes(*b))),
            Self::W8(v) => v.extend(bytes.as_chunks::<8>().0.iter().map(|b| u64::from_be_bytes(*b))),
        }
    }

    /// Appends one big-endian value.
    #[inline]
    pub(in crate::decode) fn push_be(&mut self, bytes: &[u8]) {
        match self {
            Self::W1(v) => v.extend(bytes.first()),
            Self::W2(v) => v.extend(bytes.first_chunk::<2>().map(|b| u16::from_be_bytes(*b))),
            Self::W4(v) => v.extend(bytes.first_chunk::<4>().map(|b| u32::from_be_bytes(*b))),
            Self::W8(v) => v.extend(bytes.first_chunk::<8>().map(|b| u64::from_be_bytes(*b))),
        }
    }

    /// Appends one value, converted as C++ does: to whole numbers by cutting.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "as C++")]
    pub(in crate::decode) fn push_number(&mut self, number: Number, value: Value) {
        let integer = || match value {
            Value::Int(i) => i,
            Value::Float(f) => f as i128,
        };
        let float = || match value {
            Value::Int(i) => i as f64,
            Value::Float(f) => f,
        };
        match (self, number) {
            (Self::W1(v), Number::Bool) => v.push(u8::from(float() != 0.0)),
            (Self::W1(v), _) => v.push(integer() as u8),
            (Self::W2(v), _) => v.push(integer() as u16),
            (Self::W4(v), Number::F32) => v.push((float() as f32).to_bits()),
            (Self::W4(v), _) => v.push(integer() as u32),
            (Self::W8(v), Number::F64) => v.push(float().to_bits()),
            (Self::W8(v), _) => v.push(integer() as u64),
        }
    }

    /// Appends `n` big-endian values that lie `stride` bytes apart, the first of them at `at`.
    pub(in crate::decode) fn extend_strided(&mut self, bytes: &[u8], n: usize, at: usize, stride: usize) {
        fn pick<const N: usize>(bytes: &[u8], n: usize, at: usize, stride: usize) -> impl Iterator<Item = [u8; N]> {
            let value = move |i| bytes.get(at + i * stride..).and_then(|rest| rest.first_chunk::<N>());
            (0..n).map(move |i| value(i).copied().unwrap_or([0; N]))
        }
        match self {
            Self::W1(v) => v.extend(pick(bytes, n, at, stride).map(u8::from_be_bytes)),
            Self::W2(v) => v.extend(pick(bytes, n, at, stride).map(u16::from_be_bytes)),
            Self::W4(v) => v.extend(pick(bytes, n, at, stride).map(u32::from_be_bytes)),
            Self::W8(v) => v.extend(pick(bytes, n, at, stride).map(u64::from_be_bytes)),
        }
    }

    /// Appends the big-endian values at these indices. Returns false if some are out of range.
    pub(in crate::decode) fn extend_picked(&mut self, bytes: &[u8], places: impl Iterator<Item = usize>) -> bool {
        fn pick<const N: usize>(
            bytes: &[u8],
            places: impl Iterator<Item = usize>,
            all_found: &mut bool,
        ) -> impl Iterator<Item = [u8; N]> {
            let values = bytes.as_chunks::<N>().0;
            places.map(move |i| {
                let value = values.get(i);
                *all_found &= value.is_some();
                value.copied().unwrap_or([0; N])
            })
        }
        let mut all_found = true;
        match self {
            Self::W1(v) => v.extend(pick(bytes, places, &mut all_found).map(u8::from_be_bytes)),
            Self::W2(v) => v.extend(pick(bytes, places, &mut all_found).map(u16::from_be_bytes)),
            Self::W4(v) => v.extend(pick(bytes, places, &mut all_found).map(u32::from_be_bytes)),
            Self::W8(v) => v.extend(pick(bytes, places, &mut all_found).map(u64::from_be_bytes)),
        }
        all_found
    }

    fn extend_zero(&mut self, n: usize) {
        match self {
            Self::W1(v) => v.resize(v.len() + n, 0),
            Self::W2(v) => v.resize(v.len() + n, 0),
            Self::W4(v) => v.resize(v.len() + n, 0),
            Self::W8(v) => v.resize(v.len() + n, 0),
        }
    }

    fn into_buffer(self) -> Buffer {
        match self {
            Self::W1(v) => Buffer::from_vec(v),
            Self::W2(v) => Buffer::from_vec(v),
            Self::W4(v) => Buffer::from_vec(v),
            Self::W8(v) => Buffer::from_vec(v),
        }
    }
}

impl Offsets {
    fn new(capacity: usize) -> Self {
        let mut offsets = Vec::with_capacity(capacity.saturating_add(1).min(MOST_HINTED / 8));
        offsets.push(0);
        Self(offsets)
    }

    /// Ends a list of `n` items.
    #[inline]
    pub(in crate::decode) fn push(&mut self, n: usize) {
        let last = self.0.last().copied().unwrap_or(0);
        self.0.push(last.saturating_add(i64::try_from(n).unwrap_or(i64::MAX)));
    }

    /// Ends a list for each of these ends, which count from where the last list ended. Inlined: callers collect errors
    /// inside the iterator, which out of line would go through memory for each end.
    #[inline(always)]
    pub(in crate::decode) fn extend_ends(&mut self, ends: impl Iterator<Item = i64>) {
        let last = self.0.last().copied().unwrap_or(0);
        self.0.extend(ends.map(|end| last + end));
    }

    fn len(&self) -> usize {
        self.0.len() - 1
    }

    fn finish(self) -> OffsetBuffer<i64> {
        OffsetBuffer::new(ScalarBuffer::from(self.0))
    }
}

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
        }
    }

    /// Number of values.
    pub(in crate::decode) fn len(&self) -> usize {
        match self {
            Self::Numbers(_, words) => words.len(),
            Self::Text { offsets, .. } | Self::Bytes { offsets, .. } | Self::List { offsets, .. } => offsets.len(),
            Self::Fixed { len, .. } | Self::Record { len, .. } => *len,
            Self::Optional { valid, .. } => valid.len(),
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
            Self::Text { .. } | Self::Bytes { .. } | Self::List { .. } | Self::Optional { .. } => None,
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
            Self::Text { .. } | Self::Bytes { .. } | Self::List { .. } | Self::Optional { .. } => {}
        }
    }

    /// The least count of numbers in one value.
    fn width(&self) -> usize {
        match self {
            Self::Numbers(..) => 1,
            Self::Text { .. } | Self::Bytes { .. } | Self::List { .. } => 1,
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

    fn push_zeros(&mut self, n: usize) {
        match self {
            Self::Numbers(_, words) => words.extend_zero(n),
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
        }
    }

    /// The Arrow array.
    pub(crate) fn finish(self) -> Result<ArrayRef> {
        self.finish_with(None)
    }

    fn finish_with(self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        Ok(match self {
            Self::Numbers(number, words) => numbers(number, words, nulls),
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
        })
    }
}

#[cold]
fn wrong(e: &arrow_schema::ArrowError) -> Error {
    Error::corrupt(format!("decoded values do not make a column: {e}"))
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
