//! Executes a prepared rewrite: writes directories and objects, then the trees one by one.

use std::path::{Path, PathBuf};

use dataset::glob::NameFilter;
use dataset::layout::defaults;
use rootfile::codec::Compression;
use rootfile::{DirId, Error, FileWriter, Hint, Result, RootFile, StagedFile, check_output};

use super::convert::write_converted;
use super::finish_kept::write_kept_list;
use super::finish_ntuple::write_ntuple;
use super::finish_tree::finish_table;
use super::options::Options;
use super::prepare::{StoredSource, prepare, prepare_known, prepare_table};
use super::prepared::{KnownTrees, PlannedTable, PlannedTree, Prepared, default_setting};
use super::summary::{Summary, TableSummary};
use crate::arrow::read::Dataset;
use crate::commit::date::date;
use crate::execute::budget::Share;
use crate::execute::engine::job::Job;
use crate::execute::engine::run::run;
use crate::execute::progress::Progress;
use crate::plan::TablePlan;
use crate::plan::kept::Kept;
use objects::{ObjectCompression, process_ids};

/// Rewrites `inputs` into `output`. The output appears under its name only when it is complete.
pub fn rewrite(inputs: &[PathBuf], output: &Path, options: &Options, progress: Progress<'_>) -> Result<Summary> {
    let (summary, staged) = rewrite_staged(inputs, output, options, progress)?;
    staged.deliver()?;
    Ok(summary)
}

/// Rewrites `inputs` into a file that will be called `output`, and leaves it under its temporary name. The caller can check
/// it there, and delivers it after that.
pub fn rewrite_staged(
    inputs: &[PathBuf],
    output: &Path,
    options: &Options,
    progress: Progress<'_>,
) -> Result<(Summary, StagedFile)> {
    check_output(output, options.may_replace(), options.content.entries.files())?;
    let prepared = prepare(inputs, output, options)?;
    write(prepared, output, options, progress)
}

/// Rewrites one file. The trees in `known` are used instead of their records.
pub(crate) fn rewrite_known(
    file: RootFile,
    known: KnownTrees,
    output: &Path,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Summary> {
    let prepared = prepare_known(file, known, options)?;
    let (summary, staged) = write(prepared, output, options, progress)?;
    staged.deliver()?;
    Ok(summary)
}

/// Rewrites a table of any container, which reaches its content through [`StoredTable`](dataset::table::StoredTable) alone, into a file
/// with nothing else. The options that concern other objects of a file say nothing here.
///
/// # Errors
///
/// The table cannot be read, the output cannot be written, a column has a type that trees cannot hold, or the budget is too small.
pub fn rewrite_table(
    table: Dataset,
    path: &str,
    output: &Path,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Summary> {
    check_output(output, options.may_replace(), options.content.entries.files())?;
    let where_ = |_: &NameFilter| Err(Error::request("conditions on entries are not possible here"));
    let source = StoredSource { dataset: table, open: &where_, path: path.to_owned(), fill: None, entries: None };
    let (summary, staged) = write(prepare_table(source, options)?, output, options, progress)?;
    staged.deliver()?;
    Ok(summary)
}

pub(super) fn write(
    mut prepared: Prepared,
    output: &Path,
    options: &Options,
    progress: Progress<'_>,
) -> Result<(Summary, StagedFile)> {
    let known = prepared.plans.iter_mut().flat_map(|(_, plan)| plan.lost().clone()).collect::<Vec<_>>();
    refuse_losses(options, &known)?;
    let first = prepared.files.first();
    let requested = options.compression.metadata.or(prepared.layout.common.compression);
    let own = || first.map_or(defaults::COMPRESSION.to_root_setting(), |first| default_setting(first, &prepared.plans));
    let setting = requested.map_or_else(own, Compression::to_root_setting);
    let same = |n: &i32| Compression::from_root_setting(*n) == Compression::from_root_setting(setting);
    let setting = options.compression.header.filter(same).unwrap_or(setting);
    let datime = date(Some(prepared.objects.newest));
    let title = first.map_or("", |first| &first.top().title);
    let mut writer = FileWriter::create(output, options.may_replace(), setting, datime, title)?;
    let bytes_read = prepared.bytes;
    writer.expect_size(bytes_read);
    if let Some(version) = prepared.version {
        writer.set_version(version);
    }
    // Objects come first: positions are small here, and their keys have no room for large ones.
    let object_compression = requested.map_or(ObjectCompression::Keep, ObjectCompression::As);
    prepared.objects.check = options.check;
    let mut written =
        prepared.objects.write_objects(&mut writer, &prepared.files, object_compression, &prepared.pid_offsets)?;
    process_ids::write(&mut writer, &prepared.pids)?;
    let (notes, skipped, older_cycles) = (prepared.notes, prepared.skipped, prepared.older_cycles);
    let mut summary = Summary { bytes_read, notes, skipped, older_cycles, ..Summary::default() };
    summary.notes.extend(prepared.objects.notes.iter().map(ToString::to_string));
    summary.unmerged = written.problems.iter().map(ToString::to_string).collect();
    summary.notes.extend(summary.unmerged.iter().cloned());
    summary.directories = prepared.objects.paths();
    summary.damaged = prepared.objects.damaged;
    summary.damaged.append(&mut written.damaged);
    summary.compressions_differ = prepared.files.iter().any(|file| file.header().compress != setting);
    // From here on the plans have everything that is needed of the inputs.
    drop(prepared.files);
    let metadata = Compression::from_root_setting(setting).unwrap_or(Compression::NONE);
    for (mut place, plan) in prepared.plans {
        let kept = place.kept.take();
        let directory = written.directories.get(place.directory).copied().unwrap_or(writer.top());
        if let Some(cycles) = written.tree_cycles.get_mut(&(place.directory, place.name.clone()))
            && !cycles.is_empty()
        {
            writer.set_cycle(directory, &place.name, cycles.remove(0).saturating_sub(1));
        }
        let plan = match plan {
            PlannedTable::Tree(plan) => *plan,
            PlannedTable::Ntuple(mut plan) => {
                summary.unmerged.extend(plan.lost.iter().cloned());
                summary.notes.extend(std::mem::take(&mut plan.notes));
                summary.notes.extend(std::mem::take(&mut plan.lost));
                let table = write_ntuple(&mut writer, (&place, directory), *plan, prepared.share, metadata, progress)
                    .map_err(|e| e.object(place.path.clone()))?;
                summary.tables.push(table);
                let lost = write_kept(&mut writer, (&place, directory), kept, metadata)?;
                summary.add_lost(lost);
                continue;
            }
            PlannedTable::Converted(mut plan) => {
                summary.unmerged.extend(plan.lost.iter().cloned());
                summary.notes.extend(std::mem::take(&mut plan.notes));
                summary.notes.extend(std::mem::take(&mut plan.lost));
                let (table, lost) =
                    write_converted(&mut writer, (&place, directory), *plan, prepared.share, metadata, progress)
                        .map_err(|e| e.object(place.path.clone()))?;
                summary.tables.push(table);
                summary.add_lost(lost);
                let lost = write_kept(&mut writer, (&place, directory), kept, metadata)?;
                summary.add_lost(lost);
                continue;
            }
        };
        summary.notes.extend(plan.messages.notes.iter().chain(&plan.messages.lost).cloned());
        summary.unmerged.extend(plan.messages.lost.iter().cloned());
        let of_files = |of_inputs: &[u16], unknown: u16| -> Vec<u16> {
            plan.file_inputs.iter().map(|&n| of_inputs.get(n).copied().unwrap_or(unknown)).collect()
        };
        let mut pids = [of_files(&prepared.pid_offsets, 0), of_files(&prepared.pid_counts, u16::MAX)];
        // Files that only hold baskets follow the file of their tree, and have process identifiers of their own.
        for (i, input) in plan.file_inputs.iter().enumerate() {
            if plan.file_inputs.get(..i).is_some_and(|before| before.contains(input))
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
        summary.add_lost(notes);
        summary.tables.push(table);
    }
    refuse_losses(options, &summary.unmerged)?;
    let staged = writer.stage()?;
    summary.bytes_written = staged.len();
    Ok((summary, staged))
}

/// Writes the list beside an RNTuple, if something is kept. Returns notes on what is lost.
fn write_kept(
    writer: &mut FileWriter,
    (place, directory): (&PlannedTree, DirId),
    kept: Option<Box<Kept>>,
    compression: Compression,
) -> Result<Vec<String>> {
    let Some(kept) = kept else { return Ok(Vec::new()) };
    write_kept_list(writer, (place, directory), *kept, compression).map_err(|e| e.object(place.path.clone()))
}

/// Refuses an output that lacks something, if that is requested.
fn refuse_losses(options: &Options, lost: &[String]) -> Result<()> {
    if !options.strict || lost.is_empty() {
        return Ok(());
    }
    let strict = Hint::switch("strict");
    let what = format!("something would be lost, which {strict} refuses: {}", lost.join("; "));
    Err(Error::unsupported(what).hint(strict))
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
        bounds: &plan.clusters.bounds,
        packed: &plan.clusters.packed,
        seek_pdir: writer.seek_of(directory),
        copies_fit: plan.copies_fit,
        check,
        pids: &pids,
    };
    let written = run(&job, writer, share, progress)?;
    finish_table(writer, (place, directory), plan, written, compression)
}
