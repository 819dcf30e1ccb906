//! The floating-point numbers inside of Arrow arrays of any shape, as doubles. What they are for is not known here.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

/// Which types of floating-point numbers arrays of a type hold: floats, doubles.
pub(super) fn kinds(data_type: &DataType) -> [bool; 2] {
    let join = |[a, b]: [bool; 2], [c, d]: [bool; 2]| [a || c, b || d];
    match data_type {
        DataType::Float32 => [true, false],
        DataType::Float64 => [false, true],
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => kinds(item.data_type()),
        DataType::Struct(fields) => fields.iter().map(|field| kinds(field.data_type())).fold([false; 2], join),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| kinds(field.data_type())).fold([false; 2], join),
        _ => [false; 2],
    }
}

/// Appends the numbers of an array, without those that are missing.
pub(super) fn append(array: &ArrayRef, out: &mut Vec<f64>) {
    let within = |values: &ArrayRef, first: usize, last: usize| values.slice(first, last.saturating_sub(first));
    let at = |end: i64| usize::try_from(end).unwrap_or(0);
    match array.data_type() {
        DataType::Float32 => {
            let numbers = array.as_primitive::<Float32Type>();
            match numbers.null_count() {
                0 => out.extend(numbers.values().iter().map(|value| f64::from(*value))),
                _ => out.extend(numbers.iter().flatten().map(f64::from)),
            }
        }
        DataType::Float64 => {
            let numbers = array.as_primitive::<Float64Type>();
            match numbers.null_count() {
                0 => out.extend_from_slice(numbers.values()),
                _ => out.extend(numbers.iter().flatten()),
            }
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            append(&within(list.values(), at(list.offsets().first()), at(list.offsets().last())), out);
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let (first, last) = (i64::from(list.offsets().first()), i64::from(list.offsets().last()));
            append(&within(list.values(), at(first), at(last)), out);
        }
        DataType::FixedSizeList(..) => append(array.as_fixed_size_list().values(), out),
        DataType::Map(..) => {
            let map = array.as_map();
            let (first, last) = (i64::from(map.offsets().first()), i64::from(map.offsets().last()));
            for column in map.entries().columns() {
                append(&within(column, at(first), at(last)), out);
            }
        }
        DataType::Struct(_) => array.as_struct().columns().iter().for_each(|column| append(column, out)),
        DataType::Union(fields, _) => {
            let union = array.as_union();
            fields.iter().for_each(|(tag, _)| append(union.child(tag), out));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Float32Array, Float64Array, LargeListArray, StructArray};
    use arrow_buffer::{OffsetBuffer, ScalarBuffer};
    use arrow_schema::Field;

    use super::*;

    #[test]
    fn numbers_are_found_at_any_depth_and_only_those_of_the_slice() {
        let items: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0, 4.0]));
        let item = Arc::new(Field::new("item", DataType::Float64, false));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![0_i64, 1, 1, 4]));
        let lists: ArrayRef = Arc::new(LargeListArray::new(item, offsets, items, None));
        let floats: ArrayRef = Arc::new(Float32Array::from(vec![Some(5.0), None, Some(7.0)]));
        let field = |name: &str, of: &ArrayRef| Arc::new(Field::new(name, of.data_type().clone(), true));
        let both = StructArray::from(vec![(field("a", &lists), lists), (field("b", &floats), floats)]);
        let both: ArrayRef = Arc::new(both);
        let mut found = Vec::new();
        append(&both.slice(1, 2), &mut found);
        assert_eq!(found, [2.0, 3.0, 4.0, 7.0]);
        assert_eq!(kinds(both.data_type()), [true, true]);
        assert_eq!(kinds(&DataType::Utf8), [false, false]);
    }
}
