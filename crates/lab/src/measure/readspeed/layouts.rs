//! The expected throughput of each layout that `tune` could choose, from tune's costs and the measured times.
//!
//! Costs are CPU seconds of one thread with the file in the page cache. The measured reading scales them to real time:
//! stages may be faster or slower, threads share the work, and threads wait for bytes, whose number depends on the layout.

use std::collections::HashSet;

use flow::inputs::Input;
use rootfile::Result;

use super::report::{LayoutSpeed, Run};
use crate::cost::model::Cost;
use crate::cost::statistics::FileStats;
use crate::cost::{Demand, Workload};
use crate::math::evenly_spaced;
use crate::tune::{self, LayoutForecast};

/// A forecast to make: columns of a tree by name, and a share of their entries, scattered or not.
pub(super) struct ForecastRequest<'a> {
    pub inputs: &'a [Input],
    /// Path of the tree in the first of them.
    pub tree: &'a str,
    /// Bytes on disk of all entries of the columns.
    pub stored: f64,
    pub columns: HashSet<&'a str>,
    pub scattered: Option<f64>,
    pub memory: u64,
    pub seed: u64,
}

/// Most files to sample. If there are more, files at even distances are sampled.
const MOST_FILES: usize = 5;

/// Forecasts the layouts for each file, and adds the costs up. `uncompressed` is the number of bytes that were read in
/// `measured`.
pub(super) fn layouts(request: &ForecastRequest<'_>, measured: &Run, uncompressed: f64) -> Result<Vec<LayoutSpeed>> {
    let demand = match request.scattered {
        Some(share) => Demand { full: 0.0, sparse: vec![(1.0, share)] },
        None => Demand { full: 1.0, sparse: Vec::new() },
    };
    let options = tune::Options {
        workload: Workload::default(),
        memory: request.memory,
        seed: request.seed,
        ..Default::default()
    };
    let mut files = Vec::new();
    for input in evenly_spaced(request.inputs.len(), MOST_FILES).filter_map(|place| request.inputs.get(place)) {
        let tree = input.tree.as_deref().and_then(|tree| tree.split(';').next()).map(|tree| tree.trim_matches('/'));
        let mut stats = FileStats::read_columns(&input.path, Some(tree.unwrap_or(request.tree)), &|asked| {
            asked.decoded.filter(|name| request.columns.contains(name)).map(|_| demand.clone())
        })?;
        stats.within(request.memory);
        files.push(tune::forecast_layouts(&input.path, &stats, &options)?);
    }
    let mut sums = summed(files);
    let sampled = sums.first().map_or(0.0, |today| today.cost.size);
    // Files without samples are assumed to be like the others.
    sums.iter_mut().for_each(|sum| sum.cost.size *= if sampled > 0.0 { request.stored / sampled } else { 1.0 });
    Ok(scaled(&sums, measured, uncompressed))
}

/// The layouts that all files have a forecast for, with their summed costs. Files without baskets have none.
fn summed(files: Vec<Vec<LayoutForecast>>) -> Vec<LayoutForecast> {
    let mut files = files.into_iter().filter(|file| !file.is_empty());
    let mut sums = files.next().unwrap_or_default();
    for file in files {
        sums.retain_mut(|sum| {
            let same = file.iter().find(|forecast| forecast.layout == sum.layout);
            same.map(|forecast| sum.cost += forecast.cost).is_some()
        });
    }
    sums
}

/// Scales costs to times, by the measured time of the first layout.
fn scaled(forecasts: &[LayoutForecast], measured: &Run, uncompressed: f64) -> Vec<LayoutSpeed> {
    let Some(today) = forecasts.first().map(|o| o.cost).filter(|cost| cost.read > 0.0 && cost.size > 0.0) else {
        return Vec::new();
    };
    let stages = measured.fetch + measured.decompress + measured.decode;
    // Time in fetching beyond its share with a warm cache is waiting for storage.
    let copying = (measured.decompress + measured.decode) * today.fetch / (today.read - today.fetch).max(1e-12);
    let waiting = (measured.fetch - copying).max(0.0);
    let factor = (stages - waiting) / today.read;
    let speed = |o: &LayoutForecast| {
        let Cost { size, fetch, decompress, decode, .. } = o.cost;
        let fetch = factor * fetch + waiting * size / today.size;
        let (decompress, decode) = (factor * decompress, factor * decode);
        let real = measured.real * (fetch + decompress + decode) / stages.max(1e-12);
        let throughput = uncompressed / 1e6 / real.max(1e-9);
        LayoutSpeed { layout: o.layout.clone(), compressed: size, fetch, decompress, decode, real, throughput }
    };
    forecasts.iter().map(speed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(size: f64, [fetch, decompress, decode]: [f64; 3]) -> LayoutForecast {
        let cost = Cost { size, read: fetch + decompress + decode, fetch, decompress, decode, ..Cost::default() };
        LayoutForecast { layout: format!("{size}"), cost }
    }

    #[test]
    fn the_measured_layout_keeps_its_time_and_others_scale() {
        // Every stage took twice its cost, on two threads.
        let run = Run { real: 1.2, cpu: 2.4, fetch: 0.2, decompress: 1.6, decode: 0.6, cold: None, network: None };
        let found = scaled(&[forecast(1e6, [0.1, 0.8, 0.3]), forecast(2e6, [0.2, 0.1, 0.3])], &run, 6e6);
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(near(found[0].real, 1.2) && near(found[0].throughput, 5.0), "{found:?}");
        assert!(near(found[1].real, 0.6) && near(found[1].decompress, 0.2), "{found:?}");
    }

    #[test]
    fn files_are_summed_up_over_the_layouts_they_share() {
        let named =
            |layout: &str, size| LayoutForecast { layout: layout.to_owned(), ..forecast(size, [0.0, 1.0, 1.0]) };
        let files = vec![vec![named("a", 1.0), named("b", 2.0)], vec![], vec![named("b", 5.0), named("c", 1.0)]];
        let sums = summed(files);
        assert_eq!(sums.iter().map(|o| (o.layout.as_str(), o.cost.size)).collect::<Vec<_>>(), [("b", 7.0)]);
    }

    #[test]
    fn waiting_for_storage_goes_with_the_bytes() {
        let run = Run { real: 3.0, cpu: 1.0, fetch: 2.1, decompress: 0.6, decode: 0.3, cold: Some(1.0), network: None };
        let found = scaled(&[forecast(1e6, [0.1, 0.6, 0.3]), forecast(5e5, [0.1, 0.6, 0.3])], &run, 1e6);
        assert!((found[1].real - 2.0).abs() < 1e-9 && (found[1].fetch - 1.1).abs() < 1e-9, "{found:?}");
    }
}
