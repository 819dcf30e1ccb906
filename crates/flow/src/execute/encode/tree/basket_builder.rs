//! Builds a basket from entries of other baskets: their bytes, their offsets, and the header. The caller handles clusters
//! and compression.

use std::ops::Range;

use dataset::layout::BasketCutter;
use dataset::tree::basket::{BasketData, BasketHeader, Entries};
use rootfile::{Error, Result};

use super::class_tags::ClassTags;
use super::offset_array::append_offset_array;
use crate::table::tree::column::Column;

/// Largest number of entries without bytes in one basket, where each needs an offset.
const MOST_EMPTY: u32 = 1 << 22;

/// A basket being filled.
#[derive(Debug, Default)]
pub(crate) struct BasketBuilder {
    /// The usual header of the column's baskets, and whether a smaller key is possible.
    usual: Option<BasketHeader>,
    small_keys: bool,
    /// The header of this basket, if it is not the usual one.
    header: Option<BasketHeader>,
    data: Vec<u8>,
    /// Offsets of entries, from the start of the key.
    offsets: Vec<u32>,
    tags: ClassTags,
    count: u64,
    fixed: u32,
    first_entry: u64,
}

impl BasketBuilder {
    /// Begins a column. `small_keys`: whether keys with four-byte positions are possible.
    pub(crate) fn set_header(&mut self, usual: BasketHeader, small_keys: bool) {
        self.usual = Some(usual);
        self.small_keys = small_keys;
        self.clear();
    }

    pub(crate) fn start(&mut self, first_entry: u64) {
        self.clear();
        self.first_entry = first_entry;
    }

    pub(crate) fn clear(&mut self) {
        self.header = None;
        self.data.clear();
        self.offsets.clear();
        self.count = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn first_entry(&self) -> u64 {
        self.first_entry
    }

    /// The finished payload.
    pub(crate) fn payload(&self) -> &[u8] {
        &self.data
    }

    fn keylen(&self) -> u32 {
        self.header.as_ref().or(self.usual.as_ref()).map_or(0, |header| u32::from(header.key.keylen))
    }

    /// Takes entries of `range` until the basket is full. Returns the number taken, and whether the basket is full. The source
    /// is [`in_form_of`] the column.
    pub(crate) fn take(
        &mut self,
        column: &Column,
        source: &BasketData,
        range: Range<usize>,
        cutter: &mut BasketCutter,
    ) -> Result<(usize, bool)> {
        if !column.form.has_offsets {
            return match source.entries {
                Entries::Fixed(len) => self.take_fixed(source, len, range, cutter),
                _ => Err(Error::corrupt("entries vary in length in a branch whose metadata say that they do not")
                    .object(format!("branch {}", column.name))),
            };
        }
        if column.form.has_tags {
            self.take_tagged(source, range, cutter).map_err(|e| e.object(format!("branch {}", column.name)))
        } else {
            self.take_varying(source, range, cutter)
        }
    }

    fn take_fixed(
        &mut self,
        source: &BasketData,
        len: u32,
        range: Range<usize>,
        cutter: &BasketCutter,
    ) -> Result<(usize, bool)> {
        if self.count > 0 && len != self.fixed {
            return Err(Error::corrupt(format!("entries of {} and of {len} bytes in one branch", self.fixed)));
        }
        self.fixed = len;
        let room = usize::try_from(cutter.fixed(len).saturating_sub(self.count)).unwrap_or(usize::MAX);
        let n = range.len().min(room.max(1));
        let bytes = range.start * len as usize..(range.start + n) * len as usize;
        self.data.extend_from_slice(source.data.get(bytes).ok_or_else(out_of_basket)?);
        self.count += n as u64;
        Ok((n, n >= room))
    }

    fn take_varying(
        &mut self,
        source: &BasketData,
        range: Range<usize>,
        cutter: &mut BasketCutter,
    ) -> Result<(usize, bool)> {
        let Entries::Offsets(offsets) = &source.entries else { return Err(out_of_basket()) };
        let ends = offsets.get(range.start..=range.end).ok_or_else(out_of_basket)?;
        let Some((&begin, ends)) = ends.split_first() else { return Err(out_of_basket()) };
        let base = self.end()?;
        let mut from = begin;
        let mut taken = 0;
        let mut full = false;
        for &end in ends {
            // Offsets grow: `BasketHeader::open` checked that.
            self.offsets.push(base.wrapping_add(from - begin));
            taken += 1;
            full = cutter.push(end - from);
            from = end;
            if full {
                break;
            }
        }
        let bytes = source.data.get(begin as usize..from as usize).ok_or_else(out_of_basket)?;
        self.data.extend_from_slice(bytes);
        self.count += taken as u64;
        Ok((taken, full))
    }

    /// Takes entries with class tags, and rebases the tags where an entry's offset changes.
    fn take_tagged(
        &mut self,
        source: &BasketData,
        range: Range<usize>,
        cutter: &mut BasketCutter,
    ) -> Result<(usize, bool)> {
        let mut taken = 0;
        for i in range {
            let bytes = source.range(i).and_then(|r| source.data.get(r)).ok_or_else(out_of_basket)?;
            let old = source.origin(i);
            let mut new = self.end()?;
            let moves = old != new && self.tags.find(bytes, old);
            if old != new && !moves {
                // The entry must keep its offset: it begins a basket, behind padding.
                if self.count > 0 {
                    return Ok((taken, true));
                }
                self.begin_at(old)?;
                new = old;
            }
            let start = self.data.len();
            self.data.extend_from_slice(bytes);
            if moves {
                let end = self.data.len();
                self.tags.shift(&mut self.data, start..end, old, new);
            }
            self.offsets.push(new);
            self.count += 1;
            taken += 1;
            if cutter.push(u32::try_from(bytes.len()).map_err(|_| out_of_basket())?) {
                return Ok((taken, true));
            }
        }
        Ok((taken, false))
    }

    /// Offset of the next entry, from the start of the key.
    fn end(&self) -> Result<u32> {
        u32::try_from(self.data.len()).map(|len| len.wrapping_add(self.keylen())).map_err(|_| out_of_basket())
    }

    /// Places the first entry at `origin`. Names in the key can be dropped, since no reader uses them.
    fn begin_at(&mut self, origin: u32) -> Result<()> {
        let usual = self.usual.as_ref().ok_or_else(out_of_basket)?;
        let forms = [Some(usual.clone()), Some(usual.without_names()), self.small_keys.then(|| usual.smallest())];
        let fitting = forms.into_iter().flatten().find(|form| u32::from(form.key.keylen) <= origin);
        let Some(header) = fitting else {
            return Err(Error::unsupported(format!(
                "an entry with class tags is {origin} bytes into its basket, and the larger key of a large file would \
                 invalidate the tags; leave the layout of this branch as it is, or drop the branch"
            )));
        };
        self.data.resize((origin - u32::from(header.key.keylen)) as usize, 0);
        self.header = Some(header);
        Ok(())
    }

    /// Adds the offset array behind the entries, and returns the header.
    pub(crate) fn finish(&mut self, column: &Column) -> Result<BasketHeader> {
        let mut header = self.header.take().or_else(|| self.usual.clone()).ok_or_else(out_of_basket)?;
        let count = i32::try_from(self.count).map_err(|_| Error::request("a basket of 2^31 entries"))?;
        let last = i32::try_from(self.data.len() + header.keylen()).map_err(|_| {
            Error::request("a basket of 2 GB or more cannot be written; ask for smaller clusters or baskets")
        })?;
        header.nev_buf = count.unsigned_abs();
        header.last = last.unsigned_abs();
        if !column.form.has_offsets {
            header.nev_buf_size = i32::try_from(self.fixed).map_err(|_| out_of_basket())?;
            return Ok(header);
        }
        header.nev_buf_size = count + 1;
        if header.holds_sizes() {
            if column.may_leave_out_offsets() {
                header.leave_out_offsets();
                return Ok(header);
            }
            let begins = self.offsets.clone();
            let before = begins.first().into_iter().chain(&begins);
            for (offset, before) in self.offsets.iter_mut().zip(before) {
                *offset = offset.wrapping_sub(*before);
            }
        }
        append_offset_array(&mut self.data, &self.offsets, count + 1);
        Ok(header)
    }
}

/// A basket in the form of a column: with the offsets of its entries where all baskets of the column have them, and without where
/// none has. Entries of several lengths keep theirs.
pub(crate) fn in_form_of(column: &Column, mut source: BasketData) -> Result<BasketData> {
    match (column.form.has_offsets, &source.entries) {
        (true, Entries::Fixed(len)) => {
            // Entries without bytes cost nothing in a file, so there is no limit to how many it says there are.
            if *len == 0 && source.count > MOST_EMPTY {
                return Err(Error::corrupt(format!("{} entries without bytes", source.count))
                    .object(format!("branch {}", column.name)));
            }
            let ends = (0..=source.count).map(|i| i.saturating_mul(*len)).collect();
            source.entries = Entries::Offsets(ends);
        }
        (false, Entries::Offsets(ends)) => {
            let len = ends.get(1).copied().unwrap_or(0);
            let is_fixed = ends.iter().zip(0u64..).all(|(end, i)| u64::from(*end) == i * u64::from(len));
            if is_fixed {
                source.entries = Entries::Fixed(len);
            }
        }
        _ => {}
    }
    Ok(source)
}

#[cold]
fn out_of_basket() -> Error {
    Error::corrupt("entry boundaries lie outside their basket")
}
