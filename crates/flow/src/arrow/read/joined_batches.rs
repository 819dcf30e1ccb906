//! Reads a request of a joined table in batches: one part after the other, where a batch may have entries of several.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use rootfile::Result;

use super::batches::{BatchSize, Batches, batches, end_of_batch};
use super::joined::JoinedTable;
use super::joined_part::Pieces;
use super::request::Request;

/// An iterator over the batches of a request.
pub struct JoinedBatches<'a> {
    table: &'a JoinedTable,
    request: Request<'a>,
    step: Option<u64>,
    /// The reading of a part, by its number.
    part: Option<(usize, Batches<'a>)>,
    at: u64,
}

impl JoinedTable {
    /// Reads a request batch by batch.
    pub fn batches<'a>(&'a self, request: Request<'a>, step: BatchSize) -> JoinedBatches<'a> {
        let bytes = || request.columns.iter().map(|&column| self.bytes(column)).fold(0, u64::saturating_add);
        let step = step.entries(&request, self.entries(), bytes);
        JoinedBatches { table: self, at: request.entries.start, request, step, part: None }
    }
}

impl JoinedBatches<'_> {
    fn end(&self) -> u64 {
        self.request.entries.end.min(self.table.entries())
    }

    fn next_until(&mut self, to: u64) -> Result<RecordBatch> {
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
                self.part = Some((number, reading));
            }
            let read = self.part.as_mut().and_then(|(_, reading)| reading.next_until(here.end));
            let Some(read) = read.transpose()? else { continue };
            match &mut pieces {
                None => {
                    self.at = to;
                    return Ok(read.batch);
                }
                Some(pieces) => pieces.add(part, &columns, &read.batch)?,
            }
        }
        self.at = to;
        pieces.unwrap_or_else(|| Pieces::new(SchemaRef::new(arrow_schema::Schema::empty()))).finish()
    }

    fn schema(&self) -> Result<SchemaRef> {
        self.table.schema_of(&self.request.columns)
    }
}

impl Iterator for JoinedBatches<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
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
