//! Plans RNTuples with new clusters, pages or encodings, and trees with the content of RNTuples.

use std::sync::Arc;

use arrow_schema::Schema;
use dataset::layout::ClusterSize;
use dataset::ntuple::make::{
    ColumnSource, Input, TreeColumns, columns_of_fields, fields_for, make_schema, schema_again,
};
use dataset::ntuple::model;
use dataset::table::TableSchema;
use dataset::tree::Tree;
use dataset::tree::make::NewColumn;
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Hint, Result};

use super::kept_fields::{has_kept_in_part, kept_tops};
use super::put_back::{PutBack, put_back};
use crate::arrow::read::Dataset;
use crate::arrow::shapes::{Shapes, shapes};
use crate::arrow::write::{NtuplePlan, NtupleTable, TreeColumn, TreePlan, TreeSpec, TreeTable, encodings};
use crate::plan::ntuple::model::AttributePlan;
use crate::plan::options::PlanOptions;
use crate::plan::request::TableRequest;
use crate::plan::tree::kept::Kept;
use crate::rewrite::convert::model::{BatchColumn, ConvertPlan, DefinedColumns, FurtherColumns};

/// The plan of an RNTuple with the fields of others, in new pages, and in new clusters unless `keeps_clusters`. Attribute sets are copied.
pub(crate) fn recluster(
    source: &TableRequest<'_>,
    memory: u64,
    attributes: Vec<AttributePlan>,
    keeps_clusters: bool,
    further: FurtherColumns,
) -> Result<ConvertPlan> {
    let FurtherColumns { defined, beside } = further;
    let dataset = open(source)?;
    let (schema, description) = schema_of(&dataset)?;
    let rules = source.layout.rules(source.path);
    let kept = kept_tops(schema, source);
    let made = schema_again(schema, &|name| kept.contains(name), &encodings(&rules))?;
    if let Some((name, why)) =
        made.inputs.iter().find_map(|input| Some((input.field().name(), lost(input, &made.schema)?)))
    {
        let drop = Hint::named("drop").that("leaves it out");
        let message = format!("the field is not understood, so it cannot be written anew ({why}); {}", drop.clause());
        return Err(Error::unsupported(message).hint(drop).object(format!("field {name}")));
    }
    let names: Vec<String> = made.inputs.iter().map(|input| input.field().name().clone()).collect();
    let found = names.iter().map(|name| top(schema, name)).collect::<Result<Vec<usize>>>()?;
    let shapes = shapes_of(defined.as_ref())?;
    let made = match shapes.columns.is_empty() {
        true => made,
        false => {
            let fields: Vec<_> = shapes.columns.iter().flat_map(|shape| shape.fields.iter().cloned()).collect();
            made.with(make_schema(&fields_for(&Schema::new(fields))?, &StreamerInfos::new(), &encodings(&rules))?)?
        }
    };
    let made = beside.iter().try_fold(made, |made, table| made.with(table.made(&encodings(&rules))?))?;
    let (mut plan, ntuple) = NtuplePlan::of_schema(made, (source.path, &description), source.layout, memory)?;
    if keeps_clusters {
        let longest = dataset.clusters().windows(2).map(|bounds| bounds[1].saturating_sub(bounds[0])).max();
        (plan.cluster, plan.unzipped_cluster) = (ClusterSize::Entries(longest.unwrap_or(0).max(1)), u64::MAX);
    }
    let columns = names.into_iter().enumerate();
    let columns = columns.map(|(place, name)| BatchColumn::Field { name, place, member: None }).collect();
    let table = NtupleTable::new((plan, ntuple));
    let plan = ConvertPlan::with_beside(source, memory, dataset, found, columns, Arc::clone(&table) as _, beside)?;
    let mut plan = plan.with_defined(defined, shapes.columns);
    plan.attributes = Some((table, attributes));
    plan.keeps_clusters = keeps_clusters;
    Ok(plan)
}

/// The plan of a tree with the content of RNTuples, and with what was kept of the trees from which they were made; and notes on
/// what is lost.
pub(crate) fn ntuple_to_tree(
    source: &TableRequest<'_>,
    memory: u64,
    kept: Option<Kept>,
    defined: Option<DefinedColumns>,
) -> Result<(ConvertPlan, Vec<String>)> {
    let dataset = open(source)?;
    let shapes = shapes_of(defined.as_ref())?;
    let (schema, title) = schema_of(&dataset)?;
    if let Some(Kept { tree, source: of_user_info }) = kept {
        let mut infos = StreamerInfos::new();
        source.inputs.iter().for_each(|(_, file, _)| infos.extend(file.infos()));
        let PutBack { plan, tree, read, columns, lost } =
            put_back((tree, &shapes.branches), (&dataset, schema), source, &infos)?;
        let table = TreeTable::new((plan, tree));
        let plan = ConvertPlan::new(source, memory, dataset, read, columns, Arc::clone(&table) as _)?;
        let mut plan = plan.with_defined(defined, shapes.columns);
        plan.user_info = Some((table, of_user_info));
        return Ok((plan, lost));
    }
    let PlainTree { plan, tree, columns: sources } =
        plain_tree(schema, (source.path, &title), source, &shapes.branches)?;
    let counters: Vec<&str> = plan
        .counted
        .iter()
        .filter_map(|(counter, _)| Some(plan.wholes.get(*counter)?.field().name().as_str()))
        .collect();
    let (mut read, mut columns) = (Vec::new(), Vec::new());
    // Counters are computed from what they count.
    for column in sources.iter().filter(|column| !counters.contains(&column.name.as_str())) {
        columns.push(BatchColumn::Field {
            name: column.name.clone(),
            place: read.len(),
            member: column.member.clone(),
        });
        read.push(column.field);
    }
    let table = TreeTable::new((plan, tree));
    let plan = ConvertPlan::new(source, memory, dataset, read, columns, table)?;
    Ok((plan.with_defined(defined, shapes.columns), Vec::new()))
}

/// A tree that is made of fields alone.
pub(crate) struct PlainTree {
    pub plan: TreePlan,
    pub tree: Tree,
    pub columns: Vec<ColumnSource>,
}

/// The form of the columns that are defined.
fn shapes_of(defined: Option<&DefinedColumns>) -> Result<Shapes> {
    shapes(&defined.map(|columns| columns.defined.fields()).unwrap_or_default())
}

/// The tree that the fields of an RNTuple alone tell, with further columns.
pub(crate) fn plain_tree(
    schema: &model::Schema,
    (path, title): (&str, &str),
    source: &TableRequest<'_>,
    more: &[NewColumn],
) -> Result<PlainTree> {
    let kept = kept_tops(schema, &TableRequest { path, ..*source });
    let made = columns_of_fields(schema, &|name| kept.contains(name));
    made.check()?;
    let TreeColumns { columns: sources, classes, .. } = made;
    let spec = TreeSpec {
        path: path.to_owned(),
        title: title.to_owned(),
        columns: {
            let more = more.iter().map(|c| (&c.name, &c.kind));
            let all = sources.iter().map(|c| (&c.name, &c.kind)).chain(more);
            all.map(|(name, kind)| TreeColumn { name: name.clone(), kind: kind.clone() }).collect()
        },
        classes,
    };
    let (plan, mut tree) = TreePlan::new(&spec, source.layout)?;
    for (top, column) in tree.top.clone().into_iter().zip(&sources) {
        if let (Some(title), Some(branch)) = (&column.title, tree.branches.get_mut(top)) {
            branch.named.title.clone_from(title);
        }
    }
    Ok(PlainTree { plan, tree, columns: sources })
}

/// The RNTuples, with the members of records that are kept.
fn open(source: &TableRequest<'_>) -> Result<Dataset> {
    let whole = Dataset::of_request(source)?;
    let (schema, _) = schema_of(&whole)?;
    if !has_kept_in_part(schema, source) {
        return Ok(whole);
    }
    Dataset::of_request(&TableRequest { options: PlanOptions { prunes: true, ..source.options }, ..*source })
}

fn schema_of(dataset: &Dataset) -> Result<(&model::Schema, String)> {
    match dataset.schema() {
        TableSchema::Ntuple { schema, title, .. } => Ok((schema, title.clone())),
        TableSchema::Tree(_) | TableSchema::Plain { .. } => Err(Error::request("is no RNTuple")),
    }
}

/// The ID of a top-level field.
fn top(schema: &model::Schema, name: &str) -> Result<usize> {
    let found =
        schema.children(None).into_iter().find(|id| schema.fields.get(*id).is_some_and(|field| field.name == name));
    found.ok_or_else(|| Error::unsupported("the field is not there").object(format!("field {name}")))
}

/// Why the values of a field cannot be read, so that they cannot be written. The bytes of streamed objects can.
fn lost<'a>(input: &'a Input, schema: &model::Schema) -> Option<&'a String> {
    let is_streamed = schema.fields.get(input.id).is_some_and(|field| field.role == model::Role::Streamer);
    input.field().metadata().get("opaque").filter(|_| !is_streamed)
}
