//! Members of collections that some RNTuples lack (`--fill`): which of their columns count the values that are missing. Elements are
//! zeros that the engine makes; here it is said how many.

use dataset::ntuple::model::{Role, Schema};

use super::join::Join;

impl Join<'_> {
    /// Whether a schema that has a field has a column which counts its values.
    pub fn is_counted(&self, node: usize, number: usize) -> bool {
        let field = self.nodes.get(node).and_then(|node| node.ids.get(number).copied().flatten());
        field
            .is_none_or(|field| self.schemas.get(number).is_some_and(|schema| counting_column(schema, field).is_some()))
    }

    /// Whether a schema has values around a node that it lacks, so that there must be values of the node.
    pub fn is_filled(&self, at: usize, number: usize) -> bool {
        let mut parent = self.nodes.get(at).and_then(|node| node.parent);
        while let Some(above) = parent.and_then(|parent| self.nodes.get(parent)) {
            if above.ids.get(number).copied().flatten().is_some() {
                return true;
            }
            if !is_fixed(above.field.role) {
                return false;
            }
            parent = above.parent;
        }
        true
    }

    /// Whether schemas without a new field may have values around it, so that there must be values of the field. `map` has the fields
    /// that they have.
    pub fn is_field_filled(schema: &Schema, map: &[Option<usize>], field: usize) -> bool {
        let mut parent = schema.fields.get(field).and_then(|field| field.parent);
        while let Some((at, above)) = parent.and_then(|at| Some((at, schema.fields.get(at)?))) {
            if map.get(at).copied().flatten().is_some() {
                return true;
            }
            if !is_fixed(above.role) {
                return false;
            }
            parent = above.parent;
        }
        true
    }

    /// Gives fields of classes the latest version of the class: it adds the members of the others.
    pub fn take_versions(&mut self, schema: &Schema, map: &[Option<usize>]) {
        for (field, node) in schema.fields.iter().zip(map) {
            let Some(node) = node.and_then(|node| self.nodes.get_mut(node)) else { continue };
            let (own, theirs) = (node.field.type_version, field.type_version);
            if theirs > own && theirs != u32::MAX {
                (node.field.type_version, node.field.type_checksum) = (theirs, field.type_checksum);
            }
        }
    }

    /// The first schema that has columns of a node in its clusters. A member of a collection is in all that have the collection.
    pub fn appears_in(&self, at: usize) -> usize {
        let Some(node) = self.nodes.get(at) else { return 0 };
        match node.parent.and_then(|parent| Some((parent, self.nodes.get(parent)?))) {
            Some((parent, above)) if above.origin == node.origin || !self.has_fixed_number(parent) => {
                self.appears_in(parent)
            }
            _ => node.origin,
        }
    }

    /// Whether the output's footer describes a node, and not its header.
    pub fn in_extension(&self, at: usize) -> bool {
        self.appears_in(at) > 0 || self.nodes.get(at).is_some_and(|node| node.origin == 0 && node.field.in_extension)
    }

    /// How a schema without a node counts the values of its first column: a column there, how many elements it has for each of the
    /// collection's values, and how many values are missing for each. None of a node that no collection holds, or whose
    /// collection the schema lacks.
    pub fn counted_by(&self, at: usize, number: usize) -> Option<(usize, u64, u64)> {
        let mut missing = 1u64;
        let mut node = self.nodes.get(at)?;
        missing = missing.checked_mul(node.field.array_size.unwrap_or(1))?;
        loop {
            let parent = node.parent?;
            let above = self.nodes.get(parent)?;
            if let Some(field) = above.ids.get(number).copied().flatten() {
                let (column, each) = counting_column(self.schemas.get(number)?, field)?;
                return (!self.has_fixed_number(parent)).then_some((column, each, missing));
            }
            missing =
                if is_fixed(above.field.role) { missing.checked_mul(above.field.array_size.unwrap_or(1))? } else { 0 };
            node = above;
        }
    }
}

/// Whether there are as many values below a field as it has itself.
fn is_fixed(role: Role) -> bool {
    matches!(role, Role::Leaf | Role::Record)
}

/// A column that has the same number of elements for each value of a field: the column, and that number.
fn counting_column(schema: &Schema, field: usize) -> Option<(usize, u64)> {
    let mut left = vec![(field, 1u64)];
    while let Some((field, each)) = left.pop() {
        for id in schema.children(Some(field)) {
            let Some(child) = schema.fields.get(id).filter(|child| child.source.is_none()) else { continue };
            let each = each.checked_mul(child.array_size.unwrap_or(1))?;
            match schema.columns_of(id).first() {
                Some(&column) if each > 0 => return Some((column, each)),
                _ if is_fixed(child.role) => left.push((id, each)),
                _ => {}
            }
        }
    }
    None
}
