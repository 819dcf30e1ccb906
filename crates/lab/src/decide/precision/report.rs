//! The report of `precision` as plain values (`docs/precision-schema.md`).

use std::path::PathBuf;

use dataset::layout::Container;
use serde::Serialize;

use super::facts::Repeated;
use super::limits::Limit;

/// Version of the report's JSON form (`docs/precision-schema.md`).
pub const SCHEMA: u32 = 1;

/// The report of `precision`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of this form.
    pub schema: u32,
    /// The files.
    pub files: Vec<PathBuf>,
    /// Bytes on disk of all columns, those of other numbers as well.
    pub stored: u64,
    /// Bytes on disk of the columns of floating-point numbers.
    pub floats: u64,
    /// Bytes on disk of all columns in the proposed encodings, as expected from samples.
    pub expected: u64,
    /// The tables, in the order of the file.
    pub tables: Vec<TableReport>,
    /// The layout with the proposed encodings, as TOML. None if none is proposed.
    pub layout: Option<String>,
    /// Commands that apply the layout to the first file, and prove its errors.
    pub commands: Vec<String>,
    /// Notes.
    pub notes: Vec<String>,
}

/// A table.
#[derive(Clone, Debug, Serialize)]
pub struct TableReport {
    /// Its path.
    pub path: String,
    /// Its container.
    pub container: Container,
    /// Its entries.
    pub entries: u64,
    /// Its columns of floating-point numbers, the largest first.
    pub columns: Vec<ColumnReport>,
}

/// A column of floating-point numbers.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnReport {
    /// Its name, as rules of a layout have it.
    pub name: String,
    /// Its type.
    pub typename: String,
    /// Bytes on disk.
    pub stored: u64,
    /// Numbers in it.
    pub values: u64,
    /// The least of its ordinary numbers: those that are finite and not kept.
    pub least: Option<f64>,
    /// The largest of its ordinary numbers.
    pub most: Option<f64>,
    /// The mean of its ordinary numbers.
    pub mean: Option<f64>,
    /// The standard deviation of its ordinary numbers.
    pub width: Option<f64>,
    /// Values that stand for "no number", which every proposed encoding keeps: those that stand apart from the others and repeat. Of a
    /// column with few values all.
    pub kept: Vec<Repeated>,
    /// How many are none (NaN). They stay none.
    pub nans: u64,
    /// How many are infinite. They stay infinite.
    pub infinite: u64,
    /// Bits of mantissa that its numbers use; of a float 23, of a double 52, or fewer if the last ones are zero in all numbers.
    pub mantissa: u32,
    /// How its precision is reduced in the file already; then nothing is tried.
    pub reduced: Option<String>,
    /// The errors that are allowed.
    pub limit: Limit,
    /// What encodings would save, those with the fewest bytes first.
    pub choices: Vec<ChoiceReport>,
    /// The proposed encoding: the one with the fewest bytes among those that are allowed. None if the column stays as it is.
    pub proposed: Option<String>,
    /// Bytes on disk in it, as expected from a sample.
    pub expected: u64,
    /// Why nothing is proposed.
    pub reason: Option<String>,
}

/// An encoding that was tried.
#[derive(Clone, Debug, Serialize)]
pub struct ChoiceReport {
    /// It, as the layout key `encoding` takes it.
    pub encoding: String,
    /// Bytes on disk, as expected from a sample.
    pub bytes: u64,
    /// The largest change of any number in the column.
    pub largest_absolute: f64,
    /// The largest change of any number as a share of it. None if a zero changes.
    pub largest_relative: Option<f64>,
    /// The change of the mean of the ordinary numbers, in standard deviations.
    pub mean_shift: Option<f64>,
    /// The change of the standard deviation, as a share of it.
    pub width_change: Option<f64>,
    /// Whether the kept values, infinities and what is no number stay what they are, and all numbers can be stored.
    pub holds: bool,
    /// Whether it holds, and its errors are allowed.
    pub allowed: bool,
}
