//! The entries of each value of an expression: a whole number (also one in a float), a text or a truth value for each entry.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use dataset::EntrySetBuilder;
use rootfile::{Error, Hint, Result};

use super::part::{Part, refuse_many};
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::select::{Computed, Given};

/// The option that the expression is given by.
const BY: &str = "by";

/// The parts of a table by the values of an expression, in the order in which values first appear.
pub(super) fn by_value(
    dataset: Dataset,
    expression: &str,
    most: usize,
    budget: Budget,
    progress: Progress<'_>,
) -> Result<Vec<Part>> {
    let all = dataset.entries();
    let computed = Computed::values(dataset, &[Given { text: expression, option: BY }])?;
    let path = computed.dataset().path().to_owned();
    if computed.depth(0) > 0 {
        return Err(refused(expression, "has a list for each entry").object(path));
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut found: Vec<(String, EntrySetBuilder)> = Vec::new();
    computed.each_step(0..all, None, budget, progress, &mut |step| {
        let values = Values::of(step.values(0, 0..step.rows())?, expression).map_err(|e| e.object(path.as_str()))?;
        let mut row = 0;
        while row < step.rows() {
            let value = values.text(row);
            let run = (row + 1..step.rows()).find(|next| !values.are_equal(row, *next)).unwrap_or(step.rows());
            let place = match places.get(&value) {
                Some(place) => *place,
                None => {
                    refuse_many(found.len() as u64 + 1, most)?;
                    places.insert(value.clone(), found.len());
                    found.push((value, EntrySetBuilder::new(all)));
                    found.len() - 1
                }
            };
            if let Some((_, set)) = found.get_mut(place) {
                set.push(step.entry(row)..step.entry(run - 1) + 1);
            }
            row = run;
        }
        Ok(())
    })?;
    if found.is_empty() {
        return Err(refused(expression, "has no value: the table has no entries").object(path));
    }
    Ok(found.into_iter().map(|(value, set)| Part { value: Some(value), entries: set.finish() }).collect())
}

/// The values in some entries.
struct Values(ArrayRef);

impl Values {
    fn of(array: ArrayRef, expression: &str) -> Result<Self> {
        match array.data_type() {
            DataType::Int64 | DataType::UInt64 | DataType::Boolean | DataType::LargeUtf8 if array.null_count() == 0 => {
                Ok(Self(array))
            }
            DataType::Float64 if array.null_count() == 0 => {
                let mut values = array.as_primitive::<Float64Type>().values().iter();
                match values.find(|value| value.fract() != 0.0 || !value.is_finite()) {
                    None => Ok(Self(array)),
                    Some(value) if value.is_finite() => {
                        let why = format!("has numbers that are not whole, as {value}; floor(x) makes them whole");
                        Err(refused(expression, &why))
                    }
                    Some(value) => {
                        let what = if value.is_nan() { "NaN" } else { "infinite" };
                        let why = format!("is {what} in some entries, and a part is named by a whole number");
                        Err(refused(expression, &why))
                    }
                }
            }
            _ => Err(refused(expression, "has neither a whole number, nor a text, nor a truth value for each entry")),
        }
    }

    fn text(&self, row: usize) -> String {
        let values = &self.0;
        match values.data_type() {
            DataType::Int64 => values.as_primitive::<Int64Type>().value(row).to_string(),
            DataType::UInt64 => values.as_primitive::<UInt64Type>().value(row).to_string(),
            // Minus zero is zero.
            DataType::Float64 => format!("{:.0}", values.as_primitive::<Float64Type>().value(row) + 0.0),
            DataType::Boolean => values.as_boolean().value(row).to_string(),
            _ => values.as_string::<i64>().value(row).to_owned(),
        }
    }

    fn are_equal(&self, row: usize, other: usize) -> bool {
        let values = &self.0;
        match values.data_type() {
            DataType::Int64 => {
                let values = values.as_primitive::<Int64Type>();
                values.value(row) == values.value(other)
            }
            DataType::UInt64 => {
                let values = values.as_primitive::<UInt64Type>();
                values.value(row) == values.value(other)
            }
            DataType::Float64 => {
                let values = values.as_primitive::<Float64Type>().values();
                values.get(row) == values.get(other)
            }
            DataType::Boolean => values.as_boolean().value(row) == values.as_boolean().value(other),
            _ => values.as_string::<i64>().value(row) == values.as_string::<i64>().value(other),
        }
    }
}

fn refused(expression: &str, why: &str) -> Error {
    let by = Hint::named(BY);
    Error::request(format!("{by} {expression}: it {why}")).hint(by)
}
