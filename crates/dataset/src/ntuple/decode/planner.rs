//! From the schema to the shape of a field's values and the nodes that make them. A C++ type gets the same shape as in a tree:
//! members of bases are parts of the record and come first, without those of the `TObject` base.

use std::sync::Arc;

use rootfile::streamer::StreamerInfos;

use super::node::{ColumnRef, FieldColumns, Node};
use super::numbers::{is_readable, natural};
use crate::decode::plan::branch::streamed;
use crate::decode::program::classes::{self, ClassNames};
use crate::decode::program::model::Program;
use crate::decode::program::op::Holds;
use crate::decode::program::types::{MAP_PARTS, Number, PAIR_PARTS, Reason, Shape};
use crate::ntuple::element::{ColumnType, Kind};
use crate::ntuple::model::{Field, Role, Schema};
use crate::type_name::{ContainerKind, TypeName};

/// Fields may nest this deep.
const MAX_DEPTH: usize = 100;
/// Alternatives that a variant may have.
const MAX_ALTERNATIVES: usize = 125;

/// The shape of a field's values, the node that makes them, and their classes.
type Planned = (Shape, Node, ClassNames);

/// Why a field has no plan.
#[derive(Debug)]
pub(super) struct Refusal {
    /// For users.
    pub reason: Reason,
    /// Whether the schema contradicts itself. Otherwise it has something that this version does not know or cannot do, which is no damage.
    pub contradiction: bool,
}

impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Self {
        Self { reason, contradiction: false }
    }
}

/// The schema contradicts itself.
fn contradiction(reason: Reason) -> Refusal {
    Refusal { reason, contradiction: true }
}

/// Plans fields of one schema.
pub(super) struct Planner<'a> {
    schema: &'a Schema,
    /// Whether records have a member, by its field's ID.
    has_member: &'a dyn Fn(usize) -> bool,
}

/// How the objects of a streamer field are decoded and encoded.
pub(in crate::ntuple) fn program_of(field: &Field, infos: &StreamerInfos) -> Result<Program, Reason> {
    let version = i32::try_from(field.type_version).unwrap_or(-1);
    streamed(&field.type_name, (version, field.type_checksum.unwrap_or(0)), infos)
}

impl<'a> Planner<'a> {
    pub(super) fn new(schema: &'a Schema, has_member: &'a dyn Fn(usize) -> bool) -> Self {
        Self { schema, has_member }
    }

    fn described(&self, id: usize) -> Result<&'a Field, Refusal> {
        self.schema.fields.get(id).ok_or_else(|| contradiction(format!("the schema has no field {id}")))
    }

    /// Why the field is the bytes of streamed objects, if it is.
    pub(super) fn opaque(&self, id: usize) -> Option<Reason> {
        let field = self.schema.fields.get(id).filter(|field| field.role == Role::Streamer)?;
        self.streamed(field).err()
    }

    /// How the objects of a streamer field are decoded: as those of a tree's branch of the same class.
    fn streamed(&self, field: &Field) -> Result<Program, Reason> {
        program_of(field, self.schema.streamer_infos())
            .map_err(|reason| format!("an object as ROOT's streamer writes it: {reason}"))
    }

    /// The C++ type as columns have it in their metadata: spelled as for trees, whose names of numbers have no `std::`.
    pub(super) fn type_name(&self, id: usize) -> String {
        let Some(field) = self.schema.fields.get(id) else { return String::new() };
        let name = if field.type_alias.is_empty() { &field.type_name } else { &field.type_alias };
        let parsed = TypeName::parse(name);
        let spelled = parsed.spelled();
        // Trees have no types of the standard library but those that are spelled anyway.
        let lost = name.starts_with("std::") && parsed.number().is_none() && !spelled.starts_with("std::");
        if lost { format!("std::{spelled}") } else { spelled }
    }

    /// One value of a field for each entry: planned with the collections, arrays and variants around it.
    pub(super) fn top(&self, id: usize) -> Result<Planned, Refusal> {
        let mut planned = self.field(id, 0)?;
        let mut below = id;
        for _ in 0..MAX_DEPTH {
            let Some(parent) = self.described(below)?.parent else { return Ok(planned) };
            planned = self.around(parent, below, planned)?;
            below = parent;
        }
        Err("fields nest too deep".to_owned().into())
    }

    /// The values of a subfield, as values of the field around it.
    fn around(&self, parent: usize, child: usize, inner: Planned) -> Result<Planned, Refusal> {
        let field = self.described(parent)?;
        check_version(field)?;
        let planned = match field.role {
            Role::Leaf | Role::Record => inner,
            Role::Collection => self.collection_of(parent, field, inner)?,
            Role::Variant => {
                let children = self.schema.children(Some(parent));
                let position = children.iter().position(|other| *other == child).unwrap_or_default();
                let tag = u32::try_from(position + 1).map_err(|_| Reason::from("too many alternatives"))?;
                let columns = self.variant_columns(parent)?;
                let (shape, item, names) = optional(inner);
                (shape, Node::Alternative { columns, tag, parts: children.len(), item: Box::new(item) }, names)
            }
            Role::Streamer | Role::Unknown(_) => return Err(unknown_role(field)),
        };
        fixed(field, planned)
    }

    fn field(&self, id: usize, depth: usize) -> Result<Planned, Refusal> {
        let field = self.described(id)?;
        if depth > MAX_DEPTH {
            return Err("fields nest too deep".to_owned().into());
        }
        check_version(field)?;
        let children = self.schema.children(Some(id));
        let planned = match (field.role, children.as_slice()) {
            // Arrays, enumerations, atomics.
            (Role::Leaf, &[child]) if self.column_ids(id).is_empty() => self.field(child, depth + 1)?,
            (Role::Leaf, &[]) => self.leaf(id, field)?,
            (Role::Collection, &[child]) => {
                let item = self.field(child, depth + 1)?;
                self.collection_of(id, field, item)?
            }
            (Role::Record, children) => self.record(id, field, children, depth)?,
            (Role::Variant, children) => self.variant(id, children, depth)?,
            (Role::Streamer, &[]) => {
                let columns = self.columns(id, &[Kind::Index, Kind::U8])?;
                match self.streamed(field) {
                    Ok(program) => {
                        let names = classes::of_program(&program);
                        (program.shape.clone(), Node::Streamed { columns, program: Arc::new(program) }, names)
                    }
                    Err(_) => (Shape::Bytes, Node::Bytes { columns }, ClassNames::default()),
                }
            }
            (Role::Unknown(_), _) => return Err(unknown_role(field)),
            (role, children) => {
                let n = children.len();
                let path = self.schema.path(id);
                return Err(contradiction(format!("field {path}: {n} subfields do not fit its role ({role:?})")));
            }
        };
        fixed(field, planned)
    }

    /// The physical IDs of a field's columns; for a projected field those that its alias columns name.
    fn column_ids(&self, id: usize) -> Vec<usize> {
        let own = self.schema.columns_of(id).iter().copied();
        own.chain(self.schema.aliases_of(id).map(|alias| alias.column)).collect()
    }

    /// Checks that a projected field shows columns of the field that it names.
    fn check_projection(&self, id: usize) -> Result<(), Refusal> {
        let source = self.schema.fields.get(id).and_then(|field| field.source);
        for alias in self.schema.aliases_of(id) {
            let shown = self.schema.columns.get(alias.column).map(|column| column.field);
            if source.is_none() || shown != source {
                let (path, column) = (self.schema.path(id), alias.column);
                return Err(contradiction(format!(
                    "field {path}: it shows column {column}, which is of another field"
                )));
            }
        }
        Ok(())
    }

    /// The representations of a field.
    fn representations(&self, id: usize) -> Result<FieldColumns, Refusal> {
        self.check_projection(id)?;
        let mut representations: Vec<(u16, Vec<ColumnRef>)> = Vec::new();
        for column_id in self.column_ids(id) {
            let column = self.schema.columns.get(column_id);
            let column = column.ok_or_else(|| contradiction(format!("the schema has no column {column_id}")))?;
            if let ColumnType::Unknown(_) = column.column_type {
                return Err(format!("{} of field {}", column.column_type, self.schema.path(id)).into());
            }
            let path = |e| contradiction(format!("field {}: {e}", self.schema.path(id)));
            column.encoding().map_err(path)?;
            let (deferred, in_extension) = (column.first_element, column.in_extension);
            let column_ref = ColumnRef { id: column_id, column_type: column.column_type, deferred, in_extension };
            match representations.iter_mut().find(|(known, _)| *known == column.representation) {
                Some((_, columns)) => columns.push(column_ref),
                None => representations.push((column.representation, vec![column_ref])),
            }
        }
        representations.sort_by_key(|(representation, _)| *representation);
        let representations = representations.into_iter().map(|(_, columns)| columns).collect();
        Ok(FieldColumns { field: self.schema.path(id), representations })
    }

    /// The representations of a field whose columns must have these kinds.
    fn columns(&self, id: usize, kinds: &[Kind]) -> Result<FieldColumns, Refusal> {
        let columns = self.representations(id)?;
        let fits = |columns: &Vec<ColumnRef>| {
            let found = columns.iter().map(|column| column.column_type.kind());
            found.eq(kinds.iter().map(|kind| Some(*kind)))
        };
        if !columns.representations.is_empty() && columns.representations.iter().all(fits) {
            return Ok(columns);
        }
        Err(contradiction(format!("field {}: its columns do not fit its type", columns.field)))
    }

    fn leaf(&self, id: usize, field: &Field) -> Result<Planned, Refusal> {
        let columns = self.representations(id)?;
        let types: Vec<Vec<ColumnType>> =
            columns.representations.iter().map(|columns| columns.iter().map(|c| c.column_type).collect()).collect();
        let no_columns = || contradiction(format!("field {}: it has no columns", columns.field));
        let first = types.first().ok_or_else(no_columns)?;
        let name = TypeName::parse(&field.type_name);
        if let (&[principal], "ROOT::RNTupleCardinality") = (first.as_slice(), name.template)
            && principal.is_index()
        {
            let columns = self.columns(id, &[Kind::Index])?;
            let size = name.args.first().and_then(|arg| TypeName::parse(arg).number());
            let number = if size == Some(Number::U32) { Number::U32 } else { Number::U64 };
            return Ok((Shape::Number(number), Node::Lengths { columns, number }, ClassNames::default()));
        }
        match first.as_slice() {
            &[principal] => {
                let number = match name.text {
                    "byte" => Some(Number::U8),
                    _ => name.number().or_else(|| natural(principal)),
                };
                let readable = |number: Number| {
                    types.iter().all(|types| matches!(types.as_slice(), &[from] if is_readable(number, from)))
                };
                let Some(number) = number.filter(|number| readable(*number)) else {
                    let (path, spelled) = (&columns.field, &field.type_name);
                    let what = format!("field {path}: a value of type {spelled} in a column of type {principal}");
                    return Err(contradiction(what));
                };
                Ok((Shape::Number(number), Node::Number { columns, number }, ClassNames::default()))
            }
            _ => {
                let columns = self.columns(id, &[Kind::Index, Kind::U8])?;
                Ok((Shape::Text, Node::Bytes { columns }, ClassNames::default()))
            }
        }
    }

    fn collection_of(&self, id: usize, field: &Field, item: Planned) -> Result<Planned, Refusal> {
        let columns = self.columns(id, &[Kind::Index])?;
        let type_name = TypeName::parse(&field.type_name);
        if matches!(type_name.template, "optional" | "unique_ptr") {
            let (shape, item, names) = optional(item);
            return Ok((shape, Node::Optional { columns, item: Box::new(item) }, names));
        }
        let (shape, item, names) = item;
        let shape = match (type_name.container(), shape) {
            // As in trees: the pairs of a map have keys and values.
            (Some(ContainerKind::Map), Shape::Record(parts)) if parts.len() == 2 => {
                let parts = parts.into_iter().zip(MAP_PARTS);
                Shape::Record(parts.map(|((_, part), name)| (name.to_owned(), part)).collect())
            }
            (_, shape) => shape,
        };
        let names = names.list(Holds::of(type_name.template));
        Ok((shape.list(), Node::List { columns, item: Box::new(item) }, names))
    }

    fn record(&self, id: usize, field: &Field, children: &[usize], depth: usize) -> Result<Planned, Refusal> {
        if !self.column_ids(id).is_empty() {
            return Err(contradiction(format!("field {}: a record with columns", self.schema.path(id))));
        }
        let template = TypeName::parse(&field.type_name).template;
        let pair = template == "pair" && children.len() == 2;
        let (mut names, mut nodes, mut below) = (Vec::new(), Vec::new(), Vec::new());
        let members = children.iter().zip(PAIR_PARTS.into_iter().chain(std::iter::repeat("")));
        for (&child, in_pair) in members.filter(|(child, _)| (self.has_member)(**child)) {
            let described = self.described(child)?;
            let is_base = described.name.starts_with(":_");
            if is_base && described.type_name == "TObject" {
                continue;
            }
            let (shape, node, classes) = self.field(child, depth + 1)?;
            let flattened = is_base && matches!((&shape, &node), (Shape::Record(_), Node::Record { .. }));
            below.extend(if flattened { classes.below } else { vec![classes] });
            let parts = match (is_base, shape, node) {
                (true, Shape::Record(inner), Node::Record { parts }) => inner.into_iter().zip(parts).collect(),
                (true, shape, node) => vec![((described.type_name.clone(), shape), node)],
                (false, shape, node) if pair => vec![((in_pair.to_owned(), shape), node)],
                (false, shape, node) => vec![((described.name.clone(), shape), node)],
            };
            for ((name, shape), node) in parts {
                let twice = names.iter().any(|(known, _)| *known == name);
                names.push((if twice { format!("{}::{name}", field.type_name) } else { name }, shape));
                nodes.push(node);
            }
        }
        let numbered = |(number, (name, _)): (usize, &(String, Shape))| *name == format!("_{number}");
        let name = match template {
            "pair" | "tuple" => "std::tuple".to_owned(),
            // A tuple with parts without types.
            "" if !names.is_empty() && names.iter().enumerate().all(numbered) => "std::tuple".to_owned(),
            _ => field.type_name.clone(),
        };
        Ok((Shape::Record(names), Node::Record { parts: nodes }, ClassNames { name, below }))
    }

    fn variant_columns(&self, id: usize) -> Result<FieldColumns, Refusal> {
        let n = self.schema.children(Some(id)).len();
        if n > MAX_ALTERNATIVES {
            return Err(format!("field {}: a variant of {n} types", self.schema.path(id)).into());
        }
        self.columns(id, &[Kind::Switch])
    }

    fn variant(&self, id: usize, children: &[usize], depth: usize) -> Result<Planned, Refusal> {
        let columns = self.variant_columns(id)?;
        let (mut names, mut parts, mut below) = (Vec::new(), Vec::new(), Vec::new());
        for &child in children {
            let (shape, node, classes) = self.field(child, depth + 1)?;
            names.push((self.described(child)?.name.clone(), shape));
            parts.push(node);
            below.push(classes);
        }
        Ok((Shape::Variant(names), Node::Variant { columns, parts }, ClassNames { name: String::new(), below }))
    }
}

/// The specification's version of fields. Readers must not read others.
fn check_version(field: &Field) -> Result<(), Refusal> {
    match field.field_version {
        0 => Ok(()),
        version => Err(format!("field {}: version {version} of fields is unknown", field.name).into()),
    }
}

fn unknown_role(field: &Field) -> Refusal {
    match field.role {
        Role::Unknown(role) => format!("field {}: structural role {role:#x} is unknown", field.name).into(),
        role => contradiction(format!("field {}: a field of role {role:?} has no subfields", field.name)),
    }
}

/// A value that may be absent. Arrow has no optional values of optional values or variants: these lie in a record.
fn optional((shape, node, names): Planned) -> Planned {
    let (shape, node, names) = match shape {
        Shape::Optional(_) | Shape::Variant(_) => {
            let names = ClassNames { name: String::new(), below: vec![names] };
            (Shape::Record(vec![("_0".to_owned(), shape)]), Node::Record { parts: vec![node] }, names)
        }
        _ => (shape, node, names),
    };
    (Shape::Optional(Box::new(shape)), node, names)
}

/// As often as the field repeats.
fn fixed(field: &Field, (shape, node, names): Planned) -> Result<Planned, Refusal> {
    let Some(size) = field.array_size else { return Ok((shape, node, names)) };
    // Arrow's limit.
    let len = i32::try_from(size).ok().and_then(|len| usize::try_from(len).ok());
    let len = len.ok_or_else(|| Reason::from(format!("field {}: an array of {size} values", field.name)))?;
    Ok((shape.fixed(&[len]), Node::Fixed { size, item: Box::new(node) }, names.list(Holds::Items)))
}
