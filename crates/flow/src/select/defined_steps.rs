//! The values of defined columns, for the entries of a table: step by step, on all threads. Only the columns that they need are read.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, new_empty_array};
use arrow_schema::{ArrowError, Schema};
use arrow_select::concat::concat;
use dataset::EntrySet;
use rootfile::{Error, Result};

use super::defined::Defined;
use super::steps::{MADE, STEP, Steps};
use crate::arrow::read::NamedTable;
use crate::execute::budget::Budget;
use crate::execute::progress::{Progress, tell};

/// Which entries the values of defined columns are computed for.
pub struct DefinedSteps<'a> {
    /// The table.
    pub table: &'a dyn NamedTable,
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
    /// The values of all entries at once. Only arrays in which a value is absent say where there are values.
    ///
    /// # Errors
    ///
    /// As for [`each`](Self::each), or the values are too many.
    pub fn all(&self, progress: Progress<'_>) -> Result<RecordBatch> {
        let schema = Schema::new(self.defined.fields());
        // What arrays are joined with says nothing of absent values, and has the type where there are no entries.
        let empty = |field: &arrow_schema::FieldRef| vec![new_empty_array(field.data_type())];
        let mut found: Vec<Vec<ArrayRef>> = schema.fields().iter().map(empty).collect();
        let mut rows = 0;
        self.each(progress, &mut |values, count| {
            rows += count;
            found.iter_mut().zip(values).for_each(|(all, values)| all.push(values));
            Ok(ControlFlow::Continue(()))
        })?;
        let joined = |parts: &Vec<ArrayRef>| concat(&parts.iter().map(AsRef::as_ref).collect::<Vec<&dyn Array>>());
        let failed = |e: ArrowError| Error::unsupported(format!("internal error: {e}"));
        let columns: Vec<ArrayRef> = found.iter().map(joined).collect::<std::result::Result<_, _>>().map_err(failed)?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::new(schema), columns, &options).map_err(failed)
    }

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
            table: self.table,
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
