//! Lists: their items and lengths, and all values of an entry as one.

use super::extent::{Count, Extent, Lists, Span};
use super::truth::Truth;
use crate::typed::Fold;
use crate::types::Kind;

/// The lists of an extent; any where it has none.
fn lists_of(extent: &Extent) -> Lists {
    extent.lists.clone().unwrap_or(Lists::ANY)
}

/// The places of items in their lists.
pub(super) fn places(one: Extent, depth: usize) -> Extent {
    let lists = lists_of(&one);
    let span = Span::Whole { least: 0, most: i128::from(lists.lengths.most) - 1 };
    let form = lists.form.filter(|_| depth == 1);
    Extent { span, absent: false, lists: Some(Lists { items: lists.lengths, form, ..lists }) }
}

pub(super) fn length(one: Extent) -> Extent {
    match one.lists {
        Some(lists) => Extent::new(lists.lengths.span(), false),
        None => Extent { span: Span::Whole { least: 0, most: i64::MAX.into() }, ..one },
    }
}

/// The number of values that are there.
pub(super) fn count(one: &Extent) -> Extent {
    let items = lists_of(one).items;
    Extent::new(if one.absent { items.some() } else { items }.span(), false)
}

/// An item of each list: values at so many levels.
pub(super) fn item(values: Extent, index: &Extent, depth: usize) -> Extent {
    let (lengths, lists) = (lists_of(&values).lengths, (depth > 0).then_some(Lists::ANY));
    let Span::Whole { least, most } = index.span else { return Extent { absent: true, lists, ..values } };
    let (short, long) = (i128::from(lengths.least), i128::from(lengths.most));
    let is_there = least >= -short && most < short && least <= most;
    let is_nowhere = least >= long || most < -long;
    let span = if is_nowhere { values.span.emptied() } else { values.span };
    Extent { span, absent: values.absent || index.absent || !is_there, lists }
}

/// Some of the items of each list.
pub(super) fn part_of(values: Extent) -> Extent {
    let lists = lists_of(&values);
    let lists = Lists { lengths: lists.lengths.some(), items: lists.items.some(), form: None };
    Extent { lists: Some(lists), ..values }
}

/// The items for which a condition is true.
pub(super) fn filtered(values: Extent, condition: Truth) -> Extent {
    let found = part_of(values);
    let items = if condition.yes { lists_of(&found).items } else { Count { least: 0, most: 0 } };
    let lists = found.lists.map(|lists| Lists { items, ..lists });
    Extent { lists, ..found }
}

/// All values of an entry as one of a kind. None if a sum may not fit.
pub(super) fn folded(fold: Fold, values: Extent, kind: Kind) -> Option<Extent> {
    let Extent { span, absent, .. } = values;
    let items = lists_of(&values).items;
    // Whether an entry may have no value, and whether one may have any.
    let (may_be_empty, is_empty) = (absent || items.least == 0, items.most == 0);
    let truth = Truth::of(span);
    Some(match fold {
        Fold::Any => {
            let found = Truth { yes: truth.yes && !is_empty, no: truth.no || may_be_empty };
            Extent::new(found.span(), false)
        }
        Fold::All => {
            let found = Truth { yes: truth.yes || may_be_empty, no: truth.no && !is_empty };
            Extent::new(found.span(), false)
        }
        Fold::Min | Fold::Max => Extent::new(if is_empty { Span::none(kind) } else { span }, may_be_empty),
        Fold::ArgMin | Fold::ArgMax => {
            Extent::new(Span::Whole { least: 0, most: i128::from(items.most) - 1 }, may_be_empty)
        }
        Fold::Sum => Extent::new(sum(span, items, may_be_empty, kind)?, false),
        Fold::Mean => Extent::new(mean(span, items, may_be_empty), false),
    })
}

/// The sum of so many values, from zero on. Sums of parts lie between the same bounds.
fn sum(span: Span, items: Count, may_be_empty: bool, kind: Kind) -> Option<Span> {
    let any = Span::any(kind);
    match (span, any) {
        _ if items.most == 0 || (span.is_empty() && !matches!(span, Span::Number { nan: true, .. })) => {
            Some(if kind == Kind::Number {
                Span::Number { least: 0.0, most: 0.0, nan: false }
            } else {
                Span::Whole { least: 0, most: 0 }
            })
        }
        (Span::Whole { least, most }, Span::Whole { least: lowest, most: highest }) => {
            let times = |value: i128| value.checked_mul(items.most.into());
            let (low, high) = (times(least)?.min(0), times(most)?.max(0));
            let low = if low == 0 && !may_be_empty { least.max(0) } else { low };
            (low >= lowest && high <= highest).then_some(Span::Whole { least: low, most: high })
        }
        (Span::Number { least, most, nan: false }, _) => {
            let Some(room) = room(least, most, items) else { return Some(any) };
            // A sum of values that are not negative is not below any of them.
            let low = if least >= 0.0 { if may_be_empty { 0.0 } else { least } } else { -room };
            let high = if most <= 0.0 { if may_be_empty { 0.0 } else { most } } else { room };
            Some(Span::Number { least: low, most: high, nan: false })
        }
        _ => Some(any),
    }
}

fn mean(span: Span, items: Count, may_be_empty: bool) -> Span {
    let Span::Number { least, most, nan: false } = span else { return Span::any(Kind::Number) };
    let Some(room) = room(least, most, items).filter(|_| least <= most) else { return Span::any(Kind::Number) };
    // Each sum of two values is rounded.
    let rounding = room * f64::EPSILON * 4.0;
    Span::Number { least: least - rounding, most: most + rounding, nan: may_be_empty }
}

/// What the sum of so many values is at most, on both sides of zero, with all that rounding may add. None if it may be infinite.
#[expect(clippy::cast_precision_loss, reason = "rounding is counted")]
fn room(least: f64, most: f64, items: Count) -> Option<f64> {
    let (count, size) = (items.most as f64, least.abs().max(most.abs()));
    Some(count * size * (1.0 + 4.0 * count * f64::EPSILON)).filter(|room| room.is_finite())
}
