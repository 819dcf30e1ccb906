//! The report of an RNTuple after a rewrite that was forecast.

use std::collections::HashMap;

use dataset::layout::{ByteSize, ClusterSize};
use flow::{ColumnForecast, Forecast};

use super::tree::relative;
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::{ntuple_facts, speeds};
use crate::inspect::ntuple::report::{Checksums, ColumnReport, NtupleReport};
use crate::inspect::values::{Sizes, Spread};
use crate::math::as_f64;

/// Bytes of the largest page that the writer makes without a setting.
const PAGE: u64 = 1 << 20;
/// Bytes of a page in a page list, before compression.
const PLACE: u64 = 16;

/// Makes of the report of an RNTuple that of the output. `remedy` has the settings that are for it.
pub(super) fn change(ntuple: &mut NtupleReport, forecast: &Forecast, remedy: Option<&Remedy>) {
    let setting = |key: &str| remedy.and_then(|remedy| remedy.setting(key));
    let before = ntuple.zip_bytes;
    let is_made_anew = forecast.columns.iter().any(|column| column.depths.recode > 0);
    let factor = as_f64(forecast.bytes_after) / as_f64(forecast.bytes_before.max(1));
    let fields: HashMap<&str, &ColumnForecast> =
        forecast.columns.iter().map(|column| (column.name.as_str(), column)).collect();
    if is_made_anew {
        let cluster = setting("cluster").and_then(|size| size.parse::<ClusterSize>().ok());
        let clusters = match cluster {
            Some(ClusterSize::Bytes(bytes)) => forecast.bytes_after.div_ceil(bytes.max(1)),
            Some(ClusterSize::Entries(entries)) => ntuple.entries.div_ceil(entries.max(1)),
            None => ntuple.cluster_count,
        };
        change_clusters(ntuple, clusters.max(1), forecast.bytes_after);
    }
    let page = setting("basket").and_then(|size| size.parse::<ByteSize>().ok()).map_or(PAGE, |size| size.0);
    let clusters = ntuple.cluster_count;
    for field in &mut ntuple.fields {
        let own = fields.get(field.path.as_str()).filter(|_| !is_made_anew);
        let factor = own.map_or(factor, |own| as_f64(own.bytes_after) / as_f64(own.bytes_before.max(1)));
        for column in &mut field.columns {
            change_column(column, factor, is_made_anew.then_some((page, clusters)));
            if let Some(own) = own.or(fields.values().next()).filter(|own| own.depths.copy == 0) {
                let name = own.compression.algorithm().map_or("none", |algorithm| algorithm.name());
                column.codecs = [(name.to_owned(), column.pages)].into();
                column.compression = [(own.compression.to_root_setting().unsigned_abs(), column.pages)].into();
            }
        }
        field.zip_bytes = field.columns.iter().map(|column| column.zip_bytes).sum();
    }
    let columns = || ntuple.fields.iter().flat_map(|field| &field.columns);
    let pages: u64 = columns().map(|column| column.pages).sum();
    let was = ntuple.pages;
    (ntuple.zip_bytes, ntuple.pages, ntuple.shared_pages) =
        (columns().map(|column| column.zip_bytes).sum(), pages, columns().map(|column| column.shared_pages).sum());
    let checked = is_made_anew || forecast.columns.iter().all(|column| column.depths.copy == 0);
    if checked {
        (ntuple.checksums, ntuple.checked_pages) = (Checksums::All, pages);
    }
    let lists = ntuple.page_lists;
    let scaled = |bytes: u64| speeds::bytes(as_f64(bytes) * as_f64(pages) / as_f64(was.max(1)));
    ntuple.page_lists = Sizes { bytes: scaled(lists.bytes), raw_bytes: scaled(lists.raw_bytes).max(PLACE * pages) };
    ntuple.metadata = Sizes {
        bytes: forecast.metadata,
        raw_bytes: ntuple.metadata.raw_bytes.saturating_sub(lists.raw_bytes) + ntuple.page_lists.raw_bytes,
    };
    ntuple.trials = relative(&ntuple.trials, before, ntuple.zip_bytes);
    change_memory(ntuple);
    ntuple.read_time = ntuple_facts(ntuple).read_time;
}

fn change_clusters(ntuple: &mut NtupleReport, clusters: u64, zip: u64) {
    ntuple.largest_cluster = if clusters == 1 { zip } else { zip / clusters + zip / clusters / 2 };
    (ntuple.cluster_count, ntuple.cluster_groups) = (clusters, 1);
    let first = |k: u64| u64::try_from(u128::from(ntuple.entries) * u128::from(k) / u128::from(clusters)).unwrap_or(0);
    ntuple.clusters = (0..clusters.min(1 << 20)).map(first).collect();
}

/// `anew` has the largest page and the clusters, where pages are made anew.
fn change_column(column: &mut ColumnReport, factor: f64, anew: Option<(u64, u64)>) {
    column.zip_bytes = speeds::bytes(as_f64(column.zip_bytes) * factor);
    let Some((page, clusters)) = anew.filter(|_| column.pages > 0) else { return };
    // A column that some clusters lack has no page there.
    let all = column.suppressed_clusters + column.absent_clusters;
    let parts = if all == 0 { clusters } else { clusters.min(column.pages) };
    let in_cluster = column.tot_bytes.div_ceil(parts.max(1)).div_ceil(page.max(1)).max(1);
    let pages = (in_cluster * parts).min(column.elements.max(1));
    (column.pages, column.checked_pages, column.shared_pages) = (pages, pages, 0);
    let mean = column.tot_bytes / pages.max(1);
    column.raw = Some(Spread { min: 0, mean, median: mean, max: page.min(mean + mean / 2).min(column.tot_bytes) });
}

fn change_memory(ntuple: &mut NtupleReport) {
    let columns = ntuple.fields.iter().flat_map(|field| &field.columns);
    let (mut raw, mut disk) = (0, 0);
    for column in columns {
        let largest = column.raw.map_or(0, |raw| raw.max);
        raw += largest;
        disk += speeds::bytes(as_f64(largest) * as_f64(column.zip_bytes) / as_f64(column.tot_bytes.max(1)));
    }
    let cache = ntuple.largest_cluster;
    let memory = &mut ntuple.memory;
    (memory.read_baskets, memory.read_compressed, memory.read_cache) = (raw, disk, cache);
    (memory.read, memory.write) = (raw + disk + cache, raw + cache);
}
