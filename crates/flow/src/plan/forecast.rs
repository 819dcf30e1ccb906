//! What is said of a plan before it runs: the depth of each column, and its bytes in the output.

use dataset::layout::Container;
use rootfile::codec::Compression;

use crate::execute::engine::tree::recode_job::Form;
use crate::table::depth::Depths;

/// Largest number of bytes that are compressed for samples.
pub(super) const MAX_SAMPLED: u64 = 32 << 20;

/// The forecast of a table.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Forecast {
    /// Its path.
    pub path: String,
    /// Whether the output is a tree or an RNTuple.
    pub container: Container,
    /// Entries of the inputs.
    pub input_entries: u64,
    /// Entries of the output.
    pub entries: u64,
    /// Clusters of the output, if they are known before.
    pub clusters: Option<u64>,
    /// Branches, or fields, with entries; without columns that are recoded.
    pub columns: Vec<ColumnForecast>,
    /// Columns that get another split level or streaming.
    pub recodes: Vec<RecodeForecast>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// The forecast of a column.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ColumnForecast {
    /// Branch names from the top down, with `/` between, or the path of a field.
    pub name: String,
    /// Clusters by depth.
    pub depths: Depths,
    /// Bytes on disk now.
    pub bytes_before: u64,
    /// Expected bytes on disk.
    pub bytes_after: u64,
    /// Compression of the output.
    #[serde(serialize_with = "as_text")]
    pub compression: Compression,
}

/// The forecast of a column that gets another split level or streaming.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RecodeForecast {
    /// The branch of the first level, or the path of a branch whose streaming alone changes.
    pub name: String,
    /// Its form now.
    pub before: Form,
    /// Its form in the output.
    pub after: Form,
    /// Bytes on disk now.
    pub bytes_before: u64,
    /// Expected bytes on disk.
    pub bytes_after: u64,
}

fn as_text<S: serde::Serializer>(compression: &Compression, s: S) -> std::result::Result<S::Ok, S::Error> {
    s.collect_str(compression)
}
