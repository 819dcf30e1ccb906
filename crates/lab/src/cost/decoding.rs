//! What decoding costs a column: by its own sample, or else by those of its type.
//!
//! Decoding depends on the type alone, and not on codecs: what is decoded at once (a basket, or a run of picked entries)
//! has a price of its own, and each byte has one.

use std::collections::HashMap;

use arrow_schema::DataType;

use super::facts::Column;
use super::line::{Line, Point};

/// What decoding a column costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Decode {
    /// By what is decoded at once, and bytes.
    pub line: Line,
    /// Seconds for the whole column besides, in whatever pieces it is decoded.
    pub besides: f64,
}

/// Samples of decoding, summed up: of each type, and of all.
#[derive(Default)]
pub(super) struct Decoding<'a> {
    types: HashMap<&'a DataType, [Point; 2]>,
    all: [Point; 2],
}

impl<'a> Decoding<'a> {
    /// Takes in what was measured of a column: baskets as a whole, and entries each by itself.
    pub fn add(&mut self, column: &'a Column, points: &[Point; 2]) {
        let Some(plan) = &column.plan else { return };
        for sums in [self.types.entry(plan.field().data_type()).or_default(), &mut self.all] {
            sums.iter_mut().zip(points).for_each(|(sum, point)| sum.merge(point));
        }
    }

    /// What it costs to decode a column; what is no column costs nothing.
    pub fn of(&self, column: &Column, points: &[Point; 2]) -> Decode {
        let Some(plan) = &column.plan else { return Decode::default() };
        let all = Line::fit(&self.all, None);
        let of_type = self.types.get(plan.field().data_type()).and_then(|sums| Line::fit(sums, all)).or(all);
        Decode { line: Line::fit(points, of_type).or(of_type).unwrap_or_default(), besides: 0.0 }
    }
}
