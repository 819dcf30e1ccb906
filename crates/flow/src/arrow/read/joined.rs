//! The tables of several files as one, joined by what readers see: their columns may differ, and one may be a tree where another is
//! an RNTuple. Where all files have the same columns this is one [`Dataset`]; otherwise each file has its own, whose arrays are
//! brought to the joined types (`joined_part`).

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{FieldRef, Schema, SchemaRef};
use dataset::EntrySet;
use dataset::table::{Conflict, Join, JoinInput, JoinedNode, JoinedNodes, Node, TableColumn, joined_path};
use rootfile::{Error, ErrorKind, FilePool, Follow, Hint, OPEN_FILES, Result, RootFile, public_path};

use super::aliases::{aliases_of, compare_aliases_of};
use super::dataset::{Dataset, Friend};
use super::joined_part::{Part, PartColumn, Pieces};
use super::open::open_files;
use super::request::Request;
use super::run::read;
use crate::execute::progress::tell;
use crate::plan::format::Format;
use crate::plan::inputs::Input;
use crate::plan::options::PlanOptions;
use crate::table::text_list::listed;

/// How the tables of several files become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Joining {
    /// Which columns it has.
    pub join: Join,
    /// Whether numbers of different types come together in the smallest type that holds all of them.
    pub widen: bool,
}

/// The tables of several files as one.
pub struct JoinedTable {
    parts: Vec<Part>,
    /// The joined schema; none of a single part that is as it is in its files.
    joined: Option<Arc<Schemas>>,
    bounds: Vec<u64>,
}

/// The schema of tables that differ.
struct Schemas {
    nodes: Vec<Node>,
    /// For each node the number of its column.
    column_of_node: Vec<Option<usize>>,
    columns: Vec<JoinedColumn>,
    /// The paths of columns that not all files have, and which lack them.
    left_out: Vec<(String, String)>,
}

/// A column of the joined schema.
struct JoinedColumn {
    path: String,
    field: FieldRef,
    conflict: Option<Conflict>,
    /// The columns that count its items in some of the files.
    counters: Vec<usize>,
}

impl JoinedTable {
    /// Opens the tables of some inputs as one, with further trees as friends ([`Dataset::with_friends`]).
    ///
    /// # Errors
    ///
    /// A file cannot be read or has no such table; or under [`Join::Strict`], or with such friends, the tables have other columns
    /// ([`ErrorKind::Differs`]).
    pub fn open(
        inputs: &[Input],
        follow: Follow,
        joining: Joining,
        friends: &[(Option<String>, Vec<Input>)],
    ) -> Result<Self> {
        if are_parquet(inputs)? {
            let each = || inputs.iter().map(of_parquet).collect();
            return Self::of_opened(
                inputs.len(),
                joining,
                friends,
                |_| Dataset::of_whole_parquet(inputs, u64::MAX),
                each,
            );
        }
        let files = open_files(inputs, follow)?;
        let each = || inputs.iter().zip(&files).map(|(input, file)| of_file(input, file)).collect();
        let as_one = |options| Dataset::of_opened(inputs, files.clone(), options);
        Self::of_opened(inputs.len(), joining, friends, as_one, each)
    }

    /// The tables of so many inputs. `open` opens them as one, and `each` one by one.
    fn of_opened(
        inputs: usize,
        joining: Joining,
        friends: &[(Option<String>, Vec<Input>)],
        open: impl FnOnce(PlanOptions) -> Result<Dataset>,
        each: impl FnOnce() -> Result<Vec<Dataset>>,
    ) -> Result<Self> {
        let as_one = match joining.join {
            // Columns that differ in type are errors where they are read, and not left out.
            Join::Common => Join::Strict,
            other => other,
        };
        let options = PlanOptions { schema: as_one, widen: joining.widen, is_read: true, ..PlanOptions::default() };
        let why = match open(options) {
            // An empty file takes no column away where others have entries, so nothing has compared them.
            Ok(opened) if opened.entries() == 0 && inputs > 1 => {
                let datasets = each()?;
                if are_alike(&datasets) {
                    return opened.with_friends(friends).map(Self::from);
                }
                return match (joining.join, friends) {
                    (Join::Strict, _) => match refusal(&datasets, joining.widen) {
                        Some(why) => Err(why),
                        None => opened.with_friends(friends).map(Self::from),
                    },
                    (_, []) => Self::of_differing(datasets, joining),
                    _ => Err(friends_need_the_same()),
                };
            }
            Ok(opened) => return opened.with_friends(friends).map(Self::from),
            Err(why) => why,
        };
        match (why.kind(), joining.join) {
            (ErrorKind::Differs(_), Join::Strict) => Err(refusal(&each()?, joining.widen).unwrap_or(why)),
            (ErrorKind::Differs(_), _) if !friends.is_empty() => Err(friends_need_the_same()),
            // Where a tree cannot be filled in, arrays can.
            (ErrorKind::Differs(_), _) | (ErrorKind::Request(_), Join::Fill) if inputs > 1 && friends.is_empty() => {
                Self::of_differing(each()?, joining)
            }
            _ => Err(why),
        }
    }

    /// Opens the table of each input by itself, all with the columns that they have as one: for readers of one file after the other.
    ///
    /// # Errors
    ///
    /// As for [`JoinedTable::open`].
    pub fn open_each(inputs: &[Input], follow: Follow, joining: Joining) -> Result<Vec<Self>> {
        let is_parquet = are_parquet(inputs)?;
        let pool = FilePool::following(OPEN_FILES, follow);
        let (mut files, mut datasets) = (Vec::with_capacity(inputs.len()), Vec::with_capacity(inputs.len()));
        for input in inputs {
            if is_parquet {
                datasets.push(of_parquet(input)?);
                continue;
            }
            let file = Arc::new(pool.open(&input.path)?);
            datasets.push(of_file(input, &file)?);
            files.push(file);
        }
        compare_aliases_of(&mut datasets);
        if are_alike(&datasets) {
            return Ok(datasets.into_iter().map(Self::from).collect());
        }
        let as_one = |options| match is_parquet {
            true => Dataset::of_whole_parquet(inputs, u64::MAX),
            false => Dataset::of_opened(inputs, files, options),
        };
        let table = Self::of_opened(inputs.len(), joining, &[], as_one, || Ok(datasets))?;
        let each = table.parts.iter().flat_map(Part::each_file);
        Ok(each.map(|part| Self::new(vec![part], table.joined.clone())).collect())
    }

    /// Joins tables that differ.
    fn of_differing(mut datasets: Vec<Dataset>, joining: Joining) -> Result<Self> {
        let JoinedNodes { nodes, left_out } = joining.join.tables(&join_inputs(&datasets), joining.widen)?;
        let schemas = Schemas::of(&nodes, &datasets, left_out);
        compare_aliases_of(&mut datasets);
        let mut parts = Vec::with_capacity(datasets.len());
        let mut first_entry = 0u64;
        for (number, dataset) in datasets.into_iter().enumerate() {
            let places: Vec<Option<usize>> =
                nodes.iter().map(|node| node.places.get(number).copied().flatten()).collect();
            let part = Part::new(dataset, first_entry, &schemas.part_columns(&places))?;
            first_entry = part.end();
            parts.push(part);
        }
        Ok(Self::new(parts, Some(Arc::new(schemas))))
    }

    fn new(parts: Vec<Part>, joined: Option<Arc<Schemas>>) -> Self {
        let mut bounds: Vec<u64> = Vec::new();
        for part in &parts {
            bounds.extend(part.clusters());
        }
        bounds.push(parts.last().map_or(0, Part::end));
        Self { parts, joined, bounds }
    }

    /// The first of its tables, which has names, titles and metadata.
    pub fn first(&self) -> Option<&Dataset> {
        self.parts.first().map(|part| &*part.dataset)
    }

    /// Its tables: one of all files where they have the same columns, else one of each.
    pub fn datasets(&self) -> impl Iterator<Item = &Dataset> {
        self.parts.iter().map(|part| &*part.dataset)
    }

    /// The only table, if all files have the same columns: that of a single data set, whose friends can be read beside it.
    pub fn alike(&self) -> Option<&Dataset> {
        self.first().filter(|_| self.joined.is_none())
    }

    /// The data set that has just its entries and columns, if there is one.
    pub fn as_one(&self) -> Option<&Dataset> {
        self.alike().filter(|_| self.parts.iter().all(Part::is_whole))
    }

    /// Names and formulas of the aliases that all files have alike.
    pub fn aliases(&self) -> Vec<(String, String)> {
        let mut aliases = self.first().map_or_else(Vec::new, aliases_of);
        aliases.retain(|(name, _)| self.alias_conflict(name).is_none());
        aliases
    }

    /// What an alias is in the files, if it is not the same in all.
    pub fn alias_conflict(&self, name: &str) -> Option<&str> {
        self.first()?.alias_conflict(name)
    }

    /// Whether all files have the same aliases.
    pub fn shares_aliases(&self) -> bool {
        self.first().is_none_or(|first| first.alias_conflicts.is_empty())
    }

    /// The friends, if all files have the same columns.
    pub fn friends(&self) -> &[Friend] {
        self.alike().map_or(&[], Dataset::friends)
    }

    /// All nodes, each behind the one above it, and the numbers of their columns.
    pub fn nodes(&self) -> Vec<(Node, Option<usize>)> {
        match (&self.joined, self.first()) {
            (Some(joined), _) => joined.nodes.iter().cloned().zip(joined.column_of_node.iter().copied()).collect(),
            (None, Some(first)) => first.schema().nodes().into_iter().zip(first.column_of_each_node()).collect(),
            (None, None) => Vec::new(),
        }
    }

    /// For each of the joined columns its names, from its own to that of the node at the top above it, and its number.
    pub(super) fn joined_lineages(&self) -> Vec<(Vec<&str>, usize)> {
        let Some(Schemas { nodes, column_of_node, .. }) = self.joined.as_deref() else { return Vec::new() };
        let above = |node: &&Node| node.parent.and_then(|parent| nodes.get(parent));
        let names = |node| std::iter::successors(Some(node), above).map(|node| node.name.as_str()).collect();
        nodes.iter().zip(column_of_node).filter_map(|(node, column)| Some((names(node), (*column)?))).collect()
    }

    /// The Arrow field of a column.
    pub fn field(&self, column: usize) -> Option<&FieldRef> {
        match &self.joined {
            Some(joined) => joined.columns.get(column).map(|column| &column.field),
            None => self.first()?.column(column).map(TableColumn::field),
        }
    }

    /// Why there is no column of a path, if some files have one and others do not.
    pub fn left_out(&self, path: &str) -> Option<&str> {
        let found = self.joined.as_ref()?.left_out.iter().find(|(known, _)| known == path)?;
        Some(&found.1)
    }

    /// Entries of all files.
    pub fn entries(&self) -> u64 {
        self.parts.last().map_or(0, Part::end)
    }

    /// First entry of each cluster, and at the end the number of entries.
    pub fn clusters(&self) -> &[u64] {
        &self.bounds
    }

    /// Bytes of a column before compression, by the metadata.
    pub fn bytes(&self, column: usize) -> u64 {
        self.parts.iter().map(|part| part.bytes(column)).fold(0, u64::saturating_add)
    }

    /// How many of all entries a column holds; those that are filled in count.
    pub fn held(&self, column: usize) -> u64 {
        self.parts.iter().map(|part| part.held(column)).sum()
    }

    /// The entry up to which a column holds all entries from `start` on, as [`Dataset::held_until`].
    pub fn held_until(&self, column: usize, start: u64) -> u64 {
        for part in self.parts.iter().rev() {
            let until = part.held_until(column, start);
            if until == part.end() && until > part.first_entry {
                break;
            }
            if until > part.first_entry {
                let is_whole = until <= start || self.missing(column, &(start..until), None).is_none();
                return if is_whole { until } else { self.entries() };
            }
        }
        self.entries()
    }

    /// The first of these entries that a column does not hold, as [`Dataset::missing`].
    pub fn missing(&self, column: usize, entries: &Range<u64>, selection: Option<&EntrySet>) -> Option<u64> {
        self.parts.iter().find_map(|part| part.missing(column, entries, selection))
    }

    /// What the user is told when these columns are read, as [`Dataset::remarks`].
    pub fn remarks(&self, columns: &[usize]) -> Vec<String> {
        let of = |part: &Part| {
            let here: Vec<usize> = columns.iter().filter_map(|&column| part.column(column)).collect();
            part.dataset.remarks(&here)
        };
        self.parts.iter().flat_map(of).collect()
    }

    /// Why a column is not decoded in one of the files; none if it is decoded.
    pub fn opaque(&self, column: usize) -> Option<&str> {
        self.parts.iter().find_map(|part| part.dataset.column(part.column(column)?)?.opaque())
    }

    /// The fields of some columns.
    ///
    /// # Errors
    ///
    /// If there is no such column, or if its values in the files are of different types ([`ErrorKind::Differs`]).
    pub fn schema_of(&self, columns: &[usize]) -> Result<SchemaRef> {
        if let Some(joined) = &self.joined {
            let differs = |&column: &usize| {
                let column = joined.columns.get(column)?;
                Some((format!("{} {}", column.path, column.conflict.as_ref()?.what), column.conflict.as_ref()?.widens))
            };
            let found: Vec<(String, bool)> = columns.iter().filter_map(differs).collect();
            if !found.is_empty() {
                let texts: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
                let widen = found.iter().all(|(_, widens)| *widens).then(Join::widening);
                let clause = widen.iter().map(|widen| format!("; {}", widen.clause())).collect::<String>();
                let message = format!("the files differ: {} (other columns can be read{clause})", listed(&texts));
                return Err(widen.into_iter().fold(Error::differs(message), Error::hint));
            }
        }
        let field = |&column: &usize| self.field(column).cloned().ok_or_else(|| Error::request("no such column"));
        Ok(Arc::new(Schema::new(columns.iter().map(field).collect::<Result<Vec<_>>>()?)))
    }

    /// Reads a request.
    ///
    /// # Errors
    ///
    /// As for [`JoinedTable::schema_of`]; and if entries cannot be read, or if the budget does not suffice.
    pub fn read(&self, request: &Request<'_>) -> Result<RecordBatch> {
        if let Some(dataset) = self.as_one() {
            return read(dataset, request).map(|read| read.batch);
        }
        let entries = request.entries(self.entries());
        let mut pieces = Pieces::new(self.schema_of(&request.columns)?);
        for part in self.parts.iter().filter(|part| !part.within(&entries).is_empty()) {
            let found = read(&part.dataset, &part.request(request, &entries))?;
            pieces.add(part, &request.columns, &found)?;
            tell(request.progress, part.filled(&request.columns).saturating_mul(found.batch.num_rows() as u64))?;
        }
        pieces.finish().map(|read| read.batch)
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }
}

impl From<Dataset> for JoinedTable {
    fn from(dataset: Dataset) -> Self {
        let bounds = dataset.clusters().to_vec();
        Self { parts: vec![Part::whole(Arc::new(dataset))], joined: None, bounds }
    }
}

impl Schemas {
    fn of(nodes: &[JoinedNode], datasets: &[Dataset], left_out: Vec<(String, String)>) -> Self {
        let mut columns: Vec<JoinedColumn> = Vec::new();
        let mut column_of_node = Vec::with_capacity(nodes.len());
        for (at, node) in nodes.iter().enumerate() {
            column_of_node.push(node.field.as_ref().map(|field| {
                let (path, conflict) = (joined_path(nodes, at), node.conflict.clone());
                columns.push(JoinedColumn { path, field: Arc::clone(field), conflict, counters: Vec::new() });
                columns.len() - 1
            }));
        }
        for (number, dataset) in datasets.iter().enumerate() {
            let place = |node: &JoinedNode| node.places.get(number).copied().flatten();
            let columns_here = nodes.iter().map(place).zip(column_of_node.iter().copied());
            let columns_here: HashMap<usize, usize> =
                columns_here.filter_map(|(place, column)| Some((place?, column?))).collect();
            for (place, column) in &columns_here {
                let counter = dataset.schema().counter(*place).and_then(|counter| columns_here.get(&counter));
                let (Some(counter), Some(column)) = (counter, columns.get_mut(*column)) else { continue };
                if !column.counters.contains(counter) {
                    column.counters.push(*counter);
                }
            }
        }
        Self { nodes: nodes.iter().map(|node| node.node.clone()).collect(), column_of_node, columns, left_out }
    }

    /// Where a table whose nodes are at these places has the columns.
    fn part_columns(&self, places: &[Option<usize>]) -> Vec<PartColumn> {
        let column = |column: &JoinedColumn| PartColumn { node: None, counters: column.counters.clone() };
        let mut columns: Vec<PartColumn> = self.columns.iter().map(column).collect();
        for (column, place) in self.column_of_node.iter().zip(places) {
            if let Some(column) = column.and_then(|column| columns.get_mut(column)) {
                column.node = *place;
            }
        }
        columns
    }
}

/// The table of an input whose file is open.
pub(super) fn of_file(input: &Input, file: &Arc<RootFile>) -> Result<Dataset> {
    let options = PlanOptions { is_read: true, ..PlanOptions::default() };
    Dataset::of_opened(std::slice::from_ref(input), vec![Arc::clone(file)], options)
}

/// The table of an input that is a Parquet file.
pub(super) fn of_parquet(input: &Input) -> Result<Dataset> {
    Dataset::of_whole_parquet(std::slice::from_ref(input), u64::MAX)
}

pub(super) fn are_parquet<'a>(inputs: impl IntoIterator<Item = &'a Input>) -> Result<bool> {
    Format::are_parquet(inputs.into_iter().map(|input| input.path.as_path()))
}

fn friends_need_the_same() -> Error {
    Error::differs("friends are read beside files with the same columns, and those of the files differ")
}

/// What is joined of tables.
fn join_inputs(datasets: &[Dataset]) -> Vec<JoinInput> {
    let is_mixed = datasets.windows(2).any(|pair| matches!(pair, [a, b] if a.container() != b.container()));
    datasets.iter().map(|dataset| input(dataset, is_mixed)).collect()
}

/// What is joined of a table. Tables of different containers are joined by their columns at the top.
fn input(dataset: &Dataset, is_mixed: bool) -> JoinInput {
    let name = dataset.paths().first().map_or(Path::new(""), |path| path.as_path());
    let name = public_path(name).display().to_string();
    let is_empty = dataset.entries() == 0;
    JoinInput { only_top: is_mixed, ..JoinInput::new(name, dataset.schema(), dataset.columns(), is_empty) }
}

/// Whether all tables have the same columns under the same names.
fn are_alike(datasets: &[Dataset]) -> bool {
    datasets.windows(2).all(|pair| matches!(pair, [a, b] if have_same_columns(a, b)))
}

/// Whether two tables have the same columns under the same names.
pub(super) fn have_same_columns(a: &Dataset, b: &Dataset) -> bool {
    let types = |dataset: &Dataset| -> Vec<Option<FieldRef>> {
        let field = |column: Option<usize>| Some(Arc::clone(dataset.column(column?)?.field()));
        dataset.column_of_each_node().into_iter().map(field).collect()
    };
    let name = |node: Node| (node.name, node.parent);
    let (ours, theirs) = (a.schema().nodes(), b.schema().nodes());
    let same_type = |(a, b): (Option<FieldRef>, Option<FieldRef>)| match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.data_type() == b.data_type() && a.is_nullable() == b.is_nullable(),
        _ => false,
    };
    a.container() == b.container()
        && ours.len() == theirs.len()
        && ours.into_iter().map(name).eq(theirs.into_iter().map(name))
        && types(a).into_iter().zip(types(b)).all(same_type)
}

/// The error for tables whose columns differ, with the ways out that help; none if they are the same to readers.
fn refusal(datasets: &[Dataset], widens: bool) -> Option<Error> {
    let inputs = join_inputs(datasets);
    let why = Join::Strict.tables(&inputs, widens).err()?;
    let shared = Join::Common.tables(&inputs, widens).ok()?;
    let conflicts: Vec<&Conflict> = shared.nodes.iter().filter_map(|node| node.conflict.as_ref()).collect();
    let mut ways = Vec::new();
    if conflicts.iter().any(|conflict| conflict.widens) {
        ways.push(Join::widening());
    }
    // Columns of other types are no more readable under another join.
    if conflicts.is_empty() || !shared.left_out.is_empty() {
        ways.push(Hint::text("join", "common").that("keeps the branches that all inputs have"));
        ways.push(Hint::text("join", "fill").that("fills in missing ones"));
    }
    let clauses = ways.iter().map(|way| format!("; {}", way.clause())).collect::<String>();
    let advice = "open them one by one, or merge them first";
    let message = format!("{} ({advice}{clauses})", why.message(ToString::to_string));
    Some(ways.into_iter().fold(Error::differs(message), Error::hint))
}
