//! RNTuples whose schemas are joined, for plans and for readers of what a plan would make: which of them count, the schema of each, and
//! their fields. No page list is read.

use std::sync::Arc;

use dataset::glob::NameFilter;
use dataset::layout::TreeRules;
use dataset::ntuple::model::{AttributeSet, Field, Ntuple, Schema};
use dataset::ntuple::{read_attribute_set, read_ntuple};
use dataset::table::Join as Mode;
use rootfile::{Error, Result, Source};

use super::columns::{FirstInput, output_columns, output_fields};
use super::filter::kept_fields;
use super::join::Join;
use crate::plan::options::PlanOptions;
use crate::plan::request::TableInput;

/// One of the RNTuples that are joined.
pub(crate) struct Part {
    pub source: Arc<dyn Source>,
    pub ntuple: Ntuple,
    /// Entries of the main RNTuple before it, for an attribute set.
    pub entries_before: u64,
}

/// RNTuples with a joined schema.
pub(crate) struct JoinedParts<'a> {
    /// Those that count: an empty one cannot conflict, and no fields are left out because of it.
    pub parts: Vec<Part>,
    /// For each of them its schema, by the number in the join.
    pub schema_of: Vec<usize>,
    pub(super) join: Join<'a>,
    pub(super) first: Vec<FirstInput>,
    /// For each schema the fields that are kept.
    pub(super) keep: Vec<Vec<bool>>,
    /// Projected fields that go with what they show.
    pub(super) widows: Vec<String>,
    /// Fields that are kept because projected ones show them.
    pub(super) shown: Vec<String>,
}

/// A field of several RNTuples.
pub(crate) struct JoinedFields {
    /// The fields; their columns only where these are asked for.
    pub schema: Arc<Schema>,
    /// For each schema of the join, the IDs that the fields have there.
    pub ids: Vec<Vec<Option<usize>>>,
}

/// Reads the metadata of RNTuples.
pub(crate) fn read_parts(inputs: &[TableInput]) -> Result<Vec<Part>> {
    let part = |(_, file, key): &TableInput| {
        Ok(Part { source: Arc::clone(file.source()), ntuple: read_ntuple(file, key)?, entries_before: 0 })
    };
    inputs.iter().map(part).collect()
}

/// Joins the schemas of RNTuples, as far as the filter keeps their fields.
pub(crate) fn join_parts<'a>(
    mut parts: Vec<Part>,
    (path, filter): (&'a str, &NameFilter),
    options: PlanOptions,
) -> Result<JoinedParts<'a>> {
    let mode = options.schema;
    if mode != Mode::Fill && parts.iter().any(|part| part.ntuple.entries() > 0) {
        parts.retain(|part| part.ntuple.entries() > 0);
    } else if mode != Mode::Fill {
        parts.truncate(1);
    }
    let mut join = Join::new(options, path);
    let (mut first, mut keep, mut widows, mut shown) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut schema_of = Vec::with_capacity(parts.len());
    let mut entries_before = 0;
    for (input, part) in parts.iter_mut().enumerate() {
        let known = join.schemas.iter().position(|schema: &Arc<Schema>| **schema == *part.ntuple.schema);
        let number = match known.and_then(|number| Some((number, join.schemas.get(number)?))) {
            Some((number, schema)) => {
                part.ntuple.schema = Arc::clone(schema);
                number
            }
            None => {
                let kept = kept_fields(&part.ntuple.schema, path, filter);
                widows.extend(kept.lost);
                shown.extend(kept.shown);
                join.add(&part.ntuple.schema, &kept.keep).map_err(|e| e.file(part.source.name()))?;
                first.push(FirstInput { input, entries_before });
                keep.push(kept.keep);
                join.schemas.len() - 1
            }
        };
        schema_of.push(number);
        entries_before = part.ntuple.entries().saturating_add(entries_before);
    }
    widows.extend(join.settle()?);
    for names in [&mut widows, &mut shown] {
        names.sort();
        names.dedup();
    }
    Ok(JoinedParts { parts, schema_of, join, first, keep, widows, shown })
}

impl JoinedParts<'_> {
    /// The fields of all.
    pub fn fields(&self) -> JoinedFields {
        let (fields, nodes) = output_fields(&self.join);
        let mut ids = vec![vec![None; fields.len()]; self.join.schemas.len()];
        for (node, field) in self.join.nodes.iter().zip(nodes) {
            for (number, ids) in ids.iter_mut().enumerate() {
                if let Some(slot) = field.and_then(|field| ids.get_mut(field)) {
                    *slot = node.ids.get(number).copied().flatten();
                }
            }
        }
        JoinedFields { schema: Arc::new(Schema::new(fields, Vec::new(), Vec::new(), Vec::new())), ids }
    }

    /// The fields of all, with the columns that a merge makes of those of all.
    pub fn fields_with_columns(&self, rules: &TreeRules<'_>) -> Result<JoinedFields> {
        let made = output_columns(&self.join, &self.first, rules, None, &mut Vec::new())?;
        Ok(JoinedFields { schema: Arc::new(made.schema), ..self.fields() })
    }
}

impl JoinedFields {
    /// Whether a projected field is not in all RNTuples: in a merge it shows the values of all.
    pub fn is_partial(&self, (id, field): (usize, &Field)) -> bool {
        field.source.is_some() && self.ids.iter().any(|ids| ids.get(id).copied().flatten().is_none())
    }
}

/// The attribute sets of RNTuples, in their order. Sets of one name are one; for each its parts. The numbers are the entries before.
pub(crate) fn attribute_parts<'a>(
    ntuples: impl Iterator<Item = (&'a Arc<dyn Source>, &'a Ntuple, u64)>,
) -> Result<Vec<(AttributeSet, Vec<Part>)>> {
    let mut sets: Vec<(AttributeSet, Vec<Part>)> = Vec::new();
    for (source, ntuple, entries_before) in ntuples {
        for set in &ntuple.attribute_sets {
            let ntuple = read_attribute_set(&**source, ntuple, set)?;
            let part = Part { source: Arc::clone(source), ntuple, entries_before };
            let Some((first, parts)) = sets.iter_mut().find(|(known, _)| known.name == set.name) else {
                sets.push((set.clone(), vec![part]));
                continue;
            };
            if first.schema_version.0 != set.schema_version.0 {
                let what =
                    format!("attribute set {} has another version in the inputs; such sets are not merged", set.name);
                return Err(Error::unsupported(what).file(source.name()));
            }
            first.schema_version = first.schema_version.max(set.schema_version);
            parts.push(part);
        }
    }
    Ok(sets)
}
