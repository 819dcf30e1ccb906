//! Which rows of branches and fields the tables show.

/// The branches or fields to show.
pub enum Top {
    /// The largest, by size.
    Largest(usize),
    /// All, in their order.
    All,
}
