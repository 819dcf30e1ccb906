//! What tables take in memory besides their entries, in bytes. Budgets are divided by these numbers before a job begins, and a budget
//! that is too small is refused with the smallest that suffices. Sizes of baskets and pages are in the plans.

/// A branch or a field that is read and written. Measured: about 1.5 kB for a branch that is read, and as much for the record
/// written.
pub(crate) const STREAM: u64 = 3000;
/// A field that is only read, with its plan. An estimate.
pub(crate) const READ_FIELD: u64 = 1000;
/// A piece of a column: a basket of the inputs.
pub(crate) const PIECE: u64 = 96;
/// A basket that is written: it is kept, and listed in a record that grows by doubling.
pub(crate) const WRITTEN_BASKET: u64 = 112;
/// A cluster.
pub(crate) const CLUSTER: u64 = 16;
/// An RNTuple of the inputs, besides its schema and page lists.
pub(crate) const NTUPLE: u64 = 4096;
/// For each byte of a page list that is read: itself, and its clusters and pages.
pub(crate) const LIST_FACTOR: u64 = 6;
/// For each byte of a header or footer of an RNTuple.
pub(crate) const SCHEMA_FACTOR: u64 = 12;
/// What small tables take.
pub(crate) const TABLE: u64 = 1 << 20;
/// What a thread needs besides the largest pieces: the state of codecs, and of a thread that moves pieces, a window of copies or
/// finished baskets and pages.
pub(crate) const CODECS: u64 = 4 << 20;
pub(crate) const MOVING_THREAD: u64 = 8 << 20;
