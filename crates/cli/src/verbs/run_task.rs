//! `basketry run`: runs one task of a plan, unless it is done.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use dataset::layout::ByteSize;
use lab::jobs::{Ended, Jobs, Output, SCHEMA, State, StateFolder, Task, runner};
use rootfile::{Error, ErrorKind, NamingWatch, Result};

use crate::options::Verbosity;
use crate::output::{self, Answer};
use crate::verb_command::{VerbCommand, Watch, fields};

/// Run one task of a plan that `basketry plan` wrote.
///
/// A task that is done, and whose output is still the one it wrote, is skipped. The result goes into a small file in the
/// folder PLAN.d, for `basketry collect`. A task that was killed can be repeated: its output appears only when it is whole, and
/// only a file that the task itself wrote is replaced. A task that another process runs is left to it.
///
/// A plan is to be trusted like a script: a task is any basketry command, also one that runs others.
///
/// Exit codes are those of the command of the task.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry run plan.json --task 0
  basketry run plan.json --task 7 --threads 4 --again")]
pub struct Args {
    /// The plan.
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// The number of the task, from 0 on.
    #[arg(long, value_name = "N")]
    task: usize,
    /// Run the task although it is done.
    #[arg(long)]
    again: bool,
    /// Threads to use instead of those of the plan; 0 means all cores.
    #[arg(short = 'j', long, value_name = "N")]
    threads: Option<usize>,
    /// Maximum memory of the work instead of that of the plan.
    #[arg(long, value_name = "SIZE")]
    memory: Option<ByteSize>,
    #[command(flatten)]
    verbosity: Verbosity,
}

/// Runs the task. Also returns whether it was skipped.
///
/// # Errors
///
/// Those of the task's command: its state has them too.
fn done(args: &Args, &Watch { progress, commands, .. }: &Watch<'_>) -> Result<(State, bool)> {
    let jobs = Jobs::read(&args.plan)?;
    let task = jobs.task(args.task)?;
    let states = Arc::new(StateFolder::of(&args.plan));
    let done = || states.last(task).state().filter(|state| state.state == Ended::Done && state.is_current());
    if let Some(state) = done().filter(|_| !args.again) {
        return Ok((state, true));
    }
    let lock = states.lock(task)?;
    // Another runner may have had the lock until now.
    if let Some(state) = done().filter(|_| !args.again) {
        return Ok((state, true));
    }
    let there = task.output.as_deref().and_then(|path| Output::now(path).ok());
    let own = there.filter(|there| states.last(task).state().is_some_and(|last| last.wrote(there)));
    let replace = own.is_some();
    let mut state = State {
        schema: SCHEMA,
        n: task.n,
        args: task.args.clone(),
        state: Ended::Started,
        whole: false,
        reason: None,
        seconds: 0.0,
        output: None,
        earlier: own,
        runner: Some(runner()),
        report: None,
    };
    states.write(&state)?;
    let named = Arc::new(Mutex::new(None));
    let watch = task.output.as_deref().map(|output| {
        let (states, named, begun, output) = (states.clone(), named.clone(), state.clone(), output.to_path_buf());
        let own = replace && !forced(&task.args);
        let task = task.clone();
        NamingWatch::new(&output.clone(), move |hidden| {
            // Where there are no locks, another runner may have begun since.
            if states.last(&task).state().is_some_and(|last| last.runner != begun.runner) {
                let why = format!("task {} is run by another process as well; this one's output is dropped", task.n);
                return Err(Error::request(why));
            }
            // What came to this name during the work is not the task's to replace.
            if own && Output::now(&output).is_ok_and(|there| !begun.wrote(&there)) {
                let why = "was replaced by another program while the task ran; the task's own output is dropped";
                return Err(Error::request(why).file(&output));
            }
            let written = Output::at(&output, hidden)?;
            states.write(&State { output: Some(written.clone()), ..begun.clone() })?;
            *named.lock().unwrap_or_else(PoisonError::into_inner) = Some(written);
            Ok(())
        })
    });
    let start = Instant::now();
    let result = (commands.run)(&args.command(task, replace), progress);
    state.seconds = start.elapsed().as_secs_f64();
    drop(watch);
    state.output = named.lock().unwrap_or_else(PoisonError::into_inner).take();
    let result = match result {
        Ok((report, answer)) => {
            (state.state, state.whole) = (Ended::Done, answer == Answer::Yes);
            state.report = Some(serde_json::from_str(&report).map_err(std::io::Error::from)?);
            if state.output.is_none() {
                let there = task.output.as_deref().map(Output::now);
                state.output = match answer {
                    Answer::Yes => there.transpose()?,
                    // It may have had nothing to write; what is there is then that of an earlier run.
                    Answer::No => there.and_then(Result::ok).filter(|there| !state.wrote(there)),
                };
            }
            state.earlier = None;
            states.write(&state)?;
            Ok((state, false))
        }
        // Nothing is known about a task that a user or a system ended.
        Err(e) if matches!(e.kind(), ErrorKind::Interrupted) => Err(e),
        Err(e) => {
            // Where there are no locks, another runner may have done the task, or is about to.
            let last = states.last(task).state();
            if last.is_none_or(|last| last.runner == state.runner) {
                (state.state, state.reason) = (Ended::Failed, Some(e.to_string()));
                states.write(&state)?;
            }
            Err(e)
        }
    };
    drop(lock);
    result
}

impl Args {
    /// The command of a task, with the threads and the memory of this run. `replace` is whether the task may replace its
    /// own output; a sweep continues it.
    fn command(&self, task: &Task, replace: bool) -> Vec<String> {
        let mut command = task.args.clone();
        if replace && !forced(&command) && task.verb != "sweep" {
            command.insert(1.min(command.len()), "--force".to_owned());
        }
        let mut set = |option: &str, value: Option<String>| {
            let place = command.iter().position(|word| word == option).map(|place| place + 1);
            if let (Some(value), Some(slot)) = (value, place.and_then(|place| command.get_mut(place))) {
                *slot = value;
            }
        };
        set("--threads", self.threads.map(|threads| threads.to_string()));
        set("--memory", self.memory.map(|memory| format!("{}B", memory.bytes())));
        command
    }
}

/// Whether a command replaces whatever is at its output's name.
fn forced(command: &[String]) -> bool {
    command.iter().take_while(|word| *word != "--").any(|word| word == "--force" || word == "-f")
}

/// The state of a task that was run, or was done before.
#[derive(serde::Serialize)]
#[serde(transparent)]
pub struct Ran {
    state: State,
    #[serde(skip)]
    skipped: bool,
}

impl VerbCommand for Args {
    type Report = Ran;

    fields!(verbosity);

    fn work(&self, watch: &Watch<'_>) -> Result<Ran> {
        let (state, skipped) = done(self, watch)?;
        Ok(Ran { state: state.public(), skipped })
    }

    fn answer(ran: &Ran) -> Answer {
        if ran.state.whole { Answer::Yes } else { Answer::No }
    }

    /// Errors are those of the verb of its tasks, which takes the option.
    fn has_option(_: &str) -> bool {
        true
    }

    fn print(&self, Ran { state, skipped }: &Ran, _: Instant) -> Result<()> {
        if self.verbosity.quiet {
            return Ok(());
        }
        let mut out = output::stdout();
        let how = if *skipped { "was done before, in" } else { "done in" };
        write!(out, "task {} {how} {:.2} s", state.n, state.seconds)?;
        if let Some(written) = &state.output {
            let path = written.path.display().to_string();
            write!(out, ": {}, {}", output::line(&path), output::bytes(written.bytes))?;
        }
        writeln!(out, "{}", if state.whole { "" } else { "; the answer is no: basketry collect lists why" })?;
        Ok(out.flush()?)
    }
}
