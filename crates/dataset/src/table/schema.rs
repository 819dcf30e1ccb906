//! The schema of a table: named nodes below each other, some of which are columns.

use std::sync::Arc;

use crate::ntuple::model::Schema;
use crate::tree::{BranchKind, Tree};

/// A node of a schema: a branch or a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The name, without the names above.
    pub name: String,
    /// The title; of a field its description.
    pub title: String,
    /// The index of the node above; none at the top.
    pub parent: Option<usize>,
    /// The C++ class, if the container names one.
    pub type_name: String,
    /// Whether the node only groups others, although it stores numbers of its own: the counter of a split collection, which
    /// its members repeat.
    pub groups: bool,
}

/// The schema of a table, as its container has it.
#[derive(Debug)]
pub enum TableSchema {
    /// A tree, with its baskets.
    Tree(Box<Tree>),
    /// The fields of an RNTuple.
    Ntuple {
        /// The name.
        name: String,
        /// The description, where a tree has its title.
        title: String,
        /// Fields and columns.
        schema: Arc<Schema>,
    },
    /// The nodes of a table in another container.
    Plain {
        /// The name.
        name: String,
        /// A description, empty if there is none.
        title: String,
        /// The nodes, each behind the one above it.
        nodes: Vec<Node>,
    },
}

impl TableSchema {
    /// Name and title.
    pub fn names(&self) -> (&str, &str) {
        match self {
            Self::Tree(tree) => (&tree.named.name, &tree.named.title),
            Self::Ntuple { name, title, .. } | Self::Plain { name, title, .. } => (name, title),
        }
    }

    /// The tree, if the table is one.
    pub fn tree(&self) -> Option<&Tree> {
        match self {
            Self::Tree(tree) => Some(tree),
            Self::Ntuple { .. } | Self::Plain { .. } => None,
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        match self {
            Self::Tree(tree) => tree.branches.len(),
            Self::Ntuple { schema, .. } => schema.fields.len(),
            Self::Plain { nodes, .. } => nodes.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All nodes, each behind the one above it.
    pub fn nodes(&self) -> Vec<Node> {
        match self {
            Self::Tree(tree) => {
                let node = |branch: &crate::tree::Branch| Node {
                    name: branch.name().to_owned(),
                    title: branch.named.title.clone(),
                    parent: branch.parent,
                    type_name: match &branch.kind {
                        BranchKind::Element(element) => element.class_name.clone(),
                        BranchKind::Object { class_name } => class_name.clone(),
                        BranchKind::Clones(_) => "TClonesArray".to_owned(),
                        _ => String::new(),
                    },
                    // The counter of a TClonesArray is a column.
                    groups: branch.element().is_some_and(|e| e.element_type == 4) && !branch.children.is_empty(),
                };
                tree.branches.iter().map(node).collect()
            }
            Self::Ntuple { schema, .. } => {
                let node = |field: &crate::ntuple::model::Field| Node {
                    name: field.name.clone(),
                    title: field.description.clone(),
                    parent: field.parent,
                    type_name: field.type_name.clone(),
                    groups: false,
                };
                schema.fields.iter().map(node).collect()
            }
            Self::Plain { nodes, .. } => nodes.clone(),
        }
    }

    /// The names of a node and of those above it, from below to the top.
    pub fn lineage(&self, node: usize) -> Vec<&str> {
        match self {
            Self::Tree(tree) => tree.lineage(node),
            Self::Ntuple { schema, .. } => schema.lineage(node),
            Self::Plain { nodes, .. } => {
                let above = |node: &&Node| node.parent.and_then(|parent| nodes.get(parent));
                std::iter::successors(nodes.get(node), above).map(|node| node.name.as_str()).collect()
            }
        }
    }

    /// Whether each node, or one below it, is one that this keeps by its lineage.
    pub fn kept_in_part(&self, keeps: &dyn Fn(&[&str]) -> bool) -> Vec<bool> {
        let nodes = self.nodes();
        let mut kept: Vec<bool> = (0..nodes.len()).map(|node| keeps(&self.lineage(node))).collect();
        // A node comes behind the one above it.
        for (id, node) in nodes.iter().enumerate().rev() {
            if kept.get(id) == Some(&true)
                && let Some(above) = node.parent.and_then(|above| kept.get_mut(above))
            {
                *above = true;
            }
        }
        kept
    }

    /// The branch that counts a branch of one leaf, if both are plain branches at the top of a tree.
    pub fn counter(&self, node: usize) -> Option<usize> {
        let tree = self.tree()?;
        let plain = |branch: usize| {
            let found = tree.branches.get(branch)?;
            let is_plain = matches!(found.kind, BranchKind::Plain) && found.leaves.len() == 1;
            (is_plain && found.parent.is_none()).then_some(found)
        };
        let leaf = tree.leaves.get(*plain(node)?.leaves.first()?)?;
        let id = leaf.leaf_count?;
        let counter = tree.leaves.iter().find(|leaf| leaf.id == id)?.branch;
        (counter != node && plain(counter).is_some()).then_some(counter)
    }

    /// The nodes at the top.
    pub fn top(&self) -> Vec<usize> {
        match self {
            Self::Tree(tree) => tree.top.clone(),
            Self::Ntuple { schema, .. } => schema.children(None),
            Self::Plain { nodes, .. } => (0..nodes.len()).filter(|&node| self.is_default(node)).collect(),
        }
    }

    /// Whether a column has the values of another one: a projected field of an RNTuple.
    pub fn is_projected(&self, node: usize) -> bool {
        match self {
            Self::Tree(_) | Self::Plain { .. } => false,
            Self::Ntuple { schema, .. } => schema.fields.get(node).is_some_and(|field| field.source.is_some()),
        }
    }

    /// Whether projected fields show a node, or all nodes below it. Only those count that `counts` says.
    pub fn is_shown(&self, node: usize, counts: &dyn Fn(usize) -> bool) -> bool {
        let Self::Ntuple { schema, .. } = self else { return false };
        let below = schema.children(Some(node));
        schema.fields.iter().enumerate().any(|(at, field)| field.source == Some(node) && counts(at))
            || (!below.is_empty() && below.iter().all(|child| self.is_shown(*child, counts)))
    }

    /// Whether a column is read where all are asked for. A field below another one is part of the values of the one above.
    pub fn is_default(&self, node: usize) -> bool {
        match self {
            Self::Tree(_) => true,
            Self::Ntuple { schema, .. } => schema.fields.get(node).is_some_and(|field| field.parent.is_none()),
            Self::Plain { nodes, .. } => nodes.get(node).is_some_and(|node| node.parent.is_none()),
        }
    }
}
