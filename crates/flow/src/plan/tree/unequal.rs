//! What is known of inputs with branches that hold fewer or more entries than their tree, and what is said about them. What becomes
//! of their columns is decided elsewhere (`gaps`).

use std::collections::HashMap;
use std::ops::Range;

use dataset::table::piece::{Piece, Stored};
use dataset::tree::{Tree, UnequalBranch};
use rootfile::{Error, Hint, Result, RootFile, public_path};

use crate::table::tree::source::ColumnSource;

/// What becomes of entries that a branch does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gaps {
    /// They get defaults: a tree is written. Where there is no default, the tree is refused, or the branch ends early.
    Fill,
    /// They get defaults where there are some: trees are compared.
    Compare,
    /// They stay gaps: entries are read.
    Keep,
    /// They are left out by the caller's selection: a file is recovered, and a tree may have lost all entries.
    LeftOut,
}

impl Gaps {
    /// Whether entries that no basket holds may get defaults.
    pub fn fills(self) -> bool {
        matches!(self, Self::Fill | Self::Compare)
    }
}

/// Why a column needs default entries.
#[derive(Clone, Copy)]
pub(crate) enum Missing<'a> {
    /// An input has no such branch.
    Branch,
    /// The branch of an input has fewer entries than its tree: `20 of 30 entries`.
    Entries(&'a RootFile, &'a str),
    /// No branch of the output has entries, but the tree has.
    All,
    /// A row of the output is no entry of the inputs.
    Row,
}

/// Most branches that a note names, and most inputs that have a note.
const MOST_NAMED: usize = 5;
const MOST_NOTES: usize = 3;

/// Inputs with branches that hold fewer or more entries than their tree.
#[derive(Debug, Default)]
pub(crate) struct UnequalInputs {
    notes: Vec<String>,
    more: usize,
    /// Columns whose last entries have no default, with the error for the case that others follow.
    open: HashMap<usize, Error>,
}

impl UnequalInputs {
    /// Notes the branches of an input that hold fewer or more entries than their tree.
    pub fn note(&mut self, path: &str, tree: &Tree, (file, is_one_whole): (&RootFile, bool)) {
        let text = |one: &UnequalBranch| {
            let name = tree.branches.get(one.branch).map_or("", |branch| branch.name());
            format!("branch {name} has {}", one.words(tree.entries))
        };
        let mut unequal = tree.unequal_branches();
        // The output of a single tree has branches that end early or late as well.
        unequal.retain(|one| !is_one_whole || one.held < one.end.min(tree.entries));
        let (short, longer): (Vec<_>, Vec<_>) = unequal.iter().partition(|one| one.held < tree.entries);
        let short: Vec<String> = short.into_iter().map(text).collect();
        let longer: Vec<String> = longer.into_iter().map(text).collect();
        self.add(path, file, (&short, "the others are filled in with zeros and empty values"));
        self.add(path, file, (&longer, "these are no entries of the tree, and are left out"));
    }

    /// Leaves the last entries of a column out. The error is that for the case that others follow.
    pub fn leave_open(&mut self, column: usize, error: Error) {
        self.open.insert(column, error);
    }

    /// The error of the first column whose last entries are left out.
    pub fn take_open(&mut self, counts: impl Fn(usize) -> bool) -> Option<Error> {
        let first = self.open.keys().copied().filter(|column| counts(*column)).min()?;
        self.open.remove(&first)
    }

    /// Notes an input. `done` says what becomes of the branches.
    fn add(&mut self, path: &str, file: &RootFile, (branches, done): (&[String], &str)) {
        if branches.is_empty() {
            return;
        }
        if self.notes.len() >= MOST_NOTES {
            self.more += 1;
            return;
        }
        let named = branches.get(..MOST_NAMED).unwrap_or(branches).join("; ");
        let more = branches.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!("; and {more} more branches") } else { String::new() };
        let file = public_path(file.name()).display().to_string();
        self.notes.push(format!("tree {path}, {file}: {named}{more}: {done}"));
    }

    /// The notes.
    pub fn finish(self) -> Vec<String> {
        let mut notes = self.notes;
        if self.more > 0 {
            notes.push(format!("branches with fewer or more entries than their tree: {} more inputs", self.more));
        }
        notes
    }
}

/// The error for a column without a default entry.
pub(crate) fn refusal(branch: &str, kind: &str, why: Missing<'_>) -> Error {
    let left_out = |why: &str| {
        let drop = Hint::named("drop").that("leaves the branch out");
        let what = format!("{why}, and there is no default entry for {kind}; {}", drop.clause());
        Error::request(what).hint(drop).object(format!("branch {branch}"))
    };
    match why {
        Missing::Branch => {
            let common = Hint::switch("common").that("leaves the branch out");
            let what = format!("an input has no branch {branch}, and there is no default entry for {kind}");
            Error::request(format!("{what}; {}", common.clause())).hint(common)
        }
        Missing::All => Error::request(format!(
            "was never filled, there is no default entry for {kind}, and no other branch with entries is kept"
        ))
        .object(format!("branch {branch}")),
        Missing::Row => left_out("a row of the output is no entry of the inputs"),
        Missing::Entries(file, words) => left_out(&format!("has {words}")).file(file.name()),
    }
}

/// Adds pieces of default entries. The source has the default entry already.
pub(crate) fn push_defaults(source: &mut ColumnSource, entries: Range<u64>) -> Result<()> {
    // Pieces are loaded whole, so they are kept small. An input may claim any number of entries.
    const MAX_ENTRIES: u64 = 8192;
    const MAX_BYTES: u64 = 1 << 20;
    let entry = source.fill.as_ref().map_or(0, Vec::len) as u64;
    let most = (MAX_BYTES / entry.max(1)).clamp(1, MAX_ENTRIES);
    let count = entries.end.saturating_sub(entries.start);
    if count / most > 1 << 20 {
        return Err(Error::request(format!("{count} entries are too many to fill in with defaults")));
    }
    let mut at = entries.start;
    while at < entries.end {
        let n = most.min(entries.end - at);
        source.pieces.push(Piece { first_entry: at, entries: n, stored: Stored::Default });
        at += n;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of entries of the pieces.
    fn pieces(entry: Option<usize>, entries: Range<u64>) -> Vec<u64> {
        let mut source = ColumnSource { fill: entry.map(|len| vec![0; len]), ..ColumnSource::default() };
        push_defaults(&mut source, entries.clone()).unwrap();
        assert!(source.covers(&entries));
        assert!(
            source.pieces.iter().all(|piece| source.loaded_bytes(piece) == piece.entries * entry.unwrap_or(0) as u64)
        );
        source.pieces.iter().map(|piece| piece.entries).collect()
    }

    #[test]
    fn pieces_of_defaults_are_small_and_counted() {
        for small in [None, Some(0), Some(8), Some(128)] {
            assert_eq!(pieces(small, 5..20_005), [8192, 8192, 3616]);
        }
        assert_eq!(pieces(Some(400_000), 0..5), [2, 2, 1]);
        assert_eq!(pieces(Some(2 << 20), 3..6), [1; 3]);
        let mut source = ColumnSource { fill: Some(vec![0; 8]), ..ColumnSource::default() };
        assert!(push_defaults(&mut source, 0..u64::MAX).is_err());
    }
}
