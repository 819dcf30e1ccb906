//! Arithmetic with bounds. Operations on doubles round to the nearest one, which keeps their order: what bounds give bounds what values
//! give. Whole numbers that do not fit are an error, of which nothing is said.

use super::extent::Span;
use super::truth::Truth;
use crate::typed::{Arithmetic, Math};
use crate::types::Kind;

/// What functions of the C library may be off by, relative to their value.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Numbers of 64 bits from 2^63, and from 2^64 on, do not fit.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_64: f64 = 2.0 * TWO_63;

/// Bounds of doubles.
#[derive(Clone, Copy)]
struct Doubles {
    least: f64,
    most: f64,
    nan: bool,
}

/// Bounds of whole numbers.
#[derive(Clone, Copy)]
struct Wholes {
    least: i128,
    most: i128,
}

impl Doubles {
    fn of(span: Span) -> Option<Self> {
        let Span::Number { least, most, nan } = span else { return None };
        Some(Self { least, most, nan })
    }

    fn is_empty(self) -> bool {
        self.least > self.most
    }

    fn holds_zero(self) -> bool {
        self.least <= 0.0 && self.most >= 0.0
    }

    fn holds_infinity(self) -> bool {
        self.least == f64::NEG_INFINITY || self.most == f64::INFINITY
    }

    fn is(self, value: f64) -> bool {
        self.least == value && self.most == value && !self.nan
    }

    fn negative(self) -> Self {
        Self { least: -self.most, most: -self.least, ..self }
    }

    fn span(self) -> Span {
        Span::Number { least: self.least, most: self.most, nan: self.nan }
    }
}

impl Wholes {
    fn of(span: Span) -> Option<Self> {
        let Span::Whole { least, most } = span else { return None };
        Some(Self { least, most })
    }

    fn holds(self, value: i128) -> bool {
        (self.least..=self.most).contains(&value)
    }

    /// Those between two of these values.
    fn hull(values: impl IntoIterator<Item = Option<i128>>) -> Option<Self> {
        let values = values.into_iter().collect::<Option<Vec<_>>>()?;
        Some(Self { least: values.iter().min().copied()?, most: values.iter().max().copied()? })
    }

    /// The largest absolute value.
    fn size(self) -> i128 {
        self.least.abs().max(self.most.abs())
    }

    /// As a span, if all fit a kind.
    fn fitting(self, kind: Kind) -> Option<Span> {
        let all = Self::of(Span::any(kind))?;
        (all.holds(self.least) && all.holds(self.most)).then_some(self.span())
    }

    fn span(self) -> Span {
        Span::Whole { least: self.least, most: self.most }
    }
}

pub(super) fn negative(span: Span, kind: Kind) -> Option<Span> {
    match span {
        _ if span.is_empty() => Some(span),
        Span::Whole { least, most } => Wholes { least: -most, most: -least }.fitting(kind),
        Span::Number { .. } => Some(Doubles::of(span)?.negative().span()),
        Span::Text => None,
    }
}

pub(super) fn absolute(span: Span, kind: Kind) -> Option<Span> {
    match span {
        _ if span.is_empty() => Some(span),
        Span::Whole { least, most } => {
            let least = if least <= 0 && most >= 0 { 0 } else { least.abs().min(most.abs()) };
            Wholes { least, most: Wholes::of(span)?.size() }.fitting(kind)
        }
        Span::Number { least, most, nan } => {
            let closest = if least <= 0.0 && most >= 0.0 { 0.0 } else { least.abs().min(most.abs()) };
            Some(Span::Number { least: closest, most: least.abs().max(most.abs()), nan })
        }
        Span::Text => None,
    }
}

/// The bits of whole numbers turned over.
pub(super) fn inverted(span: Span, kind: Kind) -> Option<Span> {
    let (Wholes { least, most }, all) = (Wholes::of(span)?, Wholes::of(Span::any(kind))?);
    if span.is_empty() {
        return Some(span);
    }
    let turned = |value: i128| all.most + all.least - value;
    Wholes { least: turned(most), most: turned(least) }.fitting(kind)
}

/// The products of numbers with themselves.
pub(super) fn squares(span: Span) -> Option<Span> {
    doubles(Arithmetic::Power, [Doubles::of(span)?, Doubles { least: 2.0, most: 2.0, nan: false }]).map(Doubles::span)
}

/// What a function gives that never falls, of a domain without gaps.
pub(super) fn rising(math: Math, span: Span) -> Span {
    let Some(all @ Doubles { nan, .. }) = Doubles::of(span).filter(|all| !all.is_empty()) else { return span };
    let (least, most) = (math(all.least), math(all.most));
    if most.is_nan() {
        return Span::any(Kind::Number);
    }
    // Below the domain there is NaN.
    let (least, nan) = if least.is_nan() { (f64::NEG_INFINITY, true) } else { (least, nan) };
    let rounding = |value: f64| if value.is_finite() { value.abs() * ROUNDING + f64::MIN_POSITIVE } else { 0.0 };
    Span::Number { least: least - rounding(least), most: most + rounding(most), nan }
}

/// Values in another kind. None if one may not fit, where this is an error.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as evaluation converts")]
pub(super) fn converted(span: Span, to: Kind) -> Option<Span> {
    if to == Kind::Bool {
        return Some(Truth::of(span).span());
    }
    if span.is_empty() {
        let nan = matches!(span, Span::Number { nan: true, .. });
        return match Span::none(to) {
            Span::Number { least, most, .. } => Some(Span::Number { least, most, nan }),
            none => Some(none),
        };
    }
    let within = |least: i128, most: i128| {
        let all = Wholes::of(Span::any(to))?;
        let clamp = |value: i128| value.clamp(all.least, all.most);
        Some(Span::Whole { least: clamp(least), most: clamp(most) })
    };
    match (span, to) {
        (Span::Whole { most, .. }, Kind::Whole) if most > i64::MAX.into() => None,
        (Span::Whole { least, most }, Kind::Whole | Kind::Unsigned) => within(least, most),
        (Span::Whole { least, most }, _) => Some(Span::Number { least: least as f64, most: most as f64, nan: false }),
        (Span::Number { least, most, .. }, Kind::Whole | Kind::Unsigned) => within(least as i128, most as i128),
        (Span::Number { .. }, _) => Some(span),
        (Span::Text, _) => None,
    }
}

/// Whether another kind has no value for one of these.
pub(super) fn loses(span: Span, from: Kind, to: Kind) -> bool {
    match (span, to) {
        _ if from == to => false,
        (Span::Whole { least, .. }, Kind::Unsigned) => least < 0,
        (Span::Number { least, most, nan }, Kind::Whole) => nan || least < -TWO_63 || most >= TWO_63,
        (Span::Number { least, most, nan }, Kind::Unsigned) => nan || least <= -1.0 || most >= TWO_64,
        _ => false,
    }
}

/// Whether an operation may have no value.
pub(super) fn gives_absent(operation: Arithmetic, [_, divisor]: [Span; 2], kind: Kind) -> bool {
    let divides = matches!(operation, Arithmetic::FloorDivide | Arithmetic::Modulo);
    kind != Kind::Number && divides && Wholes::of(divisor).is_none_or(|divisor| divisor.holds(0))
}

/// What an operation of two values of a kind gives.
pub(super) fn arithmetic(operation: Arithmetic, [a, b]: [Span; 2], kind: Kind) -> Option<Span> {
    match kind {
        Kind::Number => {
            doubles(operation, [Doubles::of(a)?, Doubles::of(b)?]).map(Doubles::span).or(Some(Span::any(kind)))
        }
        _ if a.is_empty() || b.is_empty() => Some(Span::none(kind)),
        _ => wholes(operation, [Wholes::of(a)?, Wholes::of(b)?], kind)?.fitting(kind),
    }
}

/// None if anything may come of it.
fn doubles(operation: Arithmetic, [a, b]: [Doubles; 2]) -> Option<Doubles> {
    let nan = a.nan || b.nan;
    let hull = |values: &[f64]| Doubles {
        least: values.iter().copied().fold(f64::INFINITY, f64::min),
        most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        nan,
    };
    if matches!(operation, Arithmetic::Min | Arithmetic::Max) {
        // NaN gives way to a number.
        return Some(match (nan, operation) {
            (true, _) => Doubles { nan: a.nan && b.nan, least: a.least.min(b.least), most: a.most.max(b.most) },
            (false, Arithmetic::Min) => Doubles { nan, least: a.least.min(b.least), most: a.most.min(b.most) },
            (false, _) => Doubles { nan, least: a.least.max(b.least), most: a.most.max(b.most) },
        });
    }
    if a.is_empty() || b.is_empty() {
        return Some(hull(&[]));
    }
    match operation {
        Arithmetic::Add => {
            let cancels = |a: Doubles, b: Doubles| a.most == f64::INFINITY && b.least == f64::NEG_INFINITY;
            let is_lost = cancels(a, b) || cancels(b, a);
            (!is_lost).then_some(Doubles { least: a.least + b.least, most: a.most + b.most, nan })
        }
        Arithmetic::Subtract => doubles(Arithmetic::Add, [a, b.negative()]),
        Arithmetic::Multiply => {
            let products = [a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most];
            // Nothing times infinity is NaN, and what is next to it anything from nothing on.
            let is_lost = (a.holds_zero() && b.holds_infinity()) || (b.holds_zero() && a.holds_infinity());
            let all = hull(&products.map(|product| if product.is_nan() { 0.0 } else { product }));
            Some(Doubles { nan: nan || is_lost, ..all })
        }
        Arithmetic::Divide if !(b.holds_zero() || a.holds_infinity() && b.holds_infinity()) => {
            Some(hull(&[a.least / b.least, a.least / b.most, a.most / b.least, a.most / b.most]))
        }
        Arithmetic::Power if b.is(2.0) => {
            let squares = [a.least * a.least, a.most * a.most];
            let all = hull(&squares);
            Some(if a.holds_zero() { Doubles { least: 0.0, ..all } } else { all })
        }
        _ => None,
    }
}

/// None if one may not fit, or if the operation has none of these.
fn wholes(operation: Arithmetic, [a, b]: [Wholes; 2], kind: Kind) -> Option<Wholes> {
    let corners = |of: fn(i128, i128) -> Option<i128>| {
        Wholes::hull([of(a.least, b.least), of(a.least, b.most), of(a.most, b.least), of(a.most, b.most)])
    };
    let all = Wholes::of(Span::any(kind))?;
    let are_natural = a.least >= 0 && b.least >= 0;
    match operation {
        Arithmetic::Add => corners(i128::checked_add),
        Arithmetic::Subtract => corners(i128::checked_sub),
        Arithmetic::Multiply => corners(i128::checked_mul),
        Arithmetic::Min => Some(Wholes { least: a.least.min(b.least), most: a.most.min(b.most) }),
        Arithmetic::Max => Some(Wholes { least: a.least.max(b.least), most: a.most.max(b.most) }),
        // The smallest number with a sign divided by -1 does not fit.
        Arithmetic::FloorDivide if all.least < 0 && a.holds(all.least) && b.holds(-1) => None,
        Arithmetic::FloorDivide if are_natural => Some(Wholes { least: 0, most: a.most }),
        Arithmetic::FloorDivide => Some(Wholes { least: -a.size(), most: a.size() })
            .map(|found| Wholes { least: found.least.max(all.least), most: found.most.min(all.most) }),
        Arithmetic::Modulo => Some(Wholes { least: (b.least + 1).min(0), most: (b.most - 1).max(0) }),
        Arithmetic::And if are_natural => Some(Wholes { least: 0, most: a.most.min(b.most) }),
        Arithmetic::And | Arithmetic::Or | Arithmetic::Xor => Some(all),
        Arithmetic::ShiftLeft if are_natural && b.most < 64 => {
            let shifted = |a: i128, b: i128| u32::try_from(b).ok().and_then(|b| a.checked_mul(1_i128.checked_shl(b)?));
            Some(Wholes { least: a.least, most: shifted(a.most, b.most)? })
        }
        Arithmetic::ShiftRight if b.least >= 0 && b.most <= u32::MAX.into() => {
            Some(Wholes { least: a.least.min(0), most: a.most.max(0) })
        }
        Arithmetic::ShiftLeft
        | Arithmetic::ShiftRight
        | Arithmetic::Divide
        | Arithmetic::Power
        | Arithmetic::DeltaPhi => None,
    }
}
