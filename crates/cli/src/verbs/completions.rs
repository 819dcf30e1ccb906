//! `basketry completions`: the script that lets a shell complete verbs and options. clap writes it from the arguments of the
//! verbs; nothing is listed here.

use std::io::Write;

use clap_complete::Shell;
use rootfile::Result;

use crate::output::{self, Answer};

/// Print the script that completes verbs, options and their values in a shell.
///
/// bash: source <(basketry completions bash), in ~/.bashrc. zsh: basketry completions zsh > FOLDER/_basketry, with a FOLDER
/// of $fpath. fish: basketry completions fish > ~/.config/fish/completions/basketry.fish.
#[derive(clap::Args)]
pub struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(args: &Args, mut command: clap::Command) -> Result<Answer> {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    let mut out = output::raw_stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Answer::Yes)
}
