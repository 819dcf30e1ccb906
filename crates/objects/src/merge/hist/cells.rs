//! The contents of a histogram's cells in their own type, added as ROOT adds them: eight-, sixteen- and
//! thirty-two-bit counts stop at their largest value, floats are rounded at each addition.

use rootfile::object::Array;
use rootfile::streamer::code;

/// Cell contents.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cells {
    code: i32,
    numbers: Numbers,
}

#[derive(Clone, Debug, PartialEq)]
enum Numbers {
    Whole(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
}

impl Cells {
    /// Reads a `TArray`.
    pub fn decode(array: &Array) -> Self {
        let numbers = match array.code {
            code::FLOAT => {
                Numbers::Float(array.raw.as_chunks::<4>().0.iter().map(|c| f32::from_be_bytes(*c)).collect())
            }
            code::DOUBLE => Numbers::Double(array.to_f64()),
            _ => Numbers::Whole(array.to_i64()),
        };
        Self { code: array.code, numbers }
    }

    /// The array's bytes.
    #[expect(clippy::cast_possible_truncation, reason = "kept within the type at each addition")]
    pub fn encode(&self) -> Vec<u8> {
        match &self.numbers {
            Numbers::Float(v) => v.iter().flat_map(|v| v.to_be_bytes()).collect(),
            Numbers::Double(v) => v.iter().flat_map(|v| v.to_be_bytes()).collect(),
            Numbers::Whole(v) => match self.code {
                code::CHAR => v.iter().flat_map(|v| (*v as i8).to_be_bytes()).collect(),
                code::SHORT => v.iter().flat_map(|v| (*v as i16).to_be_bytes()).collect(),
                code::INT => v.iter().flat_map(|v| (*v as i32).to_be_bytes()).collect(),
                _ => v.iter().flat_map(|v| v.to_be_bytes()).collect(),
            },
        }
    }

    pub fn len(&self) -> usize {
        match &self.numbers {
            Numbers::Whole(v) => v.len(),
            Numbers::Float(v) => v.len(),
            Numbers::Double(v) => v.len(),
        }
    }

    /// One content.
    #[expect(clippy::cast_precision_loss, reason = "TH1 hands contents out as doubles, also those of TH1L")]
    pub fn get(&self, cell: usize) -> f64 {
        match &self.numbers {
            Numbers::Whole(v) => v.get(cell).map_or(0.0, |v| *v as f64),
            Numbers::Float(v) => v.get(cell).map_or(0.0, |v| f64::from(*v)),
            Numbers::Double(v) => v.get(cell).copied().unwrap_or(0.0),
        }
    }

    /// Adds to one content.
    #[expect(clippy::cast_possible_truncation, reason = "as TH1::AddBinContent does")]
    pub fn add(&mut self, cell: usize, content: f64) {
        let limit = match self.code {
            code::CHAR => i64::from(i8::MAX),
            code::SHORT => i64::from(i16::MAX),
            code::INT => i64::from(i32::MAX),
            _ => i64::MAX,
        };
        match &mut self.numbers {
            Numbers::Whole(v) => {
                if let Some(v) = v.get_mut(cell) {
                    *v = v.saturating_add(content as i64).clamp(-limit, limit);
                }
            }
            Numbers::Float(v) => {
                if let Some(v) = v.get_mut(cell) {
                    *v += content as f32;
                }
            }
            Numbers::Double(v) => {
                if let Some(v) = v.get_mut(cell) {
                    *v += content;
                }
            }
        }
    }

    /// Empty cells of this type.
    pub fn empty(&self, len: usize) -> Self {
        let numbers = match &self.numbers {
            Numbers::Whole(_) => Numbers::Whole(vec![0; len]),
            Numbers::Float(_) => Numbers::Float(vec![0.0; len]),
            Numbers::Double(_) => Numbers::Double(vec![0.0; len]),
        };
        Self { code: self.code, numbers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stop_at_the_largest_value_of_their_type() {
        for (code, raw, largest) in [
            (code::CHAR, vec![100], 127.0),
            (code::SHORT, vec![0x7F, 0xF0], 32767.0),
            (code::INT, vec![0x7F, 0xFF, 0xFF, 0xF0], 2_147_483_647.0),
        ] {
            let mut cells = Cells::decode(&Array { code, raw });
            cells.add(0, 100.0);
            assert_eq!(cells.get(0), largest);
            cells.add(0, -3.0 * largest);
            assert_eq!(cells.get(0), -largest);
            assert_eq!(Cells::decode(&Array { code, raw: cells.encode() }), cells);
        }
    }

    #[test]
    fn floats_are_rounded_at_each_addition() {
        let mut cells = Cells::decode(&Array { code: code::FLOAT, raw: 16_777_216f32.to_be_bytes().to_vec() });
        cells.add(0, 1.0);
        assert_eq!(cells.get(0), 16_777_216.0);
        assert_eq!(cells.empty(3).len(), 3);
    }
}
