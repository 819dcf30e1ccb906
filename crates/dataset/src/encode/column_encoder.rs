//! Encodes the arrays of one column: a plan run from values to bytes.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::Array;
use rootfile::{Error, Result};

use super::encoded::EncodedEntries;
use super::entries;
use super::forms::{self, Forms};
use crate::decode::ColumnPlan;
use crate::decode::program::model::EntryLayout;
use crate::layout::Streaming;

/// Writes the entries of one column. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ColumnEncoder {
    plan: ColumnPlan,
    forms: Arc<Forms>,
    streaming: Streaming,
}

impl ColumnPlan {
    /// An encoder for entries of this column. `streaming` applies to unsplit collections of objects.
    ///
    /// # Errors
    ///
    /// If entries of the column cannot be written, with the reason.
    pub fn encoder(&self, streaming: Streaming) -> Result<ColumnEncoder> {
        let at = |e: Error| e.object(format!("branch {}", self.field().name()));
        if let Some(why) = self.opaque() {
            return Err(at(Error::unsupported(why)));
        }
        let plan = self.program();
        forms::writable(&plan.op, &plan.readers).map_err(at)?;
        Ok(ColumnEncoder { plan: self.clone(), forms: Arc::new(Forms::new(&plan.readers)), streaming })
    }
}

impl ColumnEncoder {
    /// Bytes of an entry, if all entries have the same size.
    pub fn entry_size(&self) -> Option<usize> {
        let plan = self.plan.program();
        plan.op.fixed_size().filter(|_| plan.layout == EntryLayout::Fixed)
    }

    /// Appends the entries `range` of `array` to `out`. The array has the type of the plan's field; offsets of strings and
    /// lists may have 32 or 64 bits.
    ///
    /// # Errors
    ///
    /// If the array has another type, nulls where ROOT has none, or values that the branch cannot hold. `out` is then
    /// unchanged.
    pub fn append(&mut self, array: &dyn Array, range: Range<usize>, out: &mut EncodedEntries) -> Result<()> {
        if range.start > range.end || range.end > array.len() {
            return Err(Error::request("entries that the array does not have"));
        }
        let before = (out.bytes.len(), out.ends.len());
        let array = array.slice(range.start, range.len());
        let appended = entries::append(self.plan.program(), &self.forms, self.streaming, array.as_ref(), out);
        appended.map_err(|e| {
            out.bytes.truncate(before.0);
            out.ends.truncate(before.1);
            e.object(format!("branch {}", self.plan.field().name()))
        })
    }
}
