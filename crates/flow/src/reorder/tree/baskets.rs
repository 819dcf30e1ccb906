//! Baskets of rows in the scratch file: rows are gathered from wherever they are, and cut into baskets as the output has them. The
//! baskets are not compressed.

use dataset::layout::BasketCutter;
use dataset::table::piece::{Piece, Record, Stored};
use dataset::tree::basket::{BasketData, BasketPlace, Entries, place};
use rootfile::codec::{Compression, Compressor};
use rootfile::{Error, Result};

use super::rows::Rows;
use crate::execute::encode::tree::basket_builder::BasketBuilder;
use crate::execute::scratch_file::ScratchFile;
use crate::table::target::Shape;
use crate::table::tree::chunk::Chunk;
use crate::table::tree::column::Column;

/// Rows are gathered until they have about so many bytes.
const GATHERED: usize = 1 << 18;
/// Baskets are put into the scratch file when they have so many bytes.
const PUT: usize = 1 << 20;

/// Makes the baskets of a column.
pub(super) struct RowBaskets<'a> {
    column: &'a Column,
    /// The number of the scratch file among the files of the plan.
    file: u32,
    scratch: &'a ScratchFile,
    /// The bytes of a row that is no entry.
    default: Option<&'a [u8]>,
    cutter: BasketCutter,
    builder: BasketBuilder,
    chunk: Chunk,
    compressor: Compressor,
    gathered: Gathered,
    /// The process identifiers of the basket that is filled.
    pid: u16,
    /// The next row.
    row: u64,
    pieces: Vec<Piece>,
}

/// Rows one behind the other, of one process.
#[derive(Default)]
struct Gathered {
    data: Vec<u8>,
    /// Where each ends, behind a zero.
    ends: Vec<u32>,
    /// Where each was first written, for class tags.
    origins: Vec<u32>,
    pid: Option<u16>,
    rows: usize,
}

impl<'a> RowBaskets<'a> {
    /// Baskets in this shape. The column is in the form of the scratch file.
    pub fn new(column: &'a Column, shape: Shape, file: u32, scratch: &'a ScratchFile) -> Self {
        let (size, per_cluster) = match shape {
            Shape::Keep(size) | Shape::Size(size) => (size, false),
            Shape::PerCluster => (u32::MAX, true),
        };
        let keylen = u32::try_from(column.keylen()).unwrap_or(u32::MAX);
        let mut builder = BasketBuilder::default();
        builder.set_header(column.basket_header(), false);
        builder.start(0);
        Self {
            column,
            file,
            scratch,
            default: column.source.fill.as_deref(),
            cutter: BasketCutter::new(size, keylen, column.form.has_offsets, per_cluster),
            builder,
            chunk: Chunk::default(),
            compressor: Compressor::new(),
            gathered: Gathered::default(),
            pid: 0,
            row: 0,
            pieces: Vec::new(),
        }
    }

    /// The same where the first row has this number.
    pub fn starting_at(mut self, row: u64) -> Self {
        self.row = row;
        self.builder.start(row);
        self
    }

    /// Adds rows.
    pub fn add(&mut self, rows: &mut impl Rows, mut entries: &[Option<u64>]) -> Result<()> {
        while !entries.is_empty() {
            let taken = self.gathered.gather(self.column, rows, self.default, entries)?;
            entries = entries.get(taken..).unwrap_or_default();
            self.take_gathered()?;
        }
        Ok(())
    }

    /// Cuts what is gathered into baskets.
    fn take_gathered(&mut self) -> Result<()> {
        // Defaults refer to nothing.
        let pid = self.gathered.pid.unwrap_or(self.pid);
        if pid != self.pid {
            self.close()?;
            self.pid = pid;
        }
        let data = self.gathered.as_basket(self.column);
        let count = data.count as usize;
        let mut at = 0;
        while at < count {
            let (taken, full) = self.builder.take(self.column, &data, at..count, &mut self.cutter)?;
            at += taken;
            self.row += taken as u64;
            if full {
                self.close()?;
            }
        }
        self.gathered.reuse(data);
        Ok(())
    }

    /// Ends the basket that is filled: a cluster ends here.
    pub fn close(&mut self) -> Result<()> {
        self.cutter.close();
        if !self.builder.is_empty() {
            let first = self.builder.first_entry();
            let mut header = self.builder.finish(self.column)?;
            header.key.pid_offset = self.pid;
            let payload = self.builder.payload();
            self.chunk.put(header, payload, (0, first), Compression::NONE, &mut self.compressor)?;
            if self.chunk.bytes.len() >= PUT {
                self.put()?;
            }
        }
        self.builder.start(self.row);
        Ok(())
    }

    /// Puts finished baskets into the scratch file.
    fn put(&mut self) -> Result<()> {
        let start = self.scratch.reserve(self.chunk.bytes.len() as u64);
        for record in self.chunk.records.drain(..) {
            let seek = start + record.offset as u64;
            let bytes = self.chunk.bytes.get_mut(record.offset..).unwrap_or_default();
            place(bytes, BasketPlace { seek, seek_pdir: 0, pid_offset: record.pid_offset }, record.big)?;
            let stored = Stored::Record(Record { file: self.file, offset: seek, len: record.nbytes });
            self.pieces.push(Piece { first_entry: record.first_entry, entries: record.entries, stored });
        }
        self.scratch.put(start, &self.chunk.bytes)?;
        self.chunk.bytes.clear();
        Ok(())
    }

    /// The pieces of all rows.
    pub fn finish(mut self) -> Result<Vec<Piece>> {
        self.close()?;
        self.put()?;
        Ok(self.pieces)
    }
}

impl Gathered {
    /// Gathers rows as long as they are of one process and of one length, if that is fixed, and not too many. Returns their number.
    fn gather(
        &mut self,
        column: &Column,
        rows: &mut impl Rows,
        default: Option<&[u8]>,
        entries: &[Option<u64>],
    ) -> Result<usize> {
        let varies = column.form.has_offsets;
        self.ends.push(0);
        for (number, entry) in entries.iter().enumerate() {
            let (bytes, origin, pid) = match entry {
                Some(entry) => {
                    let (basket, place) = rows.find(*entry)?;
                    let bytes = basket.range(place).and_then(|range| basket.data.get(range)).ok_or_else(outside)?;
                    (bytes, if column.form.has_tags { basket.origin(place) } else { 0 }, Some(basket.pid_offset))
                }
                None => (default.ok_or_else(|| no_default(column))?, 0, self.pid),
            };
            let is_other = !varies && self.ends.get(1).is_some_and(|len| *len as usize != bytes.len());
            let is_of_other = self.pid.is_some() && pid != self.pid;
            let is_full =
                self.data.len() >= GATHERED || self.data.len().saturating_add(bytes.len()) > u32::MAX as usize;
            if number > 0 && (is_other || is_of_other || is_full) {
                return Ok(number);
            }
            self.pid = pid;
            self.data.extend_from_slice(bytes);
            if varies || number == 0 {
                self.ends.push(u32::try_from(self.data.len()).map_err(|_| outside())?);
            }
            if column.form.has_tags {
                self.origins.push(origin);
            }
            if let Some(entry) = entry {
                rows.take(*entry);
            }
            self.rows += 1;
        }
        Ok(entries.len())
    }

    /// What is gathered, as a basket.
    fn as_basket(&mut self, column: &Column) -> BasketData {
        let ends = std::mem::take(&mut self.ends);
        let fixed = ends.get(1).copied().unwrap_or(0);
        let (count, entries) = match column.form.has_offsets {
            true => (ends.len().saturating_sub(1), Entries::Offsets(ends)),
            false => (self.rows, Entries::Fixed(fixed)),
        };
        BasketData {
            count: u32::try_from(count).unwrap_or(u32::MAX),
            keylen: 0,
            pid_offset: 0,
            data: std::mem::take(&mut self.data).into(),
            entries,
            displacement: column.form.has_tags.then(|| std::mem::take(&mut self.origins)),
        }
    }

    /// Takes the buffers of a basket back.
    fn reuse(&mut self, basket: BasketData) {
        self.data = basket.data.into_buffer();
        self.data.clear();
        if let Entries::Offsets(ends) = basket.entries {
            self.ends = ends;
        }
        self.ends.clear();
        self.origins = basket.displacement.unwrap_or_default();
        self.origins.clear();
        (self.pid, self.rows) = (None, 0);
    }
}

#[cold]
fn outside() -> Error {
    Error::corrupt("entry boundaries lie outside their basket")
}

#[cold]
fn no_default(column: &Column) -> Error {
    Error::unsupported("a row is no entry, and there is no default").object(format!("branch {}", column.name))
}
