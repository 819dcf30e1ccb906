//! What entries are sorted by: the columns of a key, each from its least value to its largest or the other way. Values compare as numbers do:
//! both zeros are one value, and what is no number is behind all numbers, in either direction.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray};
use arrow_cast::display::array_value_to_string;
use arrow_schema::DataType;
use rootfile::{Error, Result};

use super::key_type::KeyType;
use super::names::KeyNames;

/// What entries are sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortKey {
    names: KeyNames,
    /// Whether each column descends.
    descends: Vec<bool>,
}

impl SortKey {
    /// The columns of several texts, one after the other. A minus before a column lets it descend.
    ///
    /// # Errors
    ///
    /// There is none, or one is there twice.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let given = KeyNames::of(texts)?;
        let parts = given.texts().iter().map(|text| match text.strip_prefix('-').map(str::trim_start) {
            Some(column) => (column.to_owned(), true),
            None => (text.clone(), false),
        });
        let (names, descends): (Vec<String>, Vec<bool>) = parts.unzip();
        if names.iter().any(String::is_empty) {
            return Err(Error::request("a minus is before the column that descends, such as -pt"));
        }
        Ok(Self { names: KeyNames::listed(names)?.given_by("by"), descends })
    }

    /// The same with all columns the other way.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.descends.iter_mut().for_each(|descends| *descends = !*descends);
        self
    }

    /// The same, given by another option.
    #[must_use]
    pub fn given_by(self, option: &'static str) -> Self {
        Self { names: self.names.given_by(option), ..self }
    }

    /// The columns.
    pub fn names(&self) -> &KeyNames {
        &self.names
    }

    /// The values of the columns as others that, packed into a key, are in this order.
    pub(crate) fn ordered(&self, arrays: &[ArrayRef]) -> Vec<ArrayRef> {
        arrays.iter().zip(&self.descends).map(|(array, descends)| ordered(array, *descends)).collect()
    }

    /// The values of a key as texts.
    pub(crate) fn texts(&self, of: &KeyType, key: u128) -> Vec<String> {
        // What lets a value descend brings it back as well.
        let values = of.unpack(std::iter::once(key)).into_iter().zip(&self.descends);
        values
            .map(|(array, descends)| array_value_to_string(&ordered(&array, *descends), 0).unwrap_or_default())
            .collect()
    }
}

impl FromStr for SortKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::of([text])
    }
}

impl fmt::Display for SortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (name, descends)) in self.names.texts().iter().zip(&self.descends).enumerate() {
            let (comma, minus) = (if place > 0 { "," } else { "" }, if *descends { "-" } else { "" });
            write!(f, "{comma}{minus}{name}")?;
        }
        Ok(())
    }
}

fn changed<T: ArrowPrimitiveType>(array: &ArrayRef, change: impl Fn(T::Native) -> T::Native) -> ArrayRef {
    let values: PrimitiveArray<T> = array.as_primitive::<T>().unary(change);
    Arc::new(values)
}

/// Values in whose place others are sorted.
fn ordered(array: &ArrayRef, descends: bool) -> ArrayRef {
    match array.data_type() {
        _ if !descends => Arc::clone(array),
        DataType::Float32 => changed::<Float32Type>(array, |value| -value),
        DataType::Float64 => changed::<Float64Type>(array, |value| -value),
        DataType::Boolean => {
            let bools = array.as_boolean();
            Arc::new(BooleanArray::new(!bools.values(), bools.nulls().cloned()))
        }
        DataType::UInt8 => changed::<UInt8Type>(array, |value| !value),
        DataType::UInt16 => changed::<UInt16Type>(array, |value| !value),
        DataType::UInt32 => changed::<UInt32Type>(array, |value| !value),
        DataType::UInt64 => changed::<UInt64Type>(array, |value| !value),
        DataType::Int8 => changed::<Int8Type>(array, |value| !value),
        DataType::Int16 => changed::<Int16Type>(array, |value| !value),
        DataType::Int32 => changed::<Int32Type>(array, |value| !value),
        DataType::Int64 => changed::<Int64Type>(array, |value| !value),
        _ => Arc::clone(array),
    }
}
