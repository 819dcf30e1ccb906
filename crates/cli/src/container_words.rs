//! What a tree and an RNTuple, their columns and their pieces are called in text for people.

use dataset::layout::Container;

/// The words of a container.
pub struct Words {
    /// The table itself.
    pub table: &'static str,
    /// Its columns.
    pub column: &'static str,
    /// The parts of a column in the file.
    pub pieces: &'static str,
}

/// The words of this container.
pub fn words(container: Container) -> Words {
    match container {
        Container::Ttree => Words { table: "tree", column: "branch", pieces: "baskets" },
        Container::Rntuple => Words { table: "RNTuple", column: "field", pieces: "pages" },
    }
}
