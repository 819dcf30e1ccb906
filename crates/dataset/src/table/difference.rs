//! How the schemas of tables differ, as text: one wording for merges of either container and for readers. What counts as a difference is
//! decided where tables are joined.

use rootfile::{Error, Hint};

/// Most differences that a message names.
const MOST_NAMED: usize = 10;

/// One difference between the schemas of two tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// A column that only the first has.
    Missing(String),
    /// A column that only the second has.
    Extra(String),
    /// A column whose entries have another meaning.
    Changed {
        /// The column.
        branch: String,
        /// Its meaning in the first.
        first: String,
        /// Its meaning in the second.
        second: String,
    },
    /// A column whose entries use a class that is described differently.
    Class {
        /// The column.
        branch: String,
        /// How the descriptions differ.
        what: String,
    },
}

impl Difference {
    /// The difference as text. `column` is what the container calls a column.
    pub fn text(&self, column: &str) -> String {
        match self {
            Self::Missing(name) => format!("no {column} {name}"),
            Self::Extra(name) => format!("an additional {column} {name}"),
            Self::Class { branch, what } => format!("{column} {branch}: {what}"),
            Self::Changed { branch, first, second } => format!("{column} {branch}: {second} instead of {first}"),
        }
    }
}

/// The error for tables that differ: the differences by name, what else is said of them, and the ways out.
pub fn refusal(what: &str, differences: &[String], advice: Option<&str>, ways: Vec<Hint>) -> Error {
    let clauses = ways.iter().map(Hint::clause).collect::<Vec<_>>().join(", ");
    let said: Vec<&str> = advice.into_iter().chain([clauses.as_str()]).filter(|text| !text.is_empty()).collect();
    let behind = if said.is_empty() { String::new() } else { format!(" ({})", said.join("; ")) };
    let error = Error::differs(format!("{what}: {}{behind}", named(differences)));
    ways.into_iter().fold(error, Error::hint)
}

/// The first of some differences, and the number of the others.
pub(super) fn named(texts: &[String]) -> String {
    let first = texts.get(..MOST_NAMED).unwrap_or(texts).join("; ");
    match texts.len().checked_sub(MOST_NAMED) {
        Some(more @ 1..) => format!("{first}; and {more} more"),
        _ => first,
    }
}
