//! `basketry readspeed`: measures how fast a file can be read, and names the bottleneck.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use dataset::layout::ByteSize;
use flow::inputs::{Input, inputs};
use flow::{Budget, Choice, Entries};
use lab::readspeed::self_check::self_check;
use lab::readspeed::{Columns, LayoutSpeed, Options, Report, Scaled, ThreadCounts, Throttle, look, measure};
use lab::report::reading::page;
use rootfile::{Error, Hint, Result, check_output};

use crate::layout_args::{CutArgs, NamedArgs};
use crate::options::{Following, Matching, Verbosity};
use crate::output::{self, Answer};
use crate::verb_command::{Commands, VerbCommand, Watch, ended};

/// Columns that the table shows; --json has them all.
const SHOWN: usize = 20;

/// Measure how fast files can be read into columns on this machine, and find the bottleneck.
///
/// The selected branches are read into Arrow arrays and dropped, also those of split collections. Fetching,
/// decompressing and decoding are timed separately for each column, so that the bottleneck is measured, not guessed:
/// the application (with --application), raw I/O, decompression, decoding, or too few clusters for the threads. After
/// the first reading the files are in the page cache; --cold drops them before each reading.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry readspeed events.root:Events
  basketry readspeed events.root --branches 'Muon_*' --threads 1,2,4
  basketry readspeed events.root --throttle 20MB/s,30ms")]
pub struct Args {
    /// FILE or FILE:TREE, @list.txt, or patterns.
    #[arg(value_name = "FILE")]
    inputs: Vec<OsString>,
    /// More files, in the form of rootreadspeed.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    files: Vec<OsString>,
    /// The tree in all files, or the tree in each.
    #[arg(long, value_name = "TREE", num_args = 1..)]
    trees: Vec<String>,
    /// Read all branches, which is the default.
    #[arg(long, conflicts_with_all = ["branches", "branches_regex"])]
    all_branches: bool,
    /// Read these branches, with the branches below them: names, globs or /regex/. Branches of a friend are friend.branch.
    #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with = "branches_regex")]
    branches: Vec<String>,
    /// Read branches whose whole name matches a regular expression.
    #[arg(long, value_name = "REGEX", num_args = 1..)]
    branches_regex: Vec<String>,
    /// Read only these entries: a random share (1%), ranges as in Python (100:200, or :10,-10:), or entries listed in
    /// a file.
    #[arg(long, value_name = "1%|A:B,...|FILE", allow_hyphen_values = true)]
    entries: Option<Entries>,
    #[command(flatten)]
    cuts: CutArgs,
    #[command(flatten)]
    named: NamedArgs,
    /// Number of readings; the report shows the median.
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: usize,
    /// Drop the files from the page cache before each reading, and report the share that was really dropped.
    #[arg(long)]
    cold: bool,
    /// Simulate slow storage: at most this many bytes a second, over all files, and a wait for the first byte of each request.
    #[arg(long, value_name = "20MB/s,30ms")]
    throttle: Option<Throttle>,
    /// Seconds that your own job takes for the same data.
    #[arg(long, value_name = "SECONDS")]
    application: Option<f64>,
    /// Forecast other layouts, from samples of at most five files: each codec, and the choice of tune.
    #[arg(long)]
    layouts: bool,
    /// Check this verb itself on generated temporary files; exit code 1 on failure.
    #[arg(long, conflicts_with_all = ["inputs", "files", "json"])]
    test: bool,
    #[command(flatten)]
    matching: Matching,
    #[command(flatten)]
    following: Following,
    /// Seed of a random share.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Accepted for compatibility with rootreadspeed; it has no effect.
    #[arg(long, value_name = "N", hide = true)]
    tasks_per_worker: Option<usize>,
    /// Threads to use, at most the number of processors; 0 means all. Default: 1, as in rootreadspeed. Several numbers (1,2,4 or
    /// 1..8) are compared: the speed-up of reading beside that of a loop that only computes, which shows how many cores the
    /// threads really have. All other figures are those of the largest number.
    #[arg(short = 'j', long, value_name = "N|1..N", default_value_t = ThreadCounts::from(1))]
    threads: ThreadCounts,
    /// With several numbers of threads: also write a page with their curves, in one HTML file that needs no network.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Replace an existing page.
    #[arg(short, long, requires = "page")]
    force: bool,
    /// Maximum memory of the work, such as 512MB.
    #[arg(long, value_name = "SIZE", default_value_t = ByteSize(flow::DEFAULT_MEMORY))]
    memory: ByteSize,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    type Report = Report;
    const DONE: &'static str = "read";

    fn verbosity(&self) -> &Verbosity {
        &self.verbosity
    }

    fn budget(&self) -> Option<Budget> {
        Some(Budget::new(self.memory.bytes(), self.threads.most()))
    }

    fn look_ahead(&self) -> Result<()> {
        if self.matching.allow_no_match { Ok(()) } else { look(&self.options()?) }
    }

    fn work(&self, watch: &Watch<'_>) -> Result<Report> {
        let options = self.options()?;
        if let Some(page) = &self.page {
            if options.scaling.is_empty() {
                let why = "a page shows several numbers of threads, such as --threads 1..4";
                return Err(Error::request(why).hint(Hint::named("threads")));
            }
            check_output(page, self.force, options.inputs.iter().map(|input| &input.path))?;
        }
        let total = |total| watch.bar.into_iter().for_each(|bar| bar.set_length(total));
        // A reading that is measured runs to its end.
        let read = |bytes| {
            let _ = (watch.progress)(bytes);
        };
        let report = measure(&options, &total, &read)?;
        if let (Some(path), Some(html)) = (&self.page, page(&report)?) {
            output::text_file(path, &html, self.force)?;
        }
        Ok(report)
    }

    fn print(&self, report: &Report, _: Instant) -> Result<()> {
        print(report, self.verbosity.quiet)
    }

    fn exit_code(&self, commands: Commands) -> u8 {
        output::exit_code(ended::<Self>(if self.test { self.check_itself() } else { self.run(commands) }))
    }
}

impl Args {
    /// What is measured.
    fn options(&self) -> Result<Options> {
        let inputs = self.files()?;
        let columns = match (&self.branches, &self.branches_regex) {
            (names, _) if !names.is_empty() => Columns::Named(names.clone()),
            (_, texts) if !texts.is_empty() => Columns::Matching(texts.clone()),
            _ => Columns::All,
        };
        Ok(Options {
            inputs,
            columns,
            allow_no_match: self.matching.allow_no_match,
            entries: Choice { defines: self.named.defines()?, ..self.cuts.choice(self.entries.as_ref(), self.seed) },
            repeat: self.repeat,
            cold: self.cold,
            throttle: self.throttle,
            application: self.application,
            layouts: self.layouts,
            follow: self.following.follow(),
            budget: Budget::new(self.memory.bytes(), self.threads.most()),
            scaling: Some(self.threads.all()).filter(|all| all.len() > 1).unwrap_or_default(),
        })
    }

    /// The files, with their trees.
    fn files(&self) -> Result<Vec<Input>> {
        let files: Vec<OsString> = self.inputs.iter().chain(&self.files).cloned().collect();
        if files.is_empty() {
            return Err(Error::request("no input: give a file, as in basketry readspeed FILE:TREE"));
        }
        with_trees(inputs(&files)?, &self.trees)
    }

    /// Runs the self-check, and prints a line for each check.
    fn check_itself(&self) -> Result<Answer> {
        let checks = self_check(Budget::new(self.memory.bytes(), self.threads.most()))?;
        let mut out = output::stdout();
        for check in &checks {
            match &check.wrong {
                None => writeln!(out, "pass  {}", check.what)?,
                Some(wrong) => writeln!(out, "FAIL  {}: {}", check.what, output::one_line(wrong))?,
            }
        }
        let failed = checks.iter().filter(|check| check.wrong.is_some()).count();
        writeln!(out, "{} of {} checks passed", checks.len() - failed, checks.len())?;
        out.flush()?;
        Ok(if failed == 0 { Answer::Yes } else { Answer::No })
    }
}

/// The tree of each file, in the form of rootreadspeed: one for all, or one each.
fn with_trees(inputs: Vec<Input>, trees: &[String]) -> Result<Vec<Input>> {
    match trees {
        [] => Ok(inputs),
        [tree] => Ok(inputs.into_iter().map(|input| Input { tree: Some(tree.clone()), ..input }).collect()),
        trees if trees.len() == inputs.len() => {
            Ok(inputs.into_iter().zip(trees).map(|(input, tree)| Input { tree: Some(tree.clone()), ..input }).collect())
        }
        trees => Err(Error::request(format!(
            "{} trees for {} files: name one tree for all, or one for each",
            trees.len(),
            inputs.len()
        ))),
    }
}

fn print(report: &Report, quiet: bool) -> Result<()> {
    let mut out = output::stdout();
    let median = &report.median;
    let threads = report.threads;
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let each = |rate: f64| rate / threads.max(1) as f64;
    // The lines that rootreadspeed prints, so that scripts that read them go on. Its MB are 2^20 bytes, which are MiB.
    writeln!(out, "Thread pool size:\t\t{threads}")?;
    writeln!(out, "Real time to open files:\t{:.6} s", report.setup.0)?;
    writeln!(out, "CPU time to open files:\t\t{:.6} s", report.setup.1)?;
    writeln!(out, "Real time:\t\t\t{:.6} s", median.real)?;
    writeln!(out, "CPU time:\t\t\t{:.6} s", median.cpu)?;
    writeln!(out, "Uncompressed data read:\t\t{} bytes", report.uncompressed)?;
    writeln!(out, "Compressed data read:\t\t{} bytes", report.compressed)?;
    for (what, rate) in [("Uncompressed", report.throughput()), ("Compressed", report.compressed_throughput())] {
        let binary = rate * 1e6 / f64::from(1 << 20);
        let what = format!("{what} throughput:");
        writeln!(out, "{what:<24}\t{rate:.3} MB/s ({binary:.3} MiB/s, which rootreadspeed calls MB/s)")?;
        writeln!(out, "\t\t\t\t{:.3} MB/s/thread for {threads} threads", each(rate))?;
    }
    writeln!(out, "\nCPU Efficiency: \t\t{:.1}%", report.efficiency() * 100.0)?;
    if !quiet {
        stages(&mut out, report)?;
        columns(&mut out, report)?;
    }
    if let Some(found) = &report.scaling {
        scaling(&mut out, found)?;
    }
    if let Some(found) = &report.layouts {
        layouts(&mut out, found)?;
    }
    writeln!(out, "\n{}", output::name(&report.advice))?;
    report.commands.iter().try_for_each(|command| writeln!(out, "    {}", output::name(command)))?;
    if !quiet {
        report.notes.iter().try_for_each(|note| writeln!(out, "- {}", output::name(note)))?;
    }
    out.flush()?;
    Ok(())
}

fn stages(out: &mut impl Write, report: &Report) -> Result<()> {
    let median = &report.median;
    let (read, all) = (output::count(report.entries), output::count(report.all_entries));
    writeln!(
        out,
        "\n{read} of {all} entries of {}, {}",
        output::name(&report.tree),
        output::plural(report.clusters, "cluster", "clusters")
    )?;
    output::cut_flow(out, &report.tree, &report.cuts)?;
    if report.runs.len() > 1 {
        let times: Vec<String> = report.runs.iter().map(|run| format!("{:.3}", run.real)).collect();
        let spread = &report.spread;
        writeln!(out, "median of {} readings: {} s", report.runs.len(), times.join(", "))?;
        writeln!(
            out,
            "from {:.3} to {:.3} s, one reading ± {:.1}% (by the median of deviations)",
            spread.least,
            spread.most,
            100.0 * spread.noise
        )?;
    }
    if let Some(cold) = median.cold {
        writeln!(out, "{:.0}% of the files' bytes were not in the page cache", cold * 100.0)?;
    }
    let sum = (median.fetch + median.decompress + median.decode).max(1e-9);
    let mut table = output::table(&["stage", ">thread seconds", ">share"]);
    for (stage, seconds) in [("fetch", median.fetch), ("decompress", median.decompress), ("decode", median.decode)] {
        table.add_row([stage.to_owned(), format!("{seconds:.3}"), format!("{:.0}%", seconds / sum * 100.0)]);
    }
    writeln!(out, "\n{table}")?;
    Ok(())
}

fn scaling(out: &mut impl Write, all: &[Scaled]) -> Result<()> {
    const LONGEST: f64 = 24.0;
    let heads = [">threads", ">real s", ">spread s", ">MB/s", ">speed-up", ">effective cores", ">of possible", "="];
    let mut table = output::table(&heads);
    let most = all.iter().map(|one| one.effective_cores).fold(0.0, f64::max);
    // A block for each quarter of a core that reading gains, or for more where there are many cores; a dot for what the loop gains beyond.
    let blocks = f64::min(4.0, LONGEST / most.max(1.0));
    for one in all {
        let maybe = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.2}"));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bar of some blocks")]
        let length = |cores: f64| (cores * blocks).round().clamp(0.0, LONGEST) as usize;
        let (gain, most) = (length(one.speed_up.unwrap_or(0.0)), length(one.effective_cores));
        table.add_row([
            one.threads.to_string(),
            format!("{:.3}", one.real.median),
            format!("{:.3}-{:.3}", one.real.least, one.real.most),
            format!("{:.0}", one.throughput),
            maybe(one.speed_up),
            format!("{:.2}", one.effective_cores),
            one.of_possible.map_or_else(String::new, |share| format!("{:.0}%", 100.0 * share)),
            format!("{}{}", "█".repeat(gain), "·".repeat(most.saturating_sub(gain))),
        ]);
    }
    writeln!(out, "\n{table}")?;
    writeln!(
        out,
        "effective cores: the speed-up of a loop that only computes, on as many threads; no reading gains more"
    )?;
    Ok(())
}

fn layouts(out: &mut impl Write, layouts: &[LayoutSpeed]) -> Result<()> {
    let heads =
        ["forecast for layouts", ">on disk", ">fetch s", ">decompress s", ">decode s", ">real s", ">uncompressed MB/s"];
    let mut table = output::table(&heads);
    for layout in layouts {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let size = output::bytes(layout.compressed.max(0.0) as u64);
        let s = |seconds: f64| format!("{seconds:.3}");
        table.add_row([
            layout.layout.clone(),
            size,
            s(layout.fetch),
            s(layout.decompress),
            s(layout.decode),
            s(layout.real),
            format!("{:.0}", layout.throughput),
        ]);
    }
    writeln!(out, "\n{table}")?;
    if layouts.is_empty() {
        writeln!(out, "no forecast: the sampled files have none of these baskets")?;
    }
    Ok(())
}

fn columns(out: &mut impl Write, report: &Report) -> Result<()> {
    let heads =
        ["column", "type", ">on disk", ">uncompressed", ">baskets", ">fetch ms", ">decompress ms", ">decode ms"];
    let mut table = output::table(&heads);
    for column in report.columns.iter().take(SHOWN) {
        let ms = |seconds: f64| format!("{:.2}", seconds * 1e3);
        table.add_row([
            column.name.clone(),
            column.opaque.as_ref().map_or_else(|| column.typename.clone(), |_| "(bytes)".to_owned()),
            output::bytes(column.compressed),
            output::bytes(column.uncompressed),
            output::count(column.baskets),
            ms(column.fetch),
            ms(column.decompress),
            ms(column.decode),
        ]);
    }
    writeln!(out, "\n{table}")?;
    if let Some(more @ 1..) = report.columns.len().checked_sub(SHOWN) {
        writeln!(out, "and {} more columns; --json has them all", output::count(more as u64))?;
    }
    Ok(())
}
