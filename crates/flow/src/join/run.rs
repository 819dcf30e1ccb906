//! A join from its inputs to its output: keys, partners, aligned tables, and the rewrite of the left files with their columns beside.

use std::path::{Path, PathBuf};

use dataset::glob::TreePattern;
use dataset::layout::Container;
use dataset::{Entries, EntrySet};
use rootfile::{Error, Hint, Result, ScratchFolder, check_output, public_path};

use super::aligned::{Aligning, align};
use super::bounds::{KeyRange, PackedRange};
use super::key::JoinKey;
use super::matching::{FilesOfTables, MatchRule, Matches, Partners, matches};
use super::names::{GivenColumns, OutputNames, columns_of};
use super::report::{How, Joined, JoinedTable, RenamedColumn};
use super::table::SideTable;
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::execute::scratch_file::folder_beside;
use crate::keys::files::{KeyFiles, TablesBeside, refuse_cycles};
use crate::keys::key_type::KeyType;
use crate::keys::{EntryOfKey, KeyedFile, Merged, Row, Sorter};
use crate::plan::format::Format;
use crate::plan::inputs::{Input, one_tree};
use crate::rewrite::execute::write;
use crate::rewrite::options::Options;
use crate::rewrite::prepare::{AlignedTable, JoinedTables, prepare_joined};
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
    /// The columns of the key.
    pub key: &'a JoinKey,
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
    let scratch = ScratchFolder::within(&folder_beside(Some(job.output)))?;
    let sides = Sides::open(job, &keyed, scratch.path(), options, progress);
    let sides = sides.map_err(|e| options.budget.in_whole(e, PAIRS))?;
    let mut names = sides.names(job);
    let given = sides.given_columns(job, &mut names)?;

    let of_row = |row: Row| {
        let file = keyed.get(row.file()).map_or_else(PathBuf::new, |file| public_path(&file.path).into_owned());
        EntryOfKey { file, entry: row.entry() }
    };
    let range = PackedRange::of(job.range, &of)?;
    let rule = MatchRule { of: &of, how: job.how, first: job.first, range, place: &of_row };
    let pairs = Budget { memory: memory / PAIRS, threads };
    let matched = matches(rows, &sides.files(), &rule, pairs, job.output, progress)?;
    let Matches { pairs, left: entries, right: told, chosen } = matched;

    let budget = Budget { memory: memory - memory / WAITING, threads };
    let (mut partners, mut aligned) = (Partners::new(pairs), Vec::with_capacity(given.len()));
    let mut notes = sides.left.notes.clone();
    for (number, (table, columns)) in sides.right.iter().zip(&given).enumerate() {
        let name = if job.friend && number == 0 { sides.friend_name() } else { format!("joined{number}") };
        let file = &scratch.path().join(format!("aligned{number}.root"));
        let (container, clusters, beside) = (sides.container(job, options), sides.left.clusters.as_slice(), job.output);
        let how = Aligning { table, columns, name: &name, file, container, clusters, beside, budget };
        let aligning = align(&how, &mut || partners.next(number), options, progress);
        notes.extend(aligning.map_err(|e| table.named(options.budget.in_whole(e, PAIRS)))?);
        let made = Dataset::open(&[Input { path: file.clone(), tree: Some(name.clone()) }])?;
        let columns = names.made(columns, &columns_of(&made), suffix(job, number))?;
        aligned.push(AlignedTable { file: file.clone(), tree: name, columns });
    }
    drop(partners);

    let written = chosen.as_ref().map_or(sides.left.entries(), EntrySet::len);
    let output = write_output(job, &sides.left, &aligned, chosen, options, progress)?;
    notes.extend(output.notes.iter().cloned());
    let bytes_read = sides.left.bytes + sides.right.iter().map(|table| table.bytes).sum::<u64>();
    let each = told.into_iter().zip(&sides.right).zip(&aligned).zip(job.right);
    let right = each.enumerate().map(|(number, (((told, table), made), inputs))| JoinedTable {
        tree: table.tree.clone(),
        key: job.key.right(number).texts().to_vec(),
        files: inputs.len() as u64,
        columns: made.columns.iter().map(|(_, name)| name.clone()).collect(),
        renamed: renamed(made),
        ..told
    });
    Ok(Joined {
        schema: 1,
        key: job.key.left().texts().to_vec(),
        how: job.how,
        tree: sides.left.tree.clone(),
        entries,
        written,
        right: right.collect(),
        friend: job.friend.then(|| sides.friend_name()),
        output: Summary { bytes_read, notes, ..output },
    })
}

/// The columns of a table that have other names in it.
fn renamed(table: &AlignedTable) -> Vec<RenamedColumn> {
    let others = table.columns.iter().filter(|(column, name)| column != name);
    others.map(|(column, name)| RenamedColumn { column: column.clone(), name: name.clone() }).collect()
}

/// The keys of all files, in their order.
struct ReadKeys {
    of: KeyType,
    rows: Merged,
    files: Vec<KeyedFile>,
}

fn read_keys(all: &[Input], job: &JoinJob<'_>, options: &Options, progress: Progress<'_>) -> Result<ReadKeys> {
    let ends = job.right.iter().scan(0, |end, files| {
        *end += files.len();
        Some(*end)
    });
    let keys = (0..job.right.len()).map(|table| job.key.right(table)).collect();
    let beside = TablesBeside { ends: ends.collect(), keys };
    let files = KeyFiles::new(all, job.key.left(), options.budget, options.inputs.follow)?.with_tables(beside);
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
    job.key.suits(job.right.len())?;
    let (suffixes, tables) = (job.suffixes.len(), job.right.len());
    if suffixes > 1 && suffixes != tables {
        let hint = Hint::named("suffix");
        let message =
            format!("{hint} is given {suffixes} times for {tables} tables; give one for all, or one for each");
        return Err(Error::request(message).hint(hint));
    }
    one_tree(job.inputs)?;
    for inputs in job.right.iter().map(Vec::as_slice).chain([job.inputs]) {
        Format::are_parquet(inputs.iter().map(|input| input.path.as_path()))?;
    }
    Ok(())
}

/// What is added to names of a table on the right that are taken.
fn suffix<'a>(job: &JoinJob<'a>, number: usize) -> Option<&'a str> {
    match job.suffixes {
        [one] => Some(one.as_str()),
        each => each.get(number).map(String::as_str),
    }
}

/// The tables of a join.
struct Sides {
    left: SideTable,
    right: Vec<SideTable>,
}

impl Sides {
    /// Opens the tables of some files: those of each table on the right, then those on the left.
    fn open(
        job: &JoinJob<'_>,
        keyed: &[KeyedFile],
        scratch: &Path,
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<Self> {
        // The rows of keys wait meanwhile.
        let budget = Budget { memory: options.budget.memory / PAIRS, ..options.budget };
        let own = Options { budget, ..options.clone() };
        let (of_right, of_left) = keyed.split_at(keyed.len().saturating_sub(job.inputs.len()));
        let path = of_left.first().map_or("", |file| file.tree.as_str());
        let container = options.layout.resolve_tree(path).container.unwrap_or_default();
        let place = &scratch.join("left.root");
        let mut left = SideTable::open(of_left, container, place, &own, progress)?;
        // Columns come beside those of an RNTuple that stays one.
        let becomes = options.layout.resolve_tree(&left.tree).container;
        if !job.friend && (left.container, becomes) == (Container::Rntuple, Some(Container::Ttree)) {
            left = SideTable::rewritten(of_left, one_tree(job.inputs)?, None, place, &own, progress)?;
        }
        let (mut right, mut rest) = (Vec::with_capacity(job.right.len()), of_right);
        for (number, inputs) in job.right.iter().enumerate() {
            let (files, others) = rest.split_at(inputs.len().min(rest.len()));
            let place = scratch.join(format!("right{number}.root"));
            right.push(SideTable::open(files, left.container, &place, &own, progress)?);
            rest = others;
        }
        Ok(Self { left, right })
    }

    /// The places of entries among the files whose keys were read.
    fn files(&self) -> FilesOfTables {
        let mut ends = Vec::with_capacity(self.right.len());
        for table in &self.right {
            ends.push(ends.last().copied().unwrap_or(0) + table.firsts.len().saturating_sub(1));
        }
        FilesOfTables { ends, firsts: self.left.firsts.clone() }
    }

    /// The names that are taken by the left table.
    fn names<'a>(&self, job: &JoinJob<'a>) -> OutputNames<'a> {
        let taken = if job.friend { Vec::new() } else { self.left.kept.clone() };
        OutputNames::new(taken, &self.left.columns, job.key)
    }

    /// The columns that each table on the right gives.
    fn given_columns(&self, job: &JoinJob<'_>, names: &mut OutputNames<'_>) -> Result<Vec<GivenColumns>> {
        let add = |(number, table): (usize, &SideTable)| {
            let SideTable { columns, kept, .. } = table;
            let mut given = names.add(number, kept, suffix(job, number)).map_err(|e| table.named(e))?;
            given.left_out.extend(columns.iter().filter(|column| !kept.contains(column)).cloned());
            Ok(given)
        };
        self.right.iter().enumerate().map(add).collect()
    }

    /// The container of tables in the order of the left one: that of the output, where it has nothing else.
    fn container(&self, job: &JoinJob<'_>, options: &Options) -> Container {
        let becomes = || options.layout.resolve_tree(&self.friend_name()).container;
        job.friend.then(becomes).flatten().unwrap_or(self.left.container)
    }

    /// The name of the first table on the right as a friend: not that of the left one, so that its columns can be told apart.
    fn friend_name(&self) -> String {
        let own = self.right.first().map_or("", SideTable::name);
        match own.is_empty() || own == self.left.name() {
            true => format!("{}_friend", self.left.name()),
            false => own.to_owned(),
        }
    }
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
