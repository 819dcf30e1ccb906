//! Depths *recompress* and *regroup*: the entries of one column in one cluster, in new records.
//!
//! Entries are moved by their boundaries alone, so this works on any branch;
//! [`crate::execute::encode::tree::basket_builder`] puts them together.

use std::ops::Range;

use dataset::layout::BasketCutter;
use dataset::tree::basket::BasketHeader;
use rootfile::{Error, Result};

use super::job::Job;
use super::scratch::WorkerScratch;
use crate::execute::encode::tree::basket_builder::in_form_of;
use crate::execute::fetch::tree::basket_cache::{BasketCache, CacheKey, CachedBasket};
use crate::execute::pipeline::Emit;
use crate::table::depth::Depth;
use crate::table::piece::spans_several;
use crate::table::target::Shape;
use crate::table::tree::chunk::Chunk;
use crate::table::tree::column::Column;

/// Finished baskets are handed over in chunks of about this many bytes.
const HAND_OVER: usize = 1 << 20;

/// Makes new records for the entries of a column in a cluster.
pub(crate) fn make(
    job: &Job<'_>,
    (index, entries, depth): (usize, Range<u64>, Depth),
    scratch: &mut WorkerScratch,
    cache: &BasketCache,
    emit: Emit<'_, Chunk>,
) -> Result<()> {
    let Some(column) = job.columns.get(index) else { return Ok(()) };
    scratch.chunk.bytes.clear();
    scratch.chunk.records.clear();
    let mut regrouper = Regrouper { job, column, index, keylen: column.keylen() };
    if depth == Depth::Regroup {
        regrouper.regroup(&entries, scratch, cache, emit)
    } else {
        regrouper.recompress(&entries, scratch, emit)
    }
}

struct Regrouper<'a> {
    job: &'a Job<'a>,
    column: &'a Column,
    index: usize,
    keylen: usize,
}

impl Regrouper<'_> {
    /// Baskets keep their entries. Payloads are not decoded.
    fn recompress(&mut self, entries: &Range<u64>, scratch: &mut WorkerScratch, emit: Emit<'_, Chunk>) -> Result<()> {
        for index in self.column.source.overlapping(entries) {
            let Some(piece) = self.column.source.pieces.get(index) else { continue };
            let header = scratch.fetcher.fetch(self.job.files, self.column, piece)?;
            let form = &self.column.form;
            let same_form = header.io_bits == form.io_bits && header.has_boundaries() == form.has_offsets;
            if header.keylen() != self.keylen || !same_form || scratch.fetcher.unsure {
                // Entry offsets count from the start of the key, whose length changes, or have another form.
                let one = piece.first_entry..piece.end();
                self.regroup(&one, scratch, &BasketCache::new(0), emit)?;
                continue;
            }
            let file = piece.file().and_then(|file| self.job.files.get(file as usize));
            let in_file = |e: Error| match file {
                Some(file) => piece.blame(e).object(format!("branch {}", self.column.name)).file(file.name()),
                None => e,
            };
            scratch.fetcher.unpack(&header).map_err(in_file)?;
            let pid = self.job.pid_offset(piece);
            let mut out = self.column.basket_header();
            out.key.datime = header.key.datime;
            out.key.pid_offset = header.key.pid_offset.wrapping_add(pid);
            out.nev_buf = header.nev_buf;
            out.nev_buf_size = header.nev_buf_size;
            out.last = header.last;
            out.flag = header.flag;
            self.put(out, piece.first_entry, scratch, false)?;
            if scratch.chunk.bytes.len() >= HAND_OVER {
                emit(&mut scratch.chunk)?;
            }
        }
        Ok(())
    }

    fn regroup(
        &mut self,
        entries: &Range<u64>,
        scratch: &mut WorkerScratch,
        cache: &BasketCache,
        emit: Emit<'_, Chunk>,
    ) -> Result<()> {
        // Keys with four-byte positions have no room for an offset of process identifiers.
        let small_keys = self.job.copies_fit && self.job.pid_offsets.iter().all(|offset| *offset == 0);
        scratch.builder.set_header(self.column.basket_header(), small_keys);
        let (size, per_cluster) = match self.column.target.shape {
            Shape::Keep(size) if self.job.is_packed(entries.start) => {
                (self.column.target.packed_size.unwrap_or(size), false)
            }
            Shape::Keep(size) | Shape::Size(size) => (size, false),
            Shape::PerCluster => (u32::MAX, true),
        };
        let keylen = u32::try_from(self.keylen).unwrap_or(u32::MAX);
        let mut cutter = BasketCutter::new(size, keylen, self.column.form.has_offsets, per_cluster);
        let mut next = entries.start;
        let mut pid = None;
        scratch.builder.start(next);
        for index in self.column.source.overlapping(entries) {
            let Some(&piece) = self.column.source.pieces.get(index) else { continue };
            if piece.first_entry > next && next != entries.start {
                let error = Error::corrupt(format!("entries {next} to {} are in no basket", piece.first_entry));
                return Err(error.object(format!("branch {}", self.column.name)));
            }
            let key = CacheKey::Column(self.index);
            let shared = spans_several(&piece, self.job.bounds);
            let mut load = || in_form_of(self.column, scratch.fetcher.load(self.job.files, self.column, index)?);
            let data = match shared {
                true => CachedBasket::Shared(cache.shared(key, index, load)?),
                false => CachedBasket::Own(cache.take(key, index).map_or_else(&mut load, Ok)?),
            };
            let this_pid = self.job.pid_offset(&piece).wrapping_add(data.pid_offset);
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
            for range in self.column.source.indices(index, &(from..to)) {
                let mut at = range.start;
                while at < range.end {
                    let (taken, full) = scratch.builder.take(self.column, &data, at..range.end, &mut cutter)?;
                    at += taken;
                    made += taken as u64;
                    if full {
                        // Closed by size, or because the next entry must begin a basket.
                        cutter.close();
                        self.flush(scratch, pid)?;
                        scratch.builder.start(made);
                        if scratch.chunk.bytes.len() >= HAND_OVER {
                            emit(&mut scratch.chunk)?;
                        }
                    }
                }
            }
            next = to;
            match data {
                CachedBasket::Shared(_) if piece.end() <= entries.end => cache.forget_shared(key, index),
                CachedBasket::Shared(_) => {}
                CachedBasket::Own(data) if piece.end() > entries.end => cache.keep(key, (index, &piece), data),
                CachedBasket::Own(data) => scratch.fetcher.give_back(data),
            }
        }
        self.flush(scratch, pid)?;
        Ok(())
    }

    /// Closes the basket that is being built.
    fn flush(&self, scratch: &mut WorkerScratch, pid: Option<u16>) -> Result<()> {
        if scratch.builder.is_empty() {
            return Ok(());
        }
        let first = scratch.builder.first_entry();
        let mut out = scratch.builder.finish(self.column)?;
        out.key.pid_offset = pid.unwrap_or(0);
        self.put(out, first, scratch, true)
    }

    /// Compresses a payload and adds its record to the chunk.
    fn put(&self, header: BasketHeader, first_entry: u64, scratch: &mut WorkerScratch, built: bool) -> Result<()> {
        let payload = if built { scratch.builder.payload() } else { &scratch.fetcher.codecs.payload };
        let place = (self.index, first_entry);
        scratch.chunk.put(header, payload, place, self.column.target.compression, &mut scratch.compressor)?;
        if built {
            scratch.builder.clear();
        }
        Ok(())
    }
}
