//! Floating-point numbers that may differ: where a writer stored fewer bits on request. A number within its tolerance counts as
//! the other side's, and the largest error of each column is kept. What is compared, and how, is not known here.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, Int32Array, LargeListArray, PrimitiveArray, StructArray, UnionArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use arrow_select::take::take;
use dataset::glob::ColumnPattern;
use rootfile::{Error, Result};

/// By how much two numbers may differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// At most by so much.
    Absolute(f64),
    /// At most by this share of the larger of both.
    Relative(f64),
}

/// Tolerances of columns: for those that a pattern matches, or for all. The last one that matches counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tolerances(Vec<(Option<ColumnPattern>, Tolerance)>);

impl Tolerances {
    /// Adds `[COLUMN=]LIMIT`, where a limit is a number or a share such as `0.1%`.
    ///
    /// # Errors
    ///
    /// If the text is neither.
    pub fn add(&mut self, text: &str) -> Result<()> {
        let (pattern, limit) = match text.rsplit_once('=') {
            Some((pattern, limit)) => (Some(ColumnPattern::new(pattern)?), limit),
            None => (None, text),
        };
        self.0.push((pattern, limit.parse()?));
        Ok(())
    }

    /// Whether all numbers must be equal.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tolerance of a branch, by the names from the top to it, with slashes: the last one alone counts as well.
    pub(super) fn of_branch(&self, table: &str, path: &str) -> Option<Tolerance> {
        let last = path.rsplit('/').next().unwrap_or(path);
        let matches = |pattern: &Option<ColumnPattern>| {
            pattern.as_ref().is_none_or(|p| p.matches(table, path) || p.matches(table, last))
        };
        self.0.iter().rev().find(|(pattern, _)| matches(pattern)).map(|(_, tolerance)| *tolerance)
    }

    /// The tolerance of a column of a table.
    pub(super) fn of(&self, table: &str, column: &str) -> Option<Tolerance> {
        let matches = |pattern: &Option<ColumnPattern>| pattern.as_ref().is_none_or(|p| p.matches(table, column));
        self.0.iter().rev().find(|(pattern, _)| matches(pattern)).map(|(_, tolerance)| *tolerance)
    }
}

impl FromStr for Tolerance {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong =
            || Error::request(format!("{text:?} is not a tolerance; write 0.001, or 0.1% of the larger number"));
        let (number, is_share) = match text.trim().strip_suffix('%') {
            Some(number) => (number, true),
            None => (text.trim(), false),
        };
        let value = number.trim().parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
        let value = value.ok_or_else(wrong)?;
        Ok(if is_share { Self::Relative(value / 100.0) } else { Self::Absolute(value) })
    }
}

impl Tolerance {
    fn allows(self, a: f64, b: f64) -> bool {
        // What is no number has many forms.
        if a.is_nan() && b.is_nan() {
            return true;
        }
        // No distance from an infinity is a share of it, or is small. One that is the same on both sides is equal as it is.
        if !(a.is_finite() && b.is_finite()) {
            return a == b;
        }
        match self {
            Self::Absolute(limit) => (a - b).abs() <= limit,
            Self::Relative(share) => (a - b).abs() <= share * a.abs().max(b.abs()),
        }
    }
}

/// The largest difference between numbers that are within their tolerance.
#[derive(Debug, Default)]
pub(super) struct LargestError {
    absolute: AtomicU64,
    /// As a share of the larger number.
    relative: AtomicU64,
}

impl LargestError {
    /// The bits of numbers that are not negative are in the order of the numbers.
    fn add(&self, absolute: f64, relative: f64) {
        self.absolute.fetch_max(absolute.to_bits(), Ordering::Relaxed);
        self.relative.fetch_max(relative.to_bits(), Ordering::Relaxed);
    }

    pub fn absolute(&self) -> f64 {
        f64::from_bits(self.absolute.load(Ordering::Relaxed))
    }

    pub fn relative(&self) -> f64 {
        f64::from_bits(self.relative.load(Ordering::Relaxed))
    }
}

/// The second array, with the numbers of the first where they are within the tolerance. Collections of other lengths stay.
pub(super) fn settled(a: &ArrayRef, b: &ArrayRef, tolerance: Tolerance, largest: &LargestError) -> ArrayRef {
    if a.len() != b.len() || a.data_type() != b.data_type() {
        return Arc::clone(b);
    }
    match a.data_type() {
        DataType::Float32 => numbers::<Float32Type>(a, b, tolerance, largest),
        DataType::Float64 => numbers::<Float64Type>(a, b, tolerance, largest),
        DataType::Struct(_) => record(a.as_struct(), b.as_struct(), tolerance, largest),
        DataType::LargeList(_) => list(a.as_list(), b.as_list(), tolerance, largest),
        DataType::Union(..) => variant(a.as_union(), b.as_union(), tolerance, largest),
        DataType::FixedSizeList(..) => {
            let (x, y) = (a.as_fixed_size_list(), b.as_fixed_size_list());
            let DataType::FixedSizeList(item, size) = a.data_type() else { return Arc::clone(b) };
            let items = settled(x.values(), y.values(), tolerance, largest);
            let new =
                FixedSizeListArray::try_new_with_length(Arc::clone(item), *size, items, y.nulls().cloned(), y.len());
            new.map_or_else(|_| Arc::clone(b), |new| Arc::new(new) as ArrayRef)
        }
        _ => Arc::clone(b),
    }
}

fn record(a: &StructArray, b: &StructArray, tolerance: Tolerance, largest: &LargestError) -> ArrayRef {
    let columns = a.columns().iter().zip(b.columns()).map(|(x, y)| settled(x, y, tolerance, largest)).collect();
    let new = StructArray::try_new_with_length(b.fields().clone(), columns, b.nulls().cloned(), b.len());
    Arc::new(new.unwrap_or_else(|_| b.clone()))
}

fn list(a: &LargeListArray, b: &LargeListArray, tolerance: Tolerance, largest: &LargestError) -> ArrayRef {
    let DataType::LargeList(item) = b.data_type() else { return Arc::new(b.clone()) };
    let ([first, items_a], [second, items_b]) = (extent(a), extent(b));
    let ends = |offsets: &[i64], from: usize| offsets.iter().map(|end| *end - from as i64).collect::<Vec<i64>>();
    let offsets = ends(b.offsets(), second);
    if items_a != items_b || ends(a.offsets(), first) != offsets {
        return Arc::new(b.clone());
    }
    let (x, y) = (a.values().slice(first, items_a), b.values().slice(second, items_b));
    let items = settled(&x, &y, tolerance, largest);
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let new = LargeListArray::try_new(Arc::clone(item), offsets, items, b.nulls().cloned());
    Arc::new(new.unwrap_or_else(|_| b.clone()))
}

/// Entries of the same alternatives: those of each are compared in their order, wherever they lie.
fn variant(a: &UnionArray, b: &UnionArray, tolerance: Tolerance, largest: &LargestError) -> ArrayRef {
    let new = || {
        let DataType::Union(fields, _) = b.data_type() else { return None };
        let (of_a, of_b) = (a.offsets()?, b.offsets()?);
        let mut settled_children = Vec::with_capacity(fields.len());
        let mut places = vec![0; b.len()];
        for (tag, _) in fields.iter() {
            let rows = || b.type_ids().iter().enumerate().filter(move |(_, own)| **own == tag).map(|(row, _)| row);
            let items = |array: &UnionArray, offsets: &[i32]| {
                let at: Option<Vec<i32>> = rows().map(|row| offsets.get(row).copied()).collect();
                take(array.child(tag), &Int32Array::from(at?), None).ok()
            };
            settled_children.push(settled(&items(a, of_a)?, &items(b, of_b)?, tolerance, largest));
            for (row, place) in rows().zip(0..) {
                *places.get_mut(row)? = place;
            }
        }
        UnionArray::try_new(fields.clone(), b.type_ids().clone(), Some(places.into()), settled_children).ok()
    };
    match a.type_ids() == b.type_ids() {
        true => Arc::new(new().unwrap_or_else(|| b.clone())),
        false => Arc::new(b.clone()),
    }
}

/// The first item of the lists, and how many there are.
fn extent(list: &LargeListArray) -> [usize; 2] {
    let at = |end: i64| usize::try_from(end).unwrap_or(0);
    let (first, last) = (at(list.offsets().first()), at(list.offsets().last()));
    [first, last.saturating_sub(first)]
}

fn numbers<T: ArrowPrimitiveType>(a: &ArrayRef, b: &ArrayRef, tolerance: Tolerance, largest: &LargestError) -> ArrayRef
where
    T::Native: Into<f64>,
{
    let (a, b) = (a.as_primitive::<T>(), b.as_primitive::<T>());
    let (mut most, mut share) = (0.0f64, 0.0f64);
    let pick = |(x, y): (&T::Native, &T::Native)| {
        let (a, b): (f64, f64) = ((*x).into(), (*y).into());
        if tolerance.allows(a, b) {
            most = most.max((a - b).abs());
            share = share.max((a - b).abs() / a.abs().max(b.abs()));
            *x
        } else {
            *y
        }
    };
    let values: Vec<T::Native> = a.values().iter().zip(b.values()).map(pick).collect();
    largest.add(most, share);
    let new = PrimitiveArray::<T>::new(values.into(), b.nulls().cloned());
    Arc::new(new.with_data_type(b.data_type().clone()))
}

#[cfg(test)]
mod tests {
    use arrow_array::{Float32Array, Float64Array, LargeListArray};

    use super::*;

    #[test]
    fn limits_are_numbers_and_shares_by_column() {
        let mut all = Tolerances::default();
        for text in ["1%", "Muon_*=0.5", "Events/Muon_eta=0"] {
            all.add(text).unwrap();
        }
        let of = |column: &str| all.of("Events", column).unwrap();
        assert_eq!(of("Jet_pt"), Tolerance::Relative(0.01));
        assert_eq!((of("Muon_pt"), of("Muon_eta")), (Tolerance::Absolute(0.5), Tolerance::Absolute(0.0)));
        for text in ["", "x", "-1", "1%%", "NaN", "a=b"] {
            assert!(Tolerances::default().add(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_within_the_tolerance_are_the_same_at_any_depth() {
        let lists = |items: Vec<f64>, ends: Vec<i64>| -> ArrayRef {
            let item = Arc::new(arrow_schema::Field::new("item", DataType::Float64, false));
            let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
            Arc::new(LargeListArray::new(item, offsets, Arc::new(Float64Array::from(items)), None))
        };
        let a = lists(vec![1.0, 2.0, 3.0], vec![0, 1, 1, 3]);
        let b = lists(vec![9.0, 1.001, 2.0, 3.5], vec![1, 2, 2, 4]);
        let largest = LargestError::default();
        let settled_b = settled(&a, &b, Tolerance::Absolute(0.01), &largest);
        let found: Vec<f64> = settled_b.as_list::<i64>().values().as_primitive::<Float64Type>().values().to_vec();
        assert_eq!(found, [1.0, 2.0, 3.5]);
        assert!((largest.absolute() - 0.001).abs() < 1e-12);
        assert!((largest.relative() - 0.001 / 1.001).abs() < 1e-12);
        // Lists of other lengths stay what they are.
        let c = lists(vec![1.001, 2.0, 3.0], vec![0, 2, 2, 3]);
        assert_eq!(&settled(&a, &c, Tolerance::Absolute(0.01), &largest), &c);
        let floats = |value: f32| -> ArrayRef { Arc::new(Float32Array::from(vec![value])) };
        let (x, y) = (floats(1000.0), floats(1000.5));
        assert_eq!(&settled(&x, &y, Tolerance::Relative(0.001), &largest), &x);
        assert_eq!(&settled(&x, &y, Tolerance::Relative(0.0001), &largest), &y);
    }

    #[test]
    fn an_infinity_is_near_nothing_else() {
        let any = [Tolerance::Absolute(f64::MAX), Tolerance::Relative(10.0)];
        for tolerance in any {
            let infinity = f64::INFINITY;
            assert!(tolerance.allows(infinity, infinity) && tolerance.allows(f64::NAN, -f64::NAN));
            for (a, b) in
                [(1.0, infinity), (infinity, -infinity), (-infinity, 0.0), (f64::NAN, infinity), (f64::NAN, 1.0)]
            {
                assert!(!tolerance.allows(a, b) && !tolerance.allows(b, a), "{a} {b} {tolerance:?}");
            }
        }
    }
}
