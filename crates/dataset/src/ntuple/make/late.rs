//! Fields that are added to an RNTuple whose header is written: the schema extension, which the footer has.
//!
//! Facts: specification of RNTuple 1.0, "Schema extension record frame": its fields and columns are numbered behind those of the header.

use rootfile::{Error, Result};

use crate::ntuple::model::{Column, Field, Schema};

/// The schema `whole`, whose first fields and columns are those of `before`: the others are an extension. From which element on they are
/// stored is not known yet.
///
/// # Errors
///
/// If the first fields and columns are not those of `before`.
pub fn extended(before: &Schema, mut whole: Schema) -> Result<Schema> {
    let has_all = whole.fields.len() >= before.fields.len() && whole.columns.len() >= before.columns.len();
    for (number, field) in whole.fields.iter_mut().enumerate() {
        field.in_extension = before.fields.get(number).is_none_or(|old| old.in_extension);
    }
    for (number, column) in whole.columns.iter_mut().enumerate() {
        column.in_extension = before.columns.get(number).is_none_or(|old| old.in_extension);
    }
    let fields = |schema: &Schema| -> Vec<Field> { schema.fields.iter().take(before.fields.len()).cloned().collect() };
    let columns =
        |schema: &Schema| -> Vec<Column> { schema.columns.iter().take(before.columns.len()).cloned().collect() };
    if has_all && fields(before) == fields(&whole) && columns(before) == columns(&whole) {
        Ok(whole)
    } else {
        Err(Error::request("the new fields would change fields that have entries"))
    }
}
