//! The values of some entries of one column, on the calling thread: for comparisons, which deal out their own tasks.

use std::ops::Range;

use arrow_array::ArrayRef;
use dataset::EntrySet;
use dataset::table::FileRange;
use dataset::table::piece::Piece;
use rootfile::{Error, Result};

use super::dataset::{Dataset, ReadColumn};
use super::request::RequestedEntries;
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::table::piece::Files;

impl Dataset {
    /// The values of some entries of a column; of those of a set, if there is one. `files` are those of the data set.
    pub(crate) fn values(
        &self,
        column: usize,
        (entries, set): (&Range<u64>, Option<&EntrySet>),
        files: &Files,
        fetcher: &mut Fetcher,
    ) -> Result<ArrayRef> {
        let read = self.own_column(column).ok_or_else(|| Error::request("no such column"))?;
        let requested = RequestedEntries::new(entries, set);
        let mut values = read.plan.start(0, 0)?;
        for piece in wanted(&read, &requested) {
            read.append(piece, &requested, files, fetcher, &mut values)?;
        }
        values.finish()
    }

    /// Where their bytes are, in the order of reading.
    pub(crate) fn ranges(&self, column: usize, (entries, set): (&Range<u64>, Option<&EntrySet>)) -> Vec<FileRange> {
        let Some(read) = self.own_column(column) else { return Vec::new() };
        let requested = RequestedEntries::new(entries, set);
        wanted(&read, &requested).flat_map(|piece| read.ranges(piece, &requested)).collect()
    }

    fn own_column(&self, column: usize) -> Option<ReadColumn<'_>> {
        self.read_column(self.column(column)?.node())
    }
}

/// The pieces with some of the entries.
fn wanted<'a>(read: &ReadColumn<'a>, requested: &RequestedEntries<'a>) -> impl Iterator<Item = &'a Piece> {
    let (pieces, requested) = (read.column.source.pieces_with(&requested.span()), *requested);
    pieces.iter().filter(move |piece| requested.count(&(piece.first_entry..piece.end())) > 0)
}
