//! Columns that are decoded and encoded in another form: where their entries are, and the branches they become.

use std::ops::Range;
use std::sync::atomic::AtomicU64;

use dataset::assemble::LogicalColumn;
use dataset::layout::Streaming;

use crate::execute::encode::tree::branch_plan::BranchPlan;
use crate::execute::fetch::tree::column_stream::DecodeSource;

/// Columns of the inputs that become other columns of the output.
#[derive(Debug)]
pub(crate) struct Recode {
    /// Name of the branch of the first level.
    pub name: String,
    /// The columns of the inputs, in ROOT's order.
    pub sources: Vec<DecodeSource>,
    /// The logical column that the sources make up, and the one that the outputs make up. Without them each source becomes
    /// one output.
    pub wholes: Option<(LogicalColumn, LogicalColumn)>,
    /// The columns of the output.
    pub outputs: Vec<RecodeOutput>,
    /// The form before and after.
    pub forms: [Form; 2],
    /// Entries that are decoded at a time.
    pub portion: u64,
}

/// The form of a column of objects: how it is spread over branches and streamed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Form {
    /// Split level of its branch.
    pub split_level: u32,
    /// Streaming of its collections that are not split, if there are any and their streaming is known.
    #[serde(serialize_with = "as_text")]
    pub streaming: Option<Streaming>,
    /// Branches with entries.
    pub branches: u64,
}

fn as_text<S: serde::Serializer>(streaming: &Option<Streaming>, s: S) -> std::result::Result<S::Ok, S::Error> {
    match streaming {
        Some(streaming) => s.collect_str(streaming),
        None => s.serialize_none(),
    }
}

/// Sizes of some entries before and after recoding.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampled {
    pub entries: u64,
    /// Their bytes on disk before.
    pub before: f64,
    /// What was made of them.
    pub outputs: Vec<SampledOutput>,
}

/// What was made of a sample for one branch of the output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SampledOutput {
    pub baskets: u64,
    /// Bytes before compression and on disk, keys included.
    pub raw: u64,
    pub zip: u64,
}

/// A column that is encoded.
#[derive(Debug)]
pub(crate) struct RecodeOutput {
    /// Its index among the columns of the job.
    pub column: usize,
    /// How it is encoded and cut into baskets.
    pub plan: BranchPlan,
    /// The largest value so far, for a column that counts others.
    pub maximum: AtomicU64,
}

impl Recode {
    /// Whether the sources have entries in a cluster.
    pub fn covers(&self, entries: &Range<u64>) -> bool {
        !entries.is_empty() && self.sources.iter().any(|source| !source.column.source.overlapping(entries).is_empty())
    }

    /// Largest buffers that one thread needs for clusters of `longest` entries, in bytes.
    pub fn scratch(&self, longest: u64) -> u64 {
        let baskets: u64 = self.outputs.iter().map(|output| 2 * u64::from(output.plan.basket_size)).sum();
        // Finished baskets wait for the end of the cluster, and count as well.
        let of_source = |source: &DecodeSource| source.scratch(self.portion) + source.bytes_of(longest);
        let sources: u64 = self.sources.iter().map(of_source).sum();
        sources + baskets.min(2 * sources)
    }
}
