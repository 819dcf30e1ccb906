//! The fields that a filter keeps. A field goes with all that its values need: collections with their items, variants with all
//! alternatives. Only members of records are kept or dropped one by one.

use dataset::glob::NameFilter;
use dataset::ntuple::decode::FieldPlan;
use dataset::ntuple::model::{Field, Role, Schema};

/// Whether each field of a schema is kept, by ID. A projected field whose source is dropped is dropped as well; such fields are
/// added to `lost`.
pub(super) fn kept_fields(schema: &Schema, path: &str, filter: &NameFilter, lost: &mut Vec<String>) -> Vec<bool> {
    let mut keep = vec![true; schema.fields.len()];
    if filter.keeps_all() {
        return keep;
    }
    let filter = filter.of_table(path, schema.lineages());
    // Backwards, each field is decided after its subfields.
    for (id, field) in schema.fields.iter().enumerate().rev() {
        let below = schema.children(Some(id));
        let kept = below.iter().filter(|&&child| keep.get(child).copied().unwrap_or(false)).count();
        let decided = match below.len() {
            0 => filter.keeps(path, &schema.lineage(id)),
            _ if is_divisible(field) => kept > 0,
            all => kept == all,
        };
        if let Some(place) = keep.get_mut(id) {
            *place = decided;
        }
    }
    // Forwards, nothing stays of what is dropped.
    for (id, field) in schema.fields.iter().enumerate() {
        if field.parent.is_some_and(|parent| !keep.get(parent).copied().unwrap_or(false))
            && let Some(place) = keep.get_mut(id)
        {
            *place = false;
        }
    }
    lost.extend(drop_widows(schema, &mut keep));
    keep
}

/// The plans of the fields that are kept: of the highest ones that are kept whole.
pub(super) fn kept_plans(schema: &Schema, keep: &[bool]) -> Vec<FieldPlan> {
    let is_kept = |id: usize| keep.get(id).copied().unwrap_or(false);
    let mut whole: Vec<bool> = (0..schema.fields.len()).map(is_kept).collect();
    for (id, field) in schema.fields.iter().enumerate().rev() {
        if !whole.get(id).copied().unwrap_or(false)
            && let Some(above) = field.parent.and_then(|parent| whole.get_mut(parent))
        {
            *above = false;
        }
    }
    let is_whole = |id: usize| whole.get(id).copied().unwrap_or(false);
    let highest = |(id, field): &(usize, &Field)| is_whole(*id) && !field.parent.is_some_and(is_whole);
    schema.fields.iter().enumerate().filter(highest).map(|(id, _)| FieldPlan::new(schema, id)).collect()
}

/// Drops projected fields whose columns are dropped. Returns the paths of those at the top.
pub(super) fn drop_widows(schema: &Schema, keep: &mut [bool]) -> Vec<String> {
    let is_kept = |keep: &[bool], id: usize| keep.get(id).copied().unwrap_or(false);
    let mut widows = Vec::new();
    for (id, field) in schema.fields.iter().enumerate().filter(|(_, field)| field.source.is_some()) {
        let columns = schema.aliases_of(id).filter_map(|alias| schema.columns.get(alias.column));
        let widowed = field.source.is_some_and(|source| !is_kept(keep, source))
            || columns.map(|column| column.field).any(|field| !is_kept(keep, field));
        if is_kept(keep, id) && widowed {
            widows.push(top(schema, id));
        }
    }
    widows.sort_unstable();
    widows.dedup();
    for (id, _) in schema.fields.iter().enumerate() {
        if widows.binary_search(&top(schema, id)).is_ok()
            && let Some(place) = keep.get_mut(id)
        {
            *place = false;
        }
    }
    widows.into_iter().map(|id| schema.path(id)).collect()
}

/// The projected field at the top of the projected fields that a field belongs to, or the field itself.
fn top(schema: &Schema, mut id: usize) -> usize {
    while let Some(parent) = schema.fields.get(id).and_then(|field| field.parent)
        && schema.fields.get(parent).is_some_and(|field| field.source.is_some())
    {
        id = parent;
    }
    id
}

/// Whether single members may be missing. Pairs and tuples are records whose members the type fixes.
pub(super) fn is_divisible(field: &Field) -> bool {
    let fixed = ["std::pair<", "std::tuple<", "pair<", "tuple<"];
    field.role == Role::Record && !fixed.iter().any(|name| field.type_name.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(parent: Option<usize>, role: Role, name: &str, source: Option<usize>) -> Field {
        Field { source, ..Field::new(parent, role, name, "") }
    }

    fn kept(keep: &[&str], drop: &[&str]) -> (Vec<usize>, Vec<String>) {
        let fields = vec![
            field(None, Role::Record, "event", None),
            field(Some(0), Role::Leaf, "run", None),
            field(Some(0), Role::Leaf, "lumi", None),
            field(None, Role::Collection, "muons", None),
            field(Some(3), Role::Record, "_0", None),
            field(Some(4), Role::Leaf, "pt", None),
            field(Some(4), Role::Leaf, "eta", None),
            field(None, Role::Variant, "v", None),
            field(Some(7), Role::Leaf, "_0", None),
            field(Some(7), Role::Leaf, "_1", None),
            field(None, Role::Collection, "n", Some(3)),
        ];
        let schema = Schema::new(fields, Vec::new(), Vec::new(), Vec::new());
        let mut lost = Vec::new();
        let keep = kept_fields(&schema, "t", &NameFilter::new(keep, drop).unwrap(), &mut lost);
        (keep.iter().enumerate().filter_map(|(id, keep)| keep.then_some(id)).collect(), lost)
    }

    #[test]
    fn members_of_records_one_by_one_and_others_whole() {
        assert_eq!(kept(&["event"], &[]).0, [0, 1, 2]);
        assert_eq!(kept(&["run"], &[]).0, [0, 1]);
        assert_eq!(kept(&["pt"], &[]).0, [3, 4, 5]);
        assert_eq!(kept(&[], &["eta", "event"]).0, [3, 4, 5, 7, 8, 9, 10]);
        assert_eq!(kept(&["v"], &[]).0, [7, 8, 9]);
        assert_eq!(kept(&["nothing"], &[]).0, [0; 0]);
    }

    #[test]
    fn a_projected_field_goes_with_its_source() {
        let (kept, lost) = kept(&[], &["muons"]);
        assert_eq!(kept, [0, 1, 2, 7, 8, 9]);
        assert_eq!(lost, ["n"]);
    }
}
