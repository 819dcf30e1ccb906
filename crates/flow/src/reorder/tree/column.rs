//! Reorders one column: its entries are loaded in their order, as many as there is memory for, and go into the scratch file in the order of
//! the output. If not all are loaded at once, the runs that this gives are merged.

use dataset::table::piece::Piece;
use rootfile::Result;

use super::baskets::RowBaskets;
use super::rows::{LoadedRun, Rows, RunMerge};
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
        if column.source.pieces.is_empty() {
            return Ok(Vec::new());
        }
        self.reordered(column)
            .map_err(|e| if e.subject().is_some() { e } else { e.object(format!("branch {}", column.name)) })
    }

    fn reordered(&self, column: &Column) -> Result<Vec<Piece>> {
        let moved = in_scratch(column);
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let (mut fetcher, mut at) = (Fetcher::new(), 0);
        let pid_offset = |file: u32| self.pid_offsets.get(file as usize).copied().unwrap_or(0);
        let mut load = |at: &mut usize| LoadedRun::load((self.files, column), at, self.room, &pid_offset, &mut fetcher);
        let out = RowBaskets::new(&moved, column.target.shape, (number, self.scratch));
        let all = column.source.pieces.len();
        let mut run = load(&mut at)?;
        if at >= all {
            return self.clusters(&mut run, out);
        }
        let mut runs = vec![(run.entries().clone(), self.run(&moved, &mut run)?)];
        while at < all {
            // One at a time.
            drop(run);
            run = load(&mut at)?;
            runs.push((run.entries().clone(), self.run(&moved, &mut run)?));
        }
        drop(run);
        self.clusters(&mut RunMerge::new(self.scratch_files, &runs), out)
    }

    /// Puts the rows of a run into the scratch file, in the order of the output.
    fn run(&self, moved: &Column, run: &mut LoadedRun) -> Result<Column> {
        let mut out = RowBaskets::new(moved, RUN_BASKET, (0, self.scratch));
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

    /// Puts all rows into the scratch file, in baskets that end where clusters do.
    fn clusters(&self, rows: &mut impl Rows, mut out: RowBaskets<'_>) -> Result<Vec<Piece>> {
        let mut bounds = self.bounds.iter().copied().peekable();
        self.order.each_block(|first, entries| {
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
