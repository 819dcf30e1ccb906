//! Plans one cycle of a tree: its records are moved, or it becomes an RNTuple.

pub(super) mod joined;

use dataset::layout::{ColumnEncoding, Container};
use rootfile::codec::Compression;
use rootfile::{Error, Result};

use super::tables::{TableCycle, TablesPlanner};
use crate::keys::tree::index_lines;
use crate::plan::request::TableInput;
use crate::plan::tree::{MakeIndex, TablePlan, TablePlanner, is_of_trees};
use crate::rewrite::convert::tree_to_ntuple;
use crate::rewrite::output_table::OutputPlace;
use crate::rewrite::prepared::PlannedTable;
use crate::select::SourceTree;

impl TablesPlanner<'_> {
    /// Plans a cycle of a tree, in the container that the layout asks for.
    pub fn plan_tree(&mut self, cycle: &TableCycle<'_>) -> Result<Option<(OutputPlace, PlannedTable)>> {
        let (own, name) = (&cycle.table.entry.name, self.name_as_ntuple(cycle));
        let path = format!("{}{name}", cycle.table.path.strip_suffix(own.as_str()).unwrap_or_default());
        if self.layout.resolve_tree(&path).container == Some(Container::Rntuple) {
            let Some(mut plan) = self.plan_tree_as_ntuple(cycle, &path)? else { return Ok(None) };
            let mut place = OutputPlace { name, ..cycle.place() };
            if let Some(older) = cycle.older {
                // The list beside is that of the newest cycle.
                if plan.kept.take().is_some() {
                    plan.lost.push(format!(
                        "tree {older}: what an RNTuple has no place for is kept of the newest cycle only"
                    ));
                }
            } else {
                if place.name != *own {
                    plan.notes.push(format!("a tree without a name is called {path} as an RNTuple"));
                }
                place.path = path;
            }
            return Ok(Some((place, plan)));
        }
        let Some(mut plan) = self.move_tree(cycle)? else { return Ok(None) };
        if let Some(name) = cycle.new_name(&plan.tree.named.name) {
            plan.tree.named.name = name;
        }
        let (messages, path) = (std::mem::take(&mut plan.messages), &cycle.table.path);
        let mut notes = messages.notes;
        if cycle.older.is_none() {
            notes.extend(messages.remarks.iter().map(|remark| format!("tree {path}: {remark}")));
            let absent = messages.absent.iter();
            notes.extend(absent.map(|(name, why)| format!("tree {path}: branch {name} is left out: {why}")));
        }
        let plan = PlannedTable { table: Box::new(plan), notes, lost: messages.lost, kept: None };
        Ok(Some((cycle.place(), plan)))
    }

    /// Notes the layout keys of a tree that are for RNTuples only.
    pub fn note_keys_of_ntuples(&mut self, path: &str, planned: &PlannedTable) {
        let rules = self.layout.rules(path);
        let keys = &rules.tree;
        let of_columns = || {
            let tree = planned.table.tree().map(|plan| &plan.tree)?;
            let of_branch = |branch: usize| rules.column(&tree.lineage(branch)).encoding;
            Some((0..tree.branches.len()).filter_map(of_branch).any(|encoding| !is_of_trees(encoding)))
        };
        let is_other = |encoding: Option<ColumnEncoding>| encoding.is_some_and(|encoding| !is_of_trees(encoding));
        let has_rules = self.layout.columns().iter().any(|(_, own)| is_other(own.encoding));
        let encoding = is_other(keys.encoding) || (has_rules && of_columns() == Some(true));
        let keys = [
            ("unzipped-cluster", keys.unzipped_cluster.is_some()),
            ("encoding", encoding),
            ("page-checksums", keys.page_checksums.is_some()),
            ("share-pages", keys.share_pages.is_some()),
            ("cluster-group", keys.cluster_group.is_some()),
        ];
        let ignored: Vec<&str> = keys.into_iter().filter_map(|(name, is_set)| is_set.then_some(name)).collect();
        if !ignored.is_empty() {
            let what = format!("tree {path}: {} is for RNTuples only", ignored.join(", "));
            self.ignored.push((Container::Rntuple, what));
        }
    }

    /// Plans a tree as an RNTuple of this path.
    fn plan_tree_as_ntuple(&mut self, cycle: &TableCycle<'_>, path: &str) -> Result<Option<PlannedTable>> {
        let of_file = |input: &TableInput| Compression::from_root_setting(input.1.header().compress);
        let layout = self.with_compression(cycle.inputs, path, of_file);
        self.bad.admit(tree_to_ntuple(&self.request(cycle, path, &layout), self.planning.options.budget.memory))
    }

    /// Tries each input of a tree, so that all bad ones are found at once.
    pub fn look_for_bad(&mut self, cycle: &TableCycle<'_>) -> Result<()> {
        match cycle.table.container {
            Container::Ttree => self.move_tree(cycle).map(drop),
            Container::Rntuple => Ok(()),
        }
    }

    /// Plans to move the records of a tree. `None` if inputs are bad: then each is tried.
    fn move_tree(&mut self, cycle: &TableCycle<'_>) -> Result<Option<TablePlan>> {
        let (inputs, path, options) = (cycle.inputs, &cycle.table.path, self.planning.options);
        let request = self.request(cycle, path, self.layout);
        let named = |e: Error| match cycle.older {
            Some(older) => e.object(older),
            None => e,
        };
        let make_index = |place: usize, expressions: &[String; 2]| {
            let inputs = inputs.get(place..=place).unwrap_or_default();
            let tree = SourceTree { inputs, path, joining: options.plan, budget: options.budget };
            index_lines(&tree, expressions)
        };
        let make_index = (!options.drop_index).then_some(&make_index as MakeIndex<'_>);
        let mut planner = TablePlanner::new(&request, self.gaps).make_index(make_index);
        for input in inputs {
            if self.bad.is_bad(input.0) {
                continue;
            }
            let added = planner.add(input, |file, key| match self.known.remove(&key.seek_key) {
                Some(known) => Ok(known.tree),
                None => (self.planning.read)(file, key),
            });
            self.bad.admit(added.map_err(named))?;
        }
        if self.bad.any() {
            return Ok(None);
        }
        self.bad.admit(planner.finish().map_err(named))
    }

    /// The name of a tree as an RNTuple, which must have one.
    fn name_as_ntuple(&self, cycle: &TableCycle<'_>) -> String {
        let name = &cycle.table.entry.name;
        if !name.is_empty() {
            return name.clone();
        }
        let directory = self.objects.directories.get(cycle.table.directory);
        let entries = directory.map_or(&[][..], |directory| directory.entries.as_slice());
        let mut free = "tree".to_owned();
        while entries.iter().any(|entry| entry.name == free) {
            free.push('_');
        }
        free
    }
}
