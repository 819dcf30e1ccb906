//! One entry at a time: structs that can be serialised, gathered into batches for a fill context.

use std::marker::PhantomData;

use arrow_schema::FieldRef;
use rootfile::{Error, Result};
use serde::Serialize;
use serde_arrow::ArrayBuilder;

use super::fill_context::FillContext;

/// Entries that are gathered before they are encoded together.
const BATCH: usize = 1024;

/// Fills a context entry by entry. The names of `T`'s fields are the columns'.
pub struct Rows<T> {
    context: FillContext,
    builder: ArrayBuilder,
    gathered: usize,
    entry: PhantomData<fn(&T)>,
}

impl<T: Serialize> Rows<T> {
    /// Entries for this context.
    pub fn new(context: FillContext) -> Result<Self> {
        let fields: Vec<FieldRef> = context.fields().cloned().collect();
        let builder = ArrayBuilder::from_arrow(&fields).map_err(|e| refused(&e))?;
        Ok(Self { context, builder, gathered: 0, entry: PhantomData })
    }

    /// Adds an entry.
    pub fn fill(&mut self, entry: &T) -> Result<()> {
        self.builder.push(entry).map_err(|e| refused(&e))?;
        self.gathered += 1;
        if self.gathered == BATCH { self.pass_on() } else { Ok(()) }
    }

    fn pass_on(&mut self) -> Result<()> {
        self.gathered = 0;
        let batch = self.builder.to_record_batch().map_err(|e| refused(&e))?;
        self.context.fill(&batch)
    }

    /// Ends the last cluster.
    pub fn finish(mut self) -> Result<()> {
        if self.gathered > 0 {
            self.pass_on()?;
        }
        self.context.finish()
    }
}

fn refused(error: &serde_arrow::Error) -> Error {
    Error::request(format!("an entry that does not fit its columns: {error}"))
}
