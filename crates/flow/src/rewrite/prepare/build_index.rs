//! The index (`TTreeIndex`) that is asked for: each table with the columns of its expressions gets it, of the entries that are kept.

use std::cell::Cell;

use dataset::EntrySet;
use rootfile::{Error, Hint, Result};

use crate::execute::budget::Budget;
use crate::execute::order::Order;
use crate::keys::tree::{BUILD_INDEX, IndexValues, IndexedRows, built_index};
use crate::rewrite::options::BuildIndex;
use crate::rewrite::output_table::OutputTable;
use crate::select::OpenColumns;

/// The indices of the tables of a rewrite.
pub(super) struct IndexBuilder<'a> {
    asked: Option<&'a BuildIndex>,
    budget: Budget,
    /// Whether a table has it.
    found: bool,
    /// Why a table cannot have it.
    lacking: Option<Error>,
}

impl<'a> IndexBuilder<'a> {
    pub fn new(asked: Option<&'a BuildIndex>, budget: Budget) -> Self {
        Self { asked, budget, found: false, lacking: None }
    }

    /// The columns of the index in a table, if it has them.
    pub fn of_table(&mut self, path: &str, open: OpenColumns<'_>) -> Result<Option<IndexValues>> {
        let Some(asked) = self.asked else { return Ok(None) };
        match IndexValues::open(path, open, asked.names.expressions(), BUILD_INDEX).map_err(|e| e.object(path))? {
            Ok(values) => {
                self.found = true;
                Ok(Some(values))
            }
            Err(why) => {
                self.lacking.get_or_insert(why.object(path));
                Ok(None)
            }
        }
    }

    /// Gives a planned table an index of its rows: of all entries that are read or some of them, in their order or another one. Returns a
    /// note on values that several entries have.
    pub fn put(
        &self,
        values: &IndexValues,
        chosen: Option<&EntrySet>,
        order: Option<&Order>,
        table: &mut dyn OutputTable,
    ) -> Result<Option<String>> {
        let Some(BuildIndex { names, beside }) = self.asked else { return Ok(None) };
        let repeated = Cell::new(0);
        table.put_index(&|| {
            let rows = IndexedRows { chosen, order, budget: self.budget, beside: beside.as_deref() };
            let index = built_index(values, names.expressions(), &rows)?;
            repeated.set(index.repeated());
            Ok(index)
        })?;
        Ok(match repeated.get() {
            0 => None,
            1 => Some(format!("in its index ({names}) an entry has the values of another, and ROOT finds one of them")),
            n => Some(format!(
                "in its index ({names}) {n} entries have the values of another, and ROOT finds one of them"
            )),
        })
    }

    /// Fails if no table has the columns.
    pub fn finish(self) -> Result<()> {
        match (self.asked, self.lacking) {
            (Some(_), Some(lacking)) if !self.found => Err(lacking),
            (Some(asked), None) if !self.found => {
                let hint = Hint::named(BUILD_INDEX);
                Err(Error::request(format!("{hint} {}: there is no tree", asked.names)).hint(hint))
            }
            _ => Ok(()),
        }
    }
}
