//! Reads fields of an RNTuple, page by page, on the calling thread. For programs that need no more than that.

use std::ops::Range;

use arrow_array::ArrayRef;
use rootfile::{Error, RangeBuffer, RangeReader, Result, Source};

use super::cluster_reader::ClusterSource;
use super::decode::FieldPlan;
use super::model::Ntuple;
use super::open::read_page_list;
use crate::codecs::Codecs;

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
    let (mut buffer, mut codecs) = (RangeBuffer::default(), Codecs::new());
    let mut before = 0usize;
    for (index, group) in ntuple.groups.iter().enumerate() {
        if group.first_entry < entries.end && entries.start < group.first_entry.saturating_add(group.entries) {
            let list = read_page_list(source, ntuple, index)?;
            for (number, cluster) in list.clusters.iter().enumerate() {
                let first = entries.start.max(cluster.first_entry);
                let last = entries.end.min(cluster.first_entry.saturating_add(cluster.entries));
                if first < last {
                    let range = first - cluster.first_entry..last - cluster.first_entry;
                    let at = ClusterSource {
                        file: 0,
                        schema: &ntuple.schema,
                        max_key_size: ntuple.anchor.max_key_size,
                        list: &list,
                        cluster,
                        number: before + number,
                    };
                    let bytes = &mut RangeReader::of(source, &mut buffer);
                    at.append(plan, &mut std::iter::once(range), (bytes, &mut codecs), &mut builder)?;
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
