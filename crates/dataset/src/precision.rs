//! Numbers in fewer bits: to what a number is rounded in an encoding, in trees and in RNTuples. Writers and those who predict what
//! writers do ask here; which encoding is a good one is not known here.
//!
//! `Float16_t` and `Double32_t` are in `rootfile::streamer::Packed`.

use half::f16;
use rootfile::bytes::Cursor;
use rootfile::streamer::Packed;

use crate::layout::{ColumnEncoding, Container};
use crate::ntuple::element;
pub use crate::rounding::{HEAD32, MANTISSA32, MANTISSA64, rounded32, rounded64};

/// Bits of mantissa that numbers keep in place, if an encoding rounds them there: those of trees keep their type.
#[must_use]
pub fn mantissa(encoding: ColumnEncoding) -> Option<u32> {
    match encoding {
        ColumnEncoding::Mantissa(bits) => Some(u32::from(bits)),
        ColumnEncoding::Truncated(bits) => Some(u32::from(bits).saturating_sub(HEAD32)),
        _ => None,
    }
}

/// The range and bits in the title of a leaf that stores numbers so: those of `Float16_t`, or of `Double32_t` for doubles. None if
/// no such leaf does.
#[must_use]
pub fn packing(encoding: ColumnEncoding, double: bool) -> Option<String> {
    match encoding {
        ColumnEncoding::Half => Some("[0,0,10]".to_owned()),
        ColumnEncoding::Single if double => Some(String::new()),
        ColumnEncoding::Quantized { bits, least, most } => Some(format!("[{least:?},{most:?},{bits}]")),
        _ => None,
    }
}

/// How numbers are stored, and with what loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reduction {
    how: How,
    double: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    /// The type stays, with so many bits of mantissa.
    Mantissa(u32),
    /// A float with so many bits of mantissa.
    Float(u32),
    Half,
    Quantized(element::Encoding),
    Packed(Packed),
}

impl Reduction {
    /// How a container stores floats, or doubles, in an encoding. None if the encoding does not reduce them there, or not of that type.
    #[must_use]
    pub fn new(encoding: ColumnEncoding, container: Container, double: bool) -> Option<Self> {
        let how = match (container, encoding) {
            (_, ColumnEncoding::Mantissa(bits)) => How::Mantissa(bits.into()),
            (Container::Ttree, encoding) => match mantissa(encoding) {
                Some(bits) => How::Mantissa(bits),
                None => {
                    let packing = packing(encoding, double)?;
                    How::Packed(if double { Packed::double32(&packing) } else { Packed::float16(&packing) })
                }
            },
            (Container::Rntuple, ColumnEncoding::Truncated(bits)) => How::Float(u32::from(bits).checked_sub(HEAD32)?),
            (Container::Rntuple, ColumnEncoding::Single) if double => How::Float(MANTISSA32),
            (Container::Rntuple, ColumnEncoding::Half) => How::Half,
            (Container::Rntuple, ColumnEncoding::Quantized { bits, least, most }) => {
                let of = element::ColumnType::Real32Quant;
                How::Quantized(element::Encoding::new(of, bits, Some((least, most))).ok()?)
            }
            _ => return None,
        };
        Some(Self { how, double })
    }

    /// What is read of each number: floats as doubles of the same value. `None` stands for a number that the encoding cannot hold: one
    /// outside of its range, a finite one that would become infinite, or no number in a range.
    pub fn read_back(&self, values: &[f64], out: &mut Vec<Option<f64>>) {
        fn each(values: &[f64], out: &mut Vec<Option<f64>>, of: impl Fn(f64) -> f64) {
            out.extend(values.iter().map(|&value| {
                let read = of(value);
                (read.is_finite() || !value.is_finite()).then_some(read)
            }));
        }
        out.clear();
        #[expect(clippy::cast_possible_truncation, reason = "numbers become floats, as they are stored")]
        match self.how {
            How::Mantissa(bits) if self.double => each(values, out, |value| rounded64(value, bits)),
            How::Mantissa(bits) | How::Float(bits) => {
                each(values, out, |value| rounded32(value as f32, bits).into());
            }
            How::Half => each(values, out, |value| f16::from_f32(value as f32).to_f32().into()),
            How::Quantized(encoding) => {
                let ((least, most), read) = (encoding.range(), element::quantized(&encoding));
                let read = |value: f64| if self.double { read(value) } else { f64::from(read(value) as f32) };
                out.extend(values.iter().map(|value| (least..=most).contains(value).then(|| read(*value))));
            }
            How::Packed(packed) => {
                let range = match packed {
                    Packed::Range { min, max, .. } => min..=max,
                    _ => f64::NEG_INFINITY..=f64::INFINITY,
                };
                let is_range = matches!(packed, Packed::Range { .. });
                let read = |value: f64| {
                    let (bytes, len) = packed.bytes(value);
                    let read = packed.read(&mut Cursor::new(bytes.get(..len)?)).ok()?;
                    let read = if self.double { read } else { f64::from(read as f32) };
                    (read.is_finite() || !value.is_finite()).then_some(read)
                };
                let fits = |value: &f64| if is_range { range.contains(value) } else { true };
                out.extend(values.iter().map(|value| if fits(value) { read(*value) } else { None }));
            }
        }
    }

    /// Appends the bytes of the numbers in a basket: those of an array without its offsets.
    pub fn basket_bytes(&self, values: &[f64], out: &mut Vec<u8>) {
        match self.how {
            How::Packed(packed) => values.iter().for_each(|value| {
                let (bytes, len) = packed.bytes(*value);
                out.extend_from_slice(bytes.get(..len).unwrap_or_default());
            }),
            _ => {
                let mut read = Vec::new();
                self.read_back(values, &mut read);
                let read = read.iter().zip(values).map(|(read, value)| read.unwrap_or(*value));
                plain_bytes(read, self.double, out);
            }
        }
    }
}

/// Appends numbers as a basket has them.
#[expect(clippy::cast_possible_truncation, reason = "the numbers are floats")]
pub fn plain_bytes(values: impl Iterator<Item = f64>, double: bool, out: &mut Vec<u8>) {
    match double {
        true => values.for_each(|value| out.extend_from_slice(&value.to_be_bytes())),
        false => values.for_each(|value| out.extend_from_slice(&(value as f32).to_be_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(encoding: &str, container: Container, double: bool, value: f64) -> Option<f64> {
        let reduction = Reduction::new(encoding.parse().unwrap(), container, double).unwrap();
        let mut out = Vec::new();
        reduction.read_back(&[value], &mut out);
        out[0]
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_and_stay_finite() {
        assert_eq!(rounded32(1.0 + 1.0 / 256.0, 8), 1.0 + 1.0 / 256.0);
        assert_eq!(rounded32(1.0 + 1.0 / 512.0, 8), 1.0, "the even one of two");
        assert_eq!(rounded32(1.0 + 3.0 / 512.0, 8), 1.0 + 2.0 / 256.0);
        assert_eq!(rounded32(-999.0, 9), -999.0);
        assert_eq!(rounded32(-999.0, 8), -1000.0);
        assert_eq!(rounded32(f32::MAX, 4).to_bits(), f32::MAX.to_bits() & !((1 << 19) - 1));
        assert_eq!(rounded64(f64::MAX, 4).to_bits(), f64::MAX.to_bits() & !((1 << 48) - 1));
        assert_eq!(rounded32(f32::INFINITY, 1), f32::INFINITY);
        let nan = f32::from_bits(0x7f80_0001);
        assert_eq!(rounded32(nan, 1).to_bits(), nan.to_bits());
        assert_eq!(rounded64(std::f64::consts::PI, 52), std::f64::consts::PI);
        assert_eq!(rounded64(std::f64::consts::PI, 23), f64::from(std::f32::consts::PI));
    }

    #[test]
    fn encodings_say_what_they_cannot_hold() {
        for container in [Container::Ttree, Container::Rntuple] {
            assert_eq!(read("quantized:8:0:1", container, false, -999.0), None);
            assert_eq!(read("quantized:8:0:1", container, false, f64::NAN), None);
            assert_eq!(read("quantized:8:0:1", container, false, 0.0), Some(0.0));
            assert_eq!(read("mantissa:4", container, true, 1.03), Some(1.0));
            assert_eq!(read("truncated:13", container, false, 1.03), Some(1.0));
            assert!(read("half", container, false, f64::NAN).unwrap().is_nan());
            assert!(Reduction::new(ColumnEncoding::Single, container, false).is_none());
            assert!(Reduction::new(ColumnEncoding::Split, container, false).is_none());
        }
        assert_eq!(read("half", Container::Rntuple, false, 1e6), None);
        assert!(read("half", Container::Ttree, false, 1e6).is_some(), "Float16_t has the exponent of a float");
        assert_eq!(read("single", Container::Rntuple, true, 1e300), None);
        let quantized = ColumnEncoding::Quantized { bits: 12, least: -3.5, most: 1e-7 };
        assert_eq!(packing(quantized, false).as_deref(), Some("[-3.5,1e-7,12]"));
    }
}
