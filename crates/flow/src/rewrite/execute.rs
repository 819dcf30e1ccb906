//! Executes a prepared rewrite: begins the output with directories and objects (`begin`), and writes the tables one by one.

use std::path::{Path, PathBuf};

use dataset::EntryFilter;
use dataset::glob::NameFilter;
use rootfile::{EditLock, Error, FileWriter, Hint, Result, RootFile, StagedFile, check_output, is_same_file, shrink};

use super::begin::begin_output;
use super::cut_flow::write_cut_flow;
use super::in_place::{content_stays, retire_content};
use super::ntuple::write_kept_list;
use super::options::Options;
use super::output_table::Writing;
use super::prepare::{StoredSource, prepare, prepare_known, prepare_table};
use super::prepared::{KnownTrees, PlannedTable, Prepared};
use super::summary::{Appended, Summary, TableSummary};
use crate::arrow::read::Dataset;
use crate::execute::progress::Progress;

/// Rewrites `inputs` into `output`. The output appears under its name only when it is complete.
///
/// # Errors
///
/// An input cannot be read or does not fit the others; the layout or the selection cannot be had; the budget is too small; the output is
/// an input, or is there and may not be replaced; something would be lost with [`Options::strict`]; or the callback ends the work. Then
/// there is no output.
pub fn rewrite(inputs: &[PathBuf], output: &Path, options: &Options, progress: Progress<'_>) -> Result<Summary> {
    // Two appends at a time would lose one.
    let _lock = if options.inputs.append { EditLock::take(output)? } else { None };
    let (mut summary, staged) = rewrite_staged(inputs, output, options, progress)?;
    staged.deliver().map_err(|e| e.file(output))?;
    if summary.appended.is_some() {
        summary.bytes_written = shrink(output).unwrap_or(summary.bytes_written);
    }
    Ok(summary)
}

/// Rewrites `inputs` into a file that will be called `output`, and leaves it under its temporary name. The caller can check
/// it there, and delivers it after that.
///
/// # Errors
///
/// As [`rewrite`].
pub fn rewrite_staged(
    inputs: &[PathBuf],
    output: &Path,
    options: &Options,
    progress: Progress<'_>,
) -> Result<(Summary, StagedFile)> {
    check_output(output, options.may_replace(), options.content.entries.files())?;
    let prepared = prepare(inputs, output, options)?;
    if options.inputs.append && !prepared.files.first().is_some_and(|first| is_same_file(first.name(), output)) {
        return Err(Error::corrupt("cannot be read, and nothing is added to it").file(output));
    }
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
    let (summary, staged) = write(prepare_table(source, options, &mut |_| ())?, output, options, progress)?;
    staged.deliver()?;
    Ok(summary)
}

/// Writes what is prepared.
pub(crate) fn write(
    mut prepared: Prepared,
    output: &Path,
    options: &Options,
    progress: Progress<'_>,
) -> Result<(Summary, StagedFile)> {
    let known: Vec<String> = prepared.plans.iter().flat_map(|(_, plan)| plan.lost.iter().cloned()).collect();
    refuse_losses(options, &known)?;
    let bytes_read = prepared.bytes;
    let target = prepared.files.first().filter(|_| prepared.committed.is_some()).cloned();
    let committed = prepared.committed.take();
    let mut begun = begin_output(&prepared, options, |setting, datime, title| {
        let writer = match (committed, &target) {
            (Some(committed), Some(target)) => FileWriter::update(output, target, committed, setting, datime)?,
            _ => FileWriter::create(output, options.may_replace(), setting, datime, title)?,
        };
        Ok(writer)
    })?;
    let (notes, skipped, older_cycles) = (prepared.notes, prepared.skipped, prepared.older_cycles);
    let (cut_flows, duplicates, unsorted) = (prepared.cut_flows, prepared.duplicates, prepared.unsorted);
    let mut summary =
        Summary { bytes_read, cut_flows, duplicates, unsorted, notes, skipped, older_cycles, ..Summary::default() };
    summary.notes.extend(prepared.objects.notes.iter().map(ToString::to_string));
    summary.add_lost(begun.objects.problems.iter().map(ToString::to_string).collect());
    summary.directories = prepared.objects.paths();
    summary.damaged = std::mem::take(&mut prepared.objects.damaged);
    summary.damaged.append(&mut begun.objects.damaged);
    summary.compressions_differ = prepared.files.iter().any(|file| file.header().compress != begun.setting);
    // From here on the plans have everything that is needed of the inputs.
    drop(prepared.files);
    let mut how = Writing {
        stays: None,
        compression: begun.compression,
        share: prepared.share,
        check: options.check,
        progress,
        pid_offsets: &prepared.pid_offsets,
        pid_counts: &prepared.pid_counts,
    };
    for (place, PlannedTable { table, mut notes, lost, kept }) in prepared.plans {
        summary.notes.append(&mut notes);
        summary.add_lost(lost);
        let named = |e: Error| e.object(place.path.clone());
        how.stays = content_stays(prepared.objects.is_doubled(place.directory, &place.name), target.as_deref());
        let mut at = begun.at(&place);
        let (table, lost) = table.write(&mut at, &how).map_err(named)?;
        summary.notes.extend(table.notes());
        summary.notes.extend(note_on_none(&table, &options.content.entries));
        summary.tables.push(table);
        summary.add_lost(lost);
        if let Some(flow) = summary.cut_flows.iter().find(|flow| flow.path == place.path) {
            write_cut_flow(&mut at, flow, &prepared.objects.directories, how.compression).map_err(named)?;
        }
        if let Some(kept) = kept {
            summary.add_lost(write_kept_list(&mut at, kept, how.compression).map_err(named)?);
        }
    }
    refuse_losses(options, &summary.unmerged)?;
    if let Some(target) = &target {
        retire_content(&mut begun.writer, target)?;
    }
    let staged = begun.writer.stage()?;
    summary.bytes_written = staged.len();
    summary.appended =
        target.as_ref().map(|target| Appended { bytes_before: target.source().size(), bytes_new: staged.written() });
    Ok((summary, staged))
}

/// What is said of a table without entries because they were chosen by their numbers in all tables: it may have had sums of weights.
fn note_on_none(table: &TableSummary, chosen: &EntryFilter) -> Option<String> {
    let of_all = chosen.entries.iter().any(|(pattern, _)| pattern.is_none());
    (table.entries == 0 && table.input_entries > 0 && of_all && chosen.cuts.is_empty()).then(|| {
        format!(
            "{} {} has none of its entries left: they are chosen by number in each; where one is named, as in Events=0:1000, the others \
             stay whole",
            table.container.noun(),
            table.path
        )
    })
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
