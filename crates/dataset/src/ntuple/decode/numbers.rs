//! Numbers from columns of another type: which columns the fields of each type may have, and the conversion with the check
//! that ROOT makes.

use rootfile::{Error, Result};

use crate::decode::program::types::Number;
use crate::ntuple::element::{ColumnType, Elements, Kind};

use super::values::kind_of;

/// The number that a column has, if its field does not say.
pub(super) fn natural(column_type: ColumnType) -> Option<Number> {
    Some(match column_type.kind()? {
        Kind::Bool => Number::Bool,
        Kind::U8 if column_type == ColumnType::Char => Number::I8,
        Kind::U8 => Number::U8,
        Kind::I8 => Number::I8,
        Kind::I16 => Number::I16,
        Kind::U16 => Number::U16,
        Kind::I32 => Number::I32,
        Kind::U32 => Number::U32,
        Kind::I64 => Number::I64,
        Kind::U64 => Number::U64,
        Kind::F32 => Number::F32,
        Kind::F64 => Number::F64,
        Kind::Index | Kind::Switch => return None,
    })
}

fn is_float(number: Number) -> bool {
    matches!(number, Number::F32 | Number::F64)
}

/// Whether the specification lets a field of numbers be read from a column: floats from all columns of floats, integers,
/// characters and booleans from all columns of such.
pub(super) fn is_readable(number: Number, from: ColumnType) -> bool {
    natural(from).is_some_and(|stored| is_float(stored) == is_float(number))
}

/// Whether the elements of a column are such numbers without a conversion.
pub(in crate::ntuple) fn is_direct(number: Number, from: ColumnType) -> bool {
    match (natural(from), number) {
        // Decoded to doubles at once.
        (Some(Number::F32), Number::F64) => true,
        (natural, _) => natural == Some(number) && from.kind() == Some(kind_of(number)),
    }
}

/// Appends the numbers of a column of another type.
///
/// # Errors
///
/// If an integer does not fit: ROOT does not read such a value either.
pub(in crate::ntuple) fn convert(from: ColumnType, elements: Elements, out: &mut Elements) -> Result<()> {
    match elements {
        Elements::Bool(bits) => integers((0..bits.len()).map(|i| u8::from(bits.get_bit(i))), out),
        Elements::U8(v) if from == ColumnType::Char => integers(v.into_iter().map(u8::cast_signed), out),
        Elements::U8(v) => integers(v.into_iter(), out),
        Elements::I8(v) => integers(v.into_iter(), out),
        Elements::I16(v) => integers(v.into_iter(), out),
        Elements::U16(v) => integers(v.into_iter(), out),
        Elements::I32(v) => integers(v.into_iter(), out),
        Elements::U32(v) => integers(v.into_iter(), out),
        Elements::I64(v) => integers(v.into_iter(), out),
        Elements::U64(v) => integers(v.into_iter(), out),
        Elements::F64(v) => match out {
            #[expect(clippy::cast_possible_truncation, reason = "to the nearest float, as ROOT does")]
            Elements::F32(out) => {
                out.extend(v.into_iter().map(|value| value as f32));
                Ok(())
            }
            _ => Err(unreadable()),
        },
        Elements::F32(_) | Elements::Index(_) | Elements::Switch(_) => Err(unreadable()),
    }
}

fn integers<S>(values: impl ExactSizeIterator<Item = S>, out: &mut Elements) -> Result<()>
where
    S: Copy
        + std::fmt::Display
        + TryInto<i8>
        + TryInto<u8>
        + TryInto<i16>
        + TryInto<u16>
        + TryInto<i32>
        + TryInto<u32>
        + TryInto<i64>
        + TryInto<u64>,
{
    fn all<S: Copy + std::fmt::Display + TryInto<T>, T>(
        values: impl ExactSizeIterator<Item = S>,
        out: &mut Vec<T>,
        name: &str,
    ) -> Result<()> {
        out.reserve(values.len());
        for value in values {
            let fitting = value.try_into().map_err(|_| Error::corrupt(format!("{value} does not fit into {name}")))?;
            out.push(fitting);
        }
        Ok(())
    }
    match out {
        Elements::I8(out) => all(values, out, "a signed integer of 8 bits"),
        Elements::U8(out) => all(values, out, "an unsigned integer of 8 bits"),
        Elements::I16(out) => all(values, out, "a signed integer of 16 bits"),
        Elements::U16(out) => all(values, out, "an unsigned integer of 16 bits"),
        Elements::I32(out) => all(values, out, "a signed integer of 32 bits"),
        Elements::U32(out) => all(values, out, "an unsigned integer of 32 bits"),
        Elements::I64(out) => all(values, out, "a signed integer of 64 bits"),
        Elements::U64(out) => all(values, out, "an unsigned integer of 64 bits"),
        Elements::Bool(out) => {
            for value in values {
                match value.try_into() {
                    Ok(bit @ (0u8 | 1)) => out.append(bit == 1),
                    _ => return Err(Error::corrupt(format!("{value} does not fit into a boolean"))),
                }
            }
            Ok(())
        }
        _ => Err(unreadable()),
    }
}

#[cold]
fn unreadable() -> Error {
    Error::unsupported("a column whose elements do not become numbers of the field's type")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ntuple::decode::values::none_of;

    #[test]
    fn fields_read_the_columns_that_the_specification_allows() {
        let integers =
            [ColumnType::Bit, ColumnType::Char, ColumnType::UInt8, ColumnType::SplitInt64, ColumnType::Int16];
        let floats = [ColumnType::Real16, ColumnType::SplitReal32, ColumnType::Real64, ColumnType::Real32Quant];
        for number in [Number::Bool, Number::I8, Number::U16, Number::I32, Number::U64] {
            assert!(integers.iter().all(|column| is_readable(number, *column)), "{number:?}");
            assert!(!floats.iter().any(|column| is_readable(number, *column)), "{number:?}");
        }
        for number in [Number::F32, Number::F64] {
            assert!(floats.iter().all(|column| is_readable(number, *column)), "{number:?}");
            assert!(!integers.iter().any(|column| is_readable(number, *column)), "{number:?}");
        }
        assert!(!is_readable(Number::U64, ColumnType::Index64));
        assert!(!is_readable(Number::I8, ColumnType::Unknown(77)));
        assert!(is_direct(Number::F64, ColumnType::Real16) && is_direct(Number::I32, ColumnType::SplitInt32));
        assert!(!is_direct(Number::F32, ColumnType::Real64) && !is_direct(Number::I8, ColumnType::Char));
    }

    #[test]
    fn values_are_converted_if_they_fit() {
        let converted = |from, elements, number| {
            let mut out = none_of(kind_of(number));
            convert(from, elements, &mut out).map(|()| format!("{out:?}")).map_err(|e| e.to_string())
        };
        let wide = || Elements::I64(vec![-1, 127]);
        assert_eq!(converted(ColumnType::Int64, wide(), Number::I8).unwrap(), "I8([-1, 127])");
        assert!(converted(ColumnType::Int64, wide(), Number::U8).unwrap_err().contains("-1 does not fit"));
        assert!(converted(ColumnType::UInt64, Elements::U64(vec![1 << 63]), Number::I64).is_err());
        // A char has a sign, where ROOT runs.
        assert_eq!(converted(ColumnType::Char, Elements::U8(vec![255]), Number::I32).unwrap(), "I32([-1])");
        assert_eq!(converted(ColumnType::UInt8, Elements::U8(vec![255]), Number::I32).unwrap(), "I32([255])");
        assert!(converted(ColumnType::UInt8, Elements::U8(vec![255]), Number::I8).is_err());
        let mut bits = none_of(Kind::Bool);
        convert(ColumnType::Int16, Elements::I16(vec![0, 1]), &mut bits).unwrap();
        assert!(convert(ColumnType::Int16, Elements::I16(vec![2]), &mut bits).is_err());
        assert_eq!(converted(ColumnType::Bit, bits, Number::U16).unwrap(), "U16([0, 1])");
        assert_eq!(converted(ColumnType::Real64, Elements::F64(vec![0.1]), Number::F32).unwrap(), "F32([0.1])");
    }
}
