//! `basketry sort`: the entries of files in the order of their keys.

use flow::{ContentOptions, EntryOrder, Options, PlanOptions, SortBy};
use rootfile::Result;

use super::file_output::{FileOutputArgs, FileOutputVerb};
use crate::options::{Differing, sort_key_of};

/// Sort the entries of one or several files by keys, into one file.
///
/// The columns of the key are read first; then each input is read once, and its entries wait beside the output until their turn comes, if
/// they have no room in memory. Inputs that are sorted already are merged in one pass, and nothing waits. Entries with equal keys stay in the order of the inputs. What is no number (NaN) comes last, in either
/// direction. Trees without the columns of the key stay as they are, and so do other objects, as in `merge`. The index of a tree
/// (BuildIndex) gets the new numbers of its entries; friends that are not found by one are left out, with a note.
///
/// Clusters have the usual size of those of the inputs, unless options change it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry sort events.root -o sorted.root --by run,luminosityBlock,event
  basketry sort 'run*.root' -o hardest.root --by=-MET_pt
  basketry sort events.root:Events -o sorted.root --by nMuon,event --descending --compression zstd:5")]
pub struct Args {
    /// The key: columns, or expressions with one number for each entry, with commas between them; the first counts most. A minus before
    /// one lets it descend, as in -pt,event.
    #[arg(long, value_name = "KEY", required = true, allow_hyphen_values = true)]
    by: Vec<String>,
    /// From the largest key to the least; a minus before a column then lets it ascend.
    #[arg(long)]
    descending: bool,
    #[command(flatten)]
    differing: Differing,
    #[command(flatten)]
    file_output: FileOutputArgs,
}

impl FileOutputVerb for Args {
    fn file_output(&self) -> &FileOutputArgs {
        &self.file_output
    }

    fn own_options(&self) -> Result<Options> {
        let beside = Some(self.file_output.output().to_path_buf());
        let by = sort_key_of(&self.by, "by")?.map(|key| SortBy {
            key: if self.descending { key.reversed() } else { key },
            is_sorted: false,
            beside,
        });
        Ok(Options {
            content: ContentOptions { order: by.map(EntryOrder::By), ..ContentOptions::default() },
            plan: PlanOptions { schema: self.differing.schema(), ..PlanOptions::default() },
            ..Options::default()
        })
    }
}
