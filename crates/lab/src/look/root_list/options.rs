//! What `rootls` prints, and how.

/// The deepest indent: a file may nest directories as it likes.
pub(super) const DEEPEST: usize = 200;

/// What is printed, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct RootListOptions {
    /// A name a line (`-1`).
    pub one_column: bool,
    /// Classes, dates, cycles and titles (`-l`).
    pub long: bool,
    /// As `long`, with the branches and clusters of trees (`-t`).
    pub trees: bool,
    /// As `long`, with the fields of RNTuples (`-R`).
    pub ntuples: bool,
    /// Directories with all below them (`-r`).
    pub recursive: bool,
    /// Each cycle of a name in columns (`-c`).
    pub all_cycles: bool,
    /// Characters of a line.
    pub width: usize,
}

impl RootListOptions {
    /// Whether each object has a line.
    pub(super) fn is_long(&self) -> bool {
        self.long || self.trees || self.ntuples
    }
}
