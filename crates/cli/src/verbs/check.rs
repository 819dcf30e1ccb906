//! `basketry check`: whether files are whole and readable.

use std::io::Write;
use std::time::Instant;

use flow::convert::Format;
use flow::inputs::{Input, inputs};
use flow::survey::check::{CheckOptions, Checked, CheckedFile, Condition, check, check_keys};
use rootfile::{Error, Hint, Result};

use super::duplicates;
use crate::options::{Resources, Verbosity, key_of};
use crate::output::{self, Answer};
use crate::verb_command::{VerbCommand, Watch, fields};

/// Problems of a file that are printed; --json has them all.
const SHOWN: usize = 10;

/// Check that files are whole and readable, thousands of them at once.
///
/// Reads of each file the header, directories and lists of keys, streamer infos, all tree records, and headers, footers and
/// page lists of RNTuples with their checksums. All baskets and pages must lie in the file, headers of baskets must agree
/// with their tree, and each column of an RNTuple must have as many elements as its field has values. With --deep every
/// basket, page and object is decompressed too, checksums of pages are compared, and the ends of collections and the tags of
/// variants are followed: an RNTuple is whole if and only if all of its fields read. Files that are missing, or are not
/// ROOT files, are listed like damaged ones.
///
/// With --keys the key of each entry is read as well, of all whole files together, and entries are listed that have the key of an
/// earlier one, in the order of the files: `merge --unique` leaves them out.
///
/// Exit code 0: all files are whole, and no key is there twice; 1: something is broken or double, and is listed; 2: bad usage, or too
/// small a budget.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry check 'run*.root'
  basketry check --deep @list.txt
  basketry check 'run*.root' --keys run,luminosityBlock,event")]
pub struct Args {
    /// FILE, @list.txt, or a pattern in quotes such as 'run*.root'. With --keys FILE:TREE names the table, if several have the key.
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<String>,
    /// Decompress every basket, page and object.
    #[arg(long)]
    deep: bool,
    /// Look for entries with the same key: columns, or expressions, with commas between them. The whole numbers, truth values and
    /// floats of a key take 128 bits at most.
    #[arg(long, value_name = "KEY")]
    keys: Vec<String>,
    /// With --keys, leave out whole files that lack the table or the columns of the key. They are listed, and the exit code is 1.
    #[arg(short = 'k', long, requires = "keys")]
    skip_bad: bool,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl Args {
    fn files(&self) -> Result<Vec<Input>> {
        let inputs = inputs(&self.inputs)?;
        if let (true, Some(named)) = (self.keys.is_empty(), inputs.iter().find(|input| input.tree.is_some())) {
            let tree = named.tree.as_deref().unwrap_or_default();
            let why = format!("there is no such file; check looks at whole files, not at a tree such as {tree}");
            return Err(Error::request(why).file(format!("{}:{tree}", named.path.display())));
        }
        let parquet = inputs.iter().filter(|_| !self.keys.is_empty()).find(|input| Format::is_parquet(&input.path));
        if let Some(input) = parquet {
            let (unique, dry) = (Hint::text("unique", self.keys.join(",")), Hint::switch("dry-run"));
            let what = format!(
                "is a Parquet file, and check is for ROOT files: `basketry merge` with {unique} and {dry} names the entries"
            );
            return Err(Error::request(what).file(&input.path).hint(unique).hint(dry));
        }
        Ok(inputs)
    }
}

impl VerbCommand for Args {
    type Report = Checked;
    const DONE: &'static str = "checked";

    fields!(verbosity, resources);

    fn work(&self, watch: &Watch<'_>) -> Result<Checked> {
        let inputs = self.files()?;
        let key = key_of(&self.keys, "keys")?;
        let paths: Vec<_> = inputs.iter().map(|input| input.path.clone()).collect();
        watch.will_read(paths.iter().filter(|_| self.deep));
        let options = CheckOptions { deep: self.deep, skip_bad: self.skip_bad, budget: self.resources.budget() };
        let mut checked = check(&paths, &options, watch.progress)?;
        if let Some(key) = key {
            check_keys(&mut checked, &inputs, &key, &options, watch.progress)?;
        }
        Ok(checked)
    }

    fn tells_of_unclosed(&self, _: &Checked) -> bool {
        true
    }

    fn answer(report: &Checked) -> Answer {
        let is_double = report.keys.as_ref().is_some_and(|keys| keys.duplicates > 0);
        if report.whole && report.skipped.is_empty() && !is_double { Answer::Yes } else { Answer::No }
    }

    fn print(&self, report: &Checked, _: Instant) -> Result<()> {
        print(report, self.verbosity.quiet)
    }
}

fn print(report: &Checked, quiet: bool) -> Result<()> {
    let mut out = output::stdout();
    for file in &report.files {
        print_file(&mut out, file, quiet)?;
    }
    output::skipped(&mut out, &report.skipped)?;
    if let Some(keys) = &report.keys {
        duplicates::print(&mut out, keys, "")?;
    }
    if !quiet {
        let Checked { ok, damaged, unreadable, bytes, .. } = report;
        let count = |n: &u64| output::count(*n);
        writeln!(
            out,
            "{} of {}: {} whole, {} damaged, {} unreadable{}",
            output::plural(report.files.len() as u64, "file", "files"),
            output::bytes(*bytes),
            count(ok),
            count(damaged),
            count(unreadable),
            if report.deep { "" } else { " (metadata only; --deep decompresses everything)" }
        )?;
    }
    Ok(out.flush()?)
}

fn print_file(out: &mut impl Write, file: &CheckedFile, quiet: bool) -> Result<()> {
    let path = output::line(&file.path.display().to_string());
    for problem in file.problems.iter().take(SHOWN) {
        writeln!(out, "{path}: {}", output::line(&problem.to_string()))?;
    }
    if let Some(more @ 1..) = file.problem_count.checked_sub(SHOWN as u64) {
        writeln!(out, "{path}: and {} more problems; --json lists them", output::count(more))?;
    }
    if !quiet && file.condition != Condition::Unreadable {
        for note in &file.notes {
            writeln!(out, "note: {path}: {}", output::line(note))?;
        }
    }
    Ok(())
}
