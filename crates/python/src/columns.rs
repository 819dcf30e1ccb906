//! The columns of a tree to write, by uproot's conventions for names of counters.

use std::collections::{HashMap, HashSet};

use arrow_schema::{DataType, Field, Schema};
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
