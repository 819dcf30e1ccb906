//! From elements to the bytes of a page, for every type that ROOT writes.

use std::ops::Range;

use arrow_buffer::BooleanBufferBuilder;
use rootfile::{Error, Result};

use super::column_type::ColumnType;
use super::elements::Elements;
use super::encoding::Encoding;
use super::ends::Ends;
use super::float;
use super::pack::{delta_split, native, pack, plain, split};
use super::word::{Word, zigzag};

impl Elements {
    /// Checks that the numbers `range` can be stored with fewer bits than they have.
    ///
    /// # Errors
    ///
    /// If one is outside of the range of a quantised column, or is finite and would become infinite.
    pub(crate) fn check(&self, encoding: &Encoding, range: Range<usize>) -> Result<()> {
        let narrow = encoding.column_type();
        match (narrow, self) {
            (ColumnType::Real32Quant, Self::F32(v)) => float::check_range(encoding, part(v, range)),
            (ColumnType::Real32Quant, Self::F64(v)) => float::check_range(encoding, part(v, range)),
            (ColumnType::Real16, Self::F32(v)) => float::check_finite(narrow, part(v, range)),
            (
                ColumnType::Real16 | ColumnType::Real32 | ColumnType::SplitReal32 | ColumnType::Real32Trunc,
                Self::F64(v),
            ) => float::check_finite(narrow, part(v, range)),
            _ => Ok(()),
        }
    }

    /// Appends the bytes of a page with the elements `range`. Ends count from the start of the last cluster.
    ///
    /// # Errors
    ///
    /// If there are not as many elements, if they are not those of the type, if a value does not fit (an end of more than 32
    /// bits, a real outside of the range of a quantised or a narrower column), or if ROOT does not write the type.
    pub fn encode(&self, encoding: &Encoding, range: Range<usize>, page: &mut Vec<u8>) -> Result<()> {
        if range.start > range.end || range.end > self.len() {
            return Err(Error::request(format!("elements {range:?} of {}", self.len())));
        }
        self.check(encoding, range.clone())?;
        match (encoding.column_type(), self) {
            (ColumnType::Bit, Self::Bool(bits)) => {
                let mut packed = BooleanBufferBuilder::new(range.len());
                packed.append_packed_range(range, bits.as_slice());
                page.extend_from_slice(packed.as_slice());
            }
            (ColumnType::Byte | ColumnType::Char | ColumnType::UInt8, Self::U8(v)) => {
                page.extend_from_slice(part(v, range));
            }
            (ColumnType::Int8, Self::I8(v)) => native(page, part(v, range), i8::cast_unsigned),
            (ColumnType::Int16, Self::I16(v)) => native(page, part(v, range), i16::cast_unsigned),
            (ColumnType::UInt16, Self::U16(v)) => native(page, part(v, range), |value| value),
            (ColumnType::Int32, Self::I32(v)) => native(page, part(v, range), i32::cast_unsigned),
            (ColumnType::UInt32, Self::U32(v)) => native(page, part(v, range), |value| value),
            (ColumnType::Int64, Self::I64(v)) => native(page, part(v, range), i64::cast_unsigned),
            (ColumnType::UInt64, Self::U64(v)) => native(page, part(v, range), |value| value),
            (ColumnType::SplitInt16, Self::I16(v)) => split(page, part(v, range), zigzag::encode16),
            (ColumnType::SplitUInt16, Self::U16(v)) => split(page, part(v, range), |value| value),
            (ColumnType::SplitInt32, Self::I32(v)) => split(page, part(v, range), zigzag::encode32),
            (ColumnType::SplitUInt32, Self::U32(v)) => split(page, part(v, range), |value| value),
            (ColumnType::SplitInt64, Self::I64(v)) => split(page, part(v, range), zigzag::encode64),
            (ColumnType::SplitUInt64, Self::U64(v)) => split(page, part(v, range), |value| value),
            (ColumnType::Real16, Self::F32(v)) => plain(page, part(v, range), float::to_half),
            (ColumnType::Real16, Self::F64(v)) => plain(page, part(v, range), |value| float::to_half(value as f32)),
            (ColumnType::Real32, Self::F32(v)) => native(page, part(v, range), f32::to_bits),
            (ColumnType::Real32, Self::F64(v)) => plain(page, part(v, range), |value| (value as f32).to_bits()),
            (ColumnType::SplitReal32, Self::F32(v)) => split(page, part(v, range), f32::to_bits),
            (ColumnType::SplitReal32, Self::F64(v)) => split(page, part(v, range), |value| (value as f32).to_bits()),
            (ColumnType::Real64, Self::F64(v)) => native(page, part(v, range), f64::to_bits),
            (ColumnType::SplitReal64, Self::F64(v)) => split(page, part(v, range), f64::to_bits),
            (ColumnType::Real32Trunc, Self::F32(v)) => {
                pack(page, part(v, range), encoding.bits(), float::truncate(encoding));
            }
            (ColumnType::Real32Trunc, Self::F64(v)) => {
                let truncate = float::truncate(encoding);
                pack(page, part(v, range), encoding.bits(), |value| truncate(value as f32));
            }
            (ColumnType::Real32Quant, Self::F32(v)) => {
                let quantize = float::quantize(encoding);
                pack(page, part(v, range), encoding.bits(), |value| quantize(value.into()));
            }
            (ColumnType::Real32Quant, Self::F64(v)) => {
                pack(page, part(v, range), encoding.bits(), float::quantize(encoding));
            }
            (ColumnType::Index32, Self::Index(v)) => {
                let (offsets, end) = ends::<u32>(v, range)?;
                plain(page, offsets, end);
            }
            (ColumnType::Index64, Self::Index(v)) => {
                let (offsets, end) = ends::<u64>(v, range)?;
                plain(page, offsets, end);
            }
            (ColumnType::SplitIndex32, Self::Index(v)) => {
                let (offsets, end) = ends::<u32>(v, range)?;
                delta_split(page, offsets, end);
            }
            (ColumnType::SplitIndex64, Self::Index(v)) => {
                let (offsets, end) = ends::<u64>(v, range)?;
                delta_split(page, offsets, end);
            }
            // Ends that count from the start of the cluster.
            (ColumnType::Index32, Self::U64(v)) => plain(page, short(part(v, range))?, |end: u64| u32::truncate(end)),
            (ColumnType::Index64, Self::U64(v)) => native(page, part(v, range), |end| end),
            (ColumnType::SplitIndex32, Self::U64(v)) => {
                delta_split(page, short(part(v, range))?, |end: u64| u32::truncate(end));
            }
            (ColumnType::SplitIndex64, Self::U64(v)) => delta_split(page, part(v, range), |end| end),
            (ColumnType::Switch, Self::Switch(v)) => {
                for (index, tag) in part(v, range) {
                    page.extend_from_slice(&index.to_le_bytes());
                    page.extend_from_slice(&tag.to_le_bytes());
                }
            }
            (column_type, elements) => {
                let kind = elements.kind();
                return Err(Error::unsupported(format!(
                    "{kind:?} elements are not written as a column of type {column_type}"
                )));
            }
        }
        Ok(())
    }
}

/// The elements in a range that was checked.
fn part<T>(values: &[T], range: Range<usize>) -> &[T] {
    values.get(range).unwrap_or_default()
}

/// Ends that fit 32 bits.
fn short(ends: &[u64]) -> Result<&[u64]> {
    match ends.last() {
        Some(last) if u32::try_from(*last).is_err() => Err(too_far(*last, 32)),
        _ => Ok(ends),
    }
}

#[cold]
fn too_far(end: u64, bits: usize) -> Error {
    Error::request(format!("a collection ends at element {end}, which {bits} bits do not hold"))
}

/// Offsets, and what makes of each the end in the page.
fn ends<W: Word>(ends: &Ends, range: Range<usize>) -> Result<(&[i64], impl Fn(i64) -> W + use<W>)> {
    let (offsets, base) = ends.in_cluster(range)?;
    let end = move |offset: i64| offset.wrapping_sub(base).cast_unsigned();
    if let Some(last) = offsets.last().map(|offset| end(*offset))
        && last != W::truncate(last).into()
    {
        return Err(too_far(last, 8 * W::BYTES));
    }
    Ok((offsets, move |offset| W::truncate(end(offset))))
}
