//! `Double32_t` and `Float16_t`: numbers with fewer bits in a file than in memory. Trees and objects are read and written by
//! this one table.
//!
//! Facts (`TBufferFile::ReadDouble32`, `ReadFloat16`, `GetRange` of `TStreamerElement.cxx`): with a range the
//! value is `xmin + n / factor`, n an unsigned number of 32 bits; with only a number of bits, below 15, an exponent of
//! a byte and a mantissa of two; else `Double32_t` is a float, and `Float16_t` has 12 bits of mantissa.

use super::element::{HAS_RANGE, StreamerElement, code};
use super::range::Range;
use crate::Result;
use crate::bytes::Cursor;

/// How a packed number is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Packed {
    /// As a float.
    Float,
    /// As a multiple of a step from a minimum.
    Range {
        /// The least value.
        min: f64,
        /// The largest value.
        max: f64,
        /// Steps per unit.
        factor: f64,
    },
    /// As an exponent and a mantissa of so many bits.
    Bits(u32),
}

impl Packed {
    /// Of an element, if this type code is `Double32_t`'s or `Float16_t`'s. The code is that of one number, also where the element
    /// is an array.
    pub fn of_element(type_code: i32, element: &StreamerElement) -> Option<Self> {
        // ROOT reads a range from the title only where this bit is set.
        let title = if element.bits & HAS_RANGE != 0 { element.title.as_str() } else { "" };
        match type_code {
            code::DOUBLE32 => Some(Self::double32(title)),
            code::FLOAT16 => Some(Self::float16(title)),
            _ => None,
        }
    }

    /// Of a `Double32_t` with this title.
    pub fn double32(title: &str) -> Self {
        Self::parse(title).unwrap_or(Self::Float)
    }

    /// Of a `Float16_t` with this title.
    pub fn float16(title: &str) -> Self {
        match Self::parse(title) {
            Some(packed) => packed,
            None => Self::Bits(12),
        }
    }

    /// The packing that the range in a title asks for, if any.
    fn parse(title: &str) -> Option<Self> {
        let range = Range::of_title(title)?;
        match range.factor() {
            Some(factor) => Some(Self::Range { min: range.min, max: range.max, factor }),
            None if range.bits < 15 => Some(Self::Bits(range.bits)),
            None => None,
        }
    }

    /// Bytes of one value.
    pub fn size(self) -> usize {
        match self {
            Self::Float | Self::Range { .. } => 4,
            Self::Bits(_) => 3,
        }
    }

    /// Reads one value.
    ///
    /// # Errors
    ///
    /// If the bytes end before it.
    #[inline]
    pub fn read(self, c: &mut Cursor<'_>) -> Result<f64> {
        Ok(match self {
            Self::Float => f64::from(c.f32()?),
            Self::Range { min, factor, .. } => f64::from(c.u32()?) / factor + min,
            Self::Bits(bits) => {
                let exponent = u32::from(c.u8()?);
                let mantissa = u32::from(c.u16()?);
                let magnitude = exponent << 23 | (mantissa & ((1 << (bits + 1)) - 1)) << (23 - bits);
                let value = f32::from_bits(magnitude);
                f64::from(if mantissa & 1 << (bits + 1) != 0 { -value } else { value })
            }
        })
    }

    /// The bytes of a value, and how many they are.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as ROOT packs them")]
    pub fn bytes(self, value: f64) -> ([u8; 4], usize) {
        match self {
            Self::Float => ((value as f32).to_be_bytes(), 4),
            Self::Range { min, max, factor } => {
                let steps = 0.5 + factor * (value.clamp(min, max) - min);
                ((steps as u32).to_be_bytes(), 4)
            }
            Self::Bits(bits) => {
                let value = value as f32;
                let word = value.to_bits();
                let exponent = ((word << 1) >> 24) as u8;
                let mut mantissa = ((1u32 << (bits + 1)) - 1) & (word >> (23 - bits - 1));
                mantissa = (mantissa + 1) >> 1;
                if mantissa & (1 << bits) != 0 {
                    mantissa = (1 << bits) - 1;
                }
                if value < 0.0 {
                    mantissa |= 1 << (bits + 1);
                }
                let [high, low] = (mantissa as u16).to_be_bytes();
                ([exponent, high, low, 0], 3)
            }
        }
    }
}

impl std::fmt::Display for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Float => f.write_str("as a float"),
            Self::Range { min, max, factor } => {
                write!(f, "from {min} to {max} in {} steps", (factor * (max - min)).round())
            }
            Self::Bits(bits) => write!(f, "of {bits} bits"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_define_the_packing() {
        assert_eq!(Packed::double32("a number"), Packed::Float);
        assert_eq!(Packed::double32("[0,0,8]"), Packed::Bits(8));
        assert_eq!(Packed::double32("[3] [-1,1,16]"), Packed::Range { min: -1.0, max: 1.0, factor: 32768.0 });
        assert_eq!(Packed::float16("no range"), Packed::Bits(12));
        let Packed::Range { min, .. } = Packed::double32("[-pi/2, 2*pi]") else { panic!("a range") };
        assert_eq!(min, -std::f64::consts::FRAC_PI_2);
    }

    #[test]
    fn packed_numbers_are_as_root_writes_them() {
        let range = Packed::Range { min: -1.0, max: 1.0, factor: 32768.0 };
        for (packed, value, bytes) in [
            (Packed::Float, 1.5, &[0x3F, 0xC0, 0, 0][..]),
            (range, -1.0, &[0, 0, 0, 0]),
            (range, 7.0, &[0, 1, 0, 0]),
            (range, 0.0, &[0, 0, 0x80, 0]),
            (Packed::Bits(8), 1.0, &[127, 0, 0]),
            (Packed::Bits(8), -1.5, &[127, 0x02, 0x80]),
            // Rounding stops short of the next exponent.
            (Packed::Bits(2), 1.99, &[127, 0, 3]),
        ] {
            let (all, size) = packed.bytes(value);
            assert_eq!(&all[..size], bytes, "{packed:?} {value}");
        }
        let (all, _) = range.bytes(f64::NAN);
        assert_eq!(all, [0; 4]);
    }

    #[test]
    fn titles_count_only_where_the_element_says_so() {
        let mut element = StreamerElement::new("TStreamerBasicType", "x", "Double32_t", code::DOUBLE32);
        element.title = "[0,1,8]".to_owned();
        assert_eq!(Packed::of_element(code::DOUBLE32, &element), Some(Packed::Float));
        assert_eq!(Packed::of_element(code::DOUBLE, &element), None);
        element.bits = HAS_RANGE;
        let range = Packed::Range { min: 0.0, max: 1.0, factor: 256.0 };
        assert_eq!(Packed::of_element(code::DOUBLE32, &element), Some(range));
    }
}
