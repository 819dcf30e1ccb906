//! The values of defined columns, step by step over the entries of their table: for the entries that are selected, or for all with
//! defaults for the others.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_select::take::take;
use dataset::EntrySet;
use rayon::ThreadPool;
use rootfile::{Error, Hint, Result};

use super::define::DEFINE;
use super::defined::Defined;
use super::parts::EvaluatedRows;
use crate::arrow::read::{BatchSize, Batches, Dataset, Request, batches};
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;

/// Reads what defined columns need, and computes their values.
pub(crate) struct DefinedValues<'a> {
    defined: &'a Defined,
    selection: Option<&'a EntrySet>,
    /// None where no column is needed.
    batches: Option<Batches<'a>>,
    team: Option<Arc<ThreadPool>>,
    at: u64,
}

/// Where defined columns are read, and how.
pub(crate) struct DefinedReading<'a> {
    pub dataset: &'a Dataset,
    pub selection: Option<&'a EntrySet>,
    /// The bounds of the steps.
    pub steps: &'a [u64],
    pub budget: Budget,
    pub team: Option<Arc<ThreadPool>>,
    pub progress: Progress<'a>,
}

impl<'a> DefinedValues<'a> {
    pub fn new(defined: &'a Defined, from: DefinedReading<'a>) -> Self {
        let DefinedReading { dataset, selection, steps, budget, team, progress } = from;
        let at = steps.first().copied().unwrap_or(0);
        let entries = at..steps.last().copied().unwrap_or(0);
        let columns = defined.columns().to_vec();
        let batches = (!columns.is_empty()).then(|| {
            let request = Request { columns, entries, selection: selection.cloned(), budget, progress };
            batches(dataset, request, BatchSize::Cluster).keeping(steps.to_vec(), 0).with_team(team.clone())
        });
        Self { defined, selection, batches, team, at }
    }

    /// The values of the selected entries of the next step, which ends here.
    pub fn next(&mut self, end: u64) -> Result<Vec<ArrayRef>> {
        let entries = self.at..end;
        self.at = end;
        let numbers: Option<Vec<u64>> = self.selection.map(|set| numbers(set, &entries));
        let count = numbers.as_ref().map_or(entries.end - entries.start, |numbers| numbers.len() as u64);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let read = match &mut self.batches {
            None => Vec::new(),
            Some(batches) => {
                let read = batches.next_until(end).transpose()?;
                read.map_or_else(Vec::new, |read| read.batch.columns().to_vec())
            }
        };
        let rows = EvaluatedRows { count, first: entries.start, numbers: numbers.as_deref(), before: 0 };
        let arrays = self.defined.arrays(&read, &rows, self.team.as_deref())?;
        for (name, array) in self.defined.names().zip(&arrays) {
            if let Some(row) = absent(array) {
                let entry = numbers.as_ref().map_or(Some(entries.start + row as u64), |of| of.get(row).copied());
                return Err(no_value(name, entry.unwrap_or(entries.start)));
            }
        }
        Ok(arrays)
    }

    /// The same, and no value for each entry that is not selected.
    pub fn next_of_all(&mut self, end: u64) -> Result<Vec<ArrayRef>> {
        let entries = self.at..end;
        let arrays = self.next(end)?;
        let Some(selection) = self.selection else { return Ok(arrays) };
        let mut places: Vec<Option<u64>> = Vec::new();
        let mut next = 0;
        for entry in entries {
            let is_selected = selection.contains(entry);
            places.push(is_selected.then_some(next));
            next += u64::from(is_selected);
        }
        let places = UInt64Array::from(places);
        let spread = |array: &ArrayRef| {
            let spread = take(array.as_ref(), &places, None);
            spread.map_err(|e| Error::unsupported(format!("internal error: {e}")))
        };
        arrays.iter().map(spread).collect()
    }
}

/// The selected entries in a range.
fn numbers(set: &EntrySet, entries: &Range<u64>) -> Vec<u64> {
    set.runs(set.rank(entries.start)..set.rank(entries.end)).flatten().collect()
}

/// The first row without a value, or with a list that has an item without one.
fn absent(array: &ArrayRef) -> Option<usize> {
    if let Some(lists) = array.as_list_opt::<i64>() {
        let item = i64::try_from(absent(lists.values())?).ok()?;
        return lists.offsets().partition_point(|start| *start <= item).checked_sub(1);
    }
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0)?;
    nulls.iter().position(|is_there| !is_there)
}

fn no_value(name: &str, entry: u64) -> Error {
    let hint = Hint::named(DEFINE);
    let why = "a list is too short, or has no items, or a whole number is divided by zero";
    let message = format!("{hint} {name}: entry {entry} has no value ({why}); Alt$(EXPRESSION, 0) gives it one");
    Error::request(message).hint(hint)
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Float64Type;
    use arrow_array::{Float64Array, LargeListArray};

    use super::*;

    #[test]
    fn what_is_absent_is_found() {
        let flat: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None]));
        assert_eq!(absent(&flat), Some(1));
        let lists = |lists: Vec<Vec<Option<f64>>>| -> ArrayRef {
            Arc::new(LargeListArray::from_iter_primitive::<Float64Type, _, _>(lists.into_iter().map(Some)))
        };
        assert_eq!(absent(&lists(vec![vec![Some(1.0)], vec![], vec![Some(1.0), None]])), Some(2));
        assert_eq!(absent(&lists(vec![vec![], vec![Some(2.0)]])), None);
    }
}
