//! The fields and columns of an RNTuple's report, from its schema and the sums over its pages.

use std::collections::BTreeMap;

use dataset::ntuple::decode::FieldPlan;
use dataset::ntuple::model::{Ntuple, Role, Schema};
use rootfile::codec::{Algorithm, Compression};

use super::pages::ColumnSums;
use super::report::{ColumnReport, FieldReport, FieldRole};
use crate::inspect::decoding::of_field;
use crate::inspect::values::{Sizes, Spread};
use crate::math::as_f64;

/// The reports on all fields, depth first.
pub fn fields(ntuple: &Ntuple, columns: &mut [ColumnSums], list: bool) -> Vec<FieldReport> {
    let schema = &ntuple.schema;
    let sizes = with_subfields(schema, columns);
    let total = columns.iter().map(|column| column.zip_bytes).fold(0, u64::saturating_add);
    let mut reports = Vec::with_capacity(schema.fields.len());
    let mut left = schema.children(None);
    left.reverse();
    while let Some(id) = left.pop() {
        left.extend(schema.children(Some(id)).into_iter().rev());
        let with = sizes.get(id).copied().unwrap_or_default();
        reports.extend(field(schema, id, columns, with, total, list));
    }
    reports
}

/// For each field the sizes of its columns and of those below it.
fn with_subfields(schema: &Schema, columns: &[ColumnSums]) -> Vec<Sizes> {
    let mut sizes = vec![Sizes::default(); schema.fields.len()];
    for (column, sums) in schema.columns.iter().zip(columns) {
        if let Some(sizes) = sizes.get_mut(column.field) {
            *sizes = sizes.and(Sizes { bytes: sums.zip_bytes, raw_bytes: sums.tot_bytes });
        }
    }
    // A parent precedes its children.
    for (id, field) in schema.fields.iter().enumerate().rev() {
        let own = sizes.get(id).copied().unwrap_or_default();
        if let Some(above) = field.parent.and_then(|parent| sizes.get_mut(parent)) {
            *above = above.and(own);
        }
    }
    sizes
}

fn field(
    schema: &Schema,
    id: usize,
    sums: &mut [ColumnSums],
    with_subfields: Sizes,
    total: u64,
    list: bool,
) -> Option<FieldReport> {
    let field = schema.fields.get(id)?;
    let ids = schema.columns_of(id);
    let columns: Vec<ColumnReport> = ids.iter().filter_map(|&id| column(schema, id, sums.get_mut(id)?, list)).collect();
    // The first column of each representation is numbered like that of the others.
    let width = columns.iter().filter(|column| column.representation == 0).count().max(1);
    let of = |column: &ColumnReport| Sizes { bytes: column.zip_bytes, raw_bytes: column.tot_bytes };
    let own = columns.iter().map(of).fold(Sizes::default(), Sizes::and);
    let plan = field.parent.is_none().then(|| FieldPlan::new(schema, id));
    Some(FieldReport {
        id: id as u64,
        path: schema.path(id),
        type_name: field.type_name.clone(),
        type_alias: field.type_alias.clone(),
        description: field.description.clone(),
        role: role(field.role),
        array_size: field.array_size,
        source: field.source.map(|source| schema.path(source)),
        soa: field.is_soa,
        in_extension: field.in_extension,
        decoded: plan.as_ref().map(of_field),
        opaque: plan.and_then(|plan| plan.opaque().map(str::to_owned)),
        tot_bytes: own.raw_bytes,
        zip_bytes: own.bytes,
        share: if total == 0 { 0.0 } else { as_f64(own.bytes) / as_f64(total) },
        with_subfields,
        elements: columns.iter().step_by(width).map(|column| column.elements).fold(0, u64::saturating_add),
        pages: columns.iter().map(|column| column.pages).sum(),
        columns,
    })
}

fn role(role: Role) -> FieldRole {
    match role {
        Role::Leaf => FieldRole::Leaf,
        Role::Collection => FieldRole::Collection,
        Role::Record => FieldRole::Record,
        Role::Variant => FieldRole::Variant,
        Role::Streamer => FieldRole::Streamer,
        Role::Unknown(_) => FieldRole::Unknown,
    }
}

fn column(schema: &Schema, id: usize, sums: &mut ColumnSums, list: bool) -> Option<ColumnReport> {
    let column = schema.columns.get(id)?;
    Some(ColumnReport {
        id: id as u64,
        column_type: column.column_type.to_string(),
        bits: column.bits,
        range: column.range,
        representation: column.representation,
        in_extension: column.in_extension,
        first_element: column.first_element.map(|deferred| deferred.first_element),
        suppressed_clusters: sums.suppressed,
        absent_clusters: sums.absent,
        compression: sums.settings.iter().map(|(setting, pages, _)| (*setting, *pages)).collect(),
        elements: sums.elements,
        pages: sums.pages,
        shared_pages: sums.shared,
        checked_pages: sums.checked,
        tot_bytes: sums.tot_bytes,
        zip_bytes: sums.zip_bytes,
        disk: Spread::of(&mut sums.disk),
        raw: Spread::of(&mut sums.raw),
        codecs: codecs(sums),
        page_list: list.then(|| std::mem::take(&mut sums.list)),
    })
}

/// Pages by codec.
fn codecs(sums: &ColumnSums) -> BTreeMap<String, u64> {
    let mut codecs = BTreeMap::new();
    for &(setting, pages, compressed) in &sums.settings {
        for (codec, n) in [(codec(setting), compressed), (None, pages - compressed)] {
            if n > 0 {
                let codec = codec.map_or("none", Algorithm::name);
                *codecs.entry(codec.to_owned()).or_default() += n;
            }
        }
    }
    codecs
}

/// The codec of compressed pages under a setting.
pub fn codec(setting: u32) -> Option<Algorithm> {
    i32::try_from(setting).ok().and_then(Compression::from_root_setting)?.algorithm()
}
