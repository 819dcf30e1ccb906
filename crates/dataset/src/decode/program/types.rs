//! The shape of a column's values, independent of their format in a file, and the Arrow type of each shape.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, UnionFields, UnionMode};
use rootfile::streamer::code;

/// Why something is not decoded.
pub(crate) type Reason = String;

/// The parts of a map's items.
pub(crate) const MAP_PARTS: [&str; 2] = ["key", "value"];
/// The parts of a `std::pair`.
pub(crate) const PAIR_PARTS: [&str; 2] = ["first", "second"];

/// A number, as Arrow has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Number {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

/// The shape of one value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Number(Number),
    /// A string.
    Text,
    /// Opaque bytes.
    Bytes,
    /// A fixed number of values.
    Fixed(usize, Box<Shape>),
    /// Any number of values.
    List(Box<Shape>),
    /// Named parts.
    Record(Vec<(String, Shape)>),
    /// A value or null.
    Optional(Box<Shape>),
    /// A value of one of the named parts, or of none.
    Variant(Vec<(String, Shape)>),
}

impl Number {
    /// The number that a basic type code stands for.
    pub(crate) fn of_type_code(type_code: i32) -> Option<Self> {
        Some(match type_code {
            code::CHAR => Self::I8,
            code::SHORT => Self::I16,
            code::INT => Self::I32,
            code::LONG | code::LONG64 => Self::I64,
            code::FLOAT => Self::F32,
            code::DOUBLE => Self::F64,
            code::UCHAR | code::LEGACY_CHAR => Self::U8,
            code::USHORT => Self::U16,
            // Counters cannot be negative; uproot has them without a sign, too.
            code::UINT | code::BITS | code::COUNTER => Self::U32,
            code::ULONG | code::ULONG64 => Self::U64,
            code::BOOL => Self::Bool,
            _ => return None,
        })
    }

    /// Bytes of one value in a file, and in Arrow but for [`Number::Bool`].
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The Arrow type.
    pub(crate) fn data_type(self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::I8 => DataType::Int8,
            Self::U8 => DataType::UInt8,
            Self::I16 => DataType::Int16,
            Self::U16 => DataType::UInt16,
            Self::I32 => DataType::Int32,
            Self::U32 => DataType::UInt32,
            Self::I64 => DataType::Int64,
            Self::U64 => DataType::UInt64,
            Self::F32 => DataType::Float32,
            Self::F64 => DataType::Float64,
        }
    }

    /// The name of the type in C++, as uproot spells it.
    pub(crate) fn cpp(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "int8_t",
            Self::U8 => "uint8_t",
            Self::I16 => "int16_t",
            Self::U16 => "uint16_t",
            Self::I32 => "int32_t",
            Self::U32 => "uint32_t",
            Self::I64 => "int64_t",
            Self::U64 => "uint64_t",
            Self::F32 => "float",
            Self::F64 => "double",
        }
    }
}

impl Shape {
    /// Named parts of a record.
    pub(crate) fn parts<const N: usize>(names: [&str; N], shapes: [Self; N]) -> Vec<(String, Self)> {
        names.into_iter().map(str::to_owned).zip(shapes).collect()
    }

    /// A list of this shape.
    pub(crate) fn list(self) -> Self {
        Self::List(Box::new(self))
    }

    /// Fixed arrays of this shape, the outermost dimension first. An array of one dimension may have length 1.
    pub(crate) fn fixed(self, dims: &[usize]) -> Self {
        dims.iter().rev().fold(self, |shape, &n| Self::Fixed(n, Box::new(shape)))
    }

    /// The Arrow type.
    pub(crate) fn data_type(&self) -> DataType {
        match self {
            Self::Number(number) => number.data_type(),
            Self::Text => DataType::LargeUtf8,
            Self::Bytes => DataType::LargeBinary,
            Self::Fixed(n, inner) => DataType::FixedSizeList(inner.item(), i32::try_from(*n).unwrap_or(i32::MAX)),
            Self::List(inner) => DataType::LargeList(inner.item()),
            Self::Record(parts) => DataType::Struct(Self::fields(parts)),
            Self::Optional(inner) => inner.data_type(),
            Self::Variant(parts) => DataType::Union(Self::alternatives(parts), UnionMode::Dense),
        }
    }

    /// The Arrow fields of a record.
    pub(crate) fn fields(parts: &[(String, Self)]) -> Fields {
        parts.iter().map(|(name, shape)| shape.field(name)).collect()
    }

    /// The Arrow fields of a union: its type IDs are those of the parts, counted from 1. Arrow has no nulls of unions: a value
    /// of no part has type ID 0, the type of nulls, which pyarrow and awkward read as a null.
    pub(crate) fn alternatives(parts: &[(String, Self)]) -> UnionFields {
        let none: FieldRef = Arc::new(Field::new("none", DataType::Null, true));
        let parts = parts.iter().map(|(name, shape)| shape.field(name));
        (0i8..).zip(std::iter::once(none).chain(parts)).collect()
    }

    /// The field of a list's items.
    pub(crate) fn item(&self) -> FieldRef {
        self.field("item")
    }

    /// An Arrow field of this shape.
    pub(crate) fn field(&self, name: &str) -> FieldRef {
        Arc::new(Field::new(name, self.data_type(), matches!(self, Self::Optional(_) | Self::Variant(_))))
    }
}
