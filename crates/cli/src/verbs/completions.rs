//! `basketry completions`: the script that lets a shell complete verbs and options. clap writes it from the arguments of the
//! verbs; nothing is listed here.

use std::io::Write;

use clap_complete::Shell;
use rootfile::{Error, Result};

use crate::output::{self, Answer};
use crate::verb_command::{Commands, VerbCommand, Watch};

/// Print the script that completes verbs, options and their values in a shell.
///
/// bash: source <(basketry completions bash), in ~/.bashrc. zsh: basketry completions zsh > FOLDER/_basketry, with a FOLDER
/// of $fpath. fish: basketry completions fish > ~/.config/fish/completions/basketry.fish.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry completions bash > ~/.local/share/bash-completion/completions/basketry
  basketry completions fish > ~/.config/fish/completions/basketry.fish")]
pub struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl VerbCommand for Args {
    type Report = ();

    fn work(&self, _: &Watch<'_>) -> Result<()> {
        Err(Error::request("completions is only for the command line: it has no report"))
    }

    fn run(&self, commands: Commands) -> Result<Answer> {
        let mut command = (commands.whole)();
        let name = command.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, name, &mut script);
        let mut out = output::raw_stdout();
        out.write_all(&script)?;
        out.flush()?;
        Ok(Answer::Yes)
    }
}
