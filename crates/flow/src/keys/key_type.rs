//! The type of a key: the values of its columns as one number of 128 bits, in which numbers compare as the values do, first column first.
//! A column takes the bits of its type: two of 32 bits and one of 64 fill the number. Where types take more, the values that are there
//! decide, if they were looked at ([`Span`]). Packing loses nothing, so that values come back.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;
use rootfile::{Error, Result};

/// Bits of a key.
const MOST_BITS: u32 = u128::BITS;

/// A value as bits that compare as the values do: floats in the total order of IEEE 754.
trait Ordered: ArrowPrimitiveType {
    const BITS: u32 = (size_of::<Self::Native>() * 8) as u32;
    fn bits(value: Self::Native) -> u64;
    fn of(bits: u64) -> Self::Native;
    fn parse(text: &str) -> Option<Self::Native>;
}

macro_rules! ordered {
    ($($kind:ty: $native:ty, |$value:ident| $bits:expr, |$word:ident| $back:expr;)*) => {
        $(impl Ordered for $kind {
            fn bits($value: $native) -> u64 {
                u64::from($bits)
            }

            fn of(bits: u64) -> $native {
                let $word = bits;
                $back
            }

            fn parse(text: &str) -> Option<$native> {
                text.parse().ok()
            }
        })*
    };
}

/// The bits of a float: both zeros are one value, and so is all that is no number, behind all numbers.
macro_rules! one_value {
    ($float:ty, $value:expr) => {
        (if $value.is_nan() { <$float>::NAN } else { $value + 0.0 }).to_bits()
    };
}

ordered! {
    UInt8Type: u8, |value| value, |bits| bits as u8;
    UInt16Type: u16, |value| value, |bits| bits as u16;
    UInt32Type: u32, |value| value, |bits| bits as u32;
    UInt64Type: u64, |value| value, |bits| bits;
    Int8Type: i8, |value| value.cast_unsigned() ^ (1 << 7), |bits| (bits as u8 ^ (1 << 7)).cast_signed();
    Int16Type: i16, |value| value.cast_unsigned() ^ (1 << 15), |bits| (bits as u16 ^ (1 << 15)).cast_signed();
    Int32Type: i32, |value| value.cast_unsigned() ^ (1 << 31), |bits| (bits as u32 ^ (1 << 31)).cast_signed();
    Int64Type: i64, |value| value.cast_unsigned() ^ (1 << 63), |bits| (bits ^ (1 << 63)).cast_signed();
    Float32Type: f32,
        |value| { let bits = one_value!(f32, value); if bits >> 31 != 0 { !bits } else { bits | 1 << 31 } },
        |bits| { let bits = bits as u32; f32::from_bits(if bits >> 31 == 0 { !bits } else { bits & !(1 << 31) }) };
    Float64Type: f64,
        |value| { let bits = one_value!(f64, value); if bits >> 63 != 0 { !bits } else { bits | 1 << 63 } },
        |bits| f64::from_bits(if bits >> 63 == 0 { !bits } else { bits & !(1 << 63) });
}

/// Does something with the type of a part, and something else with truth values.
macro_rules! by_type {
    ($of:expr, $kind:ident => $numbers:expr, $bools:expr) => {
        match $of {
            DataType::Boolean => $bools,
            DataType::UInt8 => by_type!(@ $kind UInt8Type $numbers),
            DataType::UInt16 => by_type!(@ $kind UInt16Type $numbers),
            DataType::UInt32 => by_type!(@ $kind UInt32Type $numbers),
            DataType::UInt64 => by_type!(@ $kind UInt64Type $numbers),
            DataType::Int8 => by_type!(@ $kind Int8Type $numbers),
            DataType::Int16 => by_type!(@ $kind Int16Type $numbers),
            DataType::Int32 => by_type!(@ $kind Int32Type $numbers),
            DataType::Int64 => by_type!(@ $kind Int64Type $numbers),
            DataType::Float32 => by_type!(@ $kind Float32Type $numbers),
            DataType::Float64 => by_type!(@ $kind Float64Type $numbers),
            _ => None,
        }
    };
    (@ $kind:ident $is:ident $numbers:expr) => {{
        type $kind = $is;
        Some($numbers)
    }};
}

/// The least and the largest of some values, as bits that compare as they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub least: u64,
    pub most: u64,
}

impl Span {
    /// That of no value.
    pub const NONE: Self = Self { least: u64::MAX, most: 0 };

    /// That of both.
    pub fn with(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }
}

/// One column of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyPart {
    /// Its name, or its expression.
    pub name: String,
    /// The type of its values.
    pub data_type: DataType,
    /// What is taken from its bits, and how many of them are kept.
    least: u64,
    bits: u32,
}

impl KeyPart {
    /// A column of this type, with all values that the type has. `None` if values of the type are no part of a key.
    pub fn new(name: &str, data_type: &DataType) -> Option<Self> {
        let bits = by_type!(data_type, Kind => Kind::BITS, Some(1))?;
        Some(Self { name: name.to_owned(), data_type: data_type.clone(), least: 0, bits })
    }

    /// The same column where another file has it in another type: in the type that has the values of both. Of whole numbers that is the
    /// smallest such type, or that of signed ones of 64 bits; of a whole number and a float it is `Float64`. Values that it does not have
    /// are refused where they are read, so that which type it is does not depend on the order of files.
    pub fn joined(&self, other: &Self) -> Self {
        let data_type = common_type(&self.data_type, &other.data_type);
        Self::new(&self.name, &data_type).unwrap_or_else(|| self.clone())
    }

    /// The same for values of a span alone.
    fn within(&self, span: Span) -> Self {
        let bits = u64::BITS - span.most.saturating_sub(span.least).leading_zeros();
        Self { least: span.least, bits, ..self.clone() }
    }

    /// The values that it has room for.
    pub fn room(&self) -> Span {
        let full = u64::MAX.checked_shr(u64::BITS - self.bits).unwrap_or(0);
        Span { least: self.least, most: self.least.saturating_add(full) }
    }

    /// Its values of this type, each there and of a number that the type has.
    fn values(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let array = match *array.data_type() == self.data_type {
            true => Arc::clone(array),
            false => self.cast(array)?,
        };
        match array.nulls().and_then(|nulls| nulls.iter().position(|is_there| !is_there)) {
            Some(_) => {
                Err(Error::request(format!("{} has no value in some entry; a key needs one in each", self.name)))
            }
            None => Ok(array),
        }
    }

    /// Values of another type in this one, if it has all of them.
    fn cast(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let (own, here) = (&self.data_type, array.data_type());
        let lossy = || {
            let message = format!(
                "{} is {here} here and {own} in the key of all files, which does not have all of these values: two keys could \
                 become one",
                self.name
            );
            Error::differs(message)
        };
        let exact = CastOptions { safe: false, ..CastOptions::default() };
        let cast = cast_with_options(array, own, &exact).map_err(|_| lossy())?;
        // Other floats have no values that `Float64` lacks, but some of their bits change on the way back.
        let is_wider = here.is_floating() && *own == DataType::Float64;
        let is_same = is_wider || cast_with_options(&cast, here, &exact).is_ok_and(|back| *back == **array);
        is_same.then_some(cast).ok_or_else(lossy)
    }

    /// Calls `take` with the bits of each value.
    fn each(&self, array: &ArrayRef, mut take: impl FnMut(u64)) -> Result<()> {
        let array = self.values(array)?;
        let of_bools = |take: &mut dyn FnMut(u64)| {
            array.as_boolean().values().iter().for_each(|value| take(u64::from(value)));
            Some(())
        };
        let done = by_type!(
            self.data_type,
            Kind => array.as_primitive::<Kind>().values().iter().for_each(|value| take(Kind::bits(*value))),
            of_bools(&mut take)
        );
        done.ok_or_else(|| Error::unsupported(format!("a key of {} values", self.data_type)))
    }

    /// The least and the largest value.
    fn span(&self, array: &ArrayRef) -> Result<Span> {
        let mut span = Span::NONE;
        self.each(array, |bits| span = span.with(Span { least: bits, most: bits }))?;
        Ok(span)
    }

    /// Values of these bits.
    fn array(&self, bits: impl Iterator<Item = u64>) -> ArrayRef {
        let mut bits = bits.map(|bits| bits.saturating_add(self.least));
        let of_bools = |bits: &mut dyn Iterator<Item = u64>| -> Option<ArrayRef> {
            Some(Arc::new(bits.map(|bit| Some(bit != 0)).collect::<BooleanArray>()))
        };
        let array: Option<ArrayRef> = by_type!(
            self.data_type,
            Kind => Arc::new(PrimitiveArray::<Kind>::from_iter_values(bits.by_ref().map(Kind::of))),
            of_bools(&mut bits)
        );
        array.unwrap_or_else(|| arrow_array::new_empty_array(&self.data_type))
    }

    /// The bits of a value in a text. `None` if it is no value of the type.
    fn parse(&self, text: &str) -> Option<u64> {
        let of_bools = match text {
            "true" | "1" => Some(1),
            "false" | "0" => Some(0),
            _ => None,
        };
        by_type!(self.data_type, Kind => Kind::bits(Kind::parse(text)?), of_bools)
    }

    /// The value of some bits as a text.
    fn text(&self, bits: u64) -> String {
        let bits = bits.saturating_add(self.least);
        by_type!(self.data_type, Kind => Kind::of(bits).to_string(), Some((bits != 0).to_string())).unwrap_or_default()
    }

    /// The bits that are kept of those of a value. `None` if it is outside of the span.
    fn kept(&self, bits: u64) -> Option<u64> {
        bits.checked_sub(self.least).filter(|bits| bits.checked_shr(self.bits).unwrap_or(0) == 0)
    }
}

/// The type that has the values of two types, as far as one of 64 bits can.
fn common_type(one: &DataType, other: &DataType) -> DataType {
    let bits = |of: &DataType| by_type!(of, Kind => Kind::BITS, Some(1)).unwrap_or(0);
    let wider = |one: &DataType, other: &DataType| if bits(one) < bits(other) { other.clone() } else { one.clone() };
    match (one, other) {
        _ if one == other => one.clone(),
        (DataType::Boolean, number) | (number, DataType::Boolean) => number.clone(),
        _ if one.is_floating() || other.is_floating() => DataType::Float64,
        _ if one.is_signed_integer() == other.is_signed_integer() => wider(one, other),
        _ => {
            let (signed, unsigned) = if one.is_signed_integer() { (one, other) } else { (other, one) };
            let with_sign = match bits(unsigned) {
                8 => DataType::Int16,
                16 => DataType::Int32,
                _ => DataType::Int64,
            };
            wider(signed, &with_sign)
        }
    }
}

/// The type of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyType {
    parts: Vec<KeyPart>,
}

impl KeyType {
    /// A key of these columns, if their types fit. Otherwise the values must be looked at first.
    pub fn of_types(parts: &[KeyPart]) -> Option<Self> {
        let bits: u32 = parts.iter().map(|part| part.bits).sum();
        (bits <= MOST_BITS).then(|| Self { parts: parts.to_vec() })
    }

    /// A key of these columns, whose values are in these spans.
    ///
    /// # Errors
    ///
    /// The values take more bits than a key has.
    pub fn of_values(parts: &[KeyPart], spans: &[Span]) -> Result<Self> {
        let narrow: Vec<KeyPart> = parts.iter().zip(spans).map(|(part, span)| part.within(*span)).collect();
        Self::of_types(&narrow).ok_or_else(|| {
            let taken = |part: &KeyPart| format!("{} takes {}", part.name, part.bits);
            let each: Vec<String> = narrow.iter().map(taken).collect();
            let each = each.join(", ");
            Error::request(format!("a key has at most {MOST_BITS} bits, and {each}: leave out a column"))
        })
    }

    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }

    /// The least and the largest value of each column among some rows.
    pub fn spans(parts: &[KeyPart], arrays: &[ArrayRef]) -> Result<Vec<Span>> {
        parts.iter().zip(arrays).map(|(part, array)| part.span(array)).collect()
    }

    /// The keys of so many rows, given the arrays of the columns in their order.
    ///
    /// # Errors
    ///
    /// A value is missing, is none of the type, or outside of the span that was found before.
    pub fn pack(&self, arrays: &[ArrayRef], rows: usize) -> Result<Vec<u128>> {
        let mut keys = vec![0u128; rows];
        for (part, array) in self.parts.iter().zip(arrays) {
            let mut slots = keys.iter_mut();
            let mut outside = false;
            part.each(array, |bits| {
                let kept = part.kept(bits);
                outside |= kept.is_none();
                if let Some(key) = slots.next() {
                    *key = *key << part.bits | u128::from(kept.unwrap_or(0));
                }
            })?;
            if outside {
                return Err(Error::request(format!("{} has other values than when it was read first", part.name)));
            }
        }
        Ok(keys)
    }

    /// The number of bits behind those of each column.
    fn shifts(&self) -> impl Iterator<Item = (&KeyPart, u32)> {
        let mut left: u32 = self.parts.iter().map(|part| part.bits).sum();
        self.parts.iter().map(move |part| {
            left -= part.bits;
            (part, left)
        })
    }

    /// The values of keys, an array for each column.
    pub fn unpack(&self, keys: impl Iterator<Item = u128> + Clone) -> Vec<ArrayRef> {
        self.shifts().map(|(part, shift)| part.array(keys.clone().map(|key| bits_at(key, shift, part.bits)))).collect()
    }

    /// The values of a key as texts.
    pub fn texts(&self, key: u128) -> Vec<String> {
        self.shifts().map(|(part, shift)| part.text(bits_at(key, shift, part.bits))).collect()
    }

    /// The keys whose first columns have these values, from the first to the last. `None` if no entry can have one.
    ///
    /// # Errors
    ///
    /// A text is no value of its column.
    pub fn range_of(&self, least: &[&str], most: &[&str]) -> Result<Option<(u128, u128)>> {
        if least.len() > self.parts.len() {
            let names: Vec<&str> = self.parts.iter().map(|part| part.name.as_str()).collect();
            let (event, names) = (least.join(":"), names.join(","));
            return Err(Error::request(format!("{event} has more values than the key, which is {names}")));
        }
        let parsed = |part: &KeyPart, text: &str| {
            let wrong =
                || Error::request(format!("{text:?} is no value of {}, which is {}", part.name, part.data_type));
            part.parse(text).ok_or_else(wrong)
        };
        let (mut first, mut last) = (0u128, 0u128);
        for (place, part) in self.parts.iter().enumerate() {
            let full = u64::MAX.checked_shr(u64::BITS - part.bits).unwrap_or(0);
            let (from, to) = match (least.get(place), most.get(place)) {
                (Some(from), Some(to)) if from == to => {
                    let Some(kept) = part.kept(parsed(part, from)?) else { return Ok(None) };
                    (kept, kept)
                }
                (Some(from), Some(to)) => {
                    let (from, to) = (parsed(part, from)?, parsed(part, to)?);
                    let (from, to) = (from.max(part.least) - part.least, to.checked_sub(part.least));
                    match to {
                        Some(to) if from <= to.min(full) => (from, to.min(full)),
                        _ => return Ok(None),
                    }
                }
                _ => (0, full),
            };
            first = first << part.bits | u128::from(from);
            last = last << part.bits | u128::from(to);
        }
        Ok(Some((first, last)))
    }
}

/// So many bits of a key, with `shift` bits behind them.
fn bits_at(key: u128, shift: u32, bits: u32) -> u64 {
    let mask = u128::from(u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0));
    (key.checked_shr(shift).unwrap_or(0) & mask) as u64
}
