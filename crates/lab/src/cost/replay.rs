//! Reads files as a workload would, and takes the time: the proof of what was predicted.
//!
//! Several files are read in turns, a slice of each at a time, so that whatever else the machine does meets all of
//! them alike.

use std::collections::HashMap;
use std::path::Path;

use dataset::tree::BasketRef;
use dataset::tree::basket::BasketHeader;
use rootfile::bytes::Cursor;
use rootfile::codec::Decompressor;
use rootfile::{Result, Source};

use super::clock::thread_seconds;
use super::facts::{Facts, as_f64};
use super::sample::spread;
use super::workload::Workload;

/// Turns that each file gets.
const SLICES: usize = 32;

/// What reading a file for a workload took.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Reading {
    /// CPU seconds, weighted as the workload says.
    pub seconds: f64,
    /// Baskets that were read.
    pub baskets: u64,
    /// Their bytes on disk.
    pub bytes: u64,
}

/// Reads each file for the workload, in turns.
pub fn replay(files: &[&Path], tree: Option<&str>, workload: &Workload, seed: u64) -> Result<Vec<Reading>> {
    let facts = files.iter().map(|path| Facts::read(path, tree, workload)).collect::<Result<Vec<_>>>()?;
    let lists: Vec<Vec<(f64, BasketRef)>> = facts.iter().map(|f| asked(f, seed)).collect();
    let mut readings = vec![Reading::default(); files.len()];
    let mut reader = Reader { decompressor: Decompressor::new(), record: Vec::new(), payload: Vec::new() };
    for slice in 0..SLICES {
        for ((facts, list), reading) in facts.iter().zip(&lists).zip(&mut readings) {
            let part = list.get(list.len() * slice / SLICES..list.len() * (slice + 1) / SLICES).unwrap_or_default();
            let source = &**facts.file.source();
            for run in part.chunk_by(|a, b| a.0 == b.0) {
                let start = thread_seconds();
                for (_, basket) in run {
                    reader.read(source, basket).map_err(|e| e.at(basket.seek).file(source.name()))?;
                    reading.baskets += 1;
                    reading.bytes += u64::from(basket.nbytes);
                }
                reading.seconds += (thread_seconds() - start) * run.first().map_or(0.0, |r| r.0);
            }
        }
    }
    Ok(readings)
}

/// The baskets that a workload reads, in the order they lie in, each with its weight.
fn asked(facts: &Facts, seed: u64) -> Vec<(f64, BasketRef)> {
    let mut picked: HashMap<(usize, u64), Vec<u64>> = HashMap::new();
    let mut list = Vec::new();
    for column in facts.columns.iter().filter(|c| c.can_sample) {
        let entries = facts.trees.get(column.tree).map_or(0.0, |t| t.entries);
        for basket in &column.baskets {
            let mut weight = column.demand.full;
            for &(w, share) in &column.demand.sparse {
                let picks = picked.entry((column.tree, share.to_bits())).or_insert_with(|| picks(entries, share, seed));
                let first = picks.partition_point(|&e| e < basket.first_entry);
                if picks.get(first).is_some_and(|&e| e < basket.first_entry + basket.entries) {
                    weight += w;
                }
            }
            if weight > 0.0 {
                list.push((weight, *basket));
            }
        }
    }
    list.sort_by_key(|(_, basket)| basket.seek);
    list
}

/// Entries scattered over a tree: one from each stretch of `1 / share`. The same for all files of as many entries.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "entries of a tree")]
fn picks(entries: f64, share: f64, seed: u64) -> Vec<u64> {
    let count = (entries * share).ceil() as u64;
    (0..count).map(|i| ((as_f64(i) + spread(seed, i)) / share) as u64).collect()
}

struct Reader {
    decompressor: Decompressor,
    record: Vec<u8>,
    payload: Vec<u8>,
}

impl Reader {
    /// Fetches a basket, unpacks it and finds its entries.
    fn read(&mut self, source: &dyn Source, basket: &BasketRef) -> Result<()> {
        // The size was not checked against the file yet: a wrong one must not take memory.
        if basket.seek.saturating_add(u64::from(basket.nbytes)) > source.size() {
            return Err(rootfile::Error::corrupt("a basket lies beyond the file's end"));
        }
        self.record.resize(basket.nbytes as usize, 0);
        source.read_exact_at(basket.seek, &mut self.record)?;
        let header = BasketHeader::parse(&mut Cursor::new(&self.record))?;
        let stored = self.record.get(header.keylen()..).unwrap_or_default();
        self.payload.clear();
        self.decompressor.decompress(stored, header.key.objlen as usize, &mut self.payload)?;
        let data = header.open(std::mem::take(&mut self.payload))?;
        std::hint::black_box(&data.entries);
        self.payload = data.data;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picked_entries_are_spread_and_inside() {
        let picks = picks(10_000.0, 0.01, 3);
        assert_eq!(picks.len(), 100);
        assert!(picks.is_sorted() && picks.iter().all(|&e| e < 10_000));
    }
}
