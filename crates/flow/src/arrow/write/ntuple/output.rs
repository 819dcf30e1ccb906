//! An RNTuple that is being written: how a cluster is appended, and which columns are in the header and which, added later, in the
//! footer.

use std::sync::Arc;

use dataset::layout::Container;
use dataset::ntuple::model::{Deferred, Ntuple, Schema};
use rootfile::codec::Compression;
use rootfile::{DirId, FileWriter, Result};

use super::plan::NtuplePlan;
use crate::arrow::write::format::{Content, OpenTable};
use crate::arrow::write::written::WrittenTable;
use crate::commit::ntuple::open_ntuple::{ANCHOR, OpenNtuple};
use crate::execute::encode::scratch::EncodeScratchPool;
use crate::table::ntuple::made_pages::ColumnPages;
use crate::table::ntuple::pages::ZeroColumn;

/// An RNTuple that is being written.
pub(crate) struct NtupleOutput {
    open: OpenNtuple,
    /// Entries so far.
    entries: u64,
    /// Columns of the header.
    early: usize,
    /// The columns behind those, for clusters that were filled without them.
    late: Vec<ZeroColumn>,
}

impl Content for Vec<ColumnPages> {
    fn buffers(&mut self) -> Vec<&mut Vec<u8>> {
        self.iter_mut().map(|column| &mut column.bytes).collect()
    }
}

impl NtupleOutput {
    /// Links an attribute set: see [`OpenNtuple::link`].
    pub fn link(&mut self, file: &mut FileWriter, set: (String, (u16, u16)), content: &OpenNtuple) -> Result<()> {
        self.open.link(file, set, content)
    }
}

impl OpenTable for NtupleOutput {
    type Plan = NtuplePlan;
    type Record = Ntuple;
    type Content = Vec<ColumnPages>;

    /// Writes its header.
    fn begin(file: &mut FileWriter, _: DirId, plan: Arc<NtuplePlan>, ntuple: Ntuple) -> Result<Self> {
        let early = ntuple.schema.columns.len();
        let counted = (0..early).map(Some).collect();
        let open = OpenNtuple::begin(file, ntuple, plan.compression, (counted, plan.groups))?;
        Ok(Self { open, entries: 0, early, late: Vec::new() })
    }

    /// The pages of clusters so far are listed without the new columns: elements before the first stored one are zero, and lists that
    /// are not stored are empty.
    fn extend(&mut self, _: &mut FileWriter, plan: Arc<NtuplePlan>, _: Ntuple, _: &EncodeScratchPool) -> Result<()> {
        let mut schema = Schema::clone(&plan.schema);
        let mut first_elements = Vec::new();
        for (id, (column, rules)) in schema.columns.iter_mut().zip(&plan.rules).enumerate() {
            if let Some(old) = self.open.ntuple.schema.columns.get(id) {
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
        self.open.sink.add_columns(first_elements.into_iter());
        self.open.ntuple.schema = Arc::new(schema);
        Ok(())
    }

    fn append(
        &mut self,
        file: &mut FileWriter,
        (entries, columns): (u64, &mut Vec<ColumnPages>),
        _: &EncodeScratchPool,
    ) -> Result<()> {
        if entries > 0 {
            let absent = self.late.get(columns.len().saturating_sub(self.early)..).unwrap_or_default();
            self.open.sink.append_made(file, (self.entries, entries), (columns, absent))?;
            self.entries += entries;
        }
        Ok(())
    }

    fn entries(&self) -> u64 {
        self.entries
    }

    fn update(&mut self, file: &mut FileWriter) -> Result<()> {
        self.open.update(file)
    }

    fn labels(&self) -> (&str, &str, &str) {
        (ANCHOR, &self.open.ntuple.name, &self.open.ntuple.description)
    }

    fn record(&self, _: usize) -> Result<Vec<u8>> {
        self.open.anchor()
    }

    fn finish(mut self, file: &mut FileWriter, directory: DirId, _: Compression) -> Result<WrittenTable> {
        self.open.update(file)?;
        let Ntuple { name, description, .. } = &self.open.ntuple;
        self.open.write_anchor(file, directory, name, description)?;
        let written = &self.open.sink.written;
        Ok(WrittenTable {
            name: name.clone(),
            container: Container::Rntuple,
            entries: self.entries,
            clusters: written.clusters,
            baskets: written.pages,
            tot_bytes: written.tot_bytes,
            zip_bytes: written.zip_bytes,
            key_bytes: 0,
            checksum_bytes: written.checksum_bytes,
        })
    }
}
