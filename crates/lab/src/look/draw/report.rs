//! What a drawing is made of, as plain values.

use objects::Histogram;
use serde::Serialize;

/// Histograms that are drawn in one picture.
#[derive(Clone, Debug, Serialize)]
pub struct Drawing {
    /// What the contents of bins are.
    pub content: String,
    /// The curves, one for each sample and cut.
    pub curves: Vec<Curve>,
}

/// A histogram of a picture.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// What it is called beside the others.
    pub name: String,
    /// The files, as given.
    pub files: Vec<String>,
    /// Path of the table, or of the histogram.
    pub path: String,
    /// Class of a histogram that a file has; none of one that was filled.
    pub class: Option<String>,
    /// The condition.
    pub cut: Option<String>,
    /// The weight.
    pub weight: Option<String>,
    /// Entries of the table that were looked at; none of a histogram that a file has.
    pub entries: Option<u64>,
    /// Items that were filled: numbers that pass the cut, in bins and outside of them.
    pub filled: u64,
    /// Items that pass the cut and are NaN, or have no value. They are in no bin.
    pub no_number: u64,
    /// Items below the first bin of an axis.
    pub below: u64,
    /// Items above the last bin of an axis.
    pub above: u64,
    /// Axes and bins.
    pub histogram: Histogram,
}
