//! A table of the output that grows: what trees and RNTuples have in common while parts are appended to them.

use rootfile::codec::Compression;
use rootfile::{FileWriter, Result};

use crate::rewrite::output_table::{OutputTable, TableOutput, Writing};
use crate::rewrite::summary::TableSummary;

/// Class, name and title of the key of a table, and whether its record is compressed.
pub(super) struct Labels {
    pub class: String,
    pub title: String,
    pub is_compressed: bool,
}

/// A table to which the tables of parts are appended.
pub(super) trait GrowingTable: Send {
    /// Whether the table of a part can follow as it is.
    fn fits(&self, more: &dyn OutputTable) -> bool;

    /// Appends the table of a part that [`fits`](Self::fits).
    fn append(&mut self, more: Box<dyn OutputTable>, output: &mut TableOutput<'_>, how: &Writing<'_>) -> Result<()>;

    /// Entries so far.
    fn entries(&self) -> u64;

    /// Brings the metadata up to here, for an AutoSave. [`record`](Self::record) makes their record.
    fn update(&mut self, writer: &mut FileWriter) -> Result<Labels>;

    /// The record of the table behind a key of this length.
    fn record(&self, keylen: usize) -> Result<Vec<u8>>;

    /// Writes the end of the table. Returns its report, and notes on what is lost.
    fn finish(
        self: Box<Self>,
        output: &mut TableOutput<'_>,
        compression: Compression,
    ) -> Result<(TableSummary, Vec<String>)>;
}
