//! The values of a column while its pieces are appended, in the order of entries.

use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_schema::{DataType, FieldRef};
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
    /// The requested entries of a column of another container.
    Array(ArrayRef),
}

/// The values of a column, piece by piece.
#[derive(Debug)]
pub enum ValueBuilder {
    /// Of a branch.
    Branch(ColumnBuilder),
    /// Of a field.
    Field(FieldBuilder),
    /// Of a column of another container.
    Arrays(Arrays),
}

/// Arrays of one type, one behind the other.
#[derive(Debug)]
pub struct Arrays {
    field: FieldRef,
    parts: Vec<ArrayRef>,
}

impl Arrays {
    /// No array yet.
    pub(super) fn new(field: FieldRef) -> Self {
        Self { field, parts: Vec::new() }
    }

    /// Appends an array. Fails if it has another type.
    fn append(&mut self, array: ArrayRef) -> Result<()> {
        if array.data_type() != self.field.data_type() {
            let (field, other) = (&self.field, array.data_type());
            let message = format!("values of type {other} for a column of type {}", field.data_type());
            return Err(Error::corrupt(message).object(format!("column {}", field.name())));
        }
        self.parts.push(array);
        Ok(())
    }

    fn finish(self) -> Result<ArrayRef> {
        one_array(&self.parts, self.field.data_type())
    }
}

/// Arrays of a type, one behind the other, as one.
///
/// # Errors
///
/// If they are too large to be one.
pub fn one_array(parts: &[ArrayRef], data_type: &DataType) -> Result<ArrayRef> {
    match parts {
        [] => Ok(new_empty_array(data_type)),
        [one] => Ok(one.clone()),
        several => {
            let several: Vec<&dyn Array> = several.iter().map(|part| &**part).collect();
            arrow_select::concat::concat(&several).map_err(|e| Error::unsupported(e.to_string()))
        }
    }
}

impl ValueBuilder {
    /// Appends values for entries that no piece has: default values in a tree.
    ///
    /// # Errors
    ///
    /// If the table is no tree: columns of others have all entries. Or if a value would be a large array.
    pub fn append_missing(&mut self, entries: usize) -> Result<()> {
        match self {
            Self::Branch(builder) => builder.append_missing(entries),
            Self::Field(_) | Self::Arrays(_) => Err(Error::corrupt(format!("{entries} entries are in no cluster"))),
        }
    }

    /// Appends what is loaded of a field or of a column of another container: all of it. Of a basket a [`ColumnBuilder`] takes a part.
    ///
    /// # Errors
    ///
    /// If it is of another column.
    pub fn append(&mut self, loaded: Loaded) -> Result<()> {
        match (self, loaded) {
            // The first values become the array.
            (Self::Field(builder), Loaded::Values(values)) if builder.is_empty() => *builder = values,
            (Self::Field(builder), Loaded::Values(values)) => return builder.append_part(values),
            (Self::Arrays(arrays), Loaded::Array(array)) => return arrays.append(array),
            _ => return Err(Error::unsupported("a piece of another container")),
        }
        Ok(())
    }

    /// Makes room for more entries like those so far. This is a hint: where there is no memory for so many, there may be for those that come.
    pub fn expect(&mut self, entries: usize) {
        if let Self::Field(builder) = self {
            let _ = builder.reserve(entries);
        }
    }

    /// Entries so far.
    pub fn len(&self) -> usize {
        match self {
            Self::Branch(builder) => builder.len(),
            Self::Field(builder) => builder.len(),
            Self::Arrays(arrays) => arrays.parts.iter().map(|part| part.len()).sum(),
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
            Self::Arrays(arrays) => arrays.finish(),
        }
    }
}
