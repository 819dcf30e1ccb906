//! The common part of `rewrite`, `merge` and `sort`: their options, the dry run, the rewrite itself, and the summary.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use dataset::glob::NameFilter;
use dataset::layout::{Container, Layout};
use flow::convert::Format;
use flow::keys::IndexNames;
use flow::survey::ahead::Expressions;
use flow::{
    Absent, Budget, BuildIndex, ContentOptions, CutFlow, Cycles, Depths, EntryOrder, Forecast, Form, InputOptions,
    Options, Outlook, PlanOptions, RecodeForecast, Summary, TableSummary,
};
use rootfile::{Error, Hint, Result};

use super::duplicates;
use crate::container_words::words;
use crate::layout_args::{DefineArgs, LayoutArgs, SelectArgs};
use crate::options::{Asked, Following, Matching, Resources, Target, Verbosity, Widening};
use crate::output::{self, Answer, Table};
use crate::verb_command::{VerbCommand, Watch};
use flow::inputs::{inputs, lists, one_tree};

/// The options of these verbs.
#[derive(clap::Args)]
pub struct FileOutputArgs {
    /// FILE, FILE:TREE, @list.txt, or a pattern in quotes such as 'run*.root'.
    #[arg(required = true)]
    inputs: Vec<OsString>,
    /// Leave out damaged or unreadable inputs; of a single input, leave out damaged objects and directories. All are
    /// listed, and the exit code is 1.
    #[arg(short = 'k', long)]
    skip_bad: bool,
    #[command(flatten)]
    target: Target,
    /// Print the plan with the expected size and memory, and write nothing. What would be compressed, regrouped or converted is
    /// tried on samples for at most about two seconds of one core, or as a whole where that takes no longer; the size is printed
    /// with how far it may be off.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    widening: Widening,
    /// Leave out branches whose baskets are in a missing file, with a note, instead of stopping.
    #[arg(long)]
    skip_absent: bool,
    /// Give trees that have these columns an index (TTreeIndex) of one or two expressions, as BuildIndex makes it, in place of their own:
    /// ROOT then finds entries by their values, and friends by them. Columns, or sums and products of columns.
    #[arg(long, value_name = "MAJOR[,MINOR]")]
    build_index: Option<IndexNames>,
    #[command(flatten)]
    following: Following,
    /// Keep older cycles too (`t;1` beside `t;2`). Cycles of several inputs are merged newest with newest, second
    /// newest with second newest; --first, --last, --entries and --cut select entries of the newest only. An earlier
    /// save of a tree then takes space of its own. Default: only the newest cycle of each tree and merged object
    /// is kept, and notes name the older cycles.
    #[arg(long)]
    all_cycles: bool,
    /// Decompress copied baskets and pages as well, to check that they can be read. Without this option only the header of a
    /// copied basket is checked against the tree. Of an RNTuple the ends of collections and the tags of variants are
    /// followed in any case, and checksums of pages are compared; other pages that are copied are not decompressed.
    #[arg(long)]
    check: bool,
    /// Write nothing if something of the inputs would be lost, and say what: objects that are not merged, and what the output
    /// has no place for when a tree becomes an RNTuple or an RNTuple a tree. Without this option notes name each loss.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    defines: DefineArgs,
    #[command(flatten)]
    matching: Matching,
}

impl FileOutputArgs {
    /// The input files, and `options` with these arguments. Refuses an output that must not be written.
    fn resolve(&self, options: Options) -> Result<(Vec<PathBuf>, Options)> {
        let output = &self.target.output;
        refuse_parquet(output)?;
        let inputs = inputs(&self.inputs)?;
        if !self.dry_run && !options.inputs.append {
            self.target.check(lists(&self.inputs).chain(self.layout.file()))?;
        }
        let options = Options {
            layout: self.layout.layout()?,
            content: ContentOptions {
                filter: self.select.filter()?,
                entries: self.select.entries()?,
                defines: self.defines.defines()?,
                tree: one_tree(&inputs)?,
                cycles: if self.all_cycles { Cycles::All } else { Cycles::Newest },
                ..options.content
            },
            plan: PlanOptions {
                widen: self.widening.widen,
                absent: if self.skip_absent { Absent::LeaveOut } else { Absent::Refuse },
                ..options.plan
            },
            inputs: InputOptions { skip_bad: self.skip_bad, follow: self.following.follow(), ..options.inputs },
            budget: self.resources.budget(),
            overwrite: self.target.force,
            check: self.check,
            strict: self.strict,
            build_index: self.build_index.clone().map(|names| BuildIndex { names, beside: Some(output.clone()) }),
            ..options
        };
        let mut paths: Vec<PathBuf> = inputs.into_iter().map(|input| input.path).collect();
        if options.inputs.append {
            refuse_changes(&options).map_err(|e| e.file(output))?;
            paths.insert(0, output.clone());
        }
        Ok((paths, options))
    }

    /// The file to write.
    pub fn output(&self) -> &Path {
        &self.target.output
    }

    /// What is named in the inputs, by these options and those of the verb.
    fn asked(&self, own: &ContentOptions) -> Result<Asked> {
        let wanted = self.layout.wanted(self.select.wanted()?)?;
        let unique = own.unique.iter().map(|unique| unique.key.clone());
        let order = own.order.iter().filter_map(|order| match order {
            EntryOrder::By(by) => Some(by.key.names().clone()),
            _ => None,
        });
        let index = self.build_index.iter().filter_map(IndexNames::key);
        let expressions = Expressions {
            choice: self.select.conditions(self.defines.defines()?),
            kept: self.select.filter()?,
            keys: unique.chain(order).chain(index).collect(),
        };
        Ok(self.matching.asked(inputs(&self.inputs)?, wanted, expressions))
    }

    /// Writes the output, or plans it.
    fn make(&self, options: Options, watch: &Watch<'_>) -> Result<Made> {
        let (paths, options) = self.resolve(options)?;
        let output = &self.target.output;
        if self.dry_run {
            return flow::forecast(&paths, output, &options, true).map(Made::Planned);
        }
        watch.will_read(&paths);
        flow::rewrite(&paths, output, &options, watch.progress).map(Made::Written)
    }
}

/// A verb that makes a file of files by a rewrite: its own options, and the common ones.
pub trait FileOutputVerb: clap::Args {
    /// The common options.
    fn file_output(&self) -> &FileOutputArgs;

    /// Its own options.
    fn own_options(&self) -> Result<Options>;
}

impl<T: FileOutputVerb> VerbCommand for T {
    type Report = Made;
    const DONE: &'static str = "written";

    fn verbosity(&self) -> &Verbosity {
        &self.file_output().verbosity
    }

    fn budget(&self) -> Option<Budget> {
        Some(self.file_output().resources.budget())
    }

    fn asked(&self) -> Result<Asked> {
        self.file_output().asked(&self.own_options()?.content)
    }

    fn take_notes(made: &mut Made, notes: Vec<String>) -> Vec<String> {
        made.take_notes(notes)
    }

    fn work(&self, watch: &Watch<'_>) -> Result<Made> {
        self.file_output().make(self.own_options()?, watch)
    }

    fn answer(made: &Made) -> Answer {
        made.answer()
    }

    fn print(&self, made: &Made, _: Instant) -> Result<()> {
        made.print(self.verbosity().quiet)
    }
}

/// What was made of the inputs.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub enum Made {
    Written(Summary),
    Planned(Outlook),
}

impl Made {
    /// Whether nothing was left out.
    fn answer(&self) -> Answer {
        match self {
            Self::Written(summary) if !summary.is_whole() => Answer::No,
            _ => Answer::Yes,
        }
    }

    /// Adds notes to those of the output.
    fn take_notes(&mut self, notes: Vec<String>) -> Vec<String> {
        match self {
            Self::Written(summary) => summary.notes.extend(notes),
            Self::Planned(_) => return notes,
        }
        Vec::new()
    }

    /// Prints it; of a file that is written quietly only what is missing from it.
    fn print(&self, quiet: bool) -> Result<()> {
        match self {
            Self::Planned(outlook) => print_outlook(outlook),
            Self::Written(summary) if quiet => {
                say_damaged(summary);
                Ok(())
            }
            Self::Written(summary) => print_summary(summary),
        }
    }
}

/// Prints on standard error what is missing from the output.
fn say_damaged(summary: &Summary) {
    for damaged in &summary.damaged {
        eprintln!("basketry: left out: {}", output::line(&damaged.to_string()));
    }
}

/// Refuses what would change the entries that an output has already, where others are added to it.
fn refuse_changes(options: &Options) -> Result<()> {
    let ContentOptions { filter, entries, defines, tree, cycles, .. } = &options.content;
    let selects = *filter != NameFilter::default() || !entries.is_all() || !defines.is_empty() || tree.is_some();
    if !selects && options.layout == Layout::default() && *cycles == Cycles::Newest {
        return Ok(());
    }
    let append = Hint::switch("append");
    let why = format!(
        "{append} adds whole files and keeps the layout of the output; `basketry rewrite` selects, and changes layouts"
    );
    Err(Error::request(why).hint(append))
}

/// Refuses the name of a Parquet file for an output that is a ROOT file.
pub(super) fn refuse_parquet(output: &Path) -> Result<()> {
    if Format::named(output) != Some(Format::Parquet) {
        return Ok(());
    }
    let message = "the output would be a ROOT file under this name; `basketry convert` writes Parquet";
    Err(Error::request(message).file(output))
}

/// Prints the summary.
pub(super) fn print_summary(summary: &Summary) -> Result<()> {
    let mut out = output::stdout();
    for container in [Container::Ttree, Container::Rntuple] {
        let mut of_container = summary.tables.iter().filter(|table| table.container == container).peekable();
        if of_container.peek().is_some() {
            writeln!(out, "{}", tables(container, of_container))?;
        }
    }
    print_cut_flows(&mut out, &summary.cut_flows)?;
    summary.duplicates.iter().try_for_each(|found| duplicates::print(&mut out, found, " and are left out"))?;
    output::skipped(&mut out, &summary.skipped)?;
    for damaged in &summary.damaged {
        writeln!(out, "left out: {}", output::line(&damaged.to_string()))?;
    }
    output::notes(&mut out, &summary.notes)?;
    if let Some(appended) = summary.appended {
        let (new, size) = (output::bytes(appended.bytes_new), output::bytes(summary.bytes_written));
        writeln!(out, "{} before, {new} written in place, {size} now", output::bytes(appended.bytes_before))?;
        return Ok(out.flush()?);
    }
    writeln!(
        out,
        "{} read, {} written ({})",
        output::bytes(summary.bytes_read),
        output::bytes(summary.bytes_written),
        output::percent(summary.bytes_written, summary.bytes_read)
    )?;
    out.flush()?;
    Ok(())
}

/// What the cuts left of each table.
fn print_cut_flows(out: &mut impl Write, flows: &[CutFlow]) -> Result<()> {
    flows.iter().try_for_each(|CutFlow { path, cuts }| output::cut_flow(out, path, cuts))
}

/// The trees, or the RNTuples, of an output.
fn tables<'a>(container: Container, summaries: impl Iterator<Item = &'a TableSummary>) -> Table {
    let words = words(container);
    let pieces = format!(">{}", words.pieces);
    let heads = [words.table, ">entries", ">clusters", &pieces, ">before compression", ">on disk", "=depth"];
    let mut table = output::table(&heads);
    for table_summary in summaries {
        let TableSummary {
            path,
            input_entries,
            entries,
            clusters,
            baskets,
            tot_bytes,
            zip_bytes,
            key_bytes,
            depths,
            ..
        } = table_summary;
        table.add_row([
            path.clone(),
            chosen(*entries, *input_entries),
            output::count(*clusters),
            output::count(*baskets),
            output::bytes(tot_bytes.saturating_sub(*key_bytes)),
            output::bytes(*zip_bytes),
            depth_text(*depths),
        ]);
    }
    table
}

/// A number of entries, and the number that they were selected from.
fn chosen(entries: u64, all: u64) -> String {
    match entries == all {
        true => output::count(entries),
        false => format!("{} of {}", output::count(entries), output::count(all)),
    }
}

/// Depths as text: `copy`, or shares where they are mixed.
fn depth_text(d: Depths) -> String {
    let all = d.copy + d.recompress + d.regroup + d.recode;
    let parts = [("copy", d.copy), ("recompress", d.recompress), ("regroup", d.regroup), ("recode", d.recode)];
    let some: Vec<_> = parts.iter().filter(|(_, n)| *n > 0).collect();
    match some.as_slice() {
        [] => "-".to_owned(),
        [(name, _)] => (*name).to_owned(),
        _ => some.iter().map(|(name, n)| format!("{name} {}", output::percent(*n, all))).collect::<Vec<_>>().join(", "),
    }
}

/// The columns that would be recoded.
fn recode_table(recodes: &[RecodeForecast]) -> Table {
    let mut table = output::table(&["recoded", ">split level", "=streaming", ">branches", ">now", ">expected"]);
    let change = |before: String, after: String| if before == after { before } else { format!("{before} -> {after}") };
    let streaming = |form: &Form| form.streaming.map_or_else(|| "-".to_owned(), |streaming| streaming.to_string());
    for RecodeForecast { name, before, after, bytes_before, bytes_after, .. } in recodes {
        table.add_row([
            name.clone(),
            change(before.split_level.to_string(), after.split_level.to_string()),
            change(streaming(before), streaming(after)),
            change(before.branches.to_string(), after.branches.to_string()),
            output::bytes(*bytes_before),
            output::bytes(*bytes_after),
        ]);
    }
    table
}

/// How sure the expected size is.
fn accuracy(forecast: &Outlook) -> String {
    match (forecast.sampled, forecast.uncertainty) {
        (0, _) => String::new(),
        (_, 0) => ", by a trial of all that changes".to_owned(),
        (sampled, off) => format!(" ± {}, by samples of {}", output::bytes(off), output::bytes(sampled)),
    }
}

/// Prints the plan.
fn print_outlook(forecast: &Outlook) -> Result<()> {
    let mut out = output::stdout();
    for Forecast { path, container, input_entries, entries, clusters, columns, recodes, notes, .. } in &forecast.tables
    {
        let words = words(*container);
        let of_all = chosen(*entries, *input_entries);
        let clusters =
            clusters.map_or_else(String::new, |n| format!(" in {}", output::plural(n, "cluster", "clusters")));
        let path = output::name(path);
        writeln!(out, "{} {path}: {of_all} entries{clusters}", words.table)?;
        let mut table = output::table(&[words.column, "=depth", "=compression", ">now", ">expected"]);
        for c in columns {
            table.add_row([
                c.name.clone(),
                depth_text(c.depths),
                c.compression.to_string(),
                output::bytes(c.bytes_before),
                output::bytes(c.bytes_after),
            ]);
        }
        if !columns.is_empty() {
            writeln!(out, "{table}")?;
        }
        if !recodes.is_empty() {
            writeln!(out, "{}", recode_table(recodes))?;
        }
        output::notes(&mut out, notes)?;
    }
    print_cut_flows(&mut out, &forecast.cut_flows)?;
    forecast.duplicates.iter().try_for_each(|found| duplicates::print(&mut out, found, " and would be left out"))?;
    writeln!(
        out,
        "expected: {}{} (now {}), at least {} of memory, {} with {}",
        output::bytes(forecast.bytes_written),
        accuracy(forecast),
        output::bytes(forecast.bytes_read),
        output::bytes(forecast.least_memory),
        output::bytes(forecast.memory),
        output::plural(forecast.threads as u64, "thread", "threads")
    )?;
    Ok(out.flush()?)
}
