//! What decoding costs a column: from its own sample, or else from columns of its type.
//!
//! Decoding depends on the type, not on the codec. One call (for a basket, or for a run of picked entries) has a cost, and
//! each byte has one.

use std::collections::HashMap;

use arrow_schema::DataType;

use super::column::Column;
use super::line::{Line, Point};

/// The proportion of a call to a byte, where all samples are of one size.
const TYPICAL: Line = Line { fixed: 2e-7, per_byte: 5e-10 };

/// The cost of decoding a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Decode {
    /// For each call that decodes, and for each byte.
    pub line: Line,
    /// Seconds for the whole column, independent of the pieces that it is decoded in.
    pub besides: f64,
}

/// Samples of decoding, summed up: of each type, and of all.
#[derive(Default)]
pub(super) struct Decoding<'a> {
    types: HashMap<&'a DataType, [Point; 2]>,
    all: [Point; 2],
}

impl<'a> Decoding<'a> {
    /// Adds the measurements of a column: whole baskets, and single entries.
    pub fn add(&mut self, column: &'a Column, points: &[Point; 2]) {
        let Some(plan) = &column.plan else { return };
        for sums in [self.types.entry(plan.field().data_type()).or_default(), &mut self.all] {
            sums.iter_mut().zip(points).for_each(|(sum, point)| sum.merge(point));
        }
    }

    /// The cost of decoding a column; a branch that is not decoded costs nothing.
    pub fn of(&self, column: &Column, points: &[Point; 2]) -> Decode {
        let Some(plan) = &column.plan else { return Decode::default() };
        let all = Line::fit(&self.all, Some(TYPICAL));
        let of_type = self.types.get(plan.field().data_type()).and_then(|sums| Line::fit(sums, all)).or(all);
        Decode { line: Line::fit(points, of_type).or(of_type).unwrap_or_default(), besides: 0.0 }
    }
}
