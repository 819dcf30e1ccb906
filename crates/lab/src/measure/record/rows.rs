//! Rows of a table as samples, or as objects by the names of their columns. Columns that a version does not know are left out.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use flow::inputs::Input;
use flow::read::{BatchSize, Dataset, Request, batches};
use flow::{Budget, unwatched};
use rootfile::Result;
use serde_json::{Map, Value};

use crate::monitor::Sample;

/// Memory of the reader.
const MEMORY: u64 = 128 << 20;

/// A value in a row.
enum Cell<'a> {
    Whole(i64),
    Real(f64),
    Text(&'a str),
    Flag(bool),
    List(Vec<i64>),
}

/// Calls for each row of a table of a file.
pub(super) fn rows(
    path: &Path,
    tree: Option<&str>,
    with: &mut dyn FnMut(&RecordBatch, usize) -> Result<()>,
) -> Result<()> {
    let dataset = Dataset::open(&[Input { path: path.to_path_buf(), tree: tree.map(str::to_owned) }])?;
    let request = Request {
        columns: (0..dataset.columns().len()).collect(),
        entries: 0..dataset.entries(),
        selection: None,
        budget: Budget::new(MEMORY, 1),
        progress: &unwatched,
    };
    for part in batches(&dataset, request, BatchSize::Cluster) {
        let batch = part?.batch;
        (0..batch.num_rows()).try_for_each(|row| with(&batch, row))?;
    }
    Ok(())
}

/// A row as a sample.
pub(super) fn sample(batch: &RecordBatch, row: usize) -> Sample {
    let mut sample = Sample::default();
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        match cell(column, row) {
            Some(Cell::Whole(n)) => sample.set_whole(field.name(), u64::try_from(n).unwrap_or(0)),
            Some(Cell::Real(x)) => sample.set_number(field.name(), x),
            Some(Cell::Text(text)) => drop(sample.set_text(field.name(), text)),
            Some(Cell::List(sizes)) if field.name() == "output_bytes" => {
                sample.output_bytes = sizes.into_iter().map(|size| u64::try_from(size).unwrap_or(0)).collect();
            }
            _ => {}
        }
    }
    sample
}

/// A row as an object; a number that is none is null.
pub(super) fn row_object(batch: &RecordBatch, row: usize) -> Value {
    let mut object = Map::new();
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let value = match cell(column, row) {
            Some(Cell::Whole(n)) => Value::from(n),
            Some(Cell::Real(x)) => serde_json::Number::from_f64(x).map_or(Value::Null, Value::Number),
            Some(Cell::Text(text)) => Value::from(text),
            Some(Cell::Flag(flag)) => Value::from(flag),
            Some(Cell::List(items)) => Value::from(items),
            None => continue,
        };
        object.insert(field.name().clone(), value);
    }
    Value::Object(object)
}

fn cell(column: &dyn Array, row: usize) -> Option<Cell<'_>> {
    if row >= column.len() || column.is_null(row) {
        return None;
    }
    if let Some(items) = column.as_primitive_opt::<Int64Type>() {
        return Some(Cell::Whole(items.value(row)));
    }
    if let Some(items) = column.as_primitive_opt::<Int32Type>() {
        return Some(Cell::Whole(items.value(row).into()));
    }
    if let Some(items) = column.as_primitive_opt::<UInt64Type>() {
        return Some(Cell::Whole(i64::try_from(items.value(row)).unwrap_or(i64::MAX)));
    }
    if let Some(items) = column.as_primitive_opt::<Float64Type>() {
        return Some(Cell::Real(items.value(row)));
    }
    if let Some(items) = column.as_boolean_opt() {
        return Some(Cell::Flag(items.value(row)));
    }
    if let Some(items) = column.as_string_opt::<i64>() {
        return Some(Cell::Text(items.value(row)));
    }
    if let Some(items) = column.as_string_opt::<i32>() {
        return Some(Cell::Text(items.value(row)));
    }
    let items = match (column.as_list_opt::<i64>(), column.as_list_opt::<i32>()) {
        (Some(lists), _) => lists.value(row),
        (_, Some(lists)) => lists.value(row),
        _ => return None,
    };
    let items = items.as_primitive_opt::<Int64Type>()?;
    Some(Cell::List(items.values().to_vec()))
}
