//! What a container of tables is to the writer: how a table is planned, filled and appended. Each container has a folder that
//! implements it, and nothing here knows one of them.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::FieldRef;
use dataset::layout::Container;
use rayon::ThreadPool;
use rootfile::codec::Compression;
use rootfile::{DirId, FileWriter, Result};

use super::cluster_rule::ClusterRule;
use super::conform::Casting;
use super::exact::ExactColumns;
use super::written::WrittenTable;
use crate::execute::encode::scratch::EncodeScratchPool;
use crate::execute::encode::stream_fill::{Arrays, StreamFill};
use crate::table::tree::new_index::{MakeTreeIndex, no_place_for_index};

/// How the tables of one container are written.
pub(crate) trait TableFormat: Sized + 'static {
    const CONTAINER: Container;
    /// Whether the record of a table is compressed.
    const IS_COMPRESSED: bool;

    /// The columns of a table in their layout. All its fill contexts share it.
    type Plan: Send + Sync;
    /// The metadata of a table before its first entry.
    type Record: Send;
    /// A branch or field that is being filled.
    type Stream: StreamFill;
    /// The finished baskets or pages of a cluster.
    type Content: Content;
    /// A table that is being written.
    type Open: OpenTable<Plan = Self::Plan, Record = Self::Record, Content = Self::Content>;

    /// Where clusters end.
    fn cluster_rule(plan: &Self::Plan) -> ClusterRule;

    /// Names and types of the columns. Columns that only count others may be left out of a batch.
    fn fields(plan: &Self::Plan) -> Box<dyn Iterator<Item = &FieldRef> + '_>;

    /// The columns of a batch, found by name and brought to their types.
    fn arrays(plan: &Self::Plan, batch: &RecordBatch, casting: Casting) -> Result<Box<Arrays>>;

    /// Makes a plan the extension of another by the columns behind those.
    fn extend(plan: &mut Self::Plan, before: &Self::Plan) -> Result<()>;

    /// Checks that the columns which another plan lacks can have defaults: what entries before them have.
    fn check_defaults(plan: &Self::Plan, before: &Self::Plan, scratches: &EncodeScratchPool) -> Result<()>;

    /// Branches or columns: each takes memory.
    fn width(plan: &Self::Plan) -> u64;

    /// Whether buffers of written clusters serve again.
    fn reuses_buffers(plan: &Self::Plan) -> bool;

    /// The plans of the streams.
    fn streams(plan: &Self::Plan) -> &[<Self::Stream as StreamFill>::Plan];

    /// The streams from one on, empty.
    fn streams_from(plan: &Self::Plan, first: usize) -> impl Iterator<Item = Self::Stream>;

    /// The look at all values that a table needs before it begins.
    fn first_pass(_: &Arc<Self::Plan>) -> Option<Box<dyn FirstPass<Self::Plan, Self::Record>>> {
        None
    }

    /// Gives a table an index before its first entry, and returns the memory that it takes.
    fn put_index(_record: &mut Self::Record, _make: MakeTreeIndex<'_>) -> Result<u64> {
        Err(no_place_for_index())
    }

    /// Returns the content of a finished cluster, and begins the next one.
    fn start_cluster(streams: &mut [Self::Stream], plan: &Self::Plan, cluster: ClusterEnd) -> Self::Content;
}

/// A look at all values of some columns before the first one is written.
pub(crate) trait FirstPass<Plan, Record>: Send {
    /// The names of the columns.
    fn columns(&self) -> HashSet<String>;

    /// Looks at the entries of a batch with these columns, with the threads of a team if there is one.
    fn look(&mut self, batch: &RecordBatch, team: Option<&ThreadPool>) -> Result<()>;

    /// The plan by what was seen, which changes the metadata of the table, and what is told about it.
    fn end(self: Box<Self>, record: &mut Record) -> Result<(Plan, ExactColumns)>;
}

/// The cluster that a context ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusterEnd {
    /// Whether it is the first of its context.
    pub is_first: bool,
    pub entries: u64,
}

/// What is written of a cluster.
pub(crate) trait Content: Send + 'static {
    /// The buffer of each branch or column.
    fn buffers(&mut self) -> Vec<&mut Vec<u8>>;
}

/// A table that is being written.
pub(crate) trait OpenTable: Sized + Send {
    type Plan;
    type Record;
    type Content;

    /// Begins a table.
    fn begin(file: &mut FileWriter, directory: DirId, plan: Arc<Self::Plan>, record: Self::Record) -> Result<Self>;

    /// Adds columns, which begin with the next entry.
    fn extend(
        &mut self,
        file: &mut FileWriter,
        plan: Arc<Self::Plan>,
        record: Self::Record,
        scratches: &EncodeScratchPool,
    ) -> Result<()>;

    /// Appends a cluster, which may have been filled without the last columns.
    fn append(
        &mut self,
        file: &mut FileWriter,
        cluster: (u64, &mut Self::Content),
        scratches: &EncodeScratchPool,
    ) -> Result<()>;

    /// Entries so far.
    fn entries(&self) -> u64;

    /// Updates the metadata with what was written so far.
    fn update(&mut self, file: &mut FileWriter) -> Result<()>;

    /// Class, name and title of its key.
    fn labels(&self) -> (&str, &str, &str);

    /// Its record. Positions in it count from the start of its key.
    fn record(&self, keylen: usize) -> Result<Vec<u8>>;

    /// Writes its record.
    fn finish(self, file: &mut FileWriter, directory: DirId, compression: Compression) -> Result<WrittenTable>;
}
