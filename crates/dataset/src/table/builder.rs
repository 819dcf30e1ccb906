//! The values of a column while its pieces are appended, in the order of entries.

use arrow_array::ArrayRef;
use rootfile::{Error, Result};

use crate::decode::ColumnBuilder;
use crate::ntuple::decode::FieldBuilder;
use crate::tree::basket::BasketData;

/// What is loaded of a piece: fetched and decompressed.
#[derive(Debug)]
pub enum Loaded {
    /// The entries of a basket as bytes. [`ColumnBuilder::append`] decodes them.
    Basket(BasketData),
    /// The requested entries of a field, decoded.
    Values(FieldBuilder),
}

/// The values of a column, piece by piece.
#[derive(Debug)]
pub enum ValueBuilder {
    /// Of a branch.
    Branch(ColumnBuilder),
    /// Of a field.
    Field(FieldBuilder),
}

impl ValueBuilder {
    /// Appends values for entries that no piece has: default values in a tree.
    ///
    /// # Errors
    ///
    /// If the table is an RNTuple, whose fields have all entries, or if a value would be a large array.
    pub fn append_missing(&mut self, entries: usize) -> Result<()> {
        match self {
            Self::Branch(builder) => builder.append_missing(entries),
            Self::Field(_) => Err(Error::corrupt(format!("{entries} entries are in no cluster"))),
        }
    }

    /// Entries so far.
    pub fn len(&self) -> usize {
        match self {
            Self::Branch(builder) => builder.len(),
            Self::Field(builder) => builder.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The Arrow array of all appended entries.
    ///
    /// # Errors
    ///
    /// If the values do not form an array of the column's type.
    pub fn finish(self) -> Result<ArrayRef> {
        match self {
            Self::Branch(builder) => builder.finish(),
            Self::Field(builder) => builder.finish(),
        }
    }
}
