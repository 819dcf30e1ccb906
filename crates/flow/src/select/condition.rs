//! The entries of a tree for which a column of it is true, read before anything is planned. What is kept of the others
//! is the caller's to say.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use dataset::glob::{ColumnPattern, NameFilter};
use rootfile::{Error, Key, Result, RootFile};

use crate::arrow::read::Dataset;
use crate::arrow::read::Request;
use crate::arrow::read::Step;
use crate::arrow::read::batches;
use crate::execute::budget::Budget;
use crate::plan::options::Schema;
use crate::table::entry_set::{Chooser, Selected};

/// Bytes of the column that are read at a time.
const PORTION: u64 = 4 << 20;

/// A tree whose entries are to be chosen.
pub(crate) struct Table<'a> {
    /// Its parts, and the number of the input that each lies in.
    pub inputs: &'a [(usize, Arc<RootFile>, Key)],
    /// Its path.
    pub path: &'a str,
    /// What is done where the parts differ.
    pub schema: Schema,
    /// What the reading may use.
    pub budget: Budget,
}

/// The entries for which the column is true, or not zero; none if the tree has no such column.
pub(crate) fn holds(table: &Table<'_>, pattern: &ColumnPattern) -> Result<Option<Selected>> {
    if !pattern.speaks_of(table.path) {
        return Ok(None);
    }
    let filter = NameFilter::new(&[pattern.as_str()], &[])?;
    let schema = if table.schema == Schema::Fill { Schema::Fill } else { Schema::Strict };
    let dataset = Dataset::of_trees(table.inputs, table.path, &filter, schema)?;
    let meant = |name: &str| {
        let last = name.rsplit('/').next().unwrap_or(name);
        pattern.matches(table.path, name) || pattern.matches(table.path, last)
    };
    let names = || dataset.columns().iter().map(|column| column.field().name().as_str()).filter(|name| meant(name));
    let Some(found) = dataset.columns().iter().position(|column| meant(column.field().name())) else {
        return Ok(None);
    };
    if names().nth(1).is_some() {
        let names = names().collect::<Vec<_>>().join(", ");
        return Err(Error::request(format!(
            "--where {}: several columns of tree {} match: {names}; name one",
            pattern.as_str(),
            table.path
        )));
    }
    read(&dataset, found, table.budget).map(Some)
}

fn read(dataset: &Dataset, column: usize, budget: Budget) -> Result<Selected> {
    let Some(plan) = dataset.column(column) else { return Ok(Selected::range(0..0)) };
    let refused = |what: &str| {
        Error::request(format!(
            "--where takes a column with one boolean or whole number for each entry; this one {what}"
        ))
        .object(format!("branch {} of {}", plan.field().name(), dataset.path()))
    };
    if let Some(why) = plan.opaque() {
        return Err(refused(&format!("cannot be decoded: {why}")));
    }
    let kind = plan.field().data_type();
    if !(kind.is_integer() || *kind == DataType::Boolean) {
        let typename = plan.field().metadata().get("typename");
        return Err(refused(&typename.map_or_else(|| "has others".to_owned(), |name| format!("has {name}"))));
    }
    if !dataset.is_complete(column) {
        return Err(refused("has fewer entries than its tree"));
    }
    let all = dataset.entries();
    let request = Request { columns: vec![column], entries: 0..all, selection: None, budget, cancelled: None };
    let mut chosen = Chooser::new(all);
    let mut first = 0;
    for read in batches(dataset, request, Step::Bytes(PORTION)) {
        let read = read?;
        let array = read.batch.column(0);
        let flags = arrow_cast::cast(array, &DataType::Boolean);
        let flags = flags.ok().filter(|_| array.data_type() == kind).ok_or_else(|| refused("cannot be decoded"))?;
        let flags = flags.as_boolean().values();
        for (start, end) in flags.set_slices() {
            chosen.push(first + start as u64..first + end as u64);
        }
        first += flags.len() as u64;
    }
    Ok(chosen.finish())
}
