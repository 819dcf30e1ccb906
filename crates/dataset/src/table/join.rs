//! Joins the schemas of several tables, whichever container each is in: which columns all of them have or some, and the types in
//! which their values come together. It compares what readers see, names and Arrow types. What stored bytes mean is compared
//! elsewhere ([`meaning`](crate::meaning)), and nothing is read here.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef};
use rootfile::{Error, Hint, Result};

use super::column::TableColumn;
use super::difference::named;
use super::schema::{Node, TableSchema};
use crate::widen;

/// Types may nest this deep.
const MAX_DEPTH: usize = 60;

/// How tables whose columns differ are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Join {
    /// Not at all: all must have the same columns.
    #[default]
    Strict,
    /// The result has the columns of all tables, without those that one of them lacks.
    Common,
    /// The result has the columns of any table. Where a table lacks one, its entries get default values.
    Fill,
}

/// One of the tables that are joined.
#[derive(Clone, Debug)]
pub struct JoinInput {
    /// The name of its file, for messages.
    pub name: String,
    /// Its nodes, each behind the one above it.
    pub nodes: Vec<Node>,
    /// For each node its Arrow field, if it is a column.
    pub fields: Vec<Option<FieldRef>>,
    /// Whether it has no entries: then it cannot conflict, and no column is left out because of it.
    pub is_empty: bool,
    /// Whether nodes below others are left out: containers nest them differently.
    pub only_top: bool,
}

impl JoinInput {
    /// A table with these columns.
    pub fn new(name: String, schema: &TableSchema, columns: &[TableColumn], is_empty: bool) -> Self {
        let nodes = schema.nodes();
        let mut fields = vec![None; nodes.len()];
        for column in columns {
            // The counter of a split collection is no column of its own.
            if nodes.get(column.node()).is_some_and(|node| !node.groups)
                && let Some(slot) = fields.get_mut(column.node())
            {
                *slot = Some(Arc::clone(column.field()));
            }
        }
        Self { name, nodes, fields, is_empty, only_top: false }
    }
}

/// A node of the joined schema.
#[derive(Clone, Debug)]
pub struct JoinedNode {
    /// The node, as the first table that has it describes it. The index of its parent is one of the joined nodes.
    pub node: Node,
    /// The Arrow field of the joined values, if it is a column.
    pub field: Option<FieldRef>,
    /// Its index in each of the tables.
    pub places: Vec<Option<usize>>,
    /// Why its values cannot come together, if so.
    pub conflict: Option<Conflict>,
}

/// The joined schema of tables.
#[derive(Clone, Debug)]
pub struct JoinedNodes {
    /// Its nodes, each behind the one above it.
    pub nodes: Vec<JoinedNode>,
    /// The paths of the nodes that are left out, and which tables have and lack them.
    pub left_out: Vec<(String, String)>,
}

/// A column whose values in two tables are of different types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The types and the tables.
    pub what: String,
    /// Whether wider numbers would hold the values of all tables.
    pub widens: bool,
}

/// A node of which other nodes of the same name may be below the same one.
type Place = (Option<usize>, String, usize);

impl Join {
    /// The other ways in which a merge joins tables that differ. `columns` is what it calls them.
    pub fn ways_out(self, columns: &str) -> Vec<Hint> {
        let common = Hint::switch("common");
        match self {
            Self::Fill => vec![common.that(format!("leaves out {columns} that differ"))],
            _ => vec![
                common.that(format!("keeps the {columns} that all inputs have")),
                Hint::switch("fill").that("fills in missing ones"),
            ],
        }
    }

    /// What joins numbers of different types.
    pub fn widening() -> Hint {
        Hint::switch("widen").that("joins numbers in the smallest type that holds all")
    }

    /// Joins tables. With `widens` numbers of different types come together in the smallest type that holds all of them. Columns
    /// whose types differ otherwise are named in [`JoinedNode::conflict`].
    ///
    /// # Errors
    ///
    /// Under [`Join::Strict`], that the columns differ ([`ErrorKind::Differs`](rootfile::ErrorKind::Differs)).
    pub fn tables(self, inputs: &[JoinInput], widens: bool) -> Result<JoinedNodes> {
        let counted: Vec<bool> = match inputs.iter().all(|input| input.is_empty) {
            true => vec![true; inputs.len()],
            false => inputs.iter().map(|input| !input.is_empty).collect(),
        };
        let mut nodes = matched(inputs);
        let mut lacking = Vec::new();
        for at in 0..nodes.len() {
            let Some(node) = nodes.get(at) else { break };
            // Below a difference nothing is one of its own.
            let above = node.node.parent.and_then(|parent| nodes.get(parent)).and_then(|above| above.conflict.clone());
            let lacks = |(place, counts): (&Option<usize>, &bool)| *counts && place.is_none();
            let lacks = node.places.iter().zip(&counted).position(lacks);
            let found = match above.filter(|_| lacks.is_some()) {
                Some(conflict) => (None, Some(conflict)),
                None => self.joined_field(node, inputs, (&counted, widens)),
            };
            lacking.push(lacks);
            if let Some(node) = nodes.get_mut(at) {
                (node.field, node.conflict) = found;
            }
        }
        let mut left_out = Vec::new();
        match self {
            Self::Fill => {}
            Self::Strict => {
                // What only empty tables have conflicts with nothing.
                let is_counted = |node: &JoinedNode| node.places.iter().zip(&counted).any(|(p, c)| *c && p.is_some());
                let told = nodes.iter().zip(&lacking).map(|(node, lacks)| lacks.filter(|_| is_counted(node)));
                refuse(&nodes, &told.collect::<Vec<_>>(), inputs)?;
                leave_out(&mut nodes, &lacking);
            }
            Self::Common => {
                left_out = texts_of_lacking(&nodes, &lacking, inputs);
                leave_out(&mut nodes, &lacking);
            }
        }
        Ok(JoinedNodes { nodes, left_out })
    }

    /// The field of a node, or why its values cannot come together.
    fn joined_field(
        self,
        node: &JoinedNode,
        inputs: &[JoinInput],
        (counted, widens): (&[bool], bool),
    ) -> (Option<FieldRef>, Option<Conflict>) {
        let having = |all: bool| {
            let of = |((place, input), counts): ((&Option<usize>, _), &bool)| {
                Some((*place)?).filter(|_| all || *counts).map(|place| (input, place))
            };
            node.places.iter().zip(inputs).zip(counted).filter_map(of).collect::<Vec<(&JoinInput, usize)>>()
        };
        let mut tables = having(false);
        if tables.is_empty() {
            tables = having(true);
        }
        let field = |(input, place): &(&JoinInput, usize)| input.fields.get(*place).cloned().flatten();
        let fields: Vec<Option<FieldRef>> = tables.iter().map(field).collect();
        let Some(first) = fields.iter().flatten().next().cloned() else { return (None, None) };
        let name = |at: usize| tables.get(at).map_or("", |(input, _)| input.name.as_str());
        if let Some(split) = fields.iter().position(Option::is_none) {
            let whole = fields.iter().position(Option::is_some).unwrap_or(0);
            let what = format!("is one column in {}, and several in {}", name(whole), name(split));
            return (Some(first), Some(Conflict { what, widens: false }));
        }
        let fields: Vec<FieldRef> = fields.into_iter().flatten().collect();
        if let Some(joined) = (Rule { join: self, widens }).field(&fields, 0) {
            return (Some(Arc::new(joined)), None);
        }
        let pair = |at: &usize| {
            fields.get(*at).is_some_and(|other| {
                Rule { join: self, widens }.field(&[Arc::clone(&first), Arc::clone(other)], 0).is_none()
            })
        };
        let other = (1..fields.len()).find(pair).unwrap_or(1);
        let [ours, theirs] = types(&first, fields.get(other).unwrap_or(&first));
        let what = format!("is {ours} in {}, and {theirs} in {}", name(0), name(other));
        let widens = Rule { join: self, widens: true }.field(&fields, 0).is_some();
        (Some(first), Some(Conflict { what, widens }))
    }
}

/// The nodes of all tables, matched by their names and those of the nodes above them.
fn matched(inputs: &[JoinInput]) -> Vec<JoinedNode> {
    let mut nodes: Vec<JoinedNode> = Vec::new();
    let mut known: HashMap<Place, usize> = HashMap::new();
    for (number, input) in inputs.iter().enumerate() {
        let mut map: Vec<usize> = Vec::with_capacity(input.nodes.len());
        let mut seen: HashMap<(Option<usize>, &str), usize> = HashMap::new();
        for (index, node) in input.nodes.iter().enumerate() {
            if input.only_top && node.parent.is_some() {
                map.push(usize::MAX);
                continue;
            }
            let parent = node.parent.and_then(|parent| map.get(parent).copied());
            let nth = seen.entry((parent, &node.name)).or_default();
            let at = *known.entry((parent, node.name.clone(), *nth)).or_insert_with(|| {
                let node = Node { parent, ..node.clone() };
                nodes.push(JoinedNode { node, field: None, places: vec![None; inputs.len()], conflict: None });
                nodes.len() - 1
            });
            *nth += 1;
            map.push(at);
            if let Some(place) = nodes.get_mut(at).and_then(|node| node.places.get_mut(number)) {
                *place = Some(index);
            }
        }
    }
    nodes
}

/// The paths of the nodes that a table lacks, and a text that names tables.
fn texts_of_lacking(nodes: &[JoinedNode], lacking: &[Option<usize>], inputs: &[JoinInput]) -> Vec<(String, String)> {
    let text = |(at, lacking): (usize, &Option<usize>)| {
        let lacks = &inputs.get((*lacking)?)?.name;
        let has = &inputs.get(nodes.get(at)?.places.iter().position(Option::is_some)?)?.name;
        let path = joined_path(nodes, at);
        let text = format!("{path} is in {has}, and not in {lacks}");
        Some((path, text))
    };
    lacking.iter().enumerate().filter_map(text).collect()
}

/// Refuses tables whose columns differ.
fn refuse(nodes: &[JoinedNode], lacking: &[Option<usize>], inputs: &[JoinInput]) -> Result<()> {
    let mut texts: Vec<String> = texts_of_lacking(nodes, lacking, inputs).into_iter().map(|(_, text)| text).collect();
    let conflict =
        |(at, node): (usize, &JoinedNode)| Some(format!("{} {}", joined_path(nodes, at), node.conflict.as_ref()?.what));
    texts.extend(nodes.iter().enumerate().filter_map(conflict));
    match texts.is_empty() {
        true => Ok(()),
        false => Err(Error::differs(format!("the columns of the files differ: {}", named(&texts)))),
    }
}

/// Leaves out the nodes that a table lacks.
fn leave_out(nodes: &mut Vec<JoinedNode>, lacking: &[Option<usize>]) {
    let mut places: Vec<Option<usize>> = Vec::with_capacity(nodes.len());
    let mut kept: Vec<JoinedNode> = Vec::with_capacity(nodes.len());
    for (mut node, lacking) in std::mem::take(nodes).into_iter().zip(lacking) {
        let parent = node.node.parent.map(|parent| places.get(parent).copied().flatten());
        if lacking.is_some() || parent == Some(None) {
            places.push(None);
            continue;
        }
        node.node.parent = parent.flatten();
        places.push(Some(kept.len()));
        kept.push(node);
    }
    *nodes = kept;
}

/// The names of a node and of those above it, from the top, with dots between them.
pub fn joined_path(nodes: &[JoinedNode], node: usize) -> String {
    let mut names = Vec::new();
    let mut at = Some(node);
    while let Some(node) = at.and_then(|at| nodes.get(at)) {
        names.push(node.node.name.as_str());
        at = node.node.parent;
    }
    names.reverse();
    names.join(".")
}

/// The types of two columns as text: of C++, where these differ.
fn types(ours: &Field, theirs: &Field) -> [String; 2] {
    let cpp = [ours, theirs].map(|field| field.metadata().get("typename").cloned().unwrap_or_default());
    if cpp[0] != cpp[1] && cpp.iter().all(|name| !name.is_empty()) {
        return cpp;
    }
    [ours, theirs].map(|field| field.data_type().to_string())
}

/// How the types of values come together.
#[derive(Clone, Copy)]
struct Rule {
    join: Join,
    widens: bool,
}

impl Rule {
    /// The field that holds the values of all of these; none if there is none.
    fn field(self, fields: &[FieldRef], depth: usize) -> Option<Field> {
        let (first, rest) = fields.split_first()?;
        if rest.iter().any(|other| other.is_nullable() != first.is_nullable()) {
            return None;
        }
        let types: Vec<&DataType> = fields.iter().map(|field| field.data_type()).collect();
        let joined = self.data_type(&types, depth)?;
        Some(first.as_ref().clone().with_data_type(joined))
    }

    fn data_type(self, types: &[&DataType], depth: usize) -> Option<DataType> {
        let (&first, rest) = types.split_first()?;
        if rest.iter().all(|other| *other == first) {
            return Some(first.clone());
        }
        match first {
            _ if depth > MAX_DEPTH => None,
            DataType::LargeList(_) => {
                let items = types.iter().map(|other| match other {
                    DataType::LargeList(item) => Some(Arc::clone(item)),
                    _ => None,
                });
                let item = self.field(&items.collect::<Option<Vec<_>>>()?, depth + 1)?;
                Some(DataType::LargeList(Arc::new(item)))
            }
            DataType::FixedSizeList(_, size) => {
                let items = types.iter().map(|other| match other {
                    DataType::FixedSizeList(item, other) if other == size => Some(Arc::clone(item)),
                    _ => None,
                });
                let item = self.field(&items.collect::<Option<Vec<_>>>()?, depth + 1)?;
                Some(DataType::FixedSizeList(Arc::new(item), *size))
            }
            DataType::Struct(_) => self.record(types, depth),
            _ if self.widens => widen::joined(types),
            _ => None,
        }
    }

    /// The record with the members of all records, or with those that all have, in the order of the first that has them.
    fn record(self, types: &[&DataType], depth: usize) -> Option<DataType> {
        let records = types.iter().map(|other| match other {
            DataType::Struct(members) => Some(members),
            _ => None,
        });
        let records = records.collect::<Option<Vec<_>>>()?;
        let mut members: Vec<(&str, Vec<FieldRef>)> = Vec::new();
        for member in records.iter().flat_map(|record| record.iter()) {
            match members.iter_mut().find(|(name, _)| *name == member.name()) {
                Some((_, known)) => known.push(Arc::clone(member)),
                None => members.push((member.name(), vec![Arc::clone(member)])),
            }
        }
        match self.join {
            Join::Strict if members.iter().any(|(_, known)| known.len() != records.len()) => return None,
            Join::Common => members.retain(|(_, known)| known.len() == records.len()),
            _ => {}
        }
        let joined = members.iter().map(|(_, known)| self.field(known, depth + 1).map(Arc::new));
        let joined = joined.collect::<Option<Vec<_>>>()?;
        (!joined.is_empty()).then(|| DataType::Struct(joined.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: DataType = DataType::Int32;
    const REAL: DataType = DataType::Float32;

    fn record(members: &[(&str, DataType)]) -> DataType {
        DataType::Struct(members.iter().map(|(name, of)| Field::new(*name, of.clone(), false)).collect())
    }

    fn list(item: DataType) -> DataType {
        DataType::LargeList(Arc::new(Field::new("item", item, false)))
    }

    fn input(name: &str, columns: &[(&str, DataType)], is_empty: bool) -> JoinInput {
        let node = |(name, _): &(&str, DataType)| Node {
            name: (*name).to_owned(),
            title: String::new(),
            parent: None,
            type_name: String::new(),
            groups: false,
        };
        let field = |(name, of): &(&str, DataType)| Some(Arc::new(Field::new(*name, of.clone(), false)));
        let (nodes, fields) = (columns.iter().map(node).collect(), columns.iter().map(field).collect());
        JoinInput { name: name.to_owned(), nodes, fields, is_empty, only_top: false }
    }

    /// Names and types of the joined columns; no type where they conflict.
    fn joined(join: Join, widens: bool, inputs: &[JoinInput]) -> Vec<(String, Option<DataType>)> {
        let nodes = join.tables(inputs, widens).unwrap().nodes;
        let of = |node: JoinedNode| {
            let field = node.field.filter(|_| node.conflict.is_none());
            (node.node.name, field.map(|field| field.data_type().clone()))
        };
        nodes.into_iter().map(of).collect()
    }

    #[test]
    fn columns_of_all_or_of_any() {
        let (a, b) = (input("a", &[("x", INT)], false), input("b", &[("x", INT), ("y", REAL)], false));
        let (x, y) = (("x".to_owned(), Some(INT)), ("y".to_owned(), Some(REAL)));
        for inputs in [[a.clone(), b.clone()], [b.clone(), a.clone()]] {
            assert_eq!(joined(Join::Common, false, &inputs), std::slice::from_ref(&x));
            assert_eq!(joined(Join::Fill, false, &inputs), [x.clone(), y.clone()]);
            let error = Join::Strict.tables(&inputs, false).unwrap_err();
            assert!(matches!(error.kind(), rootfile::ErrorKind::Differs(_)));
            assert_eq!(error.to_string(), "the columns of the files differ: y is in b, and not in a");
        }
        assert!(Join::Strict.tables(&[a.clone(), a], false).is_ok());
    }

    #[test]
    fn a_table_without_entries_takes_no_column_away() {
        let (full, empty) = (input("a", &[("x", INT)], false), input("b", &[("x", REAL), ("y", REAL)], true));
        assert_eq!(joined(Join::Common, false, &[empty.clone(), full.clone()]), [("x".to_owned(), Some(INT))]);
        for inputs in
            [[empty.clone(), full.clone()], [full.clone(), empty.clone()], [full.clone(), input("c", &[], true)]]
        {
            assert_eq!(joined(Join::Strict, false, &inputs), [("x".to_owned(), Some(INT))]);
        }
        let both = [("x".to_owned(), Some(INT)), ("y".to_owned(), Some(REAL))];
        assert_eq!(joined(Join::Fill, false, &[full, empty]), both);
    }

    #[test]
    fn types_that_differ_are_conflicts_or_become_wider() {
        let (a, b) =
            (input("a", &[("x", INT), ("y", list(INT))], false), input("b", &[("x", REAL), ("y", INT)], false));
        let inputs = [a, b];
        assert_eq!(joined(Join::Common, false, &inputs), [("x".to_owned(), None), ("y".to_owned(), None)]);
        let wider = ("x".to_owned(), Some(DataType::Float64));
        assert_eq!(joined(Join::Fill, true, &inputs), [wider, ("y".to_owned(), None)]);
        let conflicts: Vec<_> =
            Join::Common.tables(&inputs, false).unwrap().nodes.into_iter().filter_map(|node| node.conflict).collect();
        assert_eq!(conflicts[0], Conflict { what: "is Int32 in a, and Float32 in b".to_owned(), widens: true });
        assert!(!conflicts[1].widens);
    }

    #[test]
    fn members_of_records_at_any_depth() {
        let few = list(record(&[("p", INT), ("q", REAL)]));
        let more = list(record(&[("q", REAL), ("r", INT), ("p", INT)]));
        let (a, b) = (input("a", &[("x", few.clone())], false), input("b", &[("x", more.clone())], false));
        let inputs = [a, b];
        assert_eq!(joined(Join::Common, false, &inputs), [("x".to_owned(), Some(few))]);
        let all = list(record(&[("p", INT), ("q", REAL), ("r", INT)]));
        assert_eq!(joined(Join::Fill, false, &inputs), [("x".to_owned(), Some(all))]);
        assert!(Join::Strict.tables(&inputs, false).is_err());
    }

    #[test]
    fn a_column_here_and_a_group_there_is_a_conflict() {
        let mut whole = input("a", &[("x", record(&[("p", INT)]))], false);
        let mut split = input("b", &[("x", INT), ("p", INT)], false);
        split.fields[0] = None;
        split.nodes[1].parent = Some(0);
        for inputs in [[whole.clone(), split.clone()], [split.clone(), whole.clone()]] {
            for join in [Join::Common, Join::Fill] {
                let nodes = join.tables(&inputs, false).unwrap().nodes;
                assert!(nodes.iter().all(|node| node.conflict.is_some()), "{nodes:?}");
            }
        }
        whole.fields[0] = None;
        assert_eq!(joined(Join::Common, false, &[whole, split]), [("x".to_owned(), None)]);
    }
}
