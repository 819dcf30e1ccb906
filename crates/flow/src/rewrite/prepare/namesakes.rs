//! A tree and an RNTuple of one name: a file may have both, as cycles of the name. The name alone means the one with the higher cycle,
//! in the output as in the first input that has both.

use std::collections::HashMap;

use dataset::layout::Container;
use objects::ObjectLocation;
use rootfile::{Error, Result};

use super::tables::TablesPlanner;
use crate::rewrite::output_table::OutputPlace;
use crate::rewrite::prepared::PlannedTable;

impl TablesPlanner<'_> {
    /// Whether a table is asked for, by its path or by its path and cycle.
    pub fn is_asked(&self, path: &str, parts: &[ObjectLocation]) -> Result<bool> {
        let Some(only) = &self.planning.options.content.tree else { return Ok(true) };
        let Some(rest) = only.strip_prefix(path) else { return Ok(false) };
        let cycle = rest.strip_prefix(';').and_then(|cycle| cycle.parse::<i16>().ok());
        let Some(cycle) = cycle else { return Ok(rest.is_empty()) };
        for part in parts {
            if self.input_of(*part)?.2.cycle == cycle {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Puts the tables of one name in an order in which the name means the same table as before: the last gets the highest cycle.
    ///
    /// # Errors
    ///
    /// If both would be in one container, where they would be two cycles of one table.
    pub fn order_namesakes(&mut self) -> Result<()> {
        let objects = self.objects;
        let ntuples: HashMap<(usize, &str), &[ObjectLocation]> =
            objects.ntuples().map(|(directory, entry, parts)| ((directory, entry.name.as_str()), parts)).collect();
        for (directory, entry, parts) in objects.trees() {
            let Some(others) = ntuples.get(&(directory, entry.name.as_str())) else { continue };
            let path = objects.directories.get(directory).map_or_else(String::new, |d| d.path_of(&entry.name));
            if !(self.is_asked(&path, parts)? && self.is_asked(&path, others)?) {
                continue;
            }
            let in_both = parts.iter().any(|part| others.iter().any(|other| other.file == part.file));
            let note = self.unique.of_namesakes(&path, in_both)?;
            self.found.notes.extend(note);
            if let Some(container) = self.layout.resolve_tree(&path).container {
                let kind = match container {
                    Container::Ttree => "trees",
                    Container::Rntuple => "RNTuples",
                };
                let message = format!(
                    "is a tree and an RNTuple, and both would be {kind} of that name; FILE:{path};CYCLE takes one of them"
                );
                return Err(Error::request(message).object(path));
            }
            let is_tree = |(place, plan): &(OutputPlace, PlannedTable)| {
                (place.directory, &place.name) == (directory, &entry.name) && plan.table.tree().is_some()
            };
            if self.is_newer(parts, others)?
                && let Some(at) = self.found.plans.iter().rposition(is_tree)
            {
                let newest = self.found.plans.remove(at);
                self.found.plans.push(newest);
            }
        }
        Ok(())
    }

    /// Whether a name means the first of two tables: by their cycles, or, if no input has both, by the order of the inputs.
    fn is_newer(&self, ours: &[ObjectLocation], theirs: &[ObjectLocation]) -> Result<bool> {
        for part in ours {
            if let Some(other) = theirs.iter().find(|other| other.file == part.file) {
                return Ok(self.input_of(*part)?.2.cycle > self.input_of(*other)?.2.cycle);
            }
        }
        let first = |parts: &[ObjectLocation]| parts.iter().map(|part| part.file).min();
        Ok(first(ours) < first(theirs))
    }
}
