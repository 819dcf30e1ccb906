//! Objects as ROOT's streamer writes them, for streamer fields: each by itself, as in a buffer of its own.

use std::ops::Range;

use rootfile::{Error, Result};

use crate::decode::program::model::Program;
use crate::decode::program::types::Reason;
use crate::encode::EncodedEntries;
use crate::encode::entries::append_values;
use crate::encode::forms::{Forms, writable};
use crate::encode::view::View;
use crate::layout::Streaming;

/// Writes the objects of a streamer field.
#[derive(Debug)]
pub(super) struct ObjectEncoder {
    program: Program,
    forms: Forms,
}

impl ObjectEncoder {
    pub fn new(program: Program) -> std::result::Result<Self, Reason> {
        writable(&program.op, &program.readers).map_err(|e| e.to_string())?;
        let forms = Forms::new(&program.readers);
        Ok(Self { program, forms })
    }

    /// The objects `range` of a view, one after the other, and the length of each.
    pub fn encode(&self, view: &View<'_>, range: Range<usize>) -> Result<(Vec<u8>, Vec<u64>)> {
        let mut out = EncodedEntries::default();
        let n = range.len();
        append_values(&self.program, &self.forms, Streaming::ObjectWise, view, range, &mut out)?;
        let EncodedEntries { bytes, ends, .. } = out;
        if ends.is_empty() && n > 0 {
            let each = bytes.len() / n;
            return Ok((bytes, vec![each as u64; n]));
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let lengths: Vec<u64> = ends.iter().zip(starts).map(|(end, start)| u64::from(end - start)).collect();
        if lengths.len() == n { Ok((bytes, lengths)) } else { Err(Error::unsupported("objects without ends")) }
    }
}
