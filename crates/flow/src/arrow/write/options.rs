//! Options of a writer.

use dataset::layout::Layout;

use super::conform::Casting;

/// The order of clusters in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they are finished. No context waits for others, and the order of entries depends on timing.
    #[default]
    Arrival,
    /// By the number of the task that filled them, from 0. The bytes do not depend on timing. Begin tasks in this order:
    /// clusters of later tasks wait in memory.
    Tasks,
}

/// When the trees' metadata are saved, so that the file can be read even if the writer never finishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoSave {
    /// After each this many bytes.
    Bytes(u64),
    /// After each this many entries of all trees together.
    Entries(u64),
}

/// Options of a writer.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// The layout. Settings that it leaves open are ROOT's defaults.
    pub layout: Layout,
    /// Whether an existing file is replaced.
    pub overwrite: bool,
    /// The order of clusters.
    pub order: Order,
    /// Which arrays of other types columns accept.
    pub casting: Casting,
    /// When metadata are saved before the end. Never if absent.
    pub auto_save: Option<AutoSave>,
    /// The file's title.
    pub title: String,
    /// Whether the output is discarded, to measure the cost without the disk.
    pub discard: bool,
    /// The date of records, in seconds since 1970. SOURCE_DATE_EPOCH takes precedence. Without either it is now.
    pub date: Option<i64>,
}
