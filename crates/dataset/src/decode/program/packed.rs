//! `Double32_t` and `Float16_t`: numbers with fewer bits in a file than in memory.
//!
//! Facts (`TBufferFile::ReadDouble32`, `ReadFloat16`, `GetRange` of `TStreamerElement.cxx`): with a range the
//! value is `xmin + n / factor`, n an unsigned number of 32 bits; with only a number of bits, below 15, an exponent of
//! a byte and a mantissa of two; else `Double32_t` is a float, and `Float16_t` has 12 bits of mantissa.

use rootfile::Result;
use rootfile::bytes::Cursor;
use rootfile::streamer::Range;

/// How a packed number is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Packed {
    /// As a float.
    Float,
    /// As a multiple of a step from a minimum.
    Range { min: f64, max: f64, factor: f64 },
    /// As an exponent and a mantissa of so many bits.
    Bits(u32),
}

impl Packed {
    /// Of a `Double32_t` with this title.
    pub(crate) fn double32(title: &str) -> Self {
        Self::parse(title).unwrap_or(Self::Float)
    }

    /// Of a `Float16_t` with this title.
    pub(crate) fn float16(title: &str) -> Self {
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
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Float | Self::Range { .. } => 4,
            Self::Bits(_) => 3,
        }
    }

    /// Reads one value.
    #[inline]
    pub(crate) fn read(self, c: &mut Cursor<'_>) -> Result<f64> {
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
}
