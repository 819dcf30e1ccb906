//! Reads fields of an RNTuple, page by page, on the calling thread. For programs that need no more than that.

use std::ops::Range;

use arrow_array::ArrayRef;
use rootfile::codec::Decompressor;
use rootfile::{Error, Result, Source};

use super::blob::read_blob;
use super::decode::{ElementSource, FieldPlan};
use super::element::{Elements, Encoding};
use super::model::{Cluster, Locator, Ntuple, PageList};
use super::open::read_page_list;
use super::page::{CHECKSUM, Place};

/// Reads the entries `entries` of a field into an Arrow array of the type of the plan's [field](FieldPlan::field). Only
/// pages that have values of these entries are read.
///
/// # Errors
///
/// If a page list or a page cannot be read, or if the elements contradict the schema.
pub fn read_field(source: &dyn Source, ntuple: &Ntuple, plan: &FieldPlan, entries: Range<u64>) -> Result<ArrayRef> {
    let entries = entries.start..entries.end.min(ntuple.entries());
    let count = usize::try_from(entries.end.saturating_sub(entries.start)).unwrap_or(usize::MAX);
    let mut builder = plan.start(count)?;
    let mut before = 0usize;
    for (index, group) in ntuple.groups.iter().enumerate() {
        if group.first_entry < entries.end && entries.start < group.first_entry.saturating_add(group.entries) {
            let list = read_page_list(source, ntuple, index)?;
            for (number, cluster) in list.clusters.iter().enumerate() {
                let first = entries.start.max(cluster.first_entry);
                let last = entries.end.min(cluster.first_entry.saturating_add(cluster.entries));
                if first < last {
                    let range = first - cluster.first_entry..last - cluster.first_entry;
                    let mut pages = Pages::new(source, ntuple, plan, &list, cluster, before + number);
                    builder.append(&list, cluster, range, &mut pages).map_err(|e| e.file(source.name()))?;
                }
            }
        }
        before = before.saturating_add(group.clusters as usize);
    }
    if builder.len() != count {
        let message = format!("{} of {count} entries are in clusters", builder.len());
        return Err(Error::corrupt(message).object(ntuple.name.clone()).file(source.name()));
    }
    builder.finish().map_err(|e| e.file(source.name()))
}

/// The pages of a cluster.
struct Pages<'a> {
    source: &'a dyn Source,
    ntuple: &'a Ntuple,
    field: &'a str,
    list: &'a PageList,
    cluster: &'a Cluster,
    number: usize,
    decompressor: Decompressor,
    /// The page that was read last: column and number, and its bytes in the file. Ends before a range are often in its page.
    last: Option<(usize, usize, Vec<u8>)>,
    scratch: Vec<u8>,
}

impl<'a> Pages<'a> {
    fn new(
        source: &'a dyn Source,
        ntuple: &'a Ntuple,
        plan: &'a FieldPlan,
        list: &'a PageList,
        cluster: &'a Cluster,
        number: usize,
    ) -> Self {
        let (field, decompressor) = (plan.field().name().as_str(), Decompressor::new());
        Self { source, ntuple, field, list, cluster, number, decompressor, last: None, scratch: Vec::new() }
    }
}

impl ElementSource for Pages<'_> {
    fn decode(&mut self, column: usize, range: Range<u64>, out: &mut Elements) -> Result<()> {
        let pages = self.cluster.pages(self.list, column).unwrap_or_default();
        let described = self.ntuple.schema.columns.get(column);
        let described = described.ok_or_else(|| Error::request(format!("the schema has no column {column}")))?;
        let encoding = Encoding::new(described.column_type, described.bits, described.range)?;
        let mut first = 0u64;
        for (index, page) in pages.iter().enumerate() {
            let end = first.saturating_add(page.elements.into());
            let wanted = range.start.max(first)..range.end.min(end);
            if wanted.start < wanted.end {
                let place = Place { field: self.field, column, cluster: self.number, page: index };
                if !matches!(self.last, Some((c, p, _)) if c == column && p == index) {
                    let checksum = if page.has_checksum { CHECKSUM } else { 0 };
                    let locator = match page.locator {
                        Locator::File { offset, size } => Locator::File { offset, size: size.saturating_add(checksum) },
                        unknown @ Locator::Unknown { .. } => unknown,
                    };
                    let read = read_blob(self.source, &locator, self.ntuple.anchor.max_key_size);
                    self.last = Some((column, index, read.map_err(|e| place.blame(e))?));
                }
                let record = self.last.as_ref().map_or(&[][..], |(_, _, record)| record.as_slice());
                let opened = page.open(&encoding, record, &mut self.decompressor, &mut self.scratch);
                let within = |element: u64| usize::try_from(element - first).unwrap_or(usize::MAX);
                let decoded = opened.and_then(|bytes| {
                    out.decode(&encoding, bytes, page.elements as usize, within(wanted.start)..within(wanted.end))
                });
                decoded.map_err(|e| place.blame(e))?;
            }
            first = end;
        }
        Ok(())
    }
}
