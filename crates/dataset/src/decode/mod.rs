//! Columns: a tree's branches as Arrow arrays.
//!
//! A [`ColumnPlan`] is made once for a branch, from the tree's metadata and the streamer infos; a
//! [`ColumnBuilder`] runs it over baskets, straight into the final buffers. What cannot be decoded is a column of
//! bytes that says why. Fetching and decompressing baskets is the caller's.
//!
//! `plain`, `element` and `class` make of leaves and streamer infos a `types::Shape` and the steps (`op`) that read it;
//! `entries`, `machine`, `objects` and `rows` run them.

mod builder;
mod class;
mod column;
mod element;
mod entries;
mod machine;
mod name;
mod objects;
mod op;
mod packed;
mod plain;
mod rows;
mod schema;
mod types;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::FieldRef;
use rootfile::streamer::StreamerInfos;

pub use self::builder::ColumnBuilder;
use self::schema::Plan;
use crate::tree::model::{Branch, BranchKind, Tree};

/// How a branch becomes a column. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ColumnPlan(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    field: FieldRef,
    branch: usize,
    opaque: Option<String>,
    plan: Plan,
}

impl ColumnPlan {
    /// The plan for a branch. It always succeeds: what cannot be decoded becomes `LargeBinary`, the bytes of each
    /// entry, and says why.
    pub fn new(tree: &Tree, branch: usize, infos: &StreamerInfos) -> Self {
        let (plan, opaque) = match schema::plan(tree, branch, infos) {
            Ok(plan) => (plan, None),
            Err(why) => (Plan::bytes(), Some(why)),
        };
        let mut names = tree.lineage(branch);
        names.reverse();
        let typename = plan.typename.clone();
        Self::made(&names.join("/"), &typename, branch, plan, opaque)
    }

    fn made(name: &str, typename: &str, branch: usize, plan: Plan, opaque: Option<String>) -> Self {
        let mut metadata = HashMap::from([("typename".to_owned(), typename.to_owned())]);
        if let Some(why) = &opaque {
            metadata.insert("opaque".to_owned(), why.clone());
        }
        let field = Arc::new(plan.shape.field(name).as_ref().clone().with_metadata(metadata));
        Self(Arc::new(Inner { field, branch, opaque, plan }))
    }

    /// The column's field. Its name is the path of the branch (`Event/fTracks/fTracks.fX`), its metadata have the
    /// C++ type (`typename`), and for an opaque column the reason (`opaque`).
    pub fn field(&self) -> &FieldRef {
        &self.0.field
    }

    /// The index of the branch among the tree's.
    pub fn branch(&self) -> usize {
        self.0.branch
    }

    /// Why the column holds bytes only, if so.
    pub fn opaque(&self) -> Option<&str> {
        self.0.opaque.as_deref()
    }

    /// The same column as bytes, for data that turned out not to fit the plan.
    #[must_use]
    pub fn opaque_because(&self, reason: &str) -> Self {
        let typename = self.0.field.metadata().get("typename").map_or("unknown", String::as_str);
        Self::made(self.0.field.name(), typename, self.0.branch, Plan::bytes(), Some(reason.to_owned()))
    }

    /// Branches whose values [`ColumnBuilder::append`] needs beside the entries; usually none.
    pub fn counters(&self) -> &[usize] {
        &self.0.plan.counters
    }

    /// An empty column with room for so many entries.
    pub fn start(&self, entries: usize) -> ColumnBuilder {
        ColumnBuilder::new(self.clone(), entries)
    }
}

/// Columns of a tree: branches that hold entries of their own, in ROOT's order. Branches that only group others
/// are no columns.
pub fn columns(tree: &Tree, infos: &StreamerInfos) -> Vec<ColumnPlan> {
    let holds = |branch: &Branch| match &branch.kind {
        // A split collection's own branch has the number of its objects.
        // A class or base without members has nothing.
        BranchKind::Element(element) => match element.element_type {
            3 | 4 => true,
            1 | 2 => false,
            _ => branch.children.is_empty(),
        },
        BranchKind::Clones(_) | BranchKind::Ref { .. } => false,
        _ => !branch.leaves.is_empty() || !branch.baskets.is_empty(),
    };
    let branches = tree.branches.iter().enumerate().filter(|(_, branch)| holds(branch));
    branches.map(|(index, _)| ColumnPlan::new(tree, index, infos)).collect()
}
