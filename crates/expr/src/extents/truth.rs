//! Comparisons, logic and choices.

use super::extent::Span;
use crate::syntax::{Comparison, Literal};
use crate::typed::Logic;
use crate::types::Kind;

/// Which truth values there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Truth {
    pub yes: bool,
    pub no: bool,
}

impl Truth {
    const ANY: Self = Self { yes: true, no: true };

    /// Those of numbers, of which zero alone is false.
    pub fn of(span: Span) -> Self {
        match span {
            Span::Whole { least, most } => {
                Self { yes: least <= most && (least, most) != (0, 0), no: least <= 0 && most >= 0 }
            }
            Span::Number { least, most, nan } => {
                Self { yes: nan || (least <= most && (least < 0.0 || most > 0.0)), no: least <= 0.0 && most >= 0.0 }
            }
            Span::Text => Self::ANY,
        }
    }

    pub fn span(self) -> Span {
        match self {
            Self { yes: false, no: false } => Span::none(Kind::Bool),
            Self { yes, no } => Span::Whole { least: (!no).into(), most: yes.into() },
        }
    }

    pub fn not(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }
}

pub(super) fn compared(comparison: Comparison, spans: &[Span]) -> Truth {
    match spans {
        [Span::Whole { least: a, most: b }, Span::Whole { least: c, most: d }] => ordered(comparison, [a, b], [c, d]),
        [Span::Number { least: a, most: b, nan: x }, Span::Number { least: c, most: d, nan: y }] => {
            let Truth { yes, no } = ordered(comparison, [a, b], [c, d]);
            // NaN is unequal to everything, and nothing else.
            let (nan, differs) = (*x || *y, comparison == Comparison::Unequal);
            Truth { yes: yes || (nan && differs), no: no || (nan && !differs) }
        }
        _ => Truth::ANY,
    }
}

/// What a comparison of values within two bounds may give.
fn ordered<T: PartialOrd>(comparison: Comparison, [a, b]: [&T; 2], [c, d]: [&T; 2]) -> Truth {
    if a > b || c > d {
        return Truth { yes: false, no: false };
    }
    let equal = || Truth { yes: a <= d && c <= b, no: !(a == b && c == d && a == c) };
    match comparison {
        Comparison::Equal => equal(),
        Comparison::Unequal => equal().not(),
        Comparison::Less => Truth { yes: a < d, no: b >= c },
        Comparison::LessEqual => Truth { yes: a <= d, no: b > c },
        Comparison::Greater => Truth { yes: b > c, no: a <= d },
        Comparison::GreaterEqual => Truth { yes: b >= c, no: a < d },
    }
}

pub(super) fn all_or_any(logic: Logic, spans: &[Span]) -> Truth {
    let mut all = spans.iter().map(|span| Truth::of(*span));
    let (yes, no): (Vec<bool>, Vec<bool>) = all.by_ref().map(|truth| (truth.yes, truth.no)).unzip();
    let (every, some) = (|of: &[bool]| of.iter().all(|one| *one), |of: &[bool]| of.contains(&true));
    match logic {
        Logic::All => Truth { yes: every(&yes), no: some(&no) },
        Logic::Any => Truth { yes: some(&yes), no: every(&no) },
    }
}

/// One value or the other, by a condition.
pub(super) fn chosen(spans: &[Span]) -> Option<Span> {
    let [condition, yes, no] = spans else { return None };
    Some(match Truth::of(*condition) {
        Truth { no: false, .. } => *yes,
        Truth { yes: false, .. } => *no,
        Truth { .. } => yes.hull(*no),
    })
}

/// Whether values are among constants of their kind.
pub(super) fn within(span: Span, list: &[Literal]) -> Truth {
    let holds = |one: &Literal| match (span, one) {
        (Span::Whole { least, most }, Literal::Whole(one)) => (least..=most).contains(&i128::from(*one)),
        (Span::Whole { least, most }, Literal::Unsigned(one)) => (least..=most).contains(&i128::from(*one)),
        (Span::Number { least, most, .. }, Literal::Number(one)) => (least..=most).contains(one),
        (Span::Text, Literal::Text(_)) => true,
        _ => false,
    };
    Truth { yes: list.iter().any(holds), no: true }
}
