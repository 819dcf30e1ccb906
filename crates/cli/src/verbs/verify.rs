//! `basketry verify`: compares the contents of two files, whatever their layouts.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use flow::{ColumnError, Tolerances, TreeVerdict, Verdict, VerifyOptions};
use rootfile::{Error, Result};

use crate::layout_args::{DefineArgs, SelectArgs};
use crate::options::{Asked, Following, Matching, Resources, Verbosity, schema, sort_key_of};
use crate::output::{self, Answer};
use crate::verb_command::{VerbCommand, Watch, fields};
use dataset::glob::ColumnPattern;
use flow::inputs::{Input, inputs, one_tree};
use flow::survey::ahead::Expressions;

/// Differences that are printed; --json has them all.
const SHOWN: usize = 20;

/// Check that two files have equal content, whatever their layout.
///
/// Compares the schema and the entry bytes of all trees, and all other objects. Where trees differ, the first entry is
/// named for each branch. Columns with another split level or streaming are compared by value. With more than two
/// inputs, all but the last count as one file, in their order: this proves a merge. --first, --last, --entries,
/// --cut, --keep and --drop select from the first side what a rewrite with these options would keep, and --define says which columns it
/// would add: the second side must have them, with the values that the expression has on the first side.
///
/// Parquet files are compared by the values of their columns, with each other, or with a tree or RNTuple in the form that `rewrite`
/// gives them there.
///
/// Older cycles of trees are compared where both sides have the same number. Otherwise, an older cycle that is an earlier
/// save of the newest one (with only branches and entries of it) is a note; another tree of the same name is a
/// difference, unless --common is given. Older cycles of other objects are notes.
///
/// Exit code 0: equal; 1: different; 2: something cannot be read.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry verify events.root small.root
  basketry verify run1.root run2.root all.root
  basketry verify events.root rounded.root --tolerance 0.1%
  basketry verify events.root sorted.root --by run,luminosityBlock,event")]
pub struct Args {
    /// FILE or FILE:TREE, twice or more, or @list.txt. If a tree is named, only this tree is compared.
    #[arg(required = true, num_args = 1.., value_name = "FILE")]
    inputs: Vec<OsString>,
    /// Compare only this tree, by its path.
    #[arg(long, value_name = "TREE")]
    tree: Option<String>,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    defines: DefineArgs,
    /// Compare each entry with that of the same key, whatever their order: columns, or expressions, with commas between them. Of entries
    /// with equal keys the first is compared with the first, the second with the second. Keys that one side lacks are differences.
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    by: Vec<String>,
    /// Compare only trees, branches and objects that both sides have.
    #[arg(long)]
    common: bool,
    /// Expect defaults for branches that an input lacks (`merge --fill`).
    #[arg(long, conflicts_with = "common")]
    fill: bool,
    /// Expect numbers of other types in the smallest type that holds all (`merge --widen`).
    #[arg(long)]
    widen: bool,
    /// Let floating-point numbers differ by at most this: a number, or a share of the larger one such as 0.1%. With COLUMN= it
    /// is for columns that match; the last one that matches counts. Proves rounded, truncated, quantized and narrowed columns; the
    /// largest error of each column is reported.
    #[arg(long, value_name = "[COLUMN=]LIMIT")]
    tolerance: Vec<String>,
    #[command(flatten)]
    matching: Matching,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    type Report = Verdict;
    const DONE: &'static str = "compared";

    fields!(verbosity, resources);

    fn asked(&self) -> Result<Asked> {
        let named = |input: Input| Input { tree: input.tree.or_else(|| self.tree.clone()), ..input };
        let mut sides: Vec<Input> = inputs(&self.inputs)?.into_iter().map(named).collect();
        // What is selected is of the first side.
        sides.pop();
        // Columns that are defined here are no columns of the files.
        let defines = self.defines.defines()?;
        let mut stored = self.tolerance.clone();
        for (pattern, text) in self.tolerance.iter().filter_map(|text| Some((text.rsplit_once('=')?.0, text))) {
            let pattern = ColumnPattern::new(pattern)?;
            if defines.iter().any(|define| pattern.matches("", &define.name)) {
                stored.retain(|other| other != text);
            }
        }
        let wanted = self.select.wanted()?.columns_before_sign("tolerance", &stored)?;
        let expressions = Expressions {
            choice: self.select.conditions(defines),
            kept: self.select.filter()?,
            keys: sort_key_of(&self.by, "by")?.iter().map(|key| key.names().clone()).collect(),
        };
        Ok(self.matching.asked(sides, wanted, expressions))
    }

    fn work(&self, watch: &Watch<'_>) -> Result<Verdict> {
        let (paths, last, options) = self.sides()?;
        watch.will_read(paths.iter().chain([&last]));
        flow::verify(&paths, &last, &options, watch.progress)
    }

    fn answer(verdict: &Verdict) -> Answer {
        if verdict.equal { Answer::Yes } else { Answer::No }
    }

    fn print(&self, verdict: &Verdict, start: Instant) -> Result<()> {
        print(verdict, start, self.verbosity.quiet)
    }
}

impl Args {
    /// The files of the first side, the file of the second, and how they are compared.
    fn sides(&self) -> Result<(Vec<PathBuf>, PathBuf, VerifyOptions)> {
        let mut sides = inputs(&self.inputs)?;
        let Some(last) = sides.pop().filter(|_| !sides.is_empty()) else {
            return Err(Error::request("verify compares two or more files; only one is given"));
        };
        let named = one_tree(&sides)?;
        let mut tolerances = Tolerances::default();
        self.tolerance.iter().try_for_each(|text| tolerances.add(text))?;
        let options = VerifyOptions {
            tolerances,
            tree: named.or_else(|| self.tree.clone()),
            second_tree: last.tree,
            filter: self.select.filter()?,
            entries: self.select.entries()?,
            by: sort_key_of(&self.by, "by")?,
            defines: self.defines.defines()?,
            common: self.common,
            follow: self.following.follow(),
            schema: schema(self.common, self.fill),
            widen: self.widen,
            budget: self.resources.budget(),
        };
        let paths: Vec<_> = sides.into_iter().map(|side| side.path).collect();
        Ok((paths, last.path, options))
    }
}

fn print(verdict: &Verdict, start: Instant, quiet: bool) -> Result<()> {
    let mut out = output::stdout();
    for difference in verdict.differences.iter().take(SHOWN) {
        writeln!(out, "{}", output::line(&difference.to_string()))?;
    }
    if let Some(more @ 1..) = verdict.differences.len().checked_sub(SHOWN) {
        writeln!(out, "and {} more; --json lists all", output::count(more as u64))?;
    }
    if !quiet {
        let mut table = output::table(&["tree", ">entries", ">branches", ">columns", ">by value", ">compared", ""]);
        for TreeVerdict { path, entries, branches, columns, by_value, bytes, equal, .. } in &verdict.trees {
            table.add_row([
                path.clone(),
                output::count(*entries),
                output::count(*branches),
                output::count(*columns),
                output::count(*by_value),
                output::bytes(*bytes),
                (if *equal { "equal" } else { "different" }).to_owned(),
            ]);
        }
        if !verdict.trees.is_empty() {
            writeln!(out, "{table}")?;
        }
        for table in &verdict.trees {
            for ColumnError { column, largest, relative } in table.errors.iter().take(SHOWN) {
                writeln!(
                    out,
                    "{}: numbers of {column} within the tolerance differ by at most {largest:e}, or {relative:.1e} of the larger",
                    table.path
                )?;
            }
        }
        output::notes(&mut out, &verdict.notes)?;
        writeln!(
            out,
            "{}: {}, {}, {} compared in {:.2} s",
            if verdict.equal { "equal" } else { "different" },
            output::plural(verdict.trees.len() as u64, "tree", "trees"),
            output::plural(verdict.objects, "other object", "other objects"),
            output::bytes(verdict.trees.iter().map(|t| t.bytes).sum()),
            start.elapsed().as_secs_f64()
        )?;
    }
    Ok(out.flush()?)
}
