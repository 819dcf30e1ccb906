//! How the values of a field lie in columns, as data: a tree of nodes beside the tree of the [`Shape`] of its arrays. Columns are
//! numbered from the first one of the top-level field.

use std::sync::Arc;

use super::objects::ObjectEncoder;
use crate::decode::program::types::Reason;
use crate::ntuple::decode::program_of;
use crate::ntuple::model::{Field, Role, Schema};
use crate::type_name::TypeName;

/// Where values are stored.
#[derive(Debug)]
pub(super) enum Node {
    /// Numbers.
    Number { column: usize },
    /// Text, or objects as bytes: ends, and characters or bytes in the next column.
    Text { ends: usize },
    /// Objects as ROOT's streamer writes them: ends, and bytes in the next column.
    Streamed { ends: usize, encoder: Arc<ObjectEncoder> },
    /// A fixed number of values.
    Fixed { size: usize, item: Box<Node> },
    /// Any number of values.
    List { ends: usize, item: Box<Node> },
    /// No value or one.
    Optional { ends: usize, item: Box<Node> },
    /// A value of each part.
    Record { parts: Vec<Part> },
    /// A value of one of the parts, or of none.
    Variant { switch: usize, parts: Vec<Node> },
}

/// A part of a record.
#[derive(Debug)]
pub(super) enum Part {
    /// It has an array.
    Stored(Node),
    /// Columns without an array, one element for each value: those of a `TObject` base, which arrays leave out.
    Zeros(Vec<usize>),
}

/// Makes the nodes of one top-level field.
pub(super) struct Planner<'a> {
    pub schema: &'a Schema,
    /// The physical ID of its first column.
    pub first: usize,
}

impl Planner<'_> {
    fn described(&self, id: usize) -> Result<&Field, Reason> {
        self.schema.fields.get(id).ok_or_else(|| format!("the schema has no field {id}"))
    }

    fn column(&self, id: usize) -> Result<usize, Reason> {
        let column = self.schema.columns_of(id).first().and_then(|column| column.checked_sub(self.first));
        column.ok_or_else(|| format!("field {} has no column", self.schema.path(id)))
    }

    /// The node of a field.
    pub fn node(&self, id: usize) -> Result<Node, Reason> {
        let field = self.described(id)?;
        let children = self.schema.children(Some(id));
        let columns = self.schema.columns_of(id).len();
        let node = match (field.role, children.as_slice(), columns) {
            (Role::Leaf, &[child], 0) => self.node(child)?,
            (Role::Leaf, &[], 1) => Node::Number { column: self.column(id)? },
            (Role::Leaf, &[], 2) => Node::Text { ends: self.column(id)? },
            (Role::Streamer, &[], 2) => {
                let ends = self.column(id)?;
                match program_of(field, self.schema.streamer_infos()) {
                    // As when they are decoded: the bytes of objects that are not understood.
                    Err(_) => Node::Text { ends },
                    Ok(program) => Node::Streamed { ends, encoder: Arc::new(ObjectEncoder::new(program)?) },
                }
            }
            (Role::Collection, &[child], 1) => {
                let (ends, item) = (self.column(id)?, self.node(child)?);
                match TypeName::parse(&field.type_name).template {
                    "optional" | "unique_ptr" => Node::Optional { ends, item: Box::new(apart(item)) },
                    _ => Node::List { ends, item: Box::new(item) },
                }
            }
            (Role::Record, children, 0) => Node::Record { parts: self.parts(children)? },
            (Role::Variant, children, 1) => {
                let parts = children.iter().map(|child| self.node(*child)).collect::<Result<_, _>>()?;
                Node::Variant { switch: self.column(id)?, parts }
            }
            (role, children, columns) => {
                let path = self.schema.path(id);
                let n = children.len();
                return Err(format!(
                    "field {path}: {n} subfields and {columns} columns do not fit its role ({role:?})"
                ));
            }
        };
        let Some(size) = field.array_size else { return Ok(node) };
        let size = usize::try_from(size).map_err(|_| format!("an array of {size} values"))?;
        Ok(Node::Fixed { size, item: Box::new(node) })
    }

    /// The parts of a record: members of bases are parts of it, without those of the `TObject` base, as when it is decoded.
    fn parts(&self, children: &[usize]) -> Result<Vec<Part>, Reason> {
        let mut parts = Vec::new();
        for &child in children {
            let field = self.described(child)?;
            let is_base = field.name.starts_with(":_");
            if is_base && field.type_name == "TObject" {
                let members = self.schema.children(Some(child));
                parts.push(Part::Zeros(members.iter().map(|id| self.column(*id)).collect::<Result<_, _>>()?));
                continue;
            }
            match self.node(child)? {
                Node::Record { parts: inner } if is_base => parts.extend(inner),
                node => parts.push(Part::Stored(node)),
            }
        }
        Ok(parts)
    }
}

/// Arrow has no optional values of optional values or variants: these lie in a record.
fn apart(item: Node) -> Node {
    match item {
        item @ (Node::Optional { .. } | Node::Variant { .. }) => Node::Record { parts: vec![Part::Stored(item)] },
        item => item,
    }
}
