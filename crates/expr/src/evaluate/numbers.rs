//! Arithmetic. Doubles follow IEEE; whole numbers have 64 bits, and a result that does not fit is an error.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::align::{Aligned, Operand, align};
use super::at::At;
use crate::error::Result;
use crate::function::delta_phi;
use crate::typed::{Arithmetic, Math, Math2};
use crate::types::Kind;
use crate::values::Values;

const TOO_LARGE: &str = "a whole number does not fit into 64 bits: compute with float(...)";

/// What an operation of whole numbers gives.
enum Outcome<T> {
    Value(T),
    /// There is no value: a division by zero.
    Absent,
    TooLarge,
}

impl<T> From<Option<T>> for Outcome<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::TooLarge, Self::Value)
    }
}

pub(super) fn math(math: Math, values: Values) -> Values {
    let leaf: ArrayRef = Arc::new(values.leaf.as_primitive::<Float64Type>().unary::<_, Float64Type>(math));
    Values { leaf, ..values }
}

pub(super) fn math2(math: Math2, [a, b]: &[Values; 2], at: &At<'_>) -> Result<Values> {
    let aligned = align([a, b], at)?;
    let leaf = doubles(&aligned, math);
    Ok(aligned.values(leaf))
}

pub(super) fn inverted(values: Values) -> Values {
    let leaf: ArrayRef = match values.leaf.as_primitive_opt::<UInt64Type>() {
        Some(unsigned) => Arc::new(unsigned.unary::<_, UInt64Type>(|value| !value)),
        None => Arc::new(values.leaf.as_primitive::<Int64Type>().unary::<_, Int64Type>(|value| !value)),
    };
    Values { leaf, ..values }
}

pub(super) fn negative(values: Values, at: &At<'_>) -> Result<Values> {
    sign(values, at, |value| -value, i64::checked_neg)
}

pub(super) fn absolute(values: Values, at: &At<'_>) -> Result<Values> {
    sign(values, at, f64::abs, i64::checked_abs)
}

fn sign(values: Values, at: &At<'_>, number: Math, whole: fn(i64) -> Option<i64>) -> Result<Values> {
    if let Some(numbers) = values.leaf.as_primitive_opt::<Float64Type>() {
        let leaf: ArrayRef = Arc::new(numbers.unary::<_, Float64Type>(number));
        return Ok(Values { leaf, ..values });
    }
    let Some(wholes) = values.leaf.as_primitive_opt::<Int64Type>() else { return Ok(values) };
    let made = wholes.unary_opt::<_, Int64Type>(whole);
    if made.null_count() > wholes.null_count() {
        let lost = (0..made.len()).find(|&place| made.is_null(place) && wholes.is_valid(place)).unwrap_or(0);
        return Err(at.error(values.entry_of(lost), TOO_LARGE));
    }
    Ok(Values { leaf: Arc::new(made), ..values })
}

pub(super) fn arithmetic(operation: Arithmetic, [a, b]: &[Values; 2], at: &At<'_>) -> Result<Values> {
    let aligned = align([a, b], at)?;
    let leaf = match at.part.of.kind {
        Kind::Unsigned => wholes::<UInt64Type>(&aligned, at, unsigned(operation))?,
        Kind::Whole => wholes::<Int64Type>(&aligned, at, whole(operation))?,
        _ => match operation {
            // The usual operations are compiled on their own, so that they run over several values at a time.
            Arithmetic::Add => doubles(&aligned, |a, b| a + b),
            Arithmetic::Subtract => doubles(&aligned, |a, b| a - b),
            Arithmetic::Multiply => doubles(&aligned, |a, b| a * b),
            Arithmetic::Divide => doubles(&aligned, |a, b| a / b),
            Arithmetic::FloorDivide => doubles(&aligned, floor_divide),
            Arithmetic::Modulo => doubles(&aligned, modulo),
            Arithmetic::Power => doubles(&aligned, power),
            Arithmetic::Min => doubles(&aligned, f64::min),
            Arithmetic::Max => doubles(&aligned, f64::max),
            Arithmetic::DeltaPhi => doubles(&aligned, delta_phi),
            // Binding refuses them.
            Arithmetic::And | Arithmetic::Or | Arithmetic::Xor | Arithmetic::ShiftLeft | Arithmetic::ShiftRight => {
                doubles(&aligned, |_, _| f64::NAN)
            }
        },
    };
    Ok(aligned.values(leaf))
}

/// Where both of two operands have values.
pub(super) fn valid<const N: usize>(aligned: &Aligned<N>) -> Option<NullBuffer> {
    let mut found = None;
    for leaf in &aligned.leaves {
        let Some(nulls) = leaf.nulls().filter(|nulls| nulls.null_count() > 0) else { continue };
        let nulls = match nulls.len() == aligned.len {
            true => nulls.clone(),
            false => NullBuffer::new_null(aligned.len),
        };
        found = NullBuffer::union(found.as_ref(), Some(&nulls));
    }
    found
}

fn doubles(aligned: &Aligned<2>, f: impl Fn(f64, f64) -> f64) -> ArrayRef {
    let [a, b] = aligned.leaves.each_ref().map(|leaf| leaf.as_primitive::<Float64Type>().values().as_ref());
    let made: Vec<f64> = match (Operand::new(a, aligned.len), Operand::new(b, aligned.len)) {
        (Operand::Many(a), Operand::Many(b)) => a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect(),
        (Operand::Many(a), Operand::One(b)) => a.iter().map(|a| f(*a, b)).collect(),
        (Operand::One(a), Operand::Many(b)) => b.iter().map(|b| f(a, *b)).collect(),
        (Operand::One(a), Operand::One(b)) => vec![f(a, b); aligned.len],
    };
    Arc::new(PrimitiveArray::<Float64Type>::new(made.into(), valid(aligned)))
}

fn wholes<T: ArrowPrimitiveType>(
    aligned: &Aligned<2>,
    at: &At<'_>,
    f: impl Fn(T::Native, T::Native) -> Outcome<T::Native>,
) -> Result<ArrayRef> {
    let [a, b] = aligned.leaves.each_ref().map(|leaf| leaf.as_primitive::<T>().values().as_ref());
    let (a, b) = (Operand::new(a, aligned.len), Operand::new(b, aligned.len));
    let valid = valid(aligned);
    let (mut absent, mut too_large) = (Vec::new(), None);
    let made: Vec<T::Native> = (0..aligned.len)
        .map(|place| match f(a.get(place), b.get(place)) {
            Outcome::Value(value) => value,
            Outcome::Absent => {
                absent.push(place);
                T::Native::default()
            }
            Outcome::TooLarge => {
                if too_large.is_none() && valid.as_ref().is_none_or(|valid| valid.is_valid(place)) {
                    too_large = Some(place);
                }
                T::Native::default()
            }
        })
        .collect();
    if let Some(place) = too_large {
        return Err(at.error(aligned.entry_of(place), TOO_LARGE));
    }
    let zero = (!absent.is_empty()).then(|| {
        let mut absent = absent.into_iter().peekable();
        NullBuffer::new(BooleanBuffer::collect_bool(aligned.len, |place| absent.next_if_eq(&place).is_none()))
    });
    let nulls = NullBuffer::union(valid.as_ref(), zero.as_ref());
    Ok(Arc::new(PrimitiveArray::<T>::new(made.into(), nulls)))
}

fn whole(operation: Arithmetic) -> fn(i64, i64) -> Outcome<i64> {
    match operation {
        Arithmetic::Add => |a, b| a.checked_add(b).into(),
        Arithmetic::Subtract => |a, b| a.checked_sub(b).into(),
        Arithmetic::Multiply => |a, b| a.checked_mul(b).into(),
        Arithmetic::FloorDivide => |a, b| match b {
            0 => Outcome::Absent,
            _ => a.checked_div(b).map(|whole| whole - i64::from(a % b != 0 && (a < 0) != (b < 0))).into(),
        },
        Arithmetic::Modulo => |a, b| match b {
            0 => Outcome::Absent,
            _ => {
                let rest = a.checked_rem(b).unwrap_or(0);
                Outcome::Value(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
            }
        },
        Arithmetic::And => |a, b| Outcome::Value(a & b),
        Arithmetic::Or => |a, b| Outcome::Value(a | b),
        Arithmetic::Xor => |a, b| Outcome::Value(a ^ b),
        Arithmetic::ShiftLeft => |a, b| {
            let shifted = u32::try_from(b).ok().filter(|b| *b < 64).map(|b| i128::from(a) << b);
            shifted.and_then(|wide| i64::try_from(wide).ok()).into()
        },
        Arithmetic::ShiftRight => |a, b| u32::try_from(b).ok().map(|b| a >> b.min(63)).into(),
        Arithmetic::Min => |a, b| Outcome::Value(a.min(b)),
        Arithmetic::Max => |a, b| Outcome::Value(a.max(b)),
        Arithmetic::Divide | Arithmetic::Power | Arithmetic::DeltaPhi => |_, _| Outcome::Absent,
    }
}

fn unsigned(operation: Arithmetic) -> fn(u64, u64) -> Outcome<u64> {
    match operation {
        Arithmetic::Add => |a, b| a.checked_add(b).into(),
        Arithmetic::Subtract => |a, b| a.checked_sub(b).into(),
        Arithmetic::Multiply => |a, b| a.checked_mul(b).into(),
        Arithmetic::FloorDivide => |a, b| a.checked_div(b).map_or(Outcome::Absent, Outcome::Value),
        Arithmetic::Modulo => |a, b| a.checked_rem(b).map_or(Outcome::Absent, Outcome::Value),
        Arithmetic::And => |a, b| Outcome::Value(a & b),
        Arithmetic::Or => |a, b| Outcome::Value(a | b),
        Arithmetic::Xor => |a, b| Outcome::Value(a ^ b),
        Arithmetic::Min => |a, b| Outcome::Value(a.min(b)),
        Arithmetic::Max => |a, b| Outcome::Value(a.max(b)),
        // Binding computes these as other kinds.
        Arithmetic::ShiftLeft
        | Arithmetic::ShiftRight
        | Arithmetic::Divide
        | Arithmetic::Power
        | Arithmetic::DeltaPhi => |_, _| Outcome::Absent,
    }
}

/// The rest of a division, with the sign of the divisor, as Python and NumPy have it.
fn modulo(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest == 0.0 {
        return 0.0_f64.copysign(b);
    }
    if (rest < 0.0) == (b < 0.0) { rest } else { rest + b }
}

/// The quotient without the rest, as NumPy rounds it.
fn floor_divide(a: f64, b: f64) -> f64 {
    if b == 0.0 {
        return a / b;
    }
    let rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest != 0.0 && (b < 0.0) != (rest < 0.0) {
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return 0.0_f64.copysign(a / b);
    }
    let floor = quotient.floor();
    if quotient - floor > 0.5 { floor + 1.0 } else { floor }
}

/// A power; squares are products, as compilers make them.
fn power(a: f64, b: f64) -> f64 {
    if b == 2.0 { a * a } else { a.powf(b) }
}
