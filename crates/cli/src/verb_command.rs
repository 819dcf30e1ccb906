//! What each verb of the command is: arguments that do work, whose report is printed for people, as JSON, or returned to a
//! program. The verbs implement it, one module each.

use std::path::Path;
use std::time::Instant;

use flow::{Budget, Progress, allocator};
use indicatif::ProgressBar;
use rootfile::{Result, forget_handed_over};
use serde::Serialize;

use crate::interrupt::{AfterNaming, wait_if_ending};
use crate::options::{Asked, Verbosity};
use crate::output::{self, Answer};
use crate::unclosed;

/// A report as JSON, and the answer.
pub type Reported = (String, Answer);

/// The parser of all verbs and what runs them, for verbs that describe the command or run other verbs.
#[derive(Clone, Copy)]
pub struct Commands {
    /// The description of the whole command.
    pub whole: fn() -> clap::Command,
    /// Checks the arguments of a task, which begin with a verb.
    pub check: fn(&[String]) -> Result<()>,
    /// Looks whether the inputs of a task have what its arguments name.
    pub look: fn(&[String]) -> Result<()>,
    /// Runs the command of a task, and returns its report as JSON and its answer.
    pub run: fn(&[String], Progress<'_>) -> Result<Reported>,
}

/// Who watches the work of a verb.
pub struct Watch<'a> {
    /// Is told how much is done, and can stop the work.
    pub progress: Progress<'a>,
    /// The bar on the terminal, if this is the command.
    pub bar: Option<&'a ProgressBar>,
    /// The parser of all verbs.
    pub commands: Commands,
}

impl Watch<'_> {
    /// The bar will count the bytes of these files.
    pub fn will_read<P: AsRef<Path>>(&self, paths: impl IntoIterator<Item = P>) {
        if let Some(bar) = self.bar {
            bar.set_length(output::bytes_of(paths));
        }
    }
}

/// What a verb prints, and its budget, by the fields of its arguments.
macro_rules! fields {
    ($($verbosity:ident).+ $(, $($resources:ident).+)?) => {
        fn verbosity(&self) -> &crate::options::Verbosity {
            &self.$($verbosity).+
        }

        $(fn budget(&self) -> Option<flow::Budget> {
            Some(self.$($resources).+.budget())
        })?
    };
}
pub(crate) use fields;

/// A verb: its arguments.
pub trait VerbCommand: clap::Args {
    /// What its JSON is made of.
    type Report: Serialize;

    /// What its bar says is done, such as `written`. Empty: it has no bar.
    const DONE: &'static str = "";
    /// Whether it fills new files with values, which is what the allocator is then set up for.
    const FILLS: bool = false;

    /// What it prints.
    fn verbosity(&self) -> &Verbosity {
        &Verbosity { quiet: false, json: false }
    }

    /// Its budget, if it has one. `None`: it needs little, starts other processes, or sets the budget itself.
    fn budget(&self) -> Option<Budget> {
        None
    }

    /// Limits what the allocator of this process keeps, by the budget.
    fn set_up_allocator(&self) {
        match self.budget() {
            Some(budget) if Self::FILLS => allocator::ours_for_writing(&budget),
            Some(budget) => allocator::ours(&budget),
            None => {}
        }
    }

    /// The effect of a signal once all outputs have their names. `None`: it handles signals itself.
    fn when_told_to_end(&self) -> Option<AfterNaming> {
        Some(AfterNaming::IsDone)
    }

    /// What its arguments name, which must be in its inputs.
    fn asked(&self) -> Result<Asked> {
        Ok(Asked::default())
    }

    /// Looks whether its inputs have what its arguments name, where they are not to be read now.
    fn look_ahead(&self) -> Result<()> {
        self.asked()?.check_ahead().map_err(|e| e.for_options(Self::has_option))
    }

    /// Adds notes to the report. Returns them if it has no place for them.
    fn take_notes(_report: &mut Self::Report, notes: Vec<String>) -> Vec<String> {
        notes
    }

    /// Does the work, if its inputs have what its arguments name.
    fn checked_work(&self, watch: &Watch<'_>) -> Result<Self::Report> {
        let notes = self.asked()?.check()?;
        let report = self.work(watch);
        forget_handed_over();
        let mut report = report?;
        let untold = Self::take_notes(&mut report, notes);
        untold.iter().filter(|_| watch.bar.is_some()).for_each(|note| output::warn(note));
        Ok(report)
    }

    /// Does the work.
    fn work(&self, watch: &Watch<'_>) -> Result<Self::Report>;

    /// Whether its report tells of files that were not closed in its own words, or is about such files.
    fn tells_of_unclosed(&self, _report: &Self::Report) -> bool {
        false
    }

    /// Its answer: the exit code.
    fn answer(_report: &Self::Report) -> Answer {
        Answer::Yes
    }

    /// Prints the report for people, who have waited since `start`.
    fn print(&self, _report: &Self::Report, _start: Instant) -> Result<()> {
        Ok(())
    }

    /// Runs the verb as the command: with a bar, and with the report printed.
    fn run(&self, commands: Commands) -> Result<Answer> {
        let Verbosity { quiet, json } = *self.verbosity();
        let bar = output::progress(0, Self::DONE, quiet || json || Self::DONE.is_empty());
        let start = Instant::now();
        let progress = |done| output::advance(&bar, done);
        let report = self.checked_work(&Watch { progress: &progress, bar: Some(&bar), commands });
        bar.finish_and_clear();
        let report = report?;
        if self.tells_of_unclosed(&report) {
            unclosed::all_told();
        }
        let answer = Self::answer(&report);
        let printed = if json { output::json(&report) } else { self.print(&report, start) };
        // The process ends here; to take thousands of strings apart first is a tenth of the time of `inspect`.
        std::mem::forget(report);
        output::answered(printed, answer)
    }

    /// Whether it has an option, by its name without dashes: of what is shared by all verbs, its errors offer ways out by these alone.
    fn has_option(name: &str) -> bool {
        let command = Self::augment_args(clap::Command::new("verb"));
        command.get_arguments().any(|option| option.get_long() == Some(name))
    }

    /// Runs the verb as the command, and returns the exit code.
    fn exit_code(&self, commands: Commands) -> u8 {
        output::exit_code(ended::<Self>(self.run(commands)))
    }

    /// Runs the verb, and returns the report as JSON and its answer. Nothing is printed.
    fn report(&self, progress: Progress<'_>, commands: Commands) -> Result<Reported> {
        let report = self.checked_work(&Watch { progress, bar: None, commands });
        let report = report.map_err(|e| e.for_options(Self::has_option))?;
        Ok((output::json_text(&report)?, Self::answer(&report)))
    }
}

/// The result of a verb, unless a signal ends the process. People are warned of what no report has told.
pub fn ended<V: VerbCommand>(result: Result<Answer>) -> Result<Answer> {
    wait_if_ending();
    let result = result.map_err(|e| e.for_options(V::has_option));
    unclosed::take_untold(result.as_ref().err()).iter().for_each(|sentence| output::warn(sentence));
    result
}
