//! `basketry monitor`: runs a command, samples its resources, and exits with its exit code; or watches a process that runs. `show`
//! prints records.

mod show;
mod words;

use std::ffi::OsString;
use std::io::{ErrorKind as IoKind, Write, stderr};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use lab::monitor::{Ended, Options, Sample, Signaller, Summary, Watched, watch, watch_process};
use rootfile::{Error, ErrorKind, Result};

use self::words::{ending, moment};
use crate::interrupt::AfterNaming;
use crate::live_view::Live;
use crate::options::Verbosity;
use crate::output::Answer;
use crate::verb_command::{Commands, VerbCommand, Watch};
use crate::{interrupt, output};

/// Exit codes of shells for an unknown command, and for one that cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;
/// Exit code of a failure of the monitor itself.
const TROUBLE: u8 = 2;

/// Run a command and record its memory, CPU, input and output over time.
///
/// All processes of the command are watched. The exit code is that of the command: 128 plus the number of a signal that ended it; 127 if there
/// is no such command. Ctrl-C and other signals go to the command. The monitor itself notes when output files are opened, closed, renamed and
/// removed. BASKETRY_MONITOR holds the name of a pipe; the command may
/// write lines to it: "start", "stop", "finalize" or another name takes a sample with that mark; "events 1234"
/// sets the number of events done, "events +100" adds to it. The summary goes to standard error. Samples are on disk as they
/// come: a kill of job and monitor loses none, and a full disk ends the recording, not the job. `monitor show RECORD` prints a
/// record, `monitor show A B` compares two.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Examples:
  basketry monitor -o samples.root -- cmsRun cfg.py
  basketry monitor --pid 4711 --duration 60
  basketry monitor show samples.root")]
pub struct Args {
    #[command(subcommand)]
    show: Option<Show>,
    /// The command and its arguments. Write -- before a command that begins with a dash, or is named show.
    #[arg(
        value_name = "COMMAND",
        required_unless_present = "pid",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
    /// Watch this process, which runs already, and all that descend from it, until it ends. What it used before does not
    /// count. A signal ends the watching, not the process.
    #[arg(long, value_name = "N", conflicts_with = "command")]
    pid: Option<i32>,
    /// With --pid: watch at most so many seconds.
    #[arg(long, value_name = "SECONDS", requires = "pid", conflicts_with = "command", value_parser = seconds)]
    duration: Option<Duration>,
    /// File for the samples: trees of a .root file, or .parquet, .csv or .jsonl.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing output.
    #[arg(short, long)]
    force: bool,
    /// Seconds between two samples.
    #[arg(long, value_name = "SECONDS", default_value = "0.1", value_parser = seconds)]
    every: Duration,
    /// Also sample proportional memory (PSS): shared pages are divided among the processes that share them.
    #[arg(long)]
    pss: bool,
    /// Sample the size of this file, also while the command does not have it open. Can be given several times.
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Sample only the files of --file. Default: also every file that the command opens for writing.
    #[arg(long)]
    no_discover: bool,
    /// Show the samples on standard error while the command runs.
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    verbosity: Verbosity,
}

/// Output of records.
#[derive(clap::Subcommand)]
enum Show {
    /// Print a record: figures of the job and of its phases, and the state at each mark; or compare two records.
    Show(show::ShowArgs),
}

fn seconds(text: &str) -> std::result::Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.001..=86_400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("{text:?} is not between 0.001 and 86400 seconds"))
}

impl VerbCommand for Args {
    type Report = ();

    fn when_told_to_end(&self) -> Option<AfterNaming> {
        None
    }

    fn work(&self, _: &Watch<'_>) -> Result<()> {
        Err(Error::request("monitor runs a command: use the command line, or basketry.Monitor for this process"))
    }

    fn exit_code(&self, _: Commands) -> u8 {
        match (&self.show, self.pid) {
            (Some(Show::Show(args)), _) => output::exit_code(args.run()),
            (None, Some(pid)) => output::exit_code(attached(self, pid)),
            (None, None) => exit_code(self),
        }
    }
}

/// Runs the command, and returns the exit code.
fn exit_code(args: &Args) -> u8 {
    match run(args) {
        Ok(ended) => {
            let code = u8::try_from(ended.code()).unwrap_or(TROUBLE);
            let told = print_summary(args, &ended.watched.summary);
            // A job that did its work has done it, whatever became of its samples.
            if let Some(trouble) = ended.watched.trouble.or(told.err()) {
                output::warn(&trouble.to_string());
            }
            code
        }
        Err(error) => {
            let of_command = error.path().is_some_and(|path| args.command.first().is_some_and(|name| path == name));
            let code = match error.kind() {
                ErrorKind::Io(io) if of_command && io.kind() == IoKind::NotFound => NOT_FOUND,
                ErrorKind::Io(_) if of_command => NOT_RUN,
                _ => TROUBLE,
            };
            output::fail(&error.to_string());
            code
        }
    }
}

impl Args {
    fn options(&self) -> Options {
        Options {
            output: self.output.clone(),
            overwrite: self.force,
            every: self.every,
            pss: self.pss,
            files: self.file.clone(),
            discover: !self.no_discover,
        }
    }

    /// What is done with each sample.
    fn live(&self) -> impl FnMut(&Sample) {
        let mut live = self.live.then(Live::new);
        move |sample: &Sample| {
            if let Some(live) = &mut live {
                live.show(sample);
            }
        }
    }
}

fn run(args: &Args) -> Result<Ended> {
    let (name, arguments) = args.command.split_first().ok_or_else(|| Error::request("no command to run"))?;
    let signaller = Signaller::default();
    interrupt::pass_on(signaller.clone())?;
    watch(Command::new(name).args(arguments), &args.options(), &signaller, args.live())
}

/// Watches a process of another program. The record is all that there is to do, so that its loss is an error.
fn attached(args: &Args, pid: i32) -> Result<Answer> {
    let signaller = Signaller::default();
    interrupt::end_watching(signaller.clone())?;
    let Watched { summary, trouble } = watch_process(pid, &args.options(), args.duration, &signaller, args.live())?;
    print_summary(args, &summary)?;
    trouble.map_or(Ok(Answer::Yes), Err)
}

fn print_summary(args: &Args, summary: &Summary) -> Result<()> {
    if args.verbosity.json {
        return output::json(summary);
    }
    if args.verbosity.quiet {
        return Ok(());
    }
    let mut err = stderr().lock();
    for line in summary_lines(summary) {
        writeln!(err, "{}", output::line(&line))?;
    }
    if !summary.marks.is_empty() {
        writeln!(err, "{}", marks(summary))?;
    }
    Ok(())
}

/// The summary as lines.
fn summary_lines(summary: &Summary) -> Vec<String> {
    let (job, most, end) = (&summary.job, &summary.most, &summary.end);
    let cpu = job.user + job.system;
    let share = |part: f64| if job.elapsed > 0.0 { 100.0 * part / job.elapsed } else { 0.0 };
    let mut lines = vec![
        format!("{}: {}", job.command, ending(job)),
        format!(
            "  time      {:.2} s; CPU {cpu:.2} s ({:.2} user, {:.2} kernel), {:.0}% of a core",
            job.elapsed,
            job.user,
            job.system,
            share(cpu)
        ),
        format!(
            "  memory    peak RSS {} (of one process); of all at most {} RSS, {} virtual, processes {}, threads {}",
            output::bytes(job.peak_rss),
            output::bytes(most.rss),
            output::bytes(most.vsize),
            most.processes,
            most.threads
        ),
        format!(
            "  calls     read {}, wrote {}; disk: read {}, wrote {}",
            output::bytes(end.read),
            output::bytes(end.written),
            output::bytes(end.disk_read),
            output::bytes(end.disk_written)
        ),
        format!("  faults    {} minor, {} major", output::count(end.minor_faults), output::count(end.major_faults)),
    ];
    if most.pss > 0 {
        lines.push(format!("  PSS       at most {}", output::bytes(most.pss)));
    }
    for file in summary.files.iter().filter(|file| !file.removed) {
        lines.push(format!("  file      {} {}", output::bytes(file.bytes), file.path));
    }
    if end.events > 0 {
        lines.push(format!("  events    {} ({:.1}/s)", output::count(end.events), summary.events_per_second));
    }
    lines.push(format!(
        "  samples   {}, every {} s; watching took {:.3} s of CPU ({:.2}% of a core)",
        output::count(summary.samples),
        job.every,
        job.monitor_cpu,
        share(job.monitor_cpu)
    ));
    lines
}

/// Moments that the monitor saw itself and that the table has; a record has more.
const SEEN: usize = 30;

/// The samples at the marks, and at what the monitor saw, as a table.
fn marks(summary: &Summary) -> output::Table {
    let mut samples: Vec<&Sample> = summary.marks.iter().collect();
    // A sample with a mark has what was seen in it.
    let seen = summary.seen.iter().filter(|sample| sample.mark.is_empty());
    samples.extend(seen.take(SEEN));
    samples.sort_by(|a, b| a.time.total_cmp(&b.time));
    let head = ["mark", ">time s", ">events", ">vsize", ">RSS", ">peak RSS", ">CPU s", ">written", ">files"];
    let mut table = output::table(&head);
    for sample in samples {
        table.add_row([
            moment(&sample.mark, &sample.seen),
            format!("{:.2}", sample.time),
            output::count(sample.events),
            output::bytes(sample.vsize),
            output::bytes(sample.rss),
            output::bytes(sample.peak_rss),
            format!("{:.2}", sample.user + sample.system),
            output::bytes(sample.written),
            output::bytes(sample.output),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn options_behind_the_command_are_its_own() {
        for words in
            [&["x", "--every", "0.5", "--", "ls", "-o", "--json"][..], &["x", "--every", "0.5", "ls", "-o", "--json"]]
        {
            let line = Line::try_parse_from(words).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(line.args.command, ["ls", "-o", "--json"]);
            assert_eq!(line.args.every, Duration::from_millis(500));
            assert!(line.args.output.is_none() && !line.args.verbosity.json);
        }
        assert!(Line::try_parse_from(["x", "-o", "f.root"]).is_err());
        assert!(Line::try_parse_from(["x", "--every", "0", "ls"]).is_err());
    }

    #[test]
    fn the_summary_lists_resources() {
        let mut summary = Summary::default();
        summary.job.command = "job".to_owned();
        (summary.job.elapsed, summary.job.user, summary.job.system) = (10.0, 4.0, 1.0);
        summary.job.peak_rss = 2_000_000;
        summary.end.events = 50;
        summary.events_per_second = 5.0;
        assert_eq!(moment("end", "close /a/b.root; exit 3"), "end (close b.root, exit 3)");
        assert_eq!(moment("", "rename /a/b.tmp > /a/b"), "rename b.tmp > b");
        let text = summary_lines(&summary).join("\n");
        for part in ["CPU 5.00 s (4.00 user, 1.00 kernel), 50% of a core", "peak RSS 2.00 MB", "50 (5.0/s)"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
