//! Writes an RNTuple: header, pages, page lists, attribute sets, footer and anchor.

use dataset::layout::Container;
use rootfile::codec::Compression;
use rootfile::{DirId, FileWriter, Result};

use super::prepared::PlannedTree;
use super::summary::TableSummary;
use crate::commit::open_ntuple::OpenNtuple;
use crate::commit::page_sink::GroupRule;
use crate::execute::budget::Share;
use crate::execute::engine::pages::run_pages;
use crate::execute::progress::Progress;
use crate::plan::ntuple::model::{AttributePlan, NtuplePlan};
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
    let WrittenContent { open, tot_bytes, zip_bytes, depths } =
        write_content(writer, plan, share, compression, progress)?;
    open.write_anchor(writer, directory, (&place.name, &title))?;
    let written = &open.sink.written;
    Ok(TableSummary {
        path: place.path.clone(),
        container: Container::Rntuple,
        input_entries,
        entries: written.entries,
        clusters: written.clusters,
        baskets: written.pages,
        tot_bytes,
        zip_bytes,
        depths,
    })
}

/// An RNTuple all of which but its anchor is written. Bytes and depths are those of its attribute sets as well.
pub(crate) struct WrittenContent {
    pub open: OpenNtuple,
    pub tot_bytes: u64,
    pub zip_bytes: u64,
    pub depths: Depths,
}

/// Writes all but the anchor.
pub(crate) fn write_content(
    writer: &mut FileWriter,
    plan: NtuplePlan,
    share: Share,
    compression: Compression,
    progress: Progress<'_>,
) -> Result<WrittenContent> {
    let counting = (plan.job.counted(), GroupRule::of(plan.job.group_clusters));
    let mut open = OpenNtuple::begin(writer, plan.ntuple, compression, counting)?;
    let mut depths = run_pages(&plan.job, (&mut *writer, &mut open.sink), share, progress)?;
    drop(plan.job);
    let (mut tot_bytes, mut zip_bytes) = (open.sink.written.tot_bytes, open.sink.written.zip_bytes);
    write_attributes(writer, plan.attributes, (share, compression, progress), |writer, set, content| {
        open.link(writer, set, &content.open)?;
        tot_bytes += content.tot_bytes;
        zip_bytes += content.zip_bytes;
        depths = depths + content.depths;
        Ok(())
    })?;
    open.update(writer)?;
    Ok(WrittenContent { open, tot_bytes, zip_bytes, depths })
}

/// Writes all but the anchors of attribute sets. `link` links each, by its name and version, to its RNTuple.
pub(crate) fn write_attributes(
    writer: &mut FileWriter,
    sets: Vec<AttributePlan>,
    (share, compression, progress): (Share, Compression, Progress<'_>),
    mut link: impl FnMut(&mut FileWriter, (String, (u16, u16)), WrittenContent) -> Result<()>,
) -> Result<()> {
    for set in sets {
        let content = write_content(writer, set.plan, share, compression, progress)
            .map_err(|e| e.object(format!("attributes {}", set.name)))?;
        link(writer, (set.name, set.schema_version), content)?;
    }
    Ok(())
}
