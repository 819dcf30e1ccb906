//! The columns that a list of names and patterns means, in its order: those of the table, and those that expressions define.

use std::collections::HashSet;

use dataset::glob::Pattern;
use flow::read::Dataset;
use rootfile::Result;

use crate::readspeed::Columns;

/// A column that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum AskedColumn {
    /// One that is defined, by its place among these.
    Defined(usize),
    /// One of the table, or of a friend, by its number.
    Stored(usize),
}

impl AskedColumn {
    /// The number of a column of the table.
    pub fn stored(self) -> Option<usize> {
        match self {
            Self::Stored(column) => Some(column),
            Self::Defined(_) => None,
        }
    }
}

/// The columns that texts mean, each once. Columns of these names are defined; those that no text means come first.
///
/// # Errors
///
/// A text is no pattern, or means no column, unless that is allowed.
pub(super) fn asked_columns(
    dataset: &Dataset,
    defined: &[&str],
    texts: &[String],
    allow_no_match: bool,
) -> Result<Vec<AskedColumn>> {
    let (mut named, mut seen) = (Vec::new(), HashSet::new());
    for text in texts {
        let pattern = Pattern::new(text)?;
        let own = defined.iter().enumerate().filter(|(_, name)| pattern.matches(name));
        let own: Vec<AskedColumn> = own.map(|(place, _)| AskedColumn::Defined(place)).collect();
        let stored = Columns::Listed(vec![text.clone()]).choose(dataset, allow_no_match || !own.is_empty())?;
        let meant = own.into_iter().chain(stored.into_iter().map(AskedColumn::Stored));
        named.extend(meant.filter(|column| seen.insert(*column)));
    }
    let others = (0..defined.len()).map(AskedColumn::Defined).filter(|column| !seen.contains(column));
    Ok(others.chain(named).collect())
}
