//! The schema of an existing RNTuple for a writer that makes new clusters and pages: the same fields, one representation of each,
//! nothing deferred and nothing in an extension.

use rootfile::{Error, Result};

use super::column_encoding::FieldEncoding;
use super::inputs::Input;
use super::maker::MadeSchema;
use crate::decode::program::types::Number;
use crate::layout::ColumnEncoding;
use crate::ntuple::element::{ColumnType, Kind};
use crate::ntuple::model::{AliasColumn, Column, ExtraTypeInfo, Field, Schema};
use crate::ntuple::type_name::normalized;

/// The schema with the top-level fields for which `keeps` says so. `encoding` gives the requested encoding of a field by its path; a
/// field without one keeps its own: of several representations that with the most bits.
///
/// # Errors
///
/// If a field cannot be read, so that its values cannot be written; if a projected field shows one that is not kept.
pub fn schema_again(
    schema: &Schema,
    keeps: &dyn Fn(&str) -> bool,
    encoding: &dyn Fn(&[&str]) -> FieldEncoding,
) -> Result<MadeSchema> {
    let mut copy =
        Copy { schema, ids: vec![None; schema.fields.len()], columns: Vec::new(), places: Vec::new(), encoding };
    let mut fields: Vec<Field> = Vec::new();
    let tops: Vec<usize> = schema.children(None).into_iter().filter(|id| keeps(&schema.path(*id))).collect();
    for &top in &tops {
        copy.field(top, &mut fields);
    }
    let Copy { ids, columns, places, .. } = copy;
    let id_of = |id: usize| ids.get(id).copied().flatten();
    for field in &mut fields {
        let Some(source) = field.source else { continue };
        let shown =
            || Error::request("it shows a field that is left out; keep both or none").object(field.name.clone());
        field.source = Some(id_of(source).ok_or_else(shown)?);
    }
    let aliases = schema.aliases.iter().filter_map(|alias| {
        let (_, column) = places.iter().find(|(old, _)| *old == alias.column)?;
        Some(AliasColumn { column: *column, field: id_of(alias.field)? })
    });
    let aliases = aliases.collect();
    let extra = schema.extra.iter().map(|extra| ExtraTypeInfo { in_extension: true, ..extra.clone() }).collect();
    let made = Schema::new(fields, columns, aliases, extra);
    let stored = made.children(None).into_iter().filter(|id| made.fields.get(*id).is_some_and(|f| f.source.is_none()));
    let mut inputs: Vec<Input> = stored.map(Input::of_field).collect();
    inputs.iter_mut().for_each(|input| input.plan_for(&made));
    Ok(MadeSchema { schema: made, inputs })
}

struct Copy<'a> {
    schema: &'a Schema,
    /// The new ID of each field.
    ids: Vec<Option<usize>>,
    columns: Vec<Column>,
    /// Old and new IDs of columns.
    places: Vec<(usize, usize)>,
    encoding: &'a dyn Fn(&[&str]) -> FieldEncoding,
}

impl Copy<'_> {
    fn field(&mut self, id: usize, fields: &mut Vec<Field>) {
        let Some(field) = self.schema.fields.get(id) else { return };
        let parent = field.parent.and_then(|parent| self.ids.get(parent).copied().flatten());
        let new = fields.len();
        fields.push(Field { parent, in_extension: false, ..field.clone() });
        if let Some(slot) = self.ids.get_mut(id) {
            *slot = Some(new);
        }
        self.columns(id, new);
        for child in self.schema.children(Some(id)) {
            self.field(child, fields);
        }
    }

    fn columns(&mut self, id: usize, new: usize) {
        let own: Vec<(usize, &Column)> =
            self.schema.columns_of(id).iter().filter_map(|id| Some((*id, self.schema.columns.get(*id)?))).collect();
        let most = own.iter().max_by_key(|(_, column)| (column.bits, std::cmp::Reverse(column.representation)));
        let chosen = most.map_or(0, |(_, column)| column.representation);
        let mut path = self.schema.lineage(id);
        path.reverse();
        let (encoding, first) = ((self.encoding)(&path), self.columns.len());
        let is_double = self.schema.fields.get(id).is_some_and(|field| normalized(&field.type_name) == "double");
        for (old, column) in &own {
            // Projections may show any representation: the columns of all are in the same order.
            let of_same = |other: &&(usize, &Column)| other.1.representation == column.representation && other.0 < *old;
            self.places.push((*old, first + own.iter().filter(of_same).count()));
            if column.representation == chosen {
                let (column_type, bits, range) = recoded(column, is_double, encoding);
                self.columns.push(Column {
                    column_type,
                    bits,
                    field: new,
                    representation: 0,
                    first_element: None,
                    range,
                    in_extension: false,
                    mantissa: encoding.mantissa(column_type),
                });
            }
        }
    }
}

/// Whether floating-point numbers are stored with fewer bits than a float has.
fn is_reduced(column: &Column) -> bool {
    matches!(column.column_type, ColumnType::Real16 | ColumnType::Real32Trunc | ColumnType::Real32Quant)
}

/// The encoding of a column: the requested one, if there is one and it is of numbers or ends.
fn recoded(column: &Column, is_double: bool, encoding: FieldEncoding) -> (ColumnType, u16, Option<(f64, f64)>) {
    let own = (column.column_type, column.bits, column.range);
    if encoding.column.is_none() {
        // 0x17 is in the specification only: ROOT does not read it.
        return if column.column_type == ColumnType::SplitReal16 { (ColumnType::Real16, 16, None) } else { own };
    }
    match column.column_type.kind() {
        Some(Kind::Index) => encoding.ends(),
        // Numbers of fewer bits than a float have no bytes to split, and gain nothing from more bits.
        Some(Kind::F32 | Kind::F64) if is_reduced(column) && !encoding.names_bits() => own,
        Some(kind @ (Kind::F32 | Kind::F64)) => {
            // Quantised doubles lie between floats.
            let widens = is_double && encoding.column == Some(ColumnEncoding::Double);
            let is_wide = kind == Kind::F64 || widens || (is_double && column.column_type == ColumnType::Real32Quant);
            let stored = if is_wide { Number::F64 } else { Number::F32 };
            encoding.number(stored)
        }
        Some(Kind::I16) => encoding.number(Number::I16),
        Some(Kind::U16) => encoding.number(Number::U16),
        Some(Kind::I32) => encoding.number(Number::I32),
        Some(Kind::U32) => encoding.number(Number::U32),
        Some(Kind::I64) => encoding.number(Number::I64),
        Some(Kind::U64) => encoding.number(Number::U64),
        _ => own,
    }
}
