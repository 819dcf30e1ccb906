//! The decoded elements of a column, in the representation that Arrow's arrays have.

use std::collections::TryReserveError;
use std::ops::Range;

use arrow_buffer::BooleanBufferBuilder;
use rootfile::{Error, Result};

use super::column_type::{ColumnType, Kind};
use super::encoding::Encoding;
use super::ends::Ends;
use super::float;
use super::unpack::PageBytes;
use super::word::zigzag;
use crate::known_ends::KnownEnds;

/// Elements of one column, decoded. Each variant becomes an Arrow buffer without another pass over the elements.
#[derive(Debug)]
pub enum Elements {
    /// Bits: `Bit`. Pages and Arrow pack them in the same way.
    Bool(BooleanBufferBuilder),
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
    /// Doubles; also the floats of a column whose field is a double.
    F64(Vec<f64>),
    /// Ends of collections, as offsets with a leading zero.
    Index(Ends),
    /// For each value of a variant: the index among the elements of the alternative in the cluster, and the alternative's
    /// number from 1; 0 for no value.
    Switch(Vec<(u64, u32)>),
}

/// Runs the same code for each variant that is a vector.
macro_rules! each_vec {
    ($elements:expr, $vec:ident => $vecs:expr, $bits:ident => $bools:expr, $ends:ident => $indices:expr) => {
        match $elements {
            Elements::Bool($bits) => $bools,
            Elements::Index($ends) => $indices,
            Elements::U8($vec) => $vecs,
            Elements::I8($vec) => $vecs,
            Elements::I16($vec) => $vecs,
            Elements::U16($vec) => $vecs,
            Elements::I32($vec) => $vecs,
            Elements::U32($vec) => $vecs,
            Elements::I64($vec) => $vecs,
            Elements::U64($vec) => $vecs,
            Elements::F32($vec) => $vecs,
            Elements::F64($vec) => $vecs,
            Elements::Switch($vec) => $vecs,
        }
    };
}

impl Elements {
    /// No elements yet. With `double`, columns of floats are decoded to doubles: for fields of type `double`, which may be
    /// stored with less precision (`Double32_t`, and truncated or quantised columns). Quantised doubles have more digits than
    /// the same column as floats.
    pub fn new(kind: Kind, double: bool) -> Self {
        match kind {
            Kind::Bool => Self::Bool(BooleanBufferBuilder::new(0)),
            Kind::U8 => Self::U8(Vec::new()),
            Kind::I8 => Self::I8(Vec::new()),
            Kind::I16 => Self::I16(Vec::new()),
            Kind::U16 => Self::U16(Vec::new()),
            Kind::I32 => Self::I32(Vec::new()),
            Kind::U32 => Self::U32(Vec::new()),
            Kind::I64 => Self::I64(Vec::new()),
            Kind::U64 => Self::U64(Vec::new()),
            Kind::F32 if !double => Self::F32(Vec::new()),
            Kind::F32 | Kind::F64 => Self::F64(Vec::new()),
            Kind::Index => Self::Index(Ends::default()),
            Kind::Switch => Self::Switch(Vec::new()),
        }
    }

    /// What the elements are.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Bool(_) => Kind::Bool,
            Self::U8(_) => Kind::U8,
            Self::I8(_) => Kind::I8,
            Self::I16(_) => Kind::I16,
            Self::U16(_) => Kind::U16,
            Self::I32(_) => Kind::I32,
            Self::U32(_) => Kind::U32,
            Self::I64(_) => Kind::I64,
            Self::U64(_) => Kind::U64,
            Self::F32(_) => Kind::F32,
            Self::F64(_) => Kind::F64,
            Self::Index(_) => Kind::Index,
            Self::Switch(_) => Kind::Switch,
        }
    }

    /// How many elements.
    pub fn len(&self) -> usize {
        each_vec!(self, v => v.len(), b => b.len(), e => e.len())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for as many more elements as a caller knows to come.
    ///
    /// # Errors
    ///
    /// If memory cannot hold as many: a number in the file is wrong.
    pub fn reserve(&mut self, additional: usize) -> Result<()> {
        let room: std::result::Result<(), TryReserveError> = each_vec!(self,
            v => v.try_reserve(additional),
            // Its buffer has no fallible method; a vector finds out without touching the memory.
            b => Vec::<u8>::new().try_reserve(b.len().saturating_add(additional) / 8).map(|()| b.reserve(additional)),
            e => e.try_reserve(additional)
        );
        room.map_err(|_| no_memory(additional))
    }

    /// Removes the first elements, and keeps the memory. Not for ends as offsets, of which none can be removed.
    pub fn forget(&mut self, count: usize) {
        each_vec!(self,
            v => drop(v.drain(..count.min(v.len()))),
            b => {
                let mut rest = BooleanBufferBuilder::new(0);
                rest.append_packed_range(count.min(b.len())..b.len(), b.as_slice());
                *b = rest;
            },
            _e => {}
        );
    }

    /// Bytes of its memory.
    pub fn capacity(&self) -> usize {
        fn bytes<T>(v: &Vec<T>) -> usize {
            v.capacity() * size_of::<T>()
        }
        each_vec!(self, v => bytes(v), b => b.capacity() / 8, e => e.len() * size_of::<i64>())
    }

    /// Makes room for more elements. It grows by a quarter, not by doubling: its memory is part of a budget.
    pub fn make_room(&mut self, more: usize) {
        fn room<T>(v: &mut Vec<T>, more: usize) {
            if v.capacity() - v.len() < more {
                v.reserve_exact(more + v.len() / 4);
            }
        }
        each_vec!(self, v => room(v, more), _b => (), _e => ());
    }

    /// Frees memory that holds no elements.
    pub fn shrink_to_fit(&mut self) {
        // Bits take little.
        each_vec!(self, v => v.shrink_to_fit(), _b => (), _e => ());
    }

    /// Adds zeroes: the elements of a deferred column before its first stored one. For ends these are empty collections.
    ///
    /// # Errors
    ///
    /// If memory cannot hold as many: a number in the file is wrong.
    pub fn append_zeros(&mut self, count: usize) -> Result<()> {
        self.reserve(count)?;
        let len = self.len() + count;
        each_vec!(self, v => v.resize(len, Default::default()), b => b.append_n(count, false), e => e.append_empty(count));
        Ok(())
    }

    /// Adds the elements of another column, of the same variant. Ends continue after the own last one. If there are none yet,
    /// and no more room than the other has, this takes the other's memory.
    ///
    /// # Errors
    ///
    /// If the elements are of another variant, or if memory cannot hold them.
    pub fn append(&mut self, other: Self) -> Result<()> {
        macro_rules! append_vec {
            ($own:ident, $other:ident) => {{
                if $own.is_empty() && $own.capacity() <= $other.capacity() {
                    *$own = $other;
                } else {
                    $own.try_reserve($other.len()).map_err(|_| no_memory($other.len()))?;
                    $own.extend_from_slice(&$other);
                }
            }};
        }
        match (self, other) {
            (Self::Bool(own), Self::Bool(other)) if own.is_empty() && own.capacity() <= other.capacity() => {
                *own = other
            }
            (Self::Bool(own), Self::Bool(other)) => own.append_packed_range(0..other.len(), other.as_slice()),
            (Self::U8(own), Self::U8(other)) => append_vec!(own, other),
            (Self::I8(own), Self::I8(other)) => append_vec!(own, other),
            (Self::I16(own), Self::I16(other)) => append_vec!(own, other),
            (Self::U16(own), Self::U16(other)) => append_vec!(own, other),
            (Self::I32(own), Self::I32(other)) => append_vec!(own, other),
            (Self::U32(own), Self::U32(other)) => append_vec!(own, other),
            (Self::I64(own), Self::I64(other)) => append_vec!(own, other),
            (Self::U64(own), Self::U64(other)) => append_vec!(own, other),
            (Self::F32(own), Self::F32(other)) => append_vec!(own, other),
            (Self::F64(own), Self::F64(other)) => append_vec!(own, other),
            (Self::Index(own), Self::Index(other)) => own.append(other)?,
            (Self::Switch(own), Self::Switch(other)) => append_vec!(own, other),
            (own, other) => {
                let (own, other) = (own.kind(), other.kind());
                return Err(Error::request(format!("elements of kind {other:?} behind those of kind {own:?}")));
            }
        }
        Ok(())
    }

    /// Elements that are decoded from now on are those of another cluster. Only for ends, see [`Ends::start_cluster`].
    ///
    /// # Errors
    ///
    /// If `skipped` is no possible end.
    pub fn start_cluster(&mut self, skipped: u64) -> Result<()> {
        match self {
            Self::Index(ends) => ends.start_cluster(skipped),
            _ => Ok(()),
        }
    }

    /// Adds the elements `range` of an uncompressed page that has `elements` elements.
    ///
    /// # Errors
    ///
    /// If the page does not have as many bytes as its elements need, if ends of collections decrease, or if the column's
    /// elements are not of this [`Kind`]. Nothing is added then.
    pub fn decode(&mut self, encoding: &Encoding, page: &[u8], elements: usize, range: Range<usize>) -> Result<()> {
        self.decode_on(encoding, page, elements, range, &mut KnownEnds::default())
    }

    /// The same with what is `known` of the page from earlier calls.
    pub(crate) fn decode_on(
        &mut self,
        encoding: &Encoding,
        page: &[u8],
        elements: usize,
        range: Range<usize>,
        known: &mut KnownEnds,
    ) -> Result<()> {
        let page = PageBytes::new(encoding, page, elements, range)?;
        self.reserve(page.len())?;
        match (encoding.column_type(), self) {
            (ColumnType::Bit, Self::Bool(out)) => out.append_packed_range(page.range(), page.bytes()),
            (ColumnType::Byte | ColumnType::Char | ColumnType::UInt8, Self::U8(out)) => {
                out.extend_from_slice(page.bytes().get(page.range()).unwrap_or_default());
            }
            (ColumnType::Int8, Self::I8(out)) => page.plain(out, |b: u8| b.cast_signed()),
            (ColumnType::Int16, Self::I16(out)) => page.plain(out, u16::cast_signed),
            (ColumnType::UInt16, Self::U16(out)) => page.plain(out, |w: u16| w),
            (ColumnType::Int32, Self::I32(out)) => page.plain(out, u32::cast_signed),
            (ColumnType::UInt32, Self::U32(out)) => page.plain(out, |w: u32| w),
            (ColumnType::Int64, Self::I64(out)) => page.plain(out, u64::cast_signed),
            (ColumnType::UInt64, Self::U64(out)) => page.plain(out, |w: u64| w),
            (ColumnType::SplitInt16, Self::I16(out)) => page.split(out, zigzag::decode16),
            (ColumnType::SplitUInt16, Self::U16(out)) => page.split(out, |w: u16| w),
            (ColumnType::SplitInt32, Self::I32(out)) => page.split(out, zigzag::decode32),
            (ColumnType::SplitUInt32, Self::U32(out)) => page.split(out, |w: u32| w),
            (ColumnType::SplitInt64, Self::I64(out)) => page.split(out, zigzag::decode64),
            (ColumnType::SplitUInt64, Self::U64(out)) => page.split(out, |w: u64| w),
            (ColumnType::Real16, Self::F32(out)) => page.plain(out, float::from_half),
            (ColumnType::Real16, Self::F64(out)) => page.plain(out, |w| float::from_half(w).into()),
            (ColumnType::SplitReal16, Self::F32(out)) => page.split(out, float::from_half),
            (ColumnType::SplitReal16, Self::F64(out)) => page.split(out, |w| float::from_half(w).into()),
            (ColumnType::Real32, Self::F32(out)) => page.plain(out, f32::from_bits),
            (ColumnType::Real32, Self::F64(out)) => page.plain(out, |w| f32::from_bits(w).into()),
            (ColumnType::SplitReal32, Self::F32(out)) => page.split(out, f32::from_bits),
            (ColumnType::SplitReal32, Self::F64(out)) => page.split(out, |w| f32::from_bits(w).into()),
            (ColumnType::Real64, Self::F64(out)) => page.plain(out, f64::from_bits),
            (ColumnType::SplitReal64, Self::F64(out)) => page.split(out, f64::from_bits),
            (ColumnType::Real32Trunc, Self::F32(out)) => page.unpack(out, float::untruncate(encoding)),
            (ColumnType::Real32Trunc, Self::F64(out)) => {
                let untruncate = float::untruncate(encoding);
                page.unpack(out, |w| untruncate(w).into());
            }
            (ColumnType::Real32Quant, Self::F32(out)) => {
                let unquantize = float::unquantize(encoding);
                page.unpack(out, |w| unquantize(w) as f32);
            }
            (ColumnType::Real32Quant, Self::F64(out)) => page.unpack(out, float::unquantize(encoding)),
            (ColumnType::Index32, Self::Index(out)) => return page.ends::<u32>(out),
            (ColumnType::Index64, Self::Index(out)) => return page.ends::<u64>(out),
            (ColumnType::SplitIndex32, Self::Index(out)) => return page.split_ends::<u32>(out, known),
            (ColumnType::SplitIndex64, Self::Index(out)) => return page.split_ends::<u64>(out, known),
            (ColumnType::Switch, Self::Switch(out)) => page.switches(out),
            (column_type, elements) => {
                let kind = elements.kind();
                return Err(Error::unsupported(format!("a column of type {column_type} is not decoded to {kind:?}")));
            }
        }
        Ok(())
    }
}

#[cold]
fn no_memory(additional: usize) -> Error {
    Error::corrupt(format!("no memory for {additional} elements of a column"))
}
