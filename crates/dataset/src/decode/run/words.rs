//! Growing buffers of values of one width, and of the offsets of lists. Knows nothing of shapes.

use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};

use super::value::Value;
use crate::decode::program::types::Number;

/// Most bytes that are allocated on a hint; more are allocated as values come.
pub(super) const MOST_HINTED: usize = 256 << 20;

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

impl Words {
    pub(super) fn new(size: usize, capacity: usize) -> Self {
        let capacity = capacity.min(MOST_HINTED / size.max(1));
        match size {
            1 => Self::W1(Vec::with_capacity(capacity)),
            2 => Self::W2(Vec::with_capacity(capacity)),
            4 => Self::W4(Vec::with_capacity(capacity)),
            _ => Self::W8(Vec::with_capacity(capacity)),
        }
    }

    pub(crate) fn len(&self) -> usize {
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

    /// Appends big-endian values slice by slice, while there is another.
    #[inline]
    pub(in crate::decode) fn extend_each_be<'a>(&mut self, mut next: impl FnMut() -> Option<&'a [u8]>) {
        match self {
            Self::W1(v) => {
                while let Some(bytes) = next() {
                    v.extend_from_slice(bytes);
                }
            }
            Self::W2(v) => {
                while let Some(bytes) = next() {
                    v.extend(bytes.as_chunks::<2>().0.iter().map(|b| u16::from_be_bytes(*b)));
                }
            }
            Self::W4(v) => {
                while let Some(bytes) = next() {
                    v.extend(bytes.as_chunks::<4>().0.iter().map(|b| u32::from_be_bytes(*b)));
                }
            }
            Self::W8(v) => {
                while let Some(bytes) = next() {
                    v.extend(bytes.as_chunks::<8>().0.iter().map(|b| u64::from_be_bytes(*b)));
                }
            }
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

    pub(crate) fn extend_zero(&mut self, n: usize) {
        match self {
            Self::W1(v) => v.resize(v.len() + n, 0),
            Self::W2(v) => v.resize(v.len() + n, 0),
            Self::W4(v) => v.resize(v.len() + n, 0),
            Self::W8(v) => v.resize(v.len() + n, 0),
        }
    }

    /// The values from number `from` on were appended without gaps: puts a zero wherever `valid` is false.
    pub(super) fn spread(&mut self, from: usize, valid: &[bool]) {
        match self {
            Self::W1(v) => spread(v, from, valid),
            Self::W2(v) => spread(v, from, valid),
            Self::W4(v) => spread(v, from, valid),
            Self::W8(v) => spread(v, from, valid),
        }
    }

    pub(super) fn into_buffer(self) -> Buffer {
        match self {
            Self::W1(v) => Buffer::from_vec(v),
            Self::W2(v) => Buffer::from_vec(v),
            Self::W4(v) => Buffer::from_vec(v),
            Self::W8(v) => Buffer::from_vec(v),
        }
    }
}

impl Offsets {
    pub(super) fn new(capacity: usize) -> Self {
        let mut offsets = Vec::with_capacity(capacity.saturating_add(1).min(MOST_HINTED / 8));
        offsets.push(0);
        Self(offsets)
    }

    /// The offsets of complete lists: a leading 0, and the end of each list.
    pub(crate) fn of_lists(offsets: Vec<i64>) -> Self {
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
    pub(crate) fn extend_ends(&mut self, ends: impl Iterator<Item = i64>) {
        self.extend_from(self.last(), ends);
    }

    /// Ends a list for each of these ends, which count from `base`.
    #[inline(always)]
    pub(crate) fn extend_from(&mut self, base: i64, ends: impl Iterator<Item = i64>) {
        self.0.extend(ends.map(|end| base + end));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len() - 1
    }

    /// The end of each list.
    pub(super) fn ends(&self) -> &[i64] {
        self.0.get(1..).unwrap_or_default()
    }

    /// The end of the last list.
    pub(super) fn last(&self) -> i64 {
        self.0.last().copied().unwrap_or(0)
    }

    /// The lists from number `from` on were appended without gaps: puts an empty list wherever `valid` is false.
    pub(super) fn spread(&mut self, from: usize, valid: &[bool]) {
        let compact = self.0.split_off((from + 1).min(self.0.len()));
        let mut ends = compact.into_iter();
        let mut last = self.0.last().copied().unwrap_or(0);
        self.0.extend(valid.iter().map(|&valid| {
            last = if valid { ends.next().unwrap_or(last) } else { last };
            last
        }));
    }

    pub(super) fn finish(self) -> OffsetBuffer<i64> {
        OffsetBuffer::new(ScalarBuffer::from(self.0))
    }
}

/// The values from number `from` on are those where `valid` is true: puts defaults where it is false.
pub(super) fn spread<T: Copy + Default>(values: &mut Vec<T>, from: usize, valid: &[bool]) {
    let compact = values.split_off(from.min(values.len()));
    let mut next = compact.into_iter();
    values.extend(valid.iter().map(|&valid| if valid { next.next() } else { None }.unwrap_or_default()));
}
