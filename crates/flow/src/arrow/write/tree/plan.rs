//! The plan of a tree to write: its columns in their layout. All fill contexts of the tree share it.

use std::collections::HashMap;
use std::sync::Arc;

use dataset::assemble::{LogicalColumn, logical_columns};
use dataset::decode::ColumnPlan;
use dataset::layout::{ClusterSize, ColumnEncoding, Layout, TreeLayout, TreeRules, defaults};
use dataset::precision::packing;
use dataset::tree::Tree;
use dataset::tree::make::{NewColumn, NewKind, NewLeaf, classes_of, make_tree};
use rootfile::streamer::describe::describe_contained;
use rootfile::streamer::{StreamerInfo, StreamerInfos};
use rootfile::{Error, Result};

use crate::execute::encode::tree::branch_plan::{BranchPlan, branch_plan, unplanned};

/// A tree to write.
#[derive(Clone, Debug, Default)]
pub struct TreeSpec {
    /// Its path: directories, if any, and the name, separated by slashes.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its columns, in order. A counter comes before what it counts.
    pub columns: Vec<TreeColumn>,
    /// The classes of the columns, and the classes inside these.
    pub classes: StreamerInfos,
}

/// A column of a tree to write. The [`Layout`] decides its split level and everything else of its layout.
#[derive(Clone, Debug)]
pub struct TreeColumn {
    /// Name of its branch.
    pub name: String,
    /// Leaves of basic types, or a class.
    pub kind: NewKind,
}

/// The plan of a tree to write.
#[derive(Debug)]
pub(crate) struct TreePlan {
    /// Name of the tree, without directories.
    pub name: String,
    /// Streamer infos that the file needs.
    pub infos: Vec<Arc<StreamerInfo>>,
    /// The columns that contexts fill.
    pub wholes: Vec<LogicalColumn>,
    /// Pairs of a counter and a column that it counts, by index among the columns.
    pub counted: Vec<(usize, usize)>,
    /// Branches that hold entries.
    pub branches: Vec<BranchPlan>,
    pub cluster: ClusterSize,
    pub basket_memory: Option<u64>,
}

impl TreePlan {
    /// The plan, and the tree's metadata without baskets.
    pub fn new(spec: &TreeSpec, layout: &Layout) -> Result<(Self, Tree)> {
        let named = |e: Error| e.object(format!("tree {}", spec.path));
        Self::planned(spec, layout).map_err(named)
    }

    fn planned(spec: &TreeSpec, layout: &Layout) -> Result<(Self, Tree)> {
        let name = spec.path.rsplit('/').next().unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err(Error::request("a tree needs a name"));
        }
        let rules = layout.rules(&spec.path);
        let of_tree = &rules.tree;
        let columns: Vec<NewColumn> = spec.columns.iter().map(|c| new_column(c, &rules)).collect();
        let classes = with_pairs(&columns, &spec.classes);
        let mut tree = make_tree(&name, &spec.title, &columns, &classes)?;
        let infos = classes_of(&columns, &classes)?;
        set_flush_rule(&mut tree, of_tree);
        let mut plans = dataset::decode::columns(&tree, &classes);
        // The class in a TClonesArray that is not split is known from the column only.
        for plan in plans.iter_mut().filter(|plan| plan.needs_learning()) {
            let top = tree.lineage(plan.branch()).last().copied().unwrap_or_default();
            let clones = columns.iter().find(|column| column.name == top).and_then(|column| match &column.kind {
                NewKind::Class { clones, .. } => clones.as_deref(),
                NewKind::Leaves(_) => None,
            });
            *plan = ColumnPlan::with_learned(&tree, plan.branch(), &classes, &[], clones);
        }
        Self::of_plans((tree, &name, infos), &plans, &classes, &rules)
    }

    /// The plan for a tree that is there already, without entries, and its metadata with the requested layout. `name` is that of
    /// its key. The file of the output needs `classes` as well.
    pub fn of_tree(
        mut tree: Tree,
        (path, name): (&str, &str),
        classes: &StreamerInfos,
        layout: &Layout,
    ) -> Result<(Self, Tree)> {
        let rules = layout.rules(path);
        for number in 0..tree.branches.len() {
            let own = rules.column(&tree.lineage(number));
            let Some(branch) = tree.branches.get_mut(number) else { continue };
            branch.compress = own.compression.unwrap_or(defaults::COMPRESSION).to_root_setting();
            if let Some(size) = own.basket {
                branch.basket_size = u32::try_from(size.bytes()).unwrap_or(u32::MAX >> 1);
            }
            let is_double = |leaf: &usize| tree.leaves.get(*leaf).is_some_and(|leaf| leaf.class == "TLeafD");
            let double = branch.leaves.iter().any(is_double);
            if let Some(range) = own.encoding.and_then(|encoding| packing(encoding, double)) {
                tree.pack_leaf(number, &range);
            }
        }
        set_flush_rule(&mut tree, &rules.tree);
        let plans = dataset::decode::columns(&tree, classes);
        Self::of_plans((tree, name, Vec::new()), &plans, classes, &rules).map_err(|e| e.object(format!("tree {path}")))
    }

    fn of_plans(
        (mut tree, name, infos): (Tree, &str, Vec<Arc<StreamerInfo>>),
        plans: &[ColumnPlan],
        classes: &StreamerInfos,
        rules: &TreeRules<'_>,
    ) -> Result<(Self, Tree)> {
        let of_tree = &rules.tree;
        let one_per_cluster = of_tree.one_basket_per_cluster == Some(true);
        let wholes = logical_columns(&tree, classes, plans);
        let mut branches = Vec::new();
        for (number, whole) in wholes.iter().enumerate() {
            if let Some(why) = whole.opaque() {
                let what = whole.field().name();
                return Err(Error::unsupported(format!("cannot be written: {why}")).object(format!("column {what}")));
            }
            for (part, &branch) in whole.branches().iter().enumerate() {
                let plan = plans.iter().find(|plan| plan.branch() == branch).ok_or_else(|| unplanned(&tree, branch))?;
                let own = rules.column(&tree.lineage(branch));
                branches.push(branch_plan((&tree, name), branch, (number, part), plan, &own, one_per_cluster)?);
            }
        }
        let counted = counters(&tree, &wholes);
        let cluster = of_tree.cluster.or(ClusterSize::from_auto_flush(defaults::AUTO_FLUSH));
        let cluster = cluster.unwrap_or(ClusterSize::Bytes(defaults::AUTO_FLUSH.unsigned_abs()));
        tree.auto_flush = cluster.to_auto_flush();
        let basket_memory = of_tree.basket_memory.map(|size| size.bytes()).filter(|_| !one_per_cluster);
        Ok((Self { name: name.to_owned(), infos, wholes, counted, branches, cluster, basket_memory }, tree))
    }

    /// Whether each branch has one basket in each cluster.
    pub fn one_per_cluster(&self) -> bool {
        self.branches.iter().any(|branch| branch.one_per_cluster)
    }
}

/// Tells ROOT's writer and readers whether baskets end only where clusters do.
fn set_flush_rule(tree: &mut Tree, rules: &TreeLayout) {
    if rules.one_basket_per_cluster == Some(true) {
        tree.named.object.bits |= defaults::ONLY_FLUSH_AT_CLUSTER;
    } else {
        tree.named.object.bits &= !defaults::ONLY_FLUSH_AT_CLUSTER;
    }
}

/// The classes, with the pairs of columns that are maps: without them ROOT cannot read pairs with a class that it has no
/// dictionary of. Pairs that cannot be described are left out.
fn with_pairs(columns: &[NewColumn], classes: &StreamerInfos) -> StreamerInfos {
    let mut all = classes.clone();
    for column in columns {
        let NewKind::Class { type_name, .. } = &column.kind else { continue };
        for info in describe_contained(type_name, &all).unwrap_or_default() {
            all.add(Arc::new(info));
        }
    }
    all
}

fn new_column(column: &TreeColumn, rules: &TreeRules<'_>) -> NewColumn {
    let own = rules.column(&[&column.name]);
    let split = own.split_level.unwrap_or(defaults::SPLIT_LEVEL);
    NewColumn {
        name: column.name.clone(),
        kind: match (&column.kind, own.encoding) {
            (NewKind::Leaves(leaves), Some(encoding)) => NewKind::Leaves(packed(leaves, encoding)),
            (kind, _) => kind.clone(),
        },
        split_level: i32::try_from(split).unwrap_or(99),
        basket_size: own
            .basket
            .map_or(defaults::BASKET_SIZE, |size| u32::try_from(size.bytes()).unwrap_or(u32::MAX >> 1)),
        compression: own.compression.unwrap_or(defaults::COMPRESSION),
    }
}

/// The leaves of a column; of one alone the numbers are packed, if the encoding asks for it.
fn packed(leaves: &[NewLeaf], encoding: ColumnEncoding) -> Vec<NewLeaf> {
    let letter = |letter: char| match letter {
        'F' => Some('f'),
        'D' => Some('d'),
        _ => None,
    };
    if let [leaf] = leaves
        && let Some(letter) = letter(leaf.letter)
        && let Some(packing) = packing(encoding, letter == 'd')
    {
        return vec![NewLeaf { letter, packing, ..leaf.clone() }];
    }
    leaves.to_vec()
}

/// Pairs of a column that counts the leaves of another, and that other column.
fn counters(tree: &Tree, wholes: &[LogicalColumn]) -> Vec<(usize, usize)> {
    let columns: HashMap<usize, usize> = wholes.iter().enumerate().map(|(i, whole)| (whole.top(), i)).collect();
    let leaves: HashMap<_, _> = tree.leaves.iter().map(|leaf| (leaf.id, leaf.branch)).collect();
    let mut counted = Vec::new();
    for leaf in &tree.leaves {
        let counter = leaf.leaf_count.and_then(|id| leaves.get(&id)).filter(|counter| **counter != leaf.branch);
        if let Some(counter) = counter
            && let (Some(&counter), Some(&of)) = (columns.get(counter), columns.get(&leaf.branch))
        {
            counted.push((counter, of));
        }
    }
    counted
}
