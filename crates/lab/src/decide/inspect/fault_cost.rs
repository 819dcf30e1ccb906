//! What a fault costs readers, and what the command that mends it takes. Plain values of the report; [`super::diagnose`] makes them.

use serde::{Deserialize, Serialize};

use crate::math::as_f64;

/// Bytes a second from storage.
pub(super) const STORAGE: f64 = 200e6;
/// Entries that a reader picks at random for each time that a tree is read as a whole.
const PICKED: f64 = 10.0;

/// The program that pays for a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pays {
    /// Every reader of the file.
    #[default]
    Reader,
    /// Only the program that wrote the file, or writes similar ones.
    Writer,
}

/// The cost of a fault; unknown parts are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Superfluous bytes on disk.
    pub bytes: u64,
    /// Seconds of one core at each full read.
    pub read_seconds: f64,
    /// Seconds of one core whenever the tree is opened, which a reader of everything does not save.
    #[serde(default)]
    pub open_seconds: f64,
    /// Seconds of one core for each entry that is picked at random.
    #[serde(default)]
    pub entry_seconds: f64,
    /// Seconds of one core at each full read by jobs or threads that share the tree by clusters.
    #[serde(default)]
    pub shared_seconds: f64,
    /// Seconds of one core when it was written.
    pub write_seconds: f64,
    /// Superfluous bytes of memory, of a reader or a writer.
    pub memory: u64,
    /// Whether results may be wrong or lost. Such faults come first.
    pub danger: bool,
}

impl Cost {
    /// Results may be wrong or lost.
    pub(super) const DANGER: Self = Self {
        bytes: 0,
        read_seconds: 0.0,
        open_seconds: 0.0,
        entry_seconds: 0.0,
        shared_seconds: 0.0,
        write_seconds: 0.0,
        memory: 0,
        danger: true,
    };

    /// One number to sort by, in seconds of a reader.
    pub fn weight(&self) -> f64 {
        // A gigabyte of memory counts as ten seconds: jobs are killed for it.
        let danger = if self.danger { 1e9 } else { 0.0 };
        danger
            + as_f64(self.bytes) / STORAGE
            + self.read_seconds
            + PICKED * self.entry_seconds
            + 0.5 * (self.shared_seconds + self.open_seconds)
            + as_f64(self.memory) / 1e8
    }
}

/// The price of fixing a fault: the other side of a [`Cost`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Bytes by which the file grows.
    pub bytes: u64,
    /// Seconds of one core more at each full read.
    pub read_seconds: f64,
    /// Bytes of memory more that a reader of all branches needs.
    pub memory: u64,
    /// Other changes, as a sentence; may be empty.
    pub note: String,
}
