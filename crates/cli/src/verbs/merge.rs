//! `basketry merge`: merges several files into one.

use clap::ValueEnum;
use dataset::layout::ByteSize;
use flow::{ContentOptions, EntryOrder, InputOptions, Options, Pack, PlanOptions, SortBy, Unique};
use rootfile::Result;

use super::file_output::{FileOutputArgs, FileOutputVerb};
use crate::options::{Differing, key_of, sort_key_of};

/// Merge files into one: trees one after the other, histograms added, directories joined.
///
/// Large clusters are copied as they are; small ones are combined. The inputs' trees must have the same branches,
/// unless --common, --fill or --widen is given; trees without entries may differ. Objects of equal names that cannot be merged
/// are all kept, as cycles. The output has the layout of the first input, unless options change it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry merge run1.root run2.root -o all.root
  basketry merge 'run*.root' -o all.root --fill --cluster 30MB
  basketry merge @list.txt -o all.root --skip-bad
  basketry merge 'run*.root' -o all.root --unique run,luminosityBlock,event
  basketry merge 'sorted*.root' -o all.root --by run,event
  basketry merge run3.root -o all.root --append")]
pub struct Args {
    #[command(flatten)]
    differing: Differing,
    /// Leave out the index (BuildIndex) of a tree where not all inputs have one. Without this option it is made for the
    /// others, from the columns that it names; where that cannot be done it is left out, with a note.
    #[arg(long)]
    drop_index: bool,
    /// Keep each key once: columns, or expressions, with commas between them. Of entries with the same key the first is kept, in the
    /// order of the inputs; the others are reported. Trees without these columns are taken whole.
    #[arg(long, value_name = "KEY")]
    unique: Vec<String>,
    /// What becomes of entries with the key of an earlier one: they are left out (drop), or nothing is written (refuse).
    #[arg(long, value_name = "drop|refuse", default_value = "drop", requires = "unique")]
    on_duplicate: OnDuplicate,
    /// Merge inputs whose entries are sorted by this key into one that is, in one pass: columns, or expressions, with commas between them,
    /// and a minus before one that descends. Of equal keys the entries of the first input come first. If an input is not sorted, a note says
    /// where, and entries wait in a temporary file, as in `sort`. Trees without these columns are joined one after the other.
    #[arg(long, value_name = "KEY", allow_hyphen_values = true, conflicts_with = "append")]
    by: Vec<String>,
    /// Combine neighbouring clusters up to this size; 0B keeps all clusters. Default: the
    /// target size of the first input (its AutoFlush), usually 30MB.
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["cluster", "append"])]
    pack: Option<ByteSize>,
    /// Add the inputs to the output, which may be there already and is updated in place: its baskets and pages stay where they are,
    /// and new ones follow. It is the old file or the new one at any moment, and keeps its layout. An output that is not there is made.
    #[arg(long, conflicts_with_all = ["force", "dry_run"])]
    append: bool,
    /// Remove this object or directory of the output before the inputs are added: what they have of that name takes its place.
    #[arg(long, value_name = "PATH", requires = "append")]
    replace: Vec<String>,
    #[command(flatten)]
    file_output: FileOutputArgs,
}

/// What becomes of entries with the key of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnDuplicate {
    Drop,
    Refuse,
}

impl FileOutputVerb for Args {
    fn file_output(&self) -> &FileOutputArgs {
        &self.file_output
    }

    fn own_options(&self) -> Result<Options> {
        let refuse = self.on_duplicate == OnDuplicate::Refuse;
        let beside = || Some(self.file_output.output().to_path_buf());
        let unique = key_of(&self.unique, "unique")?.map(|key| Unique { key, refuse, beside: beside() });
        let sorted = |key| EntryOrder::By(SortBy { key, is_sorted: true, beside: beside() });
        let by = sort_key_of(&self.by, "by")?.map(sorted);
        Ok(Options {
            content: ContentOptions { unique, order: by, replaced: self.replace.clone(), ..ContentOptions::default() },
            plan: PlanOptions {
                schema: self.differing.schema(),
                pack: match self.pack {
                    // What is there stays.
                    None if self.append => Pack::No,
                    None => Pack::Auto,
                    Some(ByteSize(0)) => Pack::No,
                    Some(ByteSize(size)) => Pack::Bytes(size),
                },
                ..PlanOptions::default()
            },
            inputs: InputOptions {
                append: self.append && self.file_output.output().exists(),
                ..InputOptions::default()
            },
            drop_index: self.drop_index,
            ..Options::default()
        })
    }
}
