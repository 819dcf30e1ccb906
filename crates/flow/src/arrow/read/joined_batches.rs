//! Reads a request of a joined table in batches: one part after the other, where a batch may have entries of several. For readers with a
//! budget, batches are of one part each, and what is filled in counts.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use rayon::ThreadPool;
use rootfile::Result;

use super::batches::{BatchSize, Batches, batches, end_of_batch};
use super::joined::JoinedTable;
use super::joined_part::{Part, Pieces};
use super::request::Request;
use super::run::Read;

/// Bytes of a value that is filled in, at least.
const FILLED: u64 = 8;

/// An iterator over the batches of a request.
pub struct JoinedBatches<'a> {
    table: &'a JoinedTable,
    request: Request<'a>,
    step: Option<u64>,
    /// The reading of a part, by its number.
    part: Option<(usize, Batches<'a>)>,
    team: Option<Arc<ThreadPool>>,
    at: u64,
}

impl JoinedTable {
    /// Reads a request batch by batch.
    pub fn batches<'a>(&'a self, request: Request<'a>, step: BatchSize) -> JoinedBatches<'a> {
        let bytes = || request.columns.iter().map(|&column| self.bytes(column)).fold(0, u64::saturating_add);
        let step = step.entries(&request, self.entries(), bytes);
        JoinedBatches { table: self, at: request.entries.start, request, step, part: None, team: None }
    }

    /// Reads a request in batches that each have entries of one part, with the threads of a team. Their size is that of what is read, and
    /// of what is filled in.
    pub(super) fn batches_by_part<'a>(
        &'a self,
        request: Request<'a>,
        size: BatchSize,
        team: Option<Arc<ThreadPool>>,
    ) -> impl Iterator<Item = Result<Read>> + 'a {
        let all = request.entries(self.entries());
        let of_part = move |part: &'a Part| {
            let entries = all.start.max(part.first_entry)..all.end.min(part.end());
            let bytes =
                || request.columns.iter().map(|&column| self.bytes_in(part, column)).fold(0, u64::saturating_add);
            let step = size.entries(&request, part.entries(), bytes);
            let (at, request) = (entries.start, Request { entries, ..request.clone() });
            let mut batches = JoinedBatches { table: self, at, request, step, part: None, team: team.clone() };
            std::iter::from_fn(move || batches.next_read())
        };
        self.parts().iter().flat_map(of_part)
    }

    /// Bytes of a column in a part, before compression. Of one that is filled in they are as many for each entry as where it is stored.
    fn bytes_in(&self, part: &Part, column: usize) -> u64 {
        if part.column(column).is_some() {
            return part.bytes(column);
        }
        let stored = self.parts().iter().filter(|part| part.column(column).is_some());
        let (bytes, entries) = stored.fold((0u64, 0u64), |(bytes, entries), part| {
            (bytes.saturating_add(part.bytes(column)), entries.saturating_add(part.entries()))
        });
        bytes.div_ceil(entries.max(1)).max(FILLED).saturating_mul(part.entries())
    }
}

impl JoinedBatches<'_> {
    fn end(&self) -> u64 {
        self.request.entries.end.min(self.table.entries())
    }

    fn next_until(&mut self, to: u64) -> Result<Read> {
        let columns = self.request.columns.clone();
        // The columns of a single table are its own, also where they turn out to be bytes.
        let mut pieces = match self.table.as_one() {
            Some(_) => None,
            None => Some(Pieces::new(self.schema()?)),
        };
        let parts = self.table.parts();
        let first = parts.partition_point(|part| part.end() <= self.at);
        for (number, part) in parts.iter().enumerate().skip(first).take_while(|(_, part)| part.first_entry < to) {
            let here = part.within(&(self.at..to));
            if here.is_empty() {
                continue;
            }
            if self.part.as_ref().is_none_or(|(open, _)| *open != number) {
                let rest = self.at..self.end();
                let reading = batches(&part.dataset, part.request(&self.request, &rest), BatchSize::Cluster);
                self.part = Some((number, reading.with_team(self.team.clone())));
            }
            let read = self.part.as_mut().and_then(|(_, reading)| reading.next_until(here.end));
            let Some(read) = read.transpose()? else { continue };
            match &mut pieces {
                None => {
                    self.at = to;
                    return Ok(read);
                }
                Some(pieces) => pieces.add(part, &columns, &read)?,
            }
        }
        self.at = to;
        pieces.unwrap_or_else(|| Pieces::new(SchemaRef::new(arrow_schema::Schema::empty()))).finish()
    }

    fn schema(&self) -> Result<SchemaRef> {
        self.table.schema_of(&self.request.columns)
    }

    /// The entry behind those of the batches so far, selected or not.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The next batch, and what it cost.
    fn next_read(&mut self) -> Option<Result<Read>> {
        let end = self.end();
        if self.at >= end {
            return None;
        }
        let read = self.next_until(end_of_batch(self.step, self.at, self.table.clusters()).min(end));
        if read.is_err() {
            self.at = end;
        }
        Some(read)
    }
}

impl Iterator for JoinedBatches<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_read().map(|read| read.map(|read| read.batch))
    }
}
