//! What is drawn: files and expressions, as their users name them.

use flow::inputs::Input;
use flow::{Budget, Define, Entries};
use rootfile::Follow;

use super::binning::Bins;

/// Files that count as one, and what they are called.
#[derive(Clone, Debug)]
pub struct Sample {
    /// What users call them.
    pub name: String,
    /// The files, each with its table.
    pub inputs: Vec<Input>,
}

/// What is drawn of tables.
#[derive(Clone, Debug)]
pub struct DrawOptions {
    /// The expression, or `Y:X`.
    pub expression: String,
    /// Conditions, each of which makes a curve.
    pub cuts: Vec<String>,
    /// Names for expressions, which the others may use.
    pub defines: Vec<Define>,
    /// The weight of each entry or item.
    pub weight: Option<String>,
    /// Bins to the right, and upwards.
    pub bins: [Option<Bins>; 2],
    /// Entries.
    pub entries: Entries,
    /// Whether entries may be none.
    pub allow_no_match: bool,
    /// How far addresses in the files are followed.
    pub follow: Follow,
    /// Memory and threads.
    pub budget: Budget,
}
