//! The entries of a tree for which a column is true. The column is read before the rewrite is planned. The caller decides
//! what happens to the other entries.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use dataset::glob::{ColumnPattern, NameFilter};
use dataset::table::Join;
use dataset::{EntrySet, EntrySetBuilder};
use rootfile::{Error, Hint, Key, Result, RootFile};

use crate::arrow::read::{BatchSize, Dataset, Request, batches};
use crate::execute::budget::Budget;
use crate::execute::progress::unwatched;
use crate::plan::options::PlanOptions;

/// Bytes of columns that are read at a time.
pub(super) const PORTION: u64 = 4 << 20;

/// A tree of which entries are selected.
pub(crate) struct SourceTree<'a> {
    /// Its key in each input that has it, with the index of the input.
    pub inputs: &'a [(usize, Arc<RootFile>, Key)],
    /// Its path.
    pub path: &'a str,
    /// What is done where the schemas of the inputs differ.
    pub joining: PlanOptions,
    /// Memory and threads for the read.
    pub budget: Budget,
}

impl SourceTree<'_> {
    /// Opens some of its columns.
    pub(super) fn open(&self, filter: &NameFilter) -> Result<Dataset> {
        let schema = if self.joining.schema == Join::Fill { Join::Fill } else { Join::Strict };
        Dataset::of_trees(self.inputs, self.path, filter, PlanOptions { schema, ..self.joining })
    }
}

/// Opens some columns of a table.
pub(crate) type OpenColumns<'a> = &'a dyn Fn(&NameFilter) -> Result<Dataset>;

/// The entries for which the column is true, or not zero. `None` if the tree has no such column.
pub(super) fn entries_where(
    path: &str,
    open: OpenColumns<'_>,
    budget: Budget,
    pattern: &ColumnPattern,
) -> Result<Option<EntrySet>> {
    if !pattern.applies_to(path) {
        return Ok(None);
    }
    let dataset = open(&NameFilter::new(&[pattern.as_str()], &[])?)?;
    let matches = |name: &str| {
        let last = name.rsplit('/').next().unwrap_or(name);
        pattern.matches(path, name) || pattern.matches(path, last)
    };
    let names = || dataset.columns().iter().map(|column| column.field().name().as_str()).filter(|name| matches(name));
    let Some(found) = dataset.columns().iter().position(|column| matches(column.field().name())) else {
        return Ok(None);
    };
    if names().nth(1).is_some() {
        let names = names().collect::<Vec<_>>().join(", ");
        return Err(Error::request(format!(
            "--where {}: several columns of tree {} match: {names}; name one",
            pattern.as_str(),
            path
        ))
        .hint(Hint::named("where")));
    }
    read(&dataset, found, budget).map(Some)
}

fn read(dataset: &Dataset, column: usize, budget: Budget) -> Result<EntrySet> {
    let Some(plan) = dataset.column(column) else { return Ok(EntrySet::range(0..0)) };
    let refused = |what: &str| {
        Error::request(format!(
            "--where takes a column with one boolean or whole number for each entry; this one {what}"
        ))
        .hint(Hint::named("where"))
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
    let request = Request { columns: vec![column], entries: 0..all, selection: None, budget, progress: &unwatched };
    let mut set = EntrySetBuilder::new(all);
    let mut first = 0;
    for read in batches(dataset, request, BatchSize::Bytes(PORTION)) {
        let read = read?;
        let array = read.batch.column(0);
        let flags = arrow_cast::cast(array, &DataType::Boolean);
        let flags = flags.ok().filter(|_| array.data_type() == kind).ok_or_else(|| refused("cannot be decoded"))?;
        let flags = flags.as_boolean().values();
        for (start, end) in flags.set_slices() {
            set.push(first + start as u64..first + end as u64);
        }
        first += flags.len() as u64;
    }
    Ok(set.finish())
}
