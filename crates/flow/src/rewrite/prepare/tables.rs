//! Plans the tables of a rewrite one by one: the newest cycle of each, and the older cycles that are written. How one cycle is planned
//! is in `tree` and `ntuple`, and what two tables of one name become in `namesakes`.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use dataset::EntrySet;
use dataset::glob::NameFilter;
use dataset::layout::{Container, Layout};
use dataset::near::no_such_table;
use dataset::tree::Tree;
use objects::{Damaged, NamedObject, ObjectLocation, ObjectPlan};
use rootfile::codec::Compression;
use rootfile::{Error, ErrorKind, Key, Result, RootFile};

use super::bad_inputs::BadInputs;
use super::build_index::IndexBuilder;
use super::joined::JoinedTables;
use super::order::{OrderFacts, OrderedTables};
use super::unique::UniqueKeys;
use crate::execute::order::Order;
use crate::keys::{DuplicateKeys, UnsortedInput};
use crate::plan::options::PlanOptions;
use crate::plan::request::{Select, TableInput, TableRequest};
use crate::plan::tree::Gaps;
use crate::plan::tree::kept::KeptLists;
use crate::rewrite::options::{Cycles, Options};
use crate::rewrite::output_table::OutputPlace;
use crate::rewrite::prepared::{KnownTrees, PlannedTable};
use crate::select::{CutFlow, DefinesFound, EntrySelection, SourceTree};
use crate::table::tree::added::AddedBranches;
use crate::verify::cycles::{self, CycleKind, OlderCycle};

/// Reads the tree of a key.
pub(super) type ReadTree<'a> = &'a dyn Fn(&RootFile, &Key) -> Result<Tree>;

/// What is planned, and how.
#[derive(Clone, Copy)]
pub(super) struct Planning<'a> {
    pub files: &'a [Arc<RootFile>],
    pub options: &'a Options,
    /// Whether damaged objects and tables are left out.
    pub leave_out: bool,
    pub read: ReadTree<'a>,
    /// The one table of which some entries are taken, whatever the options.
    pub cut: Option<TableCut<'a>>,
    /// Tables that come beside one of the inputs.
    pub joined: Option<JoinedTables<'a>>,
}

/// Some entries of a table of the inputs.
#[derive(Clone, Copy)]
pub(crate) struct TableCut<'a> {
    /// The offset of its key.
    pub seek: u64,
    pub entries: &'a EntrySet,
}

/// Plans tables, and keeps what is found out about them.
pub(super) struct TablesPlanner<'a> {
    pub planning: Planning<'a>,
    pub layout: &'a Layout,
    pub objects: &'a ObjectPlan,
    /// Trees that are used instead of their records.
    pub known: KnownTrees,
    pub kept: KeptLists,
    pub bad: &'a mut BadInputs,
    /// What becomes of entries that branches do not hold. A recovery leaves them out.
    pub gaps: Gaps,
    selection: EntrySelection<'a>,
    pub unique: UniqueKeys<'a>,
    indices: IndexBuilder<'a>,
    order: OrderedTables<'a>,
    pub defines: DefinesFound<'a>,
    pub found: PlannedTables,
    /// Notes on layout keys that do not apply to tables, each with the container that they are for.
    pub ignored: Vec<(Container, String)>,
    /// What the newest cycles become.
    containers: Vec<Container>,
}

/// The plans of all tables.
#[derive(Default)]
pub(super) struct PlannedTables {
    pub plans: Vec<(OutputPlace, PlannedTable)>,
    pub notes: Vec<String>,
    pub cut_flows: Vec<CutFlow>,
    pub duplicates: Vec<DuplicateKeys>,
    pub unsorted: Vec<UnsortedInput>,
    pub older_cycles: Vec<OlderCycle>,
    pub damaged: Vec<Damaged>,
}

/// A table of the inputs.
pub(super) struct InputTable<'a> {
    pub directory: usize,
    pub entry: &'a NamedObject,
    pub path: String,
    pub container: Container,
}

/// A cycle of a table that is planned.
#[derive(Clone, Copy)]
pub(super) struct TableCycle<'a> {
    pub table: &'a InputTable<'a>,
    pub inputs: &'a [TableInput],
    /// Its path with its number, if it is an older cycle.
    pub older: Option<&'a str>,
    pub entries: Select<'a>,
    /// The rows of the output, if they are entries in another order.
    pub order: Option<&'a Arc<Order>>,
    /// Its cycle in the output, if it is given.
    pub cycle: Option<i16>,
    /// Branches that it has besides.
    pub added: Option<&'a AddedBranches>,
    /// Whether it gets another index than it has.
    pub replaces_index: bool,
}

impl<'a> TablesPlanner<'a> {
    pub fn new(
        planning: Planning<'a>,
        layout: &'a Layout,
        objects: &'a ObjectPlan,
        known: KnownTrees,
        kept: KeptLists,
        bad: &'a mut BadInputs,
    ) -> Self {
        let content = &planning.options.content;
        let selection = EntrySelection::new(&content.entries).with_defines(&content.defines).with_kept(&content.filter);
        let unique = UniqueKeys::new(content, planning.options.budget);
        let indices = IndexBuilder::new(planning.options.build_index.as_ref(), planning.options.budget);
        let order = OrderedTables::new(content, planning.options.budget);
        let defines = DefinesFound::new(&content.defines);
        let gaps = if known.is_empty() { Gaps::Fill } else { Gaps::LeftOut };
        let (found, ignored, containers) = (PlannedTables::default(), Vec::new(), Vec::new());
        Self {
            planning,
            layout,
            objects,
            known,
            kept,
            bad,
            gaps,
            selection,
            unique,
            indices,
            order,
            defines,
            found,
            ignored,
            containers,
        }
    }

    /// Plans the requested tables. If an input turns out bad, the plan is incomplete, and only looks for further bad inputs.
    pub fn plan_all(mut self) -> Result<PlannedTables> {
        let only = self.planning.options.content.tree.as_ref();
        let trees = self.objects.trees().map(|table| (Container::Ttree, table));
        let ntuples = self.objects.ntuples().map(|table| (Container::Rntuple, table));
        for (container, (directory, entry, parts)) in trees.chain(ntuples) {
            let path = self.objects.directories.get(directory).map_or_else(String::new, |d| d.path_of(&entry.name));
            if self.objects.as_placed {
                self.plan_as_placed(&InputTable { directory, entry, path, container }, parts)?;
                continue;
            }
            if self.is_asked(&path, parts)? {
                self.plan_table(&InputTable { directory, entry, path, container }, parts)?;
                continue;
            }
            for parts in &entry.older {
                if self.is_asked(&path, parts)? {
                    let inputs = self.inputs_of(parts)?;
                    self.plan_newest(&InputTable { directory, entry, path: path.clone(), container }, &inputs)?;
                }
            }
        }
        if !self.bad.any() && !self.objects.as_placed {
            self.order_namesakes()?;
        }
        if let Some((_, what)) = self.ignored.iter().find(|(container, _)| !self.containers.contains(container)) {
            return Err(Error::request(what.clone()));
        }
        self.found.notes.extend(std::mem::take(&mut self.ignored).into_iter().map(|(_, what)| what));
        if only.is_none() {
            self.found.notes.extend(cycles::note_on_objects(self.objects));
        }
        if self.bad.any() {
            return Ok(self.found);
        }
        if let (Some(only), true) = (only, self.found.plans.is_empty()) {
            let tables = self.objects.trees().chain(self.objects.ntuples());
            let there: Vec<&str> = tables.map(|(_, entry, _)| entry.name.as_str()).collect();
            let error = no_such_table(Some(only), &there);
            return Err(match self.planning.files {
                [file] => error.file(file.name()),
                _ => error,
            });
        }
        self.found.cut_flows = self.selection.finish()?;
        self.found.cut_flows.extend_from_slice(&self.planning.options.content.cut_flows);
        self.found.duplicates = self.unique.finish()?;
        let OrderFacts { unsorted, notes } = self.order.finish()?;
        self.found.unsorted = unsorted;
        self.found.notes.extend(notes);
        self.defines.finish()?;
        self.indices.finish()?;
        Ok(self.found)
    }

    /// Plans one cycle of a table, as it is named and numbered in the plan of objects.
    fn plan_as_placed(&mut self, table: &InputTable<'_>, parts: &[ObjectLocation]) -> Result<()> {
        let inputs = self.inputs_of(parts)?;
        let cycle = parts.first().map_or(table.entry.newest, |part| part.cycle);
        if cycle == table.entry.newest {
            return self.plan_newest(table, &inputs);
        }
        let older = format!("{};{cycle}", table.path);
        let cycle = TableCycle { older: Some(&older), cycle: Some(cycle), ..TableCycle::newest(table, &inputs) };
        let planned = self.plan_cycle(&cycle)?;
        self.found.plans.extend(planned);
        Ok(())
    }

    /// Plans a table with all of its cycles. `parts` are the places of the newest.
    fn plan_table(&mut self, table: &InputTable<'_>, parts: &[ObjectLocation]) -> Result<()> {
        let inputs = self.inputs_of(parts)?;
        for (rank, inputs) in self.older_cycles(table, &inputs)?.iter().enumerate() {
            let cycle = format!("{};{}", table.path, rank + 1);
            let cut = self.cut_of(inputs);
            let chosen = |all: u64| Ok(cut.clone().unwrap_or_else(|| EntrySet::range(0..all)));
            let entries: Select<'_> = if cut.is_some() { Some(&chosen) } else { None };
            let cycle = TableCycle { older: Some(&cycle), entries, ..TableCycle::newest(table, inputs) };
            let planned = self.plan_cycle(&cycle)?;
            self.found.plans.extend(planned);
        }
        self.note_absence(table, &inputs);
        self.plan_newest(table, &inputs)
    }

    /// Takes note of a table that only some inputs have. A file that others are added to is none of them.
    fn note_absence(&mut self, table: &InputTable<'_>, inputs: &[TableInput]) {
        let first = usize::from(self.planning.options.inputs.append);
        let (all, having) =
            (self.planning.files.len() - first, inputs.iter().filter(|(number, ..)| *number >= first).count());
        if (1..all).contains(&having) {
            let (what, path) = (table.container.noun(), &table.path);
            self.found.notes.push(format!("{what} {path} is only in {having} of the {all} inputs"));
        }
    }

    /// A table whose columns can be opened.
    pub fn source_tree<'t>(&self, inputs: &'t [TableInput], path: &'t str) -> SourceTree<'t> {
        SourceTree { inputs, path, joining: self.planning.options.plan, budget: self.planning.options.budget }
    }

    /// Plans the newest cycle of a table, unless it is damaged and may be left out.
    fn plan_newest(&mut self, table: &InputTable<'_>, inputs: &[TableInput]) -> Result<()> {
        let told = (self.unique.told(), self.order.told());
        match self.plan_sound(table, inputs) {
            Err(e) if self.planning.leave_out && matches!(e.kind(), ErrorKind::Corrupt(_)) => {
                let input = self.planning.files.first().map_or_else(PathBuf::new, |file| file.name().to_path_buf());
                self.selection.leave_out(&table.path);
                self.unique.leave_out(told.0);
                self.order.leave_out(told.1);
                self.found.damaged.push(Damaged { path: input, object: table.path.clone(), reason: e.to_string() });
                Ok(())
            }
            planned => planned,
        }
    }

    fn plan_sound(&mut self, table: &InputTable<'_>, inputs: &[TableInput]) -> Result<()> {
        let cycle = self.objects.as_placed.then_some(table.entry.newest);
        let newest = |entries, added| TableCycle { entries, cycle, added, ..TableCycle::newest(table, inputs) };
        let selected = match self.bad.any() {
            true => None,
            false => {
                let tree = self.source_tree(inputs, &table.path);
                let selected = self.unique.refuse_gaps(&tree).and_then(|()| self.selection.for_tree(&tree));
                let open = |filter: &NameFilter| tree.open(filter);
                let unique = selected.and_then(|selected| self.unique.for_table(&table.path, &open, selected));
                let ordered = unique.and_then(|selected| {
                    let order = self.order.for_table(&table.path, &open, &selected)?;
                    Ok((selected, order))
                });
                self.bad.admit(ordered)?
            }
        };
        // Without a selection there is no plan, but further bad inputs are found.
        let Some((mut selected, order)) = selected else { return self.look_for_bad(&newest(None, None)) };
        let newest = |entries, added| TableCycle { order: order.as_ref(), ..newest(entries, added) };
        let cut = self.cut_of(inputs);
        let mut about = std::mem::take(&mut selected.notes);
        let chosen = |all: u64| cut.as_ref().map_or_else(|| selected.entries(all), |cut| Ok(cut.clone()));
        let entries: Select<'_> = if cut.is_some() || !selected.is_all() { Some(&chosen) } else { None };
        let Some(added) = self.define(&newest(entries, None), &mut about)? else { return Ok(()) };
        let tree = self.source_tree(inputs, &table.path);
        let index = self.indices.of_table(&table.path, &|filter| tree.open(filter));
        let Some(index) = self.bad.admit(index)? else { return Ok(()) };
        let replaces_index = index.is_some() || self.planning.options.plan.replaces_index;
        let cycle = TableCycle { replaces_index, ..newest(entries, added.as_ref()) };
        let mut planned = self.plan_cycle(&cycle)?;
        if let (Some(values), Some((_, plan))) = (&index, &mut planned) {
            let chosen = entries.map(|of| of(values.dataset().entries())).transpose()?;
            let put = self.indices.put(values, chosen.as_ref(), order.as_deref(), &mut *plan.table);
            let note = put.map_err(|e| e.object(&table.path))?;
            plan.notes.extend(note.map(|note| format!("tree {}: {note}", table.path)));
        }
        if let Some((place, plan)) = &planned {
            let container = self.layout.resolve_tree(&place.path).container.unwrap_or(table.container);
            self.containers.push(container);
            if container == Container::Ttree {
                self.note_keys_of_ntuples(&place.path, plan);
            }
        }
        self.found.plans.extend(planned.map(|(place, mut plan)| {
            plan.notes.append(&mut about);
            (place, plan)
        }));
        Ok(())
    }

    fn plan_cycle(&mut self, cycle: &TableCycle<'_>) -> Result<Option<(OutputPlace, PlannedTable)>> {
        match cycle.table.container {
            Container::Ttree => self.plan_tree(cycle),
            Container::Rntuple => self.plan_ntuple(cycle),
        }
    }

    /// The entries to take of a known tree, or of the table of which some are taken.
    fn cut_of(&self, inputs: &[TableInput]) -> Option<EntrySet> {
        inputs.iter().find_map(|(.., key)| match self.planning.cut {
            Some(cut) if cut.seek == key.seek_key => Some(cut.entries.clone()),
            _ => self.known.get(&key.seek_key)?.cut.clone(),
        })
    }

    /// The inputs of the older cycles that are written, the oldest first. The others get notes.
    fn older_cycles(&mut self, table: &InputTable<'_>, newest: &[TableInput]) -> Result<Vec<Vec<TableInput>>> {
        let (mut all, mut judged) = (Vec::new(), Vec::new());
        for parts in table.entry.older.iter().rev() {
            let mut kept = Vec::new();
            for input in self.inputs_of(parts)? {
                // Recovered trees are judged already.
                if self.known.contains_key(&input.2.seek_key) {
                    kept.push(input);
                    continue;
                }
                let newest = newest.iter().find(|(number, ..)| *number == input.0);
                let Some((_, _, newest)) = newest else { continue };
                let mut cycle = cycles::judge(table.container, &table.path, &input.1, [newest, &input.2]);
                cycle.kept = self.keeps(&cycle);
                if cycle.kept {
                    kept.push(input);
                }
                judged.push(cycle);
            }
            if !kept.is_empty() {
                all.push(kept);
            }
        }
        self.found.notes.extend(cycles::notes(table.container, &judged, self.planning.files.len()));
        self.found.older_cycles.append(&mut judged);
        Ok(all)
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

    /// The request to plan a cycle, as a table of this path.
    pub fn request<'s>(&self, cycle: &TableCycle<'s>, path: &'s str, layout: &'s Layout) -> TableRequest<'s>
    where
        Self: 's,
    {
        let TableCycle { inputs, entries, added, order, replaces_index, .. } = *cycle;
        let filter = &self.planning.options.content.filter;
        let options = PlanOptions { replaces_index, ..self.planning.options.plan };
        TableRequest { inputs, path, layout, filter, entries, options, added, order }
    }

    /// The layout, with the compression of the first input where none is requested.
    pub fn with_compression(
        &self,
        inputs: &[TableInput],
        path: &str,
        of: impl Fn(&TableInput) -> Option<Compression>,
    ) -> Layout {
        let mut layout = self.layout.clone();
        if layout.resolve_tree(path).compression.is_none() {
            layout.common.compression = inputs.first().and_then(of);
        }
        layout
    }

    /// The inputs of a table that are not bad.
    fn inputs_of(&mut self, parts: &[ObjectLocation]) -> Result<Vec<TableInput>> {
        let mut inputs = Vec::with_capacity(parts.len());
        for part in parts {
            let input = self.bad.admit(self.input_of(*part))?;
            inputs.extend(input.filter(|(number, ..)| !self.bad.is_bad(*number)));
        }
        Ok(inputs)
    }

    pub fn input_of(&self, part: ObjectLocation) -> Result<TableInput> {
        let number = usize::try_from(part.file).unwrap_or(usize::MAX);
        let file = self.planning.files.get(number).ok_or_else(|| Error::request("a plan of other files"))?;
        let key = match self.known.get(&part.seek) {
            Some(known) => known.key.clone(),
            None => file.key_at(part.seek).map_err(|e| e.file(file.name()))?,
        };
        Ok((number, Arc::clone(file), key))
    }
}

impl<'a> TableCycle<'a> {
    /// The newest cycle, with all that it has.
    fn newest(table: &'a InputTable<'a>, inputs: &'a [TableInput]) -> Self {
        Self { table, inputs, older: None, entries: None, order: None, cycle: None, added: None, replaces_index: false }
    }

    /// The name that a table of this name gets, if that of its key changes: a table is called as its key.
    pub fn new_name(&self, own: &str) -> Option<String> {
        let (.., key) = self.inputs.first()?;
        let entry = self.table.entry;
        (entry.name != key.name && own == key.name).then(|| entry.name.clone())
    }

    /// Its path in the output.
    pub fn path(&self) -> &str {
        self.older.unwrap_or(&self.table.path)
    }

    /// Its place in the output, where it keeps its name.
    pub fn place(&self) -> OutputPlace {
        let InputTable { directory, entry, .. } = self.table;
        let (name, path) = (entry.name.clone(), self.path().to_owned());
        OutputPlace { directory: *directory, name, path, cycle: self.cycle }
    }
}

/// Number of the planned cycles of each table, by directory and name.
pub(super) fn count_cycles(plans: &[(OutputPlace, PlannedTable)]) -> HashMap<(usize, String), usize> {
    let mut cycles: HashMap<(usize, String), usize> = HashMap::new();
    for (place, _) in plans {
        *cycles.entry((place.directory, place.name.clone())).or_default() += 1;
    }
    cycles
}
