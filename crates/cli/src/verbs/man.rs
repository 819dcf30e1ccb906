//! `basketry man`: the manual pages of the command and of each verb, for packages that install them. clap writes them from the
//! same texts as `--help`.

use std::path::PathBuf;

use rootfile::Result;

use crate::output::Answer;

/// Write the manual pages of the command and of each verb into a folder: basketry.1, basketry-inspect.1, ...
#[derive(clap::Args)]
pub struct Args {
    /// The folder; it is made if there is none.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

pub fn run(args: &Args, command: clap::Command) -> Result<Answer> {
    std::fs::create_dir_all(&args.folder)?;
    clap_mangen::generate_to(command, &args.folder)?;
    Ok(Answer::Yes)
}
