//! An RNTuple on its way into its file: the header first, then pages, and at the end page lists, footer and anchor. Who brings the pages
//! does not matter.

use dataset::ntuple::model::{AttributeSet, Ntuple};
use dataset::ntuple::{envelope_checksum, write_anchor, write_footer, write_header};
use rootfile::codec::{Compression, Compressor};
use rootfile::{DirId, FileWriter, Result};

use super::page_sink::{GroupRule, PageSink, put_block};

/// The class of an anchor.
pub(crate) const ANCHOR: &str = "ROOT::RNTuple";

/// An RNTuple that is being written.
pub(crate) struct OpenNtuple {
    /// Its metadata, as far as they are written.
    pub ntuple: Ntuple,
    pub sink: PageSink,
    compression: Compression,
    compressor: Compressor,
}

impl OpenNtuple {
    /// Writes the header. `counted` are the columns whose elements are counted: see [`PageSink::new`].
    pub fn begin(
        file: &mut FileWriter,
        mut ntuple: Ntuple,
        compression: Compression,
        (counted, groups): (Vec<Option<usize>>, GroupRule),
    ) -> Result<Self> {
        let mut compressor = Compressor::new();
        let header = write_header(&ntuple)?;
        ntuple.header_checksum = envelope_checksum(&header);
        ntuple.anchor.header = put_block(file, &header, compression, &mut compressor)?;
        let sink = PageSink::new(ntuple.header_checksum, compression, counted, groups);
        Ok(Self { ntuple, sink, compression, compressor })
    }

    /// Links an attribute set, all of which but its anchor is written.
    pub fn link(
        &mut self,
        file: &mut FileWriter,
        (name, schema_version): (String, (u16, u16)),
        set: &Self,
    ) -> Result<()> {
        let anchor = put_block(file, &set.anchor()?, Compression::NONE, &mut self.compressor)?;
        self.ntuple.attribute_sets.push(AttributeSet { name, schema_version, anchor });
        Ok(())
    }

    /// Writes the last page list, and the footer for what was written so far: with an anchor the file is complete.
    pub fn update(&mut self, file: &mut FileWriter) -> Result<()> {
        self.sink.end_group_here(file)?;
        self.ntuple.groups.clone_from(&self.sink.written.groups);
        let footer = write_footer(&self.ntuple)?;
        self.ntuple.anchor.footer = put_block(file, &footer, self.compression, &mut self.compressor)?;
        Ok(())
    }

    /// The bytes of the anchor.
    pub fn anchor(&self) -> Result<Vec<u8>> {
        write_anchor(&self.ntuple.anchor)
    }

    /// Writes the anchor under a name and a title. As in ROOT, it is not compressed.
    pub fn write_anchor(&self, file: &mut FileWriter, directory: DirId, name: &str, title: &str) -> Result<()> {
        file.write_object(directory, (ANCHOR, name, title), Compression::NONE, |_| self.anchor()).map(drop)
    }
}
