//! Which column type stores the numbers of a field.
//!
//! Facts: `RField.cxx` and `RFieldBase.cxx`, the first representation of each field (`GetColumnRepresentations`);
//! `RFieldBase::AutoAdjustColumnTypes`: without compression the elements of a page are not split, except for `Double32_t`.

use rootfile::Result;

use crate::decode::program::types::Number;
use crate::layout::ColumnEncoding;
use crate::ntuple::element::{ColumnType, Encoding, Kind};

/// How the columns of a field are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FieldEncoding {
    /// The requested encoding. Absent: split if pages are compressed, as in ROOT.
    pub column: Option<ColumnEncoding>,
    /// Whether pages are compressed.
    pub compressed: bool,
}

/// A column type with bits and range.
pub(super) type StoredAs = (ColumnType, u16, Option<(f64, f64)>);

impl FieldEncoding {
    /// Whether the request is for a number of bits.
    pub(super) fn names_bits(self) -> bool {
        !matches!(self.column, None | Some(ColumnEncoding::Plain | ColumnEncoding::Split | ColumnEncoding::Exact(_)))
    }

    /// The elements of a column of floats, or of doubles.
    ///
    /// # Errors
    ///
    /// If the encoding does not fit them.
    pub fn element(self, double: bool) -> Result<Encoding> {
        let (column_type, bits, range) = self.number(if double { Number::F64 } else { Number::F32 });
        Encoding::new(column_type, bits, range)
    }

    /// Bits of mantissa to which numbers of a column of this type are rounded, if they are.
    pub(super) fn mantissa(self, column_type: ColumnType) -> Option<u16> {
        match (column_type.kind(), self.column) {
            (Some(Kind::F32 | Kind::F64), Some(ColumnEncoding::Mantissa(bits))) => Some(bits),
            _ => None,
        }
    }

    /// The column type for elements of a type, given without split encoding.
    fn stored(self, plain: ColumnType) -> StoredAs {
        let split = match self.column {
            Some(ColumnEncoding::Plain) => false,
            Some(ColumnEncoding::Split) => true,
            _ => self.compressed,
        };
        let column_type = if split { plain.split().unwrap_or(plain) } else { plain };
        (column_type, column_type.valid_bits().map_or(0, |bits| *bits.start()), None)
    }

    /// The column of ends.
    pub(super) fn ends(self) -> StoredAs {
        self.stored(ColumnType::Index64)
    }

    /// The column of numbers. For `exact` it has all bits: which ones are needed is known when the values are.
    pub(super) fn number(self, number: Number) -> StoredAs {
        match (number, self.column) {
            (Number::F32 | Number::F64, Some(ColumnEncoding::Half)) => (ColumnType::Real16, 16, None),
            (Number::F64, Some(ColumnEncoding::Single)) => self.stored(ColumnType::Real32),
            (Number::F32 | Number::F64, Some(ColumnEncoding::Truncated(bits))) => (ColumnType::Real32Trunc, bits, None),
            (Number::F32 | Number::F64, Some(ColumnEncoding::Quantized { bits, least, most })) => {
                (ColumnType::Real32Quant, bits, Some((least, most)))
            }
            _ => self.stored(plain(number)),
        }
    }

    /// The column of a `Double32_t`.
    pub(super) fn double32(self) -> StoredAs {
        match self.column {
            None | Some(ColumnEncoding::Exact(_)) => (ColumnType::SplitReal32, 32, None),
            Some(_) => self.number(Number::F32),
        }
    }
}

fn plain(number: Number) -> ColumnType {
    match number {
        Number::Bool => ColumnType::Bit,
        Number::I8 => ColumnType::Int8,
        Number::U8 => ColumnType::UInt8,
        Number::I16 => ColumnType::Int16,
        Number::U16 => ColumnType::UInt16,
        Number::I32 => ColumnType::Int32,
        Number::U32 => ColumnType::UInt32,
        Number::I64 => ColumnType::Int64,
        Number::U64 => ColumnType::UInt64,
        Number::F32 => ColumnType::Real32,
        Number::F64 => ColumnType::Real64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_split_if_they_are_compressed() {
        let packed = FieldEncoding { column: None, compressed: true };
        assert_eq!(packed.number(Number::I32), (ColumnType::SplitInt32, 32, None));
        assert_eq!(packed.number(Number::Bool), (ColumnType::Bit, 1, None));
        assert_eq!(packed.ends(), (ColumnType::SplitIndex64, 64, None));
        let stored = FieldEncoding::default();
        assert_eq!(stored.number(Number::F64), (ColumnType::Real64, 64, None));
        assert_eq!(stored.double32(), (ColumnType::SplitReal32, 32, None));
        let narrow = |column| FieldEncoding { column: Some(column), compressed: true };
        assert_eq!(narrow(ColumnEncoding::Single).number(Number::F64), (ColumnType::SplitReal32, 32, None));
        assert_eq!(narrow(ColumnEncoding::Half).number(Number::F32), (ColumnType::Real16, 16, None));
        assert_eq!(narrow(ColumnEncoding::Double).number(Number::F64), (ColumnType::SplitReal64, 64, None));
        assert_eq!(narrow(ColumnEncoding::Double).number(Number::F32), (ColumnType::SplitReal32, 32, None));
        assert_eq!(narrow(ColumnEncoding::Exact(Some(12))).number(Number::F32), (ColumnType::SplitReal32, 32, None));
        let truncated = FieldEncoding { column: Some(ColumnEncoding::Truncated(12)), compressed: true };
        assert_eq!(truncated.number(Number::F64), (ColumnType::Real32Trunc, 12, None));
        assert_eq!(truncated.number(Number::I64), (ColumnType::SplitInt64, 64, None));
    }
}
