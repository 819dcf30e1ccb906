//! A copy of some entries of a file, in a temporary folder: what takes too long with all of them is tried with these. Which layout the copy
//! gets is not decided here.

use std::ops::Range;
use std::path::PathBuf;

use dataset::glob::TreePattern;
use dataset::layout::Layout;
use dataset::{Entries, EntryFilter};
use flow::{Budget, unwatched};
use rootfile::{Error, Result, ScratchFolder};

use super::options::Options;
use crate::cost::column::TreeStats;
use crate::cost::statistics::FileStats;
use crate::math::as_f64;
use crate::system::clock::process_seconds;

/// A copy of a file, or of a part of one of its tables.
pub(super) struct CopiedPart {
    pub path: PathBuf,
    /// The share of that table's entries.
    pub share: f64,
    /// CPU seconds that it took.
    pub seconds: f64,
    _folder: ScratchFolder,
}

impl CopiedPart {
    /// Writes a file in a layout, with about this share of the entries of one table, from their middle. Its other tables are whole, and
    /// objects that are no tables are carried over.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or not be written in this layout.
    pub fn new(stats: &FileStats, options: &Options, layout: Layout, table: &TreeStats, share: f64) -> Result<Self> {
        let input = stats.file.name();
        let folder = ScratchFolder::new()?;
        let name = input.file_name().ok_or_else(|| Error::request("is not a file name").file(input))?;
        let path = folder.path().join(name);
        let mut content = options.content();
        let mut copied = 1.0;
        if share < 1.0 {
            let entries = middle(table.entries, share);
            copied = as_f64(entries.end - entries.start) / table.entries.max(1.0);
            let of_table = (Some(TreePattern::exact(&table.path)), Entries::from(entries));
            content.entries = EntryFilter { entries: vec![of_table], ..EntryFilter::default() };
        }
        let budget = Budget::new(options.memory, 1);
        let request = flow::Options { layout, content, budget, ..flow::Options::default() };
        let start = process_seconds();
        flow::rewrite(&[input.to_path_buf()], &path, &request, &unwatched)?;
        Ok(Self { path, share: copied, seconds: process_seconds() - start, _folder: folder })
    }
}

/// About this share of the entries, from the middle.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers of entries")]
fn middle(entries: f64, share: f64) -> Range<u64> {
    let (count, all) = ((entries * share).ceil().max(1.0) as u64, entries as u64);
    let start = all.saturating_sub(count) / 2;
    start..(start + count).min(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_lies_in_the_middle() {
        assert_eq!((middle(100.0, 0.1), middle(3.0, 0.01), middle(0.0, 0.5)), (45..55, 1..2, 0..0));
    }
}
