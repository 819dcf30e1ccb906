//! The columns of a tree that is to be made.

use rootfile::codec::Compression;

use crate::layout::defaults;

/// A column of a tree to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewColumn {
    /// Name of the branch. If it ends with a dot, the names of the branches below begin with it.
    pub name: String,
    /// Its content.
    pub kind: NewKind,
    /// Split level: 0 does not split, 1 splits objects into members, 99 splits as far as ROOT can.
    pub split_level: i32,
    /// fBasketSize of its branches.
    pub basket_size: u32,
    /// Compression of its baskets.
    pub compression: Compression,
}

/// The content of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum NewKind {
    /// A `TBranch` with leaves of basic types.
    Leaves(Vec<NewLeaf>),
    /// A `TBranchElement`: a C++ class or a container of the standard library.
    Class {
        /// Its type in ROOT's spelling, such as `Event` or `map<string,vector<int> >`.
        type_name: String,
        /// Of a `TClonesArray`, the class of its objects.
        clones: Option<String>,
    },
}

/// A leaf of basic type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewLeaf {
    /// Name.
    pub name: String,
    /// Type, as a letter of ROOT's leaf lists: one of `BbSsIiLlGgfFdDOC`.
    pub letter: char,
    /// Fixed dimensions, without the varying one.
    pub dims: Vec<u32>,
    /// Name of the counter, if the first dimension varies: a leaf of an earlier column, or an earlier leaf.
    pub counter: Option<String>,
    /// Range or bits of an `f` or `d` leaf, such as `[0,100,8]`; empty for none.
    pub packing: String,
}

impl NewColumn {
    /// A column with ROOT's own basket size, split level and compression.
    pub fn new(name: impl Into<String>, kind: NewKind) -> Self {
        Self {
            name: name.into(),
            kind,
            split_level: i32::try_from(defaults::SPLIT_LEVEL).unwrap_or(99),
            basket_size: defaults::BASKET_SIZE,
            compression: defaults::COMPRESSION,
        }
    }

    /// A column of one leaf of its own name.
    pub fn leaf(name: &str, letter: char) -> Self {
        let leaf = NewLeaf { name: name.to_owned(), letter, ..NewLeaf::default() };
        Self { split_level: 0, ..Self::new(name, NewKind::Leaves(vec![leaf])) }
    }

    /// A column of a C++ type.
    pub fn class(name: &str, type_name: &str) -> Self {
        Self::new(name, NewKind::Class { type_name: type_name.to_owned(), clones: None })
    }
}
