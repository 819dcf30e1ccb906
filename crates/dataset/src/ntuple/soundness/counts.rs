//! How many elements each column of a field must have in a cluster, from the page list alone. Collections and variants have as many
//! items as pages say, which is not known here: columns below them are compared with each other.

use rootfile::{Error, Result};

use crate::ntuple::decode::FieldPlan;
use crate::ntuple::decode::node::{ColumnRef, FieldColumns, Node};
use crate::ntuple::decode::rules::lacking;
use crate::ntuple::decode::values::{mismatch, too_many};
use crate::ntuple::model::{Cluster, PageList};

/// Checks that the columns of a field have as many elements in a cluster as the schema says, as far as no page is needed for it.
///
/// # Errors
///
/// They have not, or the schema contradicts itself in this field.
pub fn check_counts(plan: &FieldPlan, list: &PageList, cluster: &Cluster) -> Result<()> {
    plan.check_schema()?;
    if cluster.entries == 0 {
        return Ok(());
    }
    Stored { list, cluster }.check(plan.node(), Some(cluster.entries))
}

/// The columns of a cluster, as its page list has them.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a> {
    pub list: &'a PageList,
    pub cluster: &'a Cluster,
}

impl<'a> Stored<'a> {
    /// The columns that have the elements.
    pub fn active<'c>(&self, columns: &'c FieldColumns) -> Result<&'c [ColumnRef]> {
        columns.active(self.cluster)
    }

    /// The first of the columns that have the elements.
    pub fn principal<'c>(&self, columns: &'c FieldColumns) -> Result<&'c ColumnRef> {
        self.active(columns)?.first().ok_or_else(mismatch)
    }

    pub fn elements(&self, column: &ColumnRef) -> u64 {
        self.cluster.elements(self.list, column.id)
    }

    pub fn blame(&self, error: Error, columns: &FieldColumns, column: &ColumnRef) -> Error {
        let (field, id, entry) = (&columns.field, column.id, self.cluster.first_entry);
        error.object(format!("field {field}, column {id}, cluster at entry {entry}"))
    }

    /// How many values of a column are not stored.
    pub fn lacking(&self, columns: &FieldColumns, column: &ColumnRef, count: u64) -> Result<u64> {
        let lacking = lacking(column, self.cluster, self.elements(column), count);
        lacking.map_err(|e| self.blame(e, columns, column))
    }

    fn check(&self, node: &Node, count: Option<u64>) -> Result<()> {
        let Some(columns) = node.own_columns() else {
            return match node {
                Node::Fixed { size, item } => {
                    let times = |count: u64| count.checked_mul(*size).ok_or_else(too_many);
                    let count = count.map(times).transpose()?;
                    self.check(item, count.or_else(|| self.hint(item)))
                }
                Node::Record { parts } => {
                    let count = count.or_else(|| self.hint(node));
                    parts.iter().try_for_each(|part| self.check(part, count))
                }
                _ => Ok(()),
            };
        };
        let column = self.principal(columns)?;
        if let Some(count) = count {
            self.lacking(columns, column, count)?;
        }
        let none = count == Some(0) || self.elements(column) == 0;
        let below = |item: &Node| {
            let count = if none { Some(0) } else { self.hint(item) };
            self.check(item, count)
        };
        match node {
            Node::Bytes { .. } | Node::Streamed { .. } if none => {
                let second = self.active(columns)?.get(1).ok_or_else(mismatch)?;
                self.lacking(columns, second, 0).map(drop)
            }
            Node::List { item, .. } | Node::Optional { item, .. } | Node::Alternative { item, .. } => below(item),
            Node::Variant { parts, .. } => parts.iter().try_for_each(below),
            _ => Ok(()),
        }
    }

    /// How many values of a node are stored, if the page list says so.
    fn hint(&self, node: &Node) -> Option<u64> {
        if let Some(columns) = node.own_columns() {
            let column = self.principal(columns).ok()?;
            return if column.may_lack(self.cluster) { None } else { Some(self.elements(column)) };
        }
        match node {
            Node::Fixed { size, item } => self.hint(item)?.checked_div(*size),
            Node::Record { parts } => parts.iter().find_map(|part| self.hint(part)),
            _ => None,
        }
    }
}
