//! The Arrow type in which the values of a tree's column and of an RNTuple's field can be compared.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use rootfile::{Error, Result};

/// The values of an array in a common type.
pub(super) fn converted(array: ArrayRef, common_type: Option<&DataType>) -> Result<ArrayRef> {
    let Some(common) = common_type.filter(|common| *common != array.data_type()) else { return Ok(array) };
    let unsupported = |e: arrow_schema::ArrowError| Error::unsupported(e.to_string());
    let array = match (flat(array.data_type()), flat(common)) {
        (Some(DataType::FixedSizeList(item, size)), None) => {
            let mut values = Arc::clone(array.as_fixed_size_list().values());
            while let Some(list) = values.as_fixed_size_list_opt() {
                values = Arc::clone(list.values());
            }
            Arc::new(FixedSizeListArray::try_new(item, size, values, None).map_err(unsupported)?)
        }
        _ => array,
    };
    if array.data_type() == common { Ok(array) } else { arrow_cast::cast(&array, common).map_err(unsupported) }
}

/// The type of an array of arrays as one array. None if it is not one.
fn flat(data_type: &DataType) -> Option<DataType> {
    let DataType::FixedSizeList(item, size) = data_type else { return None };
    let (mut item, mut size, mut depth) = (Arc::clone(item), *size, 0);
    while let DataType::FixedSizeList(inner, each) = item.data_type() {
        size = size.checked_mul(*each)?;
        depth += 1;
        item = Arc::clone(inner);
    }
    (depth > 0).then_some(DataType::FixedSizeList(item, size))
}

/// The type in which values of two types can be compared: the wider one of two numbers.
pub(super) fn common_type(a: &DataType, b: &DataType) -> Option<DataType> {
    let item = |a: &Field, b: &Field| {
        let item = common_type(a.data_type(), b.data_type())?;
        Some(Arc::new(Field::new("item", item, a.is_nullable() || b.is_nullable())))
    };
    Some(match (a, b) {
        (DataType::Union(..), DataType::Union(..)) if a == b => a.clone(),
        (DataType::FixedSizeList(..), DataType::FixedSizeList(..)) if flat(a).is_some() || flat(b).is_some() => {
            return common_type(&flat(a).unwrap_or_else(|| a.clone()), &flat(b).unwrap_or_else(|| b.clone()));
        }
        (DataType::LargeList(a), DataType::LargeList(b)) => DataType::LargeList(item(a, b)?),
        (DataType::FixedSizeList(a, size), DataType::FixedSizeList(b, other)) if size == other => {
            DataType::FixedSizeList(item(a, b)?, *size)
        }
        (
            DataType::LargeList(a) | DataType::FixedSizeList(a, _),
            DataType::LargeList(b) | DataType::FixedSizeList(b, _),
        ) => DataType::LargeList(item(a, b)?),
        (DataType::Struct(a), DataType::Struct(b)) if a.len() == b.len() => {
            let member = |(a, b): (&FieldRef, &FieldRef)| {
                let of_both = common_type(a.data_type(), b.data_type()).filter(|_| a.name() == b.name())?;
                Some(Field::new(a.name(), of_both, a.is_nullable() || b.is_nullable()))
            };
            DataType::Struct(a.iter().zip(b).map(member).collect::<Option<Fields>>()?)
        }
        _ if a == b => a.clone(),
        _ if a.is_floating() && b.is_floating() => DataType::Float64,
        _ if a.is_integer() && b.is_integer() => wider(a, b),
        (DataType::Boolean, other) | (other, DataType::Boolean) if other.is_integer() => other.clone(),
        _ => return None,
    })
}

/// The integer that holds the values of two. A negative number is no value of the largest unsigned type, and then differs.
fn wider(a: &DataType, b: &DataType) -> DataType {
    match (a, b) {
        (DataType::UInt64, _) | (_, DataType::UInt64) => DataType::UInt64,
        _ => DataType::Int64,
    }
}

/// Whether two types are the same but for the names and nulls of items.
pub(super) fn is_alike(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::LargeList(a), DataType::LargeList(b)) => is_alike(a.data_type(), b.data_type()),
        (DataType::FixedSizeList(a, n), DataType::FixedSizeList(b, m)) => {
            n == m && is_alike(a.data_type(), b.data_type())
        }
        (DataType::Struct(a), DataType::Struct(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_alike(a.data_type(), b.data_type()))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{Int8Array, PrimitiveArray, UInt64Array};

    use super::*;

    fn list(item: DataType) -> DataType {
        DataType::LargeList(Arc::new(Field::new("x", item, false)))
    }

    fn fixed(item: DataType, size: i32) -> DataType {
        DataType::FixedSizeList(Arc::new(Field::new("x", item, false)), size)
    }

    #[test]
    fn the_wider_number_is_common() {
        let common = |a, b| common_type(&a, &b);
        assert_eq!(common(DataType::Float32, DataType::Float64), Some(DataType::Float64));
        assert_eq!(common(DataType::Int8, DataType::UInt32), Some(DataType::Int64));
        assert_eq!(common(DataType::Float32, DataType::Int32), None);
        assert_eq!(common(DataType::LargeUtf8, DataType::LargeBinary), None);
        let lists = common(list(DataType::Int8), fixed(DataType::Int16, 3)).unwrap();
        assert!(matches!(lists, DataType::LargeList(item) if *item.data_type() == DataType::Int64));
        let arrays = common(fixed(fixed(DataType::Int32, 2), 5), fixed(DataType::Int32, 10)).unwrap();
        assert!(matches!(arrays, DataType::FixedSizeList(item, 10) if *item.data_type() == DataType::Int32));
    }

    #[test]
    fn values_are_the_same_numbers() {
        let small: ArrayRef = Arc::new(Int8Array::from(vec![1, -1]));
        let cast = converted(small, Some(&DataType::UInt64)).unwrap();
        assert_eq!(&*cast, &UInt64Array::from(vec![Some(1), None]), "a negative number is no unsigned one");
        let inner = Arc::new(PrimitiveArray::<Int32Type>::from_iter_values(0..4));
        let item = |data_type: &DataType| Arc::new(Field::new("x", data_type.clone(), false));
        let pairs: ArrayRef = Arc::new(FixedSizeListArray::new(item(&DataType::Int32), 2, inner, None));
        let of_pairs: ArrayRef = Arc::new(FixedSizeListArray::new(item(pairs.data_type()), 2, pairs, None));
        let common = common_type(of_pairs.data_type(), &fixed(DataType::Int32, 4)).unwrap();
        let flattened = converted(of_pairs, Some(&common)).unwrap();
        assert_eq!((flattened.len(), flattened.as_fixed_size_list().values().len()), (1, 4));
    }
}
