//! Tables of a sweep: plain text and numbers.

use super::metric::{Unit, amount};

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its title.
    pub title: String,
    /// Names of the columns.
    pub head: Vec<String>,
    /// Rows, as long as the head.
    pub rows: Vec<Vec<Cell>>,
    /// The points of the rows, in a table with a row for each point.
    pub points: Vec<usize>,
}

/// A cell of a table: its text, and its number if it has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// For people.
    pub text: String,
    /// In the unit of the column.
    pub value: Option<f64>,
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: None }
    }

    pub(super) fn number(unit: Unit, value: f64) -> Self {
        Self { text: amount(unit, value), value: Some(value) }
    }
}
