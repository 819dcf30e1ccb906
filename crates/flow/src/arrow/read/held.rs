//! The entries of a data set that a column holds: branches may have fewer than their tree. Readers give defaults for the others;
//! who shows values asks here first.

use std::ops::Range;

use dataset::EntrySet;

use super::dataset::Dataset;

/// Most columns that notes name.
const MOST_NAMED: usize = 5;

impl Dataset {
    /// The entry up to which a column holds all entries from `start` on, if it holds none behind: a branch that ended early has fewer
    /// than its tree. A branch that was never filled has defaults for all.
    pub fn held_until(&self, column: usize, start: u64) -> u64 {
        let all = self.entries();
        let Some(source) = self.source(column).map(|source| &source.source) else { return all };
        match source.pieces.last() {
            Some(last) if last.end() < all && source.covers(&(start.min(last.end())..last.end())) => last.end(),
            _ => all,
        }
    }

    /// The first of these entries that a column does not hold, unless it was never filled. Without a selection all entries of the
    /// range count.
    pub fn missing(&self, column: usize, entries: &Range<u64>, selection: Option<&EntrySet>) -> Option<u64> {
        let source = &self.source(column)?.source;
        if source.pieces.is_empty() {
            return None;
        }
        let end = entries.end.min(self.entries());
        let first_of = |gap: Range<u64>| match selection {
            None => (!gap.is_empty()).then_some(gap.start),
            Some(selected) if selected.count(&gap) > 0 => selected.nth(selected.rank(gap.start)),
            Some(_) => None,
        };
        let mut at = entries.start;
        for piece in source.pieces_with(&(entries.start..end)) {
            if let Some(first) = first_of(at..piece.first_entry.clamp(at, end)) {
                return Some(first);
            }
            at = at.max(piece.end());
        }
        first_of(at.min(end)..end)
    }

    /// Whether a column holds an entry, or was never filled.
    pub fn holds(&self, column: usize, entry: u64) -> bool {
        self.missing(column, &(entry..entry.saturating_add(1)), None).is_none()
    }

    /// How many of all entries a column holds.
    pub fn held(&self, column: usize) -> u64 {
        let all = self.entries();
        let Some(source) = self.source(column).map(|source| &source.source) else { return all };
        let held = |at: &mut u64, (start, end): (u64, u64)| {
            let from = start.max(*at);
            *at = end.max(*at);
            Some(end.saturating_sub(from))
        };
        source.pieces.iter().map(|piece| (piece.first_entry, piece.end().min(all))).scan(0, held).sum()
    }

    /// Notes on columns that hold fewer entries than the data set has: the others get defaults.
    pub(crate) fn notes_on_gaps(&self, columns: &[usize]) -> Vec<String> {
        self.notes_on_missing(columns, &(0..self.entries()), None, "are filled in with zeros and empty values")
    }

    /// Notes on columns that do not hold all of these entries. `become_what` says what those are that they do not hold.
    pub fn notes_on_missing(
        &self,
        columns: &[usize],
        entries: &Range<u64>,
        selection: Option<&EntrySet>,
        become_what: &str,
    ) -> Vec<String> {
        let all = self.entries();
        let short = columns.iter().filter(|column| self.missing(**column, entries, selection).is_some());
        let mut notes: Vec<String> = Vec::new();
        let mut more = 0;
        for &column in short {
            let name = self.column(column).map_or("", |column| column.field().name());
            match notes.len() < MOST_NAMED {
                true => {
                    notes.push(format!("{name}: has {} of {all} entries; the others {become_what}", self.held(column)))
                }
                false => more += 1,
            }
        }
        if more > 0 {
            notes.push(format!("{more} more columns have fewer entries than {}", self.path()));
        }
        notes
    }
}
