//! Floats of reduced precision: half, truncated and quantised.

use half::f16;

use rootfile::{Error, Result};

use super::column_type::ColumnType;
use super::encoding::Encoding;
use crate::rounding::{HEAD32, rounded32};

/// The leading bit of the mantissa of a float that is no number: it survives where others are cut off.
const QUIET: u32 = 1 << 22;
/// The bits of the mantissa of a float.
const MANTISSA: u32 = (1 << 23) - 1;

/// The float of the same value.
pub(super) fn from_half(bits: u16) -> f32 {
    f16::from_bits(bits).to_f32()
}

/// The half float that is nearest.
pub(super) fn to_half(value: f32) -> u16 {
    f16::from_f32(value).to_bits()
}

/// Makes the decoder of truncated floats: their bits are the leading ones of a float, the others are zero.
pub(super) fn untruncate(encoding: &Encoding) -> impl Fn(u32) -> f32 + use<> {
    let dropped = u32::BITS - u32::from(encoding.bits()).clamp(1, 32);
    move |word| f32::from_bits(word << dropped)
}

/// Makes the encoder of truncated floats, which are rounded to the nearest: ROOT cuts their bits off, and errs by twice as much. What
/// is no number stays none.
pub(super) fn truncate(encoding: &Encoding) -> impl Fn(f32) -> u32 + use<> {
    let dropped = u32::BITS - u32::from(encoding.bits()).clamp(1, 32);
    let bits = u32::from(encoding.bits()).saturating_sub(HEAD32);
    move |value| {
        let word = rounded32(value, bits).to_bits();
        let stays = !value.is_nan() || (word >> dropped << dropped) & MANTISSA != 0;
        (if stays { word } else { word | QUIET }) >> dropped
    }
}

/// Makes the decoder of quantised reals: integers that divide the column's range evenly. As ROOT computes it, to the bit.
pub(super) fn unquantize(encoding: &Encoding) -> impl Fn(u32) -> f64 + use<> {
    let (min, max) = encoding.range();
    let scale = (max - min) / largest(encoding);
    move |word| (f64::from(word) * scale + min).min(max)
}

/// Makes the encoder of quantised reals, which takes the nearest integer.
pub(super) fn quantize(encoding: &Encoding) -> impl Fn(f64) -> u32 + use<> {
    let (min, max) = encoding.range();
    let scale = largest(encoding) / (max - min);
    move |value| (0.5 + (value - min) * scale) as u32
}

/// What is read of a real that a quantised column stores.
pub fn quantized(encoding: &Encoding) -> impl Fn(f64) -> f64 + use<> {
    let (to, from) = (quantize(encoding), unquantize(encoding));
    move |value| from(to(value))
}

/// Checks that all values lie in the range of a quantised column.
pub(super) fn check_range<T: Copy + Into<f64>>(encoding: &Encoding, values: &[T]) -> Result<()> {
    let (min, max) = encoding.range();
    let outside = values.iter().find(|value| !(min..=max).contains(&(**value).into()));
    outside.map_or(Ok(()), |value| {
        let value: f64 = (*value).into();
        Err(Error::request(format!("{value} is not in the range of a quantised column, {min} to {max}")))
    })
}

/// Checks that finite values stay finite as floats or as half floats.
pub(super) fn check_finite<T: Copy + Into<f64>>(column_type: ColumnType, values: &[T]) -> Result<()> {
    let is_half = matches!(column_type, ColumnType::Real16 | ColumnType::SplitReal16);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a value beyond the range becomes infinite, which is asked for"
    )]
    let narrow =
        |value: f64| if is_half { f16::from_f32(value as f32).is_infinite() } else { (value as f32).is_infinite() };
    let outside = values.iter().map(|value| (*value).into()).find(|value| value.is_finite() && narrow(*value));
    outside.map_or(Ok(()), |value| {
        Err(Error::request(format!("{value:e} is beyond the range of a column of {column_type}; use another encoding")))
    })
}

/// The largest integer of a quantised column, which stands for the largest value.
fn largest(encoding: &Encoding) -> f64 {
    f64::from(u32::MAX >> (u32::BITS - u32::from(encoding.bits()).clamp(1, 32)))
}
