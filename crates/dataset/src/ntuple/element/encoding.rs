//! A column type with its parameters, checked: what is needed to decode the pages of a column.

use rootfile::{Error, Result};

use super::column_type::{ColumnType, Kind};

/// The encoding of a column's pages: a known type, a valid number of bits, and a range if the type needs one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Encoding {
    column_type: ColumnType,
    kind: Kind,
    bits: u16,
    range: (f64, f64),
}

impl Encoding {
    /// The encoding that a column's description states: its type, the bits of an element in a page, and the smallest and the
    /// largest value of a quantised column.
    ///
    /// # Errors
    ///
    /// If the type is unknown (unsupported), or if bits or range do not fit the type (corrupt).
    pub fn new(column_type: ColumnType, bits: u16, range: Option<(f64, f64)>) -> Result<Self> {
        let (Some(kind), Some(valid)) = (column_type.kind(), column_type.valid_bits()) else {
            return Err(Error::unsupported(format!("{column_type}: a later version of the format defines it")));
        };
        if !valid.contains(&bits) {
            let (least, most) = valid.into_inner();
            let allowed = if least == most { format!("{least}") } else { format!("{least} to {most}") };
            return Err(Error::corrupt(format!(
                "a column of type {column_type} has elements of {bits} bits, not {allowed}"
            )));
        }
        let range = match range {
            _ if column_type != ColumnType::Real32Quant => (0.0, 0.0),
            Some((min, max)) if min.is_finite() && max.is_finite() && min <= max => (min, max),
            Some((min, max)) => return Err(Error::corrupt(format!("a quantised column has the range {min} to {max}"))),
            None => return Err(Error::corrupt("a quantised column has no range")),
        };
        Ok(Self { column_type, kind, bits, range })
    }

    /// The column type.
    pub fn column_type(&self) -> ColumnType {
        self.column_type
    }

    /// What a decoded element is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Bits of an element in a page.
    pub fn bits(&self) -> u16 {
        self.bits
    }

    /// The smallest and the largest value of a quantised column; zeroes for others.
    pub fn range(&self) -> (f64, f64) {
        self.range
    }

    /// Whether elements lie in a page as in the memory of a little-endian machine. `double`: they are doubles.
    pub fn is_native(&self, double: bool) -> bool {
        use ColumnType::{Byte, Char, Int8, Int16, Int32, Int64, Real32, Real64, UInt8, UInt16, UInt32, UInt64};
        match self.column_type {
            Byte | Char | Int8 | UInt8 | Int16 | UInt16 | Int32 | UInt32 | Int64 | UInt64 | Real64 => true,
            Real32 => !double,
            _ => false,
        }
    }

    /// The bytes of an uncompressed page. None if they are more than memory can address.
    pub fn page_len(&self, elements: usize) -> Option<usize> {
        Some(elements.checked_mul(usize::from(self.bits))?.div_ceil(8))
    }
}
