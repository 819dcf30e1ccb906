//! Depths *recompress* and *regroup*: the entries of one column in one cluster, made anew.
//!
//! Entries are moved by their boundaries alone, so this works on any branch; [`super::builder`] puts them together.

use std::ops::Range;

use dataset::layout::BasketCutter;
use dataset::tree::basket::BasketHeader;
use rootfile::{Error, Result};

use super::Job;
use super::builder::spelled_out;
use super::queue::Stopped;
use super::tasks::Depth;
use super::worker::{Carry, Held, Scratch, Whose};
use crate::column::{Column, Piece, Shape};
use crate::sink::Chunk;

/// Finished baskets are handed over when there are this many bytes of them.
const HAND_OVER: usize = 1 << 20;

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
    let mut maker = Maker { job, column, index, keylen: column.keylen() };
    if depth == Depth::Regroup {
        maker.regroup(&entries, scratch, carry, emit)
    } else {
        maker.recompress(&entries, scratch, emit)
    }
}

/// Whether more than two clusters have entries of a piece: it would be decompressed that often if nobody kept it.
pub(crate) fn spans_several(piece: &Piece, bounds: &[u64]) -> bool {
    let first = bounds.partition_point(|&bound| bound <= piece.first_entry);
    bounds.get(first + 1).is_some_and(|&second| second < piece.end())
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
            let header = scratch.fetch(self.job.files, self.column, piece)?;
            if header.keylen() != self.keylen || header.io_bits != self.column.io_bits || scratch.unsure {
                // Offsets count from the start of a key that has another length now, or have another form.
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
            let mut out = self.column.basket_header();
            out.key.datime = header.key.datime;
            out.key.pid_offset = header.key.pid_offset.wrapping_add(pid);
            out.nev_buf = header.nev_buf;
            out.nev_buf_size = header.nev_buf_size;
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
        // Four-byte positions leave no room for an offset of process identifiers.
        let small_keys = self.job.copies_fit && self.job.pid_offsets.iter().all(|offset| *offset == 0);
        scratch.builder.set_header(self.column.basket_header(), small_keys);
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
            let whose = Whose::Column(self.index);
            let shared = spans_several(&piece, self.job.bounds);
            let mut load = || spelled_out(self.column, scratch.load(self.job.files, self.column, index)?);
            let data = match shared {
                true => Held::Shared(carry.shared(whose, index, load)?),
                false => Held::Own(carry.take(whose, index).map_or_else(&mut load, Ok)?),
            };
            let this_pid = self.job.pid_offsets.get(piece.file as usize).copied().unwrap_or(0);
            let this_pid = this_pid.wrapping_add(data.pid_offset);
            let from = entries.start.max(piece.first_entry);
            let to = entries.end.min(piece.end());
            let closed = pid.is_some_and(|pid| pid != this_pid) && !scratch.builder.is_empty();
            if closed {
                cutter.close();
                self.flush(scratch, pid)?;
            }
            pid = Some(this_pid);
            if scratch.builder.is_empty() {
                scratch.builder.start(from);
            }
            let mut made = from;
            for range in self.column.places(index, &(from..to)) {
                let mut at = range.start;
                while at < range.end {
                    let (taken, full) = scratch.builder.take(self.column, &data, at..range.end, &mut cutter)?;
                    at += taken;
                    made += taken as u64;
                    if full {
                        // Closed by its size, or to begin one where an entry can lie as it did.
                        cutter.close();
                        self.flush(scratch, pid)?;
                        scratch.builder.start(made);
                        if scratch.chunk.bytes.len() >= HAND_OVER
                            && let Err(stopped) = emit(&mut scratch.chunk)
                        {
                            return Ok(Err(stopped));
                        }
                    }
                }
            }
            next = to;
            match data {
                Held::Shared(_) if piece.end() <= entries.end => carry.forget_shared(whose, index),
                Held::Shared(_) => {}
                Held::Own(data) if piece.end() > entries.end => carry.keep(whose, (index, &piece), data),
                Held::Own(data) => scratch.give_back(data),
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
        let first = scratch.builder.first_entry();
        let mut out = scratch.builder.finish(self.column)?;
        out.key.pid_offset = pid.unwrap_or(0);
        self.put(out, first, scratch, true)
    }

    /// Compresses a payload and adds its record to the chunk.
    fn put(&self, header: BasketHeader, first_entry: u64, scratch: &mut Scratch, built: bool) -> Result<()> {
        let payload = if built { scratch.builder.payload() } else { &scratch.payload };
        let place = (self.index, first_entry);
        scratch.chunk.put(header, payload, place, self.column.compression, &mut scratch.compressor)?;
        if built {
            scratch.builder.clear();
        }
        Ok(())
    }
}
