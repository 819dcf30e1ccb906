//! The result of a comparison: the differences, and what was compared.

use std::fmt;

use serde::Serialize;

use crate::keys::MatchedKeys;

/// The result of a comparison. Serialised, it is the `--json` of `basketry verify`.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// Version of this structure.
    pub schema: u32,
    /// Whether no difference was found.
    pub equal: bool,
    /// The trees that both sides have.
    pub trees: Vec<TreeVerdict>,
    /// Number of compared objects that are not trees.
    pub objects: u64,
    /// Older cycles of trees, on the side that has more of them.
    pub older_cycles: u64,
    /// All differences: those of directories and trees in the order of the first side, then those of objects.
    pub differences: Vec<Difference>,
    /// What was found of the keys of tables that are compared by them.
    pub keys: Vec<MatchedKeys>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl Default for Verdict {
    fn default() -> Self {
        Self {
            schema: 1,
            equal: true,
            trees: Vec::new(),
            objects: 0,
            older_cycles: 0,
            differences: Vec::new(),
            keys: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// The comparison of one tree.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TreeVerdict {
    /// Path of the tree on the first side.
    pub path: String,
    /// Selected entries of the first side.
    pub entries: u64,
    /// Branches that both sides have.
    pub branches: u64,
    /// Branches among them that hold entries. All are compared.
    pub columns: u64,
    /// Columns that the two sides split or stream differently, and that were compared by value.
    pub by_value: u64,
    /// Bytes of the entries compared, of one side.
    pub bytes: u64,
    /// Largest errors of columns that differ within their tolerance, by name.
    pub errors: Vec<ColumnError>,
    /// Whether no difference was found.
    pub equal: bool,
}

/// A column whose numbers differ within the tolerance.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ColumnError {
    /// The column.
    pub column: String,
    /// The largest absolute difference.
    pub largest: f64,
    /// The largest difference as a share of the larger number.
    pub relative: f64,
}

/// One difference. Of the bytes of a branch, only the first difference is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Path of the tree, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Path of the object or directory, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Branch, with those above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Entry, as the first side counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<u64>,
    /// The values of its key, where tables are compared by keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Vec<String>>,
    /// Member of the entry's value, where values were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// Byte of the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte: Option<u64>,
    /// What differs.
    pub what: String,
    /// What the two tables are.
    #[serde(skip)]
    pub kind: TableKind,
}

/// What two tables are that are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableKind {
    /// Two trees.
    #[default]
    Tree,
    /// Two RNTuples.
    Ntuple,
    /// A tree and an RNTuple.
    Mixed,
    /// Tables of which at least one is in another container.
    Table,
}

impl TableKind {
    /// The word for such a table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Ntuple => "RNTuple",
            Self::Mixed => "tree and RNTuple",
            Self::Table => "table",
        }
    }
}

impl Difference {
    pub(super) fn of_tree(tree: &str, what: impl Into<String>) -> Self {
        Self { tree: Some(tree.to_owned()), what: what.into(), ..Self::default() }
    }

    pub(super) fn of_branch(tree: &str, branch: &str, what: impl Into<String>) -> Self {
        Self { branch: Some(branch.to_owned()), ..Self::of_tree(tree, what) }
    }

    pub(super) fn of_table(path: &str, kind: TableKind, what: impl Into<String>) -> Self {
        Self { kind, ..Self::of_tree(path, what) }
    }

    pub(super) fn of_column(path: &str, kind: TableKind, name: &str, what: impl Into<String>) -> Self {
        Self { branch: Some(name.to_owned()), ..Self::of_table(path, kind, what) }
    }

    pub(super) fn of_object(object: &str, what: impl Into<String>) -> Self {
        Self { object: Some(object.to_owned()), what: what.into(), ..Self::default() }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.tree.as_ref().map(|tree| format!("{} {tree}", self.kind.word())));
        parts.extend(self.object.clone());
        let column = match self.kind {
            TableKind::Tree => "branch",
            TableKind::Ntuple | TableKind::Mixed => "field",
            TableKind::Table => "column",
        };
        parts.extend(self.branch.as_ref().map(|branch| format!("{column} {branch}")));
        parts.extend(self.entry.map(|entry| format!("entry {entry}")));
        parts.extend(self.key.as_ref().map(|key| format!("key {}", key.join(":"))));
        parts.extend(self.member.as_ref().map(|member| format!("member {member}")));
        parts.extend(self.byte.map(|byte| format!("byte {byte}")));
        write!(f, "{}: {}", parts.join(", "), self.what)
    }
}
