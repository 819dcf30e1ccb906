//! Prepares a rewrite before a byte is written: opens inputs, plans objects and trees, chooses cycles, and divides memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::EntrySet;
use dataset::layout::Layout;
use dataset::tree::read_tree;
use rootfile::codec::Compression;
use rootfile::{Error, ErrorKind, FilePool, Key, Result, RootFile, is_same_file};

use super::file_version;
use super::options::{Cycles, Options};
use super::prepared::{KnownTrees, PlannedTree, Prepared, Skipped};
use crate::plan::{TablePlan, TableRequest, plan_table_of};
use crate::select::{EntrySelection, SourceTree, drop_misaligned_friends};
use crate::verify::cycles::{self, CycleKind, OlderCycle};
use objects::{Action, Damaged, ObjectLocation, plan_objects, plan_sound_objects, process_ids};

/// Opens inputs and plans. Leaves out unreadable inputs if requested.
pub(crate) fn prepare(inputs: &[PathBuf], output: &Path, options: &Options) -> Result<Prepared> {
    let mut left = Vec::with_capacity(inputs.len());
    let mut skipped = Vec::new();
    for (i, input) in inputs.iter().enumerate() {
        if is_same_file(input, output) && !(options.inputs.append && i == 0) {
            let error = Error::request("is an input as well; choose another output").file(output);
            if !options.inputs.skip_bad {
                return Err(error);
            }
            skipped.push(Skipped { path: input.clone(), reason: error.to_string() });
            continue;
        }
        left.push(input.clone());
    }
    loop {
        // Of a single damaged input the sound objects are taken.
        let leave_out = options.inputs.skip_bad && left.len() == 1;
        let error = match prepare_all(&left, options, leave_out) {
            Ok(prepared) => return Ok(Prepared { skipped, ..prepared }),
            Err(error) => error,
        };
        let unreadable = !matches!(error.kind(), ErrorKind::Request(_) | ErrorKind::Interrupted);
        let culprit = error.path().and_then(|path| left.iter().position(|input| input == path));
        match culprit {
            Some(i) if options.inputs.skip_bad && unreadable && left.len() > 1 => {
                skipped.push(Skipped { path: left.remove(i), reason: error.to_string() });
            }
            _ => return Err(error),
        }
    }
}

fn prepare_all(inputs: &[PathBuf], options: &Options, leave_out: bool) -> Result<Prepared> {
    let pool = FilePool::new(match options.inputs.open_files {
        0 => rootfile::OPEN_FILES,
        number => number,
    });
    let files = inputs.iter().map(|p| pool.open(p).map(Arc::new)).collect::<Result<Vec<_>>>()?;
    for file in files.iter().filter(|f| f.recovered()) {
        // A truncated file may lack objects without a trace.
        if file.header().end > file.source().size() {
            return Err(Error::corrupt("the file is cut short").file(file.name()));
        }
    }
    plan_all(files, KnownTrees::new(), options, leave_out)
}

pub(crate) fn plan_all(
    files: Vec<Arc<RootFile>>,
    mut known: KnownTrees,
    options: &Options,
    leave_out: bool,
) -> Result<Prepared> {
    options.layout.check_container()?;
    let mut objects = if leave_out { plan_sound_objects(&files)? } else { plan_objects(&files)? };
    objects.retain(|directory, entry| {
        let is_tree = matches!(entry.action, Action::Tree(_));
        !(is_tree && options.content.no_trees) && options.content.wants(directory, &entry.name)
    });
    let wanted = |path: &str| {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        options.content.wants(directory, name)
    };
    if let Some(problem) = objects.unreadable.iter().find(|p| wanted(&p.path)) {
        return Err(Error::unsupported(problem.to_string()));
    }
    let mut layout = options.layout.clone();
    if let (true, Some(first)) = (options.compression.as_first, files.first()) {
        let own = Compression::from_root_setting(first.header().compress);
        layout.common.compression = layout.common.compression.or(own);
    }
    objects.all_cycles = options.content.cycles == Cycles::All;
    let mut notes = Vec::new();
    let mut older_cycles = Vec::new();
    let mut tree_cycles: HashMap<(usize, String), usize> = HashMap::new();
    let mut selection = EntrySelection::new(&options.content.entries);
    let mut plans: Vec<(PlannedTree, TablePlan)> = Vec::new();
    let mut damaged = Vec::new();
    for (directory, entry, parts) in objects.trees() {
        let path = objects.directories.get(directory).map_or_else(String::new, |d| d.path_of(&entry.name));
        if options.content.tree.as_ref().is_some_and(|only| *only != path) {
            continue;
        }
        let inputs = parts.iter().map(|part| tree_input(&files, &known, *part)).collect::<Result<Vec<_>>>()?;
        let older = older(&path, (&files, &known), (&inputs, &entry.older), options.content.cycles)?;
        for (rank, inputs) in older.kept.iter().enumerate() {
            let cycle = format!("{path};{}", rank + 1);
            let cut = inputs.iter().find_map(|(.., key)| known.get(&key.seek_key)?.cut.clone());
            let chosen = |all: u64| Ok(cut.clone().unwrap_or_else(|| EntrySet::range(0..all)));
            let entries = cut.is_some().then_some(&chosen as &dyn Fn(u64) -> Result<EntrySet>);
            let planned = plan_tree((inputs, &path), (&layout, options), entries, &mut known);
            let plan = planned.map_err(|e| e.object(cycle.clone()))?;
            plans.push((PlannedTree { directory, name: entry.name.clone(), path: cycle }, plan));
        }
        notes.extend(cycles::notes(&older.cycles, files.len()));
        older_cycles.extend(older.cycles);
        if inputs.len() < files.len() {
            notes.push(format!("tree {path} is only in {} of the {} inputs", inputs.len(), files.len()));
        }
        let source = SourceTree { inputs: &inputs, path: &path, schema: options.plan.schema, budget: options.budget };
        let mut selected = selection.for_tree(&source)?;
        let cut = parts.iter().find_map(|part| known.get(&part.seek)?.cut.clone());
        let mut about = std::mem::take(&mut selected.notes);
        let chooses = cut.is_some() || !selected.is_all();
        let chosen = |all: u64| cut.as_ref().map_or_else(|| selected.entries(all), |cut| Ok(cut.clone()));
        let entries = chooses.then_some(&chosen as &dyn Fn(u64) -> Result<EntrySet>);
        let mut plan = match plan_tree((&inputs, &path), (&layout, options), entries, &mut known) {
            Err(e) if leave_out && matches!(e.kind(), ErrorKind::Corrupt(_)) => {
                let input = files.first().map_or_else(PathBuf::new, |file| file.name().to_path_buf());
                damaged.push(Damaged { path: input, object: path, reason: e.to_string() });
                continue;
            }
            planned => planned?,
        };
        plan.messages.notes.append(&mut about);
        let absent =
            plan.messages.absent.iter().map(|(name, why)| format!("tree {path}: branch {name} is left out: {why}"));
        plan.messages.notes.extend(absent);
        plans.push((PlannedTree { directory, name: entry.name.clone(), path }, plan));
    }
    if options.content.tree.is_none() {
        notes.extend(cycles::note_on_objects(&objects));
    }
    if let (Some(only), true) = (&options.content.tree, plans.is_empty()) {
        let there: Vec<String> = objects.trees().map(|(_, entry, _)| entry.name.clone()).collect();
        return Err(Error::request(format!("no tree {only}; there are: {}", there.join(", "))));
    }
    objects.damaged.extend(damaged);
    for (place, _) in &plans {
        *tree_cycles.entry((place.directory, place.name.clone())).or_default() += 1;
    }
    objects.tree_cycles = tree_cycles;
    selection.finish()?;
    if let Some(first) = files.first() {
        let mut trees: Vec<_> = plans.iter_mut().map(|(place, plan)| (place.path.as_str(), plan)).collect();
        drop_misaligned_friends(&mut trees, first.name(), &objects);
    }
    let known: Vec<_> = files.iter().map(|f| process_ids::read(f)).collect();
    let pid_counts = known.iter().map(|ids| u16::try_from(ids.len()).unwrap_or(u16::MAX)).collect();
    let (pids, pid_offsets) = process_ids::join(&known)?;
    let (metadata, scratch) = memory_needs(&plans, options.check);
    let share = options.budget.share(metadata, scratch)?;
    let version = file_version::required_version(&files)?;
    Ok(Prepared {
        files,
        skipped: Vec::new(),
        objects,
        plans,
        pids,
        pid_offsets,
        pid_counts,
        layout,
        notes,
        older_cycles,
        share,
        version,
    })
}

/// Plans one tree of the output. Trees in `known` are used instead of their records.
fn plan_tree(
    (inputs, path): (&[TreeInput], &str),
    (layout, options): (&Layout, &Options),
    entries: Option<&dyn Fn(u64) -> Result<EntrySet>>,
    known: &mut KnownTrees,
) -> Result<TablePlan> {
    let request =
        TableRequest { inputs, path, layout, filter: &options.content.filter, entries, options: options.plan };
    plan_table_of(&request, |file, key| match known.remove(&key.seek_key) {
        Some(known) => Ok(known.tree),
        None => read_tree(file, key),
    })
}

/// Older cycles of a tree, and the inputs of those that are written, the oldest first.
struct OlderCycles {
    cycles: Vec<OlderCycle>,
    kept: Vec<Vec<TreeInput>>,
}

type TreeInput = (usize, Arc<RootFile>, Key);

/// Judges the older cycles of a tree. `newest` are its newest cycles.
fn older(
    path: &str,
    (files, known): (&[Arc<RootFile>], &KnownTrees),
    (newest, older): (&[TreeInput], &[Vec<ObjectLocation>]),
    asked: Cycles,
) -> Result<OlderCycles> {
    let mut found = OlderCycles { cycles: Vec::new(), kept: Vec::new() };
    for parts in older.iter().rev() {
        let mut kept = Vec::new();
        for part in parts {
            let input = tree_input(files, known, *part)?;
            // Recovered trees are judged already.
            if known.contains_key(&part.seek) {
                kept.push(input);
                continue;
            }
            let Some((_, _, key)) = newest.iter().find(|(number, ..)| *number == input.0) else { continue };
            let mut cycle = cycles::judge(path, &input.1, key, &input.2);
            cycle.kept = match (asked, cycle.kind) {
                (_, CycleKind::Unreadable) if cycle.entries.is_none() => false,
                (Cycles::All, _) => true,
                (Cycles::OtherTrees, kind) => kind != CycleKind::EarlierSave,
                (Cycles::Newest, _) => false,
            };
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

fn tree_input(
    files: &[Arc<RootFile>],
    known: &KnownTrees,
    part: ObjectLocation,
) -> Result<(usize, Arc<RootFile>, Key)> {
    let number = usize::try_from(part.file).unwrap_or(usize::MAX);
    let file = files.get(number).ok_or_else(|| Error::request("a plan of other files"))?;
    let key = match known.get(&part.seek) {
        Some(known) => known.key.clone(),
        None => file.key_at(part.seek).map_err(|e| e.file(file.name()))?,
    };
    Ok((number, Arc::clone(file), key))
}

/// Memory of metadata for all trees, and of buffers for each thread, in bytes.
pub(crate) fn memory_needs(plans: &[(PlannedTree, TablePlan)], check: bool) -> (u64, u64) {
    let plans = || plans.iter().map(|(_, plan)| plan);
    let kept = plans().map(TablePlan::kept).max().unwrap_or(0);
    (plans().map(|p| p.metadata).sum::<u64>() + kept, plans().map(|plan| plan.scratch(check)).max().unwrap_or(0))
}
