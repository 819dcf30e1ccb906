//! Records as columns of their own: the parts of a record, or of a list of records, which trees hold in a branch each.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeListArray, ListArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema};
use rootfile::{Error, Result};

/// The parts of a record, or of a list of records, each as a column; None of everything else.
///
/// # Errors
///
/// If the parts do not fit their list.
pub fn record_parts(array: &ArrayRef) -> Result<Option<Vec<(String, ArrayRef)>>> {
    let named = |fields: &Fields, columns: Vec<ArrayRef>| {
        Some(fields.iter().map(|field| field.name().clone()).zip(columns).collect())
    };
    let records = match array.data_type() {
        DataType::Struct(fields) => return Ok(named(fields, array.as_struct().columns().to_vec())),
        DataType::LargeList(_) => array.as_list::<i64>().values(),
        DataType::List(_) => array.as_list::<i32>().values(),
        _ => return Ok(None),
    };
    let DataType::Struct(fields) = records.data_type() else { return Ok(None) };
    let of_part = |part: &ArrayRef| {
        let item = Arc::new(Field::new("item", part.data_type().clone(), part.null_count() > 0));
        Ok::<_, Error>(match array.data_type() {
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
                let made = LargeListArray::try_new(item, offsets, Arc::clone(part), nulls);
                Arc::new(made.map_err(refused)?) as ArrayRef
            }
            _ => {
                let list = array.as_list::<i32>();
                let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
                let made = ListArray::try_new(item, offsets, Arc::clone(part), nulls);
                Arc::new(made.map_err(refused)?)
            }
        })
    };
    let columns = records.as_struct().columns().iter().map(of_part).collect::<Result<Vec<_>>>()?;
    Ok(named(fields, columns))
}

/// A batch whose records are columns `name_part`, as [`columns_for`](dataset::tree::make::columns_for) names them, but for the columns
/// of these names.
///
/// # Errors
///
/// If the parts of a record do not fit together.
pub fn flat_records(batch: &RecordBatch, whole: &HashSet<&str>) -> Result<RecordBatch> {
    let is_record = |of: &DataType| match of {
        DataType::Struct(_) => true,
        DataType::List(item) | DataType::LargeList(item) => matches!(item.data_type(), DataType::Struct(_)),
        _ => false,
    };
    let schema = batch.schema_ref();
    if !schema.fields().iter().any(|field| is_record(field.data_type()) && !whole.contains(field.name().as_str())) {
        return Ok(batch.clone());
    }
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, array) in schema.fields().iter().zip(batch.columns()) {
        let parts = if whole.contains(field.name().as_str()) { None } else { record_parts(array)? };
        let Some(parts) = parts else {
            fields.push(Arc::clone(field));
            columns.push(Arc::clone(array));
            continue;
        };
        for (name, part) in parts {
            let name = format!("{}_{name}", field.name());
            fields.push(Arc::new(Field::new(name, part.data_type().clone(), true)));
            columns.push(part);
        }
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options).map_err(refused)
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn refused(error: ArrowError) -> Error {
    Error::request(error.to_string())
}
