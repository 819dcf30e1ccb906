//! The column types of the specification: their codes, names, sizes, and what a decoded element is.

use std::fmt;
use std::ops::RangeInclusive;

/// How the elements of a column are encoded: the values 0x00 to 0x1D of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ColumnType {
    Bit,
    Byte,
    Char,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Real16,
    Real32,
    Real64,
    Index32,
    Index64,
    Switch,
    SplitInt16,
    SplitUInt16,
    SplitInt32,
    SplitUInt32,
    SplitInt64,
    SplitUInt64,
    /// Only in the specification: ROOT neither reads nor writes it.
    SplitReal16,
    SplitReal32,
    SplitReal64,
    SplitIndex32,
    SplitIndex64,
    Real32Trunc,
    Real32Quant,
    /// A type that the specification does not define. The fields with such columns cannot be read.
    Unknown(u16),
}

/// What a decoded element is. [`Elements`](super::Elements) has a variant for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Bool,
    U8,
    I8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    Index,
    Switch,
}

impl Kind {
    /// Bytes of an element in memory, as ROOT has it: the limit of a page counts these (`RColumn::ConnectPageSink`).
    pub fn memory_size(self) -> usize {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::Index => 8,
            Self::Switch => 16,
        }
    }
}

/// The defined types, by code.
const TYPES: [ColumnType; 30] = {
    use ColumnType::*;
    [
        Bit,
        Byte,
        Char,
        Int8,
        UInt8,
        Int16,
        UInt16,
        Int32,
        UInt32,
        Int64,
        UInt64,
        Real16,
        Real32,
        Real64,
        Index32,
        Index64,
        Switch,
        SplitInt16,
        SplitUInt16,
        SplitInt32,
        SplitUInt32,
        SplitInt64,
        SplitUInt64,
        SplitReal16,
        SplitReal32,
        SplitReal64,
        SplitIndex32,
        SplitIndex64,
        Real32Trunc,
        Real32Quant,
    ]
};

/// The types with a split twin, and the twin.
const TWINS: [(ColumnType, ColumnType); 11] = {
    use ColumnType::*;
    [
        (Int16, SplitInt16),
        (UInt16, SplitUInt16),
        (Int32, SplitInt32),
        (UInt32, SplitUInt32),
        (Int64, SplitInt64),
        (UInt64, SplitUInt64),
        (Real16, SplitReal16),
        (Real32, SplitReal32),
        (Real64, SplitReal64),
        (Index32, SplitIndex32),
        (Index64, SplitIndex64),
    ]
};

impl ColumnType {
    /// The type with a code.
    pub fn from_code(code: u16) -> Self {
        TYPES.get(usize::from(code)).copied().unwrap_or(Self::Unknown(code))
    }

    /// The code in the column's description.
    pub fn code(self) -> u16 {
        match self {
            Self::Unknown(code) => code,
            known => TYPES.iter().position(|t| *t == known).and_then(|i| u16::try_from(i).ok()).unwrap_or(u16::MAX),
        }
    }

    /// All types that the specification defines, by code.
    pub fn all() -> &'static [Self] {
        &TYPES
    }

    /// The bits of an element in a page that the specification allows. None for an unknown type.
    pub fn valid_bits(self) -> Option<RangeInclusive<u16>> {
        Some(match self {
            Self::Bit => 1..=1,
            Self::Byte | Self::Char | Self::Int8 | Self::UInt8 => 8..=8,
            Self::Int16 | Self::UInt16 | Self::Real16 => 16..=16,
            Self::SplitInt16 | Self::SplitUInt16 | Self::SplitReal16 => 16..=16,
            Self::Int32 | Self::UInt32 | Self::Real32 | Self::Index32 => 32..=32,
            Self::SplitInt32 | Self::SplitUInt32 | Self::SplitReal32 | Self::SplitIndex32 => 32..=32,
            Self::Int64 | Self::UInt64 | Self::Real64 | Self::Index64 => 64..=64,
            Self::SplitInt64 | Self::SplitUInt64 | Self::SplitReal64 | Self::SplitIndex64 => 64..=64,
            Self::Switch => 96..=96,
            Self::Real32Trunc => 10..=31,
            Self::Real32Quant => 1..=32,
            Self::Unknown(_) => return None,
        })
    }

    /// What a decoded element is. None for an unknown type.
    pub fn kind(self) -> Option<Kind> {
        Some(match self {
            Self::Bit => Kind::Bool,
            Self::Byte | Self::Char | Self::UInt8 => Kind::U8,
            Self::Int8 => Kind::I8,
            Self::Int16 | Self::SplitInt16 => Kind::I16,
            Self::UInt16 | Self::SplitUInt16 => Kind::U16,
            Self::Int32 | Self::SplitInt32 => Kind::I32,
            Self::UInt32 | Self::SplitUInt32 => Kind::U32,
            Self::Int64 | Self::SplitInt64 => Kind::I64,
            Self::UInt64 | Self::SplitUInt64 => Kind::U64,
            Self::Real16
            | Self::SplitReal16
            | Self::Real32
            | Self::SplitReal32
            | Self::Real32Trunc
            | Self::Real32Quant => Kind::F32,
            Self::Real64 | Self::SplitReal64 => Kind::F64,
            Self::Index32 | Self::SplitIndex32 | Self::Index64 | Self::SplitIndex64 => Kind::Index,
            Self::Switch => Kind::Switch,
            Self::Unknown(_) => return None,
        })
    }

    /// Whether the elements are ends of collections.
    pub fn is_index(self) -> bool {
        self.kind() == Some(Kind::Index)
    }

    /// Whether pages have all first bytes first, then all second bytes, and so on.
    pub fn is_split(self) -> bool {
        TWINS.iter().any(|(_, split)| *split == self)
    }

    /// The same type in split encoding; itself if it is split. None for types without such an encoding.
    pub fn split(self) -> Option<Self> {
        TWINS.iter().find(|(plain, split)| *plain == self || *split == self).map(|(_, split)| *split)
    }

    /// The same type without split encoding; itself for types without such an encoding.
    #[must_use]
    pub fn unsplit(self) -> Self {
        TWINS.iter().find(|(_, split)| *split == self).map_or(self, |(plain, _)| *plain)
    }
}

impl fmt::Display for ColumnType {
    /// The name in the specification.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(code) => write!(f, "unknown column type {code:#04x}"),
            known => fmt::Debug::fmt(known, f),
        }
    }
}
