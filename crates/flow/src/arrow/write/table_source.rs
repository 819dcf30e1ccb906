//! What a table is made of, kept so that it can be planned again: in another layout, or with more columns. Here alone the writer
//! chooses a container.

use std::sync::Arc;

use dataset::layout::{Container, Layout};
use dataset::ntuple::make::NewField;
use dataset::ntuple::model::Ntuple;
use dataset::tree::make::NewKind;
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result};

use super::any_table::AnyTable;
use super::format::TableFormat;
use super::ntuple::format::NtupleFormat;
use super::ntuple::plan::{NtuplePlan, NtupleSpec};
use super::table::Table;
use super::tree::format::TreeFormat;
use super::tree::plan::{TreeColumn, TreePlan, TreeSpec};
use crate::execute::encode::scratch::EncodeScratchPool;

/// What a table is made of, and the table.
#[derive(Clone)]
pub(crate) struct TableSource {
    table: Made,
    layout: Layout,
    /// Memory of the writer in bytes, by which page lists are divided.
    memory: u64,
}

/// A tree on its way into a file.
pub(crate) type TreeTable = Table<TreeFormat>;
/// An RNTuple on its way into a file.
pub(crate) type NtupleTable = Table<NtupleFormat>;

#[derive(Clone)]
enum Made {
    Tree(TreeSpec, Arc<TreeTable>),
    /// An RNTuple with the content of a tree.
    Converted(TreeSpec, Arc<NtupleTable>),
    Ntuple(NtupleSpec, Arc<NtupleTable>),
}

/// More columns for a table, which nobody sees yet.
pub(crate) struct MoreColumns {
    /// What the table is made of with them.
    pub source: TableSource,
    /// Branches or columns that are added.
    pub width: u64,
    /// Gives them to the table. Returns bytes to release.
    pub add: Box<dyn FnOnce() -> u64>,
}

impl TableSource {
    /// Columns for a tree, or for an RNTuple if the layout says so for their path.
    pub fn tree(spec: &TreeSpec, layout: &Layout, memory: u64) -> Result<Self> {
        let table = match layout.resolve_tree(&spec.path).container.unwrap_or_default() {
            Container::Ttree => Made::Tree(spec.clone(), Table::new(TreePlan::new(spec, layout)?)),
            Container::Rntuple => Made::Converted(spec.clone(), Table::new(of_tree(spec, layout, memory)?)),
        };
        Ok(Self { table, layout: layout.clone(), memory })
    }

    /// The same for entries that lie somewhere, so that they can be looked at before they are written.
    pub fn stored(spec: &TreeSpec, layout: &Layout, memory: u64) -> Result<Arc<dyn AnyTable>> {
        Ok(match layout.resolve_tree(&spec.path).container.unwrap_or_default() {
            Container::Ttree => Table::<TreeFormat>::new(TreePlan::new(spec, layout)?) as _,
            Container::Rntuple => {
                Table::<NtupleFormat>::new(NtuplePlan::new(&NtupleSpec::of_tree(spec)?, layout, memory)?) as _
            }
        })
    }

    /// Fields for an RNTuple.
    pub fn ntuple(spec: &NtupleSpec, layout: &Layout, memory: u64) -> Result<Self> {
        let table = Made::Ntuple(spec.clone(), Table::new(of_fields(spec, layout, memory)?));
        Ok(Self { table, layout: layout.clone(), memory })
    }

    /// The same as a table in another layout. It stays a tree or an RNTuple.
    pub fn in_layout(&self, layout: &Layout) -> Result<Self> {
        let table = match &self.table {
            Made::Tree(spec, _) => Made::Tree(spec.clone(), Table::new(TreePlan::new(spec, layout)?)),
            Made::Converted(spec, _) => Made::Converted(spec.clone(), Table::new(of_tree(spec, layout, self.memory)?)),
            Made::Ntuple(spec, _) => Made::Ntuple(spec.clone(), Table::new(of_fields(spec, layout, self.memory)?)),
        };
        Ok(Self { table, layout: layout.clone(), memory: self.memory })
    }

    /// The path of the table.
    pub fn path(&self) -> &str {
        match &self.table {
            Made::Tree(spec, _) | Made::Converted(spec, _) => &spec.path,
            Made::Ntuple(spec, _) => &spec.path,
        }
    }

    /// The table.
    pub fn table(&self) -> Arc<dyn AnyTable> {
        match &self.table {
            Made::Tree(_, table) => Arc::clone(table) as _,
            Made::Converted(_, table) | Made::Ntuple(_, table) => Arc::clone(table) as _,
        }
    }

    /// More columns for it.
    pub fn with_columns(
        &self,
        columns: &[TreeColumn],
        classes: &StreamerInfos,
        scratches: &EncodeScratchPool,
    ) -> Result<MoreColumns> {
        let mut source = self.clone();
        let (Made::Tree(spec, _) | Made::Converted(spec, _)) = &mut source.table else {
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
        source.wider(scratches)
    }

    /// More fields for it.
    pub fn with_fields(
        &self,
        fields: &[NewField],
        classes: &StreamerInfos,
        scratches: &EncodeScratchPool,
    ) -> Result<MoreColumns> {
        let mut source = self.clone();
        let Made::Ntuple(spec, _) = &mut source.table else {
            return Err(Error::request("it is made of columns, not of fields"));
        };
        for field in fields {
            is_new(&field.name, spec.fields.iter().map(|old| old.name.as_str()))?;
            spec.fields.push(field.clone());
        }
        spec.classes.extend(classes);
        source.wider(scratches)
    }

    /// Plans what is made of more than the table has so far.
    fn wider(self, scratches: &EncodeScratchPool) -> Result<MoreColumns> {
        let (width, add) = match &self.table {
            Made::Tree(spec, table) => addition(table, TreePlan::new(spec, &self.layout)?, scratches)?,
            Made::Converted(spec, table) => addition(table, of_tree(spec, &self.layout, self.memory)?, scratches)?,
            Made::Ntuple(spec, table) => addition(table, of_fields(spec, &self.layout, self.memory)?, scratches)?,
        };
        Ok(MoreColumns { source: self, width, add })
    }
}

/// An RNTuple that is filled.
fn of_fields(spec: &NtupleSpec, layout: &Layout, memory: u64) -> Result<(NtuplePlan, Ntuple)> {
    let filled = NtuplePlan::new(spec, layout, memory).and_then(|(plan, ntuple)| plan.filled(ntuple));
    filled.map_err(|e| if e.subject().is_some() { e } else { e.object(format!("RNTuple {}", spec.path)) })
}

/// An RNTuple with the content of a tree, that is filled.
fn of_tree(spec: &TreeSpec, layout: &Layout, memory: u64) -> Result<(NtuplePlan, Ntuple)> {
    of_fields(&NtupleSpec::of_tree(spec)?, layout, memory)
}

/// The number of branches or columns of a wider plan that its table lacks, and what gives them to it.
fn addition<F: TableFormat>(
    table: &Arc<Table<F>>,
    (plan, record): (F::Plan, F::Record),
    scratches: &EncodeScratchPool,
) -> Result<(u64, Box<dyn FnOnce() -> u64>)> {
    let plan = table.extended(plan, scratches)?;
    let (width, table) = (F::width(&plan).saturating_sub(table.width()), Arc::clone(table));
    Ok((width, Box::new(move || table.add_columns(plan, record))))
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
