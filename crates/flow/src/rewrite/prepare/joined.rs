//! Tables that come beside one of the inputs: their entries align with those of all inputs, one behind the other. A tree gets branches whose
//! baskets are in the files of these tables, an RNTuple gets fields that are read there.

use std::path::PathBuf;

use objects::process_ids::{self, ProcessId};
use rootfile::{Result, RootFile};

/// Tables that come beside one of the inputs.
#[derive(Clone, Copy)]
pub(crate) struct JoinedTables<'a> {
    /// The path of the table of the inputs.
    pub path: &'a str,
    pub tables: &'a [AlignedTable],
    /// The first entry of each input in these tables, and behind them the number of all.
    pub firsts: &'a [u64],
}

/// A table with the entries of all inputs, of the container of their table.
#[derive(Clone, Debug)]
pub(crate) struct AlignedTable {
    pub file: PathBuf,
    pub tree: String,
    /// Its columns, each with its name in it and that in the output.
    pub columns: Vec<(String, String)>,
}

impl AlignedTable {
    /// The name of a column in the output.
    pub fn name_of(&self, column: &str) -> String {
        let known = self.columns.iter().find(|(own, _)| own == column);
        known.map_or(column, |(_, name)| name.as_str()).to_owned()
    }
}

impl JoinedTables<'_> {
    /// The process identifiers of their files.
    pub fn process_ids(&self) -> Result<Vec<Vec<ProcessId>>> {
        self.tables.iter().map(|table| Ok(process_ids::read(&RootFile::open(&table.file)?))).collect()
    }
}
