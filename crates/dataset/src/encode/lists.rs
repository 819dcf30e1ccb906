//! Writes values that consist of a varying number of items: counted arrays, containers, matrices.

use rootfile::tags::{begin_frame, end_frame};
use rootfile::{Error, Result};

use super::encoder::Encoder;
use super::objects::STREAMER_INFO;
use super::view::{Ends, View, Words, count, shape_mismatch};
use crate::decode::program::op::Op;
use crate::decode::program::types::Number;

impl Encoder<'_> {
    /// Arrays that a counter counts.
    #[expect(clippy::too_many_arguments, reason = "an operation's fields, a range, and a view's fields")]
    #[inline]
    pub(super) fn counted_lists(
        &mut self,
        counter: usize,
        flag: bool,
        item: &Op,
        at: usize,
        n: usize,
        ends: Ends<'_>,
        items: &View<'_>,
    ) -> Result<()> {
        for i in 0..n {
            let (start, len) = ends.list(at + i);
            if let Some(Some(counts)) = self.counters.get(counter) {
                let counted = counts.get(i).copied().unwrap_or(0);
                // A null array has no items, whatever the counter is.
                if u64::try_from(len) != Ok(counted) && !(flag && len == 0) {
                    return Err(wrong_count(len, counted));
                }
            }
            if flag {
                self.out.u8(u8::from(len > 0));
            }
            self.write(item, start, len, items)?;
        }
        Ok(())
    }

    /// The list that has an item for each object.
    #[inline]
    pub(super) fn list_of_objects(
        &mut self,
        framed: bool,
        item: &Op,
        (start, len): (usize, usize),
        items: &View<'_>,
    ) -> Result<()> {
        let frame = framed.then(|| begin_frame(&mut self.out, STREAMER_INFO));
        self.write(item, start, len, items)?;
        if let Some(frame) = frame {
            end_frame(&mut self.out, frame);
        }
        Ok(())
    }

    /// A count, and the items.
    #[inline]
    pub(super) fn counted_items(&mut self, item: &Op, (start, len): (usize, usize), items: &View<'_>) -> Result<()> {
        self.out.i32(count(len)?);
        self.write(item, start, len, items)
    }

    /// Writes values up to the end of an entry, with one frame around all of them if they have one.
    pub(super) fn items_to_end(
        &mut self,
        flag: bool,
        item: &Op,
        start: usize,
        len: usize,
        items: &View<'_>,
    ) -> Result<()> {
        if flag {
            self.out.u8(u8::from(len > 0));
            if len == 0 {
                return Ok(());
            }
        }
        if matches!(item, Op::Framed(_)) || self.forms.size(item, self.readers).is_some() {
            return self.write(item, start, len, items);
        }
        (start..start + len).try_for_each(|i| self.write(item, i, 1, items))
    }

    /// A `TMatrixTSym`: its base, then the rows of the upper triangle.
    pub(super) fn symmetric_matrix(
        &mut self,
        base: usize,
        rows: usize,
        number: Number,
        i: usize,
        parts: &[View<'_>],
    ) -> Result<()> {
        self.object(base, None, i, parts)?;
        let Some(View::Numbers(_, Words::W4(values))) = parts.get(rows) else { return Err(shape_mismatch()) };
        let rows = values.get(i).copied().map_or(0, u64::from);
        let Some(View::List { ends, items }) = parts.last() else { return Err(shape_mismatch()) };
        let (start, len) = ends.list(i);
        if rows.saturating_mul(rows.saturating_add(1)) / 2 != u64::try_from(len).unwrap_or(u64::MAX) {
            return Err(Error::request(format!("{len} elements of a symmetric matrix of {rows} rows")));
        }
        self.write(&Op::Number(number), start, len, items)
    }

    /// Writes a fixed array of arrays that one counter counts.
    pub(super) fn counted_arrays(
        &mut self,
        arrays: usize,
        counter: Option<usize>,
        item: &Op,
        at: usize,
        n: usize,
        view: &View<'_>,
    ) -> Result<()> {
        if let View::Fixed { size, items } = view {
            let n = n.checked_mul(*size).ok_or_else(shape_mismatch)?;
            return self.counted_arrays(arrays, counter, item, at * size, n, items);
        }
        let View::List { ends, items } = view else { return Err(shape_mismatch()) };
        let counts = counter.and_then(|counter| self.counters.get(counter)).and_then(Option::as_ref);
        for i in 0..n {
            let len = ends.list(at + i).1;
            let counted = match counts {
                Some(counts) => counts.get(i / arrays.max(1)).copied().unwrap_or(0),
                // All arrays of an object are of one length.
                None => u64::try_from(ends.list(at + i - i % arrays.max(1)).1).unwrap_or(u64::MAX),
            };
            if u64::try_from(len) != Ok(counted) {
                return Err(wrong_count(len, counted));
            }
        }
        for i in at..at + n {
            let (start, len) = ends.list(i);
            match counter {
                Some(_) => self.write(item, start, len, items)?,
                None => (start..start + len).try_for_each(|i| self.write(item, i, 1, items))?,
            }
        }
        Ok(())
    }
}

#[cold]
fn wrong_count(len: usize, counted: u64) -> Error {
    Error::request(format!("an array of {len} items, whose counter says {counted}"))
}
