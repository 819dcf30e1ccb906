//! The first pass over the values of a table of any container, which is planned anew when the pass ends. What a container looks at is
//! in its folder.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::RecordBatch;
use rayon::ThreadPool;
use rootfile::Result;

use super::exact::ExactColumns;
use super::format::{FirstPass, TableFormat};
use super::table::Table;

/// A look at all values of some columns of a table before the first one is written.
pub(crate) trait TablePass: Send {
    /// The names of the columns.
    fn columns(&self) -> HashSet<String>;

    /// Looks at the entries of a batch with these columns, with the threads of a team if there is one.
    fn look(&mut self, batch: &RecordBatch, team: Option<&ThreadPool>) -> Result<()>;

    /// Plans the table anew, by what was seen. Returns what is told about it.
    fn end(self: Box<Self>) -> Result<ExactColumns>;
}

struct Pass<F: TableFormat> {
    table: Arc<Table<F>>,
    of_format: Box<dyn FirstPass<F::Plan, F::Record>>,
}

/// The pass that a table needs before it begins.
pub(super) fn pass_of<F: TableFormat>(table: Arc<Table<F>>) -> Result<Option<Box<dyn TablePass>>> {
    let of_format = F::first_pass(&table.newest()?);
    Ok(of_format.map(|of_format| Box::new(Pass { table, of_format }) as _))
}

impl<F: TableFormat> TablePass for Pass<F> {
    fn columns(&self) -> HashSet<String> {
        self.of_format.columns()
    }

    fn look(&mut self, batch: &RecordBatch, team: Option<&ThreadPool>) -> Result<()> {
        self.of_format.look(batch, team)
    }

    fn end(self: Box<Self>) -> Result<ExactColumns> {
        let Self { table, of_format } = *self;
        let (plan, found) = table.with_record(|record| of_format.end(record))?;
        table.replan(plan);
        Ok(found)
    }
}
