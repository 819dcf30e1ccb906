//! `basketry plan`: one verb over many files as tasks, for any batch system.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use dataset::layout::ByteSize;
use flow::inputs::{Input, inputs};
use flow::survey::sizes::{FileSize, sizes};
use flow::{Budget, Progress};
use lab::jobs::{BadInput, Batch, Jobs, SCHEMA, StateFolder, Task, bins, output_name, run_command, submit_file};
use lab::math::evenly_spaced;
use rootfile::{Error, ErrorKind, Hint, OutputFile, Result, check_output, forget_handed_over, public_path};

use super::plan_by_keys::{KeyedTask, of_events, of_ranges};
use crate::options::Verbosity;
use crate::output::{self, Answer};
use crate::verb_command::{Commands, VerbCommand, Watch, fields};

/// Files of a check in one task, unless another number is requested.
const CHECKED_AT_ONCE: usize = 100;
/// Events of a task of pick, and entries of one of join, unless other numbers are requested.
const PICKED_AT_ONCE: u64 = 10_000;
const JOINED_AT_ONCE: u64 = 10_000_000;
/// Files that tune measures, unless another number is requested.
const SAMPLE: usize = 3;

/// Plan one verb over many files as tasks, for HTCondor, Slurm, Dask or any other system.
///
/// Writes the tasks to a file. `basketry run` runs one of them, `basketry collect` says what became of all. A task is the
/// arguments of one command, and does what that command does. Options of the verb follow `--`.
///
/// merge: inputs go into outputs of --target-size or --target-events, in their order. pick: a task for each --target-events of the events in
/// its lists. join: ranges of keys with --target-events of the entries; merge of all outputs has them in the order of these ranges. rewrite, convert, sweep: one task and
/// output for each input. verify: each input is compared with the file that --name gives. check, readspeed: tasks of
/// --files-per-task inputs. tune: a sample of the inputs decides on a layout now; the tasks rewrite each input in it.
///
/// A plan is to be trusted like a script: it says which commands run starts.
///
/// Relative paths count from the folder in which plan and run are started.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry plan merge 'run*.root' -o plan.json --target-size 2GB
  basketry plan rewrite @list.txt -o plan.json -- --compression zstd:5
  basketry plan join 'run*.root' -o plan.json -- --with scores.root --on run,event")]
pub struct Args {
    /// The verb.
    verb: Planned,
    /// FILE, FILE:TREE, @list.txt, or a pattern in quotes such as 'run*.root'.
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<String>,
    /// The plan to write, JSON.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace an existing plan, and let tasks replace existing outputs.
    #[arg(short, long)]
    force: bool,
    /// Merge inputs up to this size. Default: 2GB.
    #[arg(long, value_name = "SIZE", conflicts_with = "target_events")]
    target_size: Option<ByteSize>,
    /// Merge inputs up to this number of entries of their largest tree. Of pick the events of a task (default 10000), of join the
    /// entries (default 10000000).
    #[arg(long, value_name = "N")]
    target_events: Option<u64>,
    // clap reads an n in braces as the end of a line.
    /// Names of outputs: {stem} stands for the name of the input, and the letter n in braces for the number of the task.
    #[arg(long, value_name = "PATTERN")]
    name: Option<String>,
    /// Inputs of a task of check (default 100) or readspeed (default 1).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    files_per_task: Option<u64>,
    /// Inputs that tune measures. Default: 3.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// Leave out inputs that are damaged or cannot be read (merge, tune). They are listed, and the exit code is 1.
    #[arg(short = 'k', long)]
    skip_bad: bool,
    /// Also write a submit file beside the plan.
    #[arg(long, value_name = "SYSTEM")]
    submit: Option<System>,
    /// Threads of each task.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// Maximum memory of the work of each task, such as 512MB.
    #[arg(long, value_name = "SIZE", default_value_t = ByteSize(flow::DEFAULT_MEMORY))]
    memory: ByteSize,
    #[command(flatten)]
    verbosity: Verbosity,
    /// Options of the verb.
    #[arg(last = true, value_name = "OPTIONS", allow_hyphen_values = true)]
    options: Vec<String>,
}

/// A verb that can be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Planned {
    Merge,
    Pick,
    Join,
    Rewrite,
    Convert,
    Verify,
    Check,
    Readspeed,
    Tune,
    Sweep,
}

/// A batch system.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum System {
    Htcondor,
    Slurm,
}

impl Planned {
    fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Pick => "pick",
            Self::Join => "join",
            Self::Rewrite => "rewrite",
            Self::Convert => "convert",
            Self::Verify => "verify",
            Self::Check => "check",
            Self::Readspeed => "readspeed",
            Self::Tune => "tune",
            Self::Sweep => "sweep",
        }
    }

    /// The names of outputs, unless others are requested.
    fn pattern(self, input: &str) -> Option<&'static str> {
        let is_parquet = || Path::new(input).extension().is_some_and(|ending| ending == "parquet");
        match self {
            Self::Merge => Some("merged_{n}.root"),
            Self::Pick => Some("picked_{n}.root"),
            Self::Join => Some("joined_{n}.root"),
            Self::Rewrite => Some("{stem}_rewritten.root"),
            Self::Tune => Some("{stem}_tuned.root"),
            Self::Convert if is_parquet() => Some("{stem}.root"),
            Self::Convert => Some("{stem}.parquet"),
            Self::Sweep => Some("{stem}_sweep"),
            Self::Verify | Self::Check | Self::Readspeed => None,
        }
    }
}

/// Makes the plan and writes it.
fn planned(args: &Args, &Watch { progress, commands, .. }: &Watch<'_>) -> Result<Jobs> {
    if args.options.iter().any(|option| option == "--append") {
        let append = Hint::switch("append");
        let why = format!("{append} is not for tasks: one that runs again would add its inputs again");
        return Err(Error::request(why).hint(append));
    }
    let found = inputs(&args.inputs)?;
    check_output(&args.output, args.force, found.iter().map(|input| &input.path))?;
    // What it cannot say is better known now.
    args.submit_file(0)?;
    let (found, sizes, bad) = args.whole_inputs(found, progress)?;
    let mut planner = Planner { args, tasks: Vec::new(), inputs: found, taken: HashSet::new(), lists: Vec::new() };
    planner.plan(&sizes, commands, progress)?;
    for task in &planner.tasks {
        (commands.check)(&task.args)?;
    }
    refuse_no_match(&planner.tasks, commands)?;
    let jobs = Jobs { schema: SCHEMA, verb: args.verb.name().to_owned(), tasks: planner.tasks, bad };
    let states = StateFolder::of(&args.output);
    states.make()?;
    for (path, text) in &planner.lists {
        OutputFile::replace(path, text)?;
    }
    let text = serde_json::to_string_pretty(&jobs).map_err(std::io::Error::from)?;
    OutputFile::replace(&args.output, &text)?;
    if let Some((path, text)) = args.submit_file(jobs.tasks.len())? {
        OutputFile::replace(&path, &text)?;
    }
    Ok(jobs)
}

/// Fails if what the options name is in the inputs of no task. What cannot be read here may be at hand where the tasks run.
fn refuse_no_match(tasks: &[Task], commands: Commands) -> Result<()> {
    let mut refused = None;
    let is_refused = |task: &Task| match (commands.look)(&task.args) {
        Err(e) if matches!(e.kind(), ErrorKind::Request(_)) => {
            refused.get_or_insert(e);
            true
        }
        _ => false,
    };
    let all_are = tasks.iter().all(is_refused);
    forget_handed_over();
    refused.filter(|_| all_are).map_or(Ok(()), Err)
}

impl Args {
    /// The submit file, if one is requested.
    fn submit_file(&self, tasks: usize) -> Result<Option<(PathBuf, String)>> {
        let batch = match self.submit {
            None => return Ok(None),
            Some(System::Htcondor) => Batch::HtCondor,
            Some(System::Slurm) => Batch::Slurm,
        };
        let threads = Budget::new(0, self.threads).threads;
        submit_file(batch, &self.output, &std::env::current_dir()?, tasks, (threads, self.memory.bytes())).map(Some)
    }

    /// The inputs without the bad ones, their sizes, and the bad ones. Only merge and tune need their metadata.
    fn whole_inputs(
        &self,
        found: Vec<Input>,
        progress: Progress<'_>,
    ) -> Result<(Vec<Input>, Vec<FileSize>, Vec<BadInput>)> {
        if !matches!(self.verb, Planned::Merge | Planned::Tune) {
            return Ok((found, Vec::new(), Vec::new()));
        }
        let paths: Vec<PathBuf> = found.iter().map(|input| input.path.clone()).collect();
        let (mut whole, mut known, mut bad) = (Vec::new(), Vec::new(), Vec::new());
        for (input, size) in found.into_iter().zip(sizes(&paths, Budget::new(self.memory.bytes(), 0), progress)?) {
            match size {
                Ok(size) => {
                    whole.push(input);
                    known.push(size);
                }
                Err(reason) => {
                    let path = public_path(&input.path).to_string_lossy().into_owned();
                    bad.push(BadInput { path, reason });
                }
            }
        }
        match bad.first() {
            Some(BadInput { path, reason }) if !self.skip_bad || whole.is_empty() => {
                let hint = Hint::switch("skip-bad");
                let why = format!("{reason} ({} of the inputs are bad; {hint} leaves them out)", bad.len());
                Err(Error::request(why).hint(hint).file(path))
            }
            _ => Ok((whole, known, bad)),
        }
    }
}

/// A plan in the making.
struct Planner<'a> {
    args: &'a Args,
    tasks: Vec<Task>,
    inputs: Vec<Input>,
    taken: HashSet<PathBuf>,
    /// Files beside the plan, and their texts.
    lists: Vec<(PathBuf, String)>,
}

impl Planner<'_> {
    fn plan(&mut self, sizes: &[FileSize], commands: Commands, progress: Progress<'_>) -> Result<()> {
        let count = self.inputs.len();
        let each = |n: Option<u64>, default: usize| n.map_or(default, |n| usize::try_from(n).unwrap_or(usize::MAX));
        let chunks = |size: usize| (0..count).step_by(size).map(move |from| from..count.min(from.saturating_add(size)));
        let options = self.args.options.clone();
        match self.args.verb {
            Planned::Merge => {
                let sizes: Vec<u64> = sizes.iter().map(|size| self.size(size)).collect();
                let target = self.args.target_size.unwrap_or(ByteSize(2_000_000_000)).bytes();
                for bin in bins(&sizes, self.args.target_events.unwrap_or(target)) {
                    let mut options = options.clone();
                    options.extend(self.args.skip_bad.then(|| "--skip-bad".to_owned()));
                    self.add_output("merge", bin, &options)?;
                }
            }
            Planned::Pick => {
                let events = self.args.target_events.unwrap_or(PICKED_AT_ONCE);
                self.add_keyed(of_events(&options, events)?)?;
            }
            Planned::Join => {
                let entries = self.args.target_events.unwrap_or(JOINED_AT_ONCE);
                let budget = Budget::new(self.args.memory.bytes(), 0);
                self.add_keyed(of_ranges(&options, &self.inputs, entries, budget, progress)?)?;
            }
            Planned::Rewrite | Planned::Convert | Planned::Sweep => {
                for range in chunks(1) {
                    self.add_output(self.args.verb.name(), range, &options)?;
                }
            }
            Planned::Tune => {
                let layout = self.tune(commands, progress)?;
                for range in chunks(1) {
                    self.add_output("rewrite", range, &["--layout".to_owned(), layout.clone()])?;
                }
            }
            Planned::Verify => {
                let pattern = self.args.name.clone().ok_or_else(|| {
                    let hint = Hint::named("name");
                    let why =
                        format!("verify compares each input with another file: give {hint}, as in new/{{stem}}.root");
                    Error::request(why).hint(hint)
                })?;
                for range in chunks(1) {
                    let other = output_name(&pattern, self.tasks.len(), &self.first(&range))?;
                    self.add("verify", range, &options, None, Some(other))?;
                }
            }
            Planned::Check => {
                for range in chunks(each(self.args.files_per_task, CHECKED_AT_ONCE)) {
                    self.add("check", range, &options, None, None)?;
                }
            }
            Planned::Readspeed => {
                for range in chunks(each(self.args.files_per_task, 1)) {
                    self.add("readspeed", range, &options, None, None)?;
                }
            }
        }
        Ok(())
    }

    /// The size of an input, in bytes or entries as the target is.
    fn size(&self, size: &FileSize) -> u64 {
        match self.args.target_events {
            Some(_) => size.entries,
            None => size.bytes,
        }
    }

    /// Chooses a layout by a sample of the inputs, evenly over them. Returns the file with the layout.
    fn tune(&self, commands: Commands, progress: Progress<'_>) -> Result<String> {
        let states = StateFolder::of(&self.args.output);
        states.make()?;
        let layout = states.path().join("layout.toml").to_string_lossy().into_owned();
        let count = self.args.sample.map_or(SAMPLE, |n| usize::try_from(n).unwrap_or(usize::MAX));
        let sample = evenly_spaced(self.inputs.len(), count).filter_map(|place| self.inputs.get(place)).map(text_of);
        let mut command = vec!["tune".to_owned(), "--force".to_owned(), "--layout-out".to_owned(), layout.clone()];
        command.extend(self.limits());
        command.extend(self.args.options.iter().cloned());
        command.push("--".to_owned());
        command.extend(sample);
        let refused = match (commands.run)(&command, progress) {
            Ok((_, Answer::Yes)) => return Ok(layout),
            Ok((_, Answer::No)) => Error::request("no layout meets these limits; basketry tune explains why"),
            Err(e) => e,
        };
        // There is no plan, and so no folder for it, unless it is that of an earlier one.
        let _ = std::fs::remove_dir(states.path());
        Err(refused)
    }

    fn limits(&self) -> [String; 4] {
        let (threads, memory) = (self.args.threads.to_string(), format!("{}B", self.args.memory.bytes()));
        ["--threads".to_owned(), threads, "--memory".to_owned(), memory]
    }

    fn first(&self, range: &std::ops::Range<usize>) -> String {
        self.inputs.get(range.start).map(|input| input.path.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Adds tasks that know entries by their keys, each with all inputs. Lists of events go into files beside the plan.
    fn add_keyed(&mut self, tasks: Vec<KeyedTask>) -> Result<()> {
        let states = StateFolder::of(&self.args.output);
        for KeyedTask { mut options, lists } in tasks {
            let name = |place: usize| format!("events-{}-{place}.txt", self.tasks.len());
            let files: Vec<_> =
                lists.into_iter().enumerate().map(|(n, text)| (states.path().join(name(n)), text)).collect();
            options.extend(files.iter().map(|(path, _)| format!("--events={}", path.display())));
            self.lists.extend(files);
            self.add_output(self.args.verb.name(), 0..self.inputs.len(), &options)?;
        }
        Ok(())
    }

    /// Adds a task with an output.
    fn add_output(&mut self, verb: &str, range: std::ops::Range<usize>, options: &[String]) -> Result<()> {
        let first = self.first(&range);
        let pattern = self.args.name.as_deref().or(self.args.verb.pattern(&first)).unwrap_or_default();
        let output = output_name(pattern, self.tasks.len(), &first)?;
        if !self.taken.insert(output.clone()) {
            let hint = Hint::named("name");
            let why = format!("two tasks would write this file; put {{n}} into {hint}");
            return Err(Error::request(why).hint(hint).file(output));
        }
        check_output(&output, self.args.force, self.inputs.iter().map(|input| &input.path))?;
        self.add(verb, range, options, Some(output), None)
    }

    /// Adds a task. `other` is a file behind its inputs.
    fn add(
        &mut self,
        verb: &str,
        range: std::ops::Range<usize>,
        options: &[String],
        output: Option<PathBuf>,
        other: Option<PathBuf>,
    ) -> Result<()> {
        let mut args = vec![verb.to_owned()];
        let inputs: Vec<String> = self.inputs.get(range).unwrap_or_default().iter().map(text_of).collect();
        if let Some(output) = &output {
            args.extend(["--output".to_owned(), output.to_string_lossy().into_owned()]);
            args.extend((self.args.force && verb != "sweep").then(|| "--force".to_owned()));
        }
        if verb != "sweep" {
            args.extend(self.limits());
        }
        args.extend(options.iter().cloned());
        args.push("--".to_owned());
        args.extend(inputs.iter().cloned());
        args.extend(other.map(|other| other.to_string_lossy().into_owned()));
        self.tasks.push(Task { n: self.tasks.len(), verb: verb.to_owned(), args, inputs, output });
        Ok(())
    }
}

/// An input as an argument.
fn text_of(input: &Input) -> String {
    let path = input.path.to_string_lossy();
    match &input.tree {
        Some(tree) => format!("{path}:{tree}"),
        None => path.into_owned(),
    }
}

impl VerbCommand for Args {
    type Report = Jobs;

    fields!(verbosity);

    fn work(&self, watch: &Watch<'_>) -> Result<Jobs> {
        planned(self, watch).map(|jobs| jobs.public())
    }

    fn tells_of_unclosed(&self, _: &Jobs) -> bool {
        true
    }

    fn answer(jobs: &Jobs) -> Answer {
        if jobs.bad.is_empty() { Answer::Yes } else { Answer::No }
    }

    /// Errors are those of the verb of its tasks, which takes the option.
    fn has_option(_: &str) -> bool {
        true
    }

    fn print(&self, jobs: &Jobs, _: Instant) -> Result<()> {
        for bad in &jobs.bad {
            eprintln!("basketry: left out: {}: {}", output::line(&bad.path), output::line(&bad.reason));
        }
        if !self.verbosity.quiet {
            let (count, last) = (jobs.tasks.len(), jobs.tasks.len().saturating_sub(1));
            let mut out = output::stdout();
            writeln!(
                out,
                "{}, 0 to {last}: {} --task N",
                output::plural(count as u64, "task", "tasks"),
                run_command(&self.output)
            )?;
            if let Some((path, _)) = self.submit_file(count)? {
                writeln!(out, "submit file: {}", output::line(&path.display().to_string()))?;
            }
            out.flush()?;
        }
        Ok(())
    }
}
