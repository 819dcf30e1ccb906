//! Plans the trees of a rewrite one by one: the newest cycle of each, and the older cycles that are written.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use dataset::EntrySet;
use dataset::layout::Layout;
use dataset::tree::Tree;
use objects::{Damaged, NamedObject, ObjectLocation, ObjectPlan};
use rootfile::{Error, ErrorKind, Key, Result, RootFile};

use super::bad_inputs::BadInputs;
use crate::plan::kept::KeptLists;
use crate::plan::{Gaps, MakeIndex, TablePlan, TablePlanner, TableRequest, TreeInput};
use crate::rewrite::options::{Cycles, Options};
use crate::rewrite::prepared::{KnownTrees, PlannedTable, PlannedTree};
use crate::select::{EntrySelection, SourceTree, index_lines};
use crate::verify::cycles::{self, CycleKind, OlderCycle};

/// Reads the tree of a key.
pub(super) type ReadTree<'a> = &'a dyn Fn(&RootFile, &Key) -> Result<Tree>;

/// Selects entries, given their total number.
pub(super) type Select<'a> = Option<&'a dyn Fn(u64) -> Result<EntrySet>>;

/// A tree of the output, and its places in the inputs.
#[derive(Clone, Copy)]
struct SourceParts<'a> {
    directory: usize,
    entry: &'a NamedObject,
    path: &'a str,
    /// Its name as an RNTuple.
    of_ntuple: &'a str,
    inputs: &'a [TreeInput],
    parts: &'a [ObjectLocation],
}

/// What is planned, and how.
#[derive(Clone, Copy)]
pub(super) struct Planning<'a> {
    pub files: &'a [Arc<RootFile>],
    pub options: &'a Options,
    /// Whether damaged objects and trees are left out.
    pub leave_out: bool,
    pub read: ReadTree<'a>,
}

/// Plans trees, and keeps what is found out about them.
pub(super) struct TreesPlanner<'a> {
    pub planning: Planning<'a>,
    pub layout: &'a Layout,
    known: KnownTrees,
    /// What becomes of entries that branches do not hold. A recovery leaves them out.
    gaps: Gaps,
    pub kept: KeptLists,
    pub selection: EntrySelection<'a>,
    pub found: PlannedTrees,
}

/// The plans of all trees.
#[derive(Default)]
pub(super) struct PlannedTrees {
    pub plans: Vec<(PlannedTree, PlannedTable)>,
    pub notes: Vec<String>,
    pub older_cycles: Vec<OlderCycle>,
    pub damaged: Vec<Damaged>,
}

/// Older cycles of a tree, and the inputs of those that are written, the oldest first.
struct OlderCycles {
    cycles: Vec<OlderCycle>,
    kept: Vec<Vec<TreeInput>>,
}

impl<'a> TreesPlanner<'a> {
    /// The trees in `known` are used instead of their records.
    pub fn new(planning: Planning<'a>, layout: &'a Layout, known: KnownTrees, kept: KeptLists) -> Self {
        let selection = EntrySelection::new(&planning.options.content.entries);
        let gaps = if known.is_empty() { Gaps::Fill } else { Gaps::LeftOut };
        Self { planning, layout, known, gaps, kept, selection, found: PlannedTrees::default() }
    }

    /// Plans the requested trees among `objects`. If an input turns out bad, the plan is incomplete, and only looks for
    /// further bad inputs.
    pub fn plan_all(mut self, objects: &ObjectPlan, bad: &mut BadInputs) -> Result<PlannedTrees> {
        let only = self.planning.options.content.tree.as_ref();
        for (directory, entry, parts) in objects.trees() {
            let path = objects.directories.get(directory).map_or_else(String::new, |d| d.path_of(&entry.name));
            if only.is_none_or(|only| *only == path) {
                let of_ntuple = name_as_ntuple(objects, directory, &entry.name);
                self.plan_tree((directory, entry, &path), (parts, &of_ntuple), bad)?;
            }
        }
        self.plan_ntuples(objects, bad)?;
        if only.is_none() {
            self.found.notes.extend(cycles::note_on_objects(objects));
        }
        if bad.any() {
            return Ok(self.found);
        }
        if let (Some(only), true) = (only, self.found.plans.is_empty()) {
            let tables = objects.trees().chain(objects.ntuples());
            let there: Vec<String> = tables.map(|(_, entry, _)| entry.name.clone()).collect();
            return Err(Error::request(format!("no tree {only}; there are: {}", there.join(", "))));
        }
        self.selection.finish()?;
        Ok(self.found)
    }

    /// Plans a tree with all of its cycles.
    fn plan_tree(
        &mut self,
        (directory, entry, path): (usize, &NamedObject, &str),
        (parts, of_ntuple): (&[ObjectLocation], &str),
        bad: &mut BadInputs,
    ) -> Result<()> {
        let inputs = self.inputs_of(parts, bad)?;
        let tree = SourceParts { directory, entry, path, of_ntuple, inputs: &inputs, parts };
        self.plan_older_cycles(tree, bad)?;
        if inputs.len() < self.planning.files.len() {
            let all = self.planning.files.len();
            self.found.notes.push(format!("tree {path} is only in {} of the {all} inputs", inputs.len()));
        }
        self.plan_newest_cycle(tree, bad)
    }

    fn plan_older_cycles(&mut self, tree: SourceParts<'_>, bad: &mut BadInputs) -> Result<()> {
        let older = self.judge_older_cycles(tree, bad)?;
        for (rank, inputs) in older.kept.iter().enumerate() {
            let cycle = format!("{};{}", tree.path, rank + 1);
            let cut = inputs.iter().find_map(|(.., key)| self.known.get(&key.seek_key)?.cut.clone());
            let chosen = |all: u64| Ok(cut.clone().unwrap_or_else(|| EntrySet::range(0..all)));
            let entries = cut.is_some().then_some(&chosen as &dyn Fn(u64) -> Result<EntrySet>);
            let (planned, name) = match self.plan_tree_as_ntuple((inputs, &tree.path_as_ntuple()), entries, bad)? {
                Some(planned) => (planned, tree.of_ntuple),
                None => {
                    let planned = self.plan_table((inputs, tree.path), Some(&cycle), entries, bad)?;
                    (planned.map(of_tree), tree.entry.name.as_str())
                }
            };
            let planned = planned.map(|mut plan| {
                // The list beside is that of the newest cycle.
                if plan.take_kept().is_some() {
                    let what =
                        format!("tree {cycle}: what an RNTuple has no place for is kept of the newest cycle only");
                    plan.lost().push(what);
                }
                plan
            });
            let place = PlannedTree { directory: tree.directory, name: name.to_owned(), path: cycle, kept: None };
            self.found.plans.extend(planned.map(|plan| (place, plan)));
        }
        self.found.notes.extend(cycles::notes(&older.cycles, self.planning.files.len()));
        self.found.older_cycles.extend(older.cycles);
        Ok(())
    }

    fn plan_newest_cycle(&mut self, tree: SourceParts<'_>, bad: &mut BadInputs) -> Result<()> {
        let SourceParts { path, inputs, .. } = tree;
        if bad.any() {
            return self.plan_table((inputs, path), None, None, bad).map(drop);
        }
        let (joining, budget) = (self.planning.options.plan, self.planning.options.budget);
        let selected = self.selection.for_tree(&SourceTree { inputs, path, joining, budget });
        let Some(mut selected) = bad.admit(selected)? else {
            // Without a selection there is no plan, but further bad inputs are found.
            return self.plan_table((inputs, path), None, None, bad).map(drop);
        };
        let cut = tree.parts.iter().find_map(|part| self.known.get(&part.seek)?.cut.clone());
        let mut about = std::mem::take(&mut selected.notes);
        let chooses = cut.is_some() || !selected.is_all();
        let chosen = |all: u64| cut.as_ref().map_or_else(|| selected.entries(all), |cut| Ok(cut.clone()));
        let entries = chooses.then_some(&chosen as &dyn Fn(u64) -> Result<EntrySet>);
        let place = |name: &str, path: &str| PlannedTree {
            directory: tree.directory,
            name: name.to_owned(),
            path: path.to_owned(),
            kept: None,
        };
        let path_as_ntuple = tree.path_as_ntuple();
        if let Some(planned) = self.plan_tree_as_ntuple((inputs, &path_as_ntuple), entries, bad)? {
            self.found.notes.append(&mut about);
            if tree.of_ntuple != tree.entry.name {
                self.found.notes.push(format!("a tree without a name is called {path_as_ntuple} as an RNTuple"));
            }
            self.found.plans.extend(planned.map(|mut plan| {
                let kept = plan.take_kept();
                (PlannedTree { kept, ..place(tree.of_ntuple, &path_as_ntuple) }, plan)
            }));
            return Ok(());
        }
        let place = place(&tree.entry.name, path);
        let planned = match self.plan_table((inputs, path), None, entries, bad) {
            Err(e) if self.planning.leave_out && matches!(e.kind(), ErrorKind::Corrupt(_)) => {
                let input = self.planning.files.first().map_or_else(PathBuf::new, |file| file.name().to_path_buf());
                self.found.damaged.push(Damaged { path: input, object: path.to_owned(), reason: e.to_string() });
                return Ok(());
            }
            planned => planned?,
        };
        let Some(mut plan) = planned else { return Ok(()) };
        plan.messages.notes.append(&mut about);
        let remarks = plan.messages.remarks.iter().map(|remark| format!("tree {path}: {remark}"));
        plan.messages.notes.extend(remarks);
        let absent =
            plan.messages.absent.iter().map(|(name, why)| format!("tree {path}: branch {name} is left out: {why}"));
        plan.messages.notes.extend(absent);
        self.found.plans.push((place, of_tree(plan)));
        Ok(())
    }

    /// Plans one table of the output. `object` names the tree in errors. `None` if inputs are bad: then each is tried, so
    /// that all bad ones are found at once. Known trees are used instead of their records.
    fn plan_table(
        &mut self,
        (inputs, path): (&[TreeInput], &str),
        object: Option<&str>,
        entries: Select<'_>,
        bad: &mut BadInputs,
    ) -> Result<Option<TablePlan>> {
        let content = &self.planning.options.content;
        let request = TableRequest {
            inputs,
            path,
            layout: self.layout,
            filter: &content.filter,
            entries,
            options: self.planning.options.plan,
            gaps: self.gaps,
        };
        let named = |e: Error| match object {
            Some(object) => e.object(object),
            None => e,
        };
        let options = self.planning.options;
        let make_index = |place: usize, expressions: &[String; 2]| {
            let inputs = inputs.get(place..=place).unwrap_or_default();
            let tree = SourceTree { inputs, path, joining: options.plan, budget: options.budget };
            index_lines(&tree, expressions)
        };
        let make_index = (!options.drop_index).then_some(&make_index as MakeIndex<'_>);
        let mut planner = TablePlanner::new(&request).make_index(make_index);
        for input in inputs {
            if bad.is_bad(input.0) {
                continue;
            }
            let added = planner.add(input, |file, key| match self.known.remove(&key.seek_key) {
                Some(known) => Ok(known.tree),
                None => (self.planning.read)(file, key),
            });
            bad.admit(added.map_err(named))?;
        }
        if bad.any() {
            return Ok(None);
        }
        bad.admit(planner.finish().map_err(named))
    }

    /// Judges the older cycles of a tree.
    fn judge_older_cycles(&self, tree: SourceParts<'_>, bad: &mut BadInputs) -> Result<OlderCycles> {
        let mut found = OlderCycles { cycles: Vec::new(), kept: Vec::new() };
        for parts in tree.entry.older.iter().rev() {
            let mut kept = Vec::new();
            for input in self.inputs_of(parts, bad)? {
                // Recovered trees are judged already.
                if self.known.contains_key(&input.2.seek_key) {
                    kept.push(input);
                    continue;
                }
                let newest = tree.inputs.iter().find(|(number, ..)| *number == input.0);
                let Some((_, _, newest)) = newest else { continue };
                let mut cycle = cycles::judge(tree.path, &input.1, newest, &input.2);
                cycle.kept = self.keeps(&cycle);
                if cycle.kept {
                    kept.push(input);
                }
                found.cycles.push(cycle);
            }
            if !kept.is_empty() {
                found.kept.push(kept);
            }
        }
        Ok(found)
    }

    /// Whether an older cycle is written.
    fn keeps(&self, cycle: &OlderCycle) -> bool {
        match (self.planning.options.content.cycles, cycle.kind) {
            (_, CycleKind::Unreadable) if cycle.entries.is_none() => false,
            (Cycles::All, _) => true,
            (Cycles::OtherTrees, kind) => kind != CycleKind::EarlierSave,
            (Cycles::Newest, _) => false,
        }
    }

    /// The inputs of a tree that are not bad.
    pub fn inputs_of(&self, parts: &[ObjectLocation], bad: &mut BadInputs) -> Result<Vec<TreeInput>> {
        let mut inputs = Vec::with_capacity(parts.len());
        for part in parts {
            let input = bad.admit(self.input_of(*part))?;
            inputs.extend(input.filter(|(number, ..)| !bad.is_bad(*number)));
        }
        Ok(inputs)
    }

    fn input_of(&self, part: ObjectLocation) -> Result<TreeInput> {
        let number = usize::try_from(part.file).unwrap_or(usize::MAX);
        let file = self.planning.files.get(number).ok_or_else(|| Error::request("a plan of other files"))?;
        let key = match self.known.get(&part.seek) {
            Some(known) => known.key.clone(),
            None => file.key_at(part.seek).map_err(|e| e.file(file.name()))?,
        };
        Ok((number, Arc::clone(file), key))
    }
}

impl SourceParts<'_> {
    /// The path of the RNTuple that it becomes.
    fn path_as_ntuple(&self) -> String {
        let directory = self.path.strip_suffix(self.entry.name.as_str()).unwrap_or_default();
        format!("{directory}{}", self.of_ntuple)
    }
}

/// The name of a tree as an RNTuple, which must have one.
fn name_as_ntuple(objects: &ObjectPlan, directory: usize, name: &str) -> String {
    if !name.is_empty() {
        return name.to_owned();
    }
    let entries = objects.directories.get(directory).map_or(&[][..], |directory| directory.entries.as_slice());
    let mut free = "tree".to_owned();
    while entries.iter().any(|entry| entry.name == free) {
        free.push('_');
    }
    free
}

fn of_tree(plan: TablePlan) -> PlannedTable {
    PlannedTable::Tree(Box::new(plan))
}

/// Number of the planned cycles of each tree, by directory and name.
pub(super) fn count_cycles(plans: &[(PlannedTree, PlannedTable)]) -> HashMap<(usize, String), usize> {
    let mut cycles: HashMap<(usize, String), usize> = HashMap::new();
    for (place, _) in plans {
        *cycles.entry((place.directory, place.name.clone())).or_default() += 1;
    }
    cycles
}
