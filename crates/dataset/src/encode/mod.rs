//! Entries: Arrow arrays as the bytes of a tree's branches, the mirror of [`decode`](crate::decode).
//!
//! A [`ColumnPlan`] says how the entries of a branch lie in its baskets, for reading and writing alike. A
//! [`ColumnEncoder`] runs it over arrays. Baskets, compression and files are the caller's.
//!
//! `view` takes the array apart, `machine`, `objects` and `arrays` run the plan's steps value by value, `rows` and
//! `numbers` those of which all values have one size, `forms` knows the classes, `entries` the ways in which entries lie.

mod arrays;
mod entries;
mod forms;
mod machine;
mod numbers;
mod objects;
mod rows;
#[cfg(test)]
mod tests;
mod view;

use std::ops::Range;

use arrow_array::Array;
use rootfile::{Error, Result};

use self::forms::Forms;
use crate::decode::ColumnPlan;
use crate::decode::schema::Layout;
use crate::layout::Streaming;

/// Writes the entries of one column.
#[derive(Clone, Debug)]
pub struct ColumnEncoder {
    plan: ColumnPlan,
    forms: Forms,
    streaming: Streaming,
}

/// Entries as they lie in a basket, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedEntries {
    /// All bytes.
    pub bytes: Vec<u8>,
    /// Where each entry ends; empty where all have the same size.
    pub ends: Vec<u32>,
}

impl EncodedEntries {
    /// Forgets the entries, but keeps the room that they took.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

impl ColumnPlan {
    /// What writes entries of this column. Collections of objects that are not split are streamed as asked. An error
    /// says why the column cannot be written, where it cannot.
    pub fn encoder(&self, streaming: Streaming) -> Result<ColumnEncoder> {
        let at = |e: Error| e.object(format!("branch {}", self.field().name()));
        if let Some(why) = self.opaque() {
            return Err(at(Error::unsupported(why)));
        }
        let plan = self.plan();
        forms::writable(&plan.op, &plan.readers).map_err(at)?;
        Ok(ColumnEncoder { plan: self.clone(), forms: Forms::new(&plan.readers), streaming })
    }
}

impl ColumnEncoder {
    /// Bytes of an entry, if all have the same.
    pub fn entry_size(&self) -> Option<usize> {
        let plan = self.plan.plan();
        plan.op.fixed_size().filter(|_| plan.layout == Layout::Fixed)
    }

    /// Appends the entries `range` of `array`, whose type is that of the plan's field; strings and lists may have
    /// offsets of either width. After an error `out` is as it was.
    pub fn append(&mut self, array: &dyn Array, range: Range<usize>, out: &mut EncodedEntries) -> Result<()> {
        if range.start > range.end || range.end > array.len() {
            return Err(Error::request("entries that the array does not have"));
        }
        let before = (out.bytes.len(), out.ends.len());
        let array = array.slice(range.start, range.len());
        let appended = entries::append(self.plan.plan(), &self.forms, self.streaming, array.as_ref(), out);
        appended.map_err(|e| {
            out.bytes.truncate(before.0);
            out.ends.truncate(before.1);
            e.object(format!("branch {}", self.plan.field().name()))
        })
    }
}
