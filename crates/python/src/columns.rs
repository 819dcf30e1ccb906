//! The columns of a tree to write, by uproot's conventions for names of counters, and the fields of an RNTuple.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use dataset::ntuple::make::{NewField, fields_for};
use dataset::tree::make::{NewColumn, NewKind, columns_for};
use flow::write::TreeColumn;
use rootfile::{Error, Result};

/// A column to write: its name, the counter of its lists, and its C++ type if given.
pub type ColumnSpec = (String, String, Option<String>);

/// The columns in order, each counter before the columns that it counts, and the counters.
pub fn columns(specs: &[ColumnSpec], types: &Schema) -> Result<(Vec<TreeColumn>, HashSet<String>)> {
    let mut made: Vec<NewColumn> = Vec::new();
    let mut counters = HashSet::new();
    for (name, counter, typename) in specs {
        let in_column = |e: Error| e.object(format!("column {name}"));
        let mut own = of(name, typename.as_deref(), types).map_err(in_column)?;
        let column = own.pop().ok_or_else(|| Error::request("a record without parts"))?;
        let column = if own.is_empty() { column } else { counted(column, counter) };
        if !own.is_empty() && counters.insert(counter.clone()) {
            let new = NewColumn::leaf(counter, 'I');
            match made.iter_mut().find(|other| other.name == *counter) {
                // Counters are of 32 bits.
                Some(other) if is_whole_number(other) => *other = new,
                Some(_) => return Err(taken(counter, name)),
                None => made.push(new),
            }
        }
        if counters.contains(name) {
            if !is_whole_number(&column) {
                return Err(taken(name, "another column"));
            }
        } else if made.iter().any(|other| other.name == *name) {
            return Err(Error::request(format!("two columns are named {name}")));
        } else {
            made.push(column);
        }
    }
    Ok((made.into_iter().map(|c| TreeColumn { name: c.name, kind: c.kind }).collect(), counters))
}

/// The fields of an RNTuple: of the given C++ types, or of the types of a schema.
pub fn fields(names: &[(String, Option<String>)], types: &RecordBatch) -> Result<Vec<NewField>> {
    let mut made = Vec::with_capacity(names.len());
    for (name, typename) in names {
        match typename {
            Some(typename) => made.push(NewField::typed(name, typename)),
            None => {
                let (place, field) = types.schema_ref().column_with_name(name).ok_or_else(|| no_column(name))?;
                let array = types.columns().get(place).ok_or_else(|| no_column(name))?;
                made.extend(fields_for(&Schema::new(vec![as_found(field, array)]))?);
            }
        }
    }
    Ok(made)
}

#[cold]
fn no_column(name: &str) -> Error {
    Error::request(format!("no column {name}"))
}

/// Nullable only if a value is null: most Arrow producers mark every field nullable. An empty batch keeps the mark.
fn as_found(field: &Field, array: &ArrayRef) -> Field {
    let nullable = field.is_nullable() && (array.is_empty() || array.null_count() > 0);
    let item = |item: &FieldRef, values: &ArrayRef| Arc::new(as_found(item, values));
    let data_type = match field.data_type() {
        DataType::List(of) => DataType::List(item(of, array.as_list::<i32>().values())),
        DataType::LargeList(of) => DataType::LargeList(item(of, array.as_list::<i64>().values())),
        DataType::FixedSizeList(of, n) => DataType::FixedSizeList(item(of, array.as_fixed_size_list().values()), *n),
        DataType::Struct(of) => {
            let record = array.as_struct();
            DataType::Struct(of.iter().zip(record.columns()).map(|(part, values)| item(part, values)).collect())
        }
        other => other.clone(),
    };
    Field::new(field.name(), data_type, nullable).with_metadata(field.metadata().clone())
}

/// The column, after its counter if it has one.
fn of(name: &str, typename: Option<&str>, types: &Schema) -> Result<Vec<NewColumn>> {
    let Some(typename) = typename else {
        let field = types.field_with_name(name).map_err(|e| Error::request(e.to_string()))?;
        return columns_for(&Schema::new(vec![field.clone()]));
    };
    if let Some(class) = typename.strip_prefix("TClonesArray<").and_then(|rest| rest.strip_suffix('>')) {
        let kind = NewKind::Class { type_name: "TClonesArray".to_owned(), clones: Some(class.trim().to_owned()) };
        return Ok(vec![NewColumn::new(name, kind)]);
    }
    let metadata = HashMap::from([("typename".to_owned(), typename.to_owned())]);
    columns_for(&Schema::new(vec![Field::new(name, DataType::Null, false).with_metadata(metadata)]))
}

/// The column, counted by another counter than it would be.
fn counted(mut column: NewColumn, counter: &str) -> NewColumn {
    if let NewKind::Leaves(leaves) = &mut column.kind {
        for leaf in leaves {
            leaf.counter = Some(counter.to_owned());
        }
    }
    column
}

fn is_whole_number(column: &NewColumn) -> bool {
    match &column.kind {
        NewKind::Leaves(leaves) => {
            matches!(leaves.as_slice(), [leaf] if leaf.counter.is_none() && leaf.dims.is_empty() && !"OFDC".contains(leaf.letter))
        }
        NewKind::Class { .. } => false,
    }
}

#[cold]
fn taken(counter: &str, counted: &str) -> Error {
    Error::request(format!("{counter} would count {counted}, but is not a column of integers"))
}
