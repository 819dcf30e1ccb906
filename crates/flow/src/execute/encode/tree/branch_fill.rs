//! Fills the baskets of one branch: encodes entries, and cuts baskets where ROOT would cut them. The caller decides where
//! clusters end.

use std::ops::Range;
use std::time::Instant;

use arrow_array::Array;
use dataset::encode::{ColumnEncoder, EncodedEntries};
use dataset::layout::BasketCutter;
use dataset::tree::basket::BasketHeader;
use rootfile::bytes::make_room_for_rest;
use rootfile::codec::Compressor;
use rootfile::{Error, Result};

use super::branch_plan::BranchPlan;
use super::made_basket::{CutBasket, MadeBasket};
use super::maximum::largest_value;
use super::offset_array::append_offset_array;
use crate::execute::encode::clocks::add;
use crate::execute::encode::scratch::EncodeScratch;
use crate::execute::encode::stream_fill::{Arrays, SMALL_PIECE, StreamFill};
use crate::table::tree::chunk::Chunk;

/// A branch that is being filled.
#[derive(Debug)]
pub(crate) struct BranchFill {
    /// Index of its column in chunks.
    pub(super) column: usize,
    pub(super) encoder: ColumnEncoder,
    /// Bytes of an entry, if all entries have the same size.
    pub(super) entry_size: Option<usize>,
    /// Whether baskets are not compressed: entries are then encoded where their basket lies, behind the finished ones.
    is_stored: bool,
    /// Entries that are in no basket yet.
    pub(super) entries: EncodedEntries,
    pub(super) count: usize,
    /// How many of them the cutter has seen.
    seen: usize,
    pub(super) cutter: BasketCutter,
    /// Finished baskets of the cluster. Each branch has a chunk of its own, so that the order of baskets does not depend on
    /// the portions in which entries come.
    pub(super) finished: Chunk,
    /// First entry of the basket that is being filled, counted from the start of the cluster.
    pub(super) first_entry: u64,
    /// Bytes of this cluster's largest basket, and of all its baskets before and after compression.
    largest: usize,
    pub(super) raw: u64,
    pub(super) packed: u64,
    pub(super) entries_filled: u64,
    /// The largest value since the task began, if it counts others.
    maximum: u64,
    pub(super) basket_size: u32,
    /// Bytes of an entry among those that came last.
    pub(super) entry_bytes: usize,
    /// Bytes and entries of the last cluster's basket, if each cluster is one basket.
    expected: Option<(usize, usize)>,
}

impl BranchFill {
    pub fn new(column: usize, plan: &BranchPlan) -> Self {
        let keylen = u32::try_from(plan.header.keylen()).unwrap_or(u32::MAX);
        Self {
            column,
            encoder: plan.encoder.clone(),
            entry_size: plan.encoder.entry_size(),
            is_stored: plan.compression.is_none(),
            entries: EncodedEntries::default(),
            count: 0,
            seen: 0,
            cutter: BasketCutter::new(plan.basket_size, keylen, plan.has_offsets, plan.one_per_cluster),
            finished: Chunk::default(),
            first_entry: 0,
            largest: 0,
            raw: 0,
            packed: 0,
            entries_filled: 0,
            maximum: 0,
            basket_size: plan.basket_size,
            entry_bytes: plan.encoder.entry_size().unwrap_or(0),
            expected: None,
        }
    }

    /// Adds the entries of an array, and makes the baskets that they fill.
    pub fn fill_array(
        &mut self,
        plan: &BranchPlan,
        array: &dyn Array,
        range: Range<usize>,
        scratch: &mut EncodeScratch,
    ) -> Result<()> {
        let baskets = self.encode(plan, array, range)?;
        for basket in &baskets {
            self.put_basket(plan, basket.clone(), scratch)?;
        }
        self.forget(&baskets);
        Ok(())
    }

    /// Adds entries. Returns the ranges of entries that fill baskets, which the caller makes and forgets next. Baskets that are not
    /// compressed are made here.
    fn encode(&mut self, plan: &BranchPlan, array: &dyn Array, range: Range<usize>) -> Result<Vec<Range<usize>>> {
        if let Some(reduced) = plan.reduced {
            let (rows, array) = (0..range.len(), reduced.apply(array, range)?);
            return self.encode_as_they_are(plan, &array, rows);
        }
        self.encode_as_they_are(plan, array, range)
    }

    fn encode_as_they_are(
        &mut self,
        plan: &BranchPlan,
        array: &dyn Array,
        range: Range<usize>,
    ) -> Result<Vec<Range<usize>>> {
        if plan.counts {
            self.maximum = self.maximum.max(largest_value(&array.slice(range.start, range.len())));
        }
        if let Some((bytes, entries)) = self.expected.take() {
            // A little more than last time: growing by doubling could take twice the memory.
            let buffer = if self.is_stored { &mut self.finished.bytes } else { &mut self.entries.bytes };
            buffer.reserve_exact(bytes + bytes / 8);
            self.entries.ends.reserve_exact(entries + entries / 8);
        }
        if self.is_stored {
            self.encode_stored(plan, array, range)?;
            return Ok(Vec::new());
        }
        let more = range.len();
        self.encoder.append(array, range, &mut self.entries)?;
        self.cut(more)
    }

    /// Counts entries that were encoded. Returns the ranges of entries that fill baskets.
    pub(super) fn cut(&mut self, more: usize) -> Result<Vec<Range<usize>>> {
        self.count += more;
        self.entries_filled += more as u64;
        let mut baskets = Vec::new();
        let mut done = 0;
        match self.entry_size {
            Some(size) => {
                let size = u32::try_from(size).map_err(|_| too_large())?;
                let each = usize::try_from(self.cutter.fixed(size)).unwrap_or(usize::MAX);
                while self.count - done >= each {
                    baskets.push(done..done + each);
                    done += each;
                }
            }
            None => {
                let mut end = u32::try_from(self.bytes_of(self.seen..self.seen).start).map_err(|_| too_large())?;
                for entry in self.seen..self.count {
                    let next = self.entries.ends.get(entry).copied().unwrap_or(end);
                    let size = next.wrapping_sub(end);
                    end = next;
                    if self.cutter.push(size) {
                        baskets.push(done..entry + 1);
                        done = entry + 1;
                    }
                }
            }
        }
        self.seen = self.count;
        Ok(baskets)
    }

    /// Ends a basket, but not the cluster.
    pub fn cut_basket(&mut self, plan: &BranchPlan, scratch: &mut EncodeScratch) -> Result<()> {
        let all = 0..self.count;
        if self.is_stored {
            return self.end_stored(plan, &[all]);
        }
        if !all.is_empty() {
            self.put_basket(plan, all.clone(), scratch)?;
            self.forget(&[all]);
        }
        Ok(())
    }

    /// Returns the finished baskets, within a cluster: the basket that is being filled goes on.
    pub fn take_finished(&mut self, plan: &BranchPlan) -> Chunk {
        let keylen = plan.header.keylen();
        let open = match self.is_stored && self.count > 0 {
            true => self.finished.bytes.split_off(self.entries.start.saturating_sub(keylen)),
            false => Vec::new(),
        };
        self.entries.start = if self.is_stored { keylen } else { 0 };
        std::mem::replace(&mut self.finished, Chunk { bytes: open, records: Vec::new() })
    }

    /// Ends the last basket of a cluster.
    pub fn finish_basket(&mut self, plan: &BranchPlan, scratch: &mut EncodeScratch) -> Result<()> {
        for basket in self.last_baskets(plan)? {
            self.put_basket(plan, basket.clone(), scratch)?;
            self.forget_last(plan, &[basket]);
        }
        self.close();
        Ok(())
    }

    /// The last basket of a cluster, if there is one to make. One that is not compressed is made here.
    fn last_baskets(&mut self, plan: &BranchPlan) -> Result<Vec<Range<usize>>> {
        if self.count == 0 {
            return Ok(Vec::new());
        }
        let all = 0..self.count;
        if plan.one_per_cluster {
            self.expected = Some((self.bytes_of(all.clone()).end, self.entries.ends.len()));
        }
        if self.is_stored {
            self.end_stored(plan, &[all])?;
            return Ok(Vec::new());
        }
        Ok(vec![all])
    }

    /// Returns the finished baskets, and begins a cluster with the buffer that the layout allows.
    pub fn start_cluster(&mut self, plan: &BranchPlan) -> Chunk {
        if let Some(ratio) = plan.memory_ratio {
            let room = (self.largest as f64 * ratio) as usize;
            self.entries.bytes.shrink_to(room);
        }
        (self.largest, self.raw, self.packed) = (0, 0, 0);
        std::mem::take(&mut self.finished)
    }

    /// The largest value since the task began, if it counts others.
    pub fn maximum(&self) -> u64 {
        self.maximum
    }

    /// Bytes of entries that are in no basket yet, and of their offsets.
    pub fn waiting(&self) -> u64 {
        (self.bytes_of(0..self.count).end + 4 * self.entries.ends.len()) as u64
    }

    /// Sets the size of later baskets.
    pub fn set_basket_size(&mut self, size: u32) {
        self.basket_size = size;
        self.cutter.set_basket_size(size);
    }

    /// The bytes of a range of entries, counted from the first one in no basket.
    pub(super) fn bytes_of(&self, range: Range<usize>) -> Range<usize> {
        match self.entry_size {
            Some(size) => range.start * size..range.end * size,
            None => {
                let end = |n: usize| match n.checked_sub(1) {
                    Some(last) => self.entries.ends.get(last).map_or(0, |end| *end as usize),
                    None => 0,
                };
                end(range.start)..end(range.end)
            }
        }
    }

    /// Makes a basket.
    fn put_basket(&mut self, plan: &BranchPlan, range: Range<usize>, scratch: &mut EncodeScratch) -> Result<()> {
        let mut finished = std::mem::take(&mut self.finished);
        let made = self.make_basket(plan, range, scratch, &mut finished);
        self.finished = finished;
        self.count_in(&made?);
        Ok(())
    }

    pub(super) fn count_in(&mut self, made: &MadeBasket) {
        self.first_entry += made.entries;
        self.largest = self.largest.max(made.raw);
        self.raw += made.raw as u64;
        self.packed += made.packed as u64;
    }

    /// Makes a basket of pending entries, and appends it to a chunk.
    fn make_basket(
        &self,
        plan: &BranchPlan,
        range: Range<usize>,
        scratch: &mut EncodeScratch,
        to: &mut Chunk,
    ) -> Result<MadeBasket> {
        let bytes = self.bytes_of(range.clone());
        let header = self.header(plan, range.clone())?;
        let keylen = header.keylen();
        let entries = self.entries.bytes.get(bytes).unwrap_or_default();
        scratch.tail.clear();
        self.tail(plan, range.clone(), (&mut scratch.offsets, &mut scratch.tail))?;
        let len = entries.len() + scratch.tail.len();
        let (before, place) = (to.bytes.len(), (self.column, self.first_entry));
        let started = Instant::now();
        let payload = if scratch.tail.is_empty() {
            entries
        } else {
            scratch.payload.clear();
            scratch.payload.reserve(len);
            scratch.payload.extend_from_slice(entries);
            scratch.payload.extend_from_slice(&scratch.tail);
            &scratch.payload
        };
        to.put(header, payload, place, plan.compression, &mut scratch.compressor)?;
        add(&scratch.clocks.compressing, started.elapsed());
        Ok(MadeBasket { entries: range.len() as u64, raw: len + keylen, packed: to.bytes.len() - before })
    }

    /// The key of a basket with a range of entries, and what follows in it.
    pub(super) fn header(&self, plan: &BranchPlan, range: Range<usize>) -> Result<BasketHeader> {
        let mut header = plan.header.clone();
        let count = i32::try_from(range.len()).map_err(|_| too_large())?;
        header.nev_buf = count.unsigned_abs();
        let last = i32::try_from(self.bytes_of(range).len() + header.keylen()).map_err(|_| too_large())?;
        header.last = last.unsigned_abs();
        header.nev_buf_size = if plan.has_offsets {
            count + 1
        } else {
            i32::try_from(self.entry_size.unwrap_or(0)).map_err(|_| too_large())?
        };
        Ok(header)
    }

    /// Appends what follows the entries of a basket: their offsets, if it has them.
    pub(super) fn tail(
        &self,
        plan: &BranchPlan,
        range: Range<usize>,
        (offsets, tail): (&mut Vec<u32>, &mut Vec<u8>),
    ) -> Result<()> {
        if plan.has_offsets {
            let count = i32::try_from(range.len()).map_err(|_| too_large())?;
            self.offsets(range, u32::try_from(plan.header.keylen()).unwrap_or(0), offsets);
            append_offset_array(tail, offsets, count + 1);
        }
        Ok(())
    }

    /// Offsets of entries in their basket, from the start of its key.
    fn offsets(&self, range: Range<usize>, keylen: u32, out: &mut Vec<u32>) {
        out.clear();
        match (self.entry_size.and_then(|size| u32::try_from(size).ok()), self.entries.ends.get(range.clone())) {
            (None, Some(ends)) => {
                let first = u32::try_from(self.bytes_of(range.clone()).start).unwrap_or(0);
                let begins = std::iter::once(first).chain(ends.iter().copied()).take(range.len());
                out.extend(begins.map(|begin| begin.wrapping_add(keylen.wrapping_sub(first))));
            }
            (size, _) => {
                let begins = (0u32..).take(range.len()).map(|i| i.wrapping_mul(size.unwrap_or(0)));
                out.extend(begins.map(|begin| begin.wrapping_add(keylen)));
            }
        }
    }
}

impl StreamFill for BranchFill {
    type Plan = BranchPlan;
    type Piece = Range<usize>;
    type Cut = CutBasket;
    type Made = (Chunk, MadeBasket);

    fn append(&mut self, plan: &BranchPlan, arrays: &Arrays, rows: Range<usize>) -> Result<Vec<Range<usize>>> {
        let array = arrays.get(self.column).and_then(Option::as_ref);
        let array = array.ok_or_else(|| Error::request("is missing from the batch")).map_err(of_branch(plan))?;
        self.encode(plan, array, rows).map_err(of_branch(plan))
    }

    fn put(&mut self, plan: &BranchPlan, basket: &Range<usize>, scratch: &mut EncodeScratch) -> Result<()> {
        self.put_basket(plan, basket.clone(), scratch).map_err(of_branch(plan))
    }

    fn is_small(&self, basket: &Range<usize>) -> bool {
        self.bytes_of(basket.clone()).len() < SMALL_PIECE
    }

    fn cut(&mut self, plan: &BranchPlan, basket: &Range<usize>) -> Result<Option<(CutBasket, u64)>> {
        let (header, bytes) =
            (self.header(plan, basket.clone()).map_err(of_branch(plan))?, self.bytes_of(basket.clone()));
        let offset_bytes = if plan.has_offsets { 8 + 4 * basket.len() } else { 0 };
        let mut payload = match plan.one_per_cluster && bytes == (0..self.entries.bytes.len()) {
            // A copy of all entries of the branch would take much memory.
            true => std::mem::take(&mut self.entries.bytes),
            false => self.entries.bytes.get(bytes).unwrap_or_default().to_vec(),
        };
        payload.reserve_exact(offset_bytes);
        self.tail(plan, basket.clone(), (&mut Vec::new(), &mut payload)).map_err(of_branch(plan))?;
        let (bytes, entries) = (payload.len() as u64, basket.len() as u64);
        Ok(Some((CutBasket { header, payload, entries, column: self.column, compression: plan.compression }, bytes)))
    }

    fn make(cut: CutBasket, compressor: &mut Compressor) -> Result<Self::Made> {
        cut.make(compressor)
    }

    fn add(&mut self, made: &Self::Made) {
        self.finished.append(&made.0, self.first_entry);
        self.count_in(&made.1);
    }

    fn blame(plan: &BranchPlan, error: Error) -> Error {
        of_branch(plan)(error)
    }

    fn forget(&mut self, baskets: &[Range<usize>]) {
        let entries = baskets.last().map_or(0, |basket| basket.end);
        let bytes = self.bytes_of(0..entries).end;
        if entries == self.count {
            self.entries.bytes.clear();
            self.entries.ends.clear();
        } else if entries > 0 {
            if !self.is_stored {
                self.entries.bytes.drain(..bytes);
            }
            self.entries.ends.drain(..entries.min(self.entries.ends.len()));
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            self.entries.ends.iter_mut().for_each(|end| *end -= bytes);
        }
        self.count -= entries;
        self.seen = self.count;
    }

    fn finish(&mut self, plan: &BranchPlan, scratch: &mut EncodeScratch) -> Result<()> {
        self.finish_basket(plan, scratch).map_err(of_branch(plan))
    }

    fn last(&mut self, plan: &BranchPlan) -> Result<Vec<Range<usize>>> {
        self.last_baskets(plan).map_err(of_branch(plan))
    }

    fn forget_last(&mut self, plan: &BranchPlan, baskets: &[Range<usize>]) {
        if plan.one_per_cluster && !baskets.is_empty() {
            // Each branch holds all entries of the cluster now: it frees them before the next branch's basket is made.
            (self.entries, self.count) = (EncodedEntries::default(), 0);
            self.finished.bytes.shrink_to_fit();
        } else {
            self.forget(baskets);
        }
    }

    fn close(&mut self) {
        self.cutter.close();
        (self.seen, self.first_entry) = (0, 0);
    }

    fn reset(&mut self, plan: &BranchPlan) {
        (self.entries_filled, self.maximum) = (0, 0);
        self.set_basket_size(plan.basket_size);
    }

    fn make_room(&mut self, done: u64, ahead: u64) {
        make_room_for_rest(&mut self.finished.bytes, done, ahead);
    }

    fn recycle(&mut self, buffers: &mut dyn Iterator<Item = Vec<u8>>) {
        if let Some(mut bytes) = buffers.next().filter(|_| self.finished.bytes.capacity() == 0) {
            bytes.clear();
            self.finished = Chunk { bytes, records: Vec::new() };
        }
    }

    fn drop_buffers(&mut self) {
        self.finished = Chunk::default();
        self.entries = EncodedEntries::default();
    }

    fn shed(&mut self) {
        self.entries.shrink_to_fit();
        self.finished.bytes.shrink_to_fit();
    }

    fn memory(&self) -> u64 {
        let offsets = self.entries.ends.capacity() * size_of::<u32>();
        (self.entries.bytes.capacity() + offsets + self.finished.bytes.capacity()) as u64
    }

    fn pending(&self) -> u64 {
        if self.is_stored { 0 } else { self.waiting() }
    }

    fn written(&self) -> (u64, u64) {
        let open = if self.is_stored { self.waiting() } else { 0 };
        (self.raw + open, self.packed + open)
    }
}

fn of_branch(plan: &BranchPlan) -> impl Fn(Error) -> Error {
    move |error| error.object(format!("branch {}", plan.name))
}

#[cold]
fn too_large() -> Error {
    Error::request("an entry or basket of 2 GB or more cannot be written; ask for smaller clusters or baskets")
}
