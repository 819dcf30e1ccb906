//! The report of a tree after a rewrite that was forecast.

use std::collections::HashMap;

use dataset::layout::ByteSize;
use dataset::tree::basket::BasketHeader;
use flow::{ColumnForecast, Forecast};

use crate::inspect::contents::{BranchReport, ClustersKnown, TreeReport};
use crate::inspect::diagnose::read_time;
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::values::{Sizes, Spread, Trial};
use crate::math::as_f64;

/// Makes of the report of a tree that of the output. `remedy` has the settings that are for this tree.
pub(super) fn change(tree: &mut TreeReport, forecast: &Forecast, remedy: Option<&Remedy>, setting: i32) {
    let columns: HashMap<&str, &ColumnForecast> =
        forecast.columns.iter().map(|column| (column.name.as_str(), column)).collect();
    let names = lineages(&tree.branches);
    let basket = remedy.and_then(|remedy| remedy.setting("basket")).and_then(|size| size.parse::<ByteSize>().ok());
    let ratio = remedy.and_then(|remedy| remedy.setting("memory-ratio")).and_then(|ratio| ratio.parse::<f64>().ok());
    let splits = remedy.is_some_and(|remedy| remedy.setting("split-level").is_some());
    let before = tree.zip_bytes;
    let key = |branch: &BranchReport| BasketHeader::new(&branch.name, &tree.name, 0, 0).keylen() as u64;
    let keys: Vec<u64> = tree.branches.iter().map(key).collect();
    for ((branch, name), key) in tree.branches.iter_mut().zip(&names).zip(keys) {
        if let Some(column) = columns.get(name.as_str()) {
            change_branch(branch, column, key, basket.map(|size| size.0));
        }
        if splits {
            // Members are branches then, and decode as those do.
            (branch.can_split, branch.decoded) = (false, branch.decoded.filter(|_| !branch.can_split));
        }
        branch.embedded.clear();
        branch.basket_summary.crossing = 0;
        for leaf in &mut branch.leaves {
            leaf.maximum = leaf.maximum.max(leaf.counted_at_least.and_then(|least| i64::try_from(least).ok()));
        }
        if let (Some(ratio), Some(raw)) = (ratio, branch.basket_summary.raw) {
            branch.basket_size = crate::inspect::diagnose::speeds::bytes(as_f64(raw.max) * ratio);
        }
    }
    tree.baskets = tree.branches.iter().map(|branch| branch.basket_summary.count).sum();
    tree.zip_bytes = tree.branches.iter().map(|branch| branch.zip_bytes).sum();
    tree.tot_bytes = tree.branches.iter().map(|branch| branch.tot_bytes).sum();
    tree.key_bytes = tree.branches.iter().map(|branch| branch.key_bytes).sum();
    tree.crossing = 0;
    tree.record_compressible_to = None;
    tree.metadata = Sizes {
        bytes: forecast.metadata,
        raw_bytes: tree.metadata.raw_bytes.min(forecast.metadata.saturating_mul(20)).max(forecast.metadata),
    };
    change_clusters(tree, forecast.clusters.unwrap_or(1).max(1), before);
    change_memory(tree);
    tree.trials = relative(&tree.trials, before, tree.zip_bytes);
    tree.read_time = read_time(tree, setting);
}

/// For each branch its names from the top down, with `/` between.
fn lineages(branches: &[BranchReport]) -> Vec<String> {
    let mut known: HashMap<&str, String> = HashMap::new();
    let mut names = Vec::with_capacity(branches.len());
    for branch in branches {
        let above = branch.id.rsplit_once('.').and_then(|(above, _)| known.get(above));
        let name = above.map_or_else(|| branch.name.clone(), |above| format!("{above}/{}", branch.name));
        known.insert(&branch.id, name.clone());
        names.push(name);
    }
    names
}

fn change_branch(branch: &mut BranchReport, column: &ColumnForecast, key: u64, basket: Option<u64>) {
    let inside: u64 = branch.embedded.iter().map(|basket| basket.bytes).sum();
    let contents = branch.content_bytes() + inside;
    branch.key_bytes = column.baskets * key;
    branch.tot_bytes = contents + branch.key_bytes;
    branch.zip_bytes = column.bytes_after;
    branch.basket_summary.count = column.baskets;
    let depths = column.depths;
    if depths.recompress + depths.regroup + depths.recode > 0 {
        branch.compression = column.compression.to_root_setting();
        let name = column.compression.algorithm().filter(|_| branch.zip_bytes < branch.tot_bytes);
        let name = name.map_or("none", |algorithm| algorithm.name());
        branch.codecs = [(name.to_owned(), column.baskets)].into();
    }
    if let Some(size) = basket {
        branch.basket_size = size;
    }
    if depths.regroup + depths.recode > 0 && column.baskets > 0 {
        let mean = contents / column.baskets;
        let least = branch.largest_entry.unwrap_or_else(|| contents / branch.entries.max(1));
        let max = branch.basket_size.saturating_add(least).min(contents).max(mean);
        let was = branch.basket_summary.raw.map_or(max, |raw| raw.max);
        // Without another size, a basket that was far larger than its buffer is cut as well.
        branch.basket_summary.raw = Some(Spread {
            min: 0,
            mean,
            median: mean,
            max: if basket.is_some() { max } else { max.max(was.min(max)) },
        });
    }
}

/// Clusters at even places, the largest as much larger than the others as now.
fn change_clusters(tree: &mut TreeReport, clusters: u64, before: u64) {
    let was = as_f64(before) / as_f64(tree.clusters.len().max(1) as u64);
    let excess = (as_f64(tree.largest_cluster) / was.max(1.0)).clamp(1.0, 2.0);
    let mean = as_f64(tree.zip_bytes) / as_f64(clusters);
    let largest = crate::inspect::diagnose::speeds::bytes(mean * excess).min(tree.zip_bytes);
    tree.largest_cluster = largest;
    tree.clusters_known = ClustersKnown::Declared;
    (tree.common_boundaries, tree.cluster_count) = (clusters, clusters);
    let first = |k: u64| u64::try_from(u128::from(tree.entries) * u128::from(k) / u128::from(clusters)).unwrap_or(0);
    tree.clusters = (0..clusters.min(1 << 20)).map(first).collect();
}

fn change_memory(tree: &mut TreeReport) {
    let mut memory = tree.memory;
    (memory.read_baskets, memory.read_compressed, memory.write) = (0, 0, 0);
    for branch in tree.branches.iter().filter(|branch| branch.basket_summary.count > 0) {
        let raw = branch.basket_summary.raw.map_or(branch.tot_bytes, |raw| raw.max);
        let ratio = as_f64(branch.zip_bytes) / as_f64(branch.tot_bytes.max(1));
        memory.read_baskets += raw;
        memory.read_compressed += crate::inspect::diagnose::speeds::bytes(as_f64(raw) * ratio);
        memory.write += branch.basket_size.max(raw);
    }
    memory.read_cache = tree.largest_cluster;
    memory.read = memory.read_baskets + memory.read_compressed + memory.read_cache;
    tree.memory = memory;
}

/// Codecs that were tried, over other bytes on disk.
pub(super) fn relative(trials: &[Trial], before: u64, after: u64) -> Vec<Trial> {
    let factor = as_f64(before) / as_f64(after.max(1));
    trials.iter().map(|trial| Trial { size: trial.size * factor, ..trial.clone() }).collect()
}
