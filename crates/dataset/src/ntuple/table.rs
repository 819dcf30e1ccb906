//! An RNTuple with the page lists of all its clusters: what a reader of entries needs. It knows which cluster holds an entry,
//! and how a field's entries are cut into pieces that can be read by themselves. It reads no pages: `cluster_reader` does.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use rootfile::{Error, Key, Result, RootFile, Source};

use super::cluster_reader::ClusterSource;
use super::decode::FieldPlan;
use super::element::Encoding;
use super::model::{Cluster, ColumnRange, Ntuple, Page, PageList, Schema};
use super::open::{read_ntuple, read_page_list};
use super::soundness::{Starts, check_counts};

/// Decompressed bytes of a piece of a field with one value for each entry: some pages.
const FLAT_PIECE: u64 = 1 << 20;

/// Decompressed bytes of a piece of another field. The pages at its ends are decompressed for the neighbouring pieces too.
const NESTED_PIECE: u64 = 16 << 20;

/// Bytes that the allocator adds to each block.
const ALLOCATED: usize = 16;

/// An RNTuple and its page lists.
#[derive(Debug)]
pub struct NtupleTable {
    /// The name.
    pub name: String,
    /// A description by the user.
    pub description: String,
    /// Fields and columns.
    pub schema: Arc<Schema>,
    /// Most bytes of one key. Larger blocks are split over several keys.
    max_key_size: u64,
    lists: Vec<PageList>,
    /// Page list and number in it of each cluster, in the order of entries.
    clusters: Vec<(usize, usize)>,
    /// Columns that do not continue from cluster to cluster: for each the number of the cluster, and why not.
    broken: HashMap<usize, (usize, String)>,
}

/// Entries of a field in one cluster that are read together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPiece {
    /// The number of the cluster.
    pub cluster: usize,
    /// The entries, counted from the start of the RNTuple.
    pub entries: Range<u64>,
    /// Bytes of their pages in the file, by their share of the cluster.
    pub compressed: u64,
    /// Bytes of their pages when decompressed.
    pub uncompressed: u64,
}

/// What the pages of a field take in a cluster. Pages whose bytes are shared count for each of their uses.
#[derive(Default)]
struct StoredPages {
    pages: u64,
    compressed: u64,
    uncompressed: u64,
}

impl NtupleTable {
    /// Reads the metadata of a key's RNTuple and all its page lists.
    ///
    /// # Errors
    ///
    /// If they cannot be read or are damaged, or if the clusters do not have consecutive entries.
    pub fn open(file: &RootFile, key: &Key) -> Result<Self> {
        let ntuple = read_ntuple(file, key)?;
        Self::of(ntuple, &**file.source()).map_err(|e| e.at(key.seek_key))
    }

    /// Reads all page lists of an RNTuple whose metadata are read, from the file that has it.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn of(ntuple: Ntuple, source: &dyn Source) -> Result<Self> {
        let lists: Vec<PageList> =
            (0..ntuple.groups.len()).map(|group| read_page_list(source, &ntuple, group)).collect::<Result<_>>()?;
        let mut clusters: Vec<(usize, usize)> =
            Vec::with_capacity(lists.iter().map(|pages| pages.clusters.len()).sum());
        for (list, pages) in lists.iter().enumerate() {
            clusters.extend((0..pages.clusters.len()).map(|index| (list, index)));
        }
        clusters.sort_by_key(|place| first_entry(&lists, place));
        let mut table = Self {
            name: ntuple.name,
            description: ntuple.description,
            schema: ntuple.schema,
            max_key_size: ntuple.anchor.max_key_size,
            lists,
            clusters,
            broken: HashMap::new(),
        };
        table.check_clusters().map_err(|e| e.object(table.name.clone()).file(source.name()))?;
        let mut starts = Starts::new(&table.schema, |_| true);
        let mut broken = HashMap::new();
        for (number, (list, cluster)) in table.clusters().enumerate() {
            let found = starts.cluster(list, cluster).into_iter();
            broken.extend(found.map(|(column, error)| (column, (number, error.to_string()))));
        }
        table.broken = broken;
        Ok(table)
    }

    fn check_clusters(&self) -> Result<()> {
        let mut next = 0u64;
        for (number, (_, cluster)) in self.clusters().enumerate() {
            if cluster.first_entry != next {
                let first = cluster.first_entry;
                return Err(Error::corrupt(format!("cluster {number} begins with entry {first}, not {next}")));
            }
            next = next.checked_add(cluster.entries).ok_or_else(|| Error::corrupt("more than 2^64 entries"))?;
        }
        Ok(())
    }

    /// The clusters in the order of their entries, each with the page list that has its pages.
    pub fn clusters(&self) -> impl Iterator<Item = (&PageList, &Cluster)> {
        (0..self.clusters.len()).filter_map(|number| self.cluster(number))
    }

    /// How many clusters it has.
    pub fn number_of_clusters(&self) -> usize {
        self.clusters.len()
    }

    /// A cluster and the page list that has its pages.
    pub fn cluster(&self, number: usize) -> Option<(&PageList, &Cluster)> {
        let &(list, index) = self.clusters.get(number)?;
        let list = self.lists.get(list)?;
        Some((list, list.clusters.get(index)?))
    }

    /// The numbers of the clusters with some of these entries.
    pub fn clusters_with(&self, entries: &Range<u64>) -> Range<usize> {
        let begins = |place: &(usize, usize)| first_entry(&self.lists, place);
        // The last cluster that begins no later than the first entry has it.
        let first = self.clusters.partition_point(|place| begins(place) <= entries.start).saturating_sub(1);
        first..self.clusters.partition_point(|place| begins(place) < entries.end).max(first)
    }

    /// Bytes of the largest page, in the file and decompressed.
    pub fn largest_page(&self) -> u64 {
        let mut largest = 0;
        for (list, cluster) in self.clusters() {
            for (column, range) in cluster.columns.iter().enumerate() {
                let Ok(encoding) = self.schema.encoding(column) else { continue };
                for page in list.pages.get(range.pages.clone()).unwrap_or_default() {
                    largest = largest.max(page.stored_len().unwrap_or(0).saturating_add(page_bytes(&encoding, page)));
                }
            }
        }
        largest
    }

    /// The number of entries.
    pub fn entries(&self) -> u64 {
        self.clusters().last().map_or(0, |(_, cluster)| cluster.first_entry.saturating_add(cluster.entries))
    }

    /// Bytes that the page lists take in memory. With a million clusters of few columns most of it is the clusters themselves.
    pub fn memory(&self) -> u64 {
        let of_list = |list: &PageList| {
            let columns: usize = list.clusters.iter().map(|cluster| cluster.columns.len()).sum();
            list.pages.len() * size_of::<Page>()
                + columns * size_of::<ColumnRange>()
                + list.clusters.len() * (size_of::<Cluster>() + ALLOCATED)
        };
        let lists: u64 = self.lists.iter().map(|list| of_list(list) as u64).sum();
        lists.saturating_add((self.clusters.len() * size_of::<(usize, usize)>()) as u64)
    }

    /// What is needed to open the pages of a cluster. `file` is the number of its file.
    pub fn cluster_source(&self, number: usize, file: u32) -> Option<ClusterSource<'_>> {
        let (list, cluster) = self.cluster(number)?;
        Some(ClusterSource { file, schema: &self.schema, max_key_size: self.max_key_size, list, cluster, number })
    }

    fn stored(&self, columns: &[usize], (list, cluster): (&PageList, &Cluster)) -> Result<StoredPages> {
        let mut sum = StoredPages::default();
        for &column in columns {
            let encoding = self.schema.encoding(column)?;
            for page in cluster.pages(list, column).unwrap_or_default() {
                sum.pages += 1;
                sum.compressed = sum.compressed.saturating_add(page.stored_len().unwrap_or(0));
                sum.uncompressed = sum.uncompressed.saturating_add(page_bytes(&encoding, page));
            }
        }
        Ok(sum)
    }

    /// Whether a field can have values of all entries of a cluster, by the page lists.
    fn check_cluster(&self, plan: &FieldPlan, number: usize, (list, cluster): (&PageList, &Cluster)) -> Result<()> {
        let mut broken = plan.columns().iter().filter_map(|column| self.broken.get(column));
        if let Some((_, error)) = broken.find(|(place, _)| *place == number) {
            return Err(Error::corrupt(error.clone()));
        }
        check_counts(plan, list, cluster)
    }

    /// The pieces of a field, in the order of entries. A column of values is cut between pages, a field with collections or
    /// several columns into parts of a cluster. A cluster in which the page lists contradict the schema or each other is one piece
    /// of no bytes, which [`check`](Self::check) refuses.
    pub fn pieces(&self, plan: &FieldPlan) -> impl Iterator<Item = FieldPiece> {
        let in_cluster = |(number, place): (usize, (&PageList, &Cluster))| {
            let mut pieces = Vec::with_capacity(1);
            if self.add_pieces(plan, number, place, &mut pieces).is_err() {
                let (start, end) = (place.1.first_entry, place.1.first_entry.saturating_add(place.1.entries));
                pieces.push(FieldPiece { cluster: number, entries: start..end, compressed: 0, uncompressed: 0 });
            }
            pieces
        };
        self.clusters().enumerate().filter(|(_, (_, cluster))| cluster.entries > 0).flat_map(in_cluster)
    }

    /// Checks that the page lists do not contradict the schema or each other in a field of a cluster.
    ///
    /// # Errors
    ///
    /// What is wrong, or that there is no such cluster.
    pub fn check(&self, plan: &FieldPlan, number: usize) -> Result<()> {
        let place = self.cluster(number).ok_or_else(|| Error::request("no such cluster"))?;
        self.add_pieces(plan, number, place, &mut Vec::new())
    }

    /// Adds the pieces in a cluster.
    fn add_pieces(
        &self,
        plan: &FieldPlan,
        number: usize,
        place: (&PageList, &Cluster),
        pieces: &mut Vec<FieldPiece>,
    ) -> Result<()> {
        self.check_cluster(plan, number, place)?;
        let (cluster, columns) = (place.1, plan.columns_in(place.1)?);
        let stored = self.stored(&columns, place)?;
        let cuts = match self.flat_cuts(&columns, place)? {
            Some(cuts) => cuts,
            // The sizes are claims. A part smaller than a page would be no use, and the file has each page's description.
            None => even_cuts(cluster.entries, stored.uncompressed.div_ceil(NESTED_PIECE).min(stored.pages)),
        };
        let share = |bytes: u64, entries: u64| {
            let share = u128::from(bytes) * u128::from(entries) / u128::from(cluster.entries.max(1));
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        let mut start = 0;
        for end in cuts.into_iter().chain([cluster.entries]).filter(|end| *end <= cluster.entries) {
            if end > start {
                pieces.push(FieldPiece {
                    cluster: number,
                    entries: cluster.first_entry + start..cluster.first_entry + end,
                    compressed: share(stored.compressed, end - start),
                    uncompressed: share(stored.uncompressed, end - start),
                });
                start = end;
            }
        }
        Ok(())
    }

    /// Where the pages of a field are that hold some entries of a cluster, counted from its first: column by column, as
    /// [`Cluster::page_ranges`] finds them.
    ///
    /// # Errors
    ///
    /// There is no such cluster, or all columns of a field are suppressed in it.
    pub fn page_ranges(&self, plan: &FieldPlan, cluster: usize, entries: &Range<u64>) -> Result<Vec<Range<u64>>> {
        let (list, cluster) = self.cluster(cluster).ok_or_else(|| Error::request("no such cluster"))?;
        let mut ranges = Vec::new();
        for column in plan.columns_in(cluster)? {
            ranges.extend(cluster.page_ranges(list, column, entries)?);
        }
        Ok(ranges)
    }

    /// Where a field with one element for each entry is cut in a cluster: at ends of pages. None for other fields.
    fn flat_cuts(&self, columns: &[usize], (list, cluster): (&PageList, &Cluster)) -> Result<Option<Vec<u64>>> {
        let &[column] = columns else { return Ok(None) };
        let pages = cluster.pages(list, column).unwrap_or_default();
        let elements: u64 = pages.iter().map(|page| u64::from(page.elements)).sum();
        let encoding = self.schema.encoding(column)?;
        if elements != cluster.entries || encoding.column_type().is_index() {
            return Ok(None);
        }
        let (mut cuts, mut end, mut bytes) = (Vec::new(), 0u64, 0u64);
        for page in pages {
            end += u64::from(page.elements);
            bytes = bytes.saturating_add(page_bytes(&encoding, page));
            if bytes >= FLAT_PIECE {
                cuts.push(end);
                bytes = 0;
            }
        }
        Ok(Some(cuts))
    }
}

/// The first entry of a cluster, by its page list and its number there.
fn first_entry(lists: &[PageList], &(list, index): &(usize, usize)) -> u64 {
    lists.get(list).and_then(|list| list.clusters.get(index)).map_or(0, |cluster| cluster.first_entry)
}

fn page_bytes(encoding: &Encoding, page: &Page) -> u64 {
    let elements = usize::try_from(page.elements).unwrap_or(usize::MAX);
    encoding.page_len(elements).and_then(|len| u64::try_from(len).ok()).unwrap_or(u64::MAX)
}

/// The ends of all but the last of `parts` parts of about the same number of entries.
fn even_cuts(entries: u64, parts: u64) -> Vec<u64> {
    let parts = parts.clamp(1, entries.max(1));
    let each = entries.div_ceil(parts).max(1);
    (1..parts).map(|part| part * each).collect()
}
