//! Object assembly: the branches of a split object as one column, and back.
//!
//! ROOT splits a class into branches of its members, and a collection into lists of its items' members, down to the split
//! level. A [`LogicalColumn`] is one value per entry whatever the split: it assembles the arrays of the branches into one
//! array, and splits such an array again. It neither decodes nor encodes, and shares buffers where possible.

mod assembler;
mod candidates;
mod finder;
mod logical_column;

pub use self::logical_column::{LogicalColumn, logical_columns};
