//! What the values of a typed tree can be, given what is known of its columns in some entries: between which bounds they are, and whether
//! some are absent. No value is looked at. `extent` is what is known of values, `survey` finds it for an array, and the others say what
//! each step makes of it: at least all values that evaluation can give. Where evaluation may end in an error, nothing is said.

mod extent;
mod lists;
mod numbers;
mod survey;
mod truth;

use std::ops::Range;

use crate::syntax::Literal;
use crate::typed::{Arithmetic, Step, Typed};
use crate::types::{Kind, Type};

pub use extent::{Extent, Span};
use extent::{Form, Lists};
use truth::Truth;

/// How many of some entries pass a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// None of them.
    None,
    /// Only their values tell.
    Some,
    /// All of them.
    All,
}

/// What is known of some entries.
pub(crate) struct Given<'a> {
    /// The extents of the columns, as far as they are known.
    pub columns: Vec<Option<&'a Extent>>,
    /// The numbers of the entries.
    pub entries: Range<u64>,
}

/// How many of the entries pass a condition.
pub(crate) fn passing(condition: &Typed, given: &Given<'_>) -> Passing {
    let Some(found) = known(condition, given) else { return Passing::Some };
    let truth = Truth::of(found.span);
    match (truth.yes, truth.no || found.absent) {
        (false, _) => Passing::None,
        (true, true) => Passing::Some,
        (true, false) => Passing::All,
    }
}

/// What is known of a part. None if its evaluation may be an error.
fn known(part: &Typed, given: &Given<'_>) -> Option<Extent> {
    let of = |part: &Typed| known(part, given);
    let both = |pair: &[Typed; 2]| Some([of(&pair[0])?, of(&pair[1])?]);
    let kind = part.of.kind;
    Some(match &part.step {
        Step::Constant(literal) => constant(literal),
        Step::Column(column) => of_column(*column, part.of, given),
        Step::Alias(one) => of(one)?,
        Step::Entry => {
            let most = given.entries.end.saturating_sub(1);
            Extent::new(Span::Whole { least: given.entries.start.into(), most: most.into() }, false)
        }
        Step::Places(one) => lists::places(of(one)?, one.of.depth),
        Step::Convert(one) => converted(of(one)?, one.of.kind, kind)?,
        Step::Negative(one) => of(one)?.with(|span| numbers::negative(span, kind))?,
        Step::Abs(one) => of(one)?.with(|span| numbers::absolute(span, kind))?,
        Step::Invert(one) => of(one)?.with(|span| numbers::inverted(span, kind))?,
        Step::Not(one) => of(one)?.with(|span| Some(Truth::of(span).not().span()))?,
        Step::Math(_, one) => of(one)?.with(|_| Some(Span::any(kind)))?,
        Step::Rising(math, one) => of(one)?.with(|span| Some(numbers::rising(*math, span)))?,
        Step::Math2(_, pair) => joined(&both(pair)?, |_| Some(Span::any(kind)))?,
        Step::Arithmetic(Arithmetic::Multiply, pair) if is_square(pair) && kind == Kind::Number => {
            of(&pair[0])?.with(numbers::squares)?
        }
        Step::Arithmetic(operation, pair) => {
            let pair = both(pair)?;
            let spans = [pair[0].span, pair[1].span];
            let made = joined(&pair, |_| numbers::arithmetic(*operation, spans, kind))?;
            let absent = made.absent || numbers::gives_absent(*operation, spans, kind);
            Extent { absent, ..made }
        }
        Step::Compare(comparison, pair) => {
            joined(&both(pair)?, |spans| Some(truth::compared(*comparison, spans).span()))?
        }
        Step::Logic(logic, all) => {
            let all = all.iter().map(of).collect::<Option<Vec<_>>>()?;
            joined(&all, |spans| Some(truth::all_or_any(*logic, spans).span()))?
        }
        Step::Choose(parts) => {
            let [condition, yes, no] = parts.as_ref();
            joined(&[of(condition)?, of(yes)?, of(no)?], truth::chosen)?
        }
        Step::Within(one, list) => of(one)?.with(|span| Some(truth::within(span, list).span()))?,
        Step::Fold(fold, one) => lists::folded(*fold, of(one)?, kind)?,
        Step::Length(one) => lists::length(of(one)?),
        Step::Count(one) => lists::count(&of(one)?),
        Step::Item(pair) => {
            let [values, index] = both(pair)?;
            lists::item(values, &index, part.of.depth)
        }
        Step::Slice(one, ..) => lists::part_of(of(one)?),
        Step::Filter(pair) => {
            let pair = both(pair)?;
            aligned(&pair)?;
            let [values, condition] = pair;
            lists::filtered(values, Truth::of(condition.span))
        }
        Step::Pick(pair) => {
            let [values, places] = both(pair)?;
            Extent { span: values.span, absent: true, lists: places.lists }
        }
        Step::Alternative(pair) => {
            let [value, other] = both(pair)?;
            match value.absent {
                true => Extent { span: value.span.hull(other.span), absent: other.absent, lists: None },
                false => value,
            }
        }
        Step::IsNull(one) => {
            let one = of(one)?;
            Extent { span: Truth { yes: one.absent, no: true }.span(), absent: false, lists: one.lists }
        }
        Step::Test(_, pair) => joined(&both(pair)?, |_| Some(Span::any(kind)))?,
    })
}

/// Whether both are the same column.
fn is_square(pair: &[Typed; 2]) -> bool {
    matches!(pair.each_ref().map(|one| &one.step), [Step::Column(a), Step::Column(b)] if a == b)
}

fn constant(literal: &Literal) -> Extent {
    let whole = |value: i128| Span::Whole { least: value, most: value };
    let span = match literal {
        Literal::Bool(value) => whole((*value).into()),
        Literal::Whole(value) => whole((*value).into()),
        Literal::Unsigned(value) => whole((*value).into()),
        Literal::Number(value) if value.is_nan() => {
            Span::Number { least: f64::INFINITY, most: f64::NEG_INFINITY, nan: true }
        }
        Literal::Number(value) => Span::Number { least: *value, most: *value, nan: false },
        Literal::Text(_) => Span::Text,
    };
    Extent::new(span, false)
}

fn of_column(column: usize, of: Type, given: &Given<'_>) -> Extent {
    let known = given.columns.get(column).copied().flatten().filter(|known| known.fits(of.kind, of.depth));
    let found = known.cloned().unwrap_or_else(|| Extent::any(of.kind, of.depth));
    let lists = found.lists.map(|lists| Lists { form: lists.form.or(Some(Form::Column(column))), ..lists });
    Extent { lists, ..found }
}

fn converted(one: Extent, from: Kind, to: Kind) -> Option<Extent> {
    let made = numbers::converted(one.span, to)?;
    // What another kind has no value for is absent.
    let absent = one.absent || numbers::loses(one.span, from, to);
    Some(Extent { span: made, absent, ..one })
}

/// Values that are computed of others, item by item.
fn joined(all: &[Extent], span: impl FnOnce(&[Span]) -> Option<Span>) -> Option<Extent> {
    let lists = aligned(all)?.cloned();
    let spans: Vec<Span> = all.iter().map(|one| one.span).collect();
    Some(Extent { span: span(&spans)?, absent: all.iter().any(|one| one.absent), lists })
}

/// The lists of values that are joined. None if they may have different lengths, which is an error.
fn aligned(all: &[Extent]) -> Option<Option<&Lists>> {
    let mut lists = all.iter().filter_map(|one| one.lists.as_ref());
    let Some(first) = lists.next() else { return Some(None) };
    lists.all(|other| other.form.is_some() && other.form == first.form).then_some(Some(first))
}

impl Extent {
    /// The same with another span, if there is one.
    fn with(self, span: impl FnOnce(Span) -> Option<Span>) -> Option<Self> {
        Some(Self { span: span(self.span)?, ..self })
    }
}
