//! Compares fBits of `TObject`s without the bits that tell where an object lay in the writer's memory.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, LargeListArray, StructArray};
use arrow_schema::{DataType, Field};
use rootfile::object::TObject;

/// Whether two bytes differ in such bits only: they are in the first byte of fBits.
pub(super) fn differ_at_most_in_them(a: u8, b: u8) -> bool {
    u32::from(a ^ b) << 24 & !TObject::MEMORY_BITS == 0
}

/// The same numbers, `TObject`s, or lists of them, without these bits.
pub(super) fn without(array: ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::UInt32 => {
            let numbers = array.as_primitive::<UInt32Type>();
            Arc::new(numbers.unary::<_, UInt32Type>(|bits| bits & !TObject::MEMORY_BITS))
        }
        DataType::Struct(fields) => {
            let objects = array.as_struct();
            let part = |(field, part): (&Arc<Field>, &ArrayRef)| match field.name().as_str() {
                "fBits" => without(Arc::clone(part)),
                _ => Arc::clone(part),
            };
            let parts = fields.iter().zip(objects.columns()).map(part).collect();
            let made = StructArray::try_new(fields.clone(), parts, objects.nulls().cloned());
            made.map_or_else(|_| Arc::clone(&array), |made| Arc::new(made))
        }
        DataType::LargeList(item) if matches!(item.data_type(), DataType::UInt32 | DataType::Struct(_)) => {
            let lists = array.as_list::<i64>();
            let items = without(Arc::clone(lists.values()));
            let (item, offsets, nulls) = (Arc::clone(item), lists.offsets().clone(), lists.nulls().cloned());
            LargeListArray::try_new(item, offsets, items, nulls).map_or(array, |lists| Arc::new(lists))
        }
        _ => array,
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::UInt32Array;

    use super::*;

    #[test]
    fn only_two_bits_are_left_out() {
        let bits: ArrayRef = Arc::new(UInt32Array::from(vec![0x0300_0000, 0x0200_0010, 0x0400_0000]));
        let left = without(Arc::clone(&bits));
        assert_eq!(left.as_primitive::<UInt32Type>().values().as_ref(), [0, 0x10, 0x0400_0000]);
        let lists =
            LargeListArray::from_iter_primitive::<UInt32Type, _, _>([Some(vec![Some(0x0300_0001)]), Some(vec![])]);
        let left = without(Arc::new(lists));
        assert_eq!(left.as_list::<i64>().values().as_primitive::<UInt32Type>().values().as_ref(), [1]);
        let numbers = |of: [u32; 2]| -> ArrayRef { Arc::new(UInt32Array::from(of.to_vec())) };
        let field = |name: &str| Arc::new(Field::new(name, DataType::UInt32, false));
        let objects = StructArray::from(vec![
            (field("fUniqueID"), numbers([0x0300_0000, 7])),
            (field("fBits"), numbers([0x0300_4000, 1])),
        ]);
        let left = without(Arc::new(objects));
        let parts = left.as_struct().columns();
        let parts: Vec<_> = parts.iter().map(|part| part.as_primitive::<UInt32Type>().values().to_vec()).collect();
        assert_eq!(parts, [[0x0300_0000, 7], [0x4000, 1]]);
        assert!(differ_at_most_in_them(0x03, 0x00) && differ_at_most_in_them(0x13, 0x10));
        assert!(!differ_at_most_in_them(0x04, 0x00));
    }
}
