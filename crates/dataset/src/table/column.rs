//! A column of a table, with its Arrow field: how its stored entries become values.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use rootfile::{Error, Result};

use super::builder::{Arrays, ValueBuilder};
use crate::decode::ColumnPlan;
use crate::ntuple::decode::FieldPlan;

/// A column of a table. Cheap to clone.
#[derive(Clone, Debug)]
pub enum TableColumn {
    /// A branch of a tree.
    Branch(ColumnPlan),
    /// A field of an RNTuple.
    Field(FieldPlan),
    /// A column of another container, whose pieces are Arrow arrays when they are opened.
    Array {
        /// The Arrow field.
        field: FieldRef,
        /// The index of its node.
        node: usize,
    },
}

impl TableColumn {
    /// The Arrow field. The metadata hold the C++ type (`typename`), and for a column that is not decoded the reason (`opaque`).
    pub fn field(&self) -> &FieldRef {
        match self {
            Self::Branch(plan) => plan.field(),
            Self::Field(plan) => plan.field(),
            Self::Array { field, .. } => field,
        }
    }

    /// The index of its [`Node`](super::Node) in the schema: of the branch, or the ID of the field.
    pub fn node(&self) -> usize {
        match self {
            Self::Branch(plan) => plan.branch(),
            Self::Field(plan) => plan.id(),
            Self::Array { node, .. } => *node,
        }
    }

    /// Why the column is not decoded; none if it is decoded.
    pub fn opaque(&self) -> Option<&str> {
        match self {
            Self::Branch(plan) => plan.opaque(),
            Self::Field(plan) => plan.opaque(),
            Self::Array { .. } => None,
        }
    }

    /// The plan of the branch, if the table is a tree.
    pub fn branch(&self) -> Option<&ColumnPlan> {
        match self {
            Self::Branch(plan) => Some(plan),
            Self::Field(_) | Self::Array { .. } => None,
        }
    }

    /// The nodes whose values decoding needs besides the entries: counters of a branch; usually none.
    pub fn counters(&self) -> &[usize] {
        self.branch().map_or(&[], ColumnPlan::counters)
    }

    /// The same column as opaque bytes, for entries that do not fit the plan. None if the column has no such form: a field has
    /// no bytes of entries.
    #[must_use]
    pub fn opaque_because(&self, reason: &str) -> Option<Self> {
        self.branch().map(|plan| Self::Branch(plan.opaque_because(reason)))
    }

    /// An empty array with room for `entries` entries that take about `bytes` bytes before compression.
    ///
    /// # Errors
    ///
    /// If there is no memory for them.
    pub fn start(&self, entries: usize, bytes: usize) -> Result<ValueBuilder> {
        Ok(match self {
            Self::Branch(plan) => ValueBuilder::Branch(plan.start(entries, bytes)),
            Self::Field(plan) => ValueBuilder::Field(plan.start(entries)?),
            Self::Array { field, .. } => ValueBuilder::Arrays(Arrays::new(Arc::clone(field))),
        })
    }

    /// Bytes for each entry that its parts take beyond the column, if a container has [parts](super::StoredTable::parts) of such.
    pub fn bytes_again(&self) -> Option<u64> {
        match self {
            Self::Field(plan) => Some(plan.bytes_again()),
            Self::Branch(_) | Self::Array { .. } => None,
        }
    }

    /// Its values, from those of its parts.
    ///
    /// # Errors
    ///
    /// These are not its parts.
    pub fn joined(&self, parts: &[ArrayRef]) -> Result<ArrayRef> {
        match self {
            Self::Field(plan) => plan.joined(parts),
            Self::Branch(_) | Self::Array { .. } => Err(Error::request("a column without parts")),
        }
    }

    /// Whether values can be decoded page by page without being kept: an array of them would be made without more work.
    pub fn can_pass(&self) -> bool {
        matches!(self, Self::Field(plan) if plan.is_numbers())
    }

    /// A builder that decodes values page by page and keeps none, where that [is possible](Self::can_pass).
    pub fn start_passing(&self) -> Option<ValueBuilder> {
        match self {
            Self::Field(plan) if self.can_pass() => Some(ValueBuilder::Field(plan.start_passing())),
            _ => None,
        }
    }
}
