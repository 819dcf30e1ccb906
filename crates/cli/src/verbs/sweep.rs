//! `basketry sweep`: measures copying and reading over a grid of layouts, streams and threads.

mod expected;
mod names;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dataset::layout::ByteSize;
use flow::Progress;
use flow::inputs::Input;
use lab::price::Bill;
use lab::report::page::html;
use lab::report::{Extras, Report};
use lab::sweep::costs::{bill, unpriced};
use lab::sweep::findings::Findings;
use lab::sweep::grid::Grid;
use lab::sweep::journal::Head;
use lab::sweep::plan::{Estimate, Kind};
use lab::sweep::question::{Goal, Question};
use lab::sweep::run::{Event, findings};
use lab::sweep::runner::{Runner, Task};
use lab::sweep::{CommandRunner, Commands as JobCommands, RootRunner, Settings, Sweep, SweepInput, execute, show};
use lab::system::descendants::end_from_now_on;
use lab::system::subprocess::end_with_parent;
use lab::tune::Limit;
use rootfile::{Error, Hint, Result, check_output};

use super::write_bench::home_of_root;
use crate::interrupt::{self, AfterNaming};
use crate::job_runner::{Stoppable, own_process};
use crate::layout_args::layout_of;
use crate::options::{Asked, Matching, Verbosity};
use crate::output::{self, Answer};
use crate::prices::Prices;
use crate::verb_command::{Commands, VerbCommand, Watch};
use expected::{expected, time};

/// Measure copying and reading over a grid of layouts, streams and threads, and find the best point.
///
/// For each point the file is copied into N streams, each with a one-record tree at its end, and the copy is read: all
/// of it, each column alone, and 1 % of the entries through an index file. Each job is a process of its own. Rounds of
/// all jobs follow each other in random orders. A journal keeps the results: the same command continues a sweep
/// that was stopped. More points, jobs, repeats, or another goal extend a sweep that exists: only what is missing is
/// measured. Today's layout is a point by itself, and stays where no other is better. `sweep show DIR` prints the tables.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Examples:
  basketry sweep events.root:Events -o sweep --grid cluster=10MB,30MB --grid compression=zstd:5,lz4:4
  basketry sweep events.root -o sweep --grid basket=32kB,256kB --dry-run
  basketry sweep show sweep")]
pub struct Args {
    #[command(subcommand)]
    show: Option<Show>,
    /// FILE or FILE:TREE. A FILE without TREE must have one tree only; its other objects are copied too. With --command: the
    /// value of {input}, if the command has one.
    #[arg(value_name = "FILE", required_unless_present = "command")]
    input: Option<String>,
    /// Folder for the journal, the results and the copies. Its storage is measured.
    #[arg(short, long, value_name = "DIR", required = true)]
    output: Option<PathBuf>,
    /// An axis of the grid: a key of the layout with its values (basket=2kB,32kB). The key may be for trees
    /// (tree:PATTERN:basket=...) or columns (column:PATTERN:compression=...), or be streams, threads or fraction. The
    /// value as-is is the input's. Or a TOML file with [layout], [grid] and [[point]]. With --command: any names with their
    /// values (cfg=a,b), which go into the command.
    #[arg(long, value_name = "KEY=V1,V2,...|FILE")]
    grid: Vec<String>,
    /// TOML file with the layout that all points start from.
    #[arg(long, value_name = "FILE")]
    layout: Option<PathBuf>,
    /// Numbers of files to write at once, such as 1,2,5,10. The cost of one more is reported. The same as --grid
    /// streams=...
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    streams: Vec<String>,
    /// Threads of a job, such as 1,2. The same as --grid threads=...
    #[arg(short = 'j', long, value_name = "N,...", value_delimiter = ',')]
    threads: Vec<String>,
    /// Copy only the first N entries of the tree.
    #[arg(long, value_name = "N")]
    entries: Option<u64>,
    /// Measure only these jobs: copy; read, which is all of the following; full, everything; columns, each column
    /// alone; sparse, picked entries; chosen, the columns of --columns.
    #[arg(long, value_name = "WHAT,...", value_delimiter = ',', value_parser = ["copy", "read", "full", "columns", "sparse", "chosen"])]
    only: Vec<String>,
    /// Read these columns as well, as a job of its own.
    #[arg(long, value_name = "PATTERN,...", value_delimiter = ',')]
    columns: Vec<String>,
    /// Share of the entries to pick through an index file.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share)]
    pick: f64,
    /// Repeats of each job.
    #[arg(long, value_name = "N", default_value_t = 5)]
    repeat: usize,
    /// Seed for the order of jobs and for the picked entries.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Drop files from the page cache before each job. Default: files are read into the cache.
    #[arg(long)]
    cold: bool,
    /// Let jobs use all processors instead of as many as they have threads.
    #[arg(long)]
    no_pin: bool,
    /// From the second round on, drop points that cannot win any more, up to half in each round.
    #[arg(long)]
    halve: bool,
    /// Memory that each job may take.
    #[arg(long, value_name = "SIZE", default_value_t = ByteSize(flow::DEFAULT_MEMORY))]
    memory: ByteSize,
    /// The figure to minimise: full, columns, sparse, chosen (reading), copy, memory (of copying) or size. Several figures
    /// have a decision each.
    #[arg(long, value_name = "WHAT,...", value_delimiter = ',')]
    goal: Vec<Goal>,
    /// Maximum size of the file: 2GB, or 1.05x today's.
    #[arg(long, value_name = "LIMIT")]
    max_size: Option<String>,
    /// Maximum time of a copy: 90s, 5min, or 2x.
    #[arg(long, value_name = "LIMIT")]
    max_write_time: Option<String>,
    /// Maximum memory of reading: 1GB, or 1.2x.
    #[arg(long, value_name = "LIMIT")]
    max_read_memory: Option<String>,
    /// Maximum memory of copying: 1GB, or 1.2x.
    #[arg(long, value_name = "LIMIT")]
    max_memory: Option<String>,
    /// The program that copies and reads: basketry, or root where it is installed.
    #[arg(long, value_name = "WHO", default_value = "basketry", value_parser = ["basketry", "root"])]
    runner: String,
    /// Run this command at each point, and measure it, instead of copying: 'cmsRun cfg.py split={split-level} out={output}'. {NAME} is the
    /// value of a key of the grid; {output} the file to write, {input} FILE, {stream} the number of the stream from 0; {{ and }}
    /// are braces. Several streams run side by side, a process each. It is split into words as a shell does, but no shell
    /// runs it.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["layout", "entries", "runner"])]
    command: Option<String>,
    /// Read each output with this command, which has the same values, and measure that. Default: basketry reads the largest
    /// table of the output, as it reads copies.
    #[arg(long, value_name = "COMMAND", requires = "command")]
    read_command: Option<String>,
    /// End a command after this time, such as 90s or 10min. The point has failed then, and others go on.
    #[arg(long, value_name = "TIME", requires = "command")]
    time_limit: Option<String>,
    /// Print the number of points and jobs and their expected time, and measure nothing.
    #[arg(long)]
    dry_run: bool,
    /// Keep the copies that are read.
    #[arg(long)]
    keep: bool,
    /// Run one job, described by a file, in this process.
    #[arg(long, hide = true, value_name = "FILE", exclusive = true)]
    once: Option<PathBuf>,
    /// The same for a job that may run a command of the user, which ends when this process is told to.
    #[arg(long, hide = true, value_name = "FILE", exclusive = true)]
    watched: Option<PathBuf>,
    #[command(flatten)]
    matching: Matching,
    #[command(flatten)]
    verbosity: Verbosity,
}

/// Output of the results of a sweep.
#[derive(clap::Subcommand)]
enum Show {
    /// Print the tables of a sweep: memory and time by layout, cost of one more stream, size and time by codec, time
    /// for an entry, and the decision.
    Show(ShowArgs),
    /// Write a page of a sweep: charts, tables, the decision and its layout, in one HTML file that needs no network.
    Report(ReportArgs),
}

#[derive(clap::Args)]
struct ReportArgs {
    /// Folder of the sweep.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The page to write. Default: report.html in the folder.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also draw the output of `write-bench --json` (with --no-write and --no-fill: the limits), or the samples of
    /// `monitor -o FILE.jsonl`. May be given several times.
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// Replace an existing page.
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    prices: Prices,
    /// Print the contents of the page as JSON, and write no page.
    #[arg(long, conflicts_with_all = ["output", "force"])]
    json: bool,
}

#[derive(clap::Args)]
struct ShowArgs {
    /// Folder of the sweep.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Format of the tables.
    #[arg(long, value_name = "HOW", default_value = "markdown", value_parser = ["markdown", "csv", "json"])]
    format: String,
    /// The same as --format json.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    prices: Prices,
}

fn share(text: &str) -> std::result::Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share = number.trim().parse::<f64>().ok().map(|n| n / unit).filter(|n| *n > 0.0 && *n <= 1.0);
    share.ok_or_else(|| format!("{text:?} is not a share; write 1% or 0.01"))
}

impl Args {
    fn grid(&self) -> Result<Grid> {
        let mut grid = if self.command.is_some() { Grid::for_command() } else { Grid::default() };
        if let Some(path) = &self.layout {
            grid.set_base(layout_of(path)?);
        }
        for text in &self.grid {
            match text.contains('=') {
                true => grid.add(text)?,
                false => grid.add_toml(&read(Path::new(text))?).map_err(|e| e.file(text))?,
            }
        }
        for (key, values) in [("streams", &self.streams), ("threads", &self.threads)] {
            if !values.is_empty() {
                grid.add(&format!("{key}={}", values.join(",")))?;
            }
        }
        Ok(grid)
    }

    /// The jobs of each point.
    fn kinds(&self) -> Vec<Kind> {
        let wanted = |kind: &Kind| {
            let of = |only: &String| only == kind.name() || (only == "read" && *kind != Kind::Copy);
            // What another command reads, basketry reads only if asked to.
            let by_default = self.read_command.is_none() || matches!(kind, Kind::Copy | Kind::Full);
            let possible = *kind != Kind::Chosen || !self.columns.is_empty();
            possible && (self.only.iter().any(of) || (self.only.is_empty() && by_default))
        };
        [Kind::Copy, Kind::Full, Kind::Columns, Kind::Sparse, Kind::Chosen].into_iter().filter(wanted).collect()
    }

    /// The commands of the user.
    fn commands(&self) -> Result<Option<JobCommands>> {
        let Some(write) = &self.command else { return Ok(None) };
        let limit = self.time_limit.as_deref().map(Limit::time).transpose()?;
        let limit = match limit {
            Some(Limit::Absolute(seconds)) => Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
            Some(Limit::Times(_)) => {
                let message = "the limit of a command is a time, such as 10min";
                return Err(Error::request(message).hint(Hint::named("time-limit")));
            }
            None => None,
        };
        JobCommands::parse(write, self.read_command.as_deref(), limit).map(Some)
    }

    fn settings(&self) -> Settings {
        Settings {
            command: None,
            kinds: self.kinds(),
            repeat: self.repeat,
            seed: self.seed,
            share: self.pick,
            columns: self.columns.clone(),
            cold: self.cold,
            pin: !self.no_pin,
            memory: self.memory.bytes(),
            drop: self.halve,
            question: Question {
                goal: self.goal.first().copied().unwrap_or_default(),
                further: self.goal.iter().skip(1).copied().collect(),
                max_size: self.max_size.clone(),
                max_write_time: self.max_write_time.clone(),
                max_read_memory: self.max_read_memory.clone(),
                max_memory: self.max_memory.clone(),
            },
        }
    }

    /// Runs the sweep. Calls `say` with progress; `progress` may end it between two jobs. With `dry_run` only the
    /// estimate is made.
    fn sweep(
        &self,
        progress: Progress<'_>,
        say: &mut dyn FnMut(Event<'_>),
    ) -> Result<std::result::Result<Findings, Estimate>> {
        let folder = self.output.as_deref().ok_or_else(|| missing("folder"))?;
        let points = self.grid()?.points()?;
        let mut settings = self.settings();
        let commands = self.commands()?;
        let is_command = commands.is_some();
        let (subject, runner): (SweepInput, Box<dyn Runner>) = match (commands, self.runner.as_str()) {
            (Some(commands), _) => {
                commands.check(&points, self.input.is_some())?;
                settings.command = Some(commands.told());
                // A job has as many threads as its author gave it, unless the grid says how many.
                settings.pin &= points.iter().any(|point| point.value("threads").is_some());
                let runner = CommandRunner::new(commands, own_process("--watched")?, self.pick, self.seed);
                (SweepInput::of_command(self.input.as_deref()), Box::new(runner))
            }
            (None, runner) => {
                let Ok(input) = self.input.as_deref().ok_or_else(|| missing("input"))?.parse::<Input>();
                let subject = SweepInput::of(&input, self.entries)?;
                match runner {
                    "root" => (subject, Box::new(RootRunner::build(&home_of_root(None)?)?)),
                    _ => (subject, Box::new(own_process("--once")?)),
                }
            }
        };
        let mut runner = Stoppable { runner, progress };
        let head = Head::new(subject, points, settings, &runner)?;
        let sweep = Sweep::new(folder, head, &mut runner)?;
        // What today's layout is only a copy knows.
        let sweep = if is_command { sweep } else { sweep.beside_today() };
        match self.dry_run {
            true => sweep.dry_run().map(Err),
            false => sweep.run(self.keep, say).map(Ok),
        }
    }
}

fn missing(what: &str) -> Error {
    Error::request(format!("no {what}: write basketry sweep FILE -o DIR --grid KEY=V1,V2")).hint(Hint::named("grid"))
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| Error::from(e).file(path))
}

fn run(args: &Args) -> Result<Answer> {
    match &args.show {
        Some(Show::Show(args)) => return print_tables(args),
        Some(Show::Report(args)) => return write_page(args),
        None => {}
    }
    if let Some(path) = args.once.as_ref().or(args.watched.as_ref()) {
        end_with_parent();
        if args.watched.is_some() {
            // The end of the sweep is that of its jobs, with all that they have started.
            interrupt::heed(|signal, sent| {
                if sent {
                    end_from_now_on(signal);
                }
            })?;
        }
        let task: Task = serde_json::from_str(&read(path)?).map_err(std::io::Error::from)?;
        output::json(&execute(&task)?)?;
        return Ok(Answer::Yes);
    }
    args.asked()?.check()?;
    let quiet = args.verbosity.quiet || args.verbosity.json;
    let bar = output::progress(0, "jobs", quiet);
    if let Ok(style) = indicatif::ProgressStyle::with_template("{wide_bar} {pos}/{len} jobs, {msg}") {
        bar.set_style(style);
    }
    bar.set_message("estimating the time");
    let found = args.sweep(&flow::unwatched, &mut |word| match word {
        Event::Expected(estimate) => {
            bar.set_length(estimate.jobs as u64);
            if !quiet {
                bar.suspend(|| eprintln!("{}", expected(estimate)));
            }
        }
        Event::Done { done, all, left, point, job } => {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
            bar.set_message(format!("{} left; {} of {point}", time(left), job.kind.name()));
        }
        Event::Dropped(left) => {
            if !quiet {
                bar.suspend(|| eprintln!("left: {}", output::plural(left as u64, "point", "points")));
            }
        }
    });
    bar.finish_and_clear();
    match found? {
        Err(estimate) if args.verbosity.json => output::json(&estimate)?,
        Err(estimate) => {
            let mut out = output::stdout();
            writeln!(out, "{}", expected(&estimate))?;
            estimate.commands.iter().try_for_each(|command| writeln!(out, "{}", output::line(command)))?;
            out.flush()?;
        }
        Ok(found) => {
            if args.verbosity.json {
                output::json(&found)?;
            } else if !args.verbosity.quiet {
                let mut out = output::whole_lines();
                write!(out, "{}", show::markdown(&found))?;
                out.flush()?;
            }
            return Ok(answer(&found));
        }
    }
    Ok(Answer::Yes)
}

/// No, if the limits cannot be met for some goal, or a command has failed.
fn answer(found: &Findings) -> Answer {
    let met = found.decisions().all(|decision| decision.impossible.is_empty());
    if met && found.failures.is_empty() { Answer::Yes } else { Answer::No }
}

fn print_tables(args: &ShowArgs) -> Result<Answer> {
    let found = findings(&args.folder)?;
    let mut out = output::whole_lines();
    match (args.format.as_str(), args.json) {
        (_, true) | ("json", _) => return output::json(&priced(found, args)?).map(|()| Answer::Yes),
        ("csv", _) => write!(out, "{}", show::csv(&found))?,
        _ => write!(out, "{}", show::priced_markdown(&found, args.prices.book()?.as_ref()))?,
    }
    out.flush()?;
    Ok(Answer::Yes)
}

/// Findings, with what each point costs where that is asked for.
#[derive(serde::Serialize)]
pub struct Priced {
    #[serde(flatten)]
    found: Findings,
    /// By point; none of a point that was not both copied and read.
    #[serde(skip_serializing_if = "Option::is_none")]
    bills: Option<Vec<Option<Bill>>>,
    /// Why some have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    unpriced: Option<String>,
    /// The prices as TOML.
    #[serde(skip_serializing_if = "Option::is_none")]
    prices: Option<String>,
}

fn priced(found: Findings, args: &ShowArgs) -> Result<Priced> {
    let book = args.prices.book()?;
    let bills = book.as_ref().map(|book| found.lines.iter().map(|line| bill(line, book)).collect());
    let unpriced = book.as_ref().and_then(|_| unpriced(&found));
    Ok(Priced { found, bills, unpriced, prices: book.map(|book| book.to_toml()).transpose()? })
}

/// The JSON of `--json`.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub enum Swept {
    Page(Box<Report>),
    Found(Box<Findings>),
    Priced(Box<Priced>),
    Expected(Estimate),
}

impl VerbCommand for Args {
    type Report = Swept;

    fn when_told_to_end(&self) -> Option<AfterNaming> {
        // It writes one file after the other. What watches a command ends with it.
        self.watched.is_none().then_some(AfterNaming::Ends)
    }

    fn asked(&self) -> Result<Asked> {
        let is_other = self.show.is_some() || self.once.is_some() || self.watched.is_some() || self.command.is_some();
        let input = self.input.as_deref().filter(|_| !is_other);
        names::asked(input, self.matching, self.layout.as_deref(), &self.columns, &|| self.grid()?.points())
    }

    fn work(&self, watch: &Watch<'_>) -> Result<Swept> {
        Ok(match &self.show {
            Some(Show::Report(args)) => Swept::Page(Box::new(shown(args)?)),
            Some(Show::Show(args)) => Swept::Priced(Box::new(priced(findings(&args.folder)?, args)?)),
            None => match self.sweep(watch.progress, &mut |_| ())? {
                Ok(found) => Swept::Found(Box::new(found)),
                Err(estimate) => Swept::Expected(estimate),
            },
        })
    }

    fn run(&self, _: Commands) -> Result<Answer> {
        run(self)
    }
}

fn shown(args: &ReportArgs) -> Result<Report> {
    let mut besides = Extras::priced(args.prices.book()?);
    args.with.iter().try_for_each(|path| besides.add(path))?;
    Ok(lab::report::report(&findings(&args.folder)?, &besides))
}

fn write_page(args: &ReportArgs) -> Result<Answer> {
    if args.json {
        return output::json(&shown(args)?).map(|()| Answer::Yes);
    }
    let path = args.output.clone().unwrap_or_else(|| args.folder.join("report.html"));
    if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("html")) {
        return Err(Error::request("a report is an HTML page; give it a name that ends in .html").file(path));
    }
    check_output(&path, args.force, &args.with)?;
    output::text_file(&path, &html(&shown(args)?)?, args.force)?;
    writeln!(output::whole_lines(), "{}", path.display())?;
    Ok(Answer::Yes)
}
