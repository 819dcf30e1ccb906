//! Numbers into bytes: many at once, big-endian, next to each other or so many bytes apart; as another type; and packed
//! (`Double32_t`, `Float16_t`).
//!
//! Facts (`TBufferFile::WriteDouble32`, `WriteFloat16`): with a range a value is held inside it and rounded to the
//! nearest step; with a number of bits the mantissa is rounded to them, but never up into the exponent.

use arrow_buffer::BooleanBuffer;
use rootfile::streamer::Packed;
use rootfile::{Error, Result};

use super::view::{View, Words};
use crate::decode::program::types::Number;

/// Writes values next to each other over `out`.
fn dense<const N: usize, W: Copy>(values: &[W], out: &mut [u8], bytes: impl Fn(W) -> [u8; N]) {
    for (to, value) in out.as_chunks_mut::<N>().0.iter_mut().zip(values) {
        *to = bytes(*value);
    }
}

/// Writes values `stride` bytes apart over `out`.
fn strided<const N: usize, W: Copy>(values: &[W], out: &mut [u8], stride: usize, bytes: impl Fn(W) -> [u8; N]) {
    if stride == N {
        return dense(values, out, bytes);
    }
    // `chunks_exact` divides to count its chunks, which costs as much as writing a few values.
    let mut at = 0usize;
    for value in values {
        if let Some(to) = out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<N>()) {
            *to = bytes(*value);
        }
        at = at.saturating_add(stride);
    }
}

/// Writes the same bytes `n` times, `stride` bytes apart, over `out`.
pub(super) fn repeat<const N: usize>(same: &[u8; N], n: usize, out: &mut [u8], stride: usize) {
    let mut at = 0usize;
    for _ in 0..n {
        if let Some(to) = out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<N>()) {
            *to = *same;
        }
        at = at.saturating_add(stride);
    }
}

fn bools(bits: &BooleanBuffer, at: usize, n: usize) -> impl Iterator<Item = u8> {
    // No slice beyond the end, which would panic.
    let n = n.min(bits.len().saturating_sub(at));
    (at..at + n).map(|i| u8::from(bits.value(i)))
}

/// Writes bits as bytes that are 0 or 1, eight at a time.
fn dense_bools(bits: &BooleanBuffer, at: usize, n: usize, out: &mut [u8]) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    /// Bit `i` of byte `i`.
    const DIAGONAL: u64 = 0x8040_2010_0804_0201;
    let n = n.min(bits.len().saturating_sub(at)).min(out.len());
    let bits = bits.slice(at.min(bits.len()), n);
    let mut bytes = bits.bit_chunks().iter_padded().flat_map(u64::to_le_bytes);
    let (eights, rest) = out.get_mut(..n).unwrap_or_default().as_chunks_mut::<8>();
    let spread = |byte: u8| {
        let own = (u64::from(byte) * ONES) & DIAGONAL;
        (((own + 0x7F * ONES) >> 7) & ONES).to_le_bytes()
    };
    for (eight, byte) in eights.iter_mut().zip(&mut bytes) {
        *eight = spread(byte);
    }
    let last = bytes.next().map_or([0; 8], spread);
    rest.iter_mut().zip(last).for_each(|(to, bit)| *to = bit);
}

/// Writes `n` numbers from the one at `at` on over `out`, so many bytes apart.
pub(super) fn place(words: Words<'_>, at: usize, n: usize, out: &mut [u8], stride: usize) {
    fn of<W>(values: &[W], at: usize, n: usize) -> &[W] {
        values.get(at..at + n).unwrap_or_default()
    }
    match words {
        Words::Bool(bits) if stride == 1 && n >= 16 => dense_bools(bits, at, n, out),
        Words::Bool(bits) => {
            for (row, bit) in out.chunks_mut(stride.max(1)).zip(bools(bits, at, n)) {
                if let Some(to) = row.first_mut() {
                    *to = bit;
                }
            }
        }
        Words::W1(values) => strided(of(values, at, n), out, stride, u8::to_be_bytes),
        Words::W2(values) => strided(of(values, at, n), out, stride, u16::to_be_bytes),
        Words::W4(values) => strided(of(values, at, n), out, stride, u32::to_be_bytes),
        Words::W8(values) => strided(of(values, at, n), out, stride, u64::to_be_bytes),
    }
}

/// A number of any type.
#[derive(Clone, Copy, Debug)]
enum Value {
    Int(i128),
    Float(f64),
}

impl Value {
    fn of(number: Number, words: Words<'_>, i: usize) -> Option<Self> {
        Some(match (words, number) {
            (Words::Bool(bits), _) => Self::Int((i < bits.len() && bits.value(i)).into()),
            (Words::W1(v), Number::I8) => Self::Int(v.get(i)?.cast_signed().into()),
            (Words::W1(v), _) => Self::Int((*v.get(i)?).into()),
            (Words::W2(v), Number::I16) => Self::Int(v.get(i)?.cast_signed().into()),
            (Words::W2(v), _) => Self::Int((*v.get(i)?).into()),
            (Words::W4(v), Number::F32) => Self::Float(f32::from_bits(*v.get(i)?).into()),
            (Words::W4(v), Number::I32) => Self::Int(v.get(i)?.cast_signed().into()),
            (Words::W4(v), _) => Self::Int((*v.get(i)?).into()),
            (Words::W8(v), Number::F64) => Self::Float(f64::from_bits(*v.get(i)?)),
            (Words::W8(v), Number::I64) => Self::Int(v.get(i)?.cast_signed().into()),
            (Words::W8(v), _) => Self::Int((*v.get(i)?).into()),
        })
    }

    /// To whole numbers by cutting, as C++ does.
    #[expect(clippy::cast_possible_truncation, reason = "as C++")]
    fn int(self) -> i128 {
        match self {
            Self::Int(i) => i,
            Self::Float(f) => f as i128,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "as C++")]
    fn float(self) -> f64 {
        match self {
            Self::Int(i) => i as f64,
            Self::Float(f) => f,
        }
    }
}

#[cold]
fn missing() -> Error {
    Error::request("fewer values than expected")
}

/// Writes `n` numbers as those of another type.
pub(super) fn convert(to: Number, view: &View<'_>, at: usize, n: usize, out: &mut Vec<u8>) -> Result<()> {
    let View::Numbers(from, words) = view else { return Err(missing()) };
    for i in at..at + n {
        let value = Value::of(*from, *words, i).ok_or_else(missing)?;
        let whole = value.int();
        macro_rules! write {
            ($type:ty) => {{
                let value = <$type>::try_from(whole);
                let value = value.map_err(|_| Error::request(format!("{whole} does not fit into {}", to.cpp())))?;
                out.extend_from_slice(&value.to_be_bytes());
            }};
        }
        match to {
            Number::Bool => out.push(u8::from(value.float() != 0.0)),
            Number::I8 => write!(i8),
            Number::U8 => write!(u8),
            Number::I16 => write!(i16),
            Number::U16 => write!(u16),
            Number::I32 => write!(i32),
            Number::U32 => write!(u32),
            Number::I64 => write!(i64),
            Number::U64 => write!(u64),
            #[expect(clippy::cast_possible_truncation, reason = "the type that the file has")]
            Number::F32 => out.extend_from_slice(&(value.float() as f32).to_be_bytes()),
            Number::F64 => out.extend_from_slice(&value.float().to_be_bytes()),
        }
    }
    Ok(())
}

/// Writes `n` numbers in fewer bits, over `out`, so many bytes apart.
pub(super) fn pack(packed: Packed, view: &View<'_>, at: usize, n: usize, out: &mut [u8], stride: usize) -> Result<()> {
    let View::Numbers(from, words) = view else { return Err(missing()) };
    for (row, i) in out.chunks_mut(stride.max(1)).zip(at..at + n) {
        let value = Value::of(*from, *words, i).ok_or_else(missing)?.float();
        let (bytes, size) = packed.bytes(value);
        row.iter_mut().zip(bytes.iter().take(size)).for_each(|(to, byte)| *to = *byte);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use arrow_array::{Float64Array, Int32Array};

    use super::*;
    use crate::decode::program::types::Shape;

    #[test]
    fn strided_numbers_leave_other_bytes_unchanged() {
        let mut out = [9; 11];
        place(Words::W2(&[1, 2, 0x0304, 5]), 1, 2, &mut out[1..], 5);
        assert_eq!(out, [9, 0, 2, 9, 9, 9, 3, 4, 9, 9, 9]);
        let bits = BooleanBuffer::from(vec![false, true, true]);
        let mut out = [7; 4];
        place(Words::Bool(&bits), 1, 5, &mut out, 1);
        assert_eq!(out, [1, 1, 7, 7], "no more than there are");
        let bits = BooleanBuffer::collect_bool(100, |i| i % 3 == 1 || i % 7 == 2);
        for (at, n) in [(0, 100), (3, 64), (5, 21), (90, 50)] {
            let mut out = vec![7; n];
            place(Words::Bool(&bits), at, n, &mut out, 1);
            let expected = (at..at + n).map(|i| if i < 100 { u8::from(bits.value(i)) } else { 7 });
            assert_eq!(out, expected.collect::<Vec<_>>(), "{at} {n}");
        }
    }

    #[test]
    fn numbers_as_another_type() {
        let doubles = Float64Array::from(vec![2.0, -1.9]);
        let view = View::new(&Shape::Number(Number::F64), &doubles).unwrap();
        let mut out = Vec::new();
        convert(Number::I16, &view, 0, 2, &mut out).unwrap();
        assert_eq!(out, [0, 2, 0xFF, 0xFF]);
        let large = Int32Array::from(vec![70000]);
        let view = View::new(&Shape::Number(Number::I32), &large).unwrap();
        let error = convert(Number::U16, &view, 0, 1, &mut out).unwrap_err();
        assert!(error.to_string().contains("70000 does not fit into uint16_t"), "{error}");
        convert(Number::F32, &view, 0, 1, &mut out).unwrap();
        assert_eq!(out[4..], 70000f32.to_be_bytes());
    }
}
