//! One value of a column, whatever its type: a number, a text, a list, a record. It is shown as a short text, or written as JSON.

use std::fmt::{self, Write};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use rootfile::text::{begun, width};
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};

/// Bytes of an entry that a cell keeps of what cannot be decoded.
const MOST_BYTES: usize = 64;
/// Deepest nesting that is followed: types come from files.
const DEEPEST: usize = 64;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number without sign.
    UInt(u64),
    /// A number of single precision.
    Float(f32),
    /// A number of double precision.
    Double(f64),
    /// A text.
    Text(String),
    /// Bytes; the first ones of many.
    Bytes(Vec<u8>, usize),
    /// A list.
    List(Vec<Self>),
    /// A record.
    Record(Vec<(String, Self)>),
    /// Why there is no value: the column cannot be read.
    Unreadable(String),
}

impl Cell {
    /// The value of an array in a row.
    pub fn of(array: &dyn Array, row: usize) -> Self {
        value(array, row, 0)
    }

    /// Bytes that it takes.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Text(text) | Self::Unreadable(text) => text.len(),
                Self::Bytes(bytes, _) => bytes.len(),
                Self::List(items) => items.iter().map(Self::memory).sum(),
                Self::Record(members) => {
                    members.iter().map(|(name, cell)| size_of::<String>() + name.len() + cell.memory()).sum()
                }
                _ => 0,
            }
    }

    /// A text of about `most` columns of a terminal: lists and texts are cut at their ends, and say how much is left out.
    pub fn short(&self, most: usize) -> String {
        let mut text = Short { text: String::new(), room: most };
        text.add(self, false);
        text.text
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short(usize::MAX))
    }
}

fn value(array: &dyn Array, row: usize, depth: usize) -> Cell {
    if row >= array.len() || array.is_null(row) {
        return Cell::Null;
    }
    if depth > DEEPEST {
        return Cell::Unreadable("nested too deeply to be shown".to_owned());
    }
    let items = |items: ArrayRef| Cell::List((0..items.len()).map(|item| value(&items, item, depth + 1)).collect());
    macro_rules! number {
        ($kind:ty, $cell:ident, $into:ty) => {
            Cell::$cell(<$into>::from(array.as_primitive::<$kind>().value(row)))
        };
    }
    match array.data_type() {
        DataType::Boolean => Cell::Bool(array.as_boolean().value(row)),
        DataType::Int8 => number!(Int8Type, Int, i64),
        DataType::Int16 => number!(Int16Type, Int, i64),
        DataType::Int32 => number!(Int32Type, Int, i64),
        DataType::Int64 => number!(Int64Type, Int, i64),
        DataType::UInt8 => number!(UInt8Type, UInt, u64),
        DataType::UInt16 => number!(UInt16Type, UInt, u64),
        DataType::UInt32 => number!(UInt32Type, UInt, u64),
        DataType::UInt64 => number!(UInt64Type, UInt, u64),
        DataType::Float16 => number!(Float16Type, Float, f32),
        DataType::Float32 => number!(Float32Type, Float, f32),
        DataType::Float64 => number!(Float64Type, Double, f64),
        DataType::Utf8 => Cell::Text(array.as_string::<i32>().value(row).to_owned()),
        DataType::LargeUtf8 => Cell::Text(array.as_string::<i64>().value(row).to_owned()),
        DataType::Utf8View => Cell::Text(array.as_string_view().value(row).to_owned()),
        DataType::Binary => bytes(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => bytes(array.as_binary::<i64>().value(row)),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().value(row)),
        DataType::List(_) => items(array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => items(array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => items(array.as_fixed_size_list().value(row)),
        DataType::Map(..) => {
            let pairs = array.as_map().value(row);
            let part =
                |part: usize, item| pairs.columns().get(part).map_or(Cell::Null, |all| value(all, item, depth + 1));
            let pair = |item| Cell::List(vec![part(0, item), part(1, item)]);
            Cell::List((0..pairs.len()).map(pair).collect())
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            let member =
                |(field, of): (&arrow_schema::FieldRef, &ArrayRef)| (field.name().clone(), value(of, row, depth + 1));
            Cell::Record(fields.iter().zip(columns).map(member).collect())
        }
        DataType::Union(..) => {
            let union = array.as_union();
            value(&union.value(row), 0, depth + 1)
        }
        DataType::Dictionary(..) => match array.as_any_dictionary_opt() {
            Some(all) => match all.normalized_keys().get(row) {
                Some(&key) => value(all.values(), key, depth + 1),
                None => Cell::Null,
            },
            None => Cell::Null,
        },
        other => Cell::Unreadable(format!("values of type {other} are not shown")),
    }
}

fn bytes(all: &[u8]) -> Cell {
    Cell::Bytes(all.iter().copied().take(MOST_BYTES).collect(), all.len())
}

/// A number as it is written: with the fewest digits that tell it from others.
fn number(text: &mut String, value: f64, plain: impl fmt::Display, scientific: impl fmt::Display) {
    let size = value.abs();
    let _ = match value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&size) {
        true => write!(text, "{plain}"),
        false => write!(text, "{scientific}"),
    };
}

/// A text that ends when there is no more room.
struct Short {
    text: String,
    room: usize,
}

impl Short {
    fn is_full(&self) -> bool {
        self.text.len() >= self.room && width(&self.text) >= self.room
    }

    fn add(&mut self, cell: &Cell, inside: bool) {
        match cell {
            Cell::Null => self.text.push('-'),
            Cell::Bool(value) => self.text.push_str(if *value { "true" } else { "false" }),
            Cell::Int(value) => self.text.push_str(&value.to_string()),
            Cell::UInt(value) => self.text.push_str(&value.to_string()),
            Cell::Float(v) => number(&mut self.text, f64::from(*v), v, format_args!("{v:e}")),
            Cell::Double(v) => number(&mut self.text, *v, v, format_args!("{v:e}")),
            Cell::Text(value) if inside => {
                let _ = write!(self.text, "{value:?}");
            }
            Cell::Text(value) => self.text.push_str(&begun(value, self.room)),
            Cell::Bytes(first, all) => {
                self.text.push_str("0x");
                let shown = first.len().min(self.room.saturating_sub(self.text.len()) / 2);
                first.iter().take(shown).for_each(|byte| {
                    let _ = write!(self.text, "{byte:02x}");
                });
                if let Some(more @ 1..) = all.checked_sub(shown) {
                    let _ = write!(self.text, "… {more} more");
                }
            }
            Cell::List(items) => self.all('[', ']', items.iter().map(|item| (None, item))),
            Cell::Record(members) => {
                self.all('{', '}', members.iter().map(|(name, item)| (Some(name.as_str()), item)));
            }
            Cell::Unreadable(why) => {
                let _ = write!(self.text, "({why})");
            }
        }
    }

    fn all<'a>(&mut self, open: char, close: char, items: impl ExactSizeIterator<Item = (Option<&'a str>, &'a Cell)>) {
        self.text.push(open);
        let count = items.len();
        for (place, (name, item)) in items.enumerate() {
            if place > 0 {
                self.text.push_str(", ");
            }
            if self.is_full() {
                let _ = write!(self.text, "… {} more", count - place);
                break;
            }
            if let Some(name) = name {
                let _ = write!(self.text, "{name}: ");
            }
            self.add(item, true);
        }
        self.text.push(close);
    }
}

/// JSON has no numbers that are not finite: they are texts.
fn json_number<S: Serializer>(
    to: S,
    value: f64,
    write: impl FnOnce(S) -> Result<S::Ok, S::Error>,
) -> Result<S::Ok, S::Error> {
    match value {
        v if v.is_finite() => write(to),
        v if v.is_nan() => to.serialize_str("NaN"),
        v if v > 0.0 => to.serialize_str("Infinity"),
        _ => to.serialize_str("-Infinity"),
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Int(value) => to.serialize_i64(*value),
            Self::UInt(value) => to.serialize_u64(*value),
            Self::Float(value) => json_number(to, f64::from(*value), |to| to.serialize_f32(*value)),
            Self::Double(value) => json_number(to, *value, |to| to.serialize_f64(*value)),
            Self::Text(value) => to.serialize_str(value),
            Self::Bytes(..) => to.collect_str(self),
            Self::List(items) => {
                let mut list = to.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Record(members) => {
                let mut map = to.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(name, item)| map.serialize_entry(name, item))?;
                map.end()
            }
            Self::Unreadable(why) => {
                let mut map = to.serialize_map(Some(1))?;
                map.serialize_entry("unreadable", why)?;
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::{Float32Builder, LargeListBuilder};
    use arrow_array::{Float64Array, StringArray};

    use super::*;

    #[test]
    fn values_are_texts_and_json() {
        let numbers = Float64Array::from(vec![Some(0.1), None, Some(f64::NAN), Some(1e300), Some(-0.0)]);
        let texts: Vec<_> = (0..5).map(|row| Cell::of(&numbers, row).to_string()).collect();
        assert_eq!(texts, ["0.1", "-", "NaN", "1e300", "-0"]);
        let json: Vec<_> = (0..4).map(|row| serde_json::to_string(&Cell::of(&numbers, row)).unwrap()).collect();
        assert_eq!(json, ["0.1", "null", "\"NaN\"", "1e+300"]);
        let text = StringArray::from(vec!["a\u{1b}[2Jb"]);
        assert_eq!(Cell::of(&text, 0), Cell::Text("a\u{1b}[2Jb".to_owned()));
    }

    #[test]
    fn lists_are_cut() {
        let mut lists = LargeListBuilder::new(Float32Builder::new());
        (0..100u8).for_each(|n| lists.values().append_value(f32::from(n) + 0.5));
        lists.append(true);
        lists.append(true);
        let lists = lists.finish();
        let cell = Cell::of(&lists, 0);
        assert_eq!(cell.short(12), "[0.5, 1.5, 2.5, … 97 more]");
        assert!(cell.to_string().ends_with("99.5]"));
        assert_eq!(Cell::of(&lists, 1).to_string(), "[]");
        assert!(serde_json::to_string(&cell).unwrap().starts_with("[0.5,1.5,"));
        assert_eq!(Cell::Bytes(vec![1, 255], 10).to_string(), "0x01ff… 8 more");
        assert_eq!(Cell::Text("größere".to_owned()).short(4), "grö…");
        assert_eq!(Cell::Text("横運動量".to_owned()).short(6), "横運…");
    }
}
