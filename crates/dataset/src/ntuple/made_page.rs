//! Pages that are not in any file: of zeroes, for values that are missing, with another number added to each element, and in
//! another encoding.

use rootfile::{Error, Result};

use super::element::{ColumnType, Elements, Encoding};

/// The uncompressed bytes of a page of zeroes: false, 0, empty collections, variants without a value.
///
/// # Errors
///
/// If the column cannot hold zeroes (a quantised column whose range excludes them), or if ROOT does not write its type.
pub fn zero_page(encoding: &Encoding, elements: usize) -> Result<Vec<u8>> {
    let mut zeros = Elements::new(encoding.kind(), false);
    zeros.append_zeros(elements)?;
    let mut page = Vec::with_capacity(encoding.page_len(elements).unwrap_or(0));
    zeros.encode(encoding, 0..elements, &mut page)?;
    Ok(page)
}

/// Adds a number to each element of an uncompressed page of 64-bit unsigned integers.
///
/// # Errors
///
/// If the column has other elements, if the page does not fit its elements, or if a sum needs more than 64 bits.
pub fn add_to_page(encoding: &Encoding, page: &[u8], elements: usize, number: u64, out: &mut Vec<u8>) -> Result<()> {
    let mut values = Elements::new(encoding.kind(), false);
    values.decode(encoding, page, elements, 0..elements)?;
    let Elements::U64(numbers) = &mut values else {
        return Err(Error::unsupported(format!("a column of type {} has no entry numbers", encoding.column_type())));
    };
    for value in numbers {
        *value = value.checked_add(number).ok_or_else(|| Error::corrupt(format!("an entry number of {value}")))?;
    }
    values.encode(encoding, 0..elements, out)
}

/// Encodes the elements of an uncompressed page in another way: numbers as 32 or 64 bits in floating point.
///
/// # Errors
///
/// If the page does not fit its elements, or if the elements cannot be encoded so.
pub fn recode_page((from, to): (&Encoding, &Encoding), page: &[u8], elements: usize, out: &mut Vec<u8>) -> Result<()> {
    let is_double = matches!(to.column_type(), ColumnType::Real64 | ColumnType::SplitReal64);
    let mut values = Elements::new(from.kind(), is_double);
    values.decode(from, page, elements, 0..elements)?;
    values.encode(to, 0..elements, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroes_are_zero_bytes_except_in_quantised_columns() {
        for column_type in ColumnType::all() {
            let bits = *column_type.valid_bits().unwrap().end();
            let encoding = Encoding::new(*column_type, bits, Some((-1.0, 3.0))).unwrap();
            match zero_page(&encoding, 9) {
                Err(_) => assert_eq!(*column_type, ColumnType::SplitReal16),
                Ok(page) => {
                    assert_eq!(Some(page.len()), encoding.page_len(9));
                    assert_eq!(page.iter().any(|byte| *byte != 0), *column_type == ColumnType::Real32Quant);
                }
            }
        }
        let positive = Encoding::new(ColumnType::Real32Quant, 8, Some((1.0, 3.0))).unwrap();
        assert!(zero_page(&positive, 1).is_err());
    }

    #[test]
    fn reduced_floats_become_whole_ones() {
        let reduced = Encoding::new(ColumnType::Real32Quant, 3, Some((0.0, 7.0))).unwrap();
        let mut page = Vec::new();
        Elements::F64(vec![0.0, 3.0, 7.0]).encode(&reduced, 0..3, &mut page).unwrap();
        for (column_type, bits) in [(ColumnType::SplitReal32, 32), (ColumnType::Real64, 64)] {
            let whole = Encoding::new(column_type, bits, None).unwrap();
            let (mut recoded, mut read) = (Vec::new(), Elements::new(whole.kind(), bits == 64));
            recode_page((&reduced, &whole), &page, 3, &mut recoded).unwrap();
            read.decode(&whole, &recoded, 3, 0..3).unwrap();
            match read {
                Elements::F32(values) => assert_eq!(values, [0.0, 3.0, 7.0]),
                Elements::F64(values) => assert_eq!(values, [0.0, 3.0, 7.0]),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn numbers_are_added_in_any_encoding() {
        for column_type in [ColumnType::UInt64, ColumnType::SplitUInt64] {
            let encoding = Encoding::new(column_type, 64, None).unwrap();
            let (mut page, mut added) = (Vec::new(), Vec::new());
            Elements::U64(vec![0, 5, 1 << 40]).encode(&encoding, 0..3, &mut page).unwrap();
            add_to_page(&encoding, &page, 3, 7, &mut added).unwrap();
            let mut read = Elements::new(encoding.kind(), false);
            read.decode(&encoding, &added, 3, 0..3).unwrap();
            assert!(matches!(read, Elements::U64(v) if v == [7, 12, (1 << 40) + 7]));
            assert!(add_to_page(&encoding, &page, 3, u64::MAX, &mut added).is_err());
        }
        let other = Encoding::new(ColumnType::UInt32, 32, None).unwrap();
        assert!(add_to_page(&other, &[0; 4], 1, 1, &mut Vec::new()).is_err());
    }
}
