//! Columns that tables of a rewrite get besides those of their inputs: those that are defined, in each table that has what they need, and
//! those of tables that come beside one.

use dataset::layout::Container;
use rootfile::Result;

use super::joined::AlignedTable;
use super::tables::{TableCycle, TablesPlanner};
use super::tree::joined::branches;
use crate::commit::date::date;
use crate::plan::inputs::Input;
use crate::rewrite::convert::{BesideColumns, DefinedColumns};
use crate::select::Defined;
use crate::select::tree::{DefinedBranches, DefinedLayout, defined_branches};
use crate::table::tree::added::AddedBranches;

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
        let path = cycle.path();
        let tree = self.source_tree(cycle.inputs, path);
        let opened = Defined::open(path, &|filter| tree.open(filter), self.defines.all());
        let Some((dataset, defined)) = self.bad.admit(opened)? else { return Ok(None) };
        let names: Vec<String> = defined.names().map(str::to_owned).collect();
        notes.extend(self.defines.tell(path, &names, defined.lacking.clone()));
        Ok(Some((!defined.is_empty()).then_some(DefinedColumns { dataset, defined })))
    }

    /// The branches that a tree gets: of the tables beside it, or of the columns that are defined. None if an input is bad.
    pub fn define(&mut self, cycle: &TableCycle<'_>, notes: &mut Vec<String>) -> Result<Option<Option<AddedBranches>>> {
        if cycle.table.container != Container::Ttree {
            return Ok(Some(None));
        }
        if let Some(joined) = self.joined_branches(cycle)? {
            return Ok(Some(Some(joined)));
        }
        if self.defines.all().is_empty() {
            return Ok(Some(None));
        }
        let path = cycle.path();
        let tree = self.source_tree(cycle.inputs, path);
        let how = DefinedLayout { layout: self.layout, date: date(Some(self.objects.newest)) };
        let defined = self.bad.admit(defined_branches(&tree, self.defines.all(), cycle.entries, &how))?;
        let Some(DefinedBranches { branches, names, lacking, notes: own }) = defined else { return Ok(None) };
        notes.extend(own);
        notes.extend(self.defines.tell(path, &names, lacking));
        Ok(Some(branches))
    }

    /// The branches that come beside those of a tree, if there are some.
    pub fn joined_branches(&self, cycle: &TableCycle<'_>) -> Result<Option<AddedBranches>> {
        let joined = self.planning.joined.filter(|joined| joined.path == cycle.path());
        joined.map(|joined| branches(&joined, self.planning.files.len())).transpose()
    }

    /// The fields that come beside those of an RNTuple.
    pub fn joined_fields(&self, cycle: &TableCycle<'_>) -> Result<Vec<BesideColumns>> {
        let joined = self.planning.joined.filter(|joined| joined.path == cycle.path());
        let tables = joined.map_or(&[][..], |joined| joined.tables);
        let open = |table: &AlignedTable| {
            let input = Input { path: table.file.clone(), tree: Some(table.tree.clone()) };
            BesideColumns::open(input, &|column| table.name_of(column))
        };
        tables.iter().map(open).collect()
    }
}
