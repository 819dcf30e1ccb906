//! Tables of the command: a head and rows, each cell in one line, no line wider than the terminal. Names and other texts are cut to what
//! the figures leave; figures are never cut. What still finds no room stands below, or is left out where a verb has named what it can
//! spare.

use std::fmt;

use comfy_table::{CellAlignment, ContentArrangement, presets};
use rootfile::text::{printable, shortened, width};

use crate::lines::known_width;

/// Columns of a cell of a text; `--json` has all of a name.
const WIDEST: usize = 160;
/// Blanks between two columns of a table.
const BETWEEN: u16 = 2;

/// What the cells of a column are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Names and other words, which may be cut.
    Text,
    /// Numbers, to the right.
    Number,
    /// Dates and pictures, to the left.
    Figure,
}

/// A column of a table.
struct Column {
    name: String,
    kind: Kind,
    cells: Vec<String>,
    /// Columns of a terminal that all of it takes.
    width: usize,
    is_hidden: bool,
}

/// A column, and the columns of a terminal that it gets.
type Fitted<'t> = (&'t Column, usize);

/// A table without borders.
pub struct Table {
    columns: Vec<Column>,
    /// The room of a line, if it is known.
    room: Option<usize>,
}

/// A table with these columns of texts. A leading `>` is for numbers, which are aligned to the right, and a leading `=` for other figures.
pub fn table(columns: &[&str]) -> Table {
    let column = |head: &&str| {
        let (kind, name) = match (head.strip_prefix('>'), head.strip_prefix('=')) {
            (Some(name), _) => (Kind::Number, name),
            (_, Some(name)) => (Kind::Figure, name),
            _ => (Kind::Text, *head),
        };
        Column { name: name.to_owned(), kind, cells: Vec::new(), width: width(name), is_hidden: false }
    };
    Table { columns: columns.iter().map(column).collect(), room: known_width() }
}

impl Table {
    /// Adds a row, with unprintable characters as codes.
    pub fn add_row<T: ToString>(&mut self, cells: impl IntoIterator<Item = T>) {
        let mut cells = cells.into_iter();
        for column in &mut self.columns {
            let cell = cells.next().map(|cell| cell.to_string()).unwrap_or_default();
            let cell = match column.kind {
                // One name does not make all lines long.
                Kind::Text => shortened(&printable(&cell), WIDEST).into_owned(),
                Kind::Number | Kind::Figure => printable(&cell).into_owned(),
            };
            column.width = column.width.max(width(&cell));
            column.cells.push(cell);
        }
    }

    /// Leaves out columns with these names, the first ones first, until lines have room, or so many columns of a terminal. Returns those that
    /// are left out.
    pub fn fit<'n>(&mut self, room: Option<usize>, spare: &[&'n str]) -> Vec<&'n str> {
        self.room = room.or(self.room);
        let mut hidden = Vec::new();
        let Some(room) = self.room else { return hidden };
        for name in spare {
            if least(&self.shown(), room) <= room {
                break;
            }
            if let Some(column) = self.columns.iter_mut().find(|column| column.name == *name) {
                column.is_hidden = true;
                hidden.push(*name);
            }
        }
        hidden
    }

    /// The columns that are not left out. Where there is no room for all, those without any content are.
    fn shown(&self) -> Vec<&Column> {
        let mut shown: Vec<&Column> = self.columns.iter().filter(|column| !column.is_hidden).collect();
        if self.room.is_some_and(|room| least(&shown, room) > room) {
            shown.retain(|column| column.cells.is_empty() || column.cells.iter().any(|cell| !cell.is_empty()));
        }
        shown
    }

    /// The columns of each part of the table: the first column, and as many others as find room beside it. One without a name goes with the
    /// one before it.
    fn parts(&self) -> Vec<Vec<Fitted<'_>>> {
        let shown = self.shown();
        let Some(room) = self.room else {
            return vec![shown.into_iter().map(|column| (column, column.width)).collect()];
        };
        let mut parts = Vec::new();
        let mut part: Vec<&Column> = Vec::new();
        for together in shown.chunk_by(|_, next| next.name.is_empty()) {
            let with: Vec<&Column> = part.iter().chain(together).copied().collect();
            if part.len() > 1 && least(&with, room) > room {
                parts.push(fitted(&part, room));
                part.truncate(1);
            }
            part.extend(together);
        }
        parts.push(fitted(&part, room));
        // The names of rows are the same in all parts.
        let narrowest = parts.iter().filter_map(|part| Some(part.first()?.1)).min();
        for first in parts.iter_mut().filter_map(|part| part.first_mut()) {
            first.1 = narrowest.unwrap_or(first.1);
        }
        parts
    }
}

/// The fewest columns of a terminal that a column takes where so many are there for a line: of the first text a third or so, of others less.
fn narrowest(column: &Column, is_first: bool, room: usize) -> usize {
    match (column.kind, is_first) {
        (Kind::Text, true) => column.width.min((room * 3 / 10).max(16)),
        (Kind::Text, false) => column.width.min((room / 5).max(12)),
        _ => column.width,
    }
}

/// The fewest columns of a terminal for each of these.
fn narrow<'t>(columns: &'t [&Column], room: usize) -> impl Iterator<Item = usize> + 't {
    let first = columns.iter().position(|column| column.kind == Kind::Text);
    columns.iter().enumerate().map(move |(place, column)| narrowest(column, first == Some(place), room))
}

/// The fewest columns of a terminal for all of these.
fn least(columns: &[&Column], room: usize) -> usize {
    narrow(columns, room).sum::<usize>() + usize::from(BETWEEN) * columns.len().saturating_sub(1)
}

/// These columns side by side: what the narrowest leave is shared out among those that are cut.
fn fitted<'t>(columns: &[&'t Column], room: usize) -> Vec<Fitted<'t>> {
    let mut fitted: Vec<Fitted<'t>> = columns.iter().copied().zip(narrow(columns, room)).collect();
    let mut rest = room.saturating_sub(least(columns, room));
    loop {
        let cut = fitted.iter().filter(|(column, given)| *given < column.width).count();
        if cut == 0 || rest == 0 {
            return fitted;
        }
        let each = (rest / cut).max(1);
        for (column, given) in fitted.iter_mut().filter(|(column, given)| *given < column.width) {
            let more = each.min(rest).min(column.width - *given);
            *given += more;
            rest -= more;
        }
    }
}

/// Columns as lines without blanks at their ends.
fn drawn(columns: &[Fitted<'_>]) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|(column, given)| shortened(&column.name, *given)));
    for row in 0..columns.first().map_or(0, |(column, _)| column.cells.len()) {
        table.add_row(columns.iter().map(|(column, given)| {
            let cell = column.cells.get(row).map_or("", String::as_str);
            if column.kind == Kind::Text { shortened(cell, *given) } else { cell.into() }
        }));
    }
    for (drawn, (column, _)) in table.column_iter_mut().zip(columns) {
        drawn.set_padding((0, BETWEEN));
        if column.kind == Kind::Number {
            drawn.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.parts().iter().map(|part| drawn(part)).collect();
        f.write_str(&parts.join("\n\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(room: Option<usize>) -> Table {
        let mut table = table(&["name", ">number", "=date", "words", ">", ">size"]);
        table.room = room;
        for row in 0..3 {
            table.add_row([
                format!("a_{}name_{row}", "long_".repeat(row * 4)),
                format!("{}", 10usize.pow(8) + row),
                "2026-11-29 08:00:18".to_owned(),
                "横運動量の誤差".repeat(row * 2),
                format!("{row}%"),
                format!("{row} kB"),
            ]);
        }
        table
    }

    #[test]
    fn lines_are_no_wider_than_their_room_and_have_all_figures() {
        for room in 48..200 {
            let text = filled(Some(room)).to_string();
            assert!(text.lines().all(|line| width(line) <= room && line == line.trim_end()), "{room}\n{text}");
            for figure in ["100000002", "2026-11-29 08:00:18", "2%", "2 kB"] {
                assert!(text.contains(figure), "{room}\n{text}");
            }
            assert!(text.lines().filter(|line| line.starts_with("a_name_0")).count() <= 3, "{room}\n{text}");
        }
        let whole = filled(None).to_string();
        assert!(!whole.contains('…'), "{whole}");
        assert_eq!(whole, filled(Some(400)).to_string());
    }

    #[test]
    fn columns_that_can_be_spared_are_left_out_where_there_is_no_room() {
        for room in 40..200 {
            let mut table = filled(Some(room));
            let hidden = table.fit(None, &["date", "words"]);
            let text = table.to_string();
            assert_eq!(hidden.contains(&"date"), !text.contains("2026-11-29"), "{text}");
            assert!(hidden.is_empty() || hidden.contains(&"date"));
            assert!(text.lines().all(|line| width(line) <= room), "{room}\n{text}");
        }
        assert_eq!(filled(None).fit(None, &["date"]), [""; 0]);
    }

    #[test]
    fn wide_letters_take_two_columns() {
        let mut table = table(&["name", ">n"]);
        table.room = None;
        for name in ["横運動量", "pt", "e\u{301}ta", "\u{1b}[1m"] {
            table.add_row([name, "1"]);
        }
        let text = table.to_string();
        let ends: Vec<usize> = text.lines().map(width).collect();
        assert!(ends.iter().all(|end| *end == ends[0]), "{text}");
    }
}
