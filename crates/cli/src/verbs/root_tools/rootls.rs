//! `rootls`: lists objects in the form of ROOT's tool.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};

use flow::inputs::inputs;
use lab::look::root_list::{RootListOptions, root_list};
use rootfile::Result;

use super::tool::{root_tool, say};
use crate::output::{self, Answer};

/// Characters of a line where there is no terminal.
const WIDTH: usize = 80;

/// List the objects of files, with the flags and in the form of ROOT's rootls. See also `ls`.
#[derive(clap::Args)]
pub struct Args {
    /// FILE, FILE:PATH, or a pattern.
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<OsString>,
    /// A name a line.
    #[arg(short = '1', long = "oneColumn")]
    one_column: bool,
    /// All cycles of each name.
    #[arg(short = 'c', long = "allCycles")]
    all_cycles: bool,
    /// Classes, dates, cycles and titles.
    #[arg(short = 'l', long = "longListing")]
    long: bool,
    /// As -l, with branches and clusters of trees.
    #[arg(short = 't', long = "treeListing")]
    trees: bool,
    /// As -l, with fields of RNTuples.
    #[arg(short = 'R', long = "rntupleListing")]
    ntuples: bool,
    /// Directories with all below them.
    #[arg(short = 'r', long = "recursiveListing")]
    recursive: bool,
}

impl Args {
    fn do_it(&self) -> Result<Answer> {
        let options = RootListOptions {
            one_column: self.one_column,
            long: self.long,
            trees: self.trees,
            ntuples: self.ntuples,
            recursive: self.recursive,
            all_cycles: self.all_cycles,
            width: if std::io::stdout().is_terminal() { output::width() } else { WIDTH },
        };
        let list = root_list(&inputs(&self.inputs)?, &options)?;
        let mut out = output::whole_lines();
        let mut lines = list.text.lines();
        let printed = lines.try_for_each(|line| writeln!(out, "{}", output::line(line))).and_then(|()| out.flush());
        list.unmatched.iter().for_each(|path| say("Error", "rootls", &format!("'{path}' matches no objects.")));
        output::answered(printed.map_err(Into::into), if list.unmatched.is_empty() { Answer::Yes } else { Answer::No })
    }
}

root_tool!(Args, "rootls");
