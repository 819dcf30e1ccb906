//! Histograms of any number of dimensions, `THn` and `THnSparse`: bins with equal coordinates are added.

mod axis;
mod dense;
mod kind;
mod merge;
mod numbers;
mod sparse;
mod sums;

pub(super) use kind::is_nd;
pub(super) use merge::merge;
