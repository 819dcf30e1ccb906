//! Writes an RNTuple: header, pages, page lists, attribute sets, footer and anchor.

use dataset::layout::Container;
use dataset::ntuple::model::{Anchor, AttributeSet};
use dataset::ntuple::{envelope_checksum, write_anchor, write_footer, write_header};
use rootfile::codec::{Compression, Compressor};
use rootfile::{DirId, FileWriter, Result};

use super::prepared::PlannedTree;
use super::summary::TableSummary;
use crate::commit::page_sink::{PageSink, WrittenPages, put_block};
use crate::execute::budget::Share;
use crate::execute::engine::pages::run_pages;
use crate::execute::progress::Progress;
use crate::plan::ntuple::model::NtuplePlan;
use crate::table::depth::Depths;

/// Writes an RNTuple with its attribute sets and the key of its anchor.
pub(crate) fn write_ntuple(
    writer: &mut FileWriter,
    (place, directory): (&PlannedTree, DirId),
    mut plan: NtuplePlan,
    share: Share,
    compression: Compression,
    progress: Progress<'_>,
) -> Result<TableSummary> {
    let (input_entries, title) = (plan.input_entries, std::mem::take(&mut plan.title));
    let (anchor, written, depths) = write_content(writer, plan, share, compression, progress)?;
    let labels = ("ROOT::RNTuple", place.name.as_str(), title.as_str());
    // As in ROOT, the anchor is not compressed.
    writer.write_object(directory, labels, Compression::NONE, |_| write_anchor(&anchor))?;
    Ok(TableSummary {
        path: place.path.clone(),
        container: Container::Rntuple,
        input_entries,
        entries: written.entries,
        clusters: written.clusters,
        baskets: written.pages,
        tot_bytes: written.tot_bytes,
        zip_bytes: written.zip_bytes,
        depths,
    })
}

/// Writes all but the anchor, which is returned.
pub(crate) fn write_content(
    writer: &mut FileWriter,
    plan: NtuplePlan,
    share: Share,
    compression: Compression,
    progress: Progress<'_>,
) -> Result<(Anchor, WrittenPages, Depths)> {
    let mut compressor = Compressor::new();
    let mut ntuple = plan.ntuple;
    let header = write_header(&ntuple)?;
    ntuple.header_checksum = envelope_checksum(&header);
    ntuple.anchor.header = put_block(writer, &header, compression, &mut compressor)?;
    drop(header);
    let sink = PageSink::new(ntuple.header_checksum, compression, plan.job.counted())
        .with_clusters_in_group(plan.job.group_clusters);
    let (mut written, mut depths) = run_pages(&plan.job, (&mut *writer, sink), share, progress)?;
    drop(plan.job);
    ntuple.groups = std::mem::take(&mut written.groups);
    for set in plan.attributes {
        let (anchor, of_set, depths_of_set) = write_content(writer, set.plan, share, compression, progress)
            .map_err(|e| e.object(format!("attributes {}", set.name)))?;
        let anchor = put_block(writer, &write_anchor(&anchor)?, Compression::NONE, &mut compressor)?;
        ntuple.attribute_sets.push(AttributeSet { name: set.name, schema_version: set.schema_version, anchor });
        written.tot_bytes += of_set.tot_bytes;
        written.zip_bytes += of_set.zip_bytes;
        depths = depths + depths_of_set;
    }
    let footer = write_footer(&ntuple)?;
    ntuple.anchor.footer = put_block(writer, &footer, compression, &mut compressor)?;
    Ok((ntuple.anchor, written, depths))
}
