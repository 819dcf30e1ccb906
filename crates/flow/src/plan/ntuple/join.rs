//! Joins the schemas of several RNTuples: fields are matched by their names and types, columns by their representations. Pages move as
//! they are, so what is stored decides. What readers see is joined by [`Join::tables`](dataset::table::Join::tables), which knows no columns.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use dataset::ntuple::element::ColumnType;
use dataset::ntuple::model::{Field, Role, Schema};
use dataset::table::{Difference, Join as Mode, refusal};
use rootfile::{Error, Result};

use super::filter::is_divisible;
use crate::plan::options::PlanOptions;
use crate::table::text_list::listed;

/// How the elements of a column are encoded: type, bits, range.
pub(super) type Encoded = (ColumnType, u16, Option<(f64, f64)>);

/// A field of the output.
pub(super) struct Node {
    /// The field, as the first schema that has it describes it.
    pub field: Field,
    /// The node above.
    pub parent: Option<usize>,
    /// The node that a projected field shows.
    pub source: Option<usize>,
    /// The number of the first schema that has it.
    pub origin: usize,
    /// Its ID in each schema.
    pub ids: Vec<Option<usize>>,
    /// Its representations: those of the origin, and those that only others have.
    pub representations: Vec<Vec<Encoded>>,
    /// Whether it is left out.
    pub dropped: bool,
}

/// The schemas that are joined so far.
pub(super) struct Join<'a> {
    options: PlanOptions,
    path: &'a str,
    pub schemas: Vec<Arc<Schema>>,
    pub nodes: Vec<Node>,
    by_name: HashMap<(Option<usize>, String), usize>,
    /// Fields that not all inputs have.
    pub left_out: Vec<String>,
}

/// The differences of a schema.
#[derive(Default)]
struct Differences {
    /// Nodes that it lacks.
    missing: Vec<usize>,
    /// Fields that only it has.
    extra: Vec<usize>,
    /// Nodes with another meaning, and their fields.
    changed: Vec<(usize, usize)>,
}

impl<'a> Join<'a> {
    pub fn new(options: PlanOptions, path: &'a str) -> Self {
        Self { options, path, schemas: Vec::new(), nodes: Vec::new(), by_name: HashMap::new(), left_out: Vec::new() }
    }

    /// Adds the fields of a schema that are kept.
    pub fn add(&mut self, schema: &Arc<Schema>, keep: &[bool]) -> Result<()> {
        let number = self.schemas.len();
        self.schemas.push(Arc::clone(schema));
        self.nodes.iter_mut().for_each(|node| node.ids.resize(number + 1, None));
        let mut map: Vec<Option<usize>> = vec![None; schema.fields.len()];
        let mut found = Differences::default();
        for (id, field) in schema.fields.iter().enumerate().filter(|(id, _)| keep.get(*id).copied().unwrap_or(false)) {
            let above = field.parent.map(|parent| map.get(parent).copied().flatten());
            // What is below a difference is no difference of its own.
            if above == Some(None) {
                continue;
            }
            let parent = above.flatten();
            let known = self.by_name.get(&(parent, field.name.clone())).copied();
            let place = match known {
                None if number == 0 => Some(self.push(schema, id, parent, 0)),
                None => {
                    found.extra.push(id);
                    None
                }
                Some(node) if !self.same_meaning(node, schema, id) => {
                    found.changed.push((node, id));
                    None
                }
                known => known,
            };
            if let (Some(slot), Some(place)) = (map.get_mut(id), place) {
                *slot = Some(place);
                if let Some(node) = self.nodes.get_mut(place) {
                    node.add(number, schema, id);
                }
            }
        }
        self.check_projections(schema, &map, number, &mut found);
        if number > 0 {
            found.missing = self.missing(number, &found);
            self.resolve(&found, schema, keep, &mut map)?;
        }
        Ok(())
    }

    fn push(&mut self, schema: &Schema, id: usize, parent: Option<usize>, origin: usize) -> usize {
        let field = schema.fields.get(id).cloned();
        let Some(field) = field else { return self.nodes.len() };
        self.by_name.insert((parent, field.name.clone()), self.nodes.len());
        self.nodes.push(Node {
            field,
            parent,
            source: None,
            origin,
            ids: vec![None; self.schemas.len()],
            representations: Vec::new(),
            dropped: false,
        });
        self.nodes.len() - 1
    }

    /// Finds the nodes that projected fields show.
    fn check_projections(&mut self, schema: &Schema, map: &[Option<usize>], number: usize, found: &mut Differences) {
        for (id, field) in schema.fields.iter().enumerate() {
            let (Some(node), Some(source)) = (map.get(id).copied().flatten(), field.source) else { continue };
            let source = map.get(source).copied().flatten();
            let Some(known) = self.nodes.get_mut(node) else { continue };
            if known.origin == number {
                known.source = source;
            } else if known.source != source {
                if let Some(slot) = known.ids.get_mut(number) {
                    *slot = None;
                }
                found.changed.push((node, id));
            }
        }
    }

    /// The nodes that a schema lacks, without those below them.
    fn missing(&self, number: usize, found: &Differences) -> Vec<usize> {
        let has = |node: &Node| node.ids.get(number).copied().flatten().is_some();
        let changed: HashSet<usize> = found.changed.iter().map(|(node, _)| *node).collect();
        let lacks = |(at, node): (usize, &Node)| {
            let above = node.parent.and_then(|parent| self.nodes.get(parent));
            (!node.dropped && !has(node) && above.is_none_or(has) && !changed.contains(&at)).then_some(at)
        };
        self.nodes.iter().enumerate().filter_map(lacks).collect()
    }

    /// Whether a field has the same meaning as a node.
    fn same_meaning(&self, node: usize, schema: &Schema, id: usize) -> bool {
        let (Some(node), Some(field)) = (self.nodes.get(node), schema.fields.get(id)) else { return false };
        let own = &node.field;
        let width = |representations: &[Vec<Encoded>]| representations.first().map_or(0, Vec::len);
        own.is_like(field)
            && own.source.is_some() == field.source.is_some()
            && width(&node.representations) == width(&representations(schema, id))
    }

    /// Handles the differences of a schema.
    fn resolve(
        &mut self,
        found: &Differences,
        schema: &Arc<Schema>,
        keep: &[bool],
        map: &mut [Option<usize>],
    ) -> Result<()> {
        match self.options.schema {
            Mode::Strict if found.is_empty() => {}
            Mode::Strict => return Err(self.refusal(found, schema, "")),
            Mode::Common => {
                for node in found.missing.iter().copied().chain(found.changed.iter().map(|(node, _)| *node)) {
                    self.leave_out(node);
                }
                self.left_out.extend(found.extra.iter().map(|&id| schema.path(id)));
            }
            Mode::Fill if !found.changed.is_empty() => return Err(self.refusal(found, schema, "")),
            Mode::Fill => {
                let number = self.schemas.len() - 1;
                let parent_of = |id: usize| schema.fields.get(id)?.parent.and_then(|p| map.get(p).copied().flatten());
                let counted = |parent: Option<usize>, mut schemas: Range<usize>| {
                    let varying = parent.filter(|&parent| !self.has_fixed_number(parent));
                    varying.is_none_or(|parent| schemas.all(|number| self.is_counted(parent, number)))
                };
                let missing = found.missing.iter().all(|&node| counted(self.parent(node), number..number + 1));
                if !missing || !found.extra.iter().all(|&id| counted(parent_of(id), 0..number)) {
                    let why = "members of collections cannot be filled in where no other member counts them";
                    return Err(self.refusal(found, schema, why));
                }
                if self.lacks_objects(schema, keep, map) {
                    return Err(self.refusal(found, schema, "objects in streamer fields cannot be filled in"));
                }
                self.graft(&found.extra, schema, keep, map);
                self.take_versions(schema, map);
            }
        }
        Ok(())
    }

    /// Whether entries of one side would have no bytes of an object that ROOT's streamer reads: `RStreamerField::ReadGlobalImpl` reads one
    /// all the same.
    fn lacks_objects(&self, schema: &Schema, keep: &[bool], map: &[Option<usize>]) -> bool {
        let number = self.schemas.len() - 1;
        let lost = |(at, node): (usize, &Node)| {
            let is_there = node.dropped || node.ids.get(number).copied().flatten().is_some();
            node.field.role == Role::Streamer && !is_there && self.is_filled(at, number)
        };
        let new = |(id, field): (usize, &Field)| {
            let is_new = keep.get(id) == Some(&true) && map.get(id).copied().flatten().is_none();
            field.role == Role::Streamer && is_new && Self::is_field_filled(schema, map, id)
        };
        self.nodes.iter().enumerate().any(lost) || schema.fields.iter().enumerate().any(new)
    }

    fn parent(&self, node: usize) -> Option<usize> {
        self.nodes.get(node).and_then(|node| node.parent)
    }

    /// Whether each entry has the same number of values of a node, or of those below it.
    pub fn has_fixed_number(&self, node: usize) -> bool {
        let mut at = Some(node);
        while let Some(node) = at.and_then(|at| self.nodes.get(at)) {
            if !matches!(node.field.role, Role::Leaf | Role::Record | Role::Streamer) {
                return false;
            }
            at = node.parent;
        }
        true
    }

    /// Takes over fields that only a later schema has, with those below them.
    fn graft(&mut self, extra: &[usize], schema: &Arc<Schema>, keep: &[bool], map: &mut [Option<usize>]) {
        let number = self.schemas.len() - 1;
        let mut new = vec![false; schema.fields.len()];
        for (id, field) in schema.fields.iter().enumerate().filter(|(id, _)| keep.get(*id).copied().unwrap_or(false)) {
            let below_new = field.parent.is_some_and(|parent| new.get(parent).copied().unwrap_or(false));
            if !below_new && extra.binary_search(&id).is_err() {
                continue;
            }
            let parent = field.parent.and_then(|parent| map.get(parent).copied().flatten());
            let place = self.push(schema, id, parent, number);
            if let (Some(slot), Some(flag), Some(node)) = (map.get_mut(id), new.get_mut(id), self.nodes.get_mut(place))
            {
                (*slot, *flag) = (Some(place), true);
                node.add(number, schema, id);
            }
        }
        for (id, field) in schema.fields.iter().enumerate() {
            let source = field.source.and_then(|source| map.get(source).copied().flatten());
            let node = map.get(id).copied().flatten().and_then(|node| self.nodes.get_mut(node));
            if let (true, Some(node)) = (new.get(id).copied().unwrap_or(false), node) {
                node.source = source;
            }
        }
    }

    /// Leaves a field out, or the field above that cannot do without it.
    fn leave_out(&mut self, mut at: usize) {
        self.left_out.push(self.path_of(at));
        loop {
            let Some(node) = self.nodes.get_mut(at) else { return };
            node.dropped = true;
            let parent = node.parent;
            match parent {
                Some(parent) if self.nodes.get(parent).is_some_and(|above| !is_divisible(&above.field)) => at = parent,
                _ => return,
            }
        }
    }

    /// Drops the fields below dropped fields, the projected fields that show dropped fields, and records without any member.
    /// Returns the paths of the projected fields.
    pub fn settle(&mut self) -> Result<Vec<String>> {
        let mut widows = Vec::new();
        loop {
            let mut members = vec![(0usize, 0usize); self.nodes.len()];
            let mut drop = Vec::new();
            for (at, node) in self.nodes.iter().enumerate() {
                if let Some((all, left)) = node.parent.and_then(|parent| members.get_mut(parent)) {
                    *all += 1;
                    *left += usize::from(!node.dropped);
                }
                let is_dropped =
                    |at: Option<usize>| at.and_then(|at| self.nodes.get(at)).is_some_and(|node| node.dropped);
                if node.dropped {
                    continue;
                }
                if is_dropped(node.parent) {
                    drop.push(at);
                } else if node.field.source.is_some() && (node.source.is_none() || is_dropped(node.source)) {
                    widows.push(self.path_of(at));
                    drop.push(at);
                }
            }
            let empty = |(at, (all, left)): (usize, &(usize, usize))| {
                let kept = self.nodes.get(at).is_some_and(|node| !node.dropped);
                (kept && *all > 0 && *left == 0).then_some(at)
            };
            drop.extend(members.iter().enumerate().filter_map(empty));
            if drop.is_empty() {
                break;
            }
            for at in drop {
                if let Some(node) = self.nodes.get_mut(at) {
                    node.dropped = true;
                }
            }
        }
        // A tree without branches is an RNTuple without fields.
        if !self.nodes.is_empty() && self.nodes.iter().all(|node| node.dropped) {
            let what = if self.schemas.len() > 1 { "its inputs have no field in common" } else { "no field is left" };
            return Err(Error::differs(format!("RNTuple {}: {what}", self.path)));
        }
        Ok(widows)
    }

    /// The node of each field of a schema, if it has one that is not left out.
    pub fn nodes_of(&self, number: usize) -> Vec<Option<usize>> {
        let fields = self.schemas.get(number).map_or(0, |schema| schema.fields.len());
        let mut nodes = vec![None; fields];
        for (at, node) in self.nodes.iter().enumerate().filter(|(_, node)| !node.dropped) {
            if let Some(slot) = node.ids.get(number).copied().flatten().and_then(|id| nodes.get_mut(id)) {
                *slot = Some(at);
            }
        }
        nodes
    }

    pub fn path_of(&self, node: usize) -> String {
        let mut names = Vec::new();
        let mut at = Some(node);
        while let Some(node) = at.and_then(|at| self.nodes.get(at)) {
            names.push(node.field.name.as_str());
            at = node.parent;
        }
        names.reverse();
        names.join(".")
    }

    fn refusal(&self, found: &Differences, schema: &Schema, why: &str) -> Error {
        let missing = found.missing.iter().map(|&node| Difference::Missing(self.path_of(node)));
        let extra = found.extra.iter().map(|&id| Difference::Extra(schema.path(id)));
        let changed = found.changed.iter().filter_map(|&(node, id)| {
            let own = self.nodes.get(node)?;
            let first = meaning(&own.field, own.representations.first());
            let second = meaning(schema.fields.get(id)?, representations(schema, id).first());
            Some(Difference::Changed { branch: schema.path(id), first, second })
        });
        let all = missing.chain(extra).chain(changed);
        let texts: Vec<String> = all.map(|difference| difference.text("field")).collect();
        let what = format!("RNTuple {}: its schema differs from the first input's", self.path);
        let (advice, ways) = self.options.ways_out("fields");
        let said: Vec<&str> =
            [Some(why), advice.as_deref()].into_iter().flatten().filter(|text| !text.is_empty()).collect();
        refusal(&what, &texts, Some(&said.join("; ")), ways)
    }

    /// The note on fields that not all inputs have.
    pub fn note(&mut self) -> Option<String> {
        let mut left_out = std::mem::take(&mut self.left_out);
        left_out.sort();
        left_out.dedup();
        (!left_out.is_empty()).then(|| {
            format!("RNTuple {}: fields that are not in all inputs are left out: {}", self.path, listed(&left_out))
        })
    }
}

impl Node {
    /// Notes the field's ID in a schema, and the representations that only this schema has.
    fn add(&mut self, number: usize, schema: &Schema, id: usize) {
        if self.ids.len() <= number {
            self.ids.resize(number + 1, None);
        }
        if let Some(slot) = self.ids.get_mut(number) {
            *slot = Some(id);
        }
        let own = representations(schema, id);
        for representation in &own {
            let taken = self.taken_as(number, representation, &own).unwrap_or_else(|| representation.clone());
            if !self.representations.contains(&taken) {
                self.representations.push(taken);
            }
        }
    }

    /// The representation in which elements are written that readers would misread in their own, behind those of other inputs. `own`
    /// has all representations of the input.
    ///
    /// ROOT 6.40 takes the bits and the range of reduced floats from the field's first column, whatever the representation
    /// (`RRealField::GenerateColumns`). uproot 5.7 takes the first column of a representation for its second
    /// (`RNTuple.read_cluster_pages`), the ends of text for its characters.
    pub fn taken_as(&self, number: usize, wanted: &[Encoded], own: &[Vec<Encoded>]) -> Option<Vec<Encoded>> {
        let first = self.representations.first().filter(|_| number != self.origin)?;
        match *wanted {
            [(ColumnType::Real32Trunc | ColumnType::Real32Quant, bits, range)] => {
                if first.first().is_some_and(|first| (first.1, first.2) == (bits, range)) {
                    return None;
                }
                let singles = [(ColumnType::SplitReal32, 32, None), (ColumnType::Real32, 32, None)];
                let doubles = [(ColumnType::SplitReal64, 64, None), (ColumnType::Real64, 64, None)];
                let all = if self.field.type_name == "float" { [singles, doubles] } else { [doubles, doubles] };
                // Not one of the input's others: an output column has the elements of one.
                let free = all.as_flattened().iter().find(|encoded| !own.contains(&vec![**encoded]));
                Some(vec![*free.unwrap_or(&doubles[0])])
            }
            [(ends, ..), items] => {
                let fits = matches!(**first, [(other, ..), same] if other.is_index() && same == items);
                (ends.is_index() && fits && !own.contains(first)).then(|| first.clone())
            }
            _ => None,
        }
    }
}

impl Differences {
    fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.extra.is_empty() && self.changed.is_empty()
    }
}

/// The representations of a field: for each the encodings of its columns.
pub(super) fn representations(schema: &Schema, field: usize) -> Vec<Vec<Encoded>> {
    let mut all: Vec<Vec<Encoded>> = Vec::new();
    for column in schema.columns_of(field).iter().filter_map(|&id| schema.columns.get(id)) {
        let at = usize::from(column.representation);
        if all.len() <= at {
            all.resize(at + 1, Vec::new());
        }
        if let Some(columns) = all.get_mut(at) {
            columns.push((column.column_type, column.bits, column.range));
        }
    }
    all
}

/// What a field means as text: its type, size and role.
pub(crate) fn field_meaning(field: &Field) -> String {
    let mut text = match (field.type_name.as_str(), field.role) {
        ("", Role::Record) => "untyped record".to_owned(),
        ("", _) => "untyped collection".to_owned(),
        (name, _) => name.to_owned(),
    };
    if let Some(size) = field.array_size {
        text.push_str(&format!("[{size}]"));
    }
    if field.role == Role::Streamer {
        text.push_str(" (streamed)");
    }
    if field.is_soa {
        text.push_str(" (struct of arrays)");
    }
    text
}

/// The same of a field in the join, by which fields are told apart.
fn meaning(field: &Field, columns: Option<&Vec<Encoded>>) -> String {
    let mut text = field_meaning(field);
    if field.source.is_some() {
        text.push_str(" (projected)");
    } else if columns.is_none_or(Vec::is_empty) && field.role == Role::Leaf {
        text.push_str(" (without columns)");
    }
    text
}
