//! The floating-point numbers inside of Arrow arrays of any shape, as doubles. What they are for is not known here.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
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

/// Numbers that are shown at once: 64 kB of doubles. An entry may have many more.
const SHOWN: usize = 1 << 13;

/// Shows the numbers of an array, without those that are missing, some at a time.
pub(super) fn each(array: &ArrayRef, see: &mut dyn FnMut(&[f64])) {
    let within = |values: &ArrayRef, first: usize, last: usize| values.slice(first, last.saturating_sub(first));
    let at = |end: i64| usize::try_from(end).unwrap_or(0);
    match array.data_type() {
        DataType::Float32 => parts(array.as_primitive::<Float32Type>(), see),
        DataType::Float64 => parts(array.as_primitive::<Float64Type>(), see),
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            each(&within(list.values(), at(list.offsets().first()), at(list.offsets().last())), see);
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let (first, last) = (i64::from(list.offsets().first()), i64::from(list.offsets().last()));
            each(&within(list.values(), at(first), at(last)), see);
        }
        DataType::FixedSizeList(..) => each(array.as_fixed_size_list().values(), see),
        DataType::Map(..) => {
            let map = array.as_map();
            let (first, last) = (i64::from(map.offsets().first()), i64::from(map.offsets().last()));
            for column in map.entries().columns() {
                each(&within(column, at(first), at(last)), see);
            }
        }
        DataType::Struct(_) => array.as_struct().columns().iter().for_each(|column| each(column, see)),
        DataType::Union(fields, _) => {
            let union = array.as_union();
            fields.iter().for_each(|(tag, _)| each(union.child(tag), see));
        }
        _ => {}
    }
}

fn parts<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, see: &mut dyn FnMut(&[f64]))
where
    T::Native: Into<f64>,
{
    let mut numbers: Vec<f64> = Vec::with_capacity(SHOWN.min(array.len()));
    for first in (0..array.len()).step_by(SHOWN) {
        let part = array.slice(first, SHOWN.min(array.len() - first));
        numbers.clear();
        match part.null_count() {
            0 => numbers.extend(part.values().iter().map(|value| (*value).into())),
            _ => numbers.extend(part.iter().flatten().map(Into::into)),
        }
        see(&numbers);
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
        each(&both.slice(1, 2), &mut |some| found.extend_from_slice(some));
        assert_eq!(found, [2.0, 3.0, 4.0, 7.0]);
        assert_eq!(kinds(both.data_type()), [true, true]);
        assert_eq!(kinds(&DataType::Utf8), [false, false]);
    }
}
