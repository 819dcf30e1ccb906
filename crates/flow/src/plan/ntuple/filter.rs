//! The fields that a filter keeps. A field goes with all that its values need: collections with their items, variants with all
//! alternatives. Only members of records are kept or dropped one by one.

use dataset::glob::NameFilter;
use dataset::ntuple::decode::FieldPlan;
use dataset::ntuple::model::{Field, Role, Schema};

/// The fields of a schema that are kept.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Whether each is, by ID.
    pub keep: Vec<bool>,
    /// Fields at the top that projected ones show, and are kept for that.
    pub shown: Vec<String>,
    /// Projected fields that are dropped because what they show is.
    pub lost: Vec<String>,
}

/// The fields that a filter keeps. What a projected field shows is kept as well, unless the filter drops it: then the projected field is
/// dropped, too.
pub(super) fn kept_fields(schema: &Schema, path: &str, filter: &NameFilter) -> Kept {
    if filter.keeps_all() {
        return Kept { keep: vec![true; schema.fields.len()], ..Kept::default() };
    }
    let filter = filter.of_table(path, schema.lineages());
    let named = decided(schema, &|id| filter.keeps(path, &schema.lineage(id)));
    if !schema.fields.iter().any(|field| field.source.is_some()) {
        return Kept { keep: named, ..Kept::default() };
    }
    let with = |shown: &[bool]| {
        let is_shown = |id: usize| shown.get(id).copied().unwrap_or(false);
        decided(schema, &|id| {
            let lineage = schema.lineage(id);
            filter.keeps(path, &lineage) || is_shown(id) && !filter.drops(path, &lineage)
        })
    };
    let mut shown = shown_by(schema, &named);
    // A number of items, or a part of what is only kept whole, needs all of it.
    let whole: Vec<usize> = widows(schema, &with(&shown)).flat_map(|id| sources(schema, id)).collect();
    let whole: Vec<usize> = whole.into_iter().map(|id| root(schema, id)).collect();
    for (id, shown) in shown.iter_mut().enumerate() {
        *shown |= whole.contains(&root(schema, id));
    }
    let mut keep = with(&shown);
    let lost = drop_widows(schema, &mut keep);
    let is_new = |(id, field): &(usize, &Field)| field.parent.is_none() && keep.get(*id) > named.get(*id);
    let shown = schema.fields.iter().enumerate().filter(is_new).map(|(id, _)| schema.path(id)).collect();
    Kept { keep, shown, lost }
}

/// Whether each field is kept, where this says it of those without subfields.
fn decided(schema: &Schema, keeps: &dyn Fn(usize) -> bool) -> Vec<bool> {
    let mut keep = vec![true; schema.fields.len()];
    // Backwards, each field is decided after its subfields.
    for (id, field) in schema.fields.iter().enumerate().rev() {
        let below = schema.children(Some(id));
        let kept = below.iter().filter(|&&child| keep.get(child).copied().unwrap_or(false)).count();
        let decided = match below.len() {
            0 => keeps(id),
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
    keep
}

/// Whether each field has values that a kept projected field shows.
fn shown_by(schema: &Schema, keep: &[bool]) -> Vec<bool> {
    let mut shown = vec![false; schema.fields.len()];
    let projected = schema.fields.iter().enumerate().filter(|(_, field)| field.source.is_some());
    for (id, _) in projected.filter(|(id, _)| keep.get(*id).copied().unwrap_or(false)) {
        for source in sources(schema, id) {
            shown.get_mut(source).into_iter().for_each(|shown| *shown = true);
        }
    }
    shown
}

/// The fields that a projected field shows: its source, and those of its columns.
fn sources(schema: &Schema, id: usize) -> impl Iterator<Item = usize> {
    let columns = schema.aliases_of(id).filter_map(|alias| Some(schema.columns.get(alias.column)?.field));
    columns.chain(schema.fields.get(id).and_then(|field| field.source))
}

/// The field at the top that a field belongs to.
fn root(schema: &Schema, mut id: usize) -> usize {
    while let Some(parent) = schema.fields.get(id).and_then(|field| field.parent) {
        id = parent;
    }
    id
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
    let mut found: Vec<usize> = widows(schema, keep).map(|id| top(schema, id)).collect();
    found.sort_unstable();
    found.dedup();
    for (id, place) in keep.iter_mut().enumerate() {
        *place &= found.binary_search(&top(schema, id)).is_err();
    }
    found.into_iter().map(|id| schema.path(id)).collect()
}

/// Projected fields that are kept, where what they show is not.
fn widows<'a>(schema: &'a Schema, keep: &'a [bool]) -> impl Iterator<Item = usize> + use<'a> {
    let is_kept = |id: usize| keep.get(id).copied().unwrap_or(false);
    let projected = schema.fields.iter().enumerate().filter(|(_, field)| field.source.is_some());
    projected.map(|(id, _)| id).filter(move |&id| is_kept(id) && !sources(schema, id).all(is_kept))
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
        let Kept { keep, lost, .. } = kept_fields(&schema, "t", &NameFilter::new(keep, drop).unwrap());
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
        for keep in [&[][..], &["n", "event", "v"]] {
            let (kept, lost) = kept(keep, &["muons"]);
            assert_eq!(kept, [0, 1, 2, 7, 8, 9]);
            assert_eq!(lost, ["n"]);
        }
        // And it brings its source.
        assert_eq!(kept(&["n"], &[]), (vec![3, 4, 5, 6, 10], Vec::new()));
        assert_eq!(kept(&["n", "pt"], &[]), (vec![3, 4, 5, 10], Vec::new()));
    }
}
