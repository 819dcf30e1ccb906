//! Plans an RNTuple: joins the schemas of its inputs, maps their columns to those of the output, and adds up their pages, before any
//! page is touched.

mod columns;
mod counted;
mod filter;
pub(crate) mod forecast;
mod join;
pub(crate) mod model;
pub(crate) mod parts;
mod scan;

use std::path::PathBuf;
use std::sync::Arc;

use dataset::EntrySet;
use dataset::glob::NameFilter;
use dataset::layout::{Layout, TreeRules};
use dataset::ntuple::MAX_KEY_SIZE;
use dataset::ntuple::decode::FieldPlan;
use dataset::ntuple::model::{Anchor, FormatVersion, Link, Locator, Ntuple, Schema};
use rootfile::text::shortened;
use rootfile::{Error, Result, public_path};

use self::columns::{OutputColumns, output_columns};
pub(crate) use self::join::field_meaning;
use self::model::{AttributePlan, NtuplePlan, Totals};
use self::parts::{JoinedParts, Part, attribute_parts, join_parts, read_parts};
use crate::commit::ntuple::page_sink::list_memory;
use crate::execute::engine::ntuple::job::{ColumnSource, PageInput, PageJob};
use crate::plan::options::PlanOptions;
use crate::plan::request::{Select, TableRequest};
use crate::table::memory;

/// The field of an attribute set with the first entry of a range (`RNTupleAttrUtils.hxx`, `kMetaFieldNames`).
pub(crate) const RANGE_START: &str = "_rangeStart";
/// The latest format whose features are written.
const NEWEST: FormatVersion = FormatVersion { epoch: 1, major: 0, minor: 2, patch: 0 };
/// The first format with attribute sets.
const ATTRIBUTE_SETS: FormatVersion = FormatVersion { epoch: 1, major: 0, minor: 1, patch: 0 };
/// The first format with structs of arrays.
const STRUCTS_OF_ARRAYS: FormatVersion = FormatVersion { epoch: 1, major: 0, minor: 2, patch: 0 };
/// Bytes of new pages of a cluster of which some entries are kept.
const SLICED_PAGES: u64 = 4 << 20;

/// How parts are joined.
struct Joining<'a> {
    path: &'a str,
    options: PlanOptions,
    filter: &'a NameFilter,
    rules: &'a TreeRules<'a>,
    entries: Select<'a>,
    check: bool,
    entry_column: Option<&'static str>,
}

/// Plans an RNTuple. `check` says whether copied pages are decompressed, to check them.
pub(crate) fn plan_ntuple(request: &TableRequest<'_>, check: bool) -> Result<NtuplePlan> {
    let rules = request.layout.rules(request.path);
    let joining = Joining {
        path: request.path,
        options: request.options,
        filter: request.filter,
        rules: &rules,
        entries: request.entries,
        check,
        entry_column: None,
    };
    let mut plan = plan_parts(read_parts(request.inputs)?, &joining)?;
    plan.title = request.inputs.first().map_or_else(String::new, |(.., key)| key.title.clone());
    ignored_keys(&mut plan, &rules);
    add_attributes(&mut plan, request, check)?;
    Ok(plan)
}

/// Notes the layout keys that are for trees only.
fn ignored_keys(plan: &mut NtuplePlan, rules: &TreeRules<'_>) {
    let tree = &rules.tree;
    let keys = [
        ("basket-memory", tree.basket_memory.is_some()),
        ("one-basket-per-cluster", tree.one_basket_per_cluster == Some(true)),
    ];
    plan.ignored.extend(keys.into_iter().filter_map(|(name, is_set)| is_set.then_some(name)));
}

/// Plans RNTuples as one, without their attribute sets.
fn plan_parts(parts: Vec<Part>, joining: &Joining<'_>) -> Result<NtuplePlan> {
    let input_entries = parts.iter().map(|part| part.ntuple.entries()).sum();
    let JoinedParts { parts, schema_of, mut join, first, keep, widows, shown } =
        join_parts(parts, (joining.path, joining.filter), joining.options)?;
    let uncounted = uncounted(&parts, joining);
    let plans: Vec<Arc<[FieldPlan]>> =
        join.schemas.iter().zip(&keep).map(|(schema, keep)| filter::kept_plans(schema, keep).into()).collect();
    let before = parts.iter().map(|part| part.ntuple.entries()).sum();
    let mut lost = Vec::new();
    let mut notes: Vec<String> = join.note().into_iter().collect();
    let told = [
        (widows, "projected fields go with the fields that they show"),
        (shown, "fields are kept as well, because projected ones show them"),
    ];
    for (names, why) in told.iter().filter(|(names, _)| !names.is_empty()) {
        notes.push(format!("RNTuple {}: {why}: {}", joining.path, names.join(", ")));
    }
    lost.extend(lost_descriptions(&parts));
    let mut made = output_columns(&join, &first, joining.rules, joining.entry_column, &mut lost)?;
    let lost: Vec<String> = lost.into_iter().map(|what| format!("RNTuple {}: {what}", joining.path)).collect();
    let selected = joining.entries.map(|entries| entries(before)).transpose()?.map(Arc::new);
    if let Some(selected) = &selected {
        let is_counted = |source: &ColumnSource| matches!(source, ColumnSource::Counted { .. });
        if made.sources.iter().any(|sources| sources.iter().any(is_counted)) {
            let what = "members of collections are not filled in where entries are selected: merge all entries first";
            return Err(Error::request(what).object(format!("RNTuple {}", joining.path)));
        }
        defer(&mut made, selected);
    }
    let ntuple = output_metadata(&parts, made.schema)?;
    let headers: u64 = parts.iter().map(|part| part.ntuple.anchor.header.len + part.ntuple.anchor.footer.len).sum();
    let distinct = if join.schemas.len() < parts.len() { 2 } else { 1 };
    let mut totals = Totals::default();
    let mut inputs = Vec::with_capacity(parts.len());
    let mut first_entry = 0;
    for (part, number) in parts.into_iter().zip(schema_of) {
        let entries = part.ntuple.entries();
        let input = PageInput {
            source: part.source,
            ntuple: Arc::new(part.ntuple),
            columns: made.sources.get(number).cloned().unwrap_or_else(|| Arc::from([])),
            first_entry,
            entries_before: part.entries_before,
            plans: plans.get(number).cloned().unwrap_or_else(|| Arc::from([])),
        };
        scan::scan((&input, &made.columns), selected.as_deref(), &mut totals)?;
        inputs.push(input);
        first_entry += entries;
    }
    let schemas = headers / inputs.len().max(1) as u64 * (join.schemas.len() as u64 + distinct);
    let metadata = schemas * memory::SCHEMA_FACTOR
        + inputs.len() as u64 * memory::NTUPLE
        + totals.largest_list * memory::LIST_FACTOR
        + list_memory(totals.lists)
        + memory::TABLE;
    let recoded = |input: &PageInput| input.columns.iter().any(|source| matches!(source, ColumnSource::Recoded(_)));
    let recodes = inputs.iter().any(|input| input.entries_before > 0 || recoded(input));
    let packs = recodes || made.columns.iter().any(|column| column.compression.is_some());
    let slices = if totals.sliced > 0 { totals.sliced + SLICED_PAGES } else { 0 };
    let deep = if packs || joining.check || slices > 0 { 3 * totals.largest_raw + slices } else { 0 };
    Ok(NtuplePlan {
        ntuple,
        job: PageJob {
            keeps_groups: inputs.len() == 1 && joining.rules.tree.cluster_group.is_none(),
            group_clusters: joining.rules.tree.cluster_group,
            inputs,
            columns: made.columns,
            selected,
            stays: None,
            check: joining.check,
        },
        attributes: Vec::new(),
        title: String::new(),
        input_entries,
        totals,
        notes,
        lost,
        ignored: made.ignored,
        uncounted,
        metadata,
        scratch: totals.largest + deep + totals.largest_proved + memory::MOVING_THREAD,
    })
}

/// Moves the starts of deferred columns to where they are among the selected entries.
fn defer(made: &mut OutputColumns, selected: &EntrySet) {
    for (column, target) in made.schema.columns.iter_mut().zip(&made.columns) {
        if let (Some(deferred), Some(each)) = (&mut column.first_element, target.per_entry.filter(|each| *each > 0)) {
            deferred.first_element = selected.rank(deferred.first_element / each).saturating_mul(each);
        }
    }
}

/// The file, if there is one, with elements that are not stored and that only the collections around them count. A single file
/// keeps them so, with all of its entries.
fn uncounted(parts: &[Part], joining: &Joining<'_>) -> Option<PathBuf> {
    let is_set = |part: &&Part| part.ntuple.features.iter().any(|word| *word != 0);
    let found = parts.iter().find(is_set).filter(|_| parts.len() > 1 || joining.entries.is_some());
    found.map(|part| part.source.name().to_path_buf())
}

/// The descriptions of further parts, which the output has no place for.
fn lost_descriptions(parts: &[Part]) -> Option<String> {
    let first = parts.first()?;
    let differs = |part: &&Part| {
        let description = &part.ntuple.description;
        !description.is_empty() && *description != first.ntuple.description
    };
    let mut others = parts.iter().filter(differs);
    let other = others.next()?;
    let [kept, file] = [first, other].map(|part| public_path(part.source.name()).display().to_string());
    let more = others.count();
    let more = if more > 0 { format!(" and those of {more} more inputs") } else { String::new() };
    let description = shortened(&other.ntuple.description, 60);
    Some(format!("description {description:?} of {file}{more} is left out; what {kept} has is kept"))
}

/// The metadata of the output: those of the first part with the joined schema.
fn output_metadata(parts: &[Part], schema: Schema) -> Result<Ntuple> {
    let first = parts.first().map(|part| &part.ntuple).ok_or_else(|| Error::request("no input"))?;
    let mut version = parts.iter().map(|part| part.ntuple.anchor.version).max().unwrap_or(NEWEST);
    if first.features.iter().all(|word| *word == 0) {
        version = version.min(NEWEST);
    }
    if schema.fields.iter().any(|field| field.is_soa) {
        version = version.max(STRUCTS_OF_ARRAYS);
    }
    let nowhere = Link { len: 0, locator: Locator::File { offset: 0, size: 0 } };
    Ok(Ntuple {
        name: first.name.clone(),
        description: first.description.clone(),
        writer: first.writer.clone(),
        anchor: Anchor { version, header: nowhere, footer: nowhere, max_key_size: MAX_KEY_SIZE },
        features: first.features.clone(),
        header_checksum: 0,
        schema: Arc::new(schema),
        groups: Vec::new(),
        attribute_sets: Vec::new(),
    })
}

/// Plans the attribute sets. Sets of the same name are joined, and the ranges of later inputs are moved by the entries before them.
fn add_attributes(plan: &mut NtuplePlan, request: &TableRequest<'_>, check: bool) -> Result<()> {
    let inputs = plan.job.inputs.iter().map(|input| (&input.source, &*input.ntuple, input.first_entry));
    let sets = attribute_parts(inputs)?;
    let (everything, compression) = (NameFilter::default(), request.layout.rules(request.path).column(&[]).compression);
    let mut layout = Layout::default();
    layout.common.compression = compression;
    let mut lost = Vec::new();
    let mut attributes = Vec::new();
    for (set, parts) in sets {
        let name = &set.name;
        if plan.job.selected.is_some() {
            lost.push(format!(
                "RNTuple {}: attribute set {name} is left out: its ranges count entries, and not all entries are kept",
                request.path
            ));
            continue;
        }
        let path = format!("{}, attributes {name}", request.path);
        let rules = layout.rules(&path);
        let joining = Joining {
            path: &path,
            options: request.options,
            filter: &everything,
            rules: &rules,
            entries: None,
            check,
            entry_column: Some(RANGE_START),
        };
        let joined = plan_parts(parts, &joining)?;
        joined.check_counted(&path)?;
        attributes.push(AttributePlan { name: set.name, schema_version: set.schema_version, plan: joined });
    }
    for attribute in &mut attributes {
        plan.notes.append(&mut attribute.plan.notes);
        plan.lost.append(&mut attribute.plan.lost);
        plan.metadata += attribute.plan.metadata;
        plan.scratch = plan.scratch.max(attribute.plan.scratch);
    }
    if !attributes.is_empty() {
        plan.ntuple.anchor.version = plan.ntuple.anchor.version.max(ATTRIBUTE_SETS);
    }
    plan.lost.extend(lost);
    plan.attributes = attributes;
    Ok(())
}
