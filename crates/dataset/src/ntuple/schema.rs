//! The schema description: the lists of fields, columns, alias columns and extra type information that the header has, and
//! that the footer's schema extension continues.
//!
//! Facts: `RNTupleSerialize.cxx`, `DeserializeSchemaDescription` and the functions that it calls. The writer writes the same
//! bytes as ROOT.

use rootfile::Result;

use super::element::ColumnType;
use super::frame::{Reader, Writer};
use super::model::{AliasColumn, Column, Deferred, ExtraTypeInfo, Field, Role, Schema};
use super::schema_rules::Rules;

/// Fewest bytes of a field: the frame's size, four words, the lengths of four strings.
const LEAST_FIELD: usize = 40;
/// Fewest bytes of a column: the frame's size and three words.
const LEAST_COLUMN: usize = 20;
/// Bytes of an alias column of this version.
const LEAST_ALIAS: usize = 16;
/// Fewest bytes of extra type information.
const LEAST_EXTRA: usize = 24;

/// Flags of a field.
mod field_flag {
    pub const REPETITIVE: u16 = 1;
    pub const PROJECTED: u16 = 2;
    pub const CHECKSUM: u16 = 4;
    pub const SOA: u16 = 8;
}

/// Flags of a column.
mod column_flag {
    pub const DEFERRED: u16 = 1;
    pub const RANGE: u16 = 2;
}

/// The schema as far as it is read. IDs in the footer continue those of the header.
#[derive(Debug, Default)]
pub struct PartialSchema {
    fields: Vec<Field>,
    columns: Vec<Column>,
    aliases: Vec<AliasColumn>,
    extra: Vec<ExtraTypeInfo>,
    rules: Rules,
}

impl PartialSchema {
    /// Reads the four lists of a header, or of an extension.
    ///
    /// # Errors
    ///
    /// If the lists are damaged, or if IDs in them are impossible.
    pub fn read(&mut self, r: &mut Reader<'_>, in_extension: bool) -> Result<()> {
        let (n, mut list) = r.list(LEAST_FIELD)?;
        self.fields.reserve_exact(n);
        for id in self.fields.len()..self.fields.len() + n {
            let field = read_field(&mut list.record()?, id, in_extension)?;
            self.rules.field(&list, &self.fields, &field)?;
            self.fields.push(field);
        }
        let (n, mut list) = r.list(LEAST_COLUMN)?;
        self.columns.reserve_exact(n);
        for _ in 0..n {
            let column = read_column(&mut list.record()?, in_extension)?;
            self.rules.column(&list, &self.fields, &column)?;
            self.columns.push(column);
        }
        let (n, mut list) = r.list(LEAST_ALIAS)?;
        self.aliases.reserve_exact(n);
        for _ in 0..n {
            let mut record = list.record()?;
            let alias = AliasColumn { column: record.u32()? as usize, field: record.u32()? as usize };
            if alias.column >= self.columns.len() || alias.field >= self.fields.len() {
                let AliasColumn { column, field } = alias;
                return Err(record.corrupt(format_args!("field {field} shows column {column}: there is no such pair")));
            }
            self.aliases.push(alias);
        }
        let (n, mut list) = r.list(LEAST_EXTRA)?;
        self.extra.reserve_exact(n);
        for _ in 0..n {
            let mut record = list.record()?;
            self.extra.push(ExtraTypeInfo {
                content_id: record.u32()?,
                type_version: record.u32()?,
                type_name: record.string()?,
                content: record.string_bytes()?.to_vec(),
                in_extension,
            });
        }
        Ok(())
    }

    /// The schema, once all of it is read.
    ///
    /// # Errors
    ///
    /// If projections or representations contradict each other.
    pub fn finish(self) -> Result<Schema> {
        self.rules.finish(&self.fields)?;
        Ok(Schema::new(self.fields, self.columns, self.aliases, self.extra))
    }
}

fn read_field(r: &mut Reader<'_>, id: usize, in_extension: bool) -> Result<Field> {
    let (field_version, type_version, parent) = (r.u32()?, r.u32()?, r.u32()? as usize);
    let (role, flags) = (r.u16()?, r.u16()?);
    let has = |flag: u16| flags & flag != 0;
    Ok(Field {
        field_version,
        type_version,
        parent: (parent != id).then_some(parent),
        role: match role {
            0 => Role::Leaf,
            1 => Role::Collection,
            2 => Role::Record,
            3 => Role::Variant,
            4 => Role::Streamer,
            other => Role::Unknown(other),
        },
        name: r.string()?,
        type_name: r.string()?,
        type_alias: r.string()?,
        description: r.string()?,
        array_size: if has(field_flag::REPETITIVE) { Some(r.u64()?) } else { None },
        source: if has(field_flag::PROJECTED) { Some(r.u32()? as usize) } else { None },
        type_checksum: if has(field_flag::CHECKSUM) { Some(r.u32()?) } else { None },
        is_soa: has(field_flag::SOA),
        in_extension,
    })
}

fn write_field(w: &mut Writer, id: usize, field: &Field) -> Result<()> {
    w.record(|w| {
        w.u32(field.field_version);
        w.u32(field.type_version);
        w.u32(field.parent.unwrap_or(id) as u32);
        w.u16(match field.role {
            Role::Leaf => 0,
            Role::Collection => 1,
            Role::Record => 2,
            Role::Variant => 3,
            Role::Streamer => 4,
            Role::Unknown(other) => other,
        });
        let flag = |set: bool, flag: u16| if set { flag } else { 0 };
        w.u16(
            flag(field.array_size.is_some(), field_flag::REPETITIVE)
                | flag(field.source.is_some(), field_flag::PROJECTED)
                | flag(field.type_checksum.is_some(), field_flag::CHECKSUM)
                | flag(field.is_soa, field_flag::SOA),
        );
        for text in [&field.name, &field.type_name, &field.type_alias, &field.description] {
            w.string(text)?;
        }
        if let Some(size) = field.array_size {
            w.u64(size);
        }
        if let Some(source) = field.source {
            w.u32(source as u32);
        }
        if let Some(checksum) = field.type_checksum {
            w.u32(checksum);
        }
        Ok(())
    })
}

fn read_column(r: &mut Reader<'_>, in_extension: bool) -> Result<Column> {
    let (code, bits, field) = (r.u16()?, r.u16()?, r.u32()? as usize);
    let (flags, representation) = (r.u16()?, r.u16()?);
    let first_element = match flags & column_flag::DEFERRED {
        0 => None,
        _ => {
            let first = r.i64()?;
            Some(Deferred { first_element: first.unsigned_abs(), suppressed: first < 0 })
        }
    };
    let range = if flags & column_flag::RANGE == 0 { None } else { Some((r.f64()?, r.f64()?)) };
    let column_type = ColumnType::from_code(code);
    Ok(Column { column_type, bits, field, representation, first_element, range, in_extension, mantissa: None })
}

fn write_column(w: &mut Writer, column: &Column) -> Result<()> {
    w.record(|w| {
        w.u16(column.column_type.code());
        w.u16(column.bits);
        w.u32(column.field as u32);
        let deferred = if column.first_element.is_some() { column_flag::DEFERRED } else { 0 };
        let range = if column.range.is_some() { column_flag::RANGE } else { 0 };
        w.u16(deferred | range);
        w.u16(column.representation);
        if let Some(Deferred { first_element, suppressed }) = column.first_element {
            let first = first_element.cast_signed();
            w.i64(if suppressed { first.wrapping_neg() } else { first });
        }
        if let Some((least, most)) = column.range {
            w.f64(least);
            w.f64(most);
        }
        Ok(())
    })
}

/// Appends the four lists of the header, or those of the extension.
///
/// # Errors
///
/// If a list or a string is too long for the format.
pub fn write_schema(w: &mut Writer, schema: &Schema, extension: bool) -> Result<()> {
    let fields: Vec<_> = schema.fields.iter().enumerate().filter(|(_, f)| f.in_extension == extension).collect();
    w.list(&fields, |w, (id, field)| write_field(w, *id, field))?;
    let columns: Vec<_> = schema.columns.iter().filter(|column| column.in_extension == extension).collect();
    w.list(&columns, |w, column| write_column(w, column))?;
    // An alias is in the header if both its ends are.
    let is_late = |alias: &AliasColumn| {
        schema.fields.get(alias.field).is_some_and(|field| field.in_extension)
            || schema.columns.get(alias.column).is_some_and(|column| column.in_extension)
    };
    let aliases: Vec<_> = schema.aliases.iter().filter(|alias| is_late(alias) == extension).collect();
    w.list(&aliases, |w, alias| {
        w.record(|w| {
            w.u32(alias.column as u32);
            w.u32(alias.field as u32);
            Ok(())
        })
    })?;
    let extra: Vec<_> = schema.extra.iter().filter(|extra| extra.in_extension == extension).collect();
    w.list(&extra, |w, extra| {
        w.record(|w| {
            w.u32(extra.content_id);
            w.u32(extra.type_version);
            w.string(&extra.type_name)?;
            w.string_bytes(&extra.content)
        })
    })
}
