//! Histograms and profiles of one to three dimensions, added as `TH1::Merge` adds them.
//!
//! The sum keeps the class version, name, title, options and attached functions of the first histogram. Where ROOT would
//! leave a histogram half merged, the first stays unchanged.

mod axis;
mod buffer;
mod cells;
mod fill;
mod histogram;
mod label_list;
mod limits;
mod look;
mod merge;
mod merge_labels;
mod shape;
mod stats;

pub(super) use axis::center;
pub use look::{Histogram, HistogramAxis, is_histogram};
pub(super) use merge::merge;
