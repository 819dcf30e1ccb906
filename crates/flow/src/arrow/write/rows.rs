//! Fills one entry at a time: serialisable structs are gathered into batches for a fill context.

use std::marker::PhantomData;

use arrow_schema::FieldRef;
use rootfile::{Error, Result};
use serde::Serialize;
use serde_arrow::ArrayBuilder;

use super::fill_context::FillContext;

/// Entries of a batch.
const BATCH: usize = 1024;

/// Fills a context entry by entry. The fields of `T` have the names of the columns.
pub struct Rows<T> {
    context: FillContext,
    builder: ArrayBuilder,
    gathered: usize,
    entry: PhantomData<fn(&T)>,
}

impl<T: Serialize> Rows<T> {
    /// Rows for a context.
    ///
    /// # Errors
    ///
    /// A column has a type for which there are no entries one by one.
    pub fn new(context: FillContext) -> Result<Self> {
        let fields: Vec<FieldRef> = context.fields().cloned().collect();
        let builder = ArrayBuilder::from_arrow(&fields).map_err(|e| refused(&e))?;
        Ok(Self { context, builder, gathered: 0, entry: PhantomData })
    }

    /// Adds an entry.
    ///
    /// # Errors
    ///
    /// The entry does not fit the columns, or the batch that it completes cannot be filled ([`FillContext::fill`]).
    pub fn fill(&mut self, entry: &T) -> Result<()> {
        self.builder.push(entry).map_err(|e| refused(&e))?;
        self.gathered += 1;
        if self.gathered == BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.gathered = 0;
        let batch = self.builder.to_record_batch().map_err(|e| refused(&e))?;
        self.context.fill(&batch)
    }

    /// Ends the last cluster.
    ///
    /// # Errors
    ///
    /// The last entries cannot be filled, or the cluster cannot be written.
    pub fn finish(mut self) -> Result<()> {
        if self.gathered > 0 {
            self.flush()?;
        }
        self.context.finish()
    }
}

fn refused(error: &serde_arrow::Error) -> Error {
    Error::request(format!("an entry does not fit its columns: {error}"))
}
