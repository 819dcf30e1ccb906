//! Items and parts of lists, and their lengths. An item that is not there has no value.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, Int64Array};

use super::align::{Operand, bound};
use super::at::At;
use crate::error::Result;
use crate::values::{Values, gather, offsets};

/// The items of each list of the outermost level.
fn outer(values: &Values) -> Vec<Range<usize>> {
    let Some(level) = values.levels.first() else { return Vec::new() };
    (0..level.len().saturating_sub(1)).map(|row| bound(level, row)..bound(level, row + 1)).collect()
}

fn wholes(found: impl Iterator<Item = usize>) -> Arc<Int64Array> {
    Arc::new(Int64Array::from_iter_values(found.map(|one| i64::try_from(one).unwrap_or(i64::MAX))))
}

/// The place of each item in its list.
pub(super) fn places(values: &Values) -> Values {
    let found = outer(values).into_iter().flat_map(|range| 0..range.len());
    Values { levels: values.levels.get(..1).unwrap_or_default().to_vec(), leaf: wholes(found), is_constant: false }
}

pub(super) fn length(values: &Values) -> Values {
    let leaf = match values.levels.first() {
        Some(level) => wholes(level.lengths()),
        None => {
            let texts = values.leaf.as_string::<i64>();
            let lengths = texts.iter().map(|text| i64::try_from(text?.chars().count()).ok());
            Arc::new(lengths.collect())
        }
    };
    Values { levels: Vec::new(), leaf, is_constant: values.is_constant }
}

/// The number of values of each entry.
pub(super) fn count(values: &Values) -> Values {
    let bounds = values.bounds();
    let counts = bounds.iter().zip(bounds.iter().skip(1)).map(|(start, end)| {
        let absent =
            values.leaf.nulls().map_or(0, |nulls| (*start..*end).filter(|place| nulls.is_null(*place)).count());
        end - start - absent
    });
    Values::flat(wholes(counts))
}

/// The place of an item that an index names, counted from the end if it is negative.
fn place_of(range: &Range<usize>, index: i64) -> Option<u64> {
    let length = i64::try_from(range.len()).ok()?;
    let at = if index < 0 { index + length } else { index };
    if !(0..length).contains(&at) {
        return None;
    }
    Some(range.start as u64 + u64::try_from(at).ok()?)
}

/// One item of each list.
pub(super) fn item([values, index]: &[Values; 2]) -> Values {
    let ranges = outer(values);
    let indices = index.leaf.as_primitive::<Int64Type>();
    let at = Operand::new(indices.values(), if index.is_constant { usize::MAX } else { ranges.len() });
    let is_there = |row: usize| if index.is_constant { indices.is_valid(0) } else { indices.is_valid(row) };
    let place = |(row, range): (usize, &Range<usize>)| place_of(range, at.get(row)).filter(|_| is_there(row));
    let places: Vec<_> = ranges.iter().enumerate().map(place).collect();
    gather(values.levels.get(1..).unwrap_or_default(), &values.leaf, &places)
}

/// The items of each list that are in a slice of Python's.
pub(super) fn slice(values: &Values, start: Option<i64>, end: Option<i64>) -> Values {
    let parts: Vec<_> = outer(values).into_iter().map(|range| part(&range, start, end)).collect();
    chosen(values, &parts)
}

fn part(range: &Range<usize>, start: Option<i64>, end: Option<i64>) -> Range<usize> {
    let length = i64::try_from(range.len()).unwrap_or(i64::MAX);
    let at =
        |bound: i64| usize::try_from((if bound < 0 { bound.saturating_add(length) } else { bound }).clamp(0, length));
    let start = start.map_or(0, |start| at(start).unwrap_or(0));
    let end = end.map_or(range.len(), |end| at(end).unwrap_or(0)).max(start);
    range.start + start..range.start + end
}

/// The lists of these items.
fn chosen(values: &Values, items: &[Range<usize>]) -> Values {
    let level = offsets(items.iter().map(Range::len));
    let places: Vec<_> = items.iter().cloned().flatten().map(|at| Some(at as u64)).collect();
    let mut found = gather(values.levels.get(1..).unwrap_or_default(), &values.leaf, &places);
    found.levels.insert(0, level);
    found
}

/// The items for which a condition is true. The condition has lists of the same lengths, at as many levels as it has.
pub(super) fn filter([values, condition]: &[Values; 2], at: &At<'_>) -> Result<Values> {
    let depth = condition.levels.len();
    for (level, (own, other)) in values.levels.iter().zip(&condition.levels).enumerate() {
        if own != other {
            let lengths = own.lengths().zip(other.lengths()).enumerate().find(|(_, (a, b))| a != b);
            let (list, (a, b)) = lengths.unwrap_or_default();
            let message = format!("a condition has {b} values for a list of {a}");
            return Err(at.error(if level == 0 { list } else { 0 }, &message));
        }
    }
    let truth = condition.leaf.as_boolean();
    let is_kept = |place: &usize| truth.is_valid(*place) && truth.value(*place);
    let Some(last) = depth.checked_sub(1).and_then(|last| values.levels.get(last)) else { return Ok(values.clone()) };
    let (mut lengths, mut places) = (Vec::new(), Vec::new());
    for list in 0..last.len().saturating_sub(1) {
        let before = places.len();
        places.extend((bound(last, list)..bound(last, list + 1)).filter(is_kept).map(|place| Some(place as u64)));
        lengths.push(places.len() - before);
    }
    let mut found = gather(values.levels.get(depth..).unwrap_or_default(), &values.leaf, &places);
    found.levels.insert(0, offsets(lengths.into_iter()));
    found.levels.splice(0..0, values.levels.get(..depth - 1).unwrap_or_default().iter().cloned());
    Ok(found)
}

/// The items at the places in lists.
pub(super) fn pick([values, places]: &[Values; 2]) -> Values {
    let (ranges, at) = (outer(values), outer(places));
    let indices = places.leaf.as_primitive::<Int64Type>();
    let found = ranges.iter().zip(at).flat_map(|(range, at)| {
        let of = move |place: usize| {
            let index = indices.values().get(place).copied().filter(|_| indices.is_valid(place))?;
            place_of(range, index)
        };
        at.map(of)
    });
    let found: Vec<_> = found.collect();
    let leaf = gather(&[], &values.leaf, &found).leaf;
    Values { levels: places.levels.clone(), leaf, is_constant: false }
}
