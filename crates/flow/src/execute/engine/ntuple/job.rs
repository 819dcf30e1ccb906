//! The work of one rewrite of an RNTuple: its columns, and where each input has their elements.

use std::sync::Arc;

use dataset::EntrySet;
use dataset::ntuple::decode::FieldPlan;
use dataset::ntuple::element::Encoding;
use dataset::ntuple::model::{Column, Ntuple};
use rootfile::codec::Compression;
use rootfile::{Result, Source};

use crate::table::depth::Depth;

/// The compression of columns without pages, where no other column has one: ROOT's default.
pub(super) const USUAL_COMPRESSION: u32 = 505;

/// The work of the engine on one RNTuple.
#[derive(Clone)]
pub(crate) struct PageJob {
    /// The inputs, in order.
    pub inputs: Vec<PageInput>,
    /// The columns of the output, by physical ID.
    pub columns: Vec<TargetColumn>,
    /// The entries that are kept, if not all.
    pub selected: Option<Arc<EntrySet>>,
    /// Whether copied pages are decompressed, to check them.
    pub check: bool,
    /// Whether the output has the cluster groups of the input. Otherwise a group takes as many clusters as fit, or as requested.
    pub keeps_groups: bool,
    /// The input that is updated in place: its pages stay where they are.
    pub stays: Option<usize>,
    /// The most clusters of a group, if requested.
    pub group_clusters: Option<u32>,
}

/// One input.
#[derive(Clone)]
pub(crate) struct PageInput {
    /// Its bytes.
    pub source: Arc<dyn Source>,
    /// Its metadata.
    pub ntuple: Arc<Ntuple>,
    /// For each column of the output, where the input has its elements.
    pub columns: Arc<[ColumnSource]>,
    /// Its first entry among those of all inputs.
    pub first_entry: u64,
    /// What is added to the elements of columns that count entries.
    pub entries_before: u64,
    /// The fields that are kept, projected ones included: their clusters are proved before their pages are moved.
    pub plans: Arc<[FieldPlan]>,
}

/// Where an input has the elements of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnSource {
    /// In the column with this physical ID.
    Column(usize),
    /// In the column with this physical ID, in an encoding that the output does not have.
    Recoded(usize),
    /// The input has no such field.
    Missing,
    /// The input has no such field, but the collection that it is a member of: each so many elements of the column are for so many
    /// that are missing.
    Counted { column: usize, each: u64, missing: u64 },
    /// The input has the field, but not in this representation.
    OtherRepresentation,
}

impl ColumnSource {
    /// The physical ID of the column with the elements.
    pub fn column(self) -> Option<usize> {
        match self {
            Self::Column(id) | Self::Recoded(id) => Some(id),
            Self::Missing | Self::Counted { .. } | Self::OtherRepresentation => None,
        }
    }
}

/// A column of the output.
#[derive(Clone, Debug)]
pub(crate) struct TargetColumn {
    /// How its elements are encoded. None for types of later versions, whose pages are only copied.
    pub encoding: Option<Encoding>,
    /// The requested compression.
    pub compression: Option<Compression>,
    /// How many elements an entry has. None if the number varies.
    pub per_entry: Option<u64>,
    /// The column of the field's first representation that has the same elements: itself, or a column before.
    pub primary: usize,
    /// The column of the next representation with the same elements.
    pub next: Option<usize>,
    /// The first input that has the column's field. In inputs before the column does not exist yet, and in later ones it exists
    /// in all clusters.
    pub origin: usize,
    /// Whether its elements count entries of another RNTuple.
    pub counts_entries: bool,
}

impl TargetColumn {
    /// The depth at which pages with this compression are written, and the compression that they get.
    pub fn depth(&self, setting: u32, source: ColumnSource, input: &PageInput) -> (Depth, Compression) {
        let own = i32::try_from(setting).ok().and_then(Compression::from_root_setting);
        let requested = self.compression.or(own).unwrap_or(Compression::NONE);
        match self.encoding {
            None => (Depth::Copy, own.unwrap_or(Compression::NONE)),
            Some(_) if matches!(source, ColumnSource::Recoded(_)) => (Depth::Recode, requested),
            Some(_) if self.counts_entries && input.entries_before > 0 => (Depth::Recode, requested),
            Some(_) if own == Some(requested) => (Depth::Copy, requested),
            Some(_) => (Depth::Recompress, requested),
        }
    }
}

impl PageJob {
    /// The same work on other sources of the inputs' bytes.
    pub fn with_sources(&self, sources: &[Arc<dyn Source>]) -> Self {
        let mut job = self.clone();
        job.inputs.iter_mut().zip(sources).for_each(|(input, source)| input.source = Arc::clone(source));
        job
    }

    /// For each column whose elements have to be counted in the output, since some entries of clusters are kept, the column of the
    /// first representation.
    pub fn counted(&self) -> Vec<Option<usize>> {
        let counted = |column: &TargetColumn| column.per_entry.is_none().then_some(column.primary);
        if self.selected.is_some() { self.columns.iter().map(counted).collect() } else { Vec::new() }
    }

    /// How pages of a column are compressed that no input has.
    pub fn compression_of_zeros(&self, column: &TargetColumn, usual: u32) -> u32 {
        column.compression.map_or(usual, |compression| compression.to_root_setting().unsigned_abs())
    }
}

impl PageInput {
    /// The column of the schema with this ID.
    pub fn column(&self, id: usize) -> Option<&Column> {
        self.ntuple.schema.columns.get(id)
    }

    /// The path of a column's field.
    pub fn path_of(&self, column: usize) -> String {
        self.column(column).map_or_else(String::new, |column| self.ntuple.schema.path(column.field))
    }

    /// Reads a page list.
    pub fn page_list(&self, group: usize) -> Result<dataset::ntuple::model::PageList> {
        dataset::ntuple::read_page_list(&*self.source, &self.ntuple, group)
    }
}
