//! Makes one file of one or more: opens the inputs, plans every tree, and writes directories, objects and trees.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dataset::layout::Layout;
use dataset::tree::{Tree, read_tree, write};
use rootfile::codec::Compression;
use rootfile::{DirId, Error, ErrorKind, FilePool, FileWriter, Key, Result, RootFile};

use crate::budget::Share;
use crate::choosing::{self, Choosing};
use crate::closing::{self, BufferSize};
use crate::column::Shape;
use crate::condition::Table;
use crate::engine::{self, Depths, Job, Progress};
use crate::era;
use crate::maxima;
use crate::objects::pids::{self, ProcessId};
use crate::objects::{Action, ObjectPlan, Pack, Part, plan_objects};
use crate::options::Options;
use crate::plan::{Forecast, TablePlan, TableRequest, forecast as look_ahead, plan_table_of};
use crate::selected::Selected;
use crate::sink::Written;

/// What was done.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Summary {
    /// Bytes of all inputs.
    pub bytes_read: u64,
    /// Bytes of the output.
    pub bytes_written: u64,
    /// Trees of the output.
    pub tables: Vec<TableSummary>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// Inputs that were left out since they cannot be read.
    pub skipped: Vec<Skipped>,
}

/// An input that was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// What became of one tree.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct TableSummary {
    /// Path of the tree.
    pub path: String,
    /// Entries of the inputs.
    pub input_entries: u64,
    /// Entries of the output.
    pub entries: u64,
    /// Clusters.
    pub clusters: u64,
    /// Baskets.
    pub baskets: u64,
    /// Bytes before compression.
    pub tot_bytes: u64,
    /// Bytes on disk.
    pub zip_bytes: u64,
    /// Clusters of columns by depth.
    pub depths: Depths,
}

/// Everything that is settled before a byte is written.
struct Prepared {
    files: Vec<Arc<RootFile>>,
    skipped: Vec<Skipped>,
    objects: ObjectPlan,
    plans: Vec<(PlannedTree, TablePlan)>,
    pids: Vec<ProcessId>,
    pid_offsets: Vec<u16>,
    layout: Layout,
    notes: Vec<String>,
    share: Share,
    /// The version that the output has to carry, if it is not our own.
    version: Option<i32>,
}

/// A tree of the output.
struct PlannedTree {
    /// Number of its directory in the plan of objects.
    directory: usize,
    name: String,
    path: String,
}

/// A tree that is not as its record says, or has none.
pub(crate) struct KnownTree {
    /// Its key. If it has no record, the offset in it is one that no other has.
    pub key: Key,
    /// The tree.
    pub tree: Tree,
    /// Where it is cut, if baskets go on behind it.
    pub cut: Option<u64>,
}

/// Such trees of one file, by the offset in their keys.
pub(crate) type KnownTrees = HashMap<u64, KnownTree>;

/// Rewrites `inputs` into `output`. The output appears under its name only when it is whole.
pub fn rewrite(inputs: &[PathBuf], output: &Path, options: &Options, progress: Progress<'_>) -> Result<Summary> {
    perform(prepare(inputs, output, options)?, output, options, progress)
}

/// Writes one file anew, some trees of which are `known` to be other than their records say.
pub(crate) fn rewrite_known(
    file: RootFile,
    known: KnownTrees,
    output: &Path,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Summary> {
    perform(plan_all(vec![Arc::new(file)], known, options)?, output, options, progress)
}

fn perform(prepared: Prepared, output: &Path, options: &Options, progress: Progress<'_>) -> Result<Summary> {
    let first = prepared.files.first().ok_or_else(|| Error::request("no input"))?;
    let asked = options.metadata.or(prepared.layout.common.compression);
    let setting = asked.map_or(first.header().compress, Compression::to_root_setting);
    let datime = closing::date(Some(prepared.objects.newest));
    let overwrite = options.overwrite || options.append;
    let mut writer = FileWriter::create(output, overwrite, setting, datime, &first.top().title)?;
    let bytes_read = prepared.files.iter().map(|f| f.source().size()).sum();
    writer.expect_size(bytes_read);
    if let Some(version) = prepared.version {
        writer.set_version(version);
    }
    // Objects come first: their keys have no room to grow, and positions are small here.
    let pack = asked.map_or(Pack::Keep, Pack::As);
    let written = prepared.objects.write(&mut writer, &prepared.files, pack, &prepared.pid_offsets)?;
    pids::write(&mut writer, &prepared.pids)?;
    let mut summary = Summary { bytes_read, notes: prepared.notes, skipped: prepared.skipped, ..Summary::default() };
    summary.notes.extend(written.problems.iter().map(ToString::to_string));
    // Whatever is needed of the inputs from here on is in the plans.
    drop(prepared.files);
    let metadata = Compression::from_root_setting(setting).unwrap_or(Compression::NONE);
    for (place, plan) in prepared.plans {
        let directory = written.directories.get(place.directory).copied().unwrap_or(writer.top());
        summary.notes.extend(plan.notes.iter().cloned());
        let offsets = plan.file_inputs.iter().map(|&n| prepared.pid_offsets.get(n).copied().unwrap_or(0)).collect();
        let table = write_table(&mut writer, (&place, directory), (plan, offsets), prepared.share, metadata, progress)
            .map_err(|e| e.object(place.path.clone()))?;
        summary.tables.push(table);
    }
    summary.bytes_written = writer.finish()?;
    Ok(summary)
}

/// What [`rewrite`] would do.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Outlook {
    /// Trees of the output.
    pub tables: Vec<Forecast>,
    /// Bytes of the trees' baskets now.
    pub bytes_before: u64,
    /// Bytes that are expected.
    pub bytes_after: u64,
    /// The smallest memory budget that would do.
    pub least_memory: u64,
    /// Memory that will be used at most, of the budget given.
    pub memory: u64,
    /// Threads that fit into it.
    pub threads: usize,
}

/// Says what [`rewrite`] would do, without writing. `sample` measures how well the asked codecs do.
pub fn forecast(inputs: &[PathBuf], output: &Path, options: &Options, sample: bool) -> Result<Outlook> {
    let prepared = prepare(inputs, output, options)?;
    let plans = prepared.plans.iter();
    let tables = plans.map(|(place, plan)| look_ahead(plan, &place.path, sample)).collect::<Result<Vec<_>>>()?;
    let (metadata, scratch) = needs(&prepared.plans);
    let columns = || tables.iter().flat_map(|t| &t.columns);
    let recodes = || tables.iter().flat_map(|t| &t.recodes);
    Ok(Outlook {
        bytes_before: columns().map(|c| c.bytes_before).chain(recodes().map(|r| r.bytes_before)).sum(),
        bytes_after: columns().map(|c| c.bytes_after).chain(recodes().map(|r| r.bytes_after)).sum(),
        least_memory: metadata + scratch,
        memory: options.budget.memory,
        threads: prepared.share.threads,
        tables,
    })
}

/// Bytes of metadata for all trees, and of buffers for each thread.
fn needs(plans: &[(PlannedTree, TablePlan)]) -> (u64, u64) {
    let plans = || plans.iter().map(|(_, plan)| plan);
    (plans().map(|p| p.metadata).sum(), plans().map(TablePlan::scratch).max().unwrap_or(0))
}

/// Opens and plans, leaving out inputs that cannot be read, if that is asked for.
fn prepare(inputs: &[PathBuf], output: &Path, options: &Options) -> Result<Prepared> {
    let mut left = Vec::with_capacity(inputs.len());
    let mut skipped = Vec::new();
    for (i, input) in inputs.iter().enumerate() {
        if same_file(input, output) && !(options.append && i == 0) {
            let error = Error::request("is an input as well; choose another output").file(output);
            if !options.skip_bad {
                return Err(error);
            }
            skipped.push(Skipped { path: input.clone(), reason: error.to_string() });
            continue;
        }
        left.push(input.clone());
    }
    loop {
        let error = match prepare_all(&left, options) {
            Ok(prepared) => return Ok(Prepared { skipped, ..prepared }),
            Err(error) => error,
        };
        let unreadable = !matches!(error.kind(), ErrorKind::Request(_));
        let culprit = error.path().and_then(|path| left.iter().position(|input| input == path));
        match culprit {
            Some(i) if options.skip_bad && unreadable && left.len() > 1 => {
                skipped.push(Skipped { path: left.remove(i), reason: error.to_string() });
            }
            _ => return Err(error),
        }
    }
}

fn prepare_all(inputs: &[PathBuf], options: &Options) -> Result<Prepared> {
    let pool = FilePool::new(if options.open_files == 0 { rootfile::OPEN_FILES } else { options.open_files });
    let files = inputs.iter().map(|p| pool.open(p).map(Arc::new)).collect::<Result<Vec<_>>>()?;
    for file in files.iter().filter(|f| f.recovered()) {
        // What a file that was cut short still has may not be all that it should have.
        if file.header().end > file.source().size() {
            return Err(Error::corrupt("the file is cut short").file(file.name()));
        }
    }
    plan_all(files, KnownTrees::new(), options)
}

fn plan_all(files: Vec<Arc<RootFile>>, mut known: KnownTrees, options: &Options) -> Result<Prepared> {
    let mut objects = plan_objects(&files)?;
    objects.retain(|directory, entry| {
        let is_tree = matches!(entry.action, Action::Tree(_));
        (!is_tree || !options.no_trees) && options.listed.as_ref().is_none_or(|l| l.wants(directory, &entry.name))
    });
    let wanted = |path: &str| {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        options.listed.as_ref().is_none_or(|l| l.wants(directory, name))
    };
    if let Some(problem) = objects.unreadable.iter().find(|p| wanted(&p.path)) {
        return Err(Error::unsupported(problem.to_string()));
    }
    let mut layout = options.layout.clone();
    if let (true, Some(first)) = (options.as_first, files.first()) {
        let own = Compression::from_root_setting(first.header().compress);
        layout.common.compression = layout.common.compression.or(own);
    }
    let mut notes = Vec::new();
    let mut choosing = Choosing::new(&options.entries);
    let mut plans: Vec<(PlannedTree, TablePlan)> = Vec::new();
    for (directory, entry, parts) in objects.trees() {
        let path = objects.directories.get(directory).map_or_else(String::new, |d| d.path_of(&entry.name));
        if options.tree.as_ref().is_some_and(|only| *only != path) {
            continue;
        }
        let inputs = parts.iter().map(|part| tree_input(&files, &known, *part)).collect::<Result<Vec<_>>>()?;
        if inputs.len() < files.len() {
            notes.push(format!("tree {path} is in {} of the {} inputs only", inputs.len(), files.len()));
        }
        let table = Table { inputs: &inputs, path: &path, schema: options.schema, budget: options.budget };
        let mut wanted = choosing.of(&table)?;
        let cut = parts.iter().find_map(|part| known.get(&part.seek)?.cut);
        let mut about = std::mem::take(&mut wanted.notes);
        let chooses = cut.is_some() || !wanted.is_all();
        let chosen = |all: u64| cut.map_or_else(|| wanted.of(all), |end| Ok(Selected::range(0..end.min(all))));
        let request = TableRequest {
            inputs: &inputs,
            path: &path,
            layout: &layout,
            filter: &options.filter,
            entries: chooses.then_some(&chosen as &dyn Fn(u64) -> Result<Selected>),
            pack: options.pack,
            schema: options.schema,
        };
        let mut plan = plan_table_of(&request, |file, key| match known.remove(&key.seek_key) {
            Some(known) => Ok(known.tree),
            None => read_tree(file, key),
        })?;
        plan.notes.append(&mut about);
        plans.push((PlannedTree { directory, name: entry.name.clone(), path }, plan));
    }
    if let (Some(only), true) = (&options.tree, plans.is_empty()) {
        let there: Vec<String> = objects.trees().map(|(_, entry, _)| entry.name.clone()).collect();
        return Err(Error::request(format!("no tree {only}; there are: {}", there.join(", "))));
    }
    choosing.finish()?;
    if let Some(first) = files.first() {
        let mut trees: Vec<_> = plans.iter_mut().map(|(place, plan)| (place.path.as_str(), plan)).collect();
        choosing::settle(&mut trees, first.name(), &objects);
    }
    let (pids, pid_offsets) = pids::plan(&files.iter().map(|f| pids::read(f)).collect::<Vec<_>>())?;
    let (metadata, scratch) = needs(&plans);
    let share = options.budget.share(metadata, scratch)?;
    let version = era::version(&files)?;
    Ok(Prepared { files, skipped: Vec::new(), objects, plans, pids, pid_offsets, layout, notes, share, version })
}

fn tree_input(files: &[Arc<RootFile>], known: &KnownTrees, part: Part) -> Result<(usize, Arc<RootFile>, Key)> {
    let number = usize::try_from(part.file).unwrap_or(usize::MAX);
    let file = files.get(number).ok_or_else(|| Error::request("a plan of other files"))?;
    let key = match known.get(&part.seek) {
        Some(known) => known.key.clone(),
        None => file.key_at(part.seek).map_err(|e| e.file(file.name()))?,
    };
    Ok((number, Arc::clone(file), key))
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (std::fs::canonicalize(a), std::fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

fn write_table(
    writer: &mut FileWriter,
    (place, directory): (&PlannedTree, DirId),
    (mut plan, pid_offsets): (TablePlan, Vec<u16>),
    share: Share,
    compression: Compression,
    progress: Progress<'_>,
) -> Result<TableSummary> {
    let job = Job {
        files: &plan.files,
        pid_offsets: &pid_offsets,
        columns: &plan.columns,
        recodes: &plan.recodes,
        bounds: &plan.bounds,
        packed: &plan.packed,
        seek_pdir: writer.seek_of(directory),
        copies_fit: plan.copies_fit,
    };
    let written = engine::run(&job, writer, share, progress)?;
    let mut summary = TableSummary {
        depths: written.iter().fold(Depths::default(), |sum, column| sum + column.depths),
        path: place.path.clone(),
        clusters: (plan.bounds.len() as u64).saturating_sub(1),
        baskets: written.iter().map(|w| w.baskets.len() as u64).sum(),
        ..TableSummary::default()
    };
    close_tree(&mut plan, written);
    summary.input_entries = plan.input_entries.iter().sum();
    summary.entries = plan.tree.entries;
    summary.tot_bytes = plan.tree.tot_bytes;
    summary.zip_bytes = plan.tree.zip_bytes;
    let tree = plan.tree;
    closing::add_own_infos(writer, &tree);
    // The key's name: a tree may not know its own.
    let labels = (tree.class.as_str(), place.name.as_str(), tree.named.title.as_str());
    writer.write_object(directory, labels, compression, |keylen| write::write_tree(&tree, keylen))?;
    Ok(summary)
}

/// Puts what was written into the tree's metadata.
fn close_tree(plan: &mut TablePlan, written: Vec<Written>) {
    let whole = plan.input_entries.iter().sum::<u64>();
    let tree = &mut plan.tree;
    tree.entries = plan.selected.as_ref().map_or(whole, |selected| selected.len());
    for (column, written) in plan.columns.iter().zip(written) {
        let Some(branch) = tree.branches.get_mut(column.branch) else { continue };
        let had_data = !column.pieces.is_empty() || !written.baskets.is_empty();
        let count = branch.entries;
        let buffer = match (column.memory_ratio, column.shape) {
            (Some(ratio), _) => BufferSize::Times(ratio),
            (None, Shape::PerCluster) => BufferSize::Times(1.0),
            (None, Shape::Size(size)) => BufferSize::Bytes(u64::from(size)),
            (None, Shape::Keep(_)) => {
                column.packed_size.map_or(BufferSize::Keep, |size| BufferSize::Bytes(size.into()))
            }
        };
        closing::settle_branch(branch, written, column.compression, buffer);
        if !had_data {
            // A branch above others has no entries of its own, but counts them.
            branch.entries = if branch.children.is_empty() && count == 0 { 0 } else { tree.entries };
            branch.entry_number = branch.first_entry + branch.entries;
        }
    }
    for output in plan.recodes.iter().flat_map(|recode| &recode.outputs).filter(|output| output.plan.counts) {
        let branch = plan.columns.get(output.column).and_then(|column| tree.branches.get_mut(column.branch));
        if let Some(branch) = branch {
            maxima::set(branch, &mut tree.leaves, output.maximum.load(Ordering::Relaxed));
        }
    }
    closing::settle_tree(tree, &plan.bounds);
}
