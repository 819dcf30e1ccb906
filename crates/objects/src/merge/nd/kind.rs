//! The two kinds of histograms with any number of dimensions, and whether they keep sums of squares of weights.

const SPARSE: &str = "THnSparseT<";
const DENSE: &str = "THnT<";

/// Whether a class is one of these histograms.
pub(in crate::merge) fn is_nd(class: &str) -> bool {
    is_sparse(class) || class.starts_with(DENSE)
}

/// Whether a class is a `THnSparse`.
pub(super) fn is_sparse(class: &str) -> bool {
    class.starts_with(SPARSE)
}

/// The C++ type of the contents of a `THn` class.
pub(super) fn content_type(class: &str) -> Option<&str> {
    class.strip_prefix(DENSE).map(|class| class.trim_end_matches(['>', ' ']))
}

/// Whether sums of squares of weights are kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Errors {
    pub mine: bool,
    pub theirs: bool,
}

impl Errors {
    /// Whether the sum keeps them.
    pub fn any(self) -> bool {
        self.mine || self.theirs
    }
}
