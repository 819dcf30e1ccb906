//! How the values of a field are put together from columns, as data: a tree of nodes beside the tree of its
//! [`Shape`](crate::decode::program::types::Shape).

use std::ops::Range;
use std::sync::Arc;

use rootfile::{Error, Result};

use crate::decode::program::model::Program;
use crate::decode::program::types::Number;
use crate::ntuple::element::ColumnType;
use crate::ntuple::model::{Cluster, Deferred};

/// A physical column of a field.
#[derive(Clone, Debug)]
pub(in crate::ntuple) struct ColumnRef {
    pub id: usize,
    pub column_type: ColumnType,
    /// Where its stored elements begin.
    pub deferred: Option<Deferred>,
    /// Page lists from before the schema was extended may lack the column.
    pub in_extension: bool,
}

/// The columns of a field: one list for each representation, all of the same length.
#[derive(Clone, Debug)]
pub(in crate::ntuple) struct FieldColumns {
    /// The path of the field, for errors.
    pub field: String,
    pub representations: Vec<Vec<ColumnRef>>,
}

/// How values are made.
#[derive(Clone, Debug)]
pub(in crate::ntuple) enum Node {
    /// Numbers.
    Number { columns: FieldColumns, number: Number },
    /// The lengths of the collections that the ends of an index column delimit.
    Lengths { columns: FieldColumns, number: Number },
    /// Text, or the bytes of streamed objects that cannot be decoded: ends, and bytes.
    Bytes { columns: FieldColumns },
    /// Objects that ROOT's streamer wrote: ends, and bytes.
    Streamed { columns: FieldColumns, program: Arc<Program> },
    /// A fixed number of values.
    Fixed { size: u64, item: Box<Node> },
    /// Any number of values.
    List { columns: FieldColumns, item: Box<Node> },
    /// No value or one.
    Optional { columns: FieldColumns, item: Box<Node> },
    /// A value of each part.
    Record { parts: Vec<Node> },
    /// A value of one of the parts, or of none.
    Variant { columns: FieldColumns, parts: Vec<Node> },
    /// The values of one part of a variant, which is counted from 1: nothing where the variant has another part.
    Alternative { columns: FieldColumns, tag: u32, parts: usize, item: Box<Node> },
    /// Nothing for each value: the field cannot be read.
    Nothing,
}

/// Consecutive values of a node within a cluster.
#[derive(Clone, Debug)]
pub(in crate::ntuple) struct Span {
    pub range: Range<u64>,
    /// How many values the whole cluster has. None if that is what the columns hold, since none is deferred and the range
    /// is not up to the end.
    pub count: Option<u64>,
}

impl ColumnRef {
    /// Whether a cluster may store fewer elements than there are values: the first ones are zero.
    pub(in crate::ntuple) fn may_lack(&self, cluster: &Cluster) -> bool {
        self.deferred.is_some() || (self.in_extension && cluster.columns.get(self.id).is_none())
    }
}

impl FieldColumns {
    /// The columns with the data of a cluster: those of the representation that is not suppressed.
    pub(in crate::ntuple) fn active(&self, cluster: &Cluster) -> Result<&[ColumnRef]> {
        let first = |columns: &&Vec<ColumnRef>| columns.first().map(|column| (column.id, column.deferred));
        let stored = |columns: &&Vec<ColumnRef>| {
            let range = first(columns).and_then(|(id, _)| cluster.columns.get(id));
            range.is_some_and(|range| range.compression.is_some())
        };
        // Of a field that was added later, older page lists have no column.
        let absent = |columns: &&Vec<ColumnRef>| {
            first(columns).is_some_and(|(id, deferred)| {
                cluster.columns.get(id).is_none() && !deferred.is_some_and(|deferred| deferred.suppressed)
            })
        };
        let find = || self.representations.iter().find(stored).or_else(|| self.representations.iter().find(absent));
        find().map(Vec::as_slice).ok_or_else(|| {
            let entry = cluster.first_entry;
            Error::corrupt(format!("all columns of the field are suppressed in the cluster at entry {entry}"))
                .object(format!("field {}", self.field))
        })
    }
}

impl Node {
    /// The columns of this node itself.
    pub(in crate::ntuple) fn own_columns(&self) -> Option<&FieldColumns> {
        match self {
            Self::Number { columns, .. }
            | Self::Lengths { columns, .. }
            | Self::Bytes { columns }
            | Self::Streamed { columns, .. }
            | Self::List { columns, .. }
            | Self::Optional { columns, .. }
            | Self::Variant { columns, .. }
            | Self::Alternative { columns, .. } => Some(columns),
            Self::Fixed { .. } | Self::Record { .. } | Self::Nothing => None,
        }
    }

    /// The nodes below this one.
    pub(in crate::ntuple) fn below(&self) -> &[Self] {
        match self {
            Self::Number { .. } | Self::Lengths { .. } | Self::Bytes { .. } => &[],
            Self::Streamed { .. } | Self::Nothing => &[],
            Self::Fixed { item, .. }
            | Self::List { item, .. }
            | Self::Optional { item, .. }
            | Self::Alternative { item, .. } => std::slice::from_ref(&**item),
            Self::Record { parts } | Self::Variant { parts, .. } => parts.as_slice(),
        }
    }

    /// The columns of this node and those below it.
    pub(in crate::ntuple) fn columns(&self) -> Vec<&FieldColumns> {
        self.own_columns().into_iter().chain(self.below().iter().flat_map(Self::columns)).collect()
    }

    /// Whether a cluster may store fewer elements for this node than there are values.
    pub(in crate::ntuple) fn may_lack(&self) -> bool {
        let columns = self.columns();
        let mut all = columns.iter().flat_map(|columns| columns.representations.iter().flatten());
        all.any(|column| column.deferred.is_some() || column.in_extension)
    }
}
