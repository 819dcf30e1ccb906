//! The layout of an RNTuple in the terms of trees, as far as its pages show it. The settings of the writer are not in the
//! file.

use std::collections::BTreeMap;

use dataset::layout::{ByteSize, ClusterSize, ColumnLayout, Compression, Container, TreeLayout};

use super::report::{ColumnReport, FieldReport, NtupleReport};
use crate::math::most;

/// Larger pages are not a setting that a layout can have.
const LARGEST_PAGE: u64 = 1 << 30;

/// A layout, rules for fields with another compression, and what is not known.
pub struct NtupleLayout {
    /// The keys of the RNTuple.
    pub layout: TreeLayout,
    /// Rules, by the path of a field.
    pub columns: Vec<(String, ColumnLayout)>,
    /// What cannot be recovered, and why, a sentence each.
    pub unknown: Vec<String>,
}

impl NtupleLayout {
    /// The layout of an RNTuple.
    pub fn of(ntuple: &NtupleReport) -> Self {
        let compression = compression(ntuple.fields.iter());
        let mut unknown = Vec::new();
        let cluster = cluster(ntuple);
        if cluster.is_none() {
            unknown.push(match ntuple.cluster_count {
                0 => "the cluster size is unknown: there are no entries".to_owned(),
                _ => "the cluster size is unknown: all entries are in one cluster".to_owned(),
            });
        }
        let basket = page_size(ntuple).map(ByteSize);
        if basket.is_none() {
            unknown.push("the page size is unknown: no column has two pages in a cluster".to_owned());
        }
        let own = |field: &FieldReport| {
            let keys =
                ColumnLayout { compression: self::compression(std::iter::once(field)), ..ColumnLayout::default() };
            (keys.compression.is_some() && keys.compression != compression).then(|| (field.path.clone(), keys))
        };
        Self {
            layout: TreeLayout {
                container: Some(Container::Rntuple),
                cluster,
                basket,
                compression,
                ..TreeLayout::default()
            },
            columns: ntuple.fields.iter().filter_map(own).collect(),
            unknown,
        }
    }
}

/// A number of entries if most clusters have it; else compressed bytes, by which ROOT's writer ends a cluster. The last cluster
/// ends with the data.
fn cluster(ntuple: &NtupleReport) -> Option<ClusterSize> {
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    for pair in ntuple.clusters.windows(2) {
        if let [start, end] = pair {
            *sizes.entry(end.saturating_sub(*start)).or_default() += 1;
        }
    }
    let whole = sizes.values().sum::<u64>();
    let usual = most(sizes.iter().map(|(size, n)| (*size, *n)))?;
    let is_usual = 2 * sizes.get(&usual)? > whole && usual > 0;
    let mean = ntuple.zip_bytes / ntuple.cluster_count.max(1);
    if is_usual { Some(ClusterSize::Entries(usual)) } else { (mean > 0).then_some(ClusterSize::Bytes(mean)) }
}

/// The largest page of the columns that have several pages in a cluster: the others end with the cluster.
fn page_size(ntuple: &NtupleReport) -> Option<u64> {
    let several = |column: &&ColumnReport| {
        column.pages + column.suppressed_clusters + column.absent_clusters > ntuple.cluster_count
    };
    let columns = ntuple.fields.iter().flat_map(|field| &field.columns).filter(several);
    columns.filter_map(|column| Some(column.raw?.max)).max().filter(|size| (1..LARGEST_PAGE).contains(size))
}

/// The setting of most of the bytes.
fn compression<'a>(fields: impl Iterator<Item = &'a FieldReport>) -> Option<Compression> {
    let columns = fields.flat_map(|field| &field.columns).filter(|column| column.pages > 0);
    let settings = columns
        .flat_map(|column| column.compression.iter().map(move |(setting, pages)| (*setting, bytes_of(column, *pages))));
    most(settings).and_then(|setting| Compression::from_root_setting(i32::try_from(setting).ok()?))
}

/// The bytes on disk of some of a column's pages, as if all were of one size.
fn bytes_of(column: &ColumnReport, pages: u64) -> u64 {
    let bytes = u128::from(column.zip_bytes) * u128::from(pages) / u128::from(column.pages.max(1));
    u64::try_from(bytes).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::values::Spread;

    fn column(pages: u64, largest: u64, setting: u32) -> FieldReport {
        let column = ColumnReport {
            pages,
            zip_bytes: 100 * pages,
            raw: Some(Spread { min: 1, mean: 2, median: 2, max: largest }),
            compression: [(setting, pages)].into(),
            ..ColumnReport::default()
        };
        FieldReport { path: format!("f{setting}"), columns: vec![column], ..FieldReport::default() }
    }

    fn ntuple(clusters: &[u64], fields: Vec<FieldReport>) -> NtupleReport {
        let zip_bytes = fields.iter().flat_map(|field| &field.columns).map(|column| column.zip_bytes).sum();
        let (cluster_count, clusters) = (clusters.len() as u64, clusters.to_vec());
        NtupleReport { zip_bytes, cluster_count, clusters, fields, ..NtupleReport::default() }
    }

    #[test]
    fn settings_that_pages_show() {
        let found = NtupleLayout::of(&ntuple(&[0, 50, 100, 130], vec![column(9, 4000, 505), column(4, 9000, 404)]));
        assert_eq!(found.layout.cluster, Some(ClusterSize::Entries(50)));
        assert_eq!(found.layout.basket, Some(ByteSize(4000)), "a page of the other column ends with its cluster");
        assert_eq!(found.layout.compression, Compression::from_root_setting(505));
        let [(path, keys)] = &found.columns[..] else { panic!("{:?}", found.columns) };
        assert_eq!((path.as_str(), keys.compression), ("f404", Compression::from_root_setting(404)));
        assert!(found.unknown.is_empty());
        // Clusters of many sizes end by bytes.
        let found = NtupleLayout::of(&ntuple(&[0, 50, 99, 150], vec![column(40, 1000, 0)]));
        assert_eq!(found.layout.cluster, Some(ClusterSize::Bytes(1000)));
        assert_eq!(found.layout.compression, Some(Compression::NONE));
    }

    #[test]
    fn what_pages_do_not_show() {
        let found = NtupleLayout::of(&ntuple(&[0], vec![column(1, 4000, 505)]));
        assert_eq!((found.layout.cluster, found.layout.basket), (None, None));
        assert_eq!(found.unknown.len(), 2);
        let found = NtupleLayout::of(&ntuple(&[], Vec::new()));
        assert!(found.unknown[0].ends_with("there are no entries"), "{:?}", found.unknown);
        assert_eq!(found.layout.compression, None);
    }
}
