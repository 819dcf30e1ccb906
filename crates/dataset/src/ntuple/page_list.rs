//! The page list: the clusters of a group, and where their pages are.
//!
//! Facts: `RNTupleSerialize.cxx`, `DeserializePageListRaw` and `DeserializeClusterSummary`. Behind the pages of a column, but inside
//! their frame, follow the index of the column's first element and the compression. A page list with thousands of columns and
//! clusters is large, so it is read in one pass into flat lists.

use rootfile::{Error, Result};

use super::envelope::{EnvelopeKind, open_envelope, seal_envelope};
use super::footer::check_header;
use super::frame::Reader;
use super::locator::{LEAST_LOCATOR, read_locator, write_locator};
use super::model::{Cluster, ClusterGroup, ColumnRange, Ntuple, Page, PageList, Schema};

/// Bytes of a cluster's summary in this version.
const LEAST_SUMMARY: usize = 24;
/// Fewest bytes of a cluster's columns: an empty list.
const LEAST_CLUSTER: usize = 12;
/// Fewest bytes of a column: an empty list, and the index of a suppressed column.
const LEAST_COLUMN: usize = 20;
/// Fewest bytes of a page.
const LEAST_PAGE: usize = 4 + LEAST_LOCATOR;
/// Bits of the number of entries in a cluster's summary; flags are above.
const ENTRY_BITS: u32 = 56;
/// The flag of a cluster that has only some of the columns.
const SHARDED: u64 = 1;
/// What ROOT writes as the index of a suppressed column. Any negative number means the same.
const SUPPRESSED: i64 = i64::MIN;

/// Reads the page list of a group.
///
/// # Errors
///
/// If it is damaged, belongs to another header or to another group, or has sharded clusters.
pub fn parse_page_list(envelope: &[u8], ntuple: &Ntuple, group: usize) -> Result<PageList> {
    let group = ntuple.groups.get(group).ok_or_else(|| Error::request(format!("there is no cluster group {group}")))?;
    let (mut r, _) = open_envelope(EnvelopeKind::PageList, envelope)?;
    check_header(&mut r, ntuple.header_checksum)?;
    let mut clusters = read_summaries(&mut r, group)?;
    let (n, mut list) = r.list(LEAST_CLUSTER)?;
    if n != clusters.len() {
        return Err(list.corrupt(format_args!("columns of {n} clusters, but there are {}", clusters.len())));
    }
    let alternatives = Alternatives::new(&ntuple.schema);
    let mut pages = Vec::new();
    for cluster in &mut clusters {
        cluster.columns = read_columns(&mut list, ntuple.schema.columns.len(), &mut pages)?;
        alternatives.resolve(cluster).map_err(|message| list.corrupt(message))?;
    }
    pages.shrink_to_fit();
    clusters.sort_by_key(|cluster| cluster.first_entry);
    check_entries(&r, &clusters, group)?;
    Ok(PageList { clusters, pages })
}

fn read_summaries(r: &mut Reader<'_>, group: &ClusterGroup) -> Result<Vec<Cluster>> {
    let (n, mut list) = r.list(LEAST_SUMMARY)?;
    if n as u64 != u64::from(group.clusters) {
        return Err(list.corrupt(format_args!("{n} clusters, but the footer says {}", group.clusters)));
    }
    let mut clusters = Vec::with_capacity(n);
    for _ in 0..n {
        let mut record = list.record()?;
        let (first_entry, word) = (record.u64()?, record.u64()?);
        if (word >> ENTRY_BITS) & SHARDED != 0 {
            return Err(Error::unsupported("the RNTuple has sharded clusters, a feature of a later format"));
        }
        let entries = word & ((1 << ENTRY_BITS) - 1);
        clusters.push(Cluster { first_entry, entries, columns: Vec::new() });
    }
    Ok(clusters)
}

/// Reads the columns of a cluster, at most `most`. Columns from the end of the list may be absent: those that were added
/// after the cluster was written.
fn read_columns(list: &mut Reader<'_>, most: usize, pages: &mut Vec<Page>) -> Result<Vec<ColumnRange>> {
    let (n, mut columns) = list.list(LEAST_COLUMN)?;
    if n > most {
        return Err(columns.corrupt(format_args!("a cluster with {n} columns, but the schema has {most}")));
    }
    let mut ranges = Vec::with_capacity(n);
    for _ in 0..n {
        let start = pages.len();
        let (n, mut list) = columns.list(LEAST_PAGE)?;
        for _ in 0..n {
            let elements = list.i32()?;
            let locator = read_locator(&mut list)?;
            pages.push(Page { elements: elements.unsigned_abs(), has_checksum: elements < 0, locator });
        }
        let first = list.i64()?;
        let (first_element, compression) = match u64::try_from(first) {
            Ok(first) => (first, Some(list.u32()?)),
            Err(_) if n == 0 => (0, None),
            Err(_) => return Err(list.corrupt(format_args!("a suppressed column with {n} pages"))),
        };
        ranges.push(ColumnRange { first_element, compression, pages: start..pages.len() });
    }
    Ok(ranges)
}

/// Checks that the clusters have all entries of the group, each once.
fn check_entries(r: &Reader<'_>, clusters: &[Cluster], group: &ClusterGroup) -> Result<()> {
    let mut next = group.first_entry;
    for Cluster { first_entry, entries, .. } in clusters {
        match first_entry.checked_add(*entries) {
            Some(end) if *first_entry == next => next = end,
            _ => {
                return Err(r.corrupt(format_args!(
                    "a cluster with {entries} entries from {first_entry} on, where {next} is next"
                )));
            }
        }
    }
    if next != group.first_entry.saturating_add(group.entries) {
        let ClusterGroup { first_entry, entries, .. } = group;
        return Err(r.corrupt(format_args!(
            "the clusters end at entry {next}, but the footer says {entries} from {first_entry} on"
        )));
    }
    Ok(())
}

/// The columns of fields with several representations.
struct Alternatives {
    /// For each such column of a field: the columns with the same place in all representations.
    columns: Vec<Vec<usize>>,
}

impl Alternatives {
    fn new(schema: &Schema) -> Self {
        let mut columns = Vec::new();
        for field in 0..schema.fields.len() {
            let ids = schema.columns_of(field);
            let width = ids.iter().filter(|&&id| schema.columns.get(id).is_some_and(|c| c.representation == 0)).count();
            if width < ids.len() {
                columns.extend((0..width).map(|place| ids.iter().skip(place).step_by(width).copied().collect()));
            }
        }
        Self { columns }
    }

    /// Checks that one representation has the data of the cluster, and gives the others its first element.
    fn resolve(&self, cluster: &mut Cluster) -> std::result::Result<(), String> {
        for columns in &self.columns {
            let mut present = columns.iter().filter_map(|&id| cluster.columns.get(id)).peekable();
            if present.peek().is_none() {
                continue;
            }
            let mut primary = present.filter(|range| range.compression.is_some());
            let (Some(range), None) = (primary.next(), primary.next()) else {
                return Err(format!("columns {columns:?} are representations of one field: not exactly one has data"));
            };
            let first_element = range.first_element;
            for &id in columns {
                if let Some(range) = cluster.columns.get_mut(id) {
                    range.first_element = first_element;
                }
            }
        }
        Ok(())
    }
}

/// The envelope of a page list, for a header with this checksum.
///
/// # Errors
///
/// If a page is not in a file, or if a list is too long for the format.
pub fn write_page_list(header_checksum: u64, list: &PageList) -> Result<Vec<u8>> {
    seal_envelope(EnvelopeKind::PageList, |w| {
        w.u64(header_checksum);
        w.list(&list.clusters, |w, cluster| {
            w.record(|w| {
                w.u64(cluster.first_entry);
                w.u64(cluster.entries);
                Ok(())
            })
        })?;
        w.list(&list.clusters, |w, cluster| {
            w.list(&cluster.columns, |w, range| {
                let pages = list.pages.get(range.pages.clone()).unwrap_or_default();
                w.list_with(pages.len(), |w| {
                    for page in pages {
                        let elements = page.elements.cast_signed();
                        w.i32(if page.has_checksum { elements.wrapping_neg() } else { elements });
                        write_locator(w, &page.locator)?;
                    }
                    match range.compression {
                        Some(compression) => {
                            w.i64(range.first_element.cast_signed());
                            w.u32(compression);
                        }
                        None => w.i64(SUPPRESSED),
                    }
                    Ok(())
                })
            })
        })
    })
}
