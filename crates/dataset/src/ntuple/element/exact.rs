//! How many bits floating-point numbers need: a column of so many keeps each of them to the last bit, its sign of zero and the
//! payload of NaN included. Nothing here chooses a column; see [`ColumnEncoding::Exact`](crate::layout::ColumnEncoding::Exact).

use std::ops::Range;

use rootfile::{Error, Result};

use super::column_type::ColumnType;
use super::elements::Elements;
use super::encoding::Encoding;

/// What floating-point numbers need of their column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeededBits {
    /// Whether there are any.
    any: bool,
    /// The bits that any of them sets, as floats.
    set: u32,
    /// Whether one of them is no float.
    wide: bool,
}

impl NeededBits {
    /// Adds numbers. Other elements need nothing.
    pub fn add(&mut self, elements: &Elements) {
        match elements {
            Elements::F32(values) => {
                self.any |= !values.is_empty();
                self.set = values.iter().fold(self.set, |set, value| set | value.to_bits());
            }
            Elements::F64(values) => {
                self.any |= !values.is_empty();
                for value in values {
                    match as_float(*value) {
                        Some(bits) => self.set |= bits,
                        None => self.wide = true,
                    }
                }
            }
            _ => {}
        }
    }

    /// The column of least bits for these numbers that has fewer bits than `own` and at least `least`. None where there is none, or
    /// without numbers.
    pub fn narrower(&self, own: &Encoding, least: u16) -> Option<(ColumnType, u16)> {
        let needed = u16::try_from(u32::BITS - self.set.trailing_zeros()).unwrap_or(32);
        own.with_bits(needed.max(least)).filter(|_| self.any && !self.wide)
    }
}

impl Encoding {
    /// Whether other columns may have fewer bits for the same floating-point numbers.
    pub fn can_be_narrower(&self) -> bool {
        self.with_bits(0).is_some()
    }

    /// The column of floating-point numbers with at least so many bits, and as few as there is. None if it has no fewer than this one.
    /// Half floats are none: uproot hands them out as they are, and their sums overflow. Nor are quantised ones, as values in, or values
    /// for, a column that is quantised are not those of truncated ones.
    pub fn with_bits(&self, bits: u16) -> Option<(ColumnType, u16)> {
        use ColumnType::{Real16, Real32, Real32Trunc, Real64, SplitReal16, SplitReal32, SplitReal64};
        let own = match self.column_type() {
            Real16 | SplitReal16 | Real32 | SplitReal32 | Real32Trunc | Real64 | SplitReal64 => self.bits(),
            _ => return None,
        };
        let truncated = Real32Trunc.valid_bits()?;
        let bits = bits.max(*truncated.start());
        let floats = if self.column_type().is_split() { SplitReal32 } else { Real32 };
        let narrow = if truncated.contains(&bits) { (Real32Trunc, bits) } else { (floats, 32) };
        (narrow.1 < own).then_some(narrow)
    }
}

impl Elements {
    /// Checks that a column keeps the elements `range` to the last bit.
    ///
    /// # Errors
    ///
    /// If one of them would change.
    pub fn check_kept(&self, encoding: &Encoding, range: Range<usize>) -> Result<()> {
        let dropped = match encoding.bits() {
            bits @ 1..=31 => u32::MAX >> bits,
            _ => 0,
        };
        let changed = match self {
            Self::F32(values) => {
                let values = values.get(range).unwrap_or_default();
                values.iter().copied().find(|value| value.to_bits() & dropped != 0).map(f64::from)
            }
            Self::F64(values) if encoding.bits() < 64 => {
                let values = values.get(range).unwrap_or_default();
                let is_kept = |value: f64| as_float(value).is_some_and(|bits| bits & dropped == 0);
                values.iter().copied().find(|value| !is_kept(*value))
            }
            _ => None,
        };
        changed.map_or(Ok(()), |value| {
            let (bits, column_type) = (encoding.bits(), encoding.column_type());
            Err(Error::request(format!(
                "{value:e} would change in a column of {column_type} with {bits} bits, and is to stay as it is; give it more bits, \
                 or use another encoding"
            )))
        })
    }
}

/// The bits of the float with the same value, sign of zero and payload of NaN; none if no float has them.
fn as_float(value: f64) -> Option<u32> {
    #[expect(clippy::cast_possible_truncation, reason = "compared with the value")]
    let narrow = value as f32;
    (f64::from(narrow).to_bits() == value.to_bits()).then_some(narrow.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(elements: &Elements) -> NeededBits {
        let mut needed = NeededBits::default();
        needed.add(elements);
        needed
    }

    fn real(column_type: ColumnType) -> Encoding {
        Encoding::new(column_type, *column_type.valid_bits().unwrap().start(), None).unwrap()
    }

    /// Whether a page of this type gives back the bits of the elements.
    fn round_trips(elements: &Elements, (column_type, bits): (ColumnType, u16)) -> bool {
        let (encoding, mut page) = (Encoding::new(column_type, bits, None).unwrap(), Vec::new());
        let is_double = matches!(elements, Elements::F64(_));
        if elements.encode(&encoding, 0..elements.len(), &mut page).is_err() {
            return false;
        }
        let mut read = Elements::new(encoding.kind(), is_double);
        read.decode(&encoding, &page, elements.len(), 0..elements.len()).unwrap();
        match (elements, &read) {
            (Elements::F32(a), Elements::F32(b)) => a.iter().map(|v| v.to_bits()).eq(b.iter().map(|v| v.to_bits())),
            (Elements::F64(a), Elements::F64(b)) => a.iter().map(|v| v.to_bits()).eq(b.iter().map(|v| v.to_bits())),
            _ => false,
        }
    }

    #[test]
    fn the_fewest_bits_keep_every_value_and_one_less_does_not() {
        let odd = [
            0.0_f32,
            -0.0,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::from_bits(0x7fc0_0000),
            f32::from_bits(0xffc1_2000),
            f32::from_bits(0x7f81_0000),
            f32::from_bits(0x0000_4000),
            -999.0,
            1.5,
        ];
        for last in [0x3f80_0001_u32, 0x3f80_0100, 0x3f81_0000, 0x3fc0_0000, 0x0000_0002] {
            let floats = Elements::F32(odd.iter().copied().chain([f32::from_bits(last)]).collect());
            let own = real(ColumnType::SplitReal32);
            match needed(&floats).narrower(&own, 10) {
                Some((column_type, bits)) => {
                    assert!(round_trips(&floats, (column_type, bits)), "{last:#x}");
                    let kept = Encoding::new(column_type, bits, None).unwrap();
                    floats.check_kept(&kept, 0..floats.len()).unwrap();
                    if bits > 10 {
                        assert!(!round_trips(&floats, (column_type, bits - 1)), "{last:#x}");
                        let fewer = Encoding::new(column_type, bits - 1, None).unwrap();
                        assert!(floats.check_kept(&fewer, 0..floats.len()).is_err());
                    }
                }
                None => assert_eq!(last & 1, 1),
            }
        }
    }

    #[test]
    fn doubles_that_are_floats_take_their_bits() {
        let own = real(ColumnType::SplitReal64);
        let of = |values: Vec<f64>| {
            let doubles = Elements::F64(values);
            let found = needed(&doubles).narrower(&own, 10);
            assert!(found.is_none_or(|found| round_trips(&doubles, found)));
            found
        };
        assert_eq!(of(vec![1.0, f64::from(0.1_f32)]), Some((ColumnType::SplitReal32, 32)));
        assert_eq!(of(vec![1.0, -0.0, f64::NAN, f64::NEG_INFINITY]), Some((ColumnType::Real32Trunc, 10)));
        // No floats: too precise, too large, too small, and a NaN with a longer payload.
        for wide in [0.1, 1e39, 1e-46, f64::from_bits(0x7ff8_0000_0000_0001), f64::from_bits(0x7ff0_0000_2000_0000)] {
            assert_eq!(of(vec![1.0, wide]), None, "{wide:e}");
            let single = real(ColumnType::Real32);
            assert!(Elements::F64(vec![wide]).check_kept(&single, 0..1).is_err());
        }
    }

    #[test]
    fn nothing_is_narrowed_for_nothing() {
        let ones = Elements::F32(vec![1.0; 3]);
        let truncated = Encoding::new(ColumnType::Real32Trunc, 10, None).unwrap();
        assert_eq!(needed(&ones).narrower(&truncated, 10), None);
        assert_eq!(needed(&ones).narrower(&real(ColumnType::Real32), 32), None);
        assert_eq!(needed(&ones).narrower(&real(ColumnType::Real16), 10), Some((ColumnType::Real32Trunc, 10)));
        assert_eq!(needed(&ones).narrower(&real(ColumnType::Real32), 16), Some((ColumnType::Real32Trunc, 16)));
        assert_eq!(needed(&Elements::F32(Vec::new())).narrower(&real(ColumnType::Real32), 10), None);
        assert_eq!(needed(&Elements::I32(vec![1])).narrower(&real(ColumnType::Int32), 10), None);
    }
}
