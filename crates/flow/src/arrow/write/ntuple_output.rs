//! An RNTuple that is being written: its header first, then clusters, and at the end page lists, footer and anchor. Columns that are
//! added after the header are in the footer.

use dataset::layout::Container;
use dataset::ntuple::model::{AttributeSet, Deferred, Ntuple, Schema};
use dataset::ntuple::{envelope_checksum, write_anchor, write_footer, write_header};
use rootfile::codec::{Compression, Compressor};
use rootfile::{DirId, FileWriter, Result};

use super::ntuple_plan::NtuplePlan;
use super::written::WrittenTable;
use crate::commit::page_sink::{PageSink, put_block};
use crate::table::made_pages::ColumnPages;
use crate::table::pages::ZeroColumn;

/// The class of an anchor.
const ANCHOR: &str = "ROOT::RNTuple";

/// An RNTuple that is being written.
pub(crate) struct OpenNtuple {
    ntuple: Ntuple,
    sink: PageSink,
    compression: Compression,
    compressor: Compressor,
    /// Entries so far.
    entries: u64,
    /// Columns of the header.
    early: usize,
    /// The columns behind those, for clusters that were filled without them.
    late: Vec<ZeroColumn>,
}

impl OpenNtuple {
    /// Writes its header.
    pub fn new(file: &mut FileWriter, plan: &NtuplePlan, mut ntuple: Ntuple) -> Result<Self> {
        let (compression, mut compressor) = (plan.compression, Compressor::new());
        let header = write_header(&ntuple)?;
        ntuple.header_checksum = envelope_checksum(&header);
        ntuple.anchor.header = put_block(file, &header, compression, &mut compressor)?;
        let early = ntuple.schema.columns.len();
        let counted = (0..early).map(Some).collect();
        let sink = PageSink::new(ntuple.header_checksum, compression, counted)
            .with_groups_of(plan.group_bytes)
            .with_clusters_in_group(plan.group_clusters);
        Ok(Self { ntuple, sink, compression, compressor, entries: 0, early, late: Vec::new() })
    }

    /// Adds fields: the columns behind those so far begin with the next entry. The pages of clusters so far are listed without them:
    /// elements before the first stored one are zero, and lists that are not stored are empty.
    pub fn extend(&mut self, plan: &NtuplePlan) -> Result<()> {
        let mut schema = Schema::clone(&plan.schema);
        let mut first_elements = Vec::new();
        for (id, (column, rules)) in schema.columns.iter_mut().zip(&plan.rules).enumerate() {
            if let Some(old) = self.ntuple.schema.columns.get(id) {
                column.first_element = old.first_element;
                continue;
            }
            let per_entry = plan.schema.elements_per_entry(id);
            let first_element = per_entry.unwrap_or(0).saturating_mul(self.entries);
            let deferred = Deferred { first_element, suppressed: false };
            column.first_element = Some(deferred).filter(|deferred| deferred.first_element > 0);
            first_elements.push(first_element);
            let compression = u32::try_from(rules.compression.to_root_setting()).unwrap_or(0);
            self.late.push(ZeroColumn { encoding: column.encoding()?, per_entry, compression });
        }
        self.sink.add_columns(first_elements.into_iter());
        self.ntuple.schema = std::sync::Arc::new(schema);
        Ok(())
    }

    /// Links an attribute set that was written.
    pub fn link(&mut self, set: AttributeSet) {
        self.ntuple.attribute_sets.push(set);
    }

    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Appends a cluster.
    pub fn append(&mut self, file: &mut FileWriter, entries: u64, columns: &[ColumnPages]) -> Result<()> {
        if entries > 0 {
            let absent = self.late.get(columns.len().saturating_sub(self.early)..).unwrap_or_default();
            self.sink.append_made(file, (self.entries, entries), (columns, absent))?;
            self.entries += entries;
        }
        Ok(())
    }

    /// Writes page list and footer for what was written so far: the metadata of a file that is complete.
    pub fn update(&mut self, file: &mut FileWriter) -> Result<()> {
        self.sink.end_group_here(file)?;
        self.ntuple.groups.clone_from(&self.sink.written.groups);
        let footer = write_footer(&self.ntuple)?;
        self.ntuple.anchor.footer = put_block(file, &footer, self.compression, &mut self.compressor)?;
        Ok(())
    }

    /// Class, name and title of its key.
    pub fn labels(&self) -> (&str, &str, &str) {
        (ANCHOR, &self.ntuple.name, &self.ntuple.description)
    }

    /// The anchor.
    pub fn record(&self) -> Result<Vec<u8>> {
        write_anchor(&self.ntuple.anchor)
    }

    /// Writes page list, footer and anchor.
    pub fn finish(mut self, file: &mut FileWriter, directory: DirId) -> Result<WrittenTable> {
        self.update(file)?;
        // As in ROOT, the anchor is not compressed.
        file.write_object(directory, self.labels(), Compression::NONE, |_| self.record())?;
        let written = &self.sink.written;
        Ok(WrittenTable {
            name: self.ntuple.name.clone(),
            container: Container::Rntuple,
            entries: self.entries,
            clusters: written.clusters,
            baskets: written.pages,
            tot_bytes: written.tot_bytes,
            zip_bytes: written.zip_bytes,
        })
    }
}
