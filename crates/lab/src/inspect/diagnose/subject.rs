//! What a fault is about: the file, a tree or an RNTuple; and the words for its parts.

use crate::inspect::ntuple::report::NtupleReport;
use crate::inspect::report::TreeReport;

/// What a fault is about.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    File,
    Tree(&'a TreeReport),
    Ntuple(&'a NtupleReport),
}

/// The words of a container.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub table: &'static str,
    pub column: &'static str,
    pub piece: &'static str,
    /// The subject of a sentence about the size of its metadata.
    pub metadata: &'static str,
}

const TREE: Words = Words { table: "tree", column: "branch", piece: "basket", metadata: "The tree's own record has" };
const NTUPLE: Words =
    Words { table: "RNTuple", column: "column", piece: "page", metadata: "Anchor, header, footer and page lists have" };

impl<'a> Subject<'a> {
    /// Its path, unless it is the file.
    pub fn path(self) -> Option<&'a str> {
        match self {
            Self::File => None,
            Self::Tree(tree) => Some(&tree.path),
            Self::Ntuple(ntuple) => Some(&ntuple.path),
        }
    }

    /// The words for its parts.
    pub fn words(self) -> Words {
        match self {
            Self::File | Self::Tree(_) => TREE,
            Self::Ntuple(_) => NTUPLE,
        }
    }
}
