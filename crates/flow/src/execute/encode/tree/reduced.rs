//! Numbers that a layout wants in fewer bits, before a branch encodes them: rounded in place, or checked against what a packed leaf
//! (`Float16_t`, `Double32_t`) holds. ROOT would move a number outside of a leaf's range into it, and say nothing.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, MapArray, OffsetSizeTrait, PrimitiveArray, StructArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::DataType;
use dataset::layout::ColumnEncoding;
use dataset::precision::{mantissa, rounded32, rounded64};
use dataset::tree::{Branch, Tree};
use rootfile::streamer::Packed;
use rootfile::{Error, Result};

/// What becomes of the numbers of a branch before they are encoded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reduced {
    /// They are rounded to so many bits of mantissa.
    Rounded(u32),
    /// They are those that a leaf of packed numbers holds.
    Checked(Packed),
}

impl Reduced {
    /// What the layout's encoding makes of a branch.
    pub fn of(encoding: ColumnEncoding, tree: &Tree, branch: &Branch) -> Option<Self> {
        if let Some(bits) = mantissa(encoding) {
            return Some(Self::Rounded(bits));
        }
        if !matches!(encoding, ColumnEncoding::Half | ColumnEncoding::Single | ColumnEncoding::Quantized { .. }) {
            return None;
        }
        let leaf = branch.leaves.first().and_then(|leaf| tree.leaves.get(*leaf))?;
        match leaf.class.as_str() {
            "TLeafF16" => Some(Self::Checked(Packed::float16(&leaf.named.title))),
            "TLeafD32" => Some(Self::Checked(Packed::double32(&leaf.named.title))),
            _ => None,
        }
    }

    /// The numbers of some entries, as they are to be encoded.
    pub fn apply(self, array: &dyn Array, rows: Range<usize>) -> Result<ArrayRef> {
        let part = array.slice(rows.start, rows.len());
        match self {
            Self::Rounded(bits) => rounded(&part, bits),
            Self::Checked(_) => self.check(&part, None).map(|()| part),
        }
    }

    /// Checks that the numbers can be stored. `first` is the number of the first entry.
    pub fn check(self, array: &ArrayRef, first: Option<u64>) -> Result<()> {
        let Self::Checked(packed) = self else { return Ok(()) };
        let Some(value) = outside(array, packed) else { return Ok(()) };
        let rows = (0..array.len()).find(|row| outside(&array.slice(*row, 1), packed).is_some()).unwrap_or(0);
        let entry = first.map(|first| format!(" of entry {}", first + rows as u64)).unwrap_or_default();
        let what = match packed {
            Packed::Range { min, max, .. } => format!("the range {min} to {max} of the requested encoding"),
            Packed::Float | Packed::Bits(_) => "the range of floats, as which it is to be stored".to_owned(),
        };
        Err(Error::request(format!("{value}{entry} is not in {what}; choose another encoding for this column")))
    }
}

/// A number that the leaf would not hold.
fn outside(array: &ArrayRef, packed: Packed) -> Option<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "numbers are stored as floats")]
    let fits = |value: f64| match packed {
        Packed::Range { min, max, .. } => (min..=max).contains(&value),
        Packed::Float | Packed::Bits(_) => !value.is_finite() || (value as f32).is_finite(),
    };
    match array.data_type() {
        DataType::Float32 => {
            let mut values = array.as_primitive::<Float32Type>().iter().flatten().map(f64::from);
            values.find(|value| !fits(*value))
        }
        DataType::Float64 => array.as_primitive::<Float64Type>().iter().flatten().find(|value| !fits(*value)),
        DataType::LargeList(_) => outside(&items(array.as_list::<i64>()).1, packed),
        DataType::FixedSizeList(..) => outside(array.as_fixed_size_list().values(), packed),
        DataType::Struct(_) => array.as_struct().columns().iter().find_map(|column| outside(column, packed)),
        _ => None,
    }
}

/// The offsets of lists from zero on, and their items.
fn items<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> (OffsetBuffer<O>, ArrayRef) {
    let (first, last) = (list.offsets().first(), list.offsets().last());
    let items = list.values().slice(first.as_usize(), last.as_usize().saturating_sub(first.as_usize()));
    (OffsetBuffer::from_lengths(list.offsets().lengths()), items)
}

/// The same array with rounded numbers, at any depth.
fn rounded(array: &ArrayRef, bits: u32) -> Result<ArrayRef> {
    fn numbers<T: ArrowPrimitiveType>(array: &ArrayRef, round: impl Fn(T::Native) -> T::Native) -> ArrayRef {
        let rounded: PrimitiveArray<T> = array.as_primitive::<T>().unary(round);
        Arc::new(rounded.with_data_type(array.data_type().clone()))
    }
    fn list<O: OffsetSizeTrait>(array: &ArrayRef, bits: u32) -> Result<ArrayRef> {
        let (DataType::List(item) | DataType::LargeList(item)) = array.data_type() else {
            return Ok(Arc::clone(array));
        };
        let list = array.as_list::<O>();
        let (offsets, items) = items(list);
        let items = rounded(&items, bits)?;
        let new = GenericListArray::<O>::try_new(Arc::clone(item), offsets, items, list.nulls().cloned());
        Ok(Arc::new(new.map_err(of_arrow)?))
    }
    fn record(of: &StructArray, bits: u32) -> Result<StructArray> {
        let columns = of.columns().iter().map(|column| rounded(column, bits)).collect::<Result<Vec<_>>>()?;
        let new = StructArray::try_new_with_length(of.fields().clone(), columns, of.nulls().cloned(), of.len());
        new.map_err(of_arrow)
    }
    Ok(match array.data_type() {
        DataType::Float32 => numbers::<Float32Type>(array, |value| rounded32(value, bits)),
        DataType::Float64 => numbers::<Float64Type>(array, |value| rounded64(value, bits)),
        DataType::List(_) => list::<i32>(array, bits)?,
        DataType::LargeList(_) => list::<i64>(array, bits)?,
        DataType::FixedSizeList(item, size) => {
            let of = array.as_fixed_size_list();
            let values = rounded(of.values(), bits)?;
            let nulls = of.nulls().cloned();
            let new = FixedSizeListArray::try_new_with_length(Arc::clone(item), *size, values, nulls, of.len());
            Arc::new(new.map_err(of_arrow)?)
        }
        DataType::Struct(_) => Arc::new(record(array.as_struct(), bits)?),
        DataType::Map(item, ordered) => {
            let of = array.as_map();
            let entries = record(of.entries(), bits)?;
            let new = MapArray::try_new(Arc::clone(item), of.offsets().clone(), entries, of.nulls().cloned(), *ordered);
            Arc::new(new.map_err(of_arrow)?)
        }
        _ => Arc::clone(array),
    })
}

#[cold]
fn of_arrow(e: arrow_schema::ArrowError) -> Error {
    Error::unsupported(format!("cannot be rounded: {e}"))
}

#[cfg(test)]
mod tests {
    use arrow_array::{Float32Array, Float64Array, Int32Array, LargeListArray};
    use arrow_schema::Field;

    use super::*;

    fn lists() -> ArrayRef {
        let items: ArrayRef = Arc::new(Float32Array::from(vec![9.0, 1.03, -999.0, 3.99]));
        let offsets = OffsetBuffer::from_lengths([1, 2, 0, 1]);
        Arc::new(LargeListArray::new(Arc::new(Field::new("item", DataType::Float32, false)), offsets, items, None))
    }

    #[test]
    fn numbers_are_rounded_at_any_depth_in_the_entries_asked_for() {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
        let (of_lists, of_numbers) = (lists().data_type().clone(), DataType::Int32);
        let fields = vec![Field::new("a", of_lists, false), Field::new("n", of_numbers, false)];
        let both = StructArray::try_new(fields.into(), vec![lists(), numbers], None).unwrap();
        let found = Reduced::Rounded(4).apply(&both, 1..4).unwrap();
        let list = found.as_struct().column(0).as_list::<i64>();
        assert_eq!(list.value(0).as_primitive::<Float32Type>().values(), &[1.0, -992.0]);
        assert_eq!(list.value(2).as_primitive::<Float32Type>().values(), &[4.0]);
        assert_eq!((list.len(), found.as_struct().column(1).len()), (3, 3));
        let doubles: ArrayRef = Arc::new(Float64Array::from(vec![1.0 / 3.0]));
        let found = Reduced::Rounded(23).apply(&doubles, 0..1).unwrap();
        assert_eq!(found.as_primitive::<Float64Type>().value(0), f64::from(1.0_f32 / 3.0));
    }

    #[test]
    fn what_a_leaf_does_not_hold_is_named_with_its_entry() {
        let packed = Reduced::Checked(Packed::float16("x/f[0,10,12]"));
        let message = packed.check(&lists(), Some(100)).unwrap_err().to_string();
        assert!(message.starts_with("-999 of entry 101 is not in the range 0 to 10"), "{message}");
        assert!(packed.check(&lists().slice(2, 2), None).is_ok());
        let nan: ArrayRef = Arc::new(Float32Array::from(vec![f32::NAN]));
        assert!(packed.check(&nan, None).is_err());
        let bits = Reduced::Checked(Packed::double32("x/d[0,0,10]"));
        assert!(bits.check(&nan, None).is_ok());
        let large: ArrayRef = Arc::new(Float64Array::from(vec![1e300]));
        assert!(bits.check(&large, None).is_err());
    }
}
