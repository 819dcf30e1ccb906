//! The values of defined columns, for the entries of a table: step by step, on all threads. Only the columns that they need are read.

use std::ops::{ControlFlow, Range};

use arrow_array::ArrayRef;
use dataset::EntrySet;
use rootfile::Result;

use super::defined::Defined;
use super::steps::{MADE, STEP, Steps};
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::execute::progress::{Progress, tell};

/// Which entries the values of defined columns are computed for.
pub struct DefinedSteps<'a> {
    /// The table.
    pub dataset: &'a Dataset,
    /// Its columns that are defined.
    pub defined: &'a Defined,
    /// The entries.
    pub entries: Range<u64>,
    /// Only these of them.
    pub selection: Option<&'a EntrySet>,
    /// Memory and threads.
    pub budget: Budget,
}

impl DefinedSteps<'_> {
    /// Calls `take` with the values of each step, an array for each column that is defined, and their number; until it breaks. `progress`
    /// gets bytes before compression.
    ///
    /// # Errors
    ///
    /// A column cannot be read, a value cannot be computed, `take` fails, or the work is ended.
    pub fn each(
        &self,
        progress: Progress<'_>,
        take: &mut dyn FnMut(Vec<ArrayRef>, usize) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let team = self.budget.helpers()?;
        let steps = Steps {
            dataset: self.dataset,
            columns: self.defined.columns(),
            entries: self.entries.clone(),
            selection: self.selection,
            budget: self.budget,
            bytes: STEP,
            made: MADE * self.defined.names().count() as u64,
            team: team.clone(),
            before: 0,
        };
        steps.each(|step| {
            let rows = step.rows();
            let values = self.defined.arrays(&step.arrays, &rows, team.as_deref())?;
            tell(progress, step.spent.iter().map(|spent| spent.uncompressed).sum())?;
            take(values, rows.count)
        })
    }
}
