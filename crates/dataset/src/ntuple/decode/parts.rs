//! The parts of a field whose values are records, or lists of records: each part has some of the members, so that several threads read one
//! field, and no page is opened by two of them but those with the ends of the lists. Lists of lists have no parts: the ends of the inner
//! ones would be many. This module does not read.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, LargeListArray, StructArray};
use arrow_schema::DataType;
use rootfile::{Error, Result};

use super::field_plan::FieldPlan;
use super::node::Node;
use crate::decode::program::types::Shape;

/// Most parts of a field. The ends of lists are decoded, and kept, for each of them.
pub const MOST_PARTS: usize = 8;
/// Bytes of the end of a list.
const END: u64 = 8;

impl FieldPlan {
    /// The plans of its parts; none where the values are no records of two members or more, nor lists of such.
    pub fn parts(&self) -> Vec<Self> {
        let members = members(self.node());
        let number = members.min(MOST_PARTS);
        if number < 2 || self.opaque().is_some() {
            return Vec::new();
        }
        let of = |part: usize| {
            let (shape, node) =
                with_members(self.shape(), self.node(), &(members * part / number..members * (part + 1) / number))?;
            Some(self.with(shape, node))
        };
        (0..number).map(of).collect::<Option<_>>().unwrap_or_default()
    }

    /// Bytes for each entry that all parts together take beyond those of the whole: the ends of lists.
    pub fn bytes_again(&self) -> u64 {
        let ends = if matches!(self.node(), Node::List { .. }) { END } else { 0 };
        ends * (MOST_PARTS as u64 - 1)
    }

    /// The values of the field, from those of its parts.
    ///
    /// # Errors
    ///
    /// The parts have different numbers of values, or are not those of this field.
    pub fn joined(&self, parts: &[ArrayRef]) -> Result<ArrayRef> {
        join(self.field().data_type(), parts).map_err(|e| {
            Error::corrupt(format!("members of records do not fit together: {e}")).object(self.field().name())
        })
    }
}

/// The number of members of the records.
fn members(node: &Node) -> usize {
    match node {
        Node::Record { parts } => parts.len(),
        Node::List { item, .. } => match &**item {
            Node::Record { parts } => parts.len(),
            _ => 0,
        },
        _ => 0,
    }
}

/// The same values with some members of the records.
fn with_members(shape: &Shape, node: &Node, members: &Range<usize>) -> Option<(Shape, Node)> {
    match (shape, node) {
        (Shape::Record(names), Node::Record { parts }) => {
            let (names, parts) = (names.get(members.clone())?.to_vec(), parts.get(members.clone())?.to_vec());
            Some((Shape::Record(names), Node::Record { parts }))
        }
        (Shape::List(shape), Node::List { columns, item }) => {
            let (shape, item) = with_members(shape, item, members)?;
            Some((shape.list(), Node::List { columns: columns.clone(), item: Box::new(item) }))
        }
        _ => None,
    }
}

fn join(to: &DataType, parts: &[ArrayRef]) -> std::result::Result<ArrayRef, arrow_schema::ArrowError> {
    match to {
        DataType::LargeList(item) => {
            let lists: Vec<&LargeListArray> = parts.iter().filter_map(|part| part.as_list_opt()).collect();
            let values: Vec<ArrayRef> = lists.iter().map(|list| Arc::clone(list.values())).collect();
            let offsets = lists.first().map(|list| list.offsets().clone());
            let offsets = offsets.filter(|_| lists.len() == parts.len()).ok_or_else(no_parts)?;
            Ok(Arc::new(LargeListArray::try_new(Arc::clone(item), offsets, join(item.data_type(), &values)?, None)?))
        }
        DataType::Struct(fields) => {
            let records: Option<Vec<&StructArray>> = parts.iter().map(|part| part.as_struct_opt()).collect();
            let members = records.ok_or_else(no_parts)?.into_iter().flat_map(|record| record.columns().iter().cloned());
            Ok(Arc::new(StructArray::try_new(fields.clone(), members.collect(), None)?))
        }
        _ => Err(no_parts()),
    }
}

fn no_parts() -> arrow_schema::ArrowError {
    arrow_schema::ArrowError::SchemaError("these are no parts".to_owned())
}
