//! Single values outside of trees, decoded as the entries of branches are: members of objects that are containers of the
//! standard library, and such containers as objects of their own. Other members of objects are read by `rootfile::object`.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use rootfile::streamer::{StreamerElement, StreamerInfo, StreamerInfos};
use rootfile::{Error, Result};

use super::column_plan::ColumnPlan;
use super::plan::branch;
use super::program::model::Program;
use super::program::types::Reason;
use super::run::column::Column;
use super::run::entries;

/// The bit of the first byte that says that a byte count follows. No container has so many items.
const FRAMED: u8 = 0x40;

/// The value of a member of an object, from the member's bytes: an array of one value, and its field, whose metadata are those of
/// [`ColumnPlan::field`].
///
/// # Errors
///
/// If the member's type is not described in the file or has pointers, which may refer to objects outside of these bytes, or if the
/// bytes do not fit the type.
pub fn member(
    infos: &StreamerInfos,
    info: &StreamerInfo,
    element: &StreamerElement,
    bytes: &[u8],
) -> Result<(FieldRef, ArrayRef)> {
    decoded(&element.name, branch::of_member(info, element, infos), bytes)
}

/// The value of an object of this class, such as `vector<double>`, from the bytes of its record: see [`member`].
///
/// # Errors
///
/// As for [`member`].
pub fn object(infos: &StreamerInfos, class: &str, bytes: &[u8]) -> Result<(FieldRef, ArrayRef)> {
    // Containers that are written as objects of their own have no frame.
    let is_framed = bytes.first().is_some_and(|first| first & FRAMED != 0);
    let program = if is_framed { branch::streamed(class, (0, 0), infos) } else { branch::unframed(class, infos) };
    decoded(class, program, bytes)
}

fn decoded(name: &str, program: std::result::Result<Program, Reason>, bytes: &[u8]) -> Result<(FieldRef, ArrayRef)> {
    let of_name = |e: Error| e.object(name.to_owned());
    let program = program.map_err(|why| of_name(Error::unsupported(why)))?;
    if program.pointers {
        return Err(of_name(Error::unsupported("pointers to objects elsewhere in a record")));
    }
    let mut column = Column::new(&program.shape, 1);
    entries::objects(&program, &mut column, std::iter::once(bytes)).map_err(of_name)?;
    let typename = program.typename.clone();
    let field = Arc::clone(ColumnPlan::from_program(name, &typename, 0, program, None, <_>::default()).field());
    Ok((field, column.finish().map_err(of_name)?))
}
