//! What is diagnosed: a file, a tree or an RNTuple in it; and the words for its parts.

use super::pages;
use super::speeds::{OF_BASKET, Overhead};
use super::sums::{BYTES, SHARE};
use crate::inspect::contents::{FileReport, Skipped, TreeReport};
use crate::inspect::ntuple::report::NtupleReport;

/// What a fault is about.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    File,
    Tree(&'a TreeReport),
    /// An RNTuple, and what it is to the rules of trees.
    Ntuple {
        ntuple: &'a NtupleReport,
        facts: &'a TreeReport,
    },
}

/// What rules look at: a subject, and the file that has it.
#[derive(Clone, Copy)]
pub(super) struct Diagnosed<'a> {
    pub file: &'a FileReport,
    pub trees: &'a [TreeReport],
    pub skipped: &'a [Skipped],
    pub subject: Subject<'a>,
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

impl<'a> Diagnosed<'a> {
    /// Whether it is the file as a whole.
    pub fn is_file(&self) -> bool {
        matches!(self.subject, Subject::File)
    }

    /// The tree, if it is one.
    pub fn tree(&self) -> Option<&'a TreeReport> {
        match self.subject {
            Subject::Tree(tree) => Some(tree),
            Subject::File | Subject::Ntuple { .. } => None,
        }
    }

    /// The RNTuple, if it is one.
    pub fn ntuple(&self) -> Option<&'a NtupleReport> {
        match self.subject {
            Subject::Ntuple { ntuple, .. } => Some(ntuple),
            Subject::File | Subject::Tree(_) => None,
        }
    }

    /// The tree, or the RNTuple as one: columns as branches, and pages as baskets.
    pub fn table(&self) -> Option<&'a TreeReport> {
        match self.subject {
            Subject::File => None,
            Subject::Tree(tree) => Some(tree),
            Subject::Ntuple { facts, .. } => Some(facts),
        }
    }

    /// The compression of branches that have none of their own; columns of RNTuples have their own.
    pub fn setting(&self) -> i32 {
        self.ntuple().map_or(self.file.compression, |_| 0)
    }

    /// What a basket or page costs beside its content.
    pub fn overhead(&self) -> Overhead {
        self.ntuple().map_or(OF_BASKET, pages::overhead)
    }

    /// Whether so many bytes of the file are worth a word.
    pub fn is_much_of_file(&self, bytes: u64) -> bool {
        bytes > BYTES / 10 && bytes > self.file.bytes / SHARE
    }

    /// The newest cycle of each tree.
    pub fn newest(&self) -> impl Iterator<Item = &'a TreeReport> {
        self.trees.iter().filter(|tree| tree.newest)
    }

    /// The path of the subject, unless it is the file.
    pub fn path(&self) -> Option<&'a str> {
        match self.subject {
            Subject::File => None,
            Subject::Tree(tree) => Some(&tree.path),
            Subject::Ntuple { ntuple, .. } => Some(&ntuple.path),
        }
    }

    /// The words for its parts.
    pub fn words(&self) -> Words {
        self.ntuple().map_or(TREE, |_| NTUPLE)
    }
}
