//! How large files are, and whether they are whole as far as metadata tell: what a plan of many files divides them by. Parquet files have
//! only metadata that are read to open them.

use std::path::PathBuf;

use rootfile::Result;

use super::check::{CheckOptions, CheckedFile, Condition, check};
use crate::Budget;
use crate::arrow::read::Dataset;
use crate::execute::progress::Progress;
use crate::execute::workers::Workers;
use crate::plan::format::Format;
use crate::plan::inputs::Input;

/// The size of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSize {
    /// Its bytes.
    pub bytes: u64,
    /// Entries of its largest table.
    pub entries: u64,
}

/// The sizes of files, in their order; of a file that is not whole the reason.
///
/// # Errors
///
/// Some files are Parquet files and others are not, or the work is ended.
pub fn sizes(
    paths: &[PathBuf],
    budget: Budget,
    progress: Progress<'_>,
) -> Result<Vec<std::result::Result<FileSize, String>>> {
    if Format::are_parquet(paths.iter().map(PathBuf::as_path))? {
        let workers = Workers::new("the sizes of files", budget.threads, progress).in_order();
        return workers.results(paths.len(), |number| {
            let inputs = paths.get(number).map(|path| Input { path: path.clone(), tree: None });
            let opened = Dataset::of_whole_parquet(inputs.as_slice(), budget.memory);
            Ok(opened.map(|dataset| of_parquet(&dataset)).map_err(|e| e.message(ToString::to_string)))
        });
    }
    let options = CheckOptions { budget, ..CheckOptions::default() };
    Ok(check(paths, &options, progress)?.files.iter().map(of_checked).collect())
}

fn of_parquet(dataset: &Dataset) -> FileSize {
    FileSize { bytes: dataset.files().iter().map(|file| file.size()).sum(), entries: dataset.entries() }
}

fn of_checked(file: &CheckedFile) -> std::result::Result<FileSize, String> {
    match file.condition {
        Condition::Ok => {
            let entries = file.tables.iter().map(|table| table.entries).max().unwrap_or(0);
            Ok(FileSize { bytes: file.bytes, entries })
        }
        _ => Err(file.problems.first().map_or_else(String::new, ToString::to_string)),
    }
}
