//! The columns that are to be defined in several tables, and in which of them they are.

use rootfile::Result;

use super::define::Define;
use super::defined::refuse_define;

/// The columns that are to be defined, and what tables have said to them.
pub(crate) struct DefinesFound<'a> {
    all: &'a [Define],
    /// Whether a table has what one needs.
    found: Vec<bool>,
    /// Why the tables so far have not.
    lacking: Vec<Option<expr::Error>>,
}

impl<'a> DefinesFound<'a> {
    pub fn new(all: &'a [Define]) -> Self {
        Self { all, found: vec![false; all.len()], lacking: vec![None; all.len()] }
    }

    /// The columns that are to be defined.
    pub fn all(&self) -> &'a [Define] {
        self.all
    }

    /// Keeps what a table says: what is defined in it, and why the rest is not. Returns notes.
    pub fn tell(&mut self, path: &str, names: &[String], lacking: Vec<(String, expr::Error)>) -> Vec<String> {
        let place = |name: &str| self.all.iter().position(|define| define.name == name);
        for found in names.iter().filter_map(|name| place(name)) {
            self.found.get_mut(found).into_iter().for_each(|found| *found = true);
        }
        let mut notes = Vec::new();
        for (name, error) in lacking {
            let absent = error.subject();
            notes.push(format!("tree {path} has no column {absent}: {name} is not defined there"));
            if let Some(slot) = place(&name).and_then(|place| self.lacking.get_mut(place)) {
                // Of several tables, the reason that says most.
                if slot.as_ref().is_none_or(|kept: &expr::Error| kept.message().len() < error.message().len()) {
                    *slot = Some(error);
                }
            }
        }
        notes
    }

    /// Fails for a column that no table has the columns for.
    pub fn finish(&self) -> Result<()> {
        let mut both = self.found.iter().zip(&self.lacking);
        match both.find(|(found, lacking)| !**found && lacking.is_some()) {
            Some((_, Some(error))) => Err(refuse_define(error)),
            _ => Ok(()),
        }
    }
}
