//! Writes the entries of one branch in the form of another that holds the same values: decodes with the plan of the one and
//! encodes with that of the other. For branches whose bytes mean other things than those of the branch that they join. Also
//! the same for arrays whose records have other members. Members that the first form lacks are default values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, LargeListArray, StructArray};
use arrow_schema::{DataType, FieldRef};
use rootfile::{Error, Result};

use crate::decode::ColumnPlan;
use crate::default_array;
use crate::encode::EncodedEntries;
use crate::layout::Streaming;
use crate::tree::basket::{BasketData, Entries};
use crate::widen::{is_wider, widened};

/// Bytes in front of an object or a list.
const FRAME: u64 = 6;

/// Types may nest this deep.
const MAX_DEPTH: usize = 60;

/// Baskets of one branch as those of another.
#[derive(Clone, Debug)]
pub struct Recast {
    from: ColumnPlan,
    to: ColumnPlan,
}

impl Recast {
    /// From the form of one branch to that of another.
    ///
    /// # Errors
    ///
    /// If values would be lost or changed, or cannot be decoded or encoded, with the reason.
    pub fn new(from: ColumnPlan, to: ColumnPlan) -> std::result::Result<Self, String> {
        for plan in [&from, &to] {
            if let Some(why) = plan.opaque() {
                return Err(why.to_owned());
            }
            if !plan.counters().is_empty() {
                return Err("other branches count its items".to_owned());
            }
            if plan.needs_learning() || plan.omits_collection_names() || plan.program().pointers {
                return Err("it holds objects of any class".to_owned());
            }
            if plan.has_references() {
                return Err("it holds references (TRef)".to_owned());
            }
            if plan.omits_tobjects() {
                return Err("its objects have bits of their own".to_owned());
            }
        }
        if !is_reordered(from.field().data_type(), to.field().data_type(), 0) {
            let [from, to] = [&from, &to].map(|plan| plan.field().data_type().to_string());
            return Err(format!("its values are {from}, and {to}"));
        }
        to.encoder(Streaming::MemberWise).map_err(|e| e.to_string())?;
        Ok(Self { from, to })
    }

    /// How many times as large entries become at most, by the largest of their records.
    pub fn growth(&self) -> u64 {
        growth(self.from.field().data_type(), self.to.field().data_type(), 0)
    }

    /// From the same form to another one.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn to(&self, to: ColumnPlan) -> std::result::Result<Self, String> {
        Self::new(self.from.clone(), to)
    }

    /// The entries of a basket in the other form.
    ///
    /// # Errors
    ///
    /// If the basket cannot be decoded, or if its values cannot be encoded.
    pub fn apply(&self, basket: &BasketData) -> Result<BasketData> {
        let count = basket.count as usize;
        let mut column = self.from.start(count, basket.data.len());
        column.append(basket, 0..count, &[])?;
        let values = reordered(&column.finish()?, self.to.field().data_type())?;
        let mut encoder = self.to.encoder(Streaming::MemberWise)?;
        let mut out = EncodedEntries::default();
        encoder.append(values.as_ref(), 0..count, &mut out)?;
        let too_large = || Error::unsupported("entries of more than 4 GB");
        let entries = match (encoder.entry_size(), out.ends.is_empty()) {
            (Some(size), _) => Entries::Fixed(u32::try_from(size).map_err(|_| too_large())?),
            (None, false) => Entries::Offsets(std::iter::once(0).chain(out.ends).collect()),
            (None, true) => {
                let size = out.bytes.len().checked_div(count).unwrap_or(0);
                Entries::Fixed(u32::try_from(size).map_err(|_| too_large())?)
            }
        };
        Ok(BasketData {
            count: basket.count,
            keylen: basket.keylen,
            pid_offset: basket.pid_offset,
            data: out.bytes.into(),
            entries,
            displacement: None,
        })
    }
}

/// How many times as many bytes values have in another type: most in the record that grows most.
fn growth(from: &DataType, to: &DataType, depth: usize) -> u64 {
    let inner = match (from, to) {
        _ if depth > MAX_DEPTH => 1,
        (DataType::Struct(ours), DataType::Struct(theirs)) => {
            let pairs = theirs.iter().filter_map(|field| Some((ours.find(field.name())?.1, field)));
            pairs.map(|(own, field)| growth(own.data_type(), field.data_type(), depth + 1)).max().unwrap_or(1)
        }
        (DataType::LargeList(a), DataType::LargeList(b))
        | (DataType::FixedSizeList(a, _), DataType::FixedSizeList(b, _)) => {
            growth(a.data_type(), b.data_type(), depth + 1)
        }
        _ => 1,
    };
    inner.max(least_bytes(to, depth).div_ceil(least_bytes(from, depth).max(1)))
}

/// The fewest bytes of a value of a type, about.
fn least_bytes(data_type: &DataType, depth: usize) -> u64 {
    match data_type {
        _ if depth > MAX_DEPTH => 0,
        DataType::Struct(fields) => {
            fields.iter().map(|field| least_bytes(field.data_type(), depth + 1)).fold(FRAME, u64::saturating_add)
        }
        DataType::FixedSizeList(item, n) => {
            least_bytes(item.data_type(), depth + 1).saturating_mul(u64::try_from(*n).unwrap_or(0))
        }
        other => other.primitive_width().map_or(FRAME, |width| width as u64),
    }
}

/// Whether a type is the other with the members of records in another order or fewer of them, or with narrower numbers.
fn is_reordered(from: &DataType, to: &DataType, depth: usize) -> bool {
    if from == to || is_wider(from, to) {
        return true;
    }
    match (from, to) {
        _ if depth > MAX_DEPTH => false,
        (DataType::Struct(ours), DataType::Struct(theirs)) => ours.iter().all(|own| {
            let same = theirs.find(own.name());
            same.is_some_and(|(_, field)| is_reordered(own.data_type(), field.data_type(), depth + 1))
        }),
        (DataType::LargeList(a), DataType::LargeList(b)) => is_reordered(a.data_type(), b.data_type(), depth + 1),
        (DataType::FixedSizeList(a, n), DataType::FixedSizeList(b, m)) => {
            n == m && is_reordered(a.data_type(), b.data_type(), depth + 1)
        }
        _ => false,
    }
}

/// The type that has the members of records of both, those of the first before others.
pub fn joined_type(first: &DataType, second: &DataType) -> DataType {
    let joined = |a: &FieldRef, b: &FieldRef| {
        Arc::new(a.as_ref().clone().with_data_type(joined_type(a.data_type(), b.data_type())))
    };
    match (first, second) {
        (DataType::Struct(ours), DataType::Struct(theirs)) => {
            let own =
                ours.iter().map(|own| theirs.find(own.name()).map_or_else(|| Arc::clone(own), |(_, b)| joined(own, b)));
            let added = theirs.iter().filter(|field| ours.find(field.name()).is_none()).map(Arc::clone);
            DataType::Struct(own.chain(added).collect())
        }
        (DataType::LargeList(a), DataType::LargeList(b)) => DataType::LargeList(joined(a, b)),
        (DataType::FixedSizeList(a, n), DataType::FixedSizeList(b, m)) if n == m => {
            DataType::FixedSizeList(joined(a, b), *n)
        }
        _ => first.clone(),
    }
}

/// An array with the members of its records in the order of a type, and with its numbers. Members that it lacks are default values.
///
/// # Errors
///
/// If values would be lost, or are of another kind.
pub fn reordered(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    if array.data_type() == wanted {
        return Ok(Arc::clone(array));
    }
    let failed = |e: arrow_schema::ArrowError| Error::unsupported(e.to_string());
    Ok(match (array.data_type(), wanted) {
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let records = array.as_struct();
            let member = |field: &Arc<arrow_schema::Field>| match records.column_by_name(field.name()) {
                Some(own) => reordered(own, field.data_type()),
                None => default_array(field, records.len()),
            };
            let members = fields.iter().map(member).collect::<Result<Vec<_>>>()?;
            Arc::new(StructArray::try_new(fields.clone(), members, records.nulls().cloned()).map_err(failed)?)
        }
        (DataType::LargeList(_), DataType::LargeList(field)) => {
            let lists = array.as_list::<i64>();
            let items = reordered(lists.values(), field.data_type())?;
            let made =
                LargeListArray::try_new(Arc::clone(field), lists.offsets().clone(), items, lists.nulls().cloned());
            Arc::new(made.map_err(failed)?)
        }
        (DataType::FixedSizeList(..), DataType::FixedSizeList(field, n)) => {
            let lists = array.as_fixed_size_list();
            let items = reordered(lists.values(), field.data_type())?;
            let made = FixedSizeListArray::try_new(Arc::clone(field), *n, items, lists.nulls().cloned());
            Arc::new(made.map_err(failed)?)
        }
        (found, wanted) => match widened(array, wanted) {
            Some(numbers) => numbers,
            None => return Err(Error::unsupported(format!("values are {found}, and not {wanted}"))),
        },
    })
}
