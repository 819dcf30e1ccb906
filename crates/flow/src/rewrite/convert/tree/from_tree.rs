//! Plans an RNTuple with the content of a tree, by the rules of ROOT's importer where it has some.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use dataset::assemble::{LogicalColumn, logical_columns};
use dataset::decode::ColumnPlan;
use dataset::ntuple::encode::TableEncoder;
use dataset::ntuple::make::{
    FieldKind, Input, InputUse, NewField, field_name, fields_for, fields_of_columns, make_schema,
};
use dataset::ntuple::model;
use dataset::table::TableColumn;
use dataset::tree::Tree;
use dataset::tree::make::{NewKind, NewLeaf, kind_of, remark};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Hint, Result};

use super::keep::{Fields, Keeping, keep, known_kind};
use crate::arrow::read::Dataset;
use crate::arrow::write::{NtuplePlan, NtupleSpec, NtupleTable, encodings};
use crate::plan::request::TableRequest;
use crate::rewrite::convert::arrow_types::is_same;
use crate::rewrite::convert::model::{BatchColumn, ConvertPlan};
use crate::rewrite::convert::run::least_metadata;
use crate::rewrite::prepared::PlannedTable;

/// An RNTuple with the content of trees, and what is kept beside it. The whole operation has `memory` bytes.
pub(crate) fn tree_to_ntuple(source: &TableRequest<'_>, memory: u64) -> Result<PlannedTable> {
    let dataset = Dataset::of_request(source)?;
    let infos = dataset.infos().clone();
    let tree = dataset.tree().ok_or_else(|| Error::request("is no tree"))?;
    let branches = dataset.columns().iter().filter_map(|column| match column {
        TableColumn::Branch(plan) => Some(plan.clone()),
        TableColumn::Field(_) | TableColumn::Array { .. } => None,
    });
    let branches: Vec<ColumnPlan> = branches.collect();
    let wholes = logical_columns(tree, &infos, &branches);
    refuse_opaque(&wholes)?;
    let mut notes = dataset.joining_notes().to_vec();
    let names = names(&wholes, &mut notes);
    let fields = fields(tree, (&wholes, &names), (&infos, &branches), source, &mut notes)?;
    let description = tree.named.title.clone();
    let spec = NtupleSpec { path: source.path.to_owned(), description, fields, classes: infos.clone() };
    let (plan, mut ntuple) = NtuplePlan::new(&spec, source.layout, memory)?;
    // Of ten thousand columns it is as large as their metadata.
    drop(spec);
    describe(Arc::make_mut(&mut ntuple.schema), tree, (&wholes, &names));
    let fields = Fields { wholes: &wholes, names: &names, plans: &branches, infos: &infos, schema: &ntuple.schema };
    // To find what is kept takes as much memory again, for nothing where the plan is refused.
    let keeping = match least_metadata(&dataset, plan.rules.len() as u64) <= memory {
        true => keep(tree, &fields, source)?,
        false => Keeping::default(),
    };
    notes.extend(keeping.notes);
    let place = |branch: usize| dataset.columns().iter().position(|column| column.node() == branch);
    let (mut read, mut columns) = (Vec::new(), Vec::with_capacity(wholes.len()));
    for (whole, name) in wholes.into_iter().zip(names) {
        let found: Option<Vec<usize>> = whole.branches().iter().map(|branch| place(*branch)).collect();
        let found = found.ok_or_else(|| Error::unsupported("a branch without a column").object(name.clone()))?;
        let parts = (read.len()..read.len() + found.len()).collect();
        read.extend(found);
        let numbers = object_numbers(tree, &whole);
        columns.push(BatchColumn::Whole { name, parts, numbers, whole });
    }
    notes.extend(dataset.notes_on_gaps(&read));
    let table = NtupleTable::new((plan, ntuple));
    let plan = ConvertPlan::new(source, memory, dataset, read, columns, table)?;
    Ok(PlannedTable { table: Box::new(plan), notes, lost: keeping.lost, kept: keeping.kept })
}

/// The branches of a column, by their places among these, with unique numbers and status bits of objects.
fn object_numbers(tree: &Tree, whole: &LogicalColumn) -> Vec<usize> {
    let is_of_object = |branch: &usize| {
        let name = tree.branches.get(*branch).map_or("", |branch| branch.name());
        matches!(name.rsplit('.').next(), Some("fUniqueID" | "fBits"))
    };
    let branches = whole.branches().iter().enumerate();
    branches.filter(|(_, branch)| is_of_object(branch)).map(|(place, _)| place).collect()
}

/// Gives fields the titles of branches that say more than names and types: a description, or a leaf list whose type the field does
/// not have.
fn describe(schema: &mut model::Schema, tree: &Tree, (wholes, names): (&[LogicalColumn], &[String])) {
    let titles = wholes.iter().zip(names).filter_map(|(whole, name)| {
        let plain = || {
            let NewKind::Leaves(leaves) = kind_of(tree, whole.top())? else { return None };
            let branch = tree.branches.get(whole.top())?;
            let is_counter = branch.leaves.iter().any(|leaf| tree.leaves.get(*leaf).is_some_and(|leaf| leaf.is_range));
            let is_lost = |leaf: &NewLeaf| {
                "CGgf".contains(leaf.letter)
                    || (is_counter && leaf.letter != 'I')
                    || (leaf.counter.is_some() && !leaf.dims.is_empty())
            };
            let lost = leaves.len() == 1 && leaves.iter().any(is_lost);
            lost.then_some(branch.named.title.as_str())
        };
        let title = remark(tree, whole.top()).or_else(plain)?;
        Some((name.clone(), title.to_owned()))
    });
    let titles: HashMap<String, String> = titles.collect();
    for field in schema.fields.iter_mut().filter(|field| field.parent.is_none()) {
        if let Some(title) = titles.get(&field.name) {
            field.description.clone_from(title);
        }
    }
}

fn refuse_opaque(wholes: &[LogicalColumn]) -> Result<()> {
    let opaque = wholes.iter().filter_map(|whole| Some((whole.field().name(), whole.opaque()?)));
    let all: Vec<String> = opaque.map(|(name, why)| format!("{name} ({why})")).collect();
    if all.is_empty() {
        return Ok(());
    }
    let drop = Hint::named("drop").that("leaves them out");
    let all = all.join("; ");
    let why = format!("these columns are not understood, so they cannot be converted: {all}; {}", drop.clause());
    Err(Error::unsupported(why).hint(drop))
}

/// The names of the fields for the columns. Names that RNTuples do not allow are changed, and may then be those of others.
fn names(wholes: &[LogicalColumn], notes: &mut Vec<String>) -> Vec<String> {
    let mut used: HashSet<String> = HashSet::new();
    let mut unique = |whole: &LogicalColumn| {
        let own = whole.field().name().trim_end_matches('.');
        let mut name = field_name(own);
        while !used.insert(name.clone()) {
            name.push('_');
        }
        if name != own {
            notes.push(format!("{own}: is called {name} in the RNTuple"));
        }
        name
    };
    wholes.iter().map(&mut unique).collect()
}

/// The fields for the columns: by their C++ types where an RNTuple holds the same values by them, else by their Arrow types.
fn fields(
    tree: &Tree,
    (wholes, names): (&[LogicalColumn], &[String]),
    (infos, plans): (&StreamerInfos, &[ColumnPlan]),
    source: &TableRequest<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<NewField>> {
    let mut columns: Vec<(String, NewKind)> = Vec::new();
    let (mut others, mut refused) = (Vec::new(), Vec::new());
    let wanted = |whole: &LogicalColumn| whole.field().data_type().clone();
    let rules = source.layout.rules(source.path);
    let encoding = encodings(&rules);
    for (whole, name) in wholes.iter().zip(names) {
        let kind = known_kind(tree, whole, plans);
        let kind = kind.map(with_std_strings);
        let own = kind.as_ref().and_then(|kind| fields_of_columns([(name.as_str(), kind)].into_iter()).ok());
        let fit = |fields: &[NewField]| {
            let made = make_schema(fields, infos, &encoding)?;
            // Also what could be written, but not be read again, is refused here.
            TableEncoder::new(&made)?;
            match made.inputs.iter().any(|input| holds(input, &wanted(whole))) {
                true => Ok(()),
                false => Err(Error::unsupported(format!("its values are {}", wanted(whole)))),
            }
        };
        let why = match (kind, own) {
            (Some(kind), Some(own)) => match fit(&own) {
                Ok(()) => {
                    columns.push((name.clone(), kind));
                    continue;
                }
                Err(e) => Some(e),
            },
            _ => None,
        };
        let plain = Field::new(name, wanted(whole), false);
        match fields_for(&Schema::new(vec![plain])).and_then(|fields| fit(&fields).map(|()| fields)) {
            Ok(fields) => {
                notes.push(format!("{name}: is written by its values, without its C++ type"));
                others.extend(fields);
            }
            Err(e) => refused.push(format!("{name} ({})", why.unwrap_or(e))),
        }
    }
    if !refused.is_empty() {
        let drop = Hint::named("drop").that("leaves them out");
        let why = format!("an RNTuple cannot hold these columns: {}; {}", refused.join("; "), drop.clause());
        return Err(Error::unsupported(why).hint(drop));
    }
    let mut fields = fields_of_columns(columns.iter().map(|(name, kind)| (name.as_str(), kind)))?;
    fields.extend(others);
    apart(&mut fields);
    Ok(fields)
}

/// The same content with ROOT's strings as those of the standard library: RNTuples have no others.
fn with_std_strings(kind: NewKind) -> NewKind {
    match kind {
        NewKind::Class { type_name, clones: None } => {
            NewKind::Class { type_name: type_name.replace("TString", "string"), clones: None }
        }
        other => other,
    }
}

/// Gives collections a name that no column has.
fn apart(fields: &mut [NewField]) {
    let names: HashSet<String> =
        fields.iter().filter(|f| !matches!(f.kind, FieldKind::Counted(_))).map(|f| f.name.clone()).collect();
    let members: HashSet<String> = fields
        .iter()
        .filter_map(|field| match &field.kind {
            FieldKind::Counted(counted) => Some(counted.members.iter().map(|(name, _)| name.clone())),
            _ => None,
        })
        .flatten()
        .collect();
    for field in fields.iter_mut().filter(|field| matches!(field.kind, FieldKind::Counted(_))) {
        while names.contains(&field.name) || members.contains(&field.name) {
            field.name.push('_');
        }
    }
}

/// Whether an input holds arrays of a type without a change of values.
fn holds(input: &Input, given: &DataType) -> bool {
    match input.used {
        InputUse::Counter { .. } => false,
        _ => is_same(input.field().data_type(), given),
    }
}
