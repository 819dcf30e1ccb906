//! Finished pages of an RNTuple in memory, and the outline of the cluster that they belong to. Their positions in the file are not
//! known yet.

use dataset::ntuple::element::Encoding;
use dataset::ntuple::model::ColumnRange;
use dataset::ntuple::zero_page;
use rootfile::{Error, Result};

/// Bytes of a page of zeroes before compression.
const ZERO_PAGE: u64 = 64 << 10;

/// Pages, one after the other, of one cluster. The first batch of a cluster brings its outline.
#[derive(Debug, Default)]
pub(crate) struct PageBatch {
    /// The cluster that begins here.
    pub outline: Option<Box<ClusterOutline>>,
    /// The bytes of the pages, each with its checksum if it has one.
    pub bytes: Vec<u8>,
    /// The pages.
    pub records: Vec<PageRecord>,
}

/// One page of a [`PageBatch`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRecord {
    /// Its number among the stored pages of the cluster.
    pub number: u32,
    /// The number by which later pages share it.
    pub shared: Option<u32>,
    /// Its offset in the batch.
    pub offset: usize,
    /// Where it stays in a file that is updated in place; the batch has no bytes of it then.
    pub stays: Option<u64>,
    /// Its bytes without the checksum.
    pub len: usize,
    /// Whether a checksum follows.
    pub has_checksum: bool,
}

/// A cluster before its pages have positions.
#[derive(Debug)]
pub(crate) struct ClusterOutline {
    /// Its first entry in the output.
    pub first_entry: u64,
    /// How many entries.
    pub entries: u64,
    /// Its columns, with ranges of `pages`.
    pub columns: Vec<ColumnRange>,
    /// All pages.
    pub pages: Vec<OutlinePage>,
    /// How many pages are stored for this cluster: numbers in records are below.
    pub stored: u32,
    /// Bytes before compression of the pages that are stored for this cluster.
    pub raw_bytes: u64,
    /// Whether a cluster group begins here.
    pub begins_group: bool,
}

/// A page of an outline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutlinePage {
    /// How many elements.
    pub elements: u32,
    /// Where its bytes come from.
    pub bytes: PageBytes,
}

/// Where the bytes of a page come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PageBytes {
    /// The stored page of this number.
    Stored(u32),
    /// A page that was stored before, by its number among the shared ones.
    Shared(u32),
    /// Zeroes, which are stored once for all pages of their size.
    Zeros(Encoding),
}

/// A column that a cluster was made without: its elements there are zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ZeroColumn {
    pub encoding: Encoding,
    /// How many elements an entry has. Without it, as many as lists have items, and these are empty.
    pub per_entry: Option<u64>,
    /// The compression setting.
    pub compression: u32,
}

impl ClusterOutline {
    /// Adds a column of zeroes behind the others.
    pub fn add_zero_column(&mut self, column: &ZeroColumn) -> Result<()> {
        let start = self.pages.len();
        self.add_zeros(&column.encoding, column.per_entry.map_or(0, |each| each.saturating_mul(self.entries)))?;
        let (pages, compression) = (start..self.pages.len(), Some(column.compression));
        self.columns.push(ColumnRange { first_element: 0, compression, pages });
        Ok(())
    }

    /// Adds pages of zeroes.
    pub fn add_zeros(&mut self, encoding: &Encoding, mut zeros: u64) -> Result<()> {
        if zeros == 0 {
            return Ok(());
        }
        zero_page(encoding, 1)?;
        let most = (ZERO_PAGE * 8 / u64::from(encoding.bits().max(1))).max(1);
        if zeros / most > 1 << 20 {
            return Err(Error::unsupported(format!("a cluster with {zeros} values that are not stored")));
        }
        while zeros > 0 {
            let elements = zeros.min(most);
            zeros -= elements;
            let elements = u32::try_from(elements).unwrap_or(u32::MAX);
            self.pages.push(OutlinePage { elements, bytes: PageBytes::Zeros(*encoding) });
        }
        Ok(())
    }

    /// Bytes in memory.
    pub fn memory(&self) -> u64 {
        (self.columns.capacity() * size_of::<ColumnRange>() + self.pages.capacity() * size_of::<OutlinePage>()) as u64
    }
}
