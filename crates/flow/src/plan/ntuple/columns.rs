//! The schema of the output and its columns, with their places in each input.

use std::collections::HashMap;
use std::sync::Arc;

use dataset::layout::{ColumnLayout, TreeRules};
use dataset::ntuple::model::{AliasColumn, Column, Deferred, ExtraTypeInfo, Field, Schema};
use dataset::ntuple::{STREAMER_INFOS, join_streamer_infos};
use rootfile::Result;

use super::join::{Encoded, Join, Node, representations};
use crate::execute::engine::ntuple::job::{ColumnSource, TargetColumn};

/// The first input with each schema.
#[derive(Clone, Copy)]
pub(super) struct FirstInput {
    /// The number of the input.
    pub input: usize,
    /// Entries of the inputs before it.
    pub entries_before: u64,
}

/// What the joined schemas make.
pub(super) struct OutputColumns {
    pub schema: Schema,
    pub columns: Vec<TargetColumn>,
    /// For each schema, where it has the columns.
    pub sources: Vec<Arc<[ColumnSource]>>,
    /// Layout keys that were requested and that are for trees only.
    pub ignored: Vec<&'static str>,
}

/// A column of the output: node, representation, and place in the representation.
type Place = (usize, usize, usize);

/// Makes the schema and the columns of the output. `entry_column` names a field at the top that counts entries.
pub(super) fn output_columns(
    join: &Join<'_>,
    first: &[FirstInput],
    rules: &TreeRules<'_>,
    entry_column: Option<&str>,
    lost: &mut Vec<String>,
) -> Result<OutputColumns> {
    let (fields, ids) = output_fields(join);
    let mut made = Made {
        join,
        first,
        ids: &ids,
        columns: Vec::new(),
        places: Vec::new(),
        starts: vec![None; ids.len()],
        next: Vec::new(),
    };
    for late in [false, true] {
        (0..join.schemas.len()).for_each(|number| made.add_columns(number, late));
    }
    let aliases = made.aliases();
    let (columns, places) = (made.columns, made.places);
    let (starts, next) = (made.starts, made.next);
    let extra = extra_type_info(&join.schemas, lost)?;
    let schema = Schema::new(fields, columns, aliases, extra);
    let layouts = layouts(&schema, rules);
    let mut ignored = Vec::new();
    let mut targets = Vec::with_capacity(schema.columns.len());
    for ((id, column), ((node, _, place), next)) in schema.columns.iter().enumerate().zip(places.iter().zip(next)) {
        let layout = layouts.get(column.field);
        ignored.extend(layout.into_iter().flat_map(unused_keys));
        let origin = join.appears_in(*node);
        let field = schema.fields.get(column.field);
        let is_entry = |name: &str| field.is_some_and(|f| f.parent.is_none() && f.name == name);
        targets.push(TargetColumn {
            encoding: column.encoding().ok(),
            compression: layout.and_then(|layout| layout.compression),
            per_entry: schema.elements_per_entry(id),
            primary: starts.get(*node).copied().flatten().unwrap_or(0) + place,
            next,
            origin: first.get(origin).map_or(0, |first| first.input),
            counts_entries: entry_column.is_some_and(is_entry),
        });
    }
    ignored.sort_unstable();
    ignored.dedup();
    let sources = (0..join.schemas.len()).map(|number| sources(join, number, &places)).collect();
    Ok(OutputColumns { schema, columns: targets, sources, ignored })
}

/// The fields of the output, and that of each node that is not left out.
pub(super) fn output_fields(join: &Join<'_>) -> (Vec<Field>, Vec<Option<usize>>) {
    let mut ids = vec![None; join.nodes.len()];
    let mut fields = Vec::new();
    // The fields of the header come first.
    let kept = || join.nodes.iter().enumerate().filter(|(_, node)| !node.dropped);
    let in_header = kept().filter(|(at, _)| !join.in_extension(*at));
    for (at, node) in in_header.chain(kept().filter(|(at, _)| join.in_extension(*at))) {
        let id_of = |ids: &[Option<usize>], node: Option<usize>| node.and_then(|node| ids.get(node).copied().flatten());
        let mut field = node.field.clone();
        field.parent = id_of(&ids, node.parent);
        field.in_extension = join.in_extension(at);
        if let Some(slot) = ids.get_mut(at) {
            *slot = Some(fields.len());
        }
        fields.push(field);
    }
    // A projected field may come before its source.
    for (node, id) in join.nodes.iter().zip(&ids) {
        if let Some(field) = id.and_then(|id| fields.get_mut(id)) {
            field.source = node.source.and_then(|source| ids.get(source).copied().flatten());
        }
    }
    (fields, ids)
}

/// The columns that are made so far.
struct Made<'a> {
    join: &'a Join<'a>,
    first: &'a [FirstInput],
    /// The field of each node.
    ids: &'a [Option<usize>],
    columns: Vec<Column>,
    places: Vec<Place>,
    /// The first column of each node.
    starts: Vec<Option<usize>>,
    /// For each column the one with the same elements in the next representation.
    next: Vec<Option<usize>>,
}

impl Made<'_> {
    /// Adds the columns of the fields that a schema is the first to have, those of the header or the others: in its order, each
    /// field's representations of other schemas behind its own.
    fn add_columns(&mut self, number: usize, in_extension: bool) {
        let join = self.join;
        let Some(schema) = join.schemas.get(number) else { return };
        let nodes = join.nodes_of(number);
        for (id, column) in schema.columns.iter().enumerate() {
            let Some(at) = nodes.get(column.field).copied().flatten() else { continue };
            let Some(node) = join.nodes.get(at).filter(|node| node.origin == number) else { continue };
            if (column.in_extension || join.in_extension(at)) != in_extension {
                continue;
            }
            let own = schema.columns_of(column.field);
            let width = node.representations.first().map_or(0, Vec::len).max(1);
            let place = own.iter().position(|&other| other == id).unwrap_or(0);
            self.push(at, node, column.clone(), (place / width, place % width));
            if place + 1 < own.len() {
                continue;
            }
            for (index, representation) in node.representations.iter().enumerate().skip(own.len() / width) {
                for (place, encoded) in representation.iter().enumerate() {
                    let (column_type, bits, range) = *encoded;
                    let made = Column { column_type, bits, range, ..column.clone() };
                    self.push(at, node, made, (index, place));
                }
            }
        }
    }

    fn push(&mut self, at: usize, node: &Node, mut column: Column, (representation, place): (usize, usize)) {
        let field = self.ids.get(at).copied().flatten().unwrap_or(0);
        let late = self.join.appears_in(at) > 0;
        column.representation = u16::try_from(representation).unwrap_or(u16::MAX);
        column.in_extension |= late;
        column.field = field;
        // Columns with a varying number of elements are not deferred, those behind a field's first included (the characters of text):
        // there are no values of theirs before.
        let before = self.first.get(node.origin).map_or(0, |first| first.entries_before);
        let own = column.first_element.map_or(0, |deferred| deferred.first_element);
        let each = self.values_per_entry(at).filter(|_| place == 0);
        let first_element = each.and_then(|each| before.checked_mul(each)?.checked_add(own));
        column.first_element = match first_element {
            Some(first_element) if late && first_element > 0 => {
                Some(Deferred { first_element, suppressed: representation > 0 })
            }
            _ => column.first_element,
        };
        let id = self.columns.len();
        match self.starts.get_mut(at) {
            Some(start @ None) => *start = Some(id),
            Some(Some(start)) if representation > 0 => {
                let mut last = *start + place;
                while let Some(next) = self.next.get(last).copied().flatten() {
                    last = next;
                }
                if let Some(slot) = self.next.get_mut(last) {
                    *slot = Some(id);
                }
            }
            _ => {}
        }
        self.next.push(None);
        self.columns.push(column);
        self.places.push((at, representation, place));
    }

    fn values_per_entry(&self, at: usize) -> Option<u64> {
        let node = self.join.nodes.get(at)?;
        let schema = self.join.schemas.get(node.origin)?;
        schema.values_per_entry(node.ids.get(node.origin).copied().flatten()?)
    }

    /// The columns of projected fields: those of all representations of what they show.
    fn aliases(&self) -> Vec<AliasColumn> {
        let ids: HashMap<Place, usize> = self.places.iter().enumerate().map(|(id, place)| (*place, id)).collect();
        let mut aliases = Vec::new();
        for (number, schema) in self.join.schemas.iter().enumerate() {
            let nodes = self.join.nodes_of(number);
            for of_field in schema.aliases.chunk_by(|a, b| a.field == b.field) {
                let projected = of_field.first().and_then(|alias| nodes.get(alias.field).copied().flatten());
                let is_own = |at: &usize| self.join.nodes.get(*at).is_some_and(|node| node.origin == number);
                let Some(projected) = projected.filter(is_own) else { continue };
                let Some(field) = self.ids.get(projected).copied().flatten() else { continue };
                let mut shown: Vec<Place> =
                    of_field.iter().filter_map(|alias| self.place_of(schema, alias, &nodes)).collect();
                let mut known: Vec<Place> = shown.clone();
                // Those of other schemas follow.
                for (node, _, place) in shown.clone() {
                    let all = self.join.nodes.get(node).map_or(0, |node| node.representations.len());
                    known.extend((0..all).map(|representation| (node, representation, place)));
                }
                known.sort_unstable();
                known.dedup();
                known.retain(|place| !shown.contains(place));
                shown.append(&mut known);
                let columns = shown.iter().filter_map(|place| ids.get(place));
                aliases.extend(columns.map(|column| AliasColumn { column: *column, field }));
            }
        }
        aliases
    }

    /// The column that an alias shows: its node, its representation and its place there.
    fn place_of(&self, schema: &Schema, alias: &AliasColumn, nodes: &[Option<usize>]) -> Option<Place> {
        let field = schema.columns.get(alias.column)?.field;
        let node = nodes.get(field).copied().flatten()?;
        let own = schema.columns_of(field);
        let width = self.join.nodes.get(node)?.representations.first()?.len().max(1);
        let place = own.iter().position(|&other| other == alias.column)?;
        Some((node, place / width, place % width))
    }
}

/// Where a schema has the columns of the output.
fn sources(join: &Join<'_>, number: usize, places: &[Place]) -> Arc<[ColumnSource]> {
    let Some(schema) = join.schemas.get(number) else { return Arc::from([]) };
    let mut known: (usize, Vec<Vec<Encoded>>) = (usize::MAX, Vec::new());
    let source = |(at, representation, place): &Place| {
        let Some(node) = join.nodes.get(*at) else { return ColumnSource::Missing };
        let Some(field) = node.ids.get(number).copied().flatten() else {
            let counted = join.counted_by(*at, number).filter(|_| *place == 0);
            return counted.map_or(ColumnSource::Missing, |(column, each, missing)| ColumnSource::Counted {
                column,
                each,
                missing,
            });
        };
        if known.0 != *at {
            known = (*at, representations(schema, field));
        }
        let wanted = node.representations.get(*representation);
        let width = wanted.map_or(0, Vec::len);
        let column = |found: usize| schema.columns_of(field).get(found * width + place).copied();
        if let Some(column) = known.1.iter().position(|own| Some(own) == wanted).and_then(column) {
            return ColumnSource::Column(column);
        }
        let taken = |own: &Vec<Encoded>| node.taken_as(number, own, &known.1).as_ref() == wanted;
        let Some(taken) = known.1.iter().position(taken) else { return ColumnSource::OtherRepresentation };
        let is_same = known.1.get(taken).zip(wanted).is_some_and(|(own, wanted)| own.get(*place) == wanted.get(*place));
        match column(taken) {
            None => ColumnSource::OtherRepresentation,
            Some(column) if is_same => ColumnSource::Column(column),
            Some(column) => ColumnSource::Recoded(column),
        }
    };
    places.iter().map(source).collect()
}

/// The layout of the columns of each field.
fn layouts(schema: &Schema, rules: &TreeRules<'_>) -> Vec<ColumnLayout> {
    (0..schema.fields.len()).map(|field| rules.column(&schema.lineage(field))).collect()
}

/// The keys of a layout that have no meaning for pages.
fn unused_keys(layout: &ColumnLayout) -> Vec<&'static str> {
    let keys = [
        ("memory-ratio", layout.memory_ratio.is_some()),
        ("split-level", layout.split_level.is_some()),
        ("streaming", layout.streaming.is_some()),
    ];
    keys.into_iter().filter_map(|(name, is_set)| is_set.then_some(name)).collect()
}

/// The extra type information of all schemas. Streamer infos become one list.
fn extra_type_info(schemas: &[Arc<Schema>], lost: &mut Vec<String>) -> Result<Vec<ExtraTypeInfo>> {
    let mut joined: Vec<ExtraTypeInfo> = Vec::new();
    for (number, info) in
        schemas.iter().enumerate().flat_map(|(n, schema)| schema.extra.iter().map(move |info| (n, info)))
    {
        let same = |known: &&mut ExtraTypeInfo| {
            (known.content_id, known.type_version, &known.type_name)
                == (info.content_id, info.type_version, &info.type_name)
        };
        match joined.iter_mut().find(same) {
            None => joined.push(ExtraTypeInfo { in_extension: info.in_extension || number > 0, ..info.clone() }),
            Some(known) if known.content == info.content => {}
            Some(known) if known.content_id == STREAMER_INFOS => {
                known.content = join_streamer_infos(&known.content, &info.content)?;
            }
            Some(known) => lost.push(format!(
                "type information {} of {:?} differs in the inputs; that of the first is kept",
                known.content_id, known.type_name
            )),
        }
    }
    Ok(joined)
}
