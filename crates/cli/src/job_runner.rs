//! Runners of a sweep's jobs: this program, started again for each of them, and a runner that an interrupt stops between two jobs.

use std::collections::BTreeMap;
use std::path::Path;

use flow::Progress;
use lab::sweep::SweepInput;
use lab::sweep::runner::{Measured, ProcessRunner, Runner, Task};
use rootfile::Result;

use crate::self_command::SelfCommand;

/// This program, started again for each job with a hidden option.
pub fn own_process(option: &str) -> Result<ProcessRunner> {
    let SelfCommand { program, mut arguments, code } = SelfCommand::get()?;
    arguments.extend(["sweep".into(), option.into()]);
    Ok(ProcessRunner::new(program, arguments, code, option_env!("BASKETRY_COMMIT")))
}

/// A runner that counts its jobs, and starts no more after an interrupt.
pub struct Stoppable<'a> {
    pub runner: Box<dyn Runner>,
    pub progress: Progress<'a>,
}

impl Runner for Stoppable<'_> {
    fn versions(&self) -> BTreeMap<String, String> {
        self.runner.versions()
    }

    fn prepare(&mut self, folder: &Path, subject: &SweepInput) -> Result<()> {
        self.runner.prepare(folder, subject)
    }

    fn commands(&self, task: &Task) -> Result<Vec<Vec<String>>> {
        self.runner.commands(task)
    }

    fn run(&mut self, task: &Task) -> Result<Measured> {
        flow::tell(self.progress, 0)?;
        let measured = self.runner.run(task)?;
        // What was measured is kept: the next job is not begun.
        let _ = (self.progress)(1);
        Ok(measured)
    }
}
