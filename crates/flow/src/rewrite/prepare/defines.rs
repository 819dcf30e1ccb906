//! Columns that are defined in the tables of a rewrite: in each that has what they need.

use dataset::layout::Container;
use rootfile::Result;

use super::tables::{TableCycle, TablesPlanner};
use crate::commit::date::date;
use crate::rewrite::convert::DefinedColumns;
use crate::select::tree::{DefinedBranches, DefinedLayout, defined_branches};
use crate::select::{Define, Defined, SourceTree, refuse_define};
use crate::table::tree::added::AddedBranches;

/// The columns that are to be defined, and what tables have said to them.
pub(super) struct DefinesFound<'a> {
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
            let absent = error.text().get(error.place()).unwrap_or_default();
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

impl TablesPlanner<'_> {
    /// The columns that are defined in an RNTuple. None if an input is bad.
    pub fn define_fields(
        &mut self,
        cycle: &TableCycle<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Option<Option<DefinedColumns>>> {
        if self.defines.all().is_empty() || cycle.older.is_some() {
            return Ok(Some(None));
        }
        let options = self.planning.options;
        let (path, joining, budget) = (cycle.path(), options.plan, options.budget);
        let tree = SourceTree { inputs: cycle.inputs, path, joining, budget };
        let opened = Defined::open(path, &|filter| tree.open(filter), self.defines.all());
        let Some((dataset, defined)) = self.bad.admit(opened)? else { return Ok(None) };
        let names: Vec<String> = defined.names().map(str::to_owned).collect();
        notes.extend(self.defines.tell(path, &names, defined.lacking.clone()));
        Ok(Some((!defined.is_empty()).then_some(DefinedColumns { dataset, defined })))
    }

    /// The branches of the columns that are defined in a tree. None if an input is bad.
    pub fn define(&mut self, cycle: &TableCycle<'_>, notes: &mut Vec<String>) -> Result<Option<Option<AddedBranches>>> {
        if self.defines.all().is_empty() || cycle.table.container != Container::Ttree {
            return Ok(Some(None));
        }
        let options = self.planning.options;
        let (path, joining, budget) = (cycle.path(), options.plan, options.budget);
        let tree = SourceTree { inputs: cycle.inputs, path, joining, budget };
        let how = DefinedLayout { layout: self.layout, date: date(Some(self.objects.newest)) };
        let defined = self.bad.admit(defined_branches(&tree, self.defines.all(), cycle.entries, &how))?;
        let Some(DefinedBranches { branches, names, lacking, notes: own }) = defined else { return Ok(None) };
        notes.extend(own);
        notes.extend(self.defines.tell(path, &names, lacking));
        Ok(Some(branches))
    }
}
