//! The first member or item in which two Arrow values differ bit for bit, by its path. Branches are unknown here.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_cast::display::array_value_to_string;
use arrow_schema::DataType;

/// Longest value in a message, in characters.
const LONGEST_VALUE: usize = 60;

/// The first row in which two arrays of one type and length differ. Numbers are the same if their bits are.
pub(super) fn first_row(a: &ArrayRef, b: &ArrayRef) -> Option<usize> {
    if a == b {
        return None;
    }
    // The rows before `low` are equal, and one from `low` to `high` is not.
    let (mut low, mut high) = (0, a.len().min(b.len()));
    while high - low > 1 {
        let half = (high - low) / 2;
        if a.slice(low, half) == b.slice(low, half) { low += half } else { high = low + half }
    }
    Some(low)
}

/// The path of the first difference in a row, and the two values.
pub(super) fn describe(a: &ArrayRef, b: &ArrayRef, row: usize) -> (String, String) {
    let (mut a, mut b, mut row) = (a.slice(row, 1), b.slice(row, 1), 0);
    let mut path = String::new();
    loop {
        if a.is_null(row) || b.is_null(row) {
            return (path, format!("is {} and {}", text_of(&a, row), text_of(&b, row)));
        }
        match a.data_type() {
            DataType::Struct(fields) => {
                let (x, y) = (a.as_struct(), b.as_struct());
                let differs = |i: &usize| {
                    x.columns()
                        .get(*i)
                        .zip(y.columns().get(*i))
                        .is_some_and(|(x, y)| x.slice(row, 1) != y.slice(row, 1))
                };
                let Some(member) = (0..fields.len()).find(differs) else { break };
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(fields.get(member).map_or("", |field| field.name()));
                (a, b) = (x.column(member).slice(row, 1), y.column(member).slice(row, 1));
                row = 0;
            }
            DataType::LargeList(_) | DataType::FixedSizeList(..) => {
                let items = |array: &ArrayRef| match array.as_list_opt::<i64>() {
                    Some(list) => list.value(row),
                    None => array.as_fixed_size_list().value(row),
                };
                let (x, y) = (items(&a), items(&b));
                if x.len() != y.len() {
                    return (path, format!("has {} items and {}", x.len(), y.len()));
                }
                let Some(item) = first_row(&x, &y) else { break };
                // Writing to a string cannot fail.
                let _ = write!(path, "[{item}]");
                (a, b, row) = (x, y, item);
            }
            _ => break,
        }
    }
    (path, format!("is {} and {}", text_of(&a, row), text_of(&b, row)))
}

fn text_of(array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) {
        return "nothing".to_owned();
    }
    let text = array_value_to_string(array, row).unwrap_or_else(|_| "a value that cannot be shown".to_owned());
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Float64Type;
    use arrow_array::{LargeListArray, StructArray};
    use arrow_schema::Field;

    use super::*;

    fn lists(rows: &[&[f64]]) -> ArrayRef {
        let rows = rows.iter().map(|row| Some(row.iter().copied().map(Some)));
        let list: ArrayRef = Arc::new(LargeListArray::from_iter_primitive::<Float64Type, _, _>(rows));
        let field = Arc::new(Field::new("fX", list.data_type().clone(), false));
        Arc::new(StructArray::from(vec![(field, list)]))
    }

    #[test]
    fn bits_count() {
        let nan = f64::from_bits(0x7ff8_0000_0000_0001);
        let same = lists(&[&[1.0], &[], &[nan, 0.0]]);
        assert_eq!(first_row(&same, &lists(&[&[1.0], &[], &[nan, 0.0]])), None);
        assert_eq!(first_row(&same, &lists(&[&[1.0], &[], &[f64::NAN, 0.0]])), Some(2));
        assert_eq!(first_row(&same, &lists(&[&[1.0], &[], &[nan, -0.0]])), Some(2));
    }

    #[test]
    fn the_first_difference_is_named() {
        let a = lists(&[&[1.0], &[], &[2.0, 3.0, 4.0]]);
        for (b, row, path, what) in [
            (lists(&[&[1.0], &[], &[2.0, 3.5, 4.5]]), 2, "fX[1]", "is 3.0 and 3.5"),
            (lists(&[&[1.0], &[7.0], &[2.0]]), 1, "fX", "has 0 items and 1"),
            (lists(&[&[0.0], &[7.0], &[2.0]]), 0, "fX[0]", "is 1.0 and 0.0"),
        ] {
            assert_eq!(first_row(&a, &b), Some(row));
            assert_eq!(describe(&a, &b, row), (path.to_owned(), what.to_owned()));
        }
    }
}
