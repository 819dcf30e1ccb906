//! `Double32_t` and `Float16_t`: numbers written in fewer bits than they have in memory.
//!
//! Facts (`TBufferFile::ReadDouble32`, `ReadFloat16`, `GetRange` of `TStreamerElement.cxx`): with a range the
//! value is `xmin + n / factor`, n an unsigned number of 32 bits; with only a number of bits, below 15, an exponent of
//! a byte and a mantissa of two; else `Double32_t` is a float, and `Float16_t` has 12 bits of mantissa.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};

use rootfile::Result;
use rootfile::bytes::Cursor;

/// How a packed number is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Packed {
    /// As a float.
    Float,
    /// As steps from a minimum.
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

    /// The range in a title: the first brackets with a comma in them. None if it asks for nothing.
    fn parse(title: &str) -> Option<Self> {
        let inside =
            title.split('[').skip(1).take(6).find_map(|part| {
                part.split_once(']').map(|(inside, _)| inside).filter(|inside| inside.contains(','))
            })?;
        let mut parts = inside.split(',');
        let (min, max) = (limit(parts.next()?), limit(parts.next()?));
        let bits = parts.next().map_or(32, |bits| bits.trim().parse::<u32>().unwrap_or(32));
        let bits = if (2..=32).contains(&bits) { bits } else { 32 };
        let steps = if bits < 32 { f64::from(1u32 << bits) } else { f64::from(u32::MAX) };
        if min < max {
            Some(Self::Range { min, max, factor: steps / (max - min) })
        } else if bits < 15 {
            Some(Self::Bits(bits))
        } else {
            None
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

/// A limit of a range, which may be spelled with pi.
fn limit(text: &str) -> f64 {
    let text = text.to_lowercase().replace(' ', "");
    if !text.contains("pi") {
        return text.parse().unwrap_or(0.0);
    }
    let value = if text.contains("2pi") || text.contains("2*pi") || text.contains("twopi") {
        TAU
    } else if text.contains("pi/2") {
        FRAC_PI_2
    } else if text.contains("pi/4") {
        FRAC_PI_4
    } else {
        PI
    };
    if text.contains('-') { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_say_how() {
        assert_eq!(Packed::double32("a number"), Packed::Float);
        assert_eq!(Packed::double32("[0,0,8]"), Packed::Bits(8));
        assert_eq!(Packed::double32("[3] [-1,1,16]"), Packed::Range { min: -1.0, max: 1.0, factor: 32768.0 });
        assert_eq!(Packed::float16("no range"), Packed::Bits(12));
        let Packed::Range { min, .. } = Packed::double32("[-pi/2, 2*pi]") else { panic!("a range") };
        assert_eq!(min, -FRAC_PI_2);
    }
}
