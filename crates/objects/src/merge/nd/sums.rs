//! The sums of a histogram as a whole: of weights, of their squares, and of the first two moments along each axis.
//!
//! ROOT keeps them only with sums of squares (`THnBase::Sumw2`); without, the weights are 1 and the bins say the sums. ROOT's
//! own merging adds the 0 and the -1 that stand there instead.

use rootfile::object::{Graph, Members, Object};

use super::axis::Axis;
use super::kind::is_sparse;
use super::{dense, sparse};
use crate::merge::members::{array_of, number, set_array, set_number};

/// The sums of one histogram.
#[derive(Debug)]
pub(super) struct Sums {
    weights: f64,
    squares: f64,
    /// Along each axis: of weight times x, and of weight times x squared.
    moments: [Vec<f64>; 2],
}

const MOMENTS: [&str; 2] = ["fTsumwx", "fTsumwx2"];

impl Sums {
    /// The sums that a histogram with sums of squares keeps.
    pub fn kept(m: &Members) -> Self {
        Self {
            weights: number(m, "fTsumw"),
            squares: number(m, "fTsumw2"),
            moments: MOMENTS.map(|name| array_of(m, name)),
        }
    }

    /// The sums of a histogram without sums of squares, from its bins: weights and squares exactly, moments from the centres
    /// of the bins.
    pub fn of_bins(object: &Object, graph: &Graph, axes: &[Axis]) -> Result<Self, String> {
        let mut sums = Self { weights: 0.0, squares: 0.0, moments: MOMENTS.map(|_| vec![0.0; axes.len()]) };
        let bins: Vec<usize> = axes.iter().map(|axis| axis.bins).collect();
        let add = |at: &[usize], content: f64| {
            // The square of a sum of unit weights is the content, as for the errors of bins.
            sums.weights += content;
            sums.squares += content;
            let [first, second] = &mut sums.moments;
            let moments = first.iter_mut().zip(second);
            for ((axis, bin), (first, second)) in axes.iter().zip(at).zip(moments).filter(|_| content != 0.0) {
                let x = axis.center(*bin);
                *first += content * x;
                *second += content * x * x;
            }
        };
        if is_sparse(&object.class) {
            sparse::each_bin(object, graph, &bins, add)?;
        } else {
            dense::each_bin(object, &bins, add)?;
        }
        Ok(sums)
    }

    /// Sets the sums of both in the first.
    pub fn store(mut self, other: &Self, m: &mut Members) {
        set_number(m, "fTsumw", self.weights + other.weights);
        set_number(m, "fTsumw2", self.squares + other.squares);
        for ((name, mine), theirs) in MOMENTS.iter().zip(&mut self.moments).zip(&other.moments) {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
            set_array(m, name, mine);
        }
    }
}
