//! The fields and columns of a type. Columns are numbered in the order of their fields, those of a field before those below
//! it, as ROOT's writer does.
//!
//! Facts: `RField.cxx`, `RFieldFundamental.cxx`, `RFieldSequenceContainer.cxx`, `RFieldMeta.cxx` (`RFieldBase::Create`).

use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result};

use super::column_encoding::{FieldEncoding, StoredAs};
use super::inputs::{Input, InputUse};
use super::new_field::{Counted, FieldKind, NewField};
use crate::decode::plan::branch::streamed;
use crate::decode::program::types::Reason;
use crate::ntuple::class_infos::{STREAMER_INFOS, write_streamer_infos};
use crate::ntuple::element::ColumnType;
use crate::ntuple::model::{AliasColumn, Column, ExtraTypeInfo, Field, Role, Schema};
use crate::ntuple::type_name::normalized;
use crate::type_name::TypeName;

/// A field was added, or why there is none.
pub(super) type Made = std::result::Result<(), Reason>;

/// Deepest nesting of types.
const DEEPEST: usize = 64;

/// The schema of a new RNTuple, and what a writer takes for it.
#[derive(Clone, Debug)]
pub struct MadeSchema {
    /// Fields and columns.
    pub schema: Schema,
    /// The columns of a batch of entries.
    pub inputs: Vec<Input>,
}

impl MadeSchema {
    /// Adds fields that were made for themselves, behind those that are there.
    ///
    /// # Errors
    ///
    /// If two fields have the same name.
    pub fn with(self, more: Self) -> Result<Self> {
        let Self { schema, mut inputs } = self;
        let (first, first_column) = (schema.fields.len(), schema.columns.len());
        let (mut fields, mut columns, mut aliases) = (schema.fields, schema.columns, schema.aliases);
        fields.extend(more.schema.fields.into_iter().map(|field| Field {
            parent: field.parent.map(|id| id + first),
            source: field.source.map(|id| id + first),
            ..field
        }));
        columns.extend(more.schema.columns.into_iter().map(|column| Column { field: column.field + first, ..column }));
        aliases.extend(
            more.schema
                .aliases
                .into_iter()
                .map(|alias| AliasColumn { column: alias.column + first_column, field: alias.field + first }),
        );
        check_names(&fields)?;
        let schema = Schema::new(fields, columns, aliases, schema.extra);
        inputs.extend(
            more.inputs
                .into_iter()
                .filter(|input| input.used == InputUse::Field)
                .map(|input| Input { id: input.id + first, ..input }),
        );
        inputs.iter_mut().for_each(|input| input.plan_for(&schema));
        Ok(Self { schema, inputs })
    }
}

/// Makes the schema with these top-level fields. `infos` describe the classes among their types. `encoding` gives the encoding
/// of a field by its path: the names of the fields above it and its own.
///
/// A top-level field with a type that fields cannot have (pointers, classes with custom streamers) becomes a streamer field: its
/// objects are bytes as ROOT's streamer writes them.
///
/// # Errors
///
/// If a type is not described, or if ROOT has neither a field nor a streamer for it; if two fields have the same name, or one a
/// name that RNTuples do not allow.
pub fn make_schema(
    fields: &[NewField],
    infos: &StreamerInfos,
    encoding: &dyn Fn(&[&str]) -> FieldEncoding,
) -> Result<MadeSchema> {
    let mut maker =
        Maker { fields: Vec::new(), columns: Vec::new(), aliases: Vec::new(), path: Vec::new(), infos, encoding };
    let (mut inputs, mut streamed) = (Vec::new(), false);
    for field in fields {
        if let FieldKind::Counted(counted) = &field.kind {
            maker.counted(&field.name, counted, &mut inputs).map_err(|why| at(&field.name, why))?;
            continue;
        }
        inputs.push(Input::of_field(maker.fields.len()));
        let before = (maker.fields.len(), maker.columns.len());
        if let Err(why) = maker.named(None, &field.name, &field.kind, 0) {
            maker.fields.truncate(before.0);
            maker.columns.truncate(before.1);
            maker.path.clear();
            let FieldKind::Type(type_name) = &field.kind else { return Err(at(&field.name, why)) };
            maker.streamer(&field.name, type_name).map_err(|_| at(&field.name, why))?;
            streamed = true;
        }
    }
    let Maker { fields, columns, aliases, .. } = maker;
    check_names(&fields)?;
    let mut extra = Vec::new();
    if streamed {
        let content = write_streamer_infos(&infos.iter().cloned().collect::<Vec<_>>())?;
        let (content_id, type_version, type_name) = (STREAMER_INFOS, 0, String::new());
        // As ROOT writes it, when it knows all classes: at the end.
        extra.push(ExtraTypeInfo { content_id, type_version, type_name, content, in_extension: true });
    }
    let schema = Schema::new(fields, columns, aliases, extra);
    inputs.iter_mut().for_each(|input| input.plan_for(&schema));
    if let Some((input, why)) = inputs.iter().find_map(|input| Some((input, input.plan.opaque()?))) {
        return Err(at(input.field().name(), why.to_owned()));
    }
    Ok(MadeSchema { schema, inputs })
}

fn at(field: &str, why: Reason) -> Error {
    Error::unsupported(format!("cannot be written: {why}")).object(format!("field {field}"))
}

/// Names of fields: `RNTupleUtils.cxx`, `EnsureValidNameForRNTuple`.
fn check_names(fields: &[Field]) -> Result<()> {
    let mut top = std::collections::HashSet::new();
    for field in fields {
        let forbidden = |c: char| matches!(c, '.' | '/' | '\\' | ' ') || c.is_control();
        if field.name.is_empty() || field.name.contains(forbidden) {
            let why = format!(
                "{:?} is no name for a field: dots, slashes, backslashes and spaces are not allowed",
                field.name
            );
            return Err(Error::request(why));
        }
        if field.parent.is_none() && !top.insert(field.name.as_str()) {
            return Err(Error::request(format!("two fields of the name {}", field.name)));
        }
    }
    Ok(())
}

/// The fields so far.
pub(super) struct Maker<'a> {
    pub fields: Vec<Field>,
    pub columns: Vec<Column>,
    pub aliases: Vec<AliasColumn>,
    /// The names of the field that is being made and of those above it.
    path: Vec<String>,
    pub infos: &'a StreamerInfos,
    encoding: &'a dyn Fn(&[&str]) -> FieldEncoding,
}

impl Maker<'_> {
    /// Adds a field, and returns its ID.
    pub fn put(&mut self, field: Field) -> usize {
        self.fields.push(field);
        self.fields.len() - 1
    }

    fn column(&mut self, field: usize, (column_type, bits, range): StoredAs) -> usize {
        let (first_element, in_extension, representation) = (None, false, 0);
        let mantissa = None;
        let column = Column { column_type, bits, field, representation, first_element, range, in_extension, mantissa };
        self.columns.push(column);
        self.columns.len() - 1
    }

    fn plain_column(&mut self, field: usize, column_type: ColumnType) {
        let bits = column_type.valid_bits().map_or(0, |bits| *bits.start());
        self.column(field, (column_type, bits, None));
    }

    fn encoding(&self) -> FieldEncoding {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        (self.encoding)(&path)
    }

    /// Adds a field of any content.
    fn named(&mut self, parent: Option<usize>, name: &str, kind: &FieldKind, depth: usize) -> Made {
        if depth > DEEPEST {
            return Err("types nest too deep".to_owned());
        }
        if let FieldKind::Type(type_name) = kind {
            return self.typed(parent, name, type_name, depth);
        }
        let role = match kind {
            FieldKind::Record(_) => Role::Record,
            FieldKind::Variant(_) => Role::Variant,
            FieldKind::Fixed(..) => Role::Leaf,
            _ => Role::Collection,
        };
        let type_name = kind.type_name().map_or(String::new(), |name| normalized(&name));
        let id = self.put(Field::new(parent, role, name, &type_name));
        self.path.push(name.to_owned());
        match kind {
            FieldKind::Record(parts) => {
                for part in parts {
                    self.named(Some(id), &part.name, &part.kind, depth + 1)?;
                }
            }
            FieldKind::Fixed(size, item) => {
                self.set_size(id, *size);
                self.named(Some(id), "_0", item, depth + 1)?;
            }
            FieldKind::Collection(item) | FieldKind::Optional(item) => {
                if matches!(kind, FieldKind::Optional(_)) && type_name.is_empty() {
                    return Err("optional values of a record without a type".to_owned());
                }
                let ends = self.encoding().ends();
                self.column(id, ends);
                self.named(Some(id), "_0", item, depth + 1)?;
            }
            FieldKind::Variant(items) => {
                if type_name.is_empty() {
                    return Err("variants with a record without a type".to_owned());
                }
                self.plain_column(id, ColumnType::Switch);
                for (number, item) in items.iter().enumerate() {
                    self.named(Some(id), &format!("_{number}"), item, depth + 1)?;
                }
            }
            FieldKind::Type(_) | FieldKind::Counted(_) => {
                return Err("columns with a counter below another field".to_owned());
            }
        }
        self.path.pop();
        Ok(())
    }

    fn set_size(&mut self, id: usize, size: u64) {
        if let Some(field) = self.fields.get_mut(id) {
            field.array_size = Some(size);
        }
    }

    /// Adds a field of a C++ type.
    pub fn typed(&mut self, parent: Option<usize>, name: &str, given: &str, depth: usize) -> Made {
        if depth > DEEPEST {
            return Err("types nest too deep".to_owned());
        }
        if given.contains('*') {
            return Err(format!("{given} is a pointer"));
        }
        let type_name = normalized(given);
        let alias = alias_of(given).unwrap_or_default();
        let parsed = TypeName::parse(&type_name);
        self.path.push(name.to_owned());
        let new = |role| Field { type_alias: alias.clone(), ..Field::new(parent, role, name, &type_name) };
        let items = |n: usize| match parsed.args.get(n) {
            Some(item) => Ok(of_alias(&alias, item, n)),
            None => Err(format!("{type_name} has no type of items")),
        };
        match parsed.template {
            "string" | "std::string" if parsed.args.is_empty() => {
                let id = self.put(new(Role::Leaf));
                let ends = self.encoding().ends();
                self.column(id, ends);
                self.plain_column(id, ColumnType::Char);
            }
            "byte" => {
                let id = self.put(new(Role::Leaf));
                self.plain_column(id, ColumnType::Byte);
            }
            "array" => {
                let size = parsed.args.get(1).and_then(|size| size.parse().ok());
                let size = size.ok_or_else(|| format!("{type_name} has no size"))?;
                let id = self.put(new(Role::Leaf));
                self.set_size(id, size);
                self.typed(Some(id), "_0", &items(0)?, depth + 1)?;
            }
            "bitset" => {
                let size = parsed.args.first().and_then(|size| size.parse().ok());
                let size = size.ok_or_else(|| format!("{type_name} has no size"))?;
                let id = self.put(new(Role::Leaf));
                self.set_size(id, size);
                self.plain_column(id, ColumnType::Bit);
            }
            "atomic" => {
                let id = self.put(new(Role::Leaf));
                self.typed(Some(id), "_0", &items(0)?, depth + 1)?;
            }
            "vector" | "ROOT::VecOps::RVec" | "set" | "multiset" | "unordered_set" | "unordered_multiset"
            | "optional" | "unique_ptr" => self.collection(new(Role::Collection), &items(0)?, depth)?,
            "map" | "multimap" | "unordered_map" | "unordered_multimap" => {
                let pair = format!("std::pair<{},{}>", items(0)?, items(1)?);
                self.collection(new(Role::Collection), &pair, depth)?;
            }
            "pair" | "tuple" => {
                let id = self.put(new(Role::Record));
                for number in 0..parsed.args.len() {
                    self.typed(Some(id), &format!("_{number}"), &items(number)?, depth + 1)?;
                }
            }
            "variant" => {
                let id = self.put(new(Role::Variant));
                self.plain_column(id, ColumnType::Switch);
                for number in 0..parsed.args.len() {
                    self.typed(Some(id), &format!("_{number}"), &items(number)?, depth + 1)?;
                }
            }
            _ => match parsed.number() {
                Some(number) => {
                    let encoding = self.encoding();
                    let stored = match (type_name.as_str(), alias.as_str()) {
                        ("char", _) => (ColumnType::Char, 8, None),
                        (_, "Double32_t") => encoding.double32(),
                        _ => encoding.number(number),
                    };
                    let id = self.put(new(Role::Leaf));
                    let column = self.column(id, stored);
                    if let Some(column) = self.columns.get_mut(column) {
                        column.mantissa = encoding.mantissa(column.column_type);
                    }
                }
                None => self.class(parent, name, &type_name, depth)?,
            },
        }
        self.path.pop();
        Ok(())
    }

    fn collection(&mut self, field: Field, item: &str, depth: usize) -> Made {
        let id = self.put(field);
        let ends = self.encoding().ends();
        self.column(id, ends);
        self.typed(Some(id), "_0", item, depth + 1)
    }

    /// Adds a top-level field of objects as ROOT's streamer writes them.
    fn streamer(&mut self, name: &str, given: &str) -> Made {
        let type_name = normalized(given.trim_end_matches('*'));
        let info = self.infos.latest(&type_name);
        let (version, checksum) = info.as_ref().map_or((0, None), |info| (info.version, Some(info.checksum)));
        streamed(&type_name, (version, checksum.unwrap_or(0)), self.infos)?;
        let mut field = Field::new(None, Role::Streamer, name, &type_name);
        field.type_version = version.unsigned_abs();
        field.type_checksum = checksum;
        let id = self.put(field);
        self.path.push(name.to_owned());
        let ends = self.encoding().ends();
        self.path.clear();
        self.column(id, ends);
        self.plain_column(id, ColumnType::Byte);
        Ok(())
    }

    /// Adds columns with one counter: a collection of records, and the projections of its parts.
    fn counted(&mut self, name: &str, counted: &Counted, inputs: &mut Vec<Input>) -> Made {
        let collection = self.put(Field::new(None, Role::Collection, name, ""));
        self.path.push(name.to_owned());
        let ends = self.encoding().ends();
        let ends = self.column(collection, ends);
        let record = self.put(Field::new(Some(collection), Role::Record, "_0", ""));
        self.path.clear();
        let mut parts = Vec::new();
        for (member, type_name) in &counted.members {
            let (id, column) = (self.fields.len(), self.columns.len());
            // Rules name the list, not its place in the collection.
            self.typed(Some(record), member, type_name, 0)?;
            if self.fields.len() != id + 1 || self.columns.len() != column + 1 {
                return Err(format!("items of type {type_name} with a counter"));
            }
            parts.push((member, id, column));
        }
        if let Some(counter) = &counted.counter {
            let mut field = Field::new(None, Role::Leaf, counter, "ROOT::RNTupleCardinality<std::uint32_t>");
            field.source = Some(collection);
            let id = self.put(field);
            self.aliases.push(AliasColumn { column: ends, field: id });
            inputs.push(Input::new(id, InputUse::Counter { of: collection }));
        }
        for (member, source, column) in parts {
            let (item, alias) = self
                .fields
                .get(source)
                .map_or_else(Default::default, |field: &Field| (field.type_name.clone(), field.type_alias.clone()));
            let mut list = Field::new(None, Role::Collection, member, &format!("ROOT::VecOps::RVec<{item}>"));
            list.source = Some(collection);
            if !alias.is_empty() {
                list.type_alias = format!("ROOT::VecOps::RVec<{alias}>");
            }
            let list = self.put(list);
            self.aliases.push(AliasColumn { column: ends, field: list });
            let mut shown = Field::new(Some(list), Role::Leaf, "_0", &item);
            (shown.source, shown.type_alias) = (Some(source), alias);
            let shown = self.put(shown);
            self.aliases.push(AliasColumn { column, field: shown });
            inputs.push(Input::new(list, InputUse::Member { of: collection, field: source }));
        }
        Ok(())
    }
}

/// The spelling of a type that the source code has, if the normalised name loses that it is a `Double32_t`.
fn alias_of(given: &str) -> Option<String> {
    const MARK: &str = "D\u{1}";
    if !given.contains("Double32_t") {
        return None;
    }
    // Names of unknown types stay as they are.
    Some(normalized(&given.replace("Double32_t", MARK)).replace(MARK, "Double32_t"))
}

/// An item of a type whose name in the source code is `alias`, in its own spelling.
fn of_alias(alias: &str, item: &str, n: usize) -> String {
    let parsed = TypeName::parse(alias);
    parsed.args.get(n).copied().unwrap_or(item).to_owned()
}
