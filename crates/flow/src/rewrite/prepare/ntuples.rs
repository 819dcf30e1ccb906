//! Plans the RNTuples of a rewrite one by one: the newest cycle of each, and the older cycles that are written.

use std::path::PathBuf;

use dataset::EntrySet;
use dataset::layout::Container;
use dataset::ntuple::read_ntuple;
use objects::{Damaged, NamedObject, ObjectLocation, ObjectPlan};
use rootfile::{Error, ErrorKind, Result};

use super::bad_inputs::BadInputs;
use super::trees::{Select, TreesPlanner};
use crate::plan::TreeInput;
use crate::plan::kept::{JoinedKept, leave_out_relations};
use crate::plan::ntuple::model::{NtuplePlan, NtupleRequest};
use crate::plan::ntuple::plan_ntuple;
use crate::rewrite::options::Cycles;
use crate::rewrite::prepared::{PlannedTable, PlannedTree};
use crate::select::SourceTree;
use crate::table::text_list::listed;
use crate::verify::cycles::{CycleKind, OlderCycle};

impl TreesPlanner<'_> {
    /// Plans the requested RNTuples among `objects`.
    pub fn plan_ntuples(&mut self, objects: &ObjectPlan, bad: &mut BadInputs) -> Result<()> {
        let only = self.planning.options.content.tree.as_ref();
        let mut ignored: Vec<(String, Vec<&str>)> = Vec::new();
        for (directory, entry, parts) in objects.ntuples() {
            let path = objects.directories.get(directory).map_or_else(String::new, |d| d.path_of(&entry.name));
            if only.is_some_and(|only| *only != path) {
                continue;
            }
            let keys = self.plan_cycles((directory, entry, &path), parts, bad)?;
            if !keys.is_empty() {
                ignored.push((path, keys));
            }
        }
        let has_trees = self.found.plans.iter().any(|(_, plan)| plan.tree().is_some());
        for (path, keys) in ignored {
            let what = format!("RNTuple {path}: {} is for trees only", keys.join(", "));
            if !has_trees {
                return Err(Error::request(what));
            }
            self.found.notes.push(what);
        }
        Ok(())
    }

    /// Plans an RNTuple with all of its cycles. Returns the layout keys that do not apply.
    fn plan_cycles(
        &mut self,
        (directory, entry, path): (usize, &NamedObject, &str),
        parts: &[ObjectLocation],
        bad: &mut BadInputs,
    ) -> Result<Vec<&'static str>> {
        let place = |path: String| PlannedTree { directory, name: entry.name.clone(), path, kept: None };
        let older = self.older_ntuples(entry, path, bad)?;
        for (rank, inputs) in older.iter().enumerate() {
            let cycle = format!("{path};{}", rank + 1);
            let planned = self.plan_ntuple((inputs, path), None, bad)?;
            if let Some(plan) = &planned {
                plan.check_counted(&cycle)?;
            }
            self.found.plans.extend(planned.map(|plan| (place(cycle), PlannedTable::Ntuple(Box::new(plan)))));
        }
        let inputs = self.inputs_of(parts, bad)?;
        if inputs.len() < self.planning.files.len() {
            let all = self.planning.files.len();
            self.found.notes.push(format!("RNTuple {path} is only in {} of the {all} inputs", inputs.len()));
        }
        let (joining, budget) = (self.planning.options.plan, self.planning.options.budget);
        let selected = self.selection.for_tree(&SourceTree { inputs: &inputs, path, joining, budget });
        let Some(mut selected) = bad.admit(selected)? else { return Ok(Vec::new()) };
        let mut about = std::mem::take(&mut selected.notes);
        let chosen = |all: u64| selected.entries(all);
        let entries = (!selected.is_all()).then_some(&chosen as &dyn Fn(u64) -> Result<EntrySet>);
        let planned = match self.plan_ntuple((&inputs, path), entries, bad) {
            Err(e) if self.planning.leave_out && matches!(e.kind(), ErrorKind::Corrupt(_)) => {
                let input = self.planning.files.first().map_or_else(PathBuf::new, |file| file.name().to_path_buf());
                self.found.damaged.push(Damaged { path: input, object: path.to_owned(), reason: e.to_string() });
                return Ok(Vec::new());
            }
            planned => planned?,
        };
        let Some(mut plan) = planned else { return Ok(Vec::new()) };
        plan.notes.append(&mut about);
        let ignored = std::mem::take(&mut plan.ignored);
        let Some(JoinedKept { mut kept, mut lost }) = bad.admit(self.kept.join(path, &inputs))? else {
            return Ok(Vec::new());
        };
        // A tree follows all keys.
        let to_tree = self.layout.resolve_tree(path).container == Some(Container::Ttree);
        let key_name = kept.as_ref().filter(|_| to_tree).and_then(|kept| kept.tree.key_name.clone());
        if let Some(kept) = kept.as_mut().filter(|_| entries.is_some()) {
            leave_out_relations(&mut kept.tree.tree, path, &mut lost);
        }
        plan.lost.append(&mut lost);
        let plan = self.plan_ntuple_anew((&inputs, path), entries, (plan, &mut kept), bad)?;
        let mut place = PlannedTree { kept: kept.map(Box::new), ..place(path.to_owned()) };
        if let Some(name) = key_name {
            place.name = name;
        }
        self.found.plans.extend(plan.map(|plan| (place, plan)));
        Ok(if to_tree { Vec::new() } else { ignored })
    }

    pub fn plan_ntuple(
        &self,
        (inputs, path): (&[TreeInput], &str),
        entries: Select<'_>,
        bad: &mut BadInputs,
    ) -> Result<Option<NtuplePlan>> {
        let options = self.planning.options;
        let request = NtupleRequest {
            inputs,
            path,
            layout: self.layout,
            filter: &options.content.filter,
            entries,
            options: options.plan,
            check: options.check,
        };
        if bad.any() {
            return Ok(None);
        }
        bad.admit(plan_ntuple(&request))
    }

    /// The older cycles that are written, the oldest first. The others get a note.
    fn older_ntuples(&mut self, entry: &NamedObject, path: &str, bad: &mut BadInputs) -> Result<Vec<Vec<TreeInput>>> {
        let mut kept = Vec::new();
        let mut left_out = Vec::new();
        for parts in entry.older.iter().rev() {
            let mut inputs = Vec::new();
            for input in self.inputs_of(parts, bad)? {
                let ntuple = read_ntuple(&input.1, &input.2);
                // RNTuples are not saved while they are filled: an older cycle is another one.
                let kind = if ntuple.is_ok() { CycleKind::OtherTree } else { CycleKind::Unreadable };
                let cycle = OlderCycle {
                    path: path.to_owned(),
                    file: input.1.name().to_path_buf(),
                    cycle: input.2.cycle,
                    entries: ntuple.ok().map(|ntuple| ntuple.entries()),
                    kind,
                    kept: kind == CycleKind::OtherTree && self.planning.options.content.cycles != Cycles::Newest,
                };
                match cycle.kept {
                    true => inputs.push(input),
                    false => left_out.push(cycle.name(self.planning.files.len() > 1)),
                }
                self.found.older_cycles.push(cycle);
            }
            if !inputs.is_empty() {
                kept.push(inputs);
            }
        }
        if !left_out.is_empty() {
            let names = listed(&left_out);
            self.found.notes.push(format!(
                "RNTuple {path}: older cycles are left out: {names}; rewrite and merge keep what can be read with --all-cycles"
            ));
        }
        Ok(kept)
    }
}
