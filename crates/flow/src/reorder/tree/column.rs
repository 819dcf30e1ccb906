//! Reorders one column: its entries are loaded in their order, as many as there is memory for, and go into the scratch file in the order of
//! the output. If not all are loaded at once, the runs that this gives are merged.

use dataset::table::piece::Piece;
use std::ops::Range;

use rootfile::{Error, Result};

use super::baskets::RowBaskets;
use super::rows::{LoadedRun, Rows, RunMerge};
use super::sources::{SourceMerge, Windows};
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::execute::order::Order;
use crate::execute::progress::{Progress, tell};
use crate::execute::scratch_file::ScratchFile;
use crate::table::piece::Files;
use crate::table::target::Shape;
use crate::table::tree::column::{Column, EntryForm};
use crate::table::tree::source::ColumnSource;

/// The size of baskets of runs that are merged: one of each is in memory.
const RUN_BASKET: Shape = Shape::Size(64 << 10);

/// Memory of a thread besides the entries that it has loaded: baskets that are made, rows that are gathered, and codecs.
pub(super) const BESIDE: u64 = 4 << 20;

/// What all columns are reordered by.
pub(super) struct ColumnJob<'a> {
    pub order: &'a Order,
    /// Bounds of the clusters of the output.
    pub bounds: &'a [u64],
    /// The files of the plan, behind which the scratch file has its number.
    pub files: &'a Files,
    pub scratch: &'a ScratchFile,
    /// The scratch file as files of its own.
    pub scratch_files: &'a Files,
    /// What is added to the process identifiers of each file.
    pub pid_offsets: &'a [u16],
    /// Memory for the entries of a column.
    pub room: u64,
    pub progress: Progress<'a>,
}

impl ColumnJob<'_> {
    /// The pieces of a column in the scratch file, in the order of the output.
    pub fn reorder(&self, column: &Column) -> Result<Vec<Piece>> {
        if column.source.pieces.is_empty() && column.source.fill.is_none() {
            return Ok(Vec::new());
        }
        self.reordered(column).map_err(|e| named(e, column))
    }

    fn reordered(&self, column: &Column) -> Result<Vec<Piece>> {
        let moved = in_scratch(column);
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let (mut fetcher, mut at) = (Fetcher::new(), 0);
        let pid_offset = |file: u32| self.pid_offsets.get(file as usize).copied().unwrap_or(0);
        let mut load = |at: &mut usize| LoadedRun::load(self.files, column, at, self.room, &pid_offset, &mut fetcher);
        let out = RowBaskets::new(&moved, column.target.shape, number, self.scratch);
        let (rows, all) = (0..self.order.rows(), column.source.pieces.len());
        if all == 0 {
            return self.clusters(&mut RunMerge::new(self.scratch_files, &[]), rows, out);
        }
        let mut run = load(&mut at)?;
        if at >= all {
            return self.clusters(&mut run, rows, out);
        }
        let mut runs = vec![(run.entries().clone(), self.run(&moved, &mut run)?)];
        while at < all {
            // One at a time.
            drop(run);
            run = load(&mut at)?;
            runs.push((run.entries().clone(), self.run(&moved, &mut run)?));
        }
        drop(run);
        self.clusters(&mut RunMerge::new(self.scratch_files, &runs), rows, out)
    }

    /// Merges some rows of a column from sources that are read from their first entries to their last, which end at `ends`. The pieces are
    /// those that [`reorder`](Self::reorder) makes of these rows.
    pub fn merge(&self, merged: &mut MergedColumn, ends: &[u64], rows: Range<u64>) -> Result<Vec<Piece>> {
        let MergedColumn { column, moved, windows } = merged;
        if column.source.pieces.is_empty() && column.source.fill.is_none() {
            return Ok(Vec::new());
        }
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let out = RowBaskets::new(moved, column.target.shape, number, self.scratch).starting_at(rows.start);
        let mut sources = SourceMerge {
            files: self.files,
            column,
            ends,
            pid_offsets: self.pid_offsets,
            windows,
            fetcher: Fetcher::new(),
        };
        self.clusters(&mut sources, rows, out).map_err(|e| named(e, column))
    }

    /// Puts the rows of a run into the scratch file, in the order of the output.
    fn run(&self, moved: &Column, run: &mut LoadedRun) -> Result<Column> {
        let mut out = RowBaskets::new(moved, RUN_BASKET, 0, self.scratch);
        let mut here = Vec::new();
        let entries = run.entries().clone();
        self.order.each_block(|_, rows| {
            tell(self.progress, 0)?;
            here.clear();
            here.extend(rows.iter().copied().filter(|entry| entry.is_some_and(|entry| entries.contains(&entry))));
            out.add(run, &here)
        })?;
        let mut column = in_scratch(moved);
        column.source.pieces = out.finish()?;
        Ok(column)
    }

    /// Puts some rows, from the first of a cluster on, into the scratch file, in baskets that end where clusters do.
    fn clusters(&self, rows: &mut impl Rows, of: Range<u64>, mut out: RowBaskets<'_>) -> Result<Vec<Piece>> {
        let from = self.bounds.partition_point(|bound| *bound <= of.start);
        let mut bounds = self.bounds.get(from..).unwrap_or_default().iter().copied().peekable();
        self.order.each_block_of(of, |first, entries| {
            tell(self.progress, 0)?;
            let (mut at, mut left) = (first, entries);
            while !left.is_empty() {
                while bounds.next_if(|bound| *bound <= at).is_some() {}
                let end = bounds.peek().copied().unwrap_or(u64::MAX);
                let here = usize::try_from(end - at).unwrap_or(usize::MAX).min(left.len());
                let (cluster, rest) = left.split_at(here);
                out.add(rows, cluster)?;
                (at, left) = (at + here as u64, rest);
                if at == end {
                    out.close()?;
                }
            }
            Ok(())
        })?;
        out.finish()
    }
}

/// A column whose sources are merged.
pub(super) struct MergedColumn {
    column: Column,
    /// The same without entries, in the form of the scratch file.
    moved: Column,
    windows: Windows,
}

impl MergedColumn {
    /// A column of sources that end at `ends`.
    pub fn new(column: Column, ends: &[u64]) -> Self {
        Self { moved: in_scratch(&column), windows: Windows::new(&column, ends), column }
    }
}

/// An error that names its branch.
fn named(error: Error, column: &Column) -> Error {
    if error.subject().is_some() { error } else { error.object(format!("branch {}", column.name)) }
}

/// A column without entries in the form of the scratch file. Its baskets are those of the output, unless these may leave out the offsets of
/// entries.
fn in_scratch(column: &Column) -> Column {
    let mut moved = column.only_source();
    moved.source = ColumnSource { fill: column.source.fill.clone(), ..ColumnSource::default() };
    let io_bits = if column.form.counted.is_some() { 0 } else { column.form.io_bits };
    moved.form = EntryForm {
        io_bits,
        has_offsets: column.form.has_offsets,
        has_tags: column.form.has_tags,
        ..EntryForm::default()
    };
    moved
}
