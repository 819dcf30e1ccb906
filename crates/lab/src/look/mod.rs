//! Looking into files: [`listing`] names the objects of files, [`rows`] reads the first entries of a table, [`extract`] puts
//! them into a Parquet file, [`schema`] says which
//! columns it has, [`count`] how many entries, [`statistics`] what the values of its columns are, [`draw`] makes histograms of expressions. Histograms
//! of files are read as they are. Nothing is measured and nothing is decided; what is printed is the caller's.

mod accumulate;
mod arrow_names;
mod asked_columns;
pub mod cell;
pub mod count;
mod distinct;
pub mod draw;
pub mod extract;
pub mod listing;
pub mod root_list;
pub mod rows;
pub mod schema;
pub mod statistics;

use dataset::near::no_such_entries;
use flow::Entries;
use flow::read::Dataset;
pub use objects::{Histogram, HistogramAxis};
use rootfile::Result;

/// Fails for entries that a table does not have.
fn check_entries(dataset: &Dataset, entries: &Entries) -> Result<()> {
    match entries.should_select(dataset.entries()) {
        true => Ok(()),
        false => Err(no_such_entries("entries", entries, [(dataset.path(), dataset.entries())])),
    }
}
