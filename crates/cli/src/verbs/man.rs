//! `basketry man`: the manual pages of the command and of each verb, for packages that install them. clap writes them from the
//! same texts as `--help`.

use std::path::PathBuf;

use rootfile::Result;

use crate::verb_command::{VerbCommand, Watch};

/// Write the manual pages of the command and of each verb into a folder: basketry.1, basketry-inspect.1, ...
#[derive(clap::Args)]
pub struct Args {
    /// The folder; it is made if there is none.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

impl VerbCommand for Args {
    type Report = ();

    fn work(&self, watch: &Watch<'_>) -> Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        clap_mangen::generate_to((watch.commands.whole)(), &self.folder).map_err(Into::into)
    }
}
