//! The plan of a field: how its values are put together, with the Arrow field that names it and the reason if it cannot be
//! read.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use arrow_schema::{Field, FieldRef};
use rootfile::{Error, Result};

use super::node::Node;
use super::numbers::is_direct;
use super::planner::Planner;
use crate::decode::program::classes::ClassNames;
use crate::decode::program::types::Shape;
use crate::ntuple::model::{Cluster, Schema};

/// How the values of a field become an Arrow array. Cheap to clone.
#[derive(Clone, Debug)]
pub struct FieldPlan(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    field: FieldRef,
    id: usize,
    opaque: Option<String>,
    contradiction: bool,
    shape: Shape,
    node: Node,
    is_straight: bool,
    is_numbers: bool,
    columns: Vec<usize>,
    /// The columns that a proof looks at, once one was asked for.
    looked_at: OnceLock<Vec<usize>>,
}

impl FieldPlan {
    /// The plan for the field with this ID, at the top or below. There is one value for each entry: the values of a field
    /// inside a collection are lists, those of an alternative of a variant are null where the variant has another one.
    ///
    /// A field that cannot be read gives a plan too: its values are null, and [`opaque`](Self::opaque) has the reason. The
    /// specification demands it of readers that do not know a column type, a structural role or the version of a field, for the
    /// whole top-level field around it. Objects that ROOT's streamer wrote are
    /// bytes if no streamer info describes their class.
    pub fn new(schema: &Schema, field: usize) -> Self {
        Self::of_members(schema, field, &|_| true)
    }

    /// The same where records at any depth, those in collections, too, have some of their members alone: those of which this says that
    /// they have them, by the IDs of their fields. Columns of other members are not read.
    pub fn of_members(schema: &Schema, field: usize, has_member: &dyn Fn(usize) -> bool) -> Self {
        let planner = Planner::new(schema, has_member);
        let mut contradiction = false;
        let (shape, node, names, opaque) = match planner.top(field) {
            Ok((shape, node, names)) => (shape, node, names, planner.opaque(field)),
            Err(refusal) => {
                contradiction = refusal.contradiction;
                let shape = Shape::Optional(Box::new(Shape::Bytes));
                (shape, Node::Nothing, ClassNames::default(), Some(refusal.reason))
            }
        };
        let mut metadata = HashMap::from([("typename".to_owned(), planner.type_name(field))]);
        metadata.extend(opaque.iter().map(|why| ("opaque".to_owned(), why.clone())));
        metadata.extend(names.lines().map(|lines| ("classes".to_owned(), lines)));
        let nullable = shape.field("").is_nullable();
        let arrow = Field::new(schema.path(field), shape.data_type(), nullable).with_metadata(metadata);
        Self(Arc::new(Inner { opaque, contradiction, ..Inner::of(arrow, field, shape, node) }))
    }

    /// The plan of values of another form that are made of some of its columns, under its name. What is said of its type is not said of
    /// them: they have no metadata.
    pub(super) fn with(&self, shape: Shape, node: Node) -> Self {
        let field = Field::new(self.field().name(), shape.data_type(), self.field().is_nullable());
        Self(Arc::new(Inner::of(field, self.id(), shape, node)))
    }

    /// The Arrow field. The name is the path of the field, with dots. The metadata hold the C++ type (`typename`), for a
    /// field that is not decoded the reason (`opaque`), and the classes of values as for trees (`classes`).
    pub fn field(&self) -> &FieldRef {
        &self.0.field
    }

    /// The ID of the field.
    pub fn id(&self) -> usize {
        self.0.id
    }

    /// Why the field is not decoded: its values are bytes, or null. None if it is decoded.
    pub fn opaque(&self) -> Option<&str> {
        self.0.opaque.as_deref()
    }

    /// Checks that the schema does not contradict itself in this field. A plan of a field that does has no values: to read it is an
    /// error.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check_schema(&self) -> Result<()> {
        match &self.0.opaque {
            Some(reason) if self.0.contradiction => Err(Error::corrupt(reason.clone())),
            _ => Ok(()),
        }
    }

    /// Whether it is the same plan.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether values are decoded to where they belong, and take no memory beside, however many they are.
    pub fn is_straight(&self) -> bool {
        self.0.is_straight
    }

    /// Whether all values are numbers, in lists or not, that become an array as they are decoded: no text, whose characters are checked.
    pub fn is_numbers(&self) -> bool {
        self.0.is_numbers
    }

    /// The physical IDs of the columns of all representations, in ascending order.
    pub fn columns(&self) -> &[usize] {
        &self.0.columns
    }

    /// The physical IDs of the columns that have the values of a cluster, in ascending order.
    ///
    /// # Errors
    ///
    /// If all columns of a field are suppressed.
    pub fn columns_in(&self, cluster: &Cluster) -> Result<Vec<usize>> {
        let mut ids = Vec::new();
        for columns in self.0.node.columns() {
            ids.extend(columns.active(cluster)?.iter().map(|column| column.id));
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    pub(in crate::ntuple) fn node(&self) -> &Node {
        &self.0.node
    }

    /// The columns that a proof looks at, as `find` finds them the first time.
    pub(in crate::ntuple) fn looked_at(&self, find: impl FnOnce(&Node) -> Vec<usize>) -> &[usize] {
        self.0.looked_at.get_or_init(|| find(&self.0.node))
    }

    pub(in crate::ntuple) fn shape(&self) -> &Shape {
        &self.0.shape
    }
}

impl Inner {
    fn of(field: Field, id: usize, shape: Shape, node: Node) -> Self {
        let representations = node.columns().into_iter().flat_map(|columns| &columns.representations);
        let mut columns: Vec<usize> = representations.flatten().map(|column| column.id).collect();
        columns.sort_unstable();
        columns.dedup();
        let is_straight = is_straight(&node);
        let is_numbers = is_straight && is_numbers(&node);
        Self {
            field: Arc::new(field),
            id,
            opaque: None,
            contradiction: false,
            shape,
            node,
            is_straight,
            is_numbers,
            columns,
            looked_at: OnceLock::new(),
        }
    }
}

/// Whether the elements of a node's columns become its values where these belong.
fn is_straight(node: &Node) -> bool {
    match node {
        Node::Number { columns, number } => {
            columns.representations.iter().flatten().all(|column| is_direct(*number, column.column_type))
        }
        Node::Bytes { .. } | Node::Nothing => true,
        Node::Fixed { item, .. } | Node::List { item, .. } => is_straight(item),
        Node::Record { parts } => parts.iter().all(is_straight),
        Node::Lengths { .. }
        | Node::Streamed { .. }
        | Node::Optional { .. }
        | Node::Variant { .. }
        | Node::Alternative { .. } => false,
    }
}

/// Whether a node has numbers alone.
fn is_numbers(node: &Node) -> bool {
    match node {
        Node::Number { .. } => true,
        Node::Fixed { item, .. } | Node::List { item, .. } => is_numbers(item),
        Node::Record { parts } => parts.iter().all(is_numbers),
        _ => false,
    }
}

/// The plans of the top-level fields, in their order, projected ones included.
pub fn fields(schema: &Schema) -> Vec<FieldPlan> {
    schema.children(None).into_iter().map(|field| FieldPlan::new(schema, field)).collect()
}
