//! `basketry index`: the keys of the entries of many files, sorted.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use flow::events::{IndexChange, IndexJob, Indexed, index};
use flow::inputs::{inputs, lists};
use rootfile::{Result, check_output};

use crate::options::{Following, Resources, Verbosity, key_of};
use crate::output::{self, Answer};
use crate::verb_command::{VerbCommand, Watch, fields};

/// Make an index of files: the key of each entry, such as run,luminosityBlock,event, with its file and number, sorted.
///
/// `pick` finds events in an index without opening any other file than those that have them. The index is a Parquet file, which other
/// programs read. Only the columns of the key are read, of trees, RNTuples and Parquet files; thousands of files at once. The keys of new
/// files are added with --extend; a file that has changed since, by its UUID, size or entries, is read anew. --remove takes files out.
///
/// Exit code 0: done; 1: files were left out (--skip-bad), and are listed; 2: bad usage or bad input.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry index 'run*.root' --key run,luminosityBlock,event -o events.parquet
  basketry index run77.root --extend -o events.parquet
  basketry index run77.root --remove -o events.parquet")]
pub struct Args {
    /// FILE or FILE:TREE, @list.txt, or a pattern in quotes such as 'run*.root'; paths on this machine or URLs.
    #[arg(required = true, value_name = "FILE[:TREE]")]
    inputs: Vec<OsString>,
    /// The key: columns, or expressions, with commas between them. Whole numbers, truth values and floats, which take 128 bits at most.
    #[arg(long, value_name = "KEY", required_unless_present_any = ["extend", "remove"])]
    key: Vec<String>,
    /// The index to write. It gets its name only when it is complete.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Add the files to the index that is there.
    #[arg(long, conflicts_with = "force")]
    extend: bool,
    /// Take the files out of the index that is there. They need not exist any more.
    #[arg(long, conflicts_with_all = ["extend", "force", "key", "skip_bad"])]
    remove: bool,
    /// Replace an existing file.
    #[arg(short, long)]
    force: bool,
    /// Leave out files that cannot be read, or lack the table or the columns of the key. They are listed, and the exit code is 1.
    #[arg(short = 'k', long)]
    skip_bad: bool,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    type Report = Indexed;
    const DONE: &'static str = "read";

    fields!(verbosity, resources);

    fn work(&self, watch: &Watch<'_>) -> Result<Indexed> {
        let change = match (self.extend, self.remove) {
            (true, _) => IndexChange::Extend,
            (_, true) => IndexChange::Remove,
            _ => IndexChange::Replace,
        };
        check_output(&self.output, self.force || change != IndexChange::Replace, lists(&self.inputs))?;
        let (inputs, key) = (inputs(&self.inputs)?, key_of(&self.key, "key")?);
        let job = IndexJob {
            inputs: &inputs,
            key: key.as_ref(),
            output: &self.output,
            change,
            overwrite: self.force,
            skip_bad: self.skip_bad,
            follow: self.following.follow(),
            budget: self.resources.budget(),
        };
        index(&job, watch.progress)
    }

    fn answer(done: &Indexed) -> Answer {
        if done.skipped.is_empty() { Answer::Yes } else { Answer::No }
    }

    fn print(&self, done: &Indexed, _: Instant) -> Result<()> {
        output::skipped(&mut output::stdout(), &done.skipped)?;
        if self.verbosity.quiet {
            return Ok(());
        }
        let mut out = output::stdout();
        for changed in &done.files_changed {
            writeln!(
                out,
                "note: {} has changed: its keys are read anew",
                output::line(&changed.display().to_string())
            )?;
        }
        for moved in &done.files_moved {
            writeln!(out, "note: {} has moved here: its keys stay", output::line(&moved.display().to_string()))?;
        }
        if done.files_known > 0 {
            let known = output::plural(done.files_known, "file is", "files are");
            writeln!(out, "note: {known} in the index already")?;
        }
        if done.files_removed > 0 {
            writeln!(out, "{} taken out", output::plural(done.files_removed, "file", "files"))?;
        }
        if done.duplicates > 0 {
            let double = output::plural(done.duplicates, "entry has", "entries have");
            writeln!(out, "note: {double} the key of another; `basketry check --keys` names them")?;
        }
        let (files, entries) = (output::plural(done.files, "file", "files"), output::count(done.entries));
        let key = output::line(&done.key.join(","));
        writeln!(out, "{entries} keys ({key}) of {files}, {}", output::bytes(done.bytes_written))?;
        Ok(out.flush()?)
    }
}
