//! `basketry cp`: copies objects and directories into a file.

use std::ffi::OsString;

use flow::edit::{Edited, TransferOptions, copy};
use flow::inputs::{Input, inputs};
use rootfile::Result;
use rootfile::codec::Compression;

use super::{TakenArgs, edited};
use crate::options::{Resources, Verbosity};
use crate::verb_command::{VerbCommand, Watch};

/// Copy objects and directories into a file, as cp copies files.
///
/// A source is FILE:PATH, the newest cycle of an object, or FILE:PATH;CYCLE; a pattern in quotes such as 'f.root:dir/h*', whose * stays within
/// a directory; or FILE for all in it. The destination is a file, which is made if it is not there, a directory in it, or a new name for one
/// source; directories above it are made. Trees and RNTuples come with all their entries, unchanged.
///
/// The destination is changed in place: what is there stays, new records follow, and one write switches readers to them. Exit code 0: done; 1: directories were left
/// out, as -r was not given, and the rest is copied; 2: nothing is changed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry cp run1.root:pt 'run2.root:eta*' hists.root
  basketry cp hists.root:pt hists.root:backup/pt
  basketry cp -r run1.root:hists all.root:run1
  basketry cp --replace new.root:Events old.root")]
pub struct Args {
    /// Sources, and at the end the destination: FILE or FILE:PATH.
    #[arg(required = true, num_args = 2.., value_name = "FILE[:PATH]")]
    inputs: Vec<OsString>,
    /// Copy directories with all that is in them.
    #[arg(short, long)]
    recursive: bool,
    #[command(flatten)]
    taken: TakenArgs,
    /// Make the destination anew: what it has so far goes.
    #[arg(long)]
    recreate: bool,
    /// Compress the records of a new destination so. Default: they keep their compression.
    #[arg(short, long, value_name = "CODEC")]
    compression: Option<Compression>,
    /// Write the file anew, without gaps, and not in place: the space of what goes comes back at once. Otherwise later changes use it.
    #[arg(long)]
    compact: bool,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    edited!();

    fn work(&self, watch: &Watch<'_>) -> Result<Edited> {
        let (destination, sources) = split_last(&self.inputs);
        let sources = inputs(sources)?;
        watch.will_read(sources.iter().map(|source| &source.path));
        let options = TransferOptions {
            recursive: self.recursive,
            taken: self.taken.taken(),
            recreate: self.recreate,
            compression: self.compression,
            compact: self.compact,
            budget: self.resources.budget(),
        };
        copy(&sources, &destination, &options, watch.progress)
    }
}

/// The last argument, which is the destination, and those before it.
pub fn split_last(arguments: &[OsString]) -> (Input, &[OsString]) {
    match arguments.split_last() {
        Some((last, rest)) => (last.clone().into(), rest),
        None => (OsString::new().into(), arguments),
    }
}
