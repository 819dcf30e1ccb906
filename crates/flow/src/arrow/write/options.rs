//! Options of a writer.

use std::fmt;
use std::sync::Arc;

use dataset::layout::Layout;
use rootfile::Sink;

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

/// Where the bytes of an output go.
#[derive(Clone, Default)]
pub enum WritePlace {
    /// To a file.
    #[default]
    File,
    /// To a place of the caller's: the path is a name only.
    Sink(Arc<dyn Sink>),
    /// Nowhere, to measure the cost without the disk.
    Nowhere,
}

impl fmt::Debug for WritePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "File",
            Self::Sink(_) => "Sink",
            Self::Nowhere => "Nowhere",
        })
    }
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
    /// Where the bytes go.
    pub place: WritePlace,
    /// The date of records, in seconds since 1970. SOURCE_DATE_EPOCH takes precedence. Without either it is now.
    pub date: Option<i64>,
}
