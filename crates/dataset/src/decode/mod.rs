//! Columns: a tree's branches as Arrow arrays.
//!
//! A [`ColumnPlan`] is made once for a branch, from the tree's metadata and the streamer infos; a
//! [`ColumnBuilder`] runs it over baskets, straight into the final buffers. What cannot be decoded is a column of
//! bytes that says why. Fetching and decompressing baskets is the caller's.
//!
//! `plain`, `element` and `class` make of leaves and streamer infos a `types::Shape` and the steps (`op`) that read it;
//! `entries`, `pick`, `machine`, `objects`, `pointers` and `rows` run them. `arrays` does both for those that hold any class.

pub(crate) mod arrays;
mod builder;
mod class;
pub(crate) mod column;
mod element;
mod entries;
mod machine;
mod name;
pub(crate) mod objects;
pub(crate) mod op;
pub(crate) mod packed;
pub(crate) mod parts;
mod pick;
mod plain;
mod pointers;
mod rows;
pub(crate) mod schema;
mod together;
pub(crate) mod types;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::FieldRef;
use rootfile::streamer::StreamerInfos;

use self::arrays::Contents;
pub use self::builder::ColumnBuilder;
use self::schema::Plan;
use self::types::Shape;
use crate::tree::basket::BasketData;
use crate::tree::model::{Branch, BranchKind, Tree};

/// Arrays that hold any class are looked through this deep.
const MOST_TURNS: usize = 6;

/// How a branch becomes a column. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ColumnPlan(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    field: FieldRef,
    branch: usize,
    opaque: Option<String>,
    plan: Plan,
    /// What is known of arrays whose items' class only their bytes say.
    contents: Contents,
}

impl ColumnPlan {
    /// The plan for a branch. It always succeeds: what cannot be decoded becomes `LargeBinary`, the bytes of each
    /// entry, and says why.
    pub fn new(tree: &Tree, branch: usize, infos: &StreamerInfos) -> Self {
        Self::planned(tree, branch, infos, Contents::default())
    }

    /// The plan for a branch that holds what other columns did: what their entries said of arrays is known of it, too.
    /// `clones` is the class of the objects, if it is a `TClonesArray`.
    pub fn knowing(tree: &Tree, branch: usize, infos: &StreamerInfos, others: &[&Self], clones: Option<&str>) -> Self {
        let mut contents = Contents::default();
        others.iter().for_each(|other| contents.take_in(&other.0.contents));
        if let Some(class) = clones {
            contents.take_in(&Contents::of_branch(class));
        }
        Self::planned(tree, branch, infos, contents)
    }

    /// The class of its objects, if it is an array that only entries say the class of, and they did.
    pub fn array_class(&self) -> Option<&str> {
        self.0.contents.class_of_branch()
    }

    /// Whether there are collections in it that are streamed in one of two ways, member-wise or object-wise.
    pub fn streams_collections(&self) -> bool {
        self.0.plan.op.has_members() || self.steps().any(|step| step.op.has_members())
    }

    /// Whether there are `TObject` bases in it, which are passed over.
    pub fn passes_over_tobjects(&self) -> bool {
        self.steps().any(|step| matches!(step.into, op::Into::TObject))
    }

    /// Whether there are a `TObjArray` or a `TList` in it, whose names, and what their objects were added with, are
    /// passed over.
    pub fn passes_over_names(&self) -> bool {
        self.0.plan.op.is_collection() || self.steps().any(|step| step.op.is_collection())
    }

    /// The steps of all classes in it.
    fn steps(&self) -> impl Iterator<Item = &op::Step> {
        let versions = self.0.plan.readers.iter().flat_map(|reader| &reader.versions);
        versions.filter_map(|version| version.steps.as_ref().ok()).flatten()
    }

    fn planned(tree: &Tree, branch: usize, infos: &StreamerInfos, contents: Contents) -> Self {
        let (plan, opaque) = match schema::plan(tree, branch, infos, &contents) {
            Ok(plan) if plan.shape == Shape::Bytes && !plan.places.is_empty() => {
                (plan, Some("a TClonesArray of a class that no entry says, or that is not described".to_owned()))
            }
            Ok(plan) => (plan, None),
            Err(why) => (Plan::bytes(), Some(why)),
        };
        let mut names = tree.lineage(branch);
        names.reverse();
        let typename = plan.typename.clone();
        Self::made(&names.join("/"), &typename, branch, plan, opaque, contents)
    }

    fn made(name: &str, typename: &str, branch: usize, plan: Plan, opaque: Option<String>, contents: Contents) -> Self {
        let mut metadata = HashMap::from([("typename".to_owned(), typename.to_owned())]);
        if let Some(why) = &opaque {
            metadata.insert("opaque".to_owned(), why.clone());
        }
        let field = Arc::new(plan.shape.field(name).as_ref().clone().with_metadata(metadata));
        Self(Arc::new(Inner { field, branch, opaque, plan, contents }))
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

    /// A column by a plan of any make.
    #[cfg(test)]
    pub(crate) fn of(plan: Plan) -> Self {
        Self::made("column", "any", 0, plan, None, Contents::default())
    }

    /// How its entries lie in bytes.
    pub(crate) fn plan(&self) -> &Plan {
        &self.0.plan
    }

    /// Why the column holds bytes only, if so.
    pub fn opaque(&self) -> Option<&str> {
        self.0.opaque.as_deref()
    }

    /// The same column as bytes, for data that turned out not to fit the plan.
    #[must_use]
    pub fn opaque_because(&self, reason: &str) -> Self {
        let typename = self.0.field.metadata().get("typename").map_or("unknown", String::as_str);
        Self::made(
            self.0.field.name(),
            typename,
            self.0.branch,
            Plan::bytes(),
            Some(reason.to_owned()),
            Contents::default(),
        )
    }

    /// Whether there are arrays of which only entries can say what they hold: see [`ColumnPlan::learn`].
    pub fn lacks(&self) -> bool {
        self.0.plan.counters.is_empty() && self.0.contents.lack(&self.0.plan.places)
    }

    /// The plan with what the entries of a basket say of its arrays (`TClonesArray`, `TObjArray`, `TList`). Without it
    /// a `TClonesArray` is bytes, and of the others each item is.
    #[must_use]
    pub fn learn(&self, tree: &Tree, infos: &StreamerInfos, basket: &BasketData) -> Self {
        let mut plan = self.clone();
        // An array may be inside another: each turn looks one further in.
        for _ in 0..MOST_TURNS {
            let mut contents = plan.0.contents.clone();
            if !plan.lacks() || !contents.learn(&plan.0.plan.places, &entries::notes(&plan.0.plan, basket)) {
                break;
            }
            plan = Self::planned(tree, plan.0.branch, infos, contents);
        }
        plan
    }

    /// The same column as that of a friend, whose name and a dot go before its own, and whose branches have numbers
    /// behind so many others.
    #[must_use]
    pub fn of_friend(&self, friend: &str, branches: usize) -> Self {
        let inner = &self.0;
        let field = inner.field.as_ref().clone().with_name(format!("{friend}.{}", inner.field.name()));
        let mut plan = inner.plan.clone();
        plan.counters.iter_mut().for_each(|counter| *counter += branches);
        let (opaque, contents) = (inner.opaque.clone(), inner.contents.clone());
        Self(Arc::new(Inner { field: Arc::new(field), branch: inner.branch + branches, opaque, plan, contents }))
    }

    /// Branches whose values [`ColumnBuilder::append`] needs beside the entries; usually none.
    pub fn counters(&self) -> &[usize] {
        &self.0.plan.counters
    }

    /// An empty column with room for so many entries, which take about so many bytes in their baskets.
    pub fn start(&self, entries: usize, bytes: usize) -> ColumnBuilder {
        ColumnBuilder::new(self.clone(), entries, bytes)
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
