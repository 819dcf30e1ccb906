//! An Arrow array split by the shape of the program, once, so that operations need no look at Arrow's types. Checks
//! types and nulls; does not look at values.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use rootfile::{Error, Result};

use crate::decode::program::types::{Number, Shape};

/// The values of an array.
#[derive(Debug)]
pub(crate) enum View<'a> {
    Numbers(Number, Words<'a>),
    Text {
        ends: Ends<'a>,
        bytes: &'a [u8],
    },
    Fixed {
        size: usize,
        items: Box<View<'a>>,
    },
    List {
        ends: Ends<'a>,
        items: Box<View<'a>>,
    },
    Record(Vec<View<'a>>),
    Optional {
        nulls: Option<&'a NullBuffer>,
        value: Box<View<'a>>,
    },
    /// For each value its part, counted from 1, or 0 for none; and its place in that part.
    Variant {
        tags: &'a [i8],
        places: &'a [i32],
        parts: Vec<View<'a>>,
    },
}

/// Values of one width, as bits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Words<'a> {
    Bool(&'a BooleanBuffer),
    W1(&'a [u8]),
    W2(&'a [u16]),
    W4(&'a [u32]),
    W8(&'a [u64]),
}

/// The offsets of lists among their items.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ends<'a> {
    Small(&'a [i32]),
    Large(&'a [i64]),
}

/// The operation writes another shape than the array has.
#[cold]
pub(crate) fn shape_mismatch() -> Error {
    Error::unsupported("a plan that does not fit its values")
}

/// A count as it is written.
pub(crate) fn count(n: usize) -> Result<i32> {
    i32::try_from(n).map_err(|_| Error::request(format!("{n} items; at most 2^31 - 1 are possible")))
}

impl Ends<'_> {
    /// The index of the first item of list `i`, which is the end of the list before.
    #[inline]
    pub(crate) fn bound(self, i: usize) -> usize {
        match self {
            Self::Small(ends) => ends.get(i).map_or(0, |end| end.as_usize()),
            Self::Large(ends) => ends.get(i).map_or(0, |end| end.as_usize()),
        }
    }

    /// The index of the first item of a list, and the number of its items.
    #[inline]
    pub(crate) fn list(self, i: usize) -> (usize, usize) {
        let start = self.bound(i);
        (start, self.bound(i + 1).saturating_sub(start))
    }
}

impl<'a> View<'a> {
    /// The values of an array of this shape.
    pub(crate) fn new(shape: &Shape, array: &'a dyn Array) -> Result<Self> {
        Self::within(shape, array, None)
    }

    /// The values of an array. Values with a null parent may be null.
    fn within(shape: &Shape, array: &'a dyn Array, parents: Option<&NullBuffer>) -> Result<Self> {
        if let Shape::Optional(inner) = shape {
            let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
            return Ok(Self::Optional { nulls, value: Box::new(Self::within(inner, array, nulls)?) });
        }
        if let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0)
            && !parents.is_some_and(|parents| parents.len() == nulls.len() && parents.contains(nulls))
        {
            return Err(Error::request(format!(
                "{} nulls in a column that cannot have them; fill them first",
                nulls.null_count()
            )));
        }
        let wrong = || Error::request(format!("{} instead of {}", array.data_type(), shape.data_type()));
        Ok(match shape {
            Shape::Number(number) => Self::Numbers(*number, words(*number, array).ok_or_else(wrong)?),
            Shape::Text => match array.data_type() {
                DataType::Utf8 => {
                    let text = array.as_string::<i32>();
                    Self::Text { ends: Ends::Small(text.value_offsets()), bytes: text.value_data() }
                }
                DataType::LargeUtf8 => {
                    let text = array.as_string::<i64>();
                    Self::Text { ends: Ends::Large(text.value_offsets()), bytes: text.value_data() }
                }
                _ => return Err(wrong()),
            },
            // Objects that were not understood.
            Shape::Bytes => match array.data_type() {
                DataType::Binary => {
                    let bytes = array.as_binary::<i32>();
                    Self::Text { ends: Ends::Small(bytes.value_offsets()), bytes: bytes.value_data() }
                }
                DataType::LargeBinary => {
                    let bytes = array.as_binary::<i64>();
                    Self::Text { ends: Ends::Large(bytes.value_offsets()), bytes: bytes.value_data() }
                }
                _ => return Err(wrong()),
            },
            Shape::Fixed(size, inner) => {
                let list = array.as_fixed_size_list_opt().ok_or_else(wrong)?;
                if usize::try_from(list.value_length()) != Ok(*size) {
                    return Err(wrong());
                }
                Self::Fixed { size: *size, items: Box::new(Self::new(inner, list.values().as_ref())?) }
            }
            Shape::List(inner) => {
                let (ends, items) = if let Some(list) = array.as_list_opt::<i64>() {
                    (Ends::Large(list.value_offsets()), list.values())
                } else if let Some(list) = array.as_list_opt::<i32>() {
                    (Ends::Small(list.value_offsets()), list.values())
                } else {
                    return Err(wrong());
                };
                Self::List { ends, items: Box::new(Self::new(inner, items.as_ref())?) }
            }
            Shape::Record(parts) => {
                let record = array.as_struct_opt().ok_or_else(wrong)?;
                if record.num_columns() != parts.len() {
                    return Err(wrong());
                }
                let nulls = record.nulls().filter(|nulls| nulls.null_count() > 0);
                let part = |(name, shape): &(String, Shape)| {
                    let column = record.column_by_name(name).ok_or_else(wrong)?;
                    Self::within(shape, column.as_ref(), nulls).map_err(|e| e.object(format!("member {name}")))
                };
                Self::Record(parts.iter().map(part).collect::<Result<_>>()?)
            }
            Shape::Optional(_) => return Err(wrong()),
            Shape::Variant(parts) => {
                let union = array.as_union_opt().ok_or_else(wrong)?;
                let places = union.offsets().ok_or_else(|| Error::unsupported("a sparse union"))?;
                // The types of parts are counted from 1: see `Shape::alternatives`.
                let part = |(tag, (name, shape)): (i8, &(String, Shape))| {
                    let values = union.fields().iter().find(|(known, _)| *known == tag);
                    values.ok_or_else(wrong)?;
                    Self::new(shape, union.child(tag).as_ref()).map_err(|e| e.object(format!("part {name}")))
                };
                let parts = (1i8..).zip(parts).map(part).collect::<Result<_>>()?;
                Self::Variant { tags: union.type_ids(), places, parts }
            }
        })
    }
}

fn words(number: Number, array: &dyn Array) -> Option<Words<'_>> {
    fn bits<T: ArrowPrimitiveType, W: ArrowNativeType>(array: &dyn Array) -> Option<&[W]> {
        Some(array.as_primitive_opt::<T>()?.values().inner().typed_data::<W>())
    }
    Some(match number {
        Number::Bool => Words::Bool(array.as_boolean_opt()?.values()),
        Number::I8 => Words::W1(bits::<Int8Type, _>(array)?),
        Number::U8 => Words::W1(bits::<UInt8Type, _>(array)?),
        Number::I16 => Words::W2(bits::<Int16Type, _>(array)?),
        Number::U16 => Words::W2(bits::<UInt16Type, _>(array)?),
        Number::I32 => Words::W4(bits::<Int32Type, _>(array)?),
        Number::U32 => Words::W4(bits::<UInt32Type, _>(array)?),
        Number::F32 => Words::W4(bits::<Float32Type, _>(array)?),
        Number::I64 => Words::W8(bits::<Int64Type, _>(array)?),
        Number::U64 => Words::W8(bits::<UInt64Type, _>(array)?),
        Number::F64 => Words::W8(bits::<Float64Type, _>(array)?),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int32Array, Int64Array, ListArray, StructArray};
    use arrow_schema::Field;

    use super::*;

    #[test]
    fn arrays_of_another_shape_are_refused() {
        let shape = Shape::Number(Number::I32);
        let wide = Int64Array::from(vec![1]);
        assert!(View::new(&shape, &wide).unwrap_err().to_string().contains("Int64 instead of Int32"));
        let gap = Int32Array::from(vec![Some(1), None]);
        assert!(View::new(&shape, &gap).unwrap_err().to_string().contains("1 nulls"));
        assert!(View::new(&Shape::Optional(Box::new(shape.clone())), &gap).is_ok());
        assert!(View::new(&shape, &gap.slice(0, 1)).is_ok(), "those that are not in the slice do not count");
        assert!(View::new(&shape.clone().fixed(&[2]), &gap).is_err() && View::new(&shape.list(), &gap).is_err());
        assert!(View::new(&Shape::Text, &wide).is_err());
    }

    #[test]
    fn members_are_found_by_name_and_may_lack_what_their_object_lacks() {
        let number = Shape::Number(Number::I32);
        let shape = Shape::Record(vec![("b".to_owned(), number.clone()), ("a".to_owned(), number)]);
        let columns: [ArrayRef; 2] =
            [Arc::new(Int32Array::from(vec![1, 2])), Arc::new(Int32Array::from(vec![Some(3), None]))];
        let fields = ["a", "b"].map(|name| Field::new(name, DataType::Int32, true));
        let record = |nulls| StructArray::new(fields.to_vec().into(), columns.to_vec(), nulls);
        let error = View::new(&shape, &record(None)).unwrap_err();
        assert!(error.to_string().contains("member b"), "{error}");
        let record = record(Some(NullBuffer::from(vec![true, false])));
        let shape = Shape::Optional(Box::new(shape));
        let Ok(View::Optional { value, .. }) = View::new(&shape, &record) else { panic!() };
        let View::Record(parts) = *value else { panic!() };
        assert!(matches!(parts[0], View::Numbers(_, Words::W4([3, 0]))), "{parts:?}");
    }

    #[test]
    fn lists_of_either_width() {
        let list =
            ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)]), Some(vec![Some(2), Some(3)])]);
        let list = list.slice(1, 1);
        let Ok(View::List { ends, .. }) = View::new(&Shape::Number(Number::I32).list(), &list) else { panic!() };
        assert_eq!(ends.list(0), (1, 2));
    }
}
