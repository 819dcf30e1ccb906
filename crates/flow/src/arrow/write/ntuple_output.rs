//! An RNTuple that is being written: its header first, then clusters, and at the end page lists, footer and anchor.

use dataset::layout::Container;
use dataset::ntuple::model::{AttributeSet, Ntuple};
use dataset::ntuple::{envelope_checksum, write_anchor, write_footer, write_header};
use rootfile::codec::{Compression, Compressor};
use rootfile::{DirId, FileWriter, Result};

use super::ntuple_plan::NtuplePlan;
use super::written::WrittenTable;
use crate::commit::page_sink::{PageSink, put_block};
use crate::table::made_pages::ColumnPages;

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
}

impl OpenNtuple {
    /// Writes its header.
    pub fn new(file: &mut FileWriter, plan: &NtuplePlan, mut ntuple: Ntuple) -> Result<Self> {
        let (compression, mut compressor) = (plan.compression, Compressor::new());
        let header = write_header(&ntuple)?;
        ntuple.header_checksum = envelope_checksum(&header);
        ntuple.anchor.header = put_block(file, &header, compression, &mut compressor)?;
        let counted = (0..ntuple.schema.columns.len()).map(Some).collect();
        let sink = PageSink::new(ntuple.header_checksum, compression, counted)
            .with_groups_of(plan.group_bytes)
            .with_clusters_in_group(plan.group_clusters);
        Ok(Self { ntuple, sink, compression, compressor, entries: 0 })
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
            self.sink.append_made(file, (self.entries, entries), columns)?;
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
