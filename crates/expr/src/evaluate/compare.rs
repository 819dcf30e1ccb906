//! Comparisons. NaN is unequal to everything, as IEEE says; whole numbers with and without a sign are compared exactly.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, BooleanArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;

use super::align::{Aligned, Operand, align};
use super::at::At;
use super::numbers::valid;
use super::texts::text_at;
use crate::error::Result;
use crate::syntax::{Comparison, Literal};
use crate::values::Values;

pub(super) fn compare(comparison: Comparison, [a, b]: &[Values; 2], at: &At<'_>) -> Result<Values> {
    let aligned = align([a, b], at)?;
    let bits = match aligned.leaves.each_ref().map(|leaf| leaf.data_type()) {
        [DataType::Float64, _] => ordered(comparison, numbers::<Float64Type>(&aligned), aligned.len),
        [DataType::Int64, DataType::Int64] => ordered(comparison, numbers::<Int64Type>(&aligned), aligned.len),
        [DataType::UInt64, DataType::UInt64] => ordered(comparison, numbers::<UInt64Type>(&aligned), aligned.len),
        [DataType::Boolean, _] => {
            let [a, b] = aligned.leaves.each_ref().map(|leaf| spread(leaf.as_boolean().values(), aligned.len));
            if comparison == Comparison::Equal { !&(&a ^ &b) } else { &a ^ &b }
        }
        [DataType::LargeUtf8, _] => {
            let [a, b] = aligned.leaves.each_ref().map(|leaf| leaf.as_string::<i64>());
            BooleanBuffer::collect_bool(aligned.len, |place| {
                comparison.accepts(text_at(a, place).partial_cmp(text_at(b, place)))
            })
        }
        _ => {
            let [a, b] = aligned.leaves.each_ref().map(|leaf| wide(leaf.as_ref()));
            let (a, b) = (Operand::new(&a, aligned.len), Operand::new(&b, aligned.len));
            ordered(comparison, [a, b], aligned.len)
        }
    };
    let leaf = Arc::new(BooleanArray::new(bits, valid(&aligned)));
    Ok(aligned.values(leaf))
}

fn numbers<T: arrow_array::ArrowPrimitiveType>(aligned: &Aligned<2>) -> [Operand<'_, T::Native>; 2] {
    aligned.leaves.each_ref().map(|leaf| Operand::new(leaf.as_primitive::<T>().values().as_ref(), aligned.len))
}

/// Whole numbers of both kinds.
fn wide(leaf: &dyn Array) -> Vec<i128> {
    match leaf.as_primitive_opt::<UInt64Type>() {
        Some(unsigned) => unsigned.values().iter().map(|value| i128::from(*value)).collect(),
        None => leaf.as_primitive::<Int64Type>().values().iter().map(|value| i128::from(*value)).collect(),
    }
}

/// Each comparison is compiled on its own.
fn ordered<T: Copy + Default + PartialOrd>(
    comparison: Comparison,
    operands: [Operand<'_, T>; 2],
    len: usize,
) -> BooleanBuffer {
    match comparison {
        Comparison::Equal => bits(operands, len, |a, b| a == b),
        Comparison::Unequal => bits(operands, len, |a, b| a != b),
        Comparison::Less => bits(operands, len, |a, b| a < b),
        Comparison::LessEqual => bits(operands, len, |a, b| a <= b),
        Comparison::Greater => bits(operands, len, |a, b| a > b),
        Comparison::GreaterEqual => bits(operands, len, |a, b| a >= b),
    }
}

fn bits<T: Copy + Default>([a, b]: [Operand<'_, T>; 2], len: usize, f: impl Fn(T, T) -> bool) -> BooleanBuffer {
    let of = |many: &[T], at: usize| many.get(at).copied().unwrap_or_default();
    match (a, b) {
        (Operand::Many(a), Operand::Many(b)) => BooleanBuffer::collect_bool(len, |at| f(of(a, at), of(b, at))),
        (Operand::Many(a), Operand::One(b)) => BooleanBuffer::collect_bool(len, |at| f(of(a, at), b)),
        (Operand::One(a), Operand::Many(b)) => BooleanBuffer::collect_bool(len, |at| f(a, of(b, at))),
        (Operand::One(a), Operand::One(b)) => BooleanBuffer::collect_bool(len, |_| f(a, b)),
    }
}

/// Truth values for all places, of a constant as well.
pub(super) fn spread(bits: &BooleanBuffer, len: usize) -> BooleanBuffer {
    match bits.len() == len {
        true => bits.clone(),
        false if bits.iter().next() == Some(true) => BooleanBuffer::new_set(len),
        false => BooleanBuffer::new_unset(len),
    }
}

/// Whether each value is one of some constants.
pub(super) fn within(values: &Values, list: &[Literal]) -> Values {
    let leaf = &values.leaf;
    let len = leaf.len();
    let bits = if let Some(numbers) = leaf.as_primitive_opt::<Float64Type>() {
        let wanted: Vec<f64> =
            list.iter().filter_map(|one| if let Literal::Number(one) = one { Some(*one) } else { None }).collect();
        let at = Operand::new(numbers.values(), len);
        BooleanBuffer::collect_bool(len, |place| wanted.contains(&at.get(place)))
    } else if let Some(texts) = leaf.as_string_opt::<i64>() {
        let wanted: HashSet<&str> = list
            .iter()
            .filter_map(|one| if let Literal::Text(one) = one { Some(one.as_str()) } else { None })
            .collect();
        BooleanBuffer::collect_bool(len, |place| wanted.contains(texts.value(place)))
    } else {
        let whole = |one: &Literal| match one {
            Literal::Whole(one) => Some(i128::from(*one)),
            Literal::Unsigned(one) => Some(i128::from(*one)),
            _ => None,
        };
        let mut wanted: Vec<i128> = list.iter().filter_map(whole).collect();
        wanted.sort_unstable();
        let values = wide(leaf.as_ref());
        let at = Operand::new(&values, len);
        BooleanBuffer::collect_bool(len, |place| wanted.binary_search(&at.get(place)).is_ok())
    };
    let leaf = Arc::new(BooleanArray::new(bits, leaf.nulls().cloned()));
    Values { levels: values.levels.clone(), leaf, is_constant: values.is_constant }
}
