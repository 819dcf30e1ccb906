//! Moves the pages of an RNTuple: writes header, pages, page lists, attribute sets, footer and anchor.

use dataset::layout::Container;
use dataset::ntuple::model::{Link, Locator};
use dataset::ntuple::{read_ntuple, read_page_list};
use dataset::tree::{KEPT_CLASS, KEPT_TITLE, kept_name, write_kept};
use rootfile::codec::Compression;
use rootfile::{BIG_KEY_ROOM, FileWriter, Key, Result, RootFile, Run};

use super::output_table::{OutputTable, TableMemory, TableOutput, Writing};
use super::summary::TableSummary;
use crate::commit::ntuple::open_ntuple::OpenNtuple;
use crate::commit::ntuple::page_sink::GroupRule;
use crate::commit::tree::{finalize, user_info};
use crate::execute::budget::Share;
use crate::execute::engine::ntuple::run_pages;
use crate::plan::forecast::Forecast;
use crate::plan::ntuple::forecast::forecast_ntuple;
use crate::plan::ntuple::model::{AttributePlan, NtuplePlan};
use crate::plan::tree::kept::Kept;
use crate::table::depth::Depths;

/// The class of the records of an RNTuple's blocks.
const BLOB: &str = "RBlob";

impl OutputTable for NtuplePlan {
    fn memory(&self, _check: bool) -> TableMemory {
        TableMemory { metadata: self.metadata, kept: 0, scratch: self.scratch }
    }

    fn ntuple(&self) -> Option<&NtuplePlan> {
        Some(self)
    }

    fn into_ntuple(self: Box<Self>) -> Option<Box<NtuplePlan>> {
        Some(self)
    }

    fn forecast(&self, path: &str, _: Share, seconds: f64) -> Result<Forecast> {
        forecast_ntuple(self, path, seconds)
    }

    /// Writes the RNTuple with its attribute sets and the key of its anchor.
    fn write(
        mut self: Box<Self>,
        output: &mut TableOutput<'_>,
        how: &Writing<'_>,
    ) -> Result<(TableSummary, Vec<String>)> {
        let TableOutput { writer, directory, place } = output;
        let (input_entries, title) = (self.input_entries, std::mem::take(&mut self.title));
        let WrittenContent { open, depths } = write_content(writer, *self, how)?;
        open.write_anchor(writer, *directory, &place.name, &title)?;
        let summary = summary(&open, place.path.clone(), input_entries, depths);
        Ok((summary, Vec::new()))
    }
}

/// What is told of an RNTuple that is written.
pub(crate) fn summary(open: &OpenNtuple, path: String, input_entries: u64, depths: Depths) -> TableSummary {
    let written = &open.sink.written;
    TableSummary {
        path,
        container: Container::Rntuple,
        input_entries,
        entries: written.entries,
        clusters: written.clusters,
        baskets: written.pages,
        tot_bytes: written.tot_bytes,
        zip_bytes: written.zip_bytes,
        key_bytes: 0,
        checksum_bytes: written.checksum_bytes,
        depths,
        ..TableSummary::default()
    }
}

/// An RNTuple all of which but its anchor is written. Depths are those of its attribute sets as well.
pub(crate) struct WrittenContent {
    pub open: OpenNtuple,
    pub depths: Depths,
}

/// Writes all but the anchor.
fn write_content(writer: &mut FileWriter, mut plan: NtuplePlan, how: &Writing<'_>) -> Result<WrittenContent> {
    let is_it = |name| plan.job.inputs.iter().position(|input| input.source.name() == name);
    plan.job.stays = how.stays.and_then(is_it);
    let counting = (plan.job.counted(), GroupRule::of(plan.job.group_clusters));
    let mut open = OpenNtuple::begin(writer, plan.ntuple, how.compression, counting)?;
    let mut depths = run_pages(&plan.job, (&mut *writer, &mut open.sink), how.share, how.progress)?;
    drop(plan.job);
    write_attributes(writer, plan.attributes, how, |writer, set, content| {
        open.link(writer, set, &content.open)?;
        depths = depths + content.depths;
        Ok(())
    })?;
    open.update(writer)?;
    Ok(WrittenContent { open, depths })
}

/// Writes all but the anchors of attribute sets. `link` links each, by its name and version, to its RNTuple.
pub(crate) fn write_attributes(
    writer: &mut FileWriter,
    sets: Vec<AttributePlan>,
    how: &Writing<'_>,
    mut link: impl FnMut(&mut FileWriter, (String, (u16, u16)), WrittenContent) -> Result<()>,
) -> Result<()> {
    for set in sets {
        let content = write_content(writer, set.plan, how).map_err(|e| e.object(format!("attributes {}", set.name)))?;
        link(writer, (set.name, set.schema_version), content)?;
    }
    Ok(())
}

/// Writes the list beside an RNTuple with what is kept of its tree. Returns notes on what is lost.
pub(super) fn write_kept_list(
    output: &mut TableOutput<'_>,
    mut kept: Kept,
    compression: Compression,
) -> Result<Vec<String>> {
    let TableOutput { writer, directory, place } = output;
    let tree = &mut kept.tree.tree;
    let lost = user_info::copy_trees(tree, &place.path, &*kept.source, writer, *directory)?;
    finalize::add_own_infos(writer, tree);
    let name = kept_name(&place.name);
    let labels = (KEPT_CLASS, name.as_str(), KEPT_TITLE);
    writer.write_object(*directory, labels, compression, |keylen| write_kept(&kept.tree, keylen))?;
    Ok(Vec::from_iter(lost))
}

/// The records with the content of an RNTuple in a file. Attribute sets are not among them.
pub(super) fn content(file: &RootFile, key: &Key) -> Result<Vec<Run>> {
    let ntuple = read_ntuple(file, key)?;
    let mut blocks = vec![ntuple.anchor.header, ntuple.anchor.footer];
    blocks.extend(ntuple.groups.iter().map(|group| group.page_list));
    let place = |link: &Link| match link.locator {
        Locator::File { offset, size } => Some(Run { first: offset, len: size }),
        Locator::Unknown { .. } => None,
    };
    let mut extents: Vec<Run> = blocks.iter().filter_map(place).collect();
    for group in 0..ntuple.groups.len() {
        let list = read_page_list(&**file.source(), &ntuple, group)?;
        let places = list.pages.iter().filter_map(|page| page.extent().ok());
        extents.extend(places.map(|(first, len)| Run { first, len }));
    }
    extents.sort_unstable();
    extents.dedup();
    Ok(neighbours(extents).into_iter().filter_map(|extent| blob(file, extent)).collect())
}

/// Joins what lies side by side.
fn neighbours(extents: Vec<Run>) -> Vec<Run> {
    let mut joined: Vec<Run> = Vec::new();
    for extent in extents {
        match joined.last_mut() {
            Some(last) if last.end() == extent.first => last.len += extent.len,
            _ => joined.push(extent),
        }
    }
    joined
}

/// The record of a block, or of several pages side by side, if these are all that is in it.
fn blob(file: &RootFile, Run { first, len }: Run) -> Option<Run> {
    let short = Key::new(BLOB, "", "", 0, 0).header_len() as u64;
    [short, short + BIG_KEY_ROOM].into_iter().find_map(|keylen| {
        let key = file.key_at(first.checked_sub(keylen)?).ok()?;
        let is_it = key.class == BLOB && u64::from(key.keylen) == keylen && u64::from(key.nbytes) == keylen + len;
        is_it.then(|| Run::of(&key))
    })
}
