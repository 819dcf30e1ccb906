//! Prepares a rewrite before a byte is written: opens inputs, plans objects and tables, chooses cycles, and divides memory.
//! Each ROOT file is opened once. If inputs turn out bad and may be left out, the others are planned again. Inputs that are no ROOT
//! files have a way of their own (`stored`).

mod bad_inputs;
mod build_index;
mod defines;
mod joined;
mod namesakes;
mod ntuple;
mod open;
mod order;
mod output_infos;
mod stored;
mod tables;
#[cfg(test)]
mod tests;
mod tree;
mod unique;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::layout::Layout;
use dataset::tree::{kept_name, read_tree};
use rootfile::codec::Compression;
use rootfile::{Directory, Error, Result, RootFile, Walk};

use super::file_version;
use super::in_place::{Updated, updatable};
use super::options::{Cycles, Options};
use super::output_table::{OutputPlace, TableMemory};
use super::prepared::{KnownTrees, PlannedTable, Prepared, memory_needs};
use crate::plan::format::Format;
use crate::plan::skipped::Skipped;
use crate::plan::tree::kept::KeptLists;
use crate::select::tree::{SelectedTree, drop_misaligned_friends};
use bad_inputs::BadInputs;
pub(crate) use joined::{AlignedTable, JoinedTables};
use objects::{Action, ObjectPlan, plan_objects_with, plan_sound_objects, process_ids, refuse_damage_in};
pub(crate) use stored::{StoredSource, open_columns, open_filtered, prepare_table};
pub(crate) use tables::TableCut;
use tables::{PlannedTables, Planning, ReadTree, TablesPlanner, count_cycles};

/// Opens inputs and plans. Leaves out unreadable inputs if requested.
pub(crate) fn prepare(inputs: &[PathBuf], output: &Path, options: &Options) -> Result<Prepared> {
    let mut skipped = Vec::new();
    let inputs = open::without_output(inputs, output, options, &mut skipped)?;
    if Format::are_parquet(inputs.iter().map(PathBuf::as_path))? {
        return stored::prepare_parquet(&inputs, options, skipped);
    }
    let files = open::open_inputs(&inputs, options, &mut skipped)?;
    plan_without_bad(files, options, skipped, &read_tree)
}

/// Prepares a file with the columns of other tables beside those of one.
pub(crate) fn prepare_joined(
    inputs: &[PathBuf],
    output: &Path,
    options: &Options,
    joined: JoinedTables<'_>,
) -> Result<Prepared> {
    let inputs = open::without_output(inputs, output, options, &mut Vec::new())?;
    let alone = |file| Arc::try_unwrap(file).map_err(|_| Error::request("internal error: an input is in use"));
    let files = open::open_inputs(&inputs, options, &mut Vec::new())?.into_iter().map(alone);
    let files: Vec<Arc<RootFile>> =
        tree::joined::described(&joined, files.collect::<Result<Vec<_>>>()?)?.into_iter().map(Arc::new).collect();
    let planning =
        Planning { files: &files, options, leave_out: false, read: &read_tree, cut: None, joined: Some(joined) };
    let planned = plan(planning, KnownTrees::new(), &mut BadInputs::of(&files, false))?;
    planned.ok_or_else(|| Error::request("no input"))
}

/// Prepares the rewrite of open files.
pub(crate) fn prepare_open(files: Vec<Arc<RootFile>>, options: &Options) -> Result<Prepared> {
    plan_without_bad(files, options, Vec::new(), &read_tree)
}

/// Prepares a file with these objects of open files, and of one table only some entries.
pub(crate) fn prepare_objects(
    files: &[Arc<RootFile>],
    objects: ObjectPlan,
    options: &Options,
    cut: Option<TableCut<'_>>,
) -> Result<Prepared> {
    let planning = Planning { files, options, leave_out: false, read: &read_tree, cut, joined: None };
    let mut bad = BadInputs::of(files, false);
    finish_plan(planning, objects, KnownTrees::new(), &mut bad)?.ok_or_else(|| Error::request("no input"))
}

/// Prepares the rewrite of one open file. The trees in `known` are used instead of their records.
pub(crate) fn prepare_known(file: RootFile, known: KnownTrees, options: &Options) -> Result<Prepared> {
    let files = vec![Arc::new(file)];
    let planning = Planning { files: &files, options, leave_out: false, read: &read_tree, cut: None, joined: None };
    plan(planning, known, &mut BadInputs::of(&files, false))?.ok_or_else(|| Error::request("no input"))
}

/// Plans the files, and again without those that turn out bad. `skipped` are the inputs that are left out already.
fn plan_without_bad(
    mut files: Vec<Arc<RootFile>>,
    options: &Options,
    mut skipped: Vec<Skipped>,
    read: ReadTree<'_>,
) -> Result<Prepared> {
    let skip_bad = options.inputs.skip_bad;
    loop {
        // Of a single damaged input the sound objects are taken.
        let leave_out = skip_bad && files.len() == 1;
        let mut bad = BadInputs::of(&files, skip_bad);
        let planning = Planning { files: &files, options, leave_out, read, cut: None, joined: None };
        if let Some(prepared) = plan(planning, KnownTrees::new(), &mut bad)? {
            return Ok(Prepared { skipped, ..prepared });
        }
        skipped.extend(bad.leave_out(&mut files));
    }
}

/// Plans the files. `None` if some of them are bad and can be left out: `bad` has all that were found.
fn plan(planning: Planning<'_>, known: KnownTrees, bad: &mut BadInputs) -> Result<Option<Prepared>> {
    let planned = try_plan(planning, known, bad);
    // Other errors may have come from the bad inputs as well.
    if bad.any() { Ok(None) } else { planned }
}

fn try_plan(planning: Planning<'_>, known: KnownTrees, bad: &mut BadInputs) -> Result<Option<Prepared>> {
    let objects = plan_objects(planning, bad)?;
    if bad.any() {
        return Ok(None);
    }
    finish_plan(planning, objects, known, bad)
}

/// Plans the tables among the objects, and all that depends on both.
fn finish_plan(
    planning: Planning<'_>,
    mut objects: ObjectPlan,
    known: KnownTrees,
    bad: &mut BadInputs,
) -> Result<Option<Prepared>> {
    let Planning { files, options, .. } = planning;
    choose_objects(&mut objects, options)?;
    let mut updated = Updated::default();
    if let (true, Some(first)) = (options.inputs.append, files.first()) {
        updated = updatable(first)?;
        if updated.committed.is_some() {
            objects.leave_in_place(&first.walk());
        }
    }
    objects.check = options.check;
    let kept = KeptLists::take(&mut objects, files);
    let layout = output_layout(files, options);
    let PlannedTables { mut plans, mut notes, cut_flows, duplicates, unsorted, older_cycles, damaged } =
        TablesPlanner::new(planning, &layout, &objects, known, kept, bad).plan_all()?;
    if bad.any() {
        return Ok(None);
    }
    plans.iter_mut().for_each(|(place, plan)| find_place_for_kept(&objects, place, plan));
    objects.damaged.extend(damaged);
    objects.tree_cycles = count_cycles(&plans);
    objects.infos = output_infos::output_infos(files, &objects, &plans)?;
    if let Some(first) = files.first() {
        let trees = plans.iter_mut().filter_map(|(place, PlannedTable { table, notes, lost, .. })| {
            Some(SelectedTree { path: &place.path, plan: table.tree_mut()?, notes, lost })
        });
        let mut trees: Vec<_> = trees.collect();
        drop_misaligned_friends(&mut trees, first.name(), &objects);
    }
    let mut ids: Vec<_> = files.iter().map(|file| process_ids::read(file)).collect();
    if let Some(joined) = planning.joined {
        ids.extend(joined.process_ids()?);
    }
    let pid_counts = ids.iter().map(|ids| u16::try_from(ids.len()).unwrap_or(u16::MAX)).collect();
    let (pids, pid_offsets) = process_ids::join(&ids)?;
    let TableMemory { metadata, scratch, .. } = memory_needs(&plans, options.check);
    let share = options.budget.share(metadata, scratch)?;
    let version = file_version::required_version(files, &objects, &plans, |e| bad.admit::<()>(Err(e)).map(drop))?;
    notes.extend(updated.note);
    Ok(Some(Prepared {
        files: files.to_vec(),
        committed: updated.committed,
        bytes: files.iter().map(|file| file.source().size()).sum(),
        skipped: Vec::new(),
        objects,
        plans,
        pids,
        pid_offsets,
        pid_counts,
        layout,
        notes,
        cut_flows,
        duplicates,
        unsorted,
        older_cycles,
        share,
        version,
    }))
}

/// Gives up what is kept beside an RNTuple if another object has the name of its list.
fn find_place_for_kept(objects: &ObjectPlan, place: &OutputPlace, plan: &mut PlannedTable) {
    let name = kept_name(&place.name);
    let entries = objects.directories.get(place.directory).map_or(&[][..], |directory| directory.entries.as_slice());
    if entries.iter().any(|entry| entry.name == name) && plan.kept.take().is_some() {
        let path = &place.path;
        plan.lost.push(format!(
            "RNTuple {path}: what it has no place for of its tree is not kept: another object is called {name}"
        ));
    }
}

/// Plans the objects of the files. Of bad files it takes none.
fn plan_objects(planning: Planning<'_>, bad: &mut BadInputs) -> Result<ObjectPlan> {
    let Planning { files, leave_out, options, .. } = planning;
    if leave_out {
        return plan_sound_objects(files);
    }
    let first = files.first().filter(|_| options.inputs.append).map(Arc::as_ptr);
    plan_objects_with(files, |file, walk, notes| {
        if first.is_some_and(|first| std::ptr::eq(first, file)) {
            remove(walk, &options.content.replaced)?;
        }
        let damaged = bad.admit(refuse_damage_in(file, walk, notes, |_| true))?;
        Ok(damaged.unwrap_or_else(|| {
            walk.directories.clear();
            Vec::new()
        }))
    })
}

/// Removes objects and directories from those of a file, by their paths.
fn remove(walk: &mut Walk, paths: &[String]) -> Result<()> {
    for path in paths {
        let path = path.trim_matches('/');
        let below = |other: &str| other == path || other.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        let mut found = false;
        for directory in &mut walk.directories {
            let Directory { path: above, keys, .. } = directory;
            keys.retain(|key| {
                let is_it = match above.as_str() {
                    "" => key.name == path,
                    above => path.strip_prefix(above).and_then(|rest| rest.strip_prefix('/')) == Some(&key.name),
                };
                found |= is_it;
                !is_it
            });
        }
        walk.directories.retain(|directory| directory.path.is_empty() || !below(&directory.path));
        if !found {
            return Err(Error::request("there is no such object to replace").object(path));
        }
    }
    Ok(())
}

/// Drops the objects that are not requested. An unreadable object that is requested is an error.
fn choose_objects(objects: &mut ObjectPlan, options: &Options) -> Result<()> {
    objects.retain(|directory, entry| {
        let is_tree = matches!(entry.action, Action::Tree(_));
        !(is_tree && options.content.no_trees) && options.content.wants(directory, &entry.name)
    });
    objects.all_cycles = options.content.cycles == Cycles::All;
    let wanted = |path: &str| {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        options.content.wants(directory, name)
    };
    match objects.unreadable.iter().find(|problem| wanted(&problem.path)) {
        Some(problem) => Err(Error::unsupported(problem.to_string())),
        None => Ok(()),
    }
}

/// The requested layout, with the first input's compression if that is requested.
fn output_layout(files: &[Arc<RootFile>], options: &Options) -> Layout {
    let mut layout = options.layout.clone();
    if let (true, Some(first)) = (options.compression.as_first, files.first()) {
        let own = Compression::from_root_setting(first.header().compress);
        layout.common.compression = layout.common.compression.or(own);
    }
    layout
}
