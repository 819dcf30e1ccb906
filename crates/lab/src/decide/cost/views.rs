//! How other programs read the columns of an RNTuple entry by entry: the names of fields, and the kinds of their values.

use std::collections::{HashMap, HashSet};

use dataset::ntuple::model::{Role, Schema};

use super::kind::Kind;

/// The fields of a schema, as readers of entries see them.
pub(super) struct Views<'a> {
    schema: &'a Schema,
    /// Fields whose values are collections.
    collections: HashSet<usize>,
    /// Projected fields, by the field that they show.
    shown: HashMap<usize, usize>,
}

impl<'a> Views<'a> {
    pub fn new(schema: &'a Schema) -> Self {
        let ends = |id: &usize| schema.encoding(*id).is_ok_and(|encoding| encoding.column_type().is_index());
        let columns = (0..schema.columns.len()).filter(ends).filter_map(|id| schema.columns.get(id));
        let mut shown = HashMap::new();
        for (id, field) in schema.fields.iter().enumerate() {
            // A field with subfields shows a collection with what they show.
            let is_leaf = field.role == Role::Leaf;
            if let Some(source) = field.source.filter(|_| is_leaf) {
                shown.entry(source).or_insert(id);
            }
        }
        Self { schema, collections: columns.map(|column| column.field).collect(), shown }
    }

    /// A field and those above it.
    fn path(&self, field: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(field), |id| self.schema.fields.get(*id)?.parent)
    }

    /// The name of the field to read.
    pub fn name(&self, field: usize) -> String {
        let name = |id: usize| self.schema.fields.get(id).map_or(String::new(), |field| field.name.clone());
        let top = |id: usize| self.path(id).last().map_or(String::new(), name);
        if let Some(projected) = self.shown.get(&field) {
            return top(*projected);
        }
        let is_plain = |id: usize| self.schema.fields.get(id).is_some_and(|field| field.role == Role::Record);
        match self.path(field).skip(1).all(is_plain) {
            true => {
                let mut names: Vec<String> = self.path(field).map(name).collect();
                names.reverse();
                names.join(".")
            }
            false => top(field),
        }
    }

    /// The kind of its values: numbers, lists of numbers and texts that are read at once, or anything else.
    pub fn kind(&self, field: usize) -> Kind {
        let depth = self.path(field).filter(|id| self.collections.contains(id)).count();
        let parents = self.path(field).count() - 1;
        match depth {
            0 => Kind::Number,
            1 if parents <= 1 || self.shown.contains_key(&field) => Kind::Array,
            _ => Kind::Object,
        }
    }
}
