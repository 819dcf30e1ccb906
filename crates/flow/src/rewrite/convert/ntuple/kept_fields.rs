//! Which fields of RNTuples that are written anew are kept: a field at the top is kept in part where a filter keeps some members of its
//! records alone. Nothing is read.

use std::collections::HashSet;

use dataset::ntuple::model::Schema;

use crate::plan::request::TableRequest;

/// Whether a filter keeps some members of a field at the top, and not all of it.
pub(super) fn has_kept_in_part(schema: &Schema, source: &TableRequest<'_>) -> bool {
    let filter = source.filter.of_table(source.path, schema.lineages());
    let keeps = |lineage: &[&str]| filter.keeps(source.path, lineage);
    schema.lineages().any(|lineage| keeps(&lineage) != lineage.last().is_some_and(|top| keeps(&[*top])))
}

/// The names of the fields at the top that are kept, whole or in part.
pub(super) fn kept_tops<'a>(schema: &'a Schema, source: &TableRequest<'_>) -> HashSet<&'a str> {
    let filter = source.filter.of_table(source.path, schema.lineages());
    let kept = schema.lineages().filter(|lineage| filter.keeps(source.path, lineage));
    kept.filter_map(|lineage| lineage.last().copied()).collect()
}
