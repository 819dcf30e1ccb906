//! Other forms of columns of objects: split into branches, or unsplit. Some entries are recoded into a temporary file, whose
//! columns are measured like all others. [`crate::tune`] chooses the form.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use dataset::glob::{NameFilter, Pattern};
use dataset::layout::{Layout, Streaming};
use flow::{Budget, unwatched};
use rootfile::Result;

use super::column::{Column, Recast};
use super::full_read::FullRead;
use super::statistics::FileStats;
use super::workload::Workload;
use crate::math::as_f64;

/// The forms to try: split level, and streaming of unsplit collections.
const FORMS: [(u32, Option<Streaming>); 2] = [(99, None), (0, Some(Streaming::MemberWise))];
/// Bytes before compression that are recoded for each form, and entries at least.
const BYTES: f64 = 4e6;
const ENTRIES: f64 = 100.0;
/// Columns of a tree that are tried: the largest.
const MOST: usize = 32;

impl FileStats {
    /// Adds the other forms of columns of objects, and their full reads. A column that cannot be recoded is
    /// left as it is.
    pub fn recast(&mut self, workload: &Workload, budget: Budget, full_read: &mut FullRead) -> Result<()> {
        let folder = rootfile::ScratchFolder::new()?;
        full_read.cover(self.columns.len());
        for tree in 0..self.trees.len() {
            for (number, form) in FORMS.into_iter().enumerate() {
                let path = folder.path().join(format!("{tree}.{number}.root"));
                self.add_form(tree, form, (&path, workload, budget), full_read)?;
            }
        }
        self.merge_demands(workload);
        Ok(())
    }

    fn add_form(
        &mut self,
        number: usize,
        (split_level, streaming): (u32, Option<Streaming>),
        (path, workload, budget): (&Path, &Workload, Budget),
        full_read: &mut FullRead,
    ) -> Result<()> {
        let Some(tree) = self.trees.get(number).filter(|tree| tree.entries >= 1.0) else { return Ok(()) };
        let names = self.recastable(number, &tree.objects);
        if names.is_empty() {
            return Ok(());
        }
        let raw: f64 =
            self.own(number).filter(|c| c.lineage.first().is_some_and(|top| names.contains(top))).map(|c| c.raw).sum();
        let entries = middle(tree.entries, (BYTES / raw.max(1.0)).min(1.0));
        let mut layout = Layout::default();
        (layout.common.split_level, layout.common.streaming) = (Some(split_level), streaming);
        let options = |names: &[String]| -> Result<flow::Options> {
            let keep: Vec<String> = names.iter().map(|name| Pattern::exact(name).to_string()).collect();
            Ok(flow::Options {
                layout: layout.clone(),
                content: flow::ContentOptions {
                    filter: NameFilter::new(&keep, &[])?,
                    entries: entries.clone().into(),
                    tree: Some(tree.address.clone()),
                    ..flow::ContentOptions::default()
                },
                budget,
                ..flow::Options::default()
            })
        };
        let input = [self.file.name().to_path_buf()];
        // A tree that cannot be recoded keeps its form; this is no error.
        let Ok(outlook) = flow::forecast(&input, path, &options(&names)?, false) else { return Ok(()) };
        let recodes: Vec<_> =
            outlook.tables.into_iter().flat_map(|t| t.recodes).filter(|r| names.contains(&r.name)).collect();
        let names: Vec<String> = recodes.iter().map(|recode| recode.name.clone()).collect();
        if names.is_empty() || flow::rewrite(&input, path, &options(&names)?, &unwatched).is_err() {
            return Ok(());
        }
        let scale = tree.entries / as_f64(entries.end - entries.start).max(1.0);
        let sampled = Self::read(path, Some(&tree.path), workload)?;
        let seen = FullRead::measure(&sampled, budget).unwrap_or_default();
        for recode in recodes {
            self.add_recast(number, &recode, &sampled, scale, &seen, full_read);
        }
        Ok(())
    }

    /// Adds the columns of one recast column, unless a layout could not name them.
    fn add_recast(
        &mut self,
        tree: usize,
        recode: &flow::RecodeForecast,
        sampled: &Self,
        scale: f64,
        seen: &FullRead,
        full_read: &mut FullRead,
    ) {
        let is_part = |column: &&Column| column.lineage.first() == Some(&recode.name);
        let others: HashSet<&str> = self.own(tree).filter(|c| !is_part(c)).map(Column::name).collect();
        let columns: Vec<(usize, &Column)> =
            sampled.columns.iter().enumerate().filter(|(_, column)| is_part(column)).collect();
        // A layout identifies columns by their names alone.
        if columns.is_empty() || columns.iter().any(|(_, column)| others.contains(column.name())) {
            return;
        }
        let own: HashSet<usize> = self.own(tree).filter(is_part).map(|column| column.unit).collect();
        let mut own: Vec<usize> = own.into_iter().collect();
        own.sort_unstable();
        let recast = self.recasts.len();
        let mut units: Vec<(usize, usize)> = Vec::new();
        for (i, column) in columns {
            let unit = match units.iter().find(|(sampled, _)| *sampled == column.unit) {
                Some((_, unit)) => *unit,
                None => {
                    units.push((column.unit, self.units.len()));
                    self.units.push((tree, column.name().to_owned()));
                    self.units.len() - 1
                }
            };
            let grown = |n: f64| n * scale;
            self.columns.push(Column {
                tree,
                unit,
                entries: grown(column.entries),
                raw: grown(column.raw),
                zip: grown(column.zip),
                recast: Some(recast),
                ..column.clone()
            });
            full_read.add(seen, i, scale);
        }
        self.recasts.push(Recast {
            tree,
            name: recode.name.clone(),
            before: recode.before,
            after: recode.after,
            own,
            units: units.into_iter().map(|(_, unit)| unit).collect(),
            file: Arc::clone(&sampled.file),
        });
    }

    /// The largest columns of objects of a tree, by the names of their branches, that share no name with others.
    fn recastable(&self, tree: usize, objects: &[String]) -> Vec<String> {
        let top = |column: &Column| column.lineage.first().cloned().unwrap_or_default();
        let mut found: Vec<(&String, f64)> = Vec::new();
        for name in objects {
            let own: HashSet<usize> = self.own(tree).filter(|c| top(c) == *name).map(|c| c.unit).collect();
            let shared = self.own(tree).any(|c| own.contains(&c.unit) && top(c) != *name);
            let raw = self.own(tree).filter(|c| top(c) == *name).map(|c| c.raw).sum::<f64>();
            if raw > 0.0 && !shared {
                found.push((name, raw));
            }
        }
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found.into_iter().take(MOST).map(|(name, _)| name.clone()).collect()
    }

    /// The columns of a tree as they are.
    fn own(&self, tree: usize) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(move |column| column.tree == tree && column.recast.is_none())
    }

    /// A reader of one member reads the whole unsplit column: demands are merged.
    fn merge_demands(&mut self, workload: &Workload) {
        for number in 0..self.recasts.len() {
            let Some((tree, name)) = self.recasts.get(number).map(|r| (r.tree, r.name.clone())) else { continue };
            let path = self.trees.get(tree).map_or_else(String::new, |tree| tree.path.clone());
            let is_part = |c: &&mut Column| c.tree == tree && c.lineage.first() == Some(&name);
            let lineages: Vec<Vec<String>> =
                self.columns.iter_mut().filter(is_part).map(|column| column.lineage.clone()).collect();
            let demand = workload.demand_of_any(&path, &lineages);
            let unsplit = self.columns.iter_mut().filter(is_part).filter(|c| c.lineage.len() == 1 && c.plan.is_some());
            unsplit.for_each(|column| {
                // The branch of a split collection holds how many items there are, and is small.
                if !column.counts {
                    column.demand = demand.clone();
                }
            });
        }
    }
}

/// About a share of the entries, from the middle.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "entries of a tree")]
fn middle(entries: f64, share: f64) -> std::ops::Range<u64> {
    let count = (entries * share).ceil().max(ENTRIES).min(entries);
    let start = ((entries - count) / 2.0).floor();
    start as u64..(start + count) as u64
}
