//! The extent of the values of an array, in one pass over them.

use std::ops::Neg;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::DataType;

use super::extent::{Count, Extent, Form, Lists, Span};
use crate::types::Kind;
use crate::values::{Values, unnested};

/// Values that are looked at side by side, so that the processor takes several at a time.
const LANES: usize = 8;

impl Extent {
    /// That of the values of an array; none if expressions do not take them. `first` is the number of its first entry among those that
    /// it will be [merged](Self::merge) with.
    pub fn of(array: &ArrayRef, first: u64) -> Option<Self> {
        let (levels, leaf) = unnested(array, &[]).ok()?;
        let span = span(&leaf)?;
        let absent = leaf.null_count() > 0;
        let lists = (!levels.is_empty()).then(|| {
            if let [level] = levels.as_slice() {
                let lengths = counts(level.lengths());
                return Lists { lengths, items: lengths, form: Some(Form::Lengths(lengths_hash(level, first))) };
            }
            let lengths = levels.first().map_or(Count::ANY, |level| counts(level.lengths()));
            let bounds = Values { levels, leaf, is_constant: false }.bounds();
            let items = counts(bounds.iter().zip(bounds.iter().skip(1)).map(|(start, end)| end - start));
            Lists { lengths, items, form: None }
        });
        Some(Extent { span, absent, lists })
    }
}

fn counts(lengths: impl Iterator<Item = usize>) -> Count {
    let none = Count { least: u64::MAX, most: 0 };
    lengths.fold(none, |count, length| {
        let length = length as u64;
        Count { least: count.least.min(length), most: count.most.max(length) }
    })
}

/// The sum of the hashes of lengths, each with the number of its list: sums of neighbours add up to that of both.
fn lengths_hash(level: &OffsetBuffer<i64>, first: u64) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let one = |(length, number): (usize, u64)| {
        let mixed = (number.wrapping_mul(ODD) ^ length as u64).wrapping_mul(ODD);
        mixed ^ (mixed >> 32)
    };
    level.lengths().zip(first..).map(one).fold(0, u64::wrapping_add)
}

fn span(leaf: &ArrayRef) -> Option<Span> {
    Some(match leaf.data_type() {
        DataType::Int8 => wholes(leaf.as_primitive::<Int8Type>()),
        DataType::Int16 => wholes(leaf.as_primitive::<Int16Type>()),
        DataType::Int32 => wholes(leaf.as_primitive::<Int32Type>()),
        DataType::Int64 => wholes(leaf.as_primitive::<Int64Type>()),
        DataType::UInt8 => wholes(leaf.as_primitive::<UInt8Type>()),
        DataType::UInt16 => wholes(leaf.as_primitive::<UInt16Type>()),
        DataType::UInt32 => wholes(leaf.as_primitive::<UInt32Type>()),
        DataType::UInt64 => wholes(leaf.as_primitive::<UInt64Type>()),
        DataType::Float32 => numbers(leaf.as_primitive::<Float32Type>(), f32::INFINITY),
        DataType::Float64 => numbers(leaf.as_primitive::<Float64Type>(), f64::INFINITY),
        DataType::Boolean => {
            let truth = leaf.as_boolean();
            let (yes, no) = (truth.true_count() > 0, truth.false_count() > 0);
            if yes || no { Span::Whole { least: (!no).into(), most: yes.into() } } else { Span::none(Kind::Bool) }
        }
        _ => return Extent::of_type(leaf.data_type()).map(|any| any.span),
    })
}

fn wholes<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>) -> Span
where
    T::Native: Ord + Into<i128>,
{
    fn bounds<T: Ord + Copy>(mut values: impl Iterator<Item = T>) -> Option<(T, T)> {
        let first = values.next()?;
        Some(values.fold((first, first), |(least, most), value| (least.min(value), most.max(value))))
    }
    let found = match array.null_count() {
        0 => bounds(array.values().iter().copied()),
        _ => bounds(array.iter().flatten()),
    };
    found.map_or(Span::none(Kind::Whole), |(least, most)| Span::Whole { least: least.into(), most: most.into() })
}

fn numbers<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, infinity: T::Native) -> Span
where
    T::Native: PartialOrd + Neg<Output = T::Native> + Into<f64>,
{
    let mut lanes = Lanes { least: [infinity; LANES], most: [-infinity; LANES], ordered: [true; LANES], infinity };
    if array.null_count() == 0 {
        let (chunks, rest) = array.values().as_chunks();
        chunks.iter().for_each(|chunk| lanes.take(chunk));
        rest.iter().for_each(|value| lanes.take(&[*value; LANES]));
    } else {
        array.iter().flatten().for_each(|value| lanes.take(&[value; LANES]));
    }
    let least = lanes.least.into_iter().map(Into::into).fold(f64::INFINITY, f64::min);
    let most = lanes.most.into_iter().map(Into::into).fold(f64::NEG_INFINITY, f64::max);
    Span::Number { least, most, nan: lanes.ordered.contains(&false) }
}

/// Bounds of values side by side, without NaN.
struct Lanes<T> {
    least: [T; LANES],
    most: [T; LANES],
    ordered: [bool; LANES],
    infinity: T,
}

impl<T: PartialOrd + Copy> Lanes<T> {
    fn take(&mut self, values: &[T; LANES]) {
        let bounds = self.least.iter_mut().zip(&mut self.most).zip(&mut self.ordered);
        for (&value, ((least, most), ordered)) in values.iter().zip(bounds) {
            *least = if value < *least { value } else { *least };
            *most = if value > *most { value } else { *most };
            *ordered &= value <= self.infinity;
        }
    }
}
