//! What a tree and an RNTuple, their columns and their pieces are called in text for people.

use dataset::layout::Container;

/// The words of a container.
pub struct Words {
    /// The table itself.
    pub table: &'static str,
    /// Its columns.
    pub column: &'static str,
    /// A part of a column in the file.
    pub piece: &'static str,
    /// Several of them.
    pub pieces: &'static str,
}

/// The words of this container.
pub fn words(container: Container) -> Words {
    match container {
        Container::Ttree => Words { table: "tree", column: "branch", piece: "basket", pieces: "baskets" },
        Container::Rntuple => Words { table: "RNTuple", column: "field", piece: "page", pieces: "pages" },
    }
}
