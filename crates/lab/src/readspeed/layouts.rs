//! The throughput to expect of each layout that `tune` could choose, by tune's own costs and by what was measured.
//!
//! Costs are CPU seconds of one thread with the file in the kernel's cache. What reading really took says how these turn
//! into real time here: how much faster or slower stages were, how many threads shared them, and how long they waited for
//! bytes, of which there are more or fewer in another layout.

use std::collections::HashSet;
use std::path::Path;

use rootfile::Result;
use serde::Serialize;

use super::Run;
use crate::cost::facts::Facts;
use crate::cost::model::Cost;
use crate::cost::{Demand, Workload};
use crate::tune::{self, Outlook};

/// A layout, and how fast the same columns and entries could be read in it.
#[derive(Clone, Debug, Serialize)]
pub struct LayoutSpeed {
    /// A codec for all columns, `as it is`, or `as tune chooses`.
    pub layout: String,
    /// Bytes on disk of all entries of the columns, as expected.
    pub compressed: f64,
    /// Threads' time in fetching, in seconds.
    pub fetch: f64,
    /// Threads' time in decompressing.
    pub decompress: f64,
    /// Threads' time in decoding.
    pub decode: f64,
    /// Seconds from the clock.
    pub real: f64,
    /// Uncompressed MB/s (10^6).
    pub throughput: f64,
}

/// What is asked: a tree's columns by name, and a share of their entries, scattered or not.
pub(super) struct Asked<'a> {
    pub path: &'a Path,
    pub tree: &'a str,
    pub columns: HashSet<&'a str>,
    pub scattered: Option<f64>,
    pub memory: u64,
    pub seed: u64,
}

/// Expects. Samples are taken of the first file alone. `uncompressed` are the bytes that were read in `measured`.
pub(super) fn layouts(asked: &Asked<'_>, measured: &Run, uncompressed: f64) -> Result<Vec<LayoutSpeed>> {
    let demand = match asked.scattered {
        Some(share) => Demand { full: 0.0, sparse: vec![(1.0, share)] },
        None => Demand { full: 1.0, sparse: Vec::new() },
    };
    let facts = Facts::of(asked.path, Some(asked.tree), &|_, _, plan| {
        plan.filter(|plan| asked.columns.contains(plan.field().name().as_str())).map(|_| demand.clone())
    })?;
    let options =
        tune::Options { workload: Workload::default(), memory: asked.memory, seed: asked.seed, ..Default::default() };
    Ok(scaled(&tune::outlook(asked.path, &facts, &options)?, measured, uncompressed))
}

/// Turns costs into times, by what was measured of the first layout.
fn scaled(outlooks: &[Outlook], measured: &Run, uncompressed: f64) -> Vec<LayoutSpeed> {
    let Some(today) = outlooks.first().map(|o| o.cost).filter(|cost| cost.read > 0.0 && cost.size > 0.0) else {
        return Vec::new();
    };
    let stages = measured.fetch + measured.decompress + measured.decode;
    // What fetching takes beyond its share in the cache is waiting for storage.
    let copying = (measured.decompress + measured.decode) * today.fetch / (today.read - today.fetch).max(1e-12);
    let waiting = (measured.fetch - copying).max(0.0);
    let factor = (stages - waiting) / today.read;
    let speed = |o: &Outlook| {
        let Cost { size, fetch, decompress, decode, .. } = o.cost;
        let fetch = factor * fetch + waiting * size / today.size;
        let (decompress, decode) = (factor * decompress, factor * decode);
        let real = measured.real * (fetch + decompress + decode) / stages.max(1e-12);
        let throughput = uncompressed / 1e6 / real.max(1e-9);
        LayoutSpeed { layout: o.layout.clone(), compressed: size, fetch, decompress, decode, real, throughput }
    };
    outlooks.iter().map(speed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlook(size: f64, [fetch, decompress, decode]: [f64; 3]) -> Outlook {
        let cost = Cost { size, read: fetch + decompress + decode, fetch, decompress, decode, ..Cost::default() };
        Outlook { layout: format!("{size}"), cost }
    }

    #[test]
    fn what_was_measured_is_found_again_and_the_rest_in_proportion() {
        // Everything took twice what it costs by itself, on two threads.
        let run = Run { real: 1.2, cpu: 2.4, fetch: 0.2, decompress: 1.6, decode: 0.6, cold: None };
        let found = scaled(&[outlook(1e6, [0.1, 0.8, 0.3]), outlook(2e6, [0.2, 0.1, 0.3])], &run, 6e6);
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(near(found[0].real, 1.2) && near(found[0].throughput, 5.0), "{found:?}");
        assert!(near(found[1].real, 0.6) && near(found[1].decompress, 0.2), "{found:?}");
    }

    #[test]
    fn waiting_for_storage_goes_with_the_bytes() {
        let run = Run { real: 3.0, cpu: 1.0, fetch: 2.1, decompress: 0.6, decode: 0.3, cold: Some(1.0) };
        let found = scaled(&[outlook(1e6, [0.1, 0.6, 0.3]), outlook(5e5, [0.1, 0.6, 0.3])], &run, 1e6);
        assert!((found[1].real - 2.0).abs() < 1e-9 && (found[1].fetch - 1.1).abs() < 1e-9, "{found:?}");
    }
}
