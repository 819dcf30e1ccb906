//! Options of a writer.

use dataset::layout::Layout;

use super::conform::Casting;

/// In which order clusters go into the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they are finished: nobody waits for others, and the order of entries depends on timing.
    #[default]
    Arrival,
    /// By the number of the task that filled them, from 0: the same bytes whatever the timing. Tasks are best begun in
    /// that order; what is filled ahead of its turn waits in memory.
    Tasks,
}

/// When the trees' metadata are saved, so that what was written until then can be read even if the rest never comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoSave {
    /// Each time so many bytes were written.
    Bytes(u64),
    /// Each time so many entries were written, of all trees together.
    Entries(u64),
}

/// How a file is written.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// How entries lie in it. What it does not say is as ROOT does it.
    pub layout: Layout,
    /// Whether a file of that name is replaced.
    pub overwrite: bool,
    /// In which order clusters go into it.
    pub order: Order,
    /// Which arrays columns take that are not of their types.
    pub casting: Casting,
    /// When metadata are saved in between; never, if absent.
    pub auto_save: Option<AutoSave>,
    /// The file's title.
    pub title: String,
    /// Whether what is written is forgotten: to see what writing costs besides.
    pub discard: bool,
    /// The date of its records, in seconds since 1970. SOURCE_DATE_EPOCH goes before it; without either it is now.
    pub date: Option<i64>,
}
