//! Runs a typed tree over values: each step makes the values of its part from those below it. `align` gives operands the same form, the
//! other files have the operations.

mod align;
mod at;
mod compare;
mod folds;
mod lists;
mod logic;
mod numbers;
mod texts;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, UInt64Array};
use arrow_cast::cast;

use crate::error::{Error, Result};
use crate::syntax::Literal;
use crate::typed::{Step, Typed};
use crate::types::Kind;
use crate::values::Values;

use at::At;
pub(crate) use at::Portion;

/// The values of a part.
pub(crate) fn evaluate(part: &Typed, portion: &Portion<'_>) -> Result<Values> {
    let of = |part: &Typed| evaluate(part, portion);
    let both = |pair: &[Typed; 2]| Ok::<_, Error>([of(&pair[0])?, of(&pair[1])?]);
    let at = At { part, portion };
    Ok(match &part.step {
        Step::Constant(literal) => constant(literal),
        Step::Column(column) => match portion.columns.get(*column) {
            Some(values) => values.clone(),
            None => return Err(Error::values("the values of a column are missing", part.place.clone())),
        },
        Step::Alias(one) => of(one).map_err(|e| Error::values(e.message(), part.place.clone()))?,
        Step::Entry => {
            let numbers = (0..portion.rows).map(|row| i64::try_from(portion.entries.number(row)).unwrap_or(i64::MAX));
            Values::flat(Arc::new(Int64Array::from_iter_values(numbers)))
        }
        Step::Places(one) => lists::places(&of(one)?),
        Step::Convert(one) => convert(of(one)?, &at)?,
        Step::Negative(one) => numbers::negative(of(one)?, &at)?,
        Step::Abs(one) => numbers::absolute(of(one)?, &at)?,
        Step::Invert(one) => numbers::inverted(of(one)?),
        Step::Not(one) => logic::not(of(one)?),
        Step::Math(math, one) | Step::Rising(math, one) => numbers::math(*math, of(one)?),
        Step::Math2(math, pair) => numbers::math2(*math, &both(pair)?, &at)?,
        Step::Arithmetic(operation, pair) => numbers::arithmetic(*operation, &both(pair)?, &at)?,
        Step::Compare(comparison, pair) => compare::compare(*comparison, &both(pair)?, &at)?,
        Step::Logic(logic, all) => {
            let all = all.iter().map(of).collect::<Result<Vec<_>>>()?;
            logic::joined(*logic, all, &at)?
        }
        Step::Choose(parts) => {
            let [condition, yes, no] = parts.as_ref();
            logic::choose(&[of(condition)?, of(yes)?, of(no)?], &at)?
        }
        Step::Within(one, list) => compare::within(&of(one)?, list),
        Step::Fold(fold, one) => folds::fold(*fold, &of(one)?, &at)?,
        Step::Length(one) => lists::length(&of(one)?),
        Step::Count(one) => lists::count(&of(one)?),
        Step::Item(pair) => lists::item(&both(pair)?),
        Step::Slice(one, start, end) => lists::slice(&of(one)?, *start, *end),
        Step::Filter(pair) => lists::filter(&both(pair)?, &at)?,
        Step::Pick(pair) => lists::pick(&both(pair)?),
        Step::Alternative(pair) => logic::alternative(&both(pair)?, &at)?,
        Step::IsNull(one) => logic::is_null(&of(one)?),
        Step::Test(test, pair) => texts::test(*test, &both(pair)?, &at)?,
    })
}

fn constant(literal: &Literal) -> Values {
    let leaf: ArrayRef = match literal {
        Literal::Bool(value) => Arc::new(BooleanArray::from(vec![*value])),
        Literal::Whole(value) => Arc::new(Int64Array::from(vec![*value])),
        Literal::Unsigned(value) => Arc::new(UInt64Array::from(vec![*value])),
        Literal::Number(value) => Arc::new(Float64Array::from(vec![*value])),
        Literal::Text(value) => Arc::new(LargeStringArray::from(vec![value.as_str()])),
    };
    Values { is_constant: true, ..Values::flat(leaf) }
}

/// The same values in another kind.
fn convert(values: Values, at: &At<'_>) -> Result<Values> {
    let (from, kind) = (values.leaf.data_type(), at.part.of.kind);
    let leaf = cast(&values.leaf, &kind.arrow()).map_err(|e| Error::values(e.to_string(), at.part.place.clone()))?;
    // What does not fit has no value after a cast. Of a number that is NaN or too large there is no whole number.
    if *from == Kind::Unsigned.arrow() && kind == Kind::Whole && leaf.null_count() > values.leaf.null_count() {
        let is_lost = |place: &usize| leaf.is_null(*place) && values.leaf.is_valid(*place);
        let lost = (0..leaf.len()).find(is_lost).unwrap_or(0);
        return Err(at.error(values.entry_of(lost), "a whole number does not fit into 64 bits with a sign"));
    }
    Ok(Values { leaf, ..values })
}
