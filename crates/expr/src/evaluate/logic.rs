//! Conditions that are joined, and choices. Values may be absent: and, or and not know three states, as in SQL.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::align::align;
use super::at::At;
use super::compare::spread;
use crate::error::{Error, Result};
use crate::typed::Logic;
use crate::values::Values;

/// Where truth values are true, and where they are false; neither where there is none.
struct States {
    yes: BooleanBuffer,
    no: BooleanBuffer,
}

impl States {
    fn of(leaf: &ArrayRef, len: usize) -> Self {
        let truth = leaf.as_boolean();
        let (values, there) = (truth.values(), truth.nulls().map(NullBuffer::inner));
        let yes = there.map_or_else(|| values.clone(), |there| values & there);
        let no = there.map_or_else(|| !values, |there| &!values & there);
        Self { yes: spread(&yes, len), no: spread(&no, len) }
    }

    fn leaf(self) -> ArrayRef {
        let there = &self.yes | &self.no;
        let nulls = NullBuffer::new(there);
        Arc::new(BooleanArray::new(self.yes, Some(nulls).filter(|nulls| nulls.null_count() > 0)))
    }
}

pub(super) fn not(values: Values) -> Values {
    let truth = values.leaf.as_boolean();
    let leaf: ArrayRef = Arc::new(BooleanArray::new(!truth.values(), truth.nulls().cloned()));
    Values { leaf, ..values }
}

pub(super) fn joined(logic: Logic, operands: Vec<Values>, at: &At<'_>) -> Result<Values> {
    let mut operands = operands.into_iter();
    let first = operands.next().ok_or_else(|| Error::values("no condition", at.part.place.clone()))?;
    operands.try_fold(first, |found, next| {
        let aligned = align([&found, &next], at)?;
        let [a, b] = aligned.leaves.each_ref().map(|leaf| States::of(leaf, aligned.len));
        let states = match logic {
            Logic::All => States { yes: &a.yes & &b.yes, no: &a.no | &b.no },
            Logic::Any => States { yes: &a.yes | &b.yes, no: &a.no & &b.no },
        };
        Ok(aligned.values(states.leaf()))
    })
}

pub(super) fn choose([condition, yes, no]: &[Values; 3], at: &At<'_>) -> Result<Values> {
    let aligned = align([condition, yes, no], at)?;
    let [truth, yes, no] = &aligned.leaves;
    let truth = States::of(truth, aligned.len);
    let all = |leaf: &ArrayRef| spread_values(leaf, aligned.len);
    let mask = BooleanArray::from(truth.yes.clone());
    let chosen = arrow_select::zip::zip(&mask, &all(yes), &all(no));
    let chosen = chosen.map_err(|e| Error::values(e.to_string(), at.part.place.clone()))?;
    // Without a condition there is no value.
    let unknown = BooleanArray::from(!&(&truth.yes | &truth.no));
    let chosen = arrow_select::nullif::nullif(&chosen, &unknown);
    let chosen = chosen.map_err(|e| Error::values(e.to_string(), at.part.place.clone()))?;
    Ok(aligned.values(chosen))
}

/// The first value, and where there is none the second.
pub(super) fn alternative([value, other]: &[Values; 2], at: &At<'_>) -> Result<Values> {
    let aligned = align([value, other], at)?;
    let [value, other] = &aligned.leaves;
    let (value, other) = (spread_values(value, aligned.len), spread_values(other, aligned.len));
    let there = value.nulls().map_or_else(|| BooleanBuffer::new_set(aligned.len), |nulls| nulls.inner().clone());
    let chosen = arrow_select::zip::zip(&BooleanArray::from(there), &value, &other);
    let chosen = chosen.map_err(|e| Error::values(e.to_string(), at.part.place.clone()))?;
    Ok(aligned.values(chosen))
}

pub(super) fn is_null(values: &Values) -> Values {
    let len = values.leaf.len();
    let bits = values.leaf.nulls().map_or_else(|| BooleanBuffer::new_unset(len), |nulls| !nulls.inner());
    let leaf = Arc::new(BooleanArray::from(bits));
    Values { levels: values.levels.clone(), leaf, is_constant: values.is_constant }
}

/// Values for all places, of a constant as well.
fn spread_values(leaf: &ArrayRef, len: usize) -> ArrayRef {
    if leaf.len() == len {
        return leaf.clone();
    }
    let places: Vec<_> = std::iter::repeat_n(Some(0), len).collect();
    crate::values::gather(&[], leaf, &places).leaf
}
