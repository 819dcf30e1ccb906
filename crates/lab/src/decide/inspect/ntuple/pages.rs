//! Sums over the page lists of an RNTuple: columns, clusters, shared pages, and a sample of the pages.
//!
//! Page lists are read group by group, and each page is looked at once. No page itself is read.

use std::collections::HashSet;

use dataset::ntuple::model::{Cluster, Column, Locator, Ntuple, Page, PageList};
use dataset::ntuple::read_page_list;
use rootfile::{Error, Result, RootFile};

use super::report::PageReport;
use super::thinned::Thinned;

/// Most cluster starts that are listed.
const MOST_CLUSTERS: usize = 1 << 20;

/// The sums over all page lists.
pub struct Sums {
    /// By physical ID.
    pub columns: Vec<ColumnSums>,
    /// First entry of each cluster, up to a limit.
    pub clusters: Vec<u64>,
    /// Clusters.
    pub cluster_count: u64,
    /// Compressed bytes of the largest cluster.
    pub largest_cluster: u64,
    /// Pages, spread evenly over the bytes on disk.
    pub sample: Vec<Sampled>,
}

/// The sums of a column.
#[derive(Clone, Default)]
pub struct ColumnSums {
    /// Stored elements.
    pub elements: u64,
    /// Pages, and some kinds of them.
    pub pages: u64,
    /// Pages with the bytes of another page.
    pub shared: u64,
    /// Pages in other storage than the file.
    pub elsewhere: u64,
    /// Pages with a checksum.
    pub checked: u64,
    /// Bytes before compression and on disk, shared pages left out.
    pub tot_bytes: u64,
    /// Bytes on disk.
    pub zip_bytes: u64,
    /// The largest page before compression: its bytes then, and on disk.
    pub largest: (u64, u64),
    /// Bytes of the pages in the file: on disk, and before compression.
    pub disk: Vec<u32>,
    /// Bytes before compression.
    pub raw: Vec<u32>,
    /// Compression settings: pages under each, and how many of them are compressed.
    pub settings: Vec<(u32, u64, u64)>,
    /// Clusters in which another representation has the data.
    pub suppressed: u64,
    /// Clusters from before the column was added.
    pub absent: u64,
    /// All pages, if requested.
    pub list: Vec<PageReport>,
}

/// A page of the sample.
#[derive(Clone, Copy, Debug)]
pub struct Sampled {
    /// Physical ID of its column.
    pub column: usize,
    /// The compression setting of the column in its cluster.
    pub setting: u32,
    /// The page.
    pub page: Page,
}

/// Offsets of pages that were seen. Pages mostly come in the order of the file, which takes eight bytes each.
#[derive(Default)]
struct Seen {
    ascending: Vec<u64>,
    others: HashSet<u64>,
}

impl Seen {
    /// Whether there is a page at this offset for the first time.
    fn is_first(&mut self, offset: u64) -> bool {
        if self.ascending.last().is_none_or(|last| *last < offset) {
            self.ascending.push(offset);
            return true;
        }
        self.ascending.binary_search(&offset).is_err() && self.others.insert(offset)
    }
}

/// Reads all page lists. With `list` the sums have every page.
pub fn sum(file: &RootFile, ntuple: &Ntuple, list: bool) -> Result<Sums> {
    let source = &**file.source();
    let mut all = Reading {
        ntuple,
        size: source.size(),
        list,
        seen: Seen::default(),
        sample: Thinned::default(),
        sums: Sums {
            columns: vec![ColumnSums::default(); ntuple.schema.columns.len()],
            clusters: Vec::new(),
            cluster_count: 0,
            largest_cluster: 0,
            sample: Vec::new(),
        },
    };
    for group in 0..ntuple.groups.len() {
        let list = read_page_list(source, ntuple, group)?;
        for cluster in &list.clusters {
            let offset = all.cluster(&list, cluster);
            let beyond = |at: u64| {
                let why = format!("a page at byte {at} ends behind the end of the file");
                Error::corrupt(why).object(ntuple.name.clone()).at(at).file(file.name())
            };
            offset.map_err(beyond)?;
        }
    }
    all.sums.sample = all.sample.into_items();
    Ok(all.sums)
}

struct Reading<'a> {
    ntuple: &'a Ntuple,
    size: u64,
    list: bool,
    seen: Seen,
    sample: Thinned<Sampled>,
    sums: Sums,
}

impl Reading<'_> {
    /// Takes in a cluster. The error is the offset of a page that is not in the file.
    fn cluster(&mut self, list: &PageList, cluster: &Cluster) -> std::result::Result<(), u64> {
        let number = self.sums.cluster_count;
        if self.sums.clusters.len() < MOST_CLUSTERS {
            self.sums.clusters.push(cluster.first_entry);
        }
        self.sums.cluster_count += 1;
        let mut bytes = 0u64;
        for (id, described) in self.ntuple.schema.columns.iter().enumerate() {
            let Some(sums) = self.sums.columns.get_mut(id) else { continue };
            let Some(range) = cluster.columns.get(id) else {
                sums.absent += 1;
                continue;
            };
            let Some(setting) = range.compression else {
                sums.suppressed += 1;
                continue;
            };
            let mut compressed = 0;
            let pages = list.pages.get(range.pages.clone()).unwrap_or_default();
            for page in pages {
                let raw = raw_len(described, page);
                sums.elements = sums.elements.saturating_add(page.elements.into());
                sums.checked += u64::from(page.has_checksum);
                if self.list {
                    sums.list.push(page_report(number, page));
                }
                let Locator::File { offset, size } = page.locator else {
                    sums.elsewhere += 1;
                    continue;
                };
                if page.stored_len().and_then(|len| offset.checked_add(len)).is_none_or(|end| end > self.size) {
                    return Err(offset);
                }
                compressed += u64::from(size < raw);
                sums.disk.push(u32::try_from(size).unwrap_or(u32::MAX));
                sums.raw.push(u32::try_from(raw).unwrap_or(u32::MAX));
                sums.largest = sums.largest.max((raw, size));
                // A page without elements has no bytes to share.
                if size == 0 || self.seen.is_first(offset) {
                    sums.tot_bytes = sums.tot_bytes.saturating_add(raw);
                    sums.zip_bytes = sums.zip_bytes.saturating_add(size);
                    bytes = bytes.saturating_add(size);
                    self.sample.push(size, Sampled { column: id, setting, page: *page });
                } else {
                    sums.shared += 1;
                }
            }
            sums.pages += pages.len() as u64;
            match sums.settings.iter_mut().find(|(known, ..)| *known == setting) {
                Some((_, all, some)) => (*all, *some) = (*all + pages.len() as u64, *some + compressed),
                None => sums.settings.push((setting, pages.len() as u64, compressed)),
            }
        }
        self.sums.largest_cluster = self.sums.largest_cluster.max(bytes);
        Ok(())
    }
}

/// Bytes of a page before compression.
pub fn raw_len(column: &Column, page: &Page) -> u64 {
    (u64::from(page.elements) * u64::from(column.bits)).div_ceil(8)
}

fn page_report(cluster: u64, page: &Page) -> PageReport {
    let (seek, bytes) = match page.locator {
        Locator::File { offset, size } => (Some(offset), size),
        Locator::Unknown { .. } => (None, 0),
    };
    PageReport { cluster, elements: page.elements, bytes, seek, checksum: page.has_checksum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_seen_once_in_any_order() {
        let mut seen = Seen::default();
        let firsts: Vec<bool> = [10, 30, 20, 30, 20, 10, 40, 5, 5].into_iter().map(|at| seen.is_first(at)).collect();
        assert_eq!(firsts, [true, true, true, false, false, false, true, true, false]);
        // Only those out of order are in the set.
        assert_eq!((seen.ascending.len(), seen.others.len()), (3, 2));
    }
}
