//! Decides what is kept of a tree that becomes an RNTuple: the tree without entries, if the fields alone would not make the
//! same one again. Names what is lost all the same.

use std::collections::HashMap;
use std::sync::Arc;

use dataset::assemble::{LogicalColumn, logical_columns};
use dataset::decode::{self, ColumnPlan};
use dataset::layout::Streaming;
use dataset::ntuple::model::Schema;
use dataset::tree::make::{NewColumn, NewKind, kind_of, make_tree};
use dataset::tree::{BranchKind, KeptTree, Tree, kept_name, write_tree};
use rootfile::Result;
use rootfile::streamer::StreamerInfos;

use crate::commit::tree::user_info;
use crate::plan::request::TableRequest;
use crate::plan::tree::kept::{Kept, leave_out_relations};
use crate::rewrite::convert::arrow_types::is_same as is_same_type;
use crate::rewrite::convert::ntuple::from_ntuple::plain_tree;
use crate::table::text_list::listed;

/// The columns of a tree, and the fields that they become.
pub(super) struct Fields<'a> {
    pub wholes: &'a [LogicalColumn],
    /// The names of the fields.
    pub names: &'a [String],
    pub plans: &'a [ColumnPlan],
    pub infos: &'a StreamerInfos,
    pub schema: &'a Schema,
}

/// What is kept, and notes on it and on what is lost.
#[derive(Default)]
pub(super) struct Keeping {
    pub kept: Option<Kept>,
    pub notes: Vec<String>,
    pub lost: Vec<String>,
}

/// Decides what is kept of a tree.
pub(super) fn keep(tree: &Tree, fields: &Fields<'_>, source: &TableRequest<'_>) -> Result<Keeping> {
    let Some((_, file, key)) = source.inputs.first() else { return Ok(Keeping::default()) };
    let path = source.path;
    let mut lost = Vec::new();
    let mut bare = tree.without_entries();
    leave_out_references(&mut bare, path, &mut lost);
    if source.entries.is_some() {
        leave_out_relations(&mut bare, path, &mut lost);
    }
    lost.extend(user_info::drop_unmovable(&mut bare, path));
    let mapped = branches_of_fields(fields, &bare);
    make_writable(&mut bare, fields, path, &mut lost);
    lost.extend(lost_parts(fields, path));
    let plain = plain_tree(fields.schema, (path, &bare.named.title), source, &[]).map(|plain| plain.tree);
    let key_name = path.rsplit('/').next().filter(|own| *own != key.name).map(|_| key.name.clone());
    let mut plain = plain.ok().map(|plain| plain.without_entries());
    if key_name.is_none() && plain.as_mut().is_some_and(|plain| is_same(plain, &bare)) {
        return Ok(Keeping { kept: None, notes: Vec::new(), lost });
    }
    let what = special_parts(&bare, plain);
    let notes = vec![format!(
        "tree {path}: an RNTuple has no place for {}; they are kept in {} beside it, and a tree made of it gets them back",
        what.join(", "),
        kept_name(path)
    )];
    let tree = KeptTree { tree: bare, fields: mapped, key_name, further: 0 };
    Ok(Keeping { kept: Some(Kept { tree, source: Arc::clone(file.source()) }), notes, lost })
}

/// Leaves out the table of references: the numbers in it are those of objects, which fields do not have.
fn leave_out_references(bare: &mut Tree, path: &str, lost: &mut Vec<String>) {
    let Some(branch) = bare.branch_ref.take() else { return };
    let keep: Vec<bool> = (0..bare.branches.len()).map(|number| number != branch).collect();
    bare.select(&keep);
    lost.push(format!("tree {path}: an RNTuple has no place for its table of references (TBranchRef)"));
}

/// Fields and their branches, where the names do not tell them.
fn branches_of_fields(fields: &Fields<'_>, bare: &Tree) -> Vec<(String, String)> {
    let branch = |whole: &LogicalColumn| bare.branches.get(whole.top()).map_or("", |branch| branch.name()).to_owned();
    let mut count: HashMap<String, usize> = HashMap::new();
    fields.wholes.iter().for_each(|whole| *count.entry(branch(whole)).or_default() += 1);
    let pairs = fields.wholes.iter().zip(fields.names).map(|(whole, name)| (name.clone(), branch(whole)));
    let told =
        |(name, branch): &(String, String)| name != branch.trim_end_matches('.') || count.get(branch) != Some(&1);
    pairs.filter(told).collect()
}

/// Replaces the branches that could not be written again by those that ROOT's writer would make now, and leaves out those that
/// have none.
fn make_writable(bare: &mut Tree, fields: &Fields<'_>, path: &str, lost: &mut Vec<String>) {
    let (mut replacements, mut left_out, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let plans = decode::columns(bare, fields.infos);
    let fresh = logical_columns(bare, fields.infos, &plans);
    let (plans, fresh_at) = (by_branch(&plans), by_top(&fresh));
    for whole in fields.wholes {
        let now = fresh_at.get(&whole.top());
        if now.is_some_and(|now| is_writable(bare, now, &plans) && is_alike(now, whole)) {
            continue;
        }
        match made_anew(bare, whole, fields) {
            Some(made) => replacements.push((whole.top(), made)),
            None => {
                names.push(whole.field().name().clone());
                left_out.push(whole.top());
            }
        }
    }
    let replaced = bare.replace(replacements);
    if left_out.is_empty() {
        return;
    }
    let mut keep = vec![true; bare.branches.len()];
    let out = left_out.iter().filter_map(|top| replaced.stayed.get(*top).copied().flatten());
    for branch in out.flat_map(|top| bare.below(top)) {
        if let Some(slot) = keep.get_mut(branch) {
            *slot = false;
        }
    }
    bare.select(&keep);
    lost.push(format!(
        "tree {path}: the branches of {} cannot be written again as they are; a tree made of the RNTuple has other ones",
        listed(&names)
    ));
}

/// Whether the branches of a column can be written from its values.
fn is_writable(tree: &Tree, whole: &LogicalColumn, plans: &HashMap<usize, &ColumnPlan>) -> bool {
    let can = |plan: &&ColumnPlan| !plan.needs_learning() && plan.encoder(Streaming::ObjectWise).is_ok();
    let old = |branch: &usize| tree.branches.get(*branch).is_some_and(|b| matches!(b.kind, BranchKind::Clones(_)));
    whole.opaque().is_none()
        && !tree.below(whole.top()).iter().any(old)
        && whole.branches().iter().all(|branch| plans.get(branch).is_some_and(can))
}

/// Plans by their branches.
fn by_branch(plans: &[ColumnPlan]) -> HashMap<usize, &ColumnPlan> {
    plans.iter().map(|plan| (plan.branch(), plan)).collect()
}

/// Columns by their branches of the first level.
fn by_top(wholes: &[LogicalColumn]) -> HashMap<usize, &LogicalColumn> {
    wholes.iter().map(|whole| (whole.top(), whole)).collect()
}

fn is_alike(a: &LogicalColumn, b: &LogicalColumn) -> bool {
    is_same_type(a.field().data_type(), b.field().data_type())
}

/// The content of a column, with the class of the objects in its array as far as its entries tell it.
pub(super) fn known_kind(tree: &Tree, whole: &LogicalColumn, plans: &[ColumnPlan]) -> Option<NewKind> {
    let mut kind = kind_of(tree, whole.top())?;
    if let NewKind::Class { type_name, clones } = &mut kind
        && type_name == "TClonesArray"
        && clones.is_none()
    {
        let plans = plans.iter().filter(|plan| whole.branches().contains(&plan.branch()));
        *clones = plans.filter_map(ColumnPlan::array_class).next().map(str::to_owned);
    }
    Some(kind)
}

/// A tree with the branches that ROOT's writer makes for a column.
fn made_anew(tree: &Tree, whole: &LogicalColumn, fields: &Fields<'_>) -> Option<Tree> {
    let kind = known_kind(tree, whole, fields.plans)?;
    let name = tree.branches.get(whole.top())?.name();
    let made = make_tree(tree.name(), "", &[NewColumn::new(name, kind)], fields.infos).ok()?.without_entries();
    let plans = decode::columns(&made, fields.infos);
    let wholes = logical_columns(&made, fields.infos, &plans);
    let [now] = wholes.as_slice() else { return None };
    (is_writable(&made, now, &by_branch(&plans)) && is_alike(now, whole)).then_some(made)
}

/// Notes on parts of values that are not carried over.
fn lost_parts(fields: &Fields<'_>, path: &str) -> Vec<String> {
    let names = |loses: &dyn Fn(&LogicalColumn) -> bool| -> Vec<String> {
        fields.wholes.iter().filter(|whole| loses(whole)).map(|whole| whole.field().name().clone()).collect()
    };
    let plans = by_branch(fields.plans);
    let any = |whole: &LogicalColumn, has: &dyn Fn(&ColumnPlan) -> bool| {
        whole.branches().iter().any(|branch| plans.get(branch).is_some_and(|plan| has(plan)))
    };
    // Those in branches of their own are looked at when they are read.
    let numbered = names(&|whole| any(whole, &|plan| plan.omits_tobjects()));
    let named = names(&|whole| any(whole, &|plan| plan.omits_collection_names()));
    let mut lost = Vec::new();
    if !numbered.is_empty() {
        lost.push(format!(
            "tree {path}: fUniqueID and fBits of the objects in {} are not carried over",
            listed(&numbered)
        ));
    }
    if !named.is_empty() {
        let names = listed(&named);
        lost.push(format!("tree {path}: names and options of the TObjArray and TList in {names} are not carried over"));
    }
    lost
}

/// Whether a tree without entries has the same record as another, which gives it the places in the writer's memory and split levels:
/// these do not count.
fn is_same(plain: &mut Tree, tree: &Tree) -> bool {
    plain.named.object = tree.named.object;
    for (branch, of) in plain.branches.iter_mut().zip(&tree.branches) {
        (branch.offset, branch.split_level, branch.named.object) = (of.offset, of.split_level, of.named.object);
    }
    for (leaf, of) in plain.leaves.iter_mut().zip(&tree.leaves) {
        (leaf.offset, leaf.named.object) = (of.offset, of.named.object);
    }
    matches!((write_tree(plain, 0), write_tree(tree, 0)), (Ok(a), Ok(b)) if a == b)
}

/// What a tree has that a plain one with its columns has not.
fn special_parts(tree: &Tree, plain: Option<Tree>) -> Vec<String> {
    let count = |list| tree.listed(list).count();
    let parts = [
        (format!("its class {}", tree.class), tree.class != "TTree"),
        ("its weight".to_owned(), tree.weight.to_bits() != 1.0f64.to_bits()),
        (format!("{} aliases", count(tree.aliases)), count(tree.aliases) > 0),
        (format!("{} friends", count(tree.friends)), count(tree.friends) > 0),
        ("its index".to_owned(), tree.tree_index.is_some()),
        (format!("{} objects of user information", count(tree.user_info)), count(tree.user_info) > 0),
        ("its empty name".to_owned(), tree.name().is_empty()),
    ];
    let mut parts: Vec<String> = parts.into_iter().filter_map(|(what, has)| has.then_some(what)).collect();
    let alone = |mut tree: Tree| {
        (tree.class, tree.subclass, tree.weight) = ("TTree".to_owned(), None, 1.0);
        (tree.aliases, tree.friends, tree.tree_index, tree.user_info) = (None, None, None, None);
        tree
    };
    if plain.is_none_or(|plain| !is_same(&mut alone(plain), &alone(tree.without_entries()))) {
        parts.push("the form of its branches".to_owned());
    }
    parts
}
