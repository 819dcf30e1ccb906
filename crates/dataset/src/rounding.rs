//! Floating-point numbers with fewer bits of mantissa: the nearest one, in its own type.
//!
//! Fact: CMS rounds the mantissas of its NanoAOD in place (`MiniFloatConverter::reduceMantissaToNbitsRounding`).

/// Bits of the mantissa of a float.
pub const MANTISSA32: u32 = 23;
/// Bits of the mantissa of a double.
pub const MANTISSA64: u32 = 52;
/// Bits of sign and exponent of a float.
pub const HEAD32: u32 = 9;

/// The nearest float with so many bits of mantissa; of two the even one. Numbers that are not finite stay, and none becomes infinite.
#[must_use]
pub fn rounded32(value: f32, bits: u32) -> f32 {
    let Some(dropped @ 1..) = MANTISSA32.checked_sub(bits) else { return value };
    if !value.is_finite() {
        return value;
    }
    let (word, mask) = (value.to_bits(), (1u32 << dropped) - 1);
    let up = (mask >> 1) + ((word >> dropped) & 1);
    let near = f32::from_bits(word.wrapping_add(up) & !mask);
    if near.is_finite() { near } else { f32::from_bits(word & !mask) }
}

/// The nearest double with so many bits of mantissa, as [`rounded32`].
#[must_use]
pub fn rounded64(value: f64, bits: u32) -> f64 {
    let Some(dropped @ 1..) = MANTISSA64.checked_sub(bits) else { return value };
    if !value.is_finite() {
        return value;
    }
    let (word, mask) = (value.to_bits(), (1u64 << dropped) - 1);
    let up = (mask >> 1) + ((word >> dropped) & 1);
    let near = f64::from_bits(word.wrapping_add(up) & !mask);
    if near.is_finite() { near } else { f64::from_bits(word & !mask) }
}
