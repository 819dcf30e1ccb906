//! What the metadata of a file say of values: bounds, so that readers need not look at values that they do not want. No value has to
//! be at a bound.

/// What the metadata say of the values of a column in a piece, all levels of lists together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stated {
    /// The bounds of those that are there.
    pub bounds: Bounds,
    /// Whether values may be missing.
    pub may_miss: bool,
}

/// Bounds of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// No value is there.
    Nothing,
    /// Whole numbers. Truth values are 0 and 1.
    Whole {
        /// None is below.
        least: i128,
        /// None is above.
        most: i128,
    },
    /// Other numbers. NaN may be among them, which has no place in an order.
    Number {
        /// None is below.
        least: f64,
        /// None is above.
        most: f64,
    },
}
