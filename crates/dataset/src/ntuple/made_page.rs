//! Pages that are not in any file: of zeroes, for values that are missing, and with another number added to each element.

use rootfile::{Error, Result};

use super::element::{Elements, Encoding};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ntuple::element::ColumnType;

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
