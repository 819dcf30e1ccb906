//! A histogram while it is filled: sums of weights and of their squares in each cell, and moments of what is in the bins.

use objects::{Histogram, HistogramAxis};

use super::binning::Binning;

/// An item: its place on each axis, and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Item {
    /// To the right, and upwards if there are two axes.
    pub at: [f64; 2],
    pub weight: f64,
}

impl Item {
    /// Whether a number of it is none: it is in no cell.
    pub fn is_nan(&self) -> bool {
        self.weight.is_nan() || self.at.iter().any(|number| number.is_nan())
    }
}

/// A histogram that is filled.
pub(super) struct Filler {
    axes: Vec<Binning>,
    contents: Vec<f64>,
    squares: Vec<f64>,
    /// Sum of the weights in bins; of each axis the sums of distances to the middle, and of their squares.
    weights: f64,
    moments: [[f64; 2]; 2],
    /// Items that were filled, in bins and outside of them.
    pub filled: u64,
    /// Items whose place or weight is NaN, or which have no value.
    pub no_number: u64,
    /// Items below the first bin of an axis, and above the last one of an axis.
    pub outside: [u64; 2],
}

impl Filler {
    /// The number of cells of a histogram with these axes.
    pub fn cells(axes: &[Binning]) -> usize {
        axes.iter().map(|axis| axis.count() + 2).product()
    }

    /// Bytes of these cells while they are filled, and of the histogram that they become.
    pub fn bytes(axes: &[Binning]) -> u64 {
        4 * (Self::cells(axes) * size_of::<f64>()) as u64
    }

    pub fn new(axes: Vec<Binning>) -> Self {
        let cells = Self::cells(&axes);
        let (contents, squares) = (vec![0.0; cells], vec![0.0; cells]);
        let (weights, moments) = (0.0, [[0.0; 2]; 2]);
        Self { axes, contents, squares, weights, moments, filled: 0, no_number: 0, outside: [0; 2] }
    }

    /// Adds an item. Sums depend on the order of items.
    pub fn add(&mut self, item: Item) {
        if item.is_nan() {
            self.no_number += 1;
            return;
        }
        self.filled += 1;
        let (mut place, mut stride, mut is_outside) = (0, 1, [false; 2]);
        for (axis, number) in self.axes.iter().zip(item.at) {
            let cell = axis.cell(number);
            is_outside[0] |= cell == 0;
            is_outside[1] |= cell > axis.count();
            place += cell * stride;
            stride *= axis.count() + 2;
        }
        if let (Some(content), Some(square)) = (self.contents.get_mut(place), self.squares.get_mut(place)) {
            *content += item.weight;
            *square += item.weight * item.weight;
        }
        match is_outside {
            [false, false] => {
                self.weights += item.weight;
                for ((axis, number), [first, second]) in self.axes.iter().zip(item.at).zip(&mut self.moments) {
                    // Numbers far from zero lose no digits like this.
                    let distance = number - axis.middle();
                    *first += item.weight * distance;
                    *second += item.weight * distance * distance;
                }
            }
            [below, above] => {
                self.outside[0] += u64::from(below);
                self.outside[1] += u64::from(above && !below);
            }
        }
    }

    /// The histogram, with the titles of its axes.
    #[expect(clippy::cast_precision_loss, reason = "ROOT counts entries in doubles")]
    pub fn finish(self, title: &str, titles: &[String]) -> Histogram {
        let axes = self.axes.iter().zip(titles);
        let moments = self.axes.iter().zip(self.moments).filter(|_| self.weights != 0.0);
        let (means, deviations) = moments
            .map(|(axis, [first, second])| {
                let mean = first / self.weights;
                (axis.middle() + mean, (second / self.weights - mean * mean).abs().sqrt())
            })
            .unzip();
        Histogram {
            title: title.to_owned(),
            axes: axes
                .map(|(axis, title)| HistogramAxis {
                    title: title.clone(),
                    edges: axis.edges.clone(),
                    labels: Vec::new(),
                })
                .collect(),
            profile: false,
            contents: self.contents,
            errors: self.squares.into_iter().map(f64::sqrt).collect(),
            entries: self.filled as f64,
            means,
            deviations,
            waiting: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::draw::binning::Extent;

    #[test]
    fn weights_and_what_is_outside_are_counted() {
        let axis = Binning::of("2,0,2".parse().ok(), 1, Extent::default(), false).unwrap();
        let mut filler = Filler::new(vec![axis]);
        for (x, weight) in
            [(0.5, 3.0), (0.6, 4.0), (1.5, 1.0), (-1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (1.0, f64::NAN)]
        {
            filler.add(Item { at: [x, 0.0], weight });
        }
        assert_eq!((filler.filled, filler.no_number, filler.outside), (5, 2, [1, 1]));
        let histogram = filler.finish("", &["x".to_owned()]);
        assert_eq!(histogram.contents, [1.0, 7.0, 1.0, 1.0]);
        assert_eq!(histogram.errors, [1.0, 5.0, 1.0, 1.0]);
        assert!((histogram.means[0] - 5.4 / 8.0).abs() < 1e-12);
        assert_eq!((histogram.entries, histogram.axes[0].edges.len()), (5.0, 3));
    }

    #[test]
    fn two_axes_have_their_own_cells() {
        let axis = |text: &str| Binning::of(text.parse().ok(), 1, Extent::default(), false).unwrap();
        let mut filler = Filler::new(vec![axis("2,0,2"), axis("3,0,3")]);
        filler.add(Item { at: [1.5, 0.5], weight: 1.0 });
        filler.add(Item { at: [-1.0, 9.0], weight: 1.0 });
        assert_eq!(filler.outside, [1, 0]);
        let histogram = filler.finish("", &["x".to_owned(), "y".to_owned()]);
        assert_eq!(histogram.contents.len(), 4 * 5);
        assert_eq!((histogram.contents[2 + 4], histogram.contents[4 * 4]), (1.0, 1.0));
    }
}
