//! The tables of a page, which are those of [`show`]. Each can be sorted by any column.

use serde::Serialize;

use crate::math::as_f64;
use crate::price::PriceBook;
use crate::sweep::findings::Findings;
use crate::sweep::show;

/// A table that can be sorted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// Its title.
    pub title: String,
    /// Names of the columns.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// Rows that stay below the others.
    pub foot: Vec<Vec<Cell>>,
}

impl Table {
    /// Whether a column has words.
    pub(super) fn is_text(&self, column: &usize) -> bool {
        !self.rows.iter().any(|row| row.get(*column).is_some_and(|cell| cell.value.is_some()))
    }
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// For people.
    pub text: String,
    /// The number to sort by, in the unit of the column.
    pub value: Option<f64>,
}

impl Cell {
    /// The number to sort by, as text for the script.
    pub(super) fn key(&self) -> String {
        self.value.map_or_else(String::new, |value| value.to_string())
    }
}

/// A cell in which a browser breaks no line between number and unit; only an error may go to the next line.
fn cell(from: show::Cell) -> Cell {
    let text = match from.value {
        Some(_) => from.text.replace(' ', "\u{a0}").replace("\u{a0}±", " ±"),
        None => from.text,
    };
    Cell { text, value: from.value }
}

/// All tables of a sweep.
pub(super) fn tables(findings: &Findings, prices: Option<&PriceBook>) -> Vec<Table> {
    let points = findings.lines.len();
    let cells = |row: Vec<show::Cell>| row.into_iter().map(cell).collect();
    let table = |(number, table): (usize, show::Table)| {
        let mut rows: Vec<Vec<Cell>> = table.rows.into_iter().map(cells).collect();
        // The first table has a row for each point, and below them the noise of all points.
        let mut foot = if number == 0 && rows.len() > points { rows.split_off(points) } else { Vec::new() };
        let mut head = table.head;
        // Charts show these numbers where names do not fit.
        if head.first().is_some_and(|first| first == "point") {
            head.insert(0, "#".to_owned());
            foot.iter_mut().for_each(|row| row.insert(0, Cell { text: String::new(), value: None }));
            for (&point, row) in table.points.iter().zip(&mut rows) {
                row.insert(0, Cell { text: (point + 1).to_string(), value: Some(as_f64(point as u64 + 1)) });
            }
        }
        Table { title: table.title, head, rows, foot }
    };
    show::priced_tables(findings, prices).into_iter().enumerate().map(table).collect()
}
