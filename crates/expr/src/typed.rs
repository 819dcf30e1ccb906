//! The typed tree: each part has a type, operands have the same kinds, names are places of columns. It is what evaluation runs.

use std::ops::Range;

use crate::syntax::{Comparison, Literal};
use crate::types::Type;

pub(crate) type Math = fn(f64) -> f64;
pub(crate) type Math2 = fn(f64, f64) -> f64;

/// A part with its type.
#[derive(Clone, Debug)]
pub(crate) struct Typed {
    pub step: Step,
    pub of: Type,
    pub place: Range<usize>,
}

/// What a part computes.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Constant(Literal),
    /// A column, by its place among those of the expression.
    Column(usize),
    /// The value of an alias, whose errors are shown at its name.
    Alias(Box<Typed>),
    /// The number of the entry.
    Entry,
    /// The places of the items in their lists.
    Places(Box<Typed>),
    /// The same values as the kind of the part.
    Convert(Box<Typed>),
    Negative(Box<Typed>),
    Abs(Box<Typed>),
    Invert(Box<Typed>),
    Not(Box<Typed>),
    Math(Math, Box<Typed>),
    /// A function that never falls, of a domain without gaps.
    Rising(Math, Box<Typed>),
    Math2(Math2, Box<[Typed; 2]>),
    /// Sums, differences and the like of two values of the kind of the part.
    Arithmetic(Arithmetic, Box<[Typed; 2]>),
    Compare(Comparison, Box<[Typed; 2]>),
    Logic(Logic, Vec<Typed>),
    Choose(Box<[Typed; 3]>),
    Within(Box<Typed>, Vec<Literal>),
    Fold(Fold, Box<Typed>),
    /// The number of items of the outermost lists, or of all items, or of the letters of texts.
    Length(Box<Typed>),
    Count(Box<Typed>),
    /// An item of each list; counted from the end if negative.
    Item(Box<[Typed; 2]>),
    Slice(Box<Typed>, Option<i64>, Option<i64>),
    /// The items for which the second is true.
    Filter(Box<[Typed; 2]>),
    /// The items at the places of the second.
    Pick(Box<[Typed; 2]>),
    Alternative(Box<[Typed; 2]>),
    IsNull(Box<Typed>),
    Test(TextTest, Box<[Typed; 2]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    Min,
    Max,
    DeltaPhi,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    All,
    Any,
}

/// All values of an entry to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    Any,
    All,
    Sum,
    Mean,
    Min,
    Max,
    ArgMin,
    ArgMax,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
}
