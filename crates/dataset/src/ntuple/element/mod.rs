//! Column types of the specification, and how the elements of a page are encoded in bytes. Nothing here knows fields or
//! files.

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

/// Elements of one column, decoded.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// Bits.
    Bool(Vec<bool>),
    /// Bytes and characters.
    U8(Vec<u8>),
    /// Signed integers of 8 bits.
    I8(Vec<i8>),
    /// Signed integers of 16 bits.
    I16(Vec<i16>),
    /// Unsigned integers of 16 bits.
    U16(Vec<u16>),
    /// Signed integers of 32 bits.
    I32(Vec<i32>),
    /// Unsigned integers of 32 bits.
    U32(Vec<u32>),
    /// Signed integers of 64 bits.
    I64(Vec<i64>),
    /// Unsigned integers of 64 bits.
    U64(Vec<u64>),
    /// Floats: single, half, truncated and quantised.
    F32(Vec<f32>),
    /// Doubles; also quantised values of a field of doubles.
    F64(Vec<f64>),
    /// Ends of collections, counted from the start of the cluster, as `Index32` and `Index64` have them.
    Index(Vec<u64>),
    /// For each value of a variant: the index among the elements of the alternative, and its number from 1; 0 for no value.
    Switch(Vec<(u64, u32)>),
}
