//! A join from its inputs to its output: keys, partners, aligned tables, and the rewrite of the left files with their columns beside.

use std::path::{Path, PathBuf};

use dataset::glob::{NameFilter, TreePattern};
use dataset::layout::Container;
use dataset::{Entries, EntrySet};
use rootfile::{Error, Hint, Result, ScratchFolder, check_output, public_path};

use super::aligned::{Aligning, align};
use super::bounds::{KeyRange, PackedRange};
use super::matching::{FilesOfTables, MatchRule, Matches, Partners, matches};
use super::names::{GivenColumns, OutputNames, columns_of, kept_columns_of};
use super::report::{How, Joined, RenamedColumn};
use super::table::SideTable;
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::execute::scratch_file::folder_beside;
use crate::keys::files::{KeyFiles, refuse_cycles};
use crate::keys::key_type::KeyType;
use crate::keys::{EntryOfKey, KeyNames, KeyedFile, Merged, Row, Sorter};
use crate::plan::format::Format;
use crate::plan::inputs::{Input, one_tree};
use crate::rewrite::execute::write;
use crate::rewrite::options::Options;
use crate::rewrite::prepare::{AlignedTable, JoinedTables, no_tree_of, prepare_joined};
use crate::rewrite::summary::Summary;

/// Of the budget, the part for pairs that are sorted while keys are read back.
const PAIRS: u64 = 2;
/// Of the budget, the part for what waits while tables are written.
const WAITING: u64 = 4;

/// What is joined.
#[derive(Clone, Debug)]
pub struct JoinJob<'a> {
    /// The files of the left table.
    pub inputs: &'a [Input],
    /// The files of each table on the right.
    pub right: &'a [Vec<Input>],
    /// The columns of the key, which all tables have.
    pub key: &'a KeyNames,
    /// Which entries of the left table are written.
    pub how: How,
    /// What is added to names that are taken: one text for all tables on the right, or one for each.
    pub suffixes: &'a [String],
    /// Whether the first of several entries of a table on the right with one key is taken. Otherwise they are an error.
    pub first: bool,
    /// Whether the columns of the tables on the right are written alone, as a friend of the left one.
    pub friend: bool,
    /// Only these keys, of all tables.
    pub range: KeyRange<'a>,
    /// The file to write.
    pub output: &'a Path,
}

/// Joins tables. `options` are those of the rewrite of the left files. `progress` gets the bytes that are read for keys, and those that are
/// written.
///
/// # Errors
///
/// A file cannot be read, lacks a column of the key, or is the output; a table on the right has a key twice; names collide; or the output
/// cannot be written.
pub fn join(job: &JoinJob<'_>, options: &Options, progress: Progress<'_>) -> Result<Joined> {
    let all: Vec<Input> = job.right.iter().flatten().chain(job.inputs).cloned().collect();
    check_output(job.output, options.overwrite, all.iter().map(|input| &input.path))?;
    refuse_cycles(&all)?;
    refuse_unclear(job)?;
    let Budget { memory, threads } = options.budget;
    let ReadKeys { of, rows, files: keyed } = read_keys(&all, job, options, progress)?;
    let mut ends = Vec::with_capacity(job.right.len());
    for inputs in job.right {
        ends.push(ends.last().copied().unwrap_or(0) + inputs.len());
    }
    let left_at = ends.last().copied().unwrap_or(0);
    let (right_files, left_files) = keyed.split_at(left_at.min(keyed.len()));

    let scratch = ScratchFolder::within(&folder_beside(Some(job.output)))?;
    let container = container_of(left_files, options)?;
    let place = |name: &str| scratch.path().join(format!("{name}.root"));
    // Rows wait meanwhile.
    let own = Options { budget: Budget { memory: memory / 2, threads }, ..options.clone() };
    let left = SideTable::open(left_files, container, &place("left"), &own, progress)?;
    let becomes = options.layout.resolve_tree(&left.tree).container;
    let has_beside = !job.friend || job.right.len() > 1;
    if has_beside && (left.container, becomes) == (Container::Rntuple, Some(Container::Ttree)) {
        return Err(no_tree_of(&left.tree));
    }
    let mut right = Vec::with_capacity(job.right.len());
    let mut from = 0;
    for (number, end) in ends.iter().enumerate() {
        let files = right_files.get(from..*end).unwrap_or_default();
        let scratch = place(&format!("right{number}"));
        right.push(SideTable::open(files, left.container, &scratch, &own, progress)?);
        from = *end;
    }
    let filter = &options.content.filter;
    let taken = if job.friend { Vec::new() } else { kept_columns_of(&left.dataset, &left.tree, filter) };
    let mut names = OutputNames::new(taken, job.key);
    let given = given_columns(job, &right, filter, &mut names)?;

    let files = FilesOfTables { ends, firsts: left.firsts.clone() };
    let of_row = |row: Row| {
        let file = keyed.get(row.file()).map_or_else(PathBuf::new, |file| public_path(&file.path).into_owned());
        EntryOfKey { file, entry: row.entry() }
    };
    let range = PackedRange::of(job.range, &of)?;
    let rule = MatchRule { of: &of, how: job.how, first: job.first, range, place: &of_row };
    let pairs = Budget { memory: memory / PAIRS, threads };
    let Matches { pairs, left: entries, right: told, chosen } =
        matches(rows, &files, &rule, pairs, job.output, progress)?;

    let clusters = clusters_of(&left, options)?;
    let mut partners = Partners::new(pairs);
    let mut aligned = Vec::with_capacity(right.len());
    let friend = friend_name(&left, &right);
    for (number, (table, columns)) in right.iter().zip(&given).enumerate() {
        let name = if job.friend && number == 0 { friend.clone() } else { format!("joined{number}") };
        let how = Aligning {
            table,
            columns,
            name: &name,
            file: &place(&format!("aligned{number}")),
            container: left.container,
            clusters: &clusters,
            beside: job.output,
            budget: Budget { memory: memory - memory / WAITING, threads },
        };
        let file = align(&how, &mut || partners.next(number), options, progress)?;
        let made = Dataset::open(&[Input { path: file.clone(), tree: Some(name.clone()) }])?;
        let columns = names.made(columns, &columns_of(&made), suffix(job, number))?;
        aligned.push(AlignedTable { file, tree: name, columns });
    }
    drop(partners);

    let written = chosen.as_ref().map_or(left.entries(), EntrySet::len);
    let output = write_output(job, &left, &aligned, chosen, options, progress)?;
    let mut done = Joined {
        schema: 1,
        key: job.key.texts().to_vec(),
        how: job.how,
        tree: left.tree.clone(),
        entries,
        written,
        right: Vec::new(),
        friend: job.friend.then_some(friend),
        output,
    };
    done.output.bytes_read = left.bytes + right.iter().map(|table| table.bytes).sum::<u64>();
    for ((mut told, table), (made, files)) in told.into_iter().zip(&right).zip(aligned.into_iter().zip(job.right)) {
        told.tree.clone_from(&table.tree);
        told.files = files.len() as u64;
        told.columns = made.columns.iter().map(|(_, name)| name.clone()).collect();
        let renamed = made.columns.into_iter().filter(|(column, name)| column != name);
        told.renamed = renamed.map(|(column, name)| RenamedColumn { column, name }).collect();
        done.right.push(told);
    }
    Ok(done)
}

/// The keys of all files, in their order.
struct ReadKeys {
    of: KeyType,
    rows: Merged,
    files: Vec<KeyedFile>,
}

fn read_keys(all: &[Input], job: &JoinJob<'_>, options: &Options, progress: Progress<'_>) -> Result<ReadKeys> {
    let files = KeyFiles::new(all, job.key, options.budget, options.inputs.follow)?;
    let of = files.key_type(&[], progress)?;
    let sorter = Sorter::new(options.budget, files.threads(), Some(job.output))?;
    let keyed = files.sort_into(&sorter, 0, &of, progress)?;
    Ok(ReadKeys { of, rows: sorter.finish()?, files: keyed })
}

/// Refuses what cannot be meant.
fn refuse_unclear(job: &JoinJob<'_>) -> Result<()> {
    if job.inputs.is_empty() || job.right.is_empty() || job.right.iter().any(Vec::is_empty) {
        return Err(Error::request("a join has files on both sides"));
    }
    if job.friend && job.how == How::Inner {
        let (friend, how) = (Hint::switch("friend"), Hint::text("how", "inner"));
        let message =
            format!("{friend} has an entry for each of the left table, and {how} leaves some out; give one of them");
        return Err(Error::request(message).hint(friend).hint(how));
    }
    if let (true, KeyRange { from: Some(_), .. } | KeyRange { before: Some(_), .. }) = (job.friend, job.range) {
        let hint = Hint::switch("friend");
        let message =
            format!("{hint} has an entry for each of the left table, also for those with keys outside of a range");
        return Err(Error::request(message).hint(hint));
    }
    let (suffixes, tables) = (job.suffixes.len(), job.right.len());
    if suffixes > 1 && suffixes != tables {
        let hint = Hint::named("suffix");
        let message =
            format!("{hint} is given {suffixes} times for {tables} tables; give one for all, or one for each");
        return Err(Error::request(message).hint(hint));
    }
    for inputs in job.right.iter().map(Vec::as_slice).chain([job.inputs]) {
        Format::are_parquet(inputs.iter().map(|input| input.path.as_path()))?;
    }
    Ok(())
}

/// The container of Parquet files on the left.
fn container_of(left: &[KeyedFile], options: &Options) -> Result<Container> {
    let path = left.first().map_or("", |file| file.tree.as_str());
    Ok(options.layout.resolve_tree(path).container.unwrap_or_default())
}

/// What is added to names of a table on the right that are taken.
fn suffix<'a>(job: &JoinJob<'a>, number: usize) -> Option<&'a str> {
    match job.suffixes {
        [one] => Some(one.as_str()),
        each => each.get(number).map(String::as_str),
    }
}

/// The columns that each table on the right gives.
fn given_columns(
    job: &JoinJob<'_>,
    right: &[SideTable],
    filter: &NameFilter,
    names: &mut OutputNames<'_>,
) -> Result<Vec<GivenColumns>> {
    let add = |(number, table): (usize, &SideTable)| {
        let kept = kept_columns_of(&table.dataset, &table.tree, filter);
        let given = names.add(&kept, suffix(job, number));
        let mut given =
            given.map_err(|e| table.files.iter().take(1).fold(e.object(&table.tree), |e, file| e.file(file)))?;
        given.left_out.extend(columns_of(&table.dataset).into_iter().filter(|column| !kept.contains(column)));
        Ok(given)
    };
    right.iter().enumerate().map(add).collect()
}

/// The bounds of the clusters of the left table.
fn clusters_of(left: &SideTable, options: &Options) -> Result<Vec<u64>> {
    let input = |path: &PathBuf| Input { path: path.clone(), tree: Some(left.tree.clone()) };
    let inputs: Vec<Input> = left.files.iter().map(input).collect();
    let dataset = Dataset::open_following(&inputs, options.inputs.follow)?;
    let mut bounds = dataset.clusters().to_vec();
    // No basket has entries of two files.
    bounds.extend(&left.file_firsts);
    bounds.sort_unstable();
    bounds.dedup();
    Ok(bounds)
}

/// The name of the first table on the right as a friend: not that of the left one, so that its columns can be told apart.
fn friend_name(left: &SideTable, right: &[SideTable]) -> String {
    let own = right.first().map_or("", SideTable::name);
    if own.is_empty() || own == left.name() { format!("{}_friend", left.name()) } else { own.to_owned() }
}

/// Rewrites the left files with the columns of aligned tables beside theirs; or the first of these with the others, as a friend.
fn write_output(
    job: &JoinJob<'_>,
    left: &SideTable,
    aligned: &[AlignedTable],
    chosen: Option<EntrySet>,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Summary> {
    let mut options = options.clone();
    let all = [0, left.entries()];
    let (files, path, tables, firsts) = match (job.friend, aligned.split_first()) {
        (true, Some((first, others))) => (vec![first.file.clone()], first.tree.as_str(), others, &all[..]),
        _ => (left.files.clone(), left.tree.as_str(), aligned, left.file_firsts.as_slice()),
    };
    if !job.friend {
        options.content.tree = one_tree(job.inputs)?;
        if let Some(chosen) = chosen {
            options.content.entries.entries = vec![(Some(TreePattern::exact(path)), Entries::Chosen(chosen))];
        }
    }
    let joined = JoinedTables { path, tables, firsts };
    let (summary, staged) =
        write(prepare_joined(&files, job.output, &options, joined)?, job.output, &options, progress)?;
    staged.deliver()?;
    Ok(summary)
}
