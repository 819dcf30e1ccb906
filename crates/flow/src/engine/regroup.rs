//! Depths *recompress* and *regroup*: the entries of one column in one cluster, made anew.
//!
//! Entries are moved by their boundaries alone, so this works on any branch. An entry that holds class tags
//! keeps them valid by the basket's displacement array, which says where the entry lay when it was written.

use std::ops::Range;

use dataset::layout::BasketCutter;
use dataset::tree::basket::{BasketData, BasketHeader, Entries};
use rootfile::bytes::Writer;
use rootfile::object::tags::{MAP_OFFSET, NEW_CLASS_TAG};
use rootfile::{Error, Result};

use super::Job;
use super::queue::{Chunk, OutPiece, Stopped};
use super::tasks::Depth;
use super::worker::{Carry, Scratch};
use crate::column::{Column, Shape};

/// Finished baskets are handed over when there are this many bytes of them.
const HAND_OVER: usize = 1 << 20;

/// Most entries of a basket that have no bytes, where each needs an offset.
const MOST_EMPTY: u32 = 1 << 22;

type Emit<'a> = &'a mut dyn FnMut(&mut Chunk) -> std::result::Result<(), Stopped>;

/// Makes the entries of a column in a cluster.
pub(super) fn make(
    job: &Job<'_>,
    (index, entries, depth): (usize, Range<u64>, Depth),
    scratch: &mut Scratch,
    carry: &Carry,
    emit: Emit<'_>,
) -> Result<std::result::Result<(), Stopped>> {
    let Some(column) = job.columns.get(index) else { return Ok(Ok(())) };
    scratch.chunk.bytes.clear();
    scratch.chunk.pieces.clear();
    if column.has_io_bits {
        return Err(Error::unsupported(
            "its baskets keep entry sizes in place of offsets (kGenerateOffsetMap): they can be copied, but not yet \
             compressed or cut anew; leave compression, cluster and basket as they are, or drop the branch",
        )
        .object(format!("branch {}", column.names.0)));
    }
    let mut maker = Maker { job, column, index, keylen: column.keylen() };
    if depth == Depth::Regroup {
        maker.regroup(&entries, scratch, carry, emit)
    } else {
        maker.recompress(&entries, scratch, emit)
    }
}

struct Maker<'a> {
    job: &'a Job<'a>,
    column: &'a Column,
    index: usize,
    keylen: usize,
}

impl Maker<'_> {
    /// Baskets keep their entries; their payload is not looked into.
    fn recompress(
        &mut self,
        entries: &Range<u64>,
        scratch: &mut Scratch,
        emit: Emit<'_>,
    ) -> Result<std::result::Result<(), Stopped>> {
        for index in self.column.overlapping(entries) {
            let Some(piece) = self.column.pieces.get(index) else { continue };
            let header = scratch.fetch(self.job.files, piece)?;
            if header.keylen() != self.keylen {
                // Offsets count from the start of a key that has another length now.
                let one = piece.first_entry..piece.end();
                if let Err(stopped) = self.regroup(&one, scratch, &Carry::new(0), emit)? {
                    return Ok(Err(stopped));
                }
                continue;
            }
            let in_file = |e: Error| match self.job.files.get(piece.file as usize) {
                Some(file) => e.at(piece.seek).object(format!("branch {}", self.column.names.0)).file(file.name()),
                None => e,
            };
            scratch.unpack(&header).map_err(in_file)?;
            let pid = self.job.pid_offsets.get(piece.file as usize).copied().unwrap_or(0);
            let mut out = BasketHeader::new(&self.column.names.0, &self.column.names.1, 0, 0);
            out.key.datime = header.key.datime;
            out.key.pid_offset = header.key.pid_offset.wrapping_add(pid);
            out.nev_buf = header.nev_buf;
            out.nev_buf_size = header.nev_buf_size;
            out.io_bits = header.io_bits;
            out.last = header.last;
            out.flag = header.flag;
            self.put(out, piece.first_entry, scratch, false)?;
            if scratch.chunk.bytes.len() >= HAND_OVER
                && let Err(stopped) = emit(&mut scratch.chunk)
            {
                return Ok(Err(stopped));
            }
        }
        Ok(Ok(()))
    }

    fn regroup(
        &mut self,
        entries: &Range<u64>,
        scratch: &mut Scratch,
        carry: &Carry,
        emit: Emit<'_>,
    ) -> Result<std::result::Result<(), Stopped>> {
        let (size, per_cluster) = match self.column.shape {
            Shape::Keep(size) if self.job.is_packed(entries.start) => (self.column.packed_size.unwrap_or(size), false),
            Shape::Keep(size) | Shape::Size(size) => (size, false),
            Shape::PerCluster => (u32::MAX, true),
        };
        let keylen = u32::try_from(self.keylen).unwrap_or(u32::MAX);
        let mut cutter = BasketCutter::new(size, keylen, self.column.has_offsets, per_cluster);
        let mut next = entries.start;
        let mut pid = None;
        scratch.builder.start(next);
        for index in self.column.overlapping(entries) {
            let Some(&piece) = self.column.pieces.get(index) else { continue };
            if piece.first_entry > next && next != entries.start {
                return Err(Error::corrupt(format!("entries {next} to {} are in no basket", piece.first_entry))
                    .object(format!("branch {}", self.column.names.0)));
            }
            let mut data = match carry.take(self.index, index) {
                Some(data) => data,
                None => scratch.load(self.job.files, self.column, index)?,
            };
            let this_pid = self.job.pid_offsets.get(piece.file as usize).copied().unwrap_or(0);
            let from = entries.start.max(piece.first_entry);
            let to = entries.end.min(piece.end());
            let closed = pid.is_some_and(|pid| pid != this_pid) && !scratch.builder.is_empty();
            if closed {
                cutter.close();
                self.flush(scratch, pid)?;
            }
            pid = Some(this_pid);
            let local = |entry: u64| usize::try_from(entry - piece.first_entry).unwrap_or(usize::MAX);
            let range = local(from)..local(to);
            let mut at = range.start;
            if scratch.builder.is_empty() {
                scratch.builder.start(from);
            }
            while at < range.end {
                let (taken, full) = scratch.builder.take(self.column, &mut data, at..range.end, keylen, &mut cutter)?;
                at += taken;
                if full {
                    self.flush(scratch, pid)?;
                    scratch.builder.start(piece.first_entry + at as u64);
                    if scratch.chunk.bytes.len() >= HAND_OVER
                        && let Err(stopped) = emit(&mut scratch.chunk)
                    {
                        return Ok(Err(stopped));
                    }
                }
            }
            next = to;
            if piece.end() > entries.end {
                carry.keep(self.index, index, data);
            } else {
                // The buffer goes back for the next piece.
                scratch.payload = data.data;
            }
        }
        self.flush(scratch, pid)?;
        Ok(Ok(()))
    }

    /// Closes the basket that is being built.
    fn flush(&self, scratch: &mut Scratch, pid: Option<u16>) -> Result<()> {
        if scratch.builder.is_empty() {
            return Ok(());
        }
        let mut out = BasketHeader::new(&self.column.names.0, &self.column.names.1, 0, 0);
        out.key.pid_offset = pid.unwrap_or(0);
        let first = scratch.builder.first_entry;
        scratch.builder.finish(&mut out, self.column.has_offsets)?;
        self.put(out, first, scratch, true)
    }

    /// Compresses a payload and adds its record to the chunk.
    fn put(&self, mut header: BasketHeader, first_entry: u64, scratch: &mut Scratch, built: bool) -> Result<()> {
        let too_large =
            || Error::request("a basket of 2 GB or more cannot be written; ask for smaller clusters or baskets");
        let payload = if built { &scratch.builder.data } else { &scratch.payload };
        header.key.objlen = i32::try_from(payload.len()).map_err(|_| too_large())?.unsigned_abs();
        header.buffer_size = i32::try_from(payload.len() + self.keylen).map_err(|_| too_large())?;
        let chunk = &mut scratch.chunk;
        let offset = chunk.bytes.len();
        chunk.bytes.resize(offset + self.keylen, 0);
        if !scratch.compressor.compress(self.column.compression, payload, &mut chunk.bytes)? {
            chunk.bytes.extend_from_slice(payload);
        }
        let nbytes = chunk.bytes.len() - offset;
        header.key.nbytes = i32::try_from(nbytes).map_err(|_| too_large())?.unsigned_abs();
        let mut w = Writer::new();
        header.write(&mut w);
        if let Some(slot) = chunk.bytes.get_mut(offset..offset + w.bytes.len()) {
            slot.copy_from_slice(&w.bytes);
        }
        chunk.pieces.push(OutPiece {
            column: self.index,
            first_entry,
            entries: u64::from(header.nev_buf),
            offset,
            nbytes: header.key.nbytes,
            objlen: header.key.objlen,
            keylen: header.key.keylen,
            pid_offset: header.key.pid_offset,
            big: true,
            made: true,
        });
        if built {
            scratch.builder.clear();
        }
        Ok(())
    }
}

/// A basket being filled.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    data: Vec<u8>,
    /// Where entries begin, from the start of the key.
    offsets: Vec<u32>,
    /// Where the tags inside entries count from.
    origins: Vec<u32>,
    displaced: bool,
    count: u64,
    fixed: u32,
    first_entry: u64,
}

impl Builder {
    fn start(&mut self, first_entry: u64) {
        self.clear();
        self.first_entry = first_entry;
    }

    fn clear(&mut self) {
        self.data.clear();
        self.offsets.clear();
        self.origins.clear();
        self.displaced = false;
        self.count = 0;
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes entries of `range` until the basket is full. Says how many, and whether it is.
    fn take(
        &mut self,
        column: &Column,
        source: &mut BasketData,
        range: Range<usize>,
        keylen: u32,
        cutter: &mut BasketCutter,
    ) -> Result<(usize, bool)> {
        if column.has_offsets {
            if let Entries::Fixed(len) = source.entries {
                // Entries without bytes cost nothing in a file, so there is no limit to how many it says there are.
                if len == 0 && source.count > MOST_EMPTY {
                    return Err(Error::corrupt(format!("{} entries without bytes", source.count))
                        .object(format!("branch {}", column.names.0)));
                }
                let ends = (0..=source.count).map(|i| i.saturating_mul(len)).collect();
                source.entries = Entries::Offsets(ends);
            }
            return self.take_varying(column, source, range, keylen, cutter);
        }
        match source.entries {
            Entries::Fixed(len) => self.take_fixed(source, len, range, cutter),
            _ => Err(Error::corrupt("entries of varying length in a branch that says they are not")
                .object(format!("branch {}", column.names.0))),
        }
    }

    fn take_fixed(
        &mut self,
        source: &BasketData,
        len: u32,
        range: Range<usize>,
        cutter: &mut BasketCutter,
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
        column: &Column,
        source: &BasketData,
        range: Range<usize>,
        keylen: u32,
        cutter: &mut BasketCutter,
    ) -> Result<(usize, bool)> {
        let Entries::Offsets(offsets) = &source.entries else { return Err(out_of_basket()) };
        let ends = offsets.get(range.start..=range.end).ok_or_else(out_of_basket)?;
        let Some((&begin, ends)) = ends.split_first() else { return Err(out_of_basket()) };
        let base = u32::try_from(self.data.len()).map_err(|_| out_of_basket())?.wrapping_add(keylen);
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
        if column.has_tags {
            self.remember_origins(source, range.start..range.start + taken);
        }
        Ok((taken, full))
    }

    fn remember_origins(&mut self, source: &BasketData, range: Range<usize>) {
        let first = self.origins.len();
        for (k, i) in range.enumerate() {
            let origin = source.origin(i);
            self.origins.push(origin);
            let moved = self.offsets.get(first + k).is_some_and(|&offset| offset != origin);
            if moved && !self.displaced {
                let bytes = source.range(i).and_then(|r| source.data.get(r)).unwrap_or_default();
                self.displaced = may_hold_tags(bytes, origin);
            }
        }
    }

    /// Adds what goes behind the entries, and fills in the header.
    fn finish(&mut self, header: &mut BasketHeader, has_offsets: bool) -> Result<()> {
        let count = i32::try_from(self.count).map_err(|_| Error::request("a basket of 2^31 entries"))?;
        header.nev_buf = count.unsigned_abs();
        let last = self.data.len() + header.keylen();
        header.last = i32::try_from(last)
            .map_err(|_| {
                Error::request("a basket of 2 GB or more cannot be written; ask for smaller clusters or baskets")
            })?
            .unsigned_abs();
        if !has_offsets {
            header.nev_buf_size = i32::try_from(self.fixed).map_err(|_| out_of_basket())?;
            return Ok(());
        }
        header.nev_buf_size = count + 1;
        append_numbers(&mut self.data, &self.offsets, count + 1);
        if self.displaced {
            append_numbers(&mut self.data, &self.origins, count + 1);
        }
        Ok(())
    }
}

/// `TBuffer::WriteArray` of one number more than there are entries; the last says nothing.
fn append_numbers(data: &mut Vec<u8>, numbers: &[u32], count: i32) {
    data.reserve(8 + numbers.len() * 4);
    data.extend_from_slice(&count.to_be_bytes());
    data.extend(numbers.iter().flat_map(|n| n.to_be_bytes()));
    data.extend_from_slice(&[0; 4]);
}

/// Whether an entry may have tags that count from its position: a class named for the first time, or a pointer
/// to the entry's own object. All other tags need one of these before them in the same entry.
fn may_hold_tags(entry: &[u8], origin: u32) -> bool {
    let own = origin.wrapping_add(MAP_OFFSET).to_be_bytes();
    entry.windows(4).any(|w| w == NEW_CLASS_TAG.to_be_bytes() || w == own)
}

#[cold]
fn out_of_basket() -> Error {
    Error::corrupt("entry boundaries that lie outside of their basket")
}
