//! `basketry join`: the columns of other files beside those of some, entry by entry, by their keys.

use std::ffi::OsString;
use std::io::Write;
use std::time::Instant;

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches, ValueEnum, value_parser};
use dataset::layout::Container;
use flow::inputs::{Input, inputs, lists};
use flow::join::{How, JoinJob, JoinKey, Joined, JoinedTable, KeyRange, KeyedEntry, join};
use flow::keys::EntryOfKey;
use flow::survey::ahead::Expressions;
use rootfile::Result;

use super::event_output::EventOutputArgs;
use super::file_output::print_summary;
use crate::options::Asked;
use crate::output;
use crate::verb_command::{VerbCommand, Watch, fields};

/// Entries of each side that are printed; --json has more.
const SHOWN: usize = 5;

/// Join files by keys: to each entry the columns of the entry with the same key in other files.
///
/// Several entries may have one partner; an entry never gets two. Trees, RNTuples and Parquet files, in any order, files that are larger
/// than the memory. All entries are kept in their order, with other trees and objects of their files as in `merge`; columns of the other
/// files come beside, those of the key are not repeated. Entries without a partner get zeros, empty lists and empty texts, and are counted.
/// The output is what the first files are, a tree or an RNTuple.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry join 'run*.root' --with scores.parquet --on run,luminosityBlock,event -o scored.root
  basketry join a.root --with b1.root b2.root --with c.root --on event --suffix _b --suffix _c -o all.root
  basketry join run1.root --with scores.root --on run=Run,event=EventNumber -o scored.root
  basketry join a.root --with b.root --with c.root --on run,event=evt=EventNumber -o all.root
  basketry join 'run*.root' --with scores.root --on run,event --friend -o friend.root")]
pub struct Args {
    /// The files on the left, whose entries are kept: FILE or FILE:TREE, @list.txt, or a pattern in quotes such as 'run*.root'.
    #[arg(required = true, value_name = "FILE[:TREE]")]
    inputs: Vec<OsString>,
    #[command(flatten)]
    right: RightArgs,
    /// The key, which all files have: columns, or expressions, with commas between them; LEFT=RIGHT where the files on the right call one
    /// otherwise, as in run=Run,event, or LEFT=RIGHT=RIGHT with a name for each --with.
    #[arg(long, value_name = "KEY|LEFT=RIGHT", required = true)]
    on: Vec<String>,
    /// Which entries are written: all on the left (left), or those with a partner in all other files (inner).
    #[arg(long, value_name = "left|inner", default_value = "left")]
    how: Which,
    /// What is added to names of columns that are there already: once for all --with, or once for each.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    suffix: Vec<String>,
    /// Take the first of several entries with one key, in the order of the other files. Without this option they are an error.
    #[arg(long)]
    first: bool,
    /// Write the columns of the other files alone, entry by entry as the files on the left, for TTree::AddFriend.
    #[arg(long)]
    friend: bool,
    /// Join only keys from this one on: its values with colons between them, such as 1:24:30017. Fewer values mean all that begin with them.
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    from_key: Option<String>,
    /// Join only keys before this one. A plan of several jobs cuts keys so.
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    before_key: Option<String>,
    #[command(flatten)]
    output: EventOutputArgs,
}

/// Which entries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    Left,
    Inner,
}

/// The files on the right: those of each `--with` are one table.
#[derive(Clone, Debug, Default)]
pub struct RightArgs(Vec<Vec<OsString>>);

impl RightArgs {
    /// The words of each table. A text with line breaks, as no file name has, is a list of them.
    fn tables(&self) -> impl Iterator<Item = Vec<OsString>> {
        let lines = |word: &OsString| match word.to_str().filter(|text| text.contains('\n')) {
            Some(text) => text.lines().filter(|line| !line.is_empty()).map(OsString::from).collect(),
            None => vec![word.clone()],
        };
        self.0.iter().map(move |words| words.iter().flat_map(lines).collect())
    }

    fn inputs(&self) -> Result<Vec<Vec<Input>>> {
        self.tables().map(|words| inputs(&words)).collect()
    }
}

impl clap::Args for RightArgs {
    fn augment_args(command: Command) -> Command {
        command.arg(
            Arg::new("with")
                .long("with")
                .value_name("FILE[:TREE]")
                .help("The files on the right, whose columns come beside: one or several, which count as one table. Given again: another table")
                .required(true)
                .num_args(1..)
                .action(ArgAction::Append)
                .value_parser(value_parser!(OsString)),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RightArgs {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        let given = matches.get_occurrences::<OsString>("with");
        self.0.extend(given.into_iter().flatten().map(|words| words.cloned().collect()));
        Ok(())
    }
}

impl VerbCommand for Args {
    type Report = Joined;
    const DONE: &'static str = "written";

    fields!(output.verbosity, output.resources);

    fn asked(&self) -> Result<Asked> {
        let mut all = inputs(&self.inputs)?;
        all.extend(self.right.inputs()?.into_iter().flatten());
        self.output.asked(all, Expressions::default())
    }

    fn work(&self, watch: &Watch<'_>) -> Result<Joined> {
        let tables: Vec<Vec<OsString>> = self.right.tables().collect();
        let read = lists(&self.inputs).chain(tables.iter().flat_map(|words| lists(words)));
        self.output.check(read)?;
        let (inputs, right) = (inputs(&self.inputs)?, self.right.inputs()?);
        let key = JoinKey::of(self.on.iter().map(String::as_str))?;
        let job = JoinJob {
            inputs: &inputs,
            right: &right,
            key: &key,
            how: match self.how {
                Which::Left => How::Left,
                Which::Inner => How::Inner,
            },
            suffixes: &self.suffix,
            first: self.first,
            friend: self.friend,
            range: KeyRange { from: self.from_key.as_deref(), before: self.before_key.as_deref() },
            output: self.output.path(),
        };
        join(&job, &self.output.options()?, watch.progress)
    }

    fn take_notes(joined: &mut Joined, notes: Vec<String>) -> Vec<String> {
        joined.output.notes.extend(notes);
        Vec::new()
    }

    fn print(&self, joined: &Joined, _: Instant) -> Result<()> {
        if self.output.verbosity.quiet {
            return Ok(());
        }
        let mut out = output::stdout();
        joined.right.iter().try_for_each(|table| print_table(&mut out, joined, table))?;
        let (written, all) = (output::count(joined.written), output::plural(joined.entries, "entry", "entries"));
        writeln!(
            out,
            "{written} of {all} of {} written, joined by {}",
            output::line(&joined.tree),
            output::line(&joined.key.join(","))
        )?;
        if let Some(friend) = &joined.friend {
            let (friend, file) = (output::line(friend), self.output.path().display().to_string());
            let is_tree = joined.output.tables.iter().all(|table| table.container == Container::Ttree);
            match is_tree {
                true => {
                    writeln!(out, "beside the left tree: tree->AddFriend(\"{friend}\", \"{}\")", output::line(&file))?
                }
                false => {
                    writeln!(out, "{friend} has an entry for each of {}, in their order", output::line(&joined.tree))?
                }
            }
        }
        out.flush()?;
        drop(out);
        print_summary(&joined.output)
    }
}

/// What a table on the right has given, and which keys are on one side only.
fn print_table(out: &mut impl Write, joined: &Joined, table: &JoinedTable) -> Result<()> {
    let (tree, files) = (output::line(&table.tree), output::plural(table.files, "file", "files"));
    let (columns, matched) =
        (output::plural(table.columns.len() as u64, "column", "columns"), output::count(table.matched));
    let key =
        if table.key == joined.key { String::new() } else { format!(" by {}", output::line(&table.key.join(","))) };
    writeln!(out, "{tree} of {files}: {columns} for {matched} of {} entries{key}", output::count(joined.entries))?;
    let renamed: Vec<String> = table
        .renamed
        .iter()
        .map(|one| format!("{} is called {}", output::line(&one.column), output::line(&one.name)))
        .collect();
    for renamed in renamed.iter().take(SHOWN) {
        writeln!(out, "  {renamed}")?;
    }
    if let Some(more @ 1..) = renamed.len().checked_sub(SHOWN) {
        writeln!(out, "  and {} more", output::count(more as u64))?;
    }
    if table.missing > 0 {
        let entries = output::plural(table.missing, "entry", "entries");
        let what = match (joined.how, &joined.friend) {
            (How::Left, None) => "zeros and empty lists stand for it; --how inner leaves such entries out",
            (How::Left, Some(_)) => "zeros and empty lists stand for it",
            (How::Inner, _) => "left out",
        };
        writeln!(
            out,
            "note: {entries} on the left without a partner in {tree}: {what}{}",
            some(&table.missing_entries)
        )?;
    }
    if table.unused > 0 {
        let (entries, listed) = (output::plural(table.unused, "entry", "entries"), some(&table.unused_entries));
        writeln!(out, "note: {entries} of {tree} with a key that the left lacks: left out{listed}")?;
    }
    if table.repeated > 0 {
        let entries = output::plural(table.repeated, "entry", "entries");
        writeln!(out, "note: {entries} of {tree} with the key of an earlier one, which is taken: left out")?;
    }
    Ok(())
}

/// The first of some entries.
fn some(entries: &[KeyedEntry]) -> String {
    let one = |KeyedEntry { key, entry: EntryOfKey { file, entry } }: &KeyedEntry| {
        format!(
            "\n  {} (entry {} of {})",
            key.join(":"),
            output::count(*entry),
            output::line(&file.display().to_string())
        )
    };
    entries.iter().take(SHOWN).map(one).collect()
}
