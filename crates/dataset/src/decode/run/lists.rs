//! Reads values that consist of a varying number of items: counted arrays, containers, `TArray`s, matrices.

use rootfile::tags::Frame;
use rootfile::{Error, Result};

use super::column::Column;
use super::interpreter::Interpreter;
use super::value::{MOST_EMPTY, shape_mismatch, too_many};
use super::words::{Offsets, Words};
use crate::decode::program::op::{Container, Op};
use crate::decode::program::types::Number;

/// Arrays without items that are read together.
const MOST_ARRAYS: usize = 1 << 16;

impl Interpreter<'_> {
    /// Arrays that a counter counts.
    #[inline]
    pub(super) fn counted_lists(
        &mut self,
        counter: usize,
        flag: bool,
        item: &Op,
        n: usize,
        offsets: &mut Offsets,
        items: &mut Column,
    ) -> Result<()> {
        for i in 0..n {
            let count = self.counters.get(counter).and_then(|c| c.get(i)).copied();
            let count = count.ok_or_else(|| Error::corrupt("an array without its counter"))?;
            let count = if flag && self.cursor.u8()? == 0 { 0 } else { count };
            let count = self.cursor.checked_count(i64::try_from(count).unwrap_or(-1), 1)?;
            self.read(item, count, items)?;
            offsets.push(count);
        }
        Ok(())
    }

    /// One list for each object that a counter counts.
    #[inline]
    pub(super) fn lists_of_objects(
        &mut self,
        objects: usize,
        framed: bool,
        item: &Op,
        offsets: &mut Offsets,
        items: &mut Column,
    ) -> Result<()> {
        if framed && self.cursor.remaining() > 0 {
            Frame::read(&mut self.cursor)?;
        }
        let count = self.counters.get(objects).and_then(|c| c.first()).copied().unwrap_or(0);
        let count = usize::try_from(count).map_err(|_| too_many())?;
        if count > self.cursor.remaining() && count > MOST_EMPTY {
            return Err(too_many());
        }
        self.read(item, count, items)?;
        offsets.push(count);
        Ok(())
    }

    /// Containers, each with a count before its items.
    #[inline]
    pub(super) fn containers(
        &mut self,
        container: &Container,
        n: usize,
        offsets: &mut Offsets,
        items: &mut Column,
    ) -> Result<()> {
        if let (Op::Number(number), Column::Numbers(_, words)) = (&container.item, &mut *items) {
            for _ in 0..n {
                let count = self.cursor.count(number.size())?;
                words.extend_be(self.cursor.bytes(count * number.size())?);
                offsets.push(count);
            }
            return Ok(());
        }
        for _ in 0..n {
            let count = self.cursor.count(0)?;
            self.fits(count, 1)?;
            if !self.frameless_objects(&container.item, count, items)? {
                self.read(&container.item, count, items)?;
            }
            offsets.push(count);
        }
        Ok(())
    }

    /// `std::bitset`s of `size` bits.
    #[inline]
    pub(super) fn bitsets(&mut self, size: usize, n: usize, items: &mut Column) -> Result<()> {
        for _ in 0..n {
            let count = self.cursor.count(1)?;
            if count != size {
                return Err(Error::corrupt(format!("{count} bits, where the type has {size}")));
            }
            self.read(&Op::Number(Number::Bool), count, items)?;
        }
        Ok(())
    }

    /// `TArray`s of numbers.
    #[inline]
    pub(super) fn tarrays(
        &mut self,
        number: Number,
        n: usize,
        offsets: &mut Offsets,
        items: &mut Column,
    ) -> Result<()> {
        for _ in 0..n {
            let count = self.cursor.count(number.size())?;
            self.read(&Op::Number(number), count, items)?;
            offsets.push(count);
        }
        Ok(())
    }

    /// A `TMatrixTSym`: its base, then the rows of the upper triangle.
    pub(super) fn symmetric_matrix(
        &mut self,
        base: usize,
        rows: usize,
        number: Number,
        parts: &mut [Column],
    ) -> Result<()> {
        self.object(base, parts)?;
        let rows = match parts.get(rows) {
            Some(Column::Numbers(_, Words::W4(words))) => words.last().copied().unwrap_or(0),
            _ => 0,
        };
        let count = u64::from(rows).saturating_mul(u64::from(rows).saturating_add(1)) / 2;
        let count = i64::try_from(count).unwrap_or(-1);
        let count = self.cursor.checked_count(count, number.size())?;
        if let Some(Column::List { offsets, items, .. }) = parts.last_mut() {
            self.read(&Op::Number(number), count, items)?;
            offsets.push(count);
        }
        Ok(())
    }

    /// Reads values up to the end of the bytes, or to the end of the frame around them.
    pub(super) fn items_to_end(&mut self, flag: bool, item: &Op, items: &mut Column) -> Result<()> {
        if self.cursor.remaining() == 0 || (flag && self.cursor.u8()? == 0) {
            return Ok(());
        }
        if let Some(size) = item.fixed_size().filter(|size| *size > 0) {
            let n = self.cursor.remaining() / size;
            return self.read(item, n, items);
        }
        let Op::Framed(inner) = item else { return self.until_bytes_end(item, items) };
        let frame = Frame::read(&mut self.cursor)?;
        let end = frame.end.unwrap_or(self.cursor.data().len());
        let memberwise = self.memberwise_version(frame.version, inner)?;
        while self.cursor.pos() < end {
            match memberwise {
                Some((version, checksum)) => self.memberwise_containers(inner, (version, checksum), 1, items)?,
                None => self.read(inner, 1, items)?,
            }
        }
        frame.finish(&mut self.cursor, "container")
    }

    /// Reads a fixed array of arrays that one counter counts; without a counter, up to the end of the entry.
    pub(super) fn counted_arrays(
        &mut self,
        arrays: usize,
        counter: Option<usize>,
        item: &Op,
        n: usize,
        column: &mut Column,
    ) -> Result<()> {
        if let Column::Fixed { size, len, items, .. } = column {
            // The inner dimensions hold the arrays.
            *len += n;
            let n = n.checked_mul(*size).ok_or_else(too_many)?;
            return self.counted_arrays(arrays, counter, item, n, items);
        }
        let Column::List { offsets, items, .. } = column else { return Err(shape_mismatch()) };
        // Arrays without items take no bytes.
        if n > MOST_ARRAYS.max(self.cursor.remaining()) {
            return Err(too_many());
        }
        let Some(counter) = counter else {
            let before = items.len();
            self.until_bytes_end(item, items)?;
            let found = items.len() - before;
            if !found.is_multiple_of(n.max(1)) {
                return Err(Error::corrupt(format!("{n} arrays of the same length, with {found} items")));
            }
            (0..n).for_each(|_| offsets.push(found / n.max(1)));
            return Ok(());
        };
        for i in 0..n {
            let counts = self.counters.get(counter);
            let count = counts.and_then(|counts| counts.get(i / arrays.max(1))).copied();
            let count = count.ok_or_else(|| Error::corrupt("an array without its counter"))?;
            let count = self.cursor.checked_count(i64::try_from(count).unwrap_or(-1), 1)?;
            self.read(item, count, items)?;
            offsets.push(count);
        }
        Ok(())
    }
}
