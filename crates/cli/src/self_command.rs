//! How the command starts itself again, for jobs in processes of their own. The running executable is started, unless the
//! package that ships the command registers another program. The verbs decide what the jobs do.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use rootfile::Result;

/// The program that starts the command.
#[derive(Clone, Debug)]
pub struct SelfCommand {
    /// The program.
    pub program: PathBuf,
    /// Its leading arguments, before those of the command.
    pub arguments: Vec<OsString>,
    /// The file with the compiled code: it tells builds apart.
    pub code: PathBuf,
}

static SELF_COMMAND: OnceLock<SelfCommand> = OnceLock::new();

/// Registers the program that starts the command, if it is not the running executable. The first call counts.
pub fn starts_as(itself: SelfCommand) {
    let _ = SELF_COMMAND.set(itself);
}

impl SelfCommand {
    /// The program that starts the running command.
    pub(crate) fn get() -> Result<Self> {
        if let Some(itself) = SELF_COMMAND.get() {
            return Ok(itself.clone());
        }
        let program = std::env::current_exe()?;
        Ok(Self { code: program.clone(), program, arguments: Vec::new() })
    }

    /// The command, without its arguments.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }
}
