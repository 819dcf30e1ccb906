//! The elements of one column that are in no page yet.

use std::ops::Range;

use rootfile::Result;

use crate::ntuple::element::{ColumnType, Elements, Encoding, Kind};

/// The elements of a column that are in no page yet, within the cluster that is being filled.
#[derive(Debug)]
pub struct PendingColumn {
    encoding: Encoding,
    pub(super) elements: Elements,
    /// The items of the collections so far in this cluster; of variants, the values of each part.
    pub(super) counts: Vec<u64>,
}

impl PendingColumn {
    /// An empty column. With `double` its elements are those of a `double` field: floats of less precision may store them.
    pub(super) fn new(encoding: Encoding, double: bool, counts: usize) -> Self {
        let elements = match encoding.kind() {
            // Ends count from the start of the cluster.
            Kind::Index => Elements::U64(Vec::new()),
            kind => Elements::new(kind, double),
        };
        Self { encoding, elements, counts: vec![0; counts] }
    }

    /// Its encoding.
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// How many elements are in no page.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether all elements are in pages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of an element in memory: the limit of its pages counts these.
    pub fn element_size(&self) -> usize {
        self.elements.kind().memory_size()
    }

    /// Bytes of its memory.
    pub fn memory(&self) -> u64 {
        self.elements.capacity() as u64
    }

    /// Bytes that the pending elements take in pages before compression.
    pub fn raw_len(&self) -> u64 {
        self.encoding.page_len(self.len()).unwrap_or(0) as u64
    }

    /// Appends the bytes of a page with the elements `range` of the pending ones.
    ///
    /// # Errors
    ///
    /// If a value does not fit the encoding: an end of more than 32 bits, a number outside the range of a quantised column.
    pub fn encode(&self, range: Range<usize>, page: &mut Vec<u8>) -> Result<()> {
        self.elements.encode(&self.encoding, range, page)
    }

    /// Forgets the first elements, which are in pages now.
    pub fn forget(&mut self, elements: usize) {
        self.elements.forget(elements);
    }

    /// Begins another cluster. All elements must be in pages.
    pub fn start_cluster(&mut self) {
        self.counts.fill(0);
    }

    /// Frees its memory. All elements must be in pages.
    pub fn drop_memory(&mut self) {
        let double = matches!(self.elements, Elements::F64(_));
        let counts = std::mem::take(&mut self.counts);
        *self = Self { counts, ..Self::new(self.encoding, double, 0) };
    }

    /// Whether a column of this type keeps numbers of items or values.
    pub(super) fn counters(column_type: ColumnType, parts: usize) -> usize {
        match column_type {
            ColumnType::Switch => parts,
            column_type if column_type.is_index() => 1,
            _ => 0,
        }
    }
}
