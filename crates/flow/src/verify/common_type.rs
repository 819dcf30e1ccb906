//! The Arrow type in which the values of a tree's column and of an RNTuple's field can be compared.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, LargeListArray, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use rootfile::{Error, Result};

/// The values of an array in a common type.
pub(super) fn converted(array: ArrayRef, common_type: Option<&DataType>) -> Result<ArrayRef> {
    let Some(common) = common_type.filter(|common| *common != array.data_type()) else { return Ok(array) };
    let unsupported = |e: ArrowError| Error::unsupported(e.to_string());
    let array = match (flat(array.data_type()), flat(common)) {
        (Some(_), None) => flattened(&array).map_err(unsupported)?,
        _ => array,
    };
    if array.data_type() == common { Ok(array) } else { arrow_cast::cast(&array, common).map_err(unsupported) }
}

/// The type with arrays of arrays as one array, and lists of arrays as one list, as ROOT's importer makes them. None if there are
/// none.
fn flat(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::FixedSizeList(item, size) => {
            let (inner, each) = innermost(item);
            (each > 1 || inner != item).then(|| DataType::FixedSizeList(Arc::clone(inner), size.saturating_mul(each)))
        }
        DataType::LargeList(item) => {
            let (inner, _) = innermost(item);
            (inner != item).then(|| DataType::LargeList(Arc::clone(inner)))
        }
        DataType::Struct(members) => {
            let flats: Vec<Option<DataType>> = members.iter().map(|member| flat(member.data_type())).collect();
            let member = |(member, flat): (&FieldRef, &Option<DataType>)| {
                let flat = flat.clone().unwrap_or_else(|| member.data_type().clone());
                Arc::new(member.as_ref().clone().with_data_type(flat))
            };
            let is_changed = flats.iter().any(Option::is_some);
            is_changed.then(|| DataType::Struct(members.iter().zip(&flats).map(member).collect()))
        }
        _ => None,
    }
}

/// The items of arrays in arrays, and how many of them an item has.
fn innermost(item: &FieldRef) -> (&FieldRef, i32) {
    let (mut item, mut each) = (item, 1i32);
    while let DataType::FixedSizeList(inner, size) = item.data_type() {
        each = each.saturating_mul(*size);
        item = inner;
    }
    (item, each)
}

/// The array in its flat type.
fn flattened(array: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
    let values_of = |values: &ArrayRef| {
        let mut values = Arc::clone(values);
        while let Some(arrays) = values.as_fixed_size_list_opt() {
            values = Arc::clone(arrays.values());
        }
        values
    };
    Ok(match (array.data_type(), flat(array.data_type())) {
        (DataType::FixedSizeList(..), Some(DataType::FixedSizeList(item, size))) => {
            let values = values_of(array.as_fixed_size_list().values());
            Arc::new(FixedSizeListArray::try_new(item, size, values, None)?)
        }
        (DataType::LargeList(nested), Some(DataType::LargeList(item))) => {
            let (list, each) = (array.as_list::<i64>(), i64::from(innermost(nested).1));
            let offsets: Vec<i64> = list.offsets().iter().map(|offset| offset.saturating_mul(each)).collect();
            let offsets = OffsetBuffer::new(offsets.into());
            Arc::new(LargeListArray::try_new(item, offsets, values_of(list.values()), None)?)
        }
        (DataType::Struct(_), Some(DataType::Struct(members))) => {
            let columns = array.as_struct().columns().iter().map(flattened);
            let columns = columns.collect::<std::result::Result<Vec<_>, _>>()?;
            Arc::new(StructArray::try_new(members, columns, array.nulls().cloned())?)
        }
        _ => Arc::clone(array),
    })
}

/// The type in which values of two types can be compared: the wider one of two numbers, and one array for arrays of arrays.
pub(super) fn common_type(a: &DataType, b: &DataType) -> Option<DataType> {
    widest(a, b).or_else(|| match (flat(a), flat(b)) {
        (None, None) => None,
        (of_a, of_b) => widest(of_a.as_ref().unwrap_or(a), of_b.as_ref().unwrap_or(b)),
    })
}

fn widest(a: &DataType, b: &DataType) -> Option<DataType> {
    let item = |a: &Field, b: &Field| {
        let item = widest(a.data_type(), b.data_type())?;
        Some(Arc::new(Field::new("item", item, a.is_nullable() || b.is_nullable())))
    };
    Some(match (a, b) {
        (DataType::Union(..), DataType::Union(..)) if a == b => a.clone(),
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
                let of_both = widest(a.data_type(), b.data_type()).filter(|_| a.name() == b.name())?;
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
        assert!(flat(&common(list(fixed(DataType::Int32, 3)), list(DataType::Int32)).unwrap()).is_none());
    }

    #[test]
    fn values_are_the_same_numbers() {
        let small: ArrayRef = Arc::new(Int8Array::from(vec![1, -1]));
        let cast = converted(small, Some(&DataType::UInt64)).unwrap();
        assert_eq!(&*cast, &UInt64Array::from(vec![Some(1), None]), "a negative number is no unsigned one");
        let inner = Arc::new(PrimitiveArray::<Int32Type>::from_iter_values(0..4));
        let item = |data_type: &DataType| Arc::new(Field::new("x", data_type.clone(), false));
        let pairs: ArrayRef = Arc::new(FixedSizeListArray::new(item(&DataType::Int32), 2, inner, None));
        let pairs_type = Arc::clone(&pairs);
        let of_pairs: ArrayRef = Arc::new(FixedSizeListArray::new(item(pairs.data_type()), 2, pairs, None));
        let common = common_type(of_pairs.data_type(), &fixed(DataType::Int32, 4)).unwrap();
        let flattened = converted(of_pairs, Some(&common)).unwrap();
        assert_eq!((flattened.len(), flattened.as_fixed_size_list().values().len()), (1, 4));
        let offsets = OffsetBuffer::new(vec![0i64, 1, 2].into());
        let lists: ArrayRef = Arc::new(LargeListArray::new(item(pairs_type.data_type()), offsets, pairs_type, None));
        let common = common_type(lists.data_type(), &list(DataType::Int32)).unwrap();
        let flattened = converted(lists, Some(&common)).unwrap();
        assert_eq!(flattened.as_list::<i64>().offsets().as_ref(), &[0, 2, 4]);
    }
}
