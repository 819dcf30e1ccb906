//! Which fields of RNTuples that are written anew are kept: a field at the top is kept in part where a filter keeps some members of its
//! records alone. Nothing is read.

use std::collections::HashSet;

use dataset::ntuple::model::Schema;

use crate::plan::request::TableRequest;

/// Whether a filter keeps some members of a field at the top, and not all of it.
pub(super) fn has_kept_in_part(schema: &Schema, source: &TableRequest<'_>) -> bool {
    let kept = kept_tops(schema, source);
    leaves(schema, source).any(|(top, keeps)| !keeps && kept.contains(top))
}

/// The names of the fields at the top that are kept, whole or in part.
pub(super) fn kept_tops<'a>(schema: &'a Schema, source: &TableRequest<'_>) -> HashSet<&'a str> {
    leaves(schema, source).filter(|(_, keeps)| *keeps).map(|(top, _)| top).collect()
}

/// The fields without fields below them: of each the name of the field at the top, and whether it is kept.
fn leaves<'a>(schema: &'a Schema, source: &TableRequest<'_>) -> impl Iterator<Item = (&'a str, bool)> {
    let (path, filter) = (source.path, source.filter.of_table(source.path, schema.lineages()));
    let ends = (0..schema.fields.len()).filter(|field| schema.children(Some(*field)).is_empty());
    ends.filter_map(move |field| {
        let lineage = schema.lineage(field);
        Some((*lineage.last()?, filter.keeps(path, &lineage)))
    })
}
