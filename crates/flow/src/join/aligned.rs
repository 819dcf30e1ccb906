//! Writes a table on the right in the order of the left one: for each left entry its partner, or the defaults of the columns. The file is
//! an ordinary one, and a scratch file of the join; its baskets end where clusters of the left table end, so that most move as they are.

use std::path::Path;
use std::sync::Arc;

use dataset::layout::{Container, Layout};
use dataset::table::catalog;
use objects::{Action, NamedObject, ObjectLocation, ObjectPlan, OutputDirectory};
use rootfile::{Error, FilePool, OPEN_FILES, Result};

use super::names::GivenColumns;
use super::table::SideTable;
use crate::execute::budget::Budget;
use crate::execute::order::OrderBuilder;
use crate::execute::progress::{Progress, tell};
use crate::plan::options::PlanOptions;
use crate::rewrite::execute::write;
use crate::rewrite::options::{ContentOptions, EntryOrder, GivenOrder, Options};
use crate::rewrite::prepare::prepare_objects;

/// Of the budget, the part for the order of rows in memory.
const ORDER: u64 = 8;

/// A table on the right, and what it becomes.
pub(super) struct Aligning<'a> {
    pub table: &'a SideTable,
    pub columns: &'a GivenColumns,
    /// The name that it gets.
    pub name: &'a str,
    /// The file to write.
    pub file: &'a Path,
    pub container: Container,
    /// The bounds of the clusters of the left table.
    pub clusters: &'a [u64],
    /// What waits on disk is beside this file.
    pub beside: &'a Path,
    pub budget: Budget,
}

/// The next partner, as [`Partners::next`](super::matching::Partners::next) tells it.
type NextPartner<'a> = dyn FnMut() -> Result<Option<Option<(usize, u64)>>> + 'a;

/// Writes the table. Returns notes, in which it has its own name.
///
/// # Errors
///
/// The table cannot be read, or the file cannot be written.
pub(super) fn align(
    how: &Aligning<'_>,
    next: &mut NextPartner<'_>,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Vec<String>> {
    let Aligning { table, columns, budget, .. } = how;
    let entries = table.firsts.iter().zip(table.firsts.iter().skip(1)).map(|(first, end)| end - first);
    let entries: Vec<u64> = entries.collect();
    let mut order = OrderBuilder::new(&entries, budget.memory / ORDER, Some(how.beside));
    while let Some(partner) = next()? {
        match partner {
            Some((file, entry)) => order.push(file, entry)?,
            None => order.push_missing()?,
        }
    }
    let order = order.finish()?.ending_at(how.clusters.to_vec());
    tell(progress, 0)?;
    let filter = options.content.filter.clone().without_columns(columns.left_out.iter().cloned());
    let mut layout = Layout::default();
    layout.common.container = Some(how.container);
    layout.common.compression = options.layout.common.compression;
    let how_written = Options {
        layout,
        content: ContentOptions {
            filter,
            order: Some(EntryOrder::Given(GivenOrder(Arc::new(order)))),
            ..ContentOptions::default()
        },
        // The output has the index of the left table.
        plan: PlanOptions { replaces_index: true, ..options.plan },
        inputs: options.inputs,
        budget: *budget,
        overwrite: true,
        ..Options::default()
    };
    let pool = FilePool::following(OPEN_FILES, options.inputs.follow);
    let files = table.files.iter().map(|path| pool.open(path).map(Arc::new)).collect::<Result<Vec<_>>>()?;
    let (mut locations, mut newest, mut class) = (Vec::new(), 0, String::new());
    for (file, number) in files.iter().zip(0u32..) {
        let tables = catalog::tables(file);
        let gone = || Error::request(format!("has no table {} any more", table.tree)).file(file.name());
        let found = catalog::find(&tables, &table.tree).ok_or_else(gone)?;
        locations.push(ObjectLocation { file: number, seek: found.key.seek_key, cycle: found.key.cycle });
        newest = newest.max(found.key.datime);
        class.clone_from(&found.key.class);
    }
    let action = match table.container {
        Container::Ttree => Action::Tree(locations),
        Container::Rntuple => Action::Ntuple(locations),
    };
    let name = how.name.to_owned();
    let entries = vec![NamedObject { name: name.clone(), class, action, older: Vec::new(), newest: 1 }];
    let objects = ObjectPlan {
        directories: vec![OutputDirectory { entries, ..OutputDirectory::default() }],
        newest,
        single: files.len() == 1,
        ..ObjectPlan::default()
    };
    let mut prepared = prepare_objects(&files, objects, &how_written, None)?;
    // Baskets have the name of their tree, by which they are told from those of others.
    for tree in prepared.plans.iter_mut().filter_map(|(_, plan)| plan.table.tree_mut()) {
        tree.tree.named.name.clone_from(&name);
        tree.columns.iter_mut().for_each(|column| column.tree_name.clone_from(&name));
    }
    let (summary, staged) = write(prepared, how.file, &how_written, progress)?;
    staged.deliver()?;
    Ok(summary.notes.iter().map(|note| note.replace(&name, &table.tree)).collect())
}
