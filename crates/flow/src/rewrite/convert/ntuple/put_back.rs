//! Makes the tree of an RNTuple that was made from a tree: with the branches and everything else that was kept of it. Fields
//! that the tree did not have become branches behind its own.

use std::collections::{HashMap, HashSet};

use dataset::assemble::{LogicalColumn, logical_columns};
use dataset::decode;
use dataset::ntuple::make::{ColumnSource, columns_of_fields};
use dataset::ntuple::model::Schema;
use dataset::table::TableColumn;
use dataset::tree::make::{NewColumn, make_tree};
use dataset::tree::{KeptTree, Tree, TreeIndex};
use rootfile::Result;
use rootfile::streamer::StreamerInfos;

use super::kept_fields::kept_tops;
use crate::arrow::read::Dataset;
use crate::arrow::write::TreePlan;
use crate::plan::request::TableRequest;
use crate::plan::tree::kept::leave_out_relations;
use crate::rewrite::convert::arrow_types::is_same;
use crate::rewrite::convert::model::BatchColumn;

/// A tree that gets back what was kept of it, and where the values of its columns come from.
pub(super) struct PutBack {
    pub plan: TreePlan,
    pub tree: Tree,
    /// The fields that are read.
    pub read: Vec<usize>,
    pub columns: Vec<BatchColumn>,
    pub lost: Vec<String>,
}

/// Plans the tree, with further columns whose values come from elsewhere.
pub(super) fn put_back(
    (kept, more): (KeptTree, &[NewColumn]),
    (dataset, schema): (&Dataset, &Schema),
    source: &TableRequest<'_>,
    infos: &StreamerInfos,
) -> Result<PutBack> {
    let (path, mut lost) = (source.path, Vec::new());
    let (filter, kept_fields) = (source.filter.of_table(path, schema.lineages()), kept_tops(schema, source));
    let tops: HashSet<&str> = schema.lineages().filter_map(|lineage| lineage.last().copied()).collect();
    // A branch that counts the items of others need not be a field.
    let keeps = |name: &str| kept_fields.contains(name) || !tops.contains(name) && filter.keeps(path, &[name]);
    let mut classes = infos.clone();
    let fields = found_fields(&kept, (dataset, schema), &classes, &keeps);
    let own_name = path.rsplit('/').next().unwrap_or_default().to_owned();
    let name = kept.key_name.clone().unwrap_or(own_name);
    let mut tree = kept.tree;
    check_relations(&mut tree, dataset, source, &mut lost);
    leave_out_others(&mut tree, &fields, &classes);
    let used: HashSet<usize> = fields.values().copied().collect();
    let mut made = columns_of_fields(schema, &keeps);
    let names: HashSet<String> =
        tree.top.iter().filter_map(|top| Some(tree.branches.get(*top)?.name().to_owned())).collect();
    // A projection of something that has a branch is no column of its own, and neither is what projections show.
    let is_shown = |id: usize| {
        schema.fields.iter().enumerate().any(|(number, field)| field.source == Some(id) && used.contains(&number))
    };
    made.columns
        .retain(|column| !used.contains(&column.field) && !names.contains(&column.name) && !is_shown(column.field));
    made.refused.retain(|(name, _)| !used.iter().any(|id| schema.path(*id) == *name));
    // Without further columns no classes are needed either.
    made.refused.retain(|(name, _)| name != "classes" || !made.columns.is_empty());
    made.check()?;
    if !made.columns.is_empty() {
        classes.extend(&made.classes);
        let columns: Vec<NewColumn> = made.columns.iter().map(|c| NewColumn::new(&c.name, c.kind.clone())).collect();
        let mut further = make_tree(tree.name(), "", &columns, &classes)?;
        let mut counterparts = vec![None; further.branches.len()];
        tree.graft(&mut further, &mut counterparts);
    }
    if !more.is_empty() {
        let mut further = make_tree(tree.name(), "", more, &classes)?;
        let mut counterparts = vec![None; further.branches.len()];
        tree.graft(&mut further, &mut counterparts);
    }
    let (plan, tree) = TreePlan::of_tree(tree, (path, &name), &classes, source.layout)?;
    let (read, columns) = batch_columns((&plan, &tree), &fields, &made.columns);
    Ok(PutBack { plan, tree, read, columns, lost })
}

/// For the place of each branch of the first level the ID of the field with its values.
type FoundFields = HashMap<String, usize>;

/// The fields of the branches of the first level, by the names of the branches and their numbers among those of the same name.
fn found_fields(
    kept: &KeptTree,
    (dataset, schema): (&Dataset, &Schema),
    infos: &StreamerInfos,
    keeps: &dyn Fn(&str) -> bool,
) -> FoundFields {
    let plans = decode::columns(&kept.tree, infos);
    let mut earlier: HashMap<String, usize> = HashMap::new();
    let mut found = HashMap::new();
    for whole in logical_columns(&kept.tree, infos, &plans) {
        let name = kept.tree.branches.get(whole.top()).map_or("", |branch| branch.name());
        let number = earlier.entry(name.to_owned()).or_default();
        let field = kept.field_of(name, *number);
        let place = place_of(name, *number);
        *number += 1;
        let id = schema.children(None).into_iter().find(|id| schema.path(*id) == field && keeps(field));
        if let Some(id) = id.filter(|id| holds(dataset, *id, &whole)) {
            found.insert(place, id);
        }
    }
    found
}

fn place_of(name: &str, number: usize) -> String {
    format!("{name}\0{number}")
}

/// Whether the values of a field are those of a column. Counters may have another width.
fn holds(dataset: &Dataset, id: usize, whole: &LogicalColumn) -> bool {
    let field = dataset.columns().iter().find_map(|column| match column {
        TableColumn::Field(plan) if column.node() == id => Some(plan.field()),
        _ => None,
    });
    let wanted = whole.field().data_type();
    field.is_some_and(|field| {
        let is_read = !field.metadata().contains_key("opaque");
        let both_integers = field.data_type().is_integer() && wanted.is_integer();
        is_read && (is_same(field.data_type(), wanted) || both_integers)
    })
}

/// The places of the branches of the first level, as [`found_fields`] names them.
fn places(tree: &Tree) -> Vec<(usize, String)> {
    let mut earlier: HashMap<&str, usize> = HashMap::new();
    let mut place = |top: usize| {
        let name = tree.branches.get(top).map_or("", |branch| branch.name());
        let number = earlier.entry(name).or_default();
        *number += 1;
        (top, place_of(name, *number - 1))
    };
    tree.top.iter().map(|top| place(*top)).collect()
}

/// Leaves out the branches whose fields are not there. Counters of others stay.
fn leave_out_others(tree: &mut Tree, fields: &FoundFields, infos: &StreamerInfos) {
    let plans = decode::columns(tree, infos);
    let held: HashSet<usize> = logical_columns(tree, infos, &plans).iter().map(LogicalColumn::top).collect();
    let mut keep = vec![true; tree.branches.len()];
    let gone = places(tree).into_iter().filter(|(top, place)| held.contains(top) && !fields.contains_key(place));
    for branch in gone.flat_map(|(top, _)| tree.below(top)).collect::<Vec<_>>() {
        if let Some(slot) = keep.get_mut(branch) {
            *slot = false;
        }
    }
    tree.select(&keep);
}

/// Leaves out what no longer holds for the entries.
fn check_relations(tree: &mut Tree, dataset: &Dataset, source: &TableRequest<'_>, lost: &mut Vec<String>) {
    let path = source.path;
    if source.entries.is_some() {
        return leave_out_relations(tree, path, lost);
    }
    let lines = TreeIndex::of(tree).ok().flatten().map(|index| index.lines.len() as u64);
    if tree.tree_index.is_some() && lines != Some(dataset.entries()) {
        tree.tree_index = None;
        lost.push(format!(
            "tree {path}: its index (TTreeIndex) is left out: it counts other entries; BuildIndex makes it anew"
        ));
    }
}

/// The columns of a batch for the writer, in the order of the tree, and the fields that are read for them. Counters without a
/// field are computed from what they count.
fn batch_columns(
    (plan, tree): (&TreePlan, &Tree),
    fields: &FoundFields,
    further: &[ColumnSource],
) -> (Vec<usize>, Vec<BatchColumn>) {
    let places: HashMap<usize, String> = places(tree).into_iter().collect();
    let (mut read, mut columns) = (Vec::new(), Vec::new());
    for (number, whole) in plan.wholes.iter().enumerate() {
        let name = whole.field().name().clone();
        let own = places.get(&whole.top()).and_then(|place| fields.get(place));
        let of_further = || further.iter().find(|column| column.name == name);
        let counts = plan.counted.iter().any(|(counter, _)| *counter == number);
        let (field, member) = match (own, of_further()) {
            (Some(field), _) => (*field, None),
            (None, Some(column)) if !counts => (column.field, column.member.clone()),
            _ => continue,
        };
        columns.push(BatchColumn::Field { name, place: read.len(), member });
        read.push(field);
    }
    (read, columns)
}
