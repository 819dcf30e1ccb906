//! Column generators: numbers, texts, classes and vectors, described by constants ([`Spec`], [`Class`]), which become makers of
//! Arrow arrays ([`Generator`]).

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int16Type, Int32Type, UInt8Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BooleanArray, FixedSizeListArray, LargeListArray, LargeStringArray, PrimitiveArray, StructArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, FieldRef, Fields};
use rootfile::{Error, Result};

use super::count::{CountGenerator, CountSpec};
use super::random::{Distribution, Runs, Stream, Streams, below, kept};

/// A type of number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Bool,
    U8,
    I16,
    I32,
    U32,
    U64,
    F32,
    F64,
}

impl Number {
    fn size(self) -> u64 {
        match self {
            Self::Bool | Self::U8 => 1,
            Self::I16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::U64 | Self::F64 => 8,
        }
    }

    fn cpp(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "unsigned char",
            Self::I16 => "short",
            Self::I32 => "int",
            Self::U32 => "unsigned int",
            Self::U64 => "ULong64_t",
            Self::F32 => "float",
            Self::F64 => "double",
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::U8 => DataType::UInt8,
            Self::I16 => DataType::Int16,
            Self::I32 => DataType::Int32,
            Self::U32 => DataType::UInt32,
            Self::U64 => DataType::UInt64,
            Self::F32 => DataType::Float32,
            Self::F64 => DataType::Float64,
        }
    }
}

/// A type, with the distribution of its values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spec {
    Number(Number, Distribution),
    /// One of these.
    Text(&'static [&'static str]),
    Class(&'static Class),
    /// An array of fixed length.
    Array(u32, &'static Spec),
    Vector(CountSpec, &'static Spec),
}

/// A class: its base's members come before its own.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: &'static str,
    pub(super) base: Option<&'static Class>,
    pub(super) members: &'static [(&'static str, Spec)],
}

impl Class {
    fn all_members(&self) -> Vec<(&'static str, Spec)> {
        let mut members = self.base.map(Self::all_members).unwrap_or_default();
        members.extend_from_slice(self.members);
        members
    }

    /// Describes this class after the classes that it needs, each once.
    fn describe(&self, known: &mut Vec<&'static str>, text: &mut String) {
        if known.contains(&self.name) {
            return;
        }
        known.push(self.name);
        if let Some(base) = self.base {
            base.describe(known, text);
        }
        for (_, of) in self.members {
            of.describe(known, text);
        }
        let base = self.base.map(|base| format!(" : public {}", base.name)).unwrap_or_default();
        text.push_str(&format!("class {}{base} {{\n", self.name));
        for (name, of) in self.members {
            match of {
                Spec::Array(n, item) => text.push_str(&format!("  {} {name}[{n}];\n", item.cpp())),
                of => text.push_str(&format!("  {} {name};\n", of.cpp())),
            }
        }
        text.push_str("};\n");
    }
}

impl Spec {
    /// The name of the type in C++; of an array that of its items.
    pub(super) fn cpp(&self) -> String {
        match self {
            Self::Number(number, _) => number.cpp().to_owned(),
            Self::Text(_) => "string".to_owned(),
            Self::Class(class) => class.name.to_owned(),
            Self::Array(_, item) => item.cpp(),
            Self::Vector(_, item) => format!("vector<{}>", item.cpp()),
        }
    }

    /// Adds descriptions of the classes that are not known yet.
    pub(super) fn describe(&self, known: &mut Vec<&'static str>, text: &mut String) {
        match self {
            Self::Number(..) | Self::Text(_) => {}
            Self::Class(class) => class.describe(known, text),
            Self::Array(_, item) | Self::Vector(_, item) => item.describe(known, text),
        }
    }

    /// Ready to be made, from streams of its own.
    pub(super) fn item(&self, streams: &mut Streams) -> Generator {
        match self {
            Self::Number(number, draw) => Generator::Number(*number, *draw, streams.next()),
            Self::Text(words) => Generator::Text(words, streams.next()),
            Self::Class(class) => {
                let members = class.all_members();
                let items: Vec<Generator> = members.iter().map(|(_, of)| of.item(streams)).collect();
                let fields =
                    members.iter().zip(&items).map(|((name, _), item)| field(name, item.data_type())).collect();
                Generator::Record(fields, items)
            }
            Self::Array(n, item) => Generator::Array(*n, Box::new(item.item(streams).of_a_list())),
            Self::Vector(many, item) => {
                let stream = streams.next();
                Generator::List(CountGenerator::new(*many), stream, Box::new(item.item(streams).of_a_list()))
            }
        }
    }
}

/// A maker of arrays.
#[derive(Clone, Debug)]
pub(super) enum Generator {
    Number(Number, Distribution, Stream),
    Text(&'static [&'static str], Stream),
    Record(Fields, Vec<Generator>),
    Array(u32, Box<ListGenerator>),
    List(CountGenerator, Stream, Box<ListGenerator>),
}

/// The items of a list; the field is made once.
#[derive(Clone, Debug)]
pub(super) struct ListGenerator {
    pub(super) field: FieldRef,
    pub(super) item: Generator,
}

/// A field without nulls.
pub(super) fn field(name: &str, data_type: DataType) -> FieldRef {
    Arc::new(Field::new(name, data_type, false))
}

/// One of the words.
fn pick<'a>(words: &[&'a str], word: u64) -> &'a str {
    let at = below(word, u32::try_from(words.len()).unwrap_or(u32::MAX));
    words.get(at as usize).copied().unwrap_or_default()
}

fn primitive<T: ArrowPrimitiveType>(values: Vec<T::Native>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(values.into(), None))
}

impl Generator {
    /// The Arrow type, as decoding the branch gives it.
    pub(super) fn data_type(&self) -> DataType {
        match self {
            Self::Number(number, ..) => number.data_type(),
            Self::Text(..) => DataType::LargeUtf8,
            Self::Record(fields, _) => DataType::Struct(fields.clone()),
            Self::Array(n, inner) => {
                DataType::FixedSizeList(inner.field.clone(), i32::try_from(*n).unwrap_or(i32::MAX))
            }
            Self::List(.., inner) => DataType::LargeList(inner.field.clone()),
        }
    }

    /// As the items of a list.
    pub(super) fn of_a_list(self) -> ListGenerator {
        ListGenerator { field: field("item", self.data_type()), item: self }
    }

    /// Bytes of numbers and texts, if that is always the same.
    pub(super) fn fixed_size(&self) -> Option<u64> {
        match self {
            Self::Number(number, ..) => Some(number.size()),
            Self::Text(..) => None,
            Self::Record(_, parts) => parts.iter().map(Self::fixed_size).sum(),
            Self::Array(n, inner) => Some(u64::from(*n) * inner.item.fixed_size()?),
            Self::List(CountGenerator::Fixed(n), _, inner) => Some(*n as u64 * inner.item.fixed_size()?),
            Self::List(..) => None,
        }
    }

    /// Bytes of numbers and texts at the positions.
    pub(super) fn size(&self, runs: &Runs) -> u64 {
        if let Some(size) = self.fixed_size() {
            return size * runs.total as u64;
        }
        match self {
            Self::Number(..) => 0,
            Self::Text(words, stream) => runs.positions().map(|at| pick(words, stream.word(at)).len() as u64).sum(),
            Self::Record(_, parts) => parts.iter().map(|item| item.size(runs)).sum(),
            Self::Array(n, inner) => inner.item.size(&runs.times(*n as usize)),
            Self::List(count, stream, inner) => match inner.item.fixed_size() {
                Some(size) => size * count.total(*stream, runs),
                None => inner.item.size(&count.items(*stream, runs).0),
            },
        }
    }

    /// The values at the positions.
    pub(super) fn array(&self, runs: &Runs) -> Result<ArrayRef> {
        Ok(match self {
            Self::Number(number, draw, stream) => numbers(*number, *draw, *stream, runs),
            Self::Text(words, stream) => {
                Arc::new(LargeStringArray::from_iter_values(runs.positions().map(|at| pick(words, stream.word(at)))))
            }
            Self::Record(fields, parts) => {
                let arrays = parts.iter().map(|item| item.array(runs)).collect::<Result<Vec<_>>>()?;
                Arc::new(StructArray::try_new(fields.clone(), arrays, None).map_err(|e| wrong(&e))?)
            }
            Self::Array(n, inner) => {
                let size = i32::try_from(*n).unwrap_or(i32::MAX);
                let values = inner.item.array(&runs.times(*n as usize))?;
                Arc::new(FixedSizeListArray::try_new(inner.field.clone(), size, values, None).map_err(|e| wrong(&e))?)
            }
            Self::List(count, stream, inner) => {
                let (items, offsets) = count.items(*stream, runs);
                inner.array(&items, offsets)?
            }
        })
    }
}

impl ListGenerator {
    /// Lists of the items at these positions.
    pub(super) fn array(&self, items: &Runs, offsets: OffsetBuffer<i64>) -> Result<ArrayRef> {
        let values = self.item.array(items)?;
        let list = LargeListArray::try_new(self.field.clone(), offsets, values, None);
        Ok(Arc::new(list.map_err(|e| wrong(&e))?))
    }
}

fn numbers(number: Number, draw: Distribution, stream: Stream, runs: &Runs) -> ArrayRef {
    let most = match draw {
        Distribution::Below(n) | Distribution::Rare(n) => n,
        _ => u32::MAX,
    };
    // Constants for narrow types are small enough.
    match number {
        Number::Bool => Arc::new(BooleanArray::from(stream.fill(runs, |word| below(word, most) == 0))),
        Number::U8 => primitive::<UInt8Type>(stream.fill(runs, |word| below(word, most) as u8)),
        Number::I16 => primitive::<Int16Type>(stream.fill(runs, |word| below(word, most) as i16)),
        Number::I32 => primitive::<Int32Type>(stream.fill(runs, |word| below(word, most) as i32)),
        Number::U32 => primitive::<UInt32Type>(stream.fill(runs, |word| below(word, most))),
        Number::U64 => match draw {
            Distribution::Serial => primitive::<UInt64Type>(runs.positions().collect()),
            _ => primitive::<UInt64Type>(stream.fill(runs, |word| u64::from(below(word, most)))),
        },
        Number::F32 => {
            let real = draw.real();
            primitive::<Float32Type>(stream.fill(runs, |word| kept(real(word))))
        }
        Number::F64 => primitive::<Float64Type>(draw.doubles(stream, runs)),
    }
}

pub(super) fn wrong(e: &arrow_schema::ArrowError) -> Error {
    Error::request(format!("the columns do not fit together: {e}"))
}
