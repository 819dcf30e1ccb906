//! What a table is made of, kept so that it can be planned again: in another layout, or with more columns.

use dataset::layout::{Container, Layout};
use dataset::ntuple::make::NewField;
use dataset::tree::make::NewKind;
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result};

use super::ntuple_plan::{NtuplePlan, NtupleSpec};
use super::open_table::TableRecord;
use super::table_plan::TablePlan;
use super::tree_plan::{TreeColumn, TreePlan, TreeSpec};

/// What a table is made of.
#[derive(Clone, Debug)]
pub(crate) struct TableSource {
    spec: TableSpec,
    layout: Layout,
}

#[derive(Clone, Debug)]
enum TableSpec {
    Tree(TreeSpec),
    /// An RNTuple with the content of a tree.
    Converted(TreeSpec),
    Ntuple(NtupleSpec),
}

impl TableSource {
    /// Columns for a tree, or for an RNTuple if the layout says so for their path.
    pub fn tree(spec: &TreeSpec, layout: &Layout) -> Self {
        let spec = match layout.resolve_tree(&spec.path).container.unwrap_or_default() {
            Container::Ttree => TableSpec::Tree(spec.clone()),
            Container::Rntuple => TableSpec::Converted(spec.clone()),
        };
        Self { spec, layout: layout.clone() }
    }

    /// Fields for an RNTuple.
    pub fn ntuple(spec: &NtupleSpec, layout: &Layout) -> Self {
        Self { spec: TableSpec::Ntuple(spec.clone()), layout: layout.clone() }
    }

    /// The same in another layout.
    pub fn in_layout(&self, layout: &Layout) -> Self {
        Self { spec: self.spec.clone(), layout: layout.clone() }
    }

    /// The path of the table.
    pub fn path(&self) -> &str {
        match &self.spec {
            TableSpec::Tree(spec) | TableSpec::Converted(spec) => &spec.path,
            TableSpec::Ntuple(spec) => &spec.path,
        }
    }

    /// The plan, and the metadata without clusters. A writer of `memory` bytes divides page lists accordingly.
    pub fn plan(&self, memory: u64) -> Result<(TablePlan, TableRecord)> {
        let converted;
        let spec = match &self.spec {
            TableSpec::Tree(spec) => {
                let (plan, tree) = TreePlan::new(spec, &self.layout)?;
                return Ok((TablePlan::Tree(plan), TableRecord::Tree(Box::new(tree))));
            }
            TableSpec::Converted(spec) => {
                converted = NtupleSpec::of_tree(spec)?;
                &converted
            }
            TableSpec::Ntuple(spec) => spec,
        };
        let (mut plan, ntuple) = NtuplePlan::new(spec, &self.layout)?;
        plan.limit_groups(memory);
        Ok((TablePlan::Ntuple(plan), TableRecord::Ntuple(Box::new(ntuple))))
    }

    /// The same with more columns.
    pub fn with_columns(&self, columns: &[TreeColumn], classes: &StreamerInfos) -> Result<Self> {
        let mut wider = self.clone();
        let (TableSpec::Tree(spec) | TableSpec::Converted(spec)) = &mut wider.spec else {
            return Err(Error::request("it is made of fields, not of columns"));
        };
        let early = spec.columns.clone();
        for column in columns {
            is_new(&column.name, spec.columns.iter().map(|old| old.name.as_str()))?;
            if let Some(counter) = counter_of(column, &early) {
                return Err(Error::request(format!(
                    "column {}: its counter {counter} has entries already, which count no items of it; give it a counter of its own",
                    column.name
                )));
            }
            spec.columns.push(column.clone());
        }
        spec.classes.extend(classes);
        Ok(wider)
    }

    /// The same with more fields.
    pub fn with_fields(&self, fields: &[NewField], classes: &StreamerInfos) -> Result<Self> {
        let mut wider = self.clone();
        let TableSpec::Ntuple(spec) = &mut wider.spec else {
            return Err(Error::request("it is made of columns, not of fields"));
        };
        for field in fields {
            is_new(&field.name, spec.fields.iter().map(|old| old.name.as_str()))?;
            spec.fields.push(field.clone());
        }
        spec.classes.extend(classes);
        Ok(wider)
    }
}

fn is_new<'a>(name: &str, mut known: impl Iterator<Item = &'a str>) -> Result<()> {
    if known.any(|old| old == name) {
        return Err(Error::request(format!("there is a column {name} already")));
    }
    Ok(())
}

/// A counter of the column among others, which its leaves name.
fn counter_of<'a>(column: &TreeColumn, others: &'a [TreeColumn]) -> Option<&'a str> {
    let leaves = |column: &'a TreeColumn| match &column.kind {
        NewKind::Leaves(leaves) => leaves.as_slice(),
        NewKind::Class { .. } => &[],
    };
    let NewKind::Leaves(own) = &column.kind else { return None };
    let is_counter = |name: &str| {
        let counts = own.iter().any(|leaf| leaf.counter.as_deref() == Some(name));
        counts && own.iter().all(|leaf| leaf.name != name)
    };
    others.iter().flat_map(leaves).map(|leaf| leaf.name.as_str()).find(|name| is_counter(name))
}
