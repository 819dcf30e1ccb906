//! Compares the schemas of trees branch by branch: names, and the meaning of bytes. Layout (basket sizes, compression) is not
//! part of a schema.

use std::collections::{HashMap, HashSet};

use dataset::tree::{Branch, BranchKind, Leaf, Tree};

/// Path of a branch: names from the top down, each with its index among equal names.
pub(crate) type BranchPath = Vec<(String, usize)>;

/// The paths of all branches.
pub(crate) fn paths(tree: &Tree) -> Vec<BranchPath> {
    let mut paths: Vec<BranchPath> = vec![Vec::new(); tree.branches.len()];
    let mut lists: Vec<(BranchPath, Vec<usize>)> = vec![(Vec::new(), tree.top.clone())];
    // The table of references is in no list. It gets a name that no branch can have.
    if let Some(i) = tree.branch_ref
        && let Some(path) = paths.get_mut(i)
    {
        *path = vec![("\0TRefTable".to_owned(), 0)];
    }
    while let Some((above, list)) = lists.pop() {
        let mut count: HashMap<&str, usize> = HashMap::new();
        for i in list {
            let Some(branch) = tree.branches.get(i) else { continue };
            let nth = count.entry(branch.name()).or_default();
            let mut path = above.clone();
            path.push((branch.name().to_owned(), *nth));
            *nth += 1;
            lists.push((path.clone(), branch.children.clone()));
            if let Some(slot) = paths.get_mut(i) {
                *slot = path;
            }
        }
    }
    paths
}

/// A path as text.
pub(crate) fn path_text(path: &BranchPath) -> String {
    path.iter().map(|(name, _)| name.trim_start_matches('\0')).collect::<Vec<_>>().join("/")
}

/// A tree with the names of its leaves by identity, to find the counters of leaves.
struct NamedLeaves<'a> {
    tree: &'a Tree,
    names: Vec<Option<&'a str>>,
}

impl<'a> NamedLeaves<'a> {
    fn new(tree: &'a Tree) -> Self {
        // Identities are numbers of objects in a record.
        let mut names = vec![None; tree.leaves.iter().map(|leaf| leaf.id + 1).max().unwrap_or(0)];
        for leaf in &tree.leaves {
            if let Some(slot) = names.get_mut(leaf.id) {
                *slot = Some(leaf.named.name.as_str());
            }
        }
        Self { tree, names }
    }

    fn leaves(&self, branch: &'a Branch) -> impl Iterator<Item = &'a Leaf> {
        branch.leaves.iter().filter_map(|&l| self.tree.leaves.get(l))
    }

    fn counter(&self, leaf: &Leaf) -> Option<&'a str> {
        leaf.leaf_count.and_then(|id| self.names.get(id).copied().flatten())
    }

    /// The meaning of a branch's entries, as text.
    fn meaning(&self, branch: &'a Branch) -> String {
        let mut text = match &branch.kind {
            BranchKind::Plain => "TBranch".to_owned(),
            BranchKind::Element(e) => format!(
                "TBranchElement of {} (version {}, checksum {:#x}), element {} of type {}/{}{}",
                e.class_name,
                e.class_version,
                e.checksum,
                e.element_id,
                e.element_type,
                e.streamer_type,
                if e.clones_name.is_empty() { String::new() } else { format!(", of {}", e.clones_name) }
            ),
            BranchKind::Object { class_name } => return format!("TBranchObject of {class_name}"),
            BranchKind::Ref { .. } => return "TBranchRef".to_owned(),
            BranchKind::Clones(c) => return format!("TBranchClones of {}", c.class_name),
        };
        if matches!(branch.kind, BranchKind::Plain) {
            for leaf in self.leaves(branch) {
                let counter = self.counter(leaf).map(|name| format!(" by {name}")).unwrap_or_default();
                let unsigned = if leaf.is_unsigned { " unsigned" } else { "" };
                text.push_str(&match leaf.class.as_str() {
                    "TLeafC" => format!(", TLeafC {}", leaf.named.name),
                    class => format!(", {class} {}[{}]{counter}{unsigned}", leaf.named.name, leaf.len),
                });
            }
        }
        text
    }
}

/// Whether the entries of two branches have the same meaning, so that the branches can be joined.
fn same_meaning((a, mine): (&NamedLeaves<'_>, &Branch), (b, theirs): (&NamedLeaves<'_>, &Branch)) -> bool {
    match (&mine.kind, &theirs.kind) {
        (BranchKind::Plain, BranchKind::Plain) => {
            let same = |(x, y): (&Leaf, &Leaf)| {
                x.class == y.class
                    && x.named.name == y.named.name
                    && x.is_unsigned == y.is_unsigned
                    // The fLen of a TLeafC is the length of its longest text.
                    && (x.len == y.len || x.class == "TLeafC")
                    && a.counter(x) == b.counter(y)
            };
            mine.leaves.len() == theirs.leaves.len() && a.leaves(mine).zip(b.leaves(theirs)).all(same)
        }
        (BranchKind::Element(x), BranchKind::Element(y)) => {
            x.class_name == y.class_name
                && x.clones_name == y.clones_name
                && (x.class_version, x.checksum) == (y.class_version, y.checksum)
                && (x.element_id, x.element_type, x.streamer_type) == (y.element_id, y.element_type, y.streamer_type)
        }
        (BranchKind::Object { class_name: x }, BranchKind::Object { class_name: y }) => x == y,
        (BranchKind::Ref { .. }, BranchKind::Ref { .. }) => true,
        (BranchKind::Clones(x), BranchKind::Clones(y)) => x.class_name == y.class_name,
        _ => false,
    }
}

/// Whether two trees have branches of the same names at the same indices, as most inputs of a merge do.
fn same_places(first: &Tree, other: &Tree) -> bool {
    first.branches.len() == other.branches.len()
        && first.top == other.top
        && first.branch_ref == other.branch_ref
        && first
            .branches
            .iter()
            .zip(&other.branches)
            .all(|(a, b)| a.named.name == b.named.name && a.parent == b.parent && a.children == b.children)
}

/// How the branches of two trees correspond, by index.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// For each branch of the first tree, the branch of the other.
    pub map: Vec<Option<usize>>,
    /// Branches that only the first has.
    pub missing: Vec<usize>,
    /// Branches that only the other has.
    pub extra: Vec<usize>,
    /// Branches of the first tree whose entries have another meaning in the other.
    pub changed: Vec<usize>,
}

/// Compares two trees. Tables of references are mapped, but not compared.
pub(crate) fn compare(first: &Tree, other: &Tree) -> Comparison {
    let (mine, theirs) = (NamedLeaves::new(first), NamedLeaves::new(other));
    let mut result = Comparison { map: mapping(first, other), ..Comparison::default() };
    let mut used = vec![false; other.branches.len()];
    for (i, (found, branch)) in result.map.iter().zip(&first.branches).enumerate() {
        match found.and_then(|i| other.branches.get(i)) {
            None if first.branch_ref == Some(i) => {}
            None => result.missing.push(i),
            Some(their) if !same_meaning((&mine, branch), (&theirs, their)) => result.changed.push(i),
            Some(_) => {}
        }
        if let Some(slot) = found.and_then(|i| used.get_mut(i)) {
            *slot = true;
        }
    }
    result.extra = (0..used.len()).filter(|&i| !used.get(i).copied().unwrap_or(true)).collect();
    result.extra.retain(|&i| other.branch_ref != Some(i));
    result
}

/// The branch of `other` that each branch of `first` corresponds to.
fn mapping(first: &Tree, other: &Tree) -> Vec<Option<usize>> {
    if same_places(first, other) {
        return (0..first.branches.len()).map(Some).collect();
    }
    let theirs: HashMap<BranchPath, usize> = paths(other).into_iter().enumerate().map(|(i, p)| (p, i)).collect();
    paths(first).iter().map(|path| theirs.get(path).copied()).collect()
}

impl Comparison {
    /// Whether the trees have the same schema.
    pub fn is_equal(&self) -> bool {
        self.missing.is_empty() && self.extra.is_empty() && self.changed.is_empty()
    }

    /// Ignores some branches of the first tree and of the other.
    pub fn leave_out(&mut self, own: &HashSet<usize>, theirs: &HashSet<usize>) {
        self.missing.retain(|branch| !own.contains(branch));
        self.changed.retain(|branch| !own.contains(branch));
        self.extra.retain(|branch| !theirs.contains(branch));
        own.iter().for_each(|&branch| {
            if let Some(found) = self.map.get_mut(branch) {
                *found = None;
            }
        });
    }

    /// Whether a branch is split in one of the trees and not in the other.
    pub fn split_differs(&self, first: &Tree, other: &Tree) -> bool {
        let whole = |tree: &Tree, i: usize| tree.branches.get(i).map(|branch| branch.children.is_empty());
        self.changed.iter().any(|&i| match self.map.get(i) {
            Some(&Some(theirs)) => whole(first, i) != whole(other, theirs),
            _ => false,
        })
    }

    /// The differences by name.
    pub fn differences(&self, first: &Tree, other: &Tree) -> Vec<Difference> {
        let (own, theirs) = (paths(first), paths(other));
        let (mine, yours) = (NamedLeaves::new(first), NamedLeaves::new(other));
        let name = |paths: &[BranchPath], i: usize| paths.get(i).map(path_text).unwrap_or_default();
        let missing = self.missing.iter().map(|&i| Difference::Missing(name(&own, i)));
        let extra = self.extra.iter().map(|&i| Difference::Extra(name(&theirs, i)));
        let changed = self.changed.iter().filter_map(|&i| {
            let other_branch = self.map.get(i).copied().flatten().and_then(|i| other.branches.get(i))?;
            let (first, second) = (mine.meaning(first.branches.get(i)?), yours.meaning(other_branch));
            Some(Difference::Changed { branch: name(&own, i), first, second })
        });
        missing.chain(extra).chain(changed).collect()
    }
}

/// One difference between the schemas of two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// A branch that only the first has.
    Missing(String),
    /// A branch that only the second has.
    Extra(String),
    /// A branch whose entries have another meaning.
    Changed {
        /// The branch.
        branch: String,
        /// Its meaning in the first.
        first: String,
        /// Its meaning in the second.
        second: String,
    },
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing(branch) => write!(f, "no branch {branch}"),
            Self::Extra(branch) => write!(f, "an additional branch {branch}"),
            Self::Changed { branch, first, second } => write!(f, "branch {branch}: {second} instead of {first}"),
        }
    }
}
