//! One number of any type, and what several readers of values share: limits and errors.

use rootfile::bytes::Cursor;
use rootfile::{Error, Result};

use crate::decode::program::types::Number;

/// Values without bytes that one container may hold.
pub(super) const MOST_EMPTY: usize = 1 << 24;

/// A number of any type.
#[derive(Clone, Copy, Debug)]
pub(in crate::decode) enum Value {
    Int(i128),
    Float(f64),
}

pub(super) fn read_number(c: &mut Cursor<'_>, number: Number) -> Result<Value> {
    Ok(match number {
        Number::Bool => Value::Int(i128::from(c.u8()? != 0)),
        Number::I8 => Value::Int(c.i8()?.into()),
        Number::U8 => Value::Int(c.u8()?.into()),
        Number::I16 => Value::Int(c.i16()?.into()),
        Number::U16 => Value::Int(c.u16()?.into()),
        Number::I32 => Value::Int(c.i32()?.into()),
        Number::U32 => Value::Int(c.u32()?.into()),
        Number::I64 => Value::Int(c.i64()?.into()),
        Number::U64 => Value::Int(c.u64()?.into()),
        Number::F32 => Value::Float(c.f32()?.into()),
        Number::F64 => Value::Float(c.f64()?),
    })
}

#[cold]
pub(super) fn too_many() -> Error {
    Error::corrupt("more values than the bytes can hold")
}

/// The operation reads another shape than the column has.
#[cold]
pub(in crate::decode) fn shape_mismatch() -> Error {
    Error::unsupported("a plan that does not fit its column")
}
