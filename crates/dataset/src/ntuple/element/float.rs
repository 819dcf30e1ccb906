//! Floats of reduced precision: half, truncated and quantised.

use half::f16;

use super::encoding::Encoding;

/// The float of the same value.
pub(super) fn from_half(bits: u16) -> f32 {
    f16::from_bits(bits).to_f32()
}

/// Makes the decoder of truncated floats: their bits are the leading ones of a float, the others are zero.
pub(super) fn untruncate(encoding: &Encoding) -> impl Fn(u32) -> f32 + use<> {
    let dropped = u32::BITS - u32::from(encoding.bits()).clamp(1, 32);
    move |word| f32::from_bits(word << dropped)
}

/// Makes the decoder of quantised reals: integers that divide the column's range evenly. As ROOT computes it, to the bit.
pub(super) fn unquantize(encoding: &Encoding) -> impl Fn(u32) -> f64 + use<> {
    let (min, max) = encoding.range();
    let scale = (max - min) / largest(encoding);
    move |word| (f64::from(word) * scale + min).min(max)
}

/// The largest integer of a quantised column, which stands for the largest value.
fn largest(encoding: &Encoding) -> f64 {
    f64::from(u32::MAX >> (u32::BITS - u32::from(encoding.bits()).clamp(1, 32)))
}
