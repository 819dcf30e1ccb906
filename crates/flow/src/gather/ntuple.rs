//! An RNTuple that grows: the pages of each part move into the output, behind one header.

use rootfile::codec::Compression;
use rootfile::{Error, FileWriter, Result};

use super::growing::{GrowingTable, Labels};
use crate::commit::ntuple::open_ntuple::{ANCHOR, OpenNtuple};
use crate::commit::ntuple::page_sink::GroupRule;
use crate::execute::engine::ntuple::{Running, append_pages};
use crate::plan::ntuple::model::NtuplePlan;
use crate::rewrite::ntuple::summary;
use crate::rewrite::output_table::{OutputTable, TableOutput, Writing};
use crate::rewrite::summary::TableSummary;

/// Memory for the page lists of a cluster group.
const LISTS: u64 = 8 << 20;

/// An RNTuple that grows.
pub(super) struct GrowingNtuple {
    open: OpenNtuple,
    running: Running,
    title: String,
    input_entries: u64,
}

/// Whether other RNTuples can follow one. Columns that were added late, attributes and values that are not stored are joined at the end
/// alone.
pub(super) fn can_grow(plan: &NtuplePlan) -> bool {
    let early = plan.ntuple.schema.columns.iter().all(|column| column.first_element.is_none() && !column.in_extension);
    early
        && plan.attributes.is_empty()
        && plan.uncounted.is_none()
        && plan.job.selected.is_none()
        && plan.ntuple.features.iter().all(|word| *word == 0)
}

impl GrowingNtuple {
    /// Begins with the RNTuple of a part.
    pub fn begin(mut plan: NtuplePlan, output: &mut TableOutput<'_>, how: &Writing<'_>) -> Result<Self> {
        let groups = GroupRule::of(plan.job.group_clusters).within(LISTS);
        let ntuple = plan.ntuple.clone();
        let open = OpenNtuple::begin(output.writer, ntuple, how.compression, (plan.job.counted(), groups))?;
        let running = Running::new(plan.job.columns.len());
        let mut begun = Self { open, running, title: std::mem::take(&mut plan.title), input_entries: 0 };
        begun.move_pages(plan, output.writer, how)?;
        Ok(begun)
    }

    fn move_pages(&mut self, mut plan: NtuplePlan, writer: &mut FileWriter, how: &Writing<'_>) -> Result<()> {
        // Page lists are as long as they may be, and not one for each part.
        plan.job.keeps_groups = false;
        self.input_entries += plan.input_entries;
        append_pages(&plan.job, writer, &mut self.open.sink, &mut self.running, how.share, how.progress)
    }
}

impl GrowingTable for GrowingNtuple {
    fn fits(&self, more: &dyn OutputTable) -> bool {
        let Some(more) = more.ntuple() else { return false };
        let (mine, theirs) = (&self.open.ntuple, &more.ntuple);
        can_grow(more)
            && mine.schema == theirs.schema
            && mine.description == theirs.description
            && mine.anchor.version == theirs.anchor.version
    }

    fn append(&mut self, more: Box<dyn OutputTable>, output: &mut TableOutput<'_>, how: &Writing<'_>) -> Result<()> {
        let more = more.into_ntuple().ok_or_else(|| Error::request("a table of another container"))?;
        self.move_pages(*more, output.writer, how)
    }

    fn entries(&self) -> u64 {
        self.running.entries
    }

    fn update(&mut self, writer: &mut FileWriter) -> Result<Labels> {
        self.open.update(writer)?;
        Ok(Labels { class: ANCHOR.to_owned(), title: self.title.clone(), is_compressed: false })
    }

    fn record(&self, _: usize) -> Result<Vec<u8>> {
        self.open.anchor()
    }

    fn finish(
        mut self: Box<Self>,
        output: &mut TableOutput<'_>,
        _: Compression,
    ) -> Result<(TableSummary, Vec<String>)> {
        let TableOutput { writer, directory, place } = output;
        self.open.update(writer)?;
        self.open.write_anchor(writer, *directory, &place.name, &self.title)?;
        let summary = summary(&self.open, place.path.clone(), self.input_entries, self.running.depths);
        Ok((summary, Vec::new()))
    }
}
