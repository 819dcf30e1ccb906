//! `basketry inspect`: what is in a file, how it lies, and what is wrong with it.

use std::io::Write;

use dataset::tree::{is_tree_class, read_tree};
use rootfile::{Result, RootFile};

use crate::options::{Input, Talk};
use crate::output::{self, Answer};

/// Show what is in a file and how it lies there; ends with what is wrong with it, worst first.
#[derive(clap::Args)]
pub struct Args {
    /// FILE, or FILE:TREE for one of its trees.
    #[arg(value_name = "FILE")]
    input: Input,
    #[command(flatten)]
    talk: Talk,
}

/// Does it.
pub fn run(args: &Args) -> Result<Answer> {
    let file = RootFile::open(&args.input.path)?;
    let mut table = output::table(&["tree", "class", ">entries", ">branches", ">in memory", ">on disk"]);
    for directory in file.walk().directories {
        for key in directory.keys.iter().filter(|key| is_tree_class(&file, &key.class)) {
            let tree = read_tree(&file, key)?;
            table.add_row([
                directory.path_of(&key.name),
                tree.class.clone(),
                output::count(tree.entries),
                output::count(tree.branches.len() as u64),
                output::bytes(tree.tot_bytes),
                output::bytes(tree.zip_bytes),
            ]);
        }
    }
    let mut out = output::stdout();
    writeln!(out, "{}", table.trim_fmt())?;
    out.flush()?;
    Ok(Answer::Yes)
}
