//! `basketry run`: runs one task of a plan, unless it is done.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use dataset::layout::ByteSize;
use flow::Progress;
use lab::jobs::{Ended, Jobs, Output, SCHEMA, State, StateFolder, Task};
use rootfile::{ErrorKind, Result};

use super::plan::Run;
use crate::options::Verbosity;
use crate::output::{self, Answer};

/// Run one task of a plan that `basketry plan` wrote.
///
/// A task that is done, and whose output is still the one it wrote, is skipped. The result goes into a small file in the
/// folder PLAN.d, for `basketry collect`. A task that was killed can be repeated: its output appears only when it is whole.
///
/// Exit codes are those of the command of the task.
#[derive(clap::Args)]
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
pub fn work(args: &Args, run: Run<'_>, progress: Progress<'_>) -> Result<(State, bool)> {
    let jobs = Jobs::read(&args.plan)?;
    let task = jobs.task(args.task)?;
    let states = StateFolder::of(&args.plan);
    // A state that cannot be read is replaced.
    let last = states.last(task).ok().flatten();
    if let Some(state) = &last
        && state.state == Ended::Done
        && state.is_current()
        && !args.again
    {
        return Ok((state.clone(), true));
    }
    let there = task.output.as_deref().and_then(|path| Output::now(path).ok());
    let own = last.is_some_and(|last| last.state == Ended::Started || last.output == there);
    let begun = |state, seconds, whole| State {
        schema: SCHEMA,
        n: task.n,
        args: task.args.clone(),
        state,
        whole,
        reason: None,
        seconds,
        output: None,
        report: None,
    };
    // A file of others stays there, and so does this fact: the command refuses to replace it.
    if there.is_none() || own {
        states.write(&begun(Ended::Started, 0.0, false))?;
    }
    let start = Instant::now();
    let result = run(&args.command(task, there.is_some() && own), progress);
    let seconds = start.elapsed().as_secs_f64();
    let ended = |state, whole| begun(state, seconds, whole);
    match result {
        Ok((report, answer)) => {
            let mut state = ended(Ended::Done, answer == Answer::Yes);
            state.report = Some(serde_json::from_str(&report).map_err(std::io::Error::from)?);
            state.output = task.output.as_deref().map(Output::now).transpose()?;
            states.write(&state)?;
            Ok((state, false))
        }
        // Nothing is known about a task that a user or a system ended.
        Err(e) if matches!(e.kind(), ErrorKind::Interrupted) => Err(e),
        Err(e) => {
            let state = State { reason: Some(e.to_string()), ..ended(Ended::Failed, false) };
            states.write(&state)?;
            Err(e)
        }
    }
}

impl Args {
    /// The command of a task, with the threads and the memory of this run. `replace` is whether the task may replace its
    /// own output; a sweep continues it.
    fn command(&self, task: &Task, replace: bool) -> Vec<String> {
        let mut command = task.args.clone();
        let forced = command.iter().take_while(|word| *word != "--").any(|word| word == "--force" || word == "-f");
        if replace && !forced && task.verb != "sweep" {
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

pub fn run(args: &Args, run: Run<'_>) -> Result<Answer> {
    let (state, skipped) = work(args, run, &flow::unwatched)?;
    if args.verbosity.json {
        output::json(&state)?;
    } else if !args.verbosity.quiet {
        let mut out = output::stdout();
        let how = if skipped { "was done before, in" } else { "done in" };
        write!(out, "task {} {how} {:.2} s", state.n, state.seconds)?;
        if let Some(written) = &state.output {
            let path = written.path.display().to_string();
            write!(out, ": {}, {}", output::line(&path), output::bytes(written.bytes))?;
        }
        writeln!(out, "{}", if state.whole { "" } else { "; the answer is no: basketry collect lists why" })?;
        out.flush()?;
    }
    Ok(if state.whole { Answer::Yes } else { Answer::No })
}
