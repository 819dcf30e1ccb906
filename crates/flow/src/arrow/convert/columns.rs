//! Selects the columns of a tree for a Parquet file, names them, and reports columns that cannot be converted.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema};
use dataset::glob::NameFilter;
use dataset::tree::{BranchKind, Tree};
use parquet::arrow::ArrowSchemaConverter;
use rootfile::{Error, Result};

use super::report::LeftOut;
use crate::arrow::read::Dataset;

/// A column to write.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    /// Its index in the data set.
    pub column: usize,
    /// Its index among the columns that are read.
    pub place: usize,
    /// Its field in the Parquet file.
    pub field: FieldRef,
}

/// The columns that a filter keeps.
pub(super) fn choose(dataset: &Dataset, filter: &NameFilter, left_out: &mut Vec<LeftOut>) -> Result<Vec<Chosen>> {
    let tree = dataset.tree();
    check(filter, dataset.path(), tree)?;
    let kept = |(number, plan): (usize, &dataset::decode::ColumnPlan)| {
        let branch = tree.branches.get(plan.branch())?;
        // The members of a split STL collection have its size as well. The counter of a TClonesArray is a column.
        let groups = branch.element().is_some_and(|e| e.element_type == 4) && !branch.children.is_empty();
        let asked = filter.keeps(dataset.path(), &tree.lineage(plan.branch()));
        (asked && !groups).then(|| (number, plan.branch(), Arc::clone(plan.field())))
    };
    let kept: Vec<_> = dataset.columns().iter().enumerate().filter_map(kept).collect();
    let mut named: HashMap<&str, usize> = HashMap::new();
    for &(_, branch, _) in &kept {
        *named.entry(name_of(tree, branch)).or_default() += 1;
    }
    let mut chosen: Vec<Chosen> = Vec::with_capacity(kept.len());
    for (column, branch, field) in &kept {
        // A column has the name of its branch, unless another branch has the same name.
        let own = name_of(tree, *branch);
        let name = if named.get(own) == Some(&1) { own } else { field.name().as_str() };
        let twice = || "another column has the same name and path".to_owned();
        let known = chosen.iter().any(|other| other.field.name() == name);
        let absent = || dataset.absent(*column);
        match if known { Some(twice()) } else { unfit(field).or_else(absent) } {
            Some(why) => left_out.push(LeftOut { name: name.to_owned(), why }),
            None => {
                let mut metadata = field.metadata().clone();
                let counter = counter(tree, *branch).filter(|c| kept.iter().any(|(_, kept, _)| kept == c));
                metadata.extend(counter.map(|counter| ("counter".to_owned(), name_of(tree, counter).to_owned())));
                let field = Field::clone(field).with_name(name).with_metadata(metadata);
                chosen.push(Chosen { column: *column, place: chosen.len(), field: Arc::new(field) });
            }
        }
    }
    if chosen.is_empty() {
        let why = left_out.first().map(|column| format!(": {} is left out, {}", column.name, column.why));
        return Err(Error::request(format!("no column to convert{}", why.unwrap_or_default())).object(dataset.path()));
    }
    Ok(chosen)
}

/// Fails on patterns that match nothing, which are most likely typing errors.
fn check(filter: &NameFilter, path: &str, tree: &Tree) -> Result<()> {
    let names: Vec<_> = tree.branches.iter().map(|branch| (path, branch.name())).collect();
    match filter.unmatched(&names).first() {
        Some(pattern) => Err(Error::request(format!("no branch of {path} matches {pattern}"))),
        None => Ok(()),
    }
}

/// The name of a branch without dimensions, which end the names of members: `fTracks.fVertex[3]`.
fn name_of(tree: &Tree, branch: usize) -> &str {
    let name = tree.branches.get(branch).map_or("", |branch| branch.name());
    name.split('[').next().filter(|plain| !plain.is_empty()).unwrap_or(name)
}

/// The branch that counts a branch of one leaf, if both are plain columns of their own.
fn counter(tree: &Tree, branch: usize) -> Option<usize> {
    let plain = |branch: usize| {
        let found = tree.branches.get(branch)?;
        (matches!(found.kind, BranchKind::Plain) && found.leaves.len() == 1 && found.parent.is_none()).then_some(found)
    };
    let leaf = tree.leaves.get(*plain(branch)?.leaves.first()?)?;
    let id = leaf.leaf_count?;
    let counter = tree.leaves.iter().find(|leaf| leaf.id == id)?.branch;
    (counter != branch && plain(counter).is_some()).then_some(counter)
}

/// The reason why a column cannot be in a Parquet file, if there is one.
pub(super) fn unfit(field: &Field) -> Option<String> {
    if let Some(why) = field.metadata().get("opaque") {
        return Some(format!("its bytes cannot be decoded: {why}"));
    }
    if holds_bytes(field.data_type()) {
        return Some("it holds objects that cannot be decoded".to_owned());
    }
    // A record without members, for example.
    let schema = Schema::new(vec![field.clone()]);
    ArrowSchemaConverter::new().convert(&schema).err().map(|e| e.to_string())
}

/// Whether a type holds opaque bytes. They may refer to other bytes of their entry, so they have no meaning elsewhere.
fn holds_bytes(of: &DataType) -> bool {
    match of {
        DataType::LargeBinary => true,
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => holds_bytes(item.data_type()),
        DataType::Struct(parts) => parts.iter().any(|part| holds_bytes(part.data_type())),
        _ => false,
    }
}
