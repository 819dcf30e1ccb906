//! How the fields of two RNTuples correspond, by their paths and what they mean. Values are not touched.

use std::collections::{HashMap, HashSet};

use dataset::ntuple::model::{Role, Schema};

use crate::plan::ntuple::field_meaning;

/// The fields of one side.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub schema: &'a Schema,
    /// Projected fields that only some inputs have. In a merge they show the values of all.
    pub partial: &'a [usize],
}

/// How the fields of two sides correspond.
#[derive(Debug, Default)]
pub(super) struct FieldMatch {
    /// Fields to compare, in order: the path, and the field of each side. Records are compared member by member, other fields as a
    /// whole where both sides have the same fields below.
    pub compared: Vec<(String, [usize; 2])>,
    /// Paths of the fields that only one side has, without those below them.
    pub only: [Vec<String>; 2],
    /// Fields with another meaning: path, meaning on each side.
    pub changed: Vec<(String, [String; 2])>,
}

impl Fields<'_> {
    /// Matches the fields with those of another side. Projected fields that only some inputs have are left to the fields that
    /// they show.
    pub fn matched(self, other: Self) -> FieldMatch {
        let (ours, theirs) = (self.schema, other.schema);
        let by_path: HashMap<String, usize> = (0..theirs.fields.len()).map(|id| (theirs.path(id), id)).collect();
        let partners: Vec<Option<usize>> =
            (0..ours.fields.len()).map(|id| by_path.get(&ours.path(id)).copied()).collect();
        let partner = |id: usize| partners.get(id).copied().flatten();
        let met: HashSet<usize> = partners.iter().flatten().copied().collect();
        let only = |id: &usize| !met.contains(id);
        let same = |id: usize, their: usize| match (ours.fields.get(id), theirs.fields.get(their)) {
            (Some(a), Some(b)) => {
                a.is_like(b) && a.source.map(|at| ours.path(at)) == b.source.map(|at| theirs.path(at))
            }
            _ => false,
        };
        let mut differ = vec![false; ours.fields.len()];
        for id in (0..ours.fields.len()).rev() {
            let below = ours.children(Some(id));
            let is_same = partner(id).is_some_and(|at| same(id, at) && theirs.children(Some(at)).len() == below.len());
            let differs = !is_same || below.iter().any(|child| differ.get(*child).copied().unwrap_or(true));
            differ.get_mut(id).into_iter().for_each(|slot| *slot = differs);
        }
        let mut found = FieldMatch::default();
        let mut left = ours.children(None);
        left.reverse();
        while let Some(id) = left.pop() {
            let Some(field) = ours.fields.get(id).filter(|_| !self.partial.contains(&id)) else { continue };
            let Some(their) = partner(id) else {
                found.only[0].push(ours.path(id));
                continue;
            };
            if !same(id, their) {
                found.changed.push((ours.path(id), [meaning(ours, id), meaning(theirs, their)]));
                continue;
            }
            let below = ours.children(Some(id));
            let is_record = field.role == Role::Record && field.array_size.is_none();
            if below.is_empty() || (!is_record && !differ.get(id).copied().unwrap_or(true)) {
                found.compared.push((ours.path(id), [id, their]));
                continue;
            }
            left.extend(below.iter().rev());
            found.only[1].extend(theirs.children(Some(their)).into_iter().filter(only).map(|id| theirs.path(id)));
        }
        found.only[1].extend(theirs.children(None).into_iter().filter(only).map(|id| theirs.path(id)));
        found
    }
}

/// What a field means, as text.
fn meaning(schema: &Schema, id: usize) -> String {
    let Some(field) = schema.fields.get(id) else { return String::new() };
    let shown = field.source.map_or_else(String::new, |source| format!(" (showing {})", schema.path(source)));
    field_meaning(field) + &shown
}
