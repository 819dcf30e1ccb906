//! What an open table remembers of the values that cuts have read, cluster by cluster, for later cuts.

use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use dataset::EntrySet;
use expr::Extent;
use rayon::ThreadPool;

use super::parts::{EvaluatedRows, in_parts};
use crate::arrow::read::NamedTable;
use crate::execute::budget::Budget;

/// The clusters whose entries are read, step by step.
pub(super) struct Seen<'a> {
    table: &'a dyn NamedTable,
    /// The columns that are read.
    columns: Vec<usize>,
    /// Only these entries are read.
    selection: Option<EntrySet>,
    budget: Budget,
    /// The cluster that is looked at, how many of its entries have been, and what is known of them in each column that is new.
    cluster: usize,
    count: u64,
    extents: Vec<(usize, Option<Extent>)>,
}

impl<'a> Seen<'a> {
    pub fn new(table: &'a dyn NamedTable, columns: &[usize], selection: Option<&EntrySet>, budget: Budget) -> Self {
        let (columns, selection) = (columns.to_vec(), selection.cloned());
        Self { table, columns, selection, budget, cluster: usize::MAX, count: 0, extents: Vec::new() }
    }

    /// Looks at the next entries.
    pub fn take(&mut self, arrays: &[ArrayRef], rows: &EvaluatedRows<'_>, team: Option<&ThreadPool>) {
        let mut row = 0;
        while row < rows.count {
            let entry = rows.entry(row);
            let number = self.table.clusters().partition_point(|bound| *bound <= entry).saturating_sub(1);
            let Some(entries) = self.table.cluster(number).filter(|entries| entries.contains(&entry)) else { break };
            let end = row + rows.before(row, entries.end);
            if self.cluster != number {
                self.begin(number, &entries);
            }
            self.look(arrays, row..end, team);
            if self.count == entries.end - entries.start {
                for (column, extent) in self.extents.drain(..) {
                    extent
                        .into_iter()
                        .for_each(|extent| self.table.remember(column, number, extent, self.budget.memory));
                }
            }
            row = end;
        }
    }

    /// Begins a cluster. If not all of its entries are read, there is nothing to learn.
    fn begin(&mut self, number: usize, entries: &Range<u64>) {
        let is_whole = self.selection.as_ref().is_none_or(|set| set.count(entries) == entries.end - entries.start);
        let new = self.columns.iter().filter(|column| is_whole && !self.table.remembers(**column, number));
        (self.cluster, self.count, self.extents) = (number, 0, new.map(|column| (*column, None)).collect());
    }

    /// Looks at some rows of the cluster.
    fn look(&mut self, arrays: &[ArrayRef], rows: Range<usize>, team: Option<&ThreadPool>) {
        for (column, known) in &mut self.extents {
            let place = self.columns.iter().position(|one| one == column);
            let Some(array) = place.and_then(|place| arrays.get(place)) else { continue };
            let array = array.slice(rows.start, rows.len());
            let first = self.count;
            let of =
                |part: &Range<usize>| Ok(Extent::of(&array.slice(part.start, part.len()), first + part.start as u64));
            // No part fails.
            let found = in_parts(team, rows.len(), of).unwrap_or_default().into_iter().map(|(_, found)| found);
            // What has no extent in one part has none in any.
            *known =
                known.take().map(Some).into_iter().chain(found).reduce(|all, next| Some(all?.merge(&next?))).flatten();
        }
        self.count += rows.len() as u64;
    }
}
