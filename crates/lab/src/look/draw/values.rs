//! The values of expressions in some entries as doubles, item by item: what lies in lists goes together with what lies in the same lists, and
//! with the one value of their entry.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use rootfile::{Error, Result};

/// The values of an expression in some entries.
#[derive(Debug)]
pub(super) struct Values {
    /// Where lists begin, from the outermost level on, and at the end where the last one ends; both from zero.
    levels: Vec<Vec<usize>>,
    numbers: Vec<f64>,
}

impl Values {
    /// Those of an array as expressions make them. Where there is no value is NaN.
    pub fn of(array: &ArrayRef) -> Result<Self> {
        let (mut levels, mut at) = (Vec::new(), ArrayRef::clone(array));
        while let DataType::LargeList(_) = at.data_type() {
            let lists = at.as_list::<i64>();
            let offsets = lists.value_offsets();
            let first = offsets.first().copied().unwrap_or(0);
            let from_zero = |offset: &i64| usize::try_from(*offset - first).unwrap_or(0);
            levels.push(offsets.iter().map(from_zero).collect::<Vec<usize>>());
            let count = offsets.last().map_or(0, from_zero);
            at = lists.values().slice(usize::try_from(first).unwrap_or(0), count);
        }
        #[expect(clippy::cast_precision_loss, reason = "bins are doubles")]
        let mut numbers: Vec<f64> = match at.data_type() {
            DataType::Boolean => at.as_boolean().values().iter().map(|value| f64::from(u8::from(value))).collect(),
            DataType::Int64 => at.as_primitive::<Int64Type>().values().iter().map(|value| *value as f64).collect(),
            DataType::UInt64 => at.as_primitive::<UInt64Type>().values().iter().map(|value| *value as f64).collect(),
            DataType::Float64 => at.as_primitive::<Float64Type>().values().to_vec(),
            other => return Err(Error::request(format!("numbers are needed, and this has {other}"))),
        };
        if let Some(valid) = at.nulls() {
            let missing = numbers.iter_mut().zip(valid).filter(|(_, is_valid)| !is_valid);
            missing.for_each(|(number, _)| *number = f64::NAN);
        }
        Ok(Self { levels, numbers })
    }

    /// The items of an entry.
    fn items(&self, row: usize) -> Range<usize> {
        let place = |row: usize| self.levels.iter().fold(row, |at, level| level.get(at).copied().unwrap_or(0));
        place(row)..place(row + 1)
    }

    /// The value of an item of an entry.
    fn at(&self, row: usize, item: usize) -> f64 {
        self.numbers.get(if self.levels.is_empty() { row } else { item }).copied().unwrap_or(f64::NAN)
    }
}

/// The values of several expressions in the same entries.
pub(super) struct Together {
    parts: Vec<Values>,
    /// The one whose lists say how many items there are.
    widest: usize,
}

impl Together {
    /// The error is the first row in which lists have different lengths.
    pub fn new(parts: Vec<Values>, rows: usize) -> std::result::Result<Self, usize> {
        let (mut widest, mut depth) = (0, 0);
        for (place, part) in parts.iter().enumerate() {
            if part.levels.len() > depth {
                (widest, depth) = (place, part.levels.len());
            }
        }
        let lists = || parts.iter().filter(|part| !part.levels.is_empty());
        if let Some(first) = lists().next()
            && lists().any(|other| other.levels != first.levels)
        {
            let differs = |row: &usize| lists().any(|other| other.items(*row) != first.items(*row));
            return Err((0..rows).find(differs).unwrap_or(0));
        }
        Ok(Self { parts, widest })
    }

    /// The items of an entry.
    pub fn items(&self, row: usize) -> Range<usize> {
        self.parts.get(self.widest).map_or(row..row + 1, |part| part.items(row))
    }

    /// The value of a part in an item of an entry; one without such a part.
    pub fn at(&self, part: Option<usize>, row: usize, item: usize) -> f64 {
        part.map_or(1.0, |part| self.parts.get(part).map_or(f64::NAN, |part| part.at(row, item)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BooleanArray, Float64Array, Int64Array, LargeListArray};

    use super::*;

    fn lists(lists: Vec<Option<Vec<Option<f64>>>>) -> Values {
        Values::of(&(Arc::new(LargeListArray::from_iter_primitive::<Float64Type, _, _>(lists)) as ArrayRef)).unwrap()
    }

    #[test]
    fn one_value_of_an_entry_goes_with_each_item() {
        let x = lists(vec![Some(vec![Some(1.0), None]), Some(vec![]), Some(vec![Some(3.0)])]);
        let weight = Values::of(&(Arc::new(Int64Array::from(vec![10, 20, 30])) as ArrayRef)).unwrap();
        let both = Together::new(vec![weight, x], 3).unwrap();
        let items: Vec<Range<usize>> = (0..3).map(|row| both.items(row)).collect();
        assert_eq!(items, [0..2, 2..2, 2..3]);
        assert_eq!((both.at(Some(1), 2, 2), both.at(Some(0), 2, 2), both.at(None, 2, 2)), (3.0, 30.0, 1.0));
        assert!(both.at(Some(1), 0, 1).is_nan());
    }

    #[test]
    fn lists_of_different_lengths_do_not_go_together() {
        let (one, other) = (vec![Some(vec![Some(1.0)]), Some(vec![])], vec![Some(vec![Some(1.0)]), Some(vec![None])]);
        assert_eq!(Together::new(vec![lists(one.clone()), lists(other)], 2).err(), Some(1));
        assert!(Together::new(vec![lists(one.clone()), lists(one)], 2).is_ok());
    }

    #[test]
    fn each_type_becomes_doubles() {
        let truth = Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])) as ArrayRef;
        let values = Values::of(&truth).unwrap();
        assert_eq!((values.at(0, 0), values.at(2, 2), values.at(1, 1).is_nan()), (1.0, 0.0, true));
        let sliced = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]).slice(1, 2)) as ArrayRef;
        assert_eq!(Values::of(&sliced).unwrap().numbers, [2.0, 3.0]);
    }
}
