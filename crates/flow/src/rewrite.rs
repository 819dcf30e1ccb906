//! Makes one file of one or more: directories, objects and trees are written as [`crate::prepare`] settled it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dataset::tree::write;
use rootfile::codec::Compression;
use rootfile::{DirId, Error, FileWriter, Result, RootFile, StagedFile, check_output};

use crate::budget::Share;
use crate::closing::{self, BufferSize};
use crate::column::Shape;
use crate::cycles::OlderCycle;
use crate::engine::{self, Depths, Job, Progress};
use crate::inner;
use crate::maxima;
use crate::objects::{Damaged, Pack, pids};
use crate::options::Options;
use crate::plan::{Forecast, TablePlan, forecast as look_ahead};
use crate::prepare::{KnownTrees, PlannedTree, Prepared, Skipped, needs, plan_all, prepare};
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
    /// Those of the notes that say what was not merged, or not carried over, or with a loss.
    pub unmerged: Vec<String>,
    /// Inputs that were left out since they cannot be read.
    pub skipped: Vec<Skipped>,
    /// Older cycles of the inputs' trees.
    pub older_cycles: Vec<OlderCycle>,
    /// What is damaged in the inputs that were not left out: objects and directories are missing from the output.
    pub damaged: Vec<Damaged>,
    /// Paths of the output's directories, each before what is below it; the top's is empty.
    #[serde(skip)]
    pub directories: Vec<String>,
    /// Whether an input says that it is compressed in another way than the output.
    #[serde(skip)]
    pub compressions_differ: bool,
}

impl Summary {
    /// Whether all that was asked for is in the output.
    pub fn is_whole(&self) -> bool {
        self.skipped.is_empty() && self.damaged.is_empty()
    }
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

/// Rewrites `inputs` into `output`. The output appears under its name only when it is whole.
pub fn rewrite(inputs: &[PathBuf], output: &Path, options: &Options, progress: Progress<'_>) -> Result<Summary> {
    let (summary, staged) = rewrite_staged(inputs, output, options, progress)?;
    staged.deliver()?;
    Ok(summary)
}

/// Rewrites `inputs` into a file that will be called `output`, and leaves it under its temporary name: whoever proves
/// something of it delivers it after that.
pub fn rewrite_staged(
    inputs: &[PathBuf],
    output: &Path,
    options: &Options,
    progress: Progress<'_>,
) -> Result<(Summary, StagedFile)> {
    check_output(output, options.overwrite || options.append, options.entries.files())?;
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
    let prepared = plan_all(vec![Arc::new(file)], known, options, false)?;
    let (summary, staged) = perform(prepared, output, options, progress)?;
    staged.deliver()?;
    Ok(summary)
}

fn perform(
    mut prepared: Prepared,
    output: &Path,
    options: &Options,
    progress: Progress<'_>,
) -> Result<(Summary, StagedFile)> {
    let first = prepared.files.first().ok_or_else(|| Error::request("no input"))?;
    let asked = options.metadata.or(prepared.layout.common.compression);
    let setting = asked.map_or_else(|| records(first, &prepared.plans), Compression::to_root_setting);
    let same = |n: &i32| Compression::from_root_setting(*n) == Compression::from_root_setting(setting);
    let setting = options.header.filter(same).unwrap_or(setting);
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
    prepared.objects.check = options.check;
    let mut written = prepared.objects.write(&mut writer, &prepared.files, pack, &prepared.pid_offsets)?;
    pids::write(&mut writer, &prepared.pids)?;
    let (notes, skipped, older_cycles) = (prepared.notes, prepared.skipped, prepared.older_cycles);
    let mut summary = Summary { bytes_read, notes, skipped, older_cycles, ..Summary::default() };
    summary.notes.extend(prepared.objects.notes.iter().map(ToString::to_string));
    summary.unmerged = written.problems.iter().map(ToString::to_string).collect();
    summary.notes.extend(summary.unmerged.iter().cloned());
    summary.directories = prepared.objects.paths();
    summary.damaged = prepared.objects.damaged;
    summary.damaged.append(&mut written.damaged);
    summary.compressions_differ = prepared.files.iter().any(|file| file.header().compress != setting);
    // Whatever is needed of the inputs from here on is in the plans.
    drop(prepared.files);
    let metadata = Compression::from_root_setting(setting).unwrap_or(Compression::NONE);
    for (place, plan) in prepared.plans {
        let directory = written.directories.get(place.directory).copied().unwrap_or(writer.top());
        if let Some(cycles) = written.tree_cycles.get_mut(&(place.directory, place.name.clone()))
            && !cycles.is_empty()
        {
            writer.set_cycle(directory, &place.name, cycles.remove(0).saturating_sub(1));
        }
        summary.notes.extend(plan.notes.iter().chain(&plan.lost).cloned());
        summary.unmerged.extend(plan.lost.iter().cloned());
        let of_files = |of_inputs: &[u16], unknown: u16| -> Vec<u16> {
            plan.file_inputs.iter().map(|&n| of_inputs.get(n).copied().unwrap_or(unknown)).collect()
        };
        let mut pids = [of_files(&prepared.pid_offsets, 0), of_files(&prepared.pid_counts, u16::MAX)];
        // Files of baskets come behind the file with their tree, and have identifiers of their own.
        for (i, input) in plan.file_inputs.iter().enumerate() {
            if plan.file_inputs.iter().take(i).any(|before| before == input)
                && let Some(known) = pids[1].get_mut(i)
            {
                *known = u16::MAX;
            }
        }
        let (table, notes) = write_table(
            &mut writer,
            (&place, directory),
            (plan, pids),
            prepared.share,
            (metadata, options.check),
            progress,
        )
        .map_err(|e| e.object(place.path.clone()))?;
        summary.unmerged.extend(notes.iter().cloned());
        summary.notes.extend(notes);
        summary.tables.push(table);
    }
    let staged = writer.stage()?;
    summary.bytes_written = staged.len();
    Ok((summary, staged))
}

/// The compression of records that nothing was asked for: the first input's, or if that is none, what most bytes of the
/// output's columns have.
pub(crate) fn records(first: &RootFile, plans: &[(PlannedTree, TablePlan)]) -> i32 {
    let own = first.header().compress;
    if Compression::from_root_setting(own).is_some_and(|own| !own.is_none()) {
        return own;
    }
    let mut bytes: HashMap<i32, u64> = HashMap::new();
    for column in plans.iter().flat_map(|(_, plan)| &plan.columns) {
        *bytes.entry(column.compression.to_root_setting()).or_default() += column.tot_bytes;
    }
    bytes.into_iter().max_by_key(|&(setting, bytes)| (bytes, setting)).map_or(own, |(setting, _)| setting)
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
    let (metadata, scratch) = needs(&prepared.plans, options.check);
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

fn write_table(
    writer: &mut FileWriter,
    (place, directory): (&PlannedTree, DirId),
    (plan, [pid_offsets, pids]): (TablePlan, [Vec<u16>; 2]),
    share: Share,
    (compression, check): (Compression, bool),
    progress: Progress<'_>,
) -> Result<(TableSummary, Vec<String>)> {
    let job = Job {
        files: &plan.files,
        pid_offsets: &pid_offsets,
        columns: &plan.columns,
        recodes: &plan.recodes,
        bounds: &plan.bounds,
        packed: &plan.packed,
        seek_pdir: writer.seek_of(directory),
        copies_fit: plan.copies_fit,
        check,
        pids: &pids,
    };
    let written = engine::run(&job, writer, share, progress)?;
    finish_table(writer, (place, directory), plan, written, compression)
}

/// Writes the record of a tree whose baskets are written.
pub(crate) fn finish_table(
    writer: &mut FileWriter,
    (place, directory): (&PlannedTree, DirId),
    mut plan: TablePlan,
    written: Vec<Written>,
    compression: Compression,
) -> Result<(TableSummary, Vec<String>)> {
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
    let mut tree = plan.tree;
    let mut notes = Vec::from_iter(inner::leave_out_unmovable(&mut tree, &place.path));
    if let Some(source) = plan.files.first() {
        notes.extend(inner::carry(&mut tree, &place.path, &**source, (writer, directory))?);
    }
    closing::add_own_infos(writer, &tree);
    // The key's name: a tree may not know its own.
    let labels = (tree.class.as_str(), place.name.as_str(), tree.named.title.as_str());
    writer.write_object(directory, labels, compression, |keylen| write::write_tree(&tree, keylen))?;
    Ok((summary, notes))
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
