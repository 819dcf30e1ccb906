//! The report of a conversion.

use arrow_schema::Field;
use dataset::layout::Container;
use serde::Serialize;

use crate::select::CutStep;

/// The report of a conversion.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Converted {
    /// Path of the tree or RNTuple that was read or written.
    pub tree: String,
    /// Whether it is a tree or an RNTuple. None for another container.
    pub container: Option<Container>,
    /// Number of converted entries.
    pub entries: u64,
    /// What the cuts leave of the entries.
    pub cuts: Vec<CutStep>,
    /// The written columns.
    pub columns: Vec<ConvertedColumn>,
    /// The requested columns that cannot be converted.
    pub left_out: Vec<LeftOut>,
    /// Further notes.
    pub notes: Vec<String>,
    /// Number of row groups read or written.
    pub row_groups: u64,
    /// Bytes read from the inputs.
    pub bytes_read: u64,
    /// Bytes of the output.
    pub bytes_written: u64,
}

/// A converted column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConvertedColumn {
    /// Its name in the output.
    pub name: String,
    /// Its Arrow type.
    pub arrow: String,
}

/// A column that cannot be converted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// The reason.
    pub why: String,
}

impl ConvertedColumn {
    pub(crate) fn of(field: &Field) -> Self {
        Self { name: field.name().clone(), arrow: field.data_type().to_string() }
    }
}
