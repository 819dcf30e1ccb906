//! A data set, and reading from it.

use std::collections::{HashMap, HashSet};
use std::ffi::{CString, OsString};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_schema::{FieldRef, SchemaRef};
use dataset::EntrySet;
use dataset::ntuple::read_ntuple;
use dataset::table::catalog::tables;
use dataset::table::{Join, Node, TableSchema};
use dataset::tree::read_tree;
use flow::convert::Format;
use flow::inputs::Input;
use flow::read::{BatchSize, Dataset, Friend, JoinedTable, Joining};
use flow::{Remembering, passable};
use lab::inspect::ntuple::report::FieldReport;
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::{PyErr, PyResult, Python, pyclass, pyfunction, pymethods};
use rootfile::text::printable;
use rootfile::{Error, Follow, RootFile};

use crate::buffer::Memory;
use crate::errors::{exception, keyword};
use crate::expressions::{self, Understood};
use crate::interrupt::{Told, Watch, listening, telling};
use crate::read_batch::ReadBatch;
use crate::request::{ReadRequest, Reading};
use crate::steps::Steps;
use crate::type_text::type_text;

/// The trees or RNTuples of one or more files, as one table.
#[pyclass(frozen, module = "basketry._core")]
pub struct Table {
    table: Arc<JoinedTable>,
    /// What the user was told already.
    said: Mutex<HashSet<String>>,
    /// The branches at the top by their names.
    top: OnceLock<HashMap<String, TopBranch>>,
}

impl Table {
    /// Of a table that is open.
    pub fn of(table: JoinedTable) -> Self {
        Self { table: Arc::new(table), said: Mutex::default(), top: OnceLock::new() }
    }

    /// Warns of files outside of the folders of those that name them, before these columns are read.
    fn warn(&self, py: Python<'_>, columns: &[usize]) -> PyResult<()> {
        let (table, columns) = (Arc::clone(&self.table), columns.to_vec());
        self.say(py, listening(py, move |_: &Watch| Ok(table.remarks(&columns)))?)
    }

    /// The first of its files, which has names, titles and metadata.
    fn first(&self) -> PyResult<&Dataset> {
        self.table.first().ok_or_else(|| exception(Error::request("no input")))
    }

    /// Warns, of each once.
    fn say(&self, py: Python<'_>, remarks: Vec<String>) -> PyResult<()> {
        for remark in remarks {
            let text = CString::new(remark.replace('\0', "")).unwrap_or_default();
            if self.said.lock().unwrap_or_else(PoisonError::into_inner).insert(remark) {
                PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)?;
            }
        }
        Ok(())
    }
}

/// A branch: its name, its parent, its type, its column, the type of the column, and its title.
type BranchLine = (String, Option<usize>, String, Option<usize>, String, String);

/// A branch at the top: its number, its column, and whether others are below it.
type TopBranch = (usize, Option<usize>, bool);

/// A friend: its name, its branches, and the error if it cannot be read.
type FriendLine = (String, Vec<BranchLine>, Option<String>);

/// Files, each with the tree in it if one is named.
pub type Inputs = Vec<(PathBuf, Option<String>)>;

/// Files as the other crates take them.
pub fn inputs(inputs: Inputs) -> Vec<Input> {
    inputs.into_iter().map(|(path, tree)| Input { path, tree }).collect()
}

/// The lines of nodes with the numbers of their columns, whose fields a function gives.
fn branch_lines(
    nodes: impl IntoIterator<Item = (Node, Option<usize>)>,
    field: impl Fn(usize) -> Option<FieldRef>,
) -> Vec<BranchLine> {
    let line = |(node, column): (Node, Option<usize>)| {
        // The counter of a split STL collection is redundant with its members; as in uproot the branch is the whole
        // collection.
        let column = column.filter(|_| !node.groups);
        let field = column.and_then(&field);
        let typename = field.as_ref().and_then(|f| f.metadata().get("typename").cloned()).unwrap_or(node.type_name);
        let read_as = field.map_or_else(String::new, |field| type_text(&field));
        (node.name, node.parent, typename, column, read_as, node.title)
    };
    nodes.into_iter().map(line).collect()
}

/// The first branch of each name at the top.
fn top_branches(nodes: &[(Node, Option<usize>)]) -> HashMap<String, TopBranch> {
    let mut has_below = vec![false; nodes.len()];
    for parent in nodes.iter().filter_map(|(node, _)| node.parent) {
        if let Some(parent) = has_below.get_mut(parent) {
            *parent = true;
        }
    }
    let mut top = HashMap::new();
    for (number, ((node, column), below)) in nodes.iter().zip(has_below).enumerate() {
        if node.parent.is_none() {
            top.entry(node.name.clone()).or_insert((number, column.filter(|_| !node.groups), below));
        }
    }
    top
}

/// Compression setting, bytes of baskets before compression and on disk, and the first entries of baskets, of a branch.
type StoredLine = (i32, u64, u64, Vec<u64>);

/// The branches, depth first, of the tree whose key lies at an offset of a file. The first entries of their baskets end with the
/// number of entries.
#[pyfunction]
pub fn stored(py: Python<'_>, path: PathBuf, offset: u64) -> PyResult<Vec<StoredLine>> {
    listening(py, move |_| {
        let file = RootFile::open(&path)?;
        let tree = read_tree(&file, &file.key_at(offset)?)?;
        let line = |one: dataset::tree::Branch| {
            let firsts = one.baskets.iter().map(|basket| basket.first_entry).chain([one.entries]).collect();
            (one.compress, one.tot_bytes, one.zip_bytes, firsts)
        };
        Ok(tree.branches.into_iter().map(line).collect())
    })
}

/// Compression setting of most pages of a field and their number; their bytes before compression and on disk; and these with the fields
/// below.
type FieldLine = (i32, u64, (u64, u64), (u64, u64));

/// The fields, by their numbers, of the RNTuple whose anchor's key lies at an offset of a file. Pages that share bytes count once.
#[pyfunction]
pub fn stored_fields(py: Python<'_>, path: PathBuf, offset: u64) -> PyResult<Vec<FieldLine>> {
    listening(py, move |_| {
        let file = RootFile::open(&path)?;
        let tables = tables(&file);
        let table = tables.iter().find(|table| table.key.seek_key == offset);
        let none = || Error::request("has no RNTuple here").file(&path).at(offset);
        let table = table.ok_or_else(none)?;
        let (report, _) = lab::inspect::ntuple::report(
            &file,
            table,
            &read_ntuple(&file, &table.key)?,
            &lab::inspect::Options::default(),
        )?;
        let mut fields = report.fields;
        fields.sort_by_key(|field| field.id);
        let line = |field: FieldReport| {
            let settings = field.columns.iter().flat_map(|column| &column.compression);
            let most = settings.max_by_key(|(_, pages)| **pages).and_then(|(setting, _)| i32::try_from(*setting).ok());
            let all = field.with_subfields;
            (most.unwrap_or(-1), field.pages, (field.tot_bytes, field.zip_bytes), (all.raw_bytes, all.bytes))
        };
        Ok(fields.into_iter().map(line).collect())
    })
}

#[pymethods]
impl Table {
    /// Files and trees, and friends: their names, if they have one, and their files; whether URLs in the files are followed; and how
    /// files whose columns differ are joined.
    #[new]
    #[pyo3(signature = (files, friends = Vec::new(), follow_urls = false, join = "strict", widen = false))]
    fn new(
        py: Python<'_>,
        files: Inputs,
        friends: Vec<(Option<String>, Inputs)>,
        follow_urls: bool,
        join: &str,
        widen: bool,
    ) -> PyResult<Self> {
        let (follow, joining) = (follow_of(follow_urls), joining(join, widen)?);
        let open = move |_: &Watch| {
            let friends: Vec<_> = friends.into_iter().map(|(name, files)| (name, inputs(files))).collect();
            JoinedTable::open(&inputs(files), follow, joining, &friends)
        };
        Ok(Self::of(listening(py, open)?))
    }

    /// A table of each file, all with the columns that they have as one.
    #[staticmethod]
    fn each(py: Python<'_>, files: Inputs, follow_urls: bool, join: &str, widen: bool) -> PyResult<Vec<Self>> {
        let (follow, joining) = (follow_of(follow_urls), joining(join, widen)?);
        let open = move |_: &Watch| JoinedTable::open_each(&inputs(files), follow, joining);
        Ok(listening(py, open)?.into_iter().map(Self::of).collect())
    }

    #[getter]
    fn path(&self) -> PyResult<&str> {
        Ok(self.first()?.path())
    }

    #[getter]
    fn name(&self) -> PyResult<&str> {
        Ok(self.first()?.names().0)
    }

    #[getter]
    fn title(&self) -> PyResult<&str> {
        Ok(self.first()?.names().1)
    }

    /// Its files: their paths, the path of the table in each, and their UUIDs.
    #[getter]
    fn files(&self) -> Vec<(OsString, String, String)> {
        let of = |dataset: &Dataset| {
            let whole = |(input, uuid): (&Input, &String)| {
                let tree = input.tree.clone().unwrap_or_else(|| dataset.path().to_owned());
                (input.path.clone().into_os_string(), tree, uuid.clone())
            };
            dataset.inputs().iter().zip(dataset.uuids()).map(whole).collect::<Vec<_>>()
        };
        self.table.datasets().flat_map(of).collect()
    }

    /// Entries of each of its files.
    #[getter]
    fn entries_by_file(&self) -> Vec<u64> {
        self.table.datasets().flat_map(Dataset::entries_by_file).copied().collect()
    }

    /// Whether it is the table of one file, with just the columns and aliases that the file has.
    #[getter]
    fn is_alone(&self) -> bool {
        self.table.shares_aliases() && self.table.alike().is_some_and(|only| only.inputs().len() == 1)
    }

    /// Whether it is joined of files that have no column in common.
    #[getter]
    fn shares_nothing(&self) -> bool {
        self.table.alike().is_none() && self.table.nodes().iter().all(|(_, column)| column.is_none())
    }

    #[getter]
    fn entries(&self) -> u64 {
        self.table.entries()
    }

    #[getter]
    fn clusters(&self) -> Vec<u64> {
        self.table.clusters().to_vec()
    }

    /// Names and formulas of the aliases that all files have alike, in the order of the list.
    fn aliases(&self) -> Vec<(String, String)> {
        self.table.aliases()
    }

    /// What an alias is in the files, if it is not the same in all.
    fn alias_conflict(&self, name: &str) -> Option<&str> {
        self.table.alias_conflict(name)
    }

    /// What it is: "tree", "ntuple", or "parquet".
    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        Ok(match self.first()?.schema() {
            TableSchema::Tree(_) => "tree",
            TableSchema::Ntuple { .. } => "ntuple",
            TableSchema::Plain { .. } => "parquet",
        })
    }

    /// All branches, depth first, or all fields.
    fn branches(&self) -> Vec<BranchLine> {
        branch_lines(self.table.nodes(), |column| self.table.field(column).cloned())
    }

    /// The first branch of this name at the top: its number, its column, and whether others are below it.
    fn top(&self, name: &str) -> Option<TopBranch> {
        self.top.get_or_init(|| top_branches(&self.table.nodes())).get(name).copied()
    }

    /// The branch of a number.
    fn branch(&self, number: usize) -> Option<BranchLine> {
        let node = self.table.nodes().into_iter().nth(number);
        branch_lines(node, |column| self.table.field(column).cloned()).pop()
    }

    /// The names of all friends. None is opened.
    fn friend_names(&self) -> Vec<String> {
        self.table.alike().map_or_else(Vec::new, Dataset::friend_names)
    }

    /// All friends, opened.
    fn friends(&self, py: Python<'_>) -> PyResult<Vec<FriendLine>> {
        let table = Arc::clone(&self.table);
        let friends = move |_: &Watch| {
            let field = |column: usize| table.field(column).cloned();
            let line = |friend: &Friend| match friend.schema() {
                Ok(schema) => {
                    let nodes = schema.nodes().into_iter().zip(friend.column_of_each_node());
                    (friend.name().to_owned(), branch_lines(nodes, field), None)
                }
                Err(why) => (friend.name().to_owned(), Vec::new(), Some(why.text(keyword))),
            };
            let remarks: Vec<String> = table.friends().iter().flat_map(Friend::remarks).cloned().collect();
            Ok((table.friends().iter().map(line).collect(), remarks))
        };
        let (lines, remarks) = listening(py, friends)?;
        self.say(py, remarks)?;
        Ok(lines)
    }

    /// Why there is no column of a path, if some files have one and others do not.
    fn left_out(&self, path: &str) -> Option<&str> {
        self.table.left_out(&path.replace('/', "."))
    }

    /// Why a column holds bytes only, if so.
    fn opaque(&self, column: usize) -> Option<&str> {
        self.table.opaque(column)
    }

    /// The entry up to which each of these columns holds all entries from `start` on, if it holds none behind.
    fn held_until(&self, columns: Vec<usize>, start: u64) -> Vec<u64> {
        columns.into_iter().map(|column| self.table.held_until(column, start)).collect()
    }

    /// The types of the arrays of these columns. Those whose types differ in the files are a `SchemaDiffers`.
    fn types(&self, columns: Vec<usize>) -> PyResult<Vec<String>> {
        let schema = self.table.schema_of(&columns).map_err(exception)?;
        Ok(schema.fields().iter().map(|field| type_text(field)).collect())
    }

    /// Whether another table has the same columns and aliases.
    fn is_like(&self, other: &Self) -> bool {
        self.table.is_like(&other.table)
    }

    /// Closes its files. What is read next opens them again.
    fn release(&self) {
        self.table.release();
    }

    /// Bytes of these columns before compression.
    fn bytes(&self, columns: Vec<usize>) -> u64 {
        columns.into_iter().map(|column| self.table.bytes(column)).fold(0, u64::saturating_add)
    }

    /// What a text is in the command's language: see `expressions::meaning`.
    fn meaning(
        &self,
        py: Python<'_>,
        text: String,
        defined: Vec<(String, String)>,
        is_condition: bool,
    ) -> PyResult<Option<Understood>> {
        expressions::meaning(py, Arc::clone(&self.table), text, defined, is_condition)
    }

    /// The numbers of the entries of a reading that pass a condition, whose columns are those of the reading.
    fn passing(
        &self,
        py: Python<'_>,
        reading: Reading,
        text: String,
        defined: Vec<(String, String)>,
    ) -> PyResult<Memory> {
        let request = reading.request(py)?;
        self.warn(py, &request.columns)?;
        expressions::passing(py, Arc::clone(&self.table), request, text, defined)
    }

    /// The values of expressions for the entries of a reading, whose columns are theirs.
    fn values(
        &self,
        py: Python<'_>,
        reading: Reading,
        texts: Vec<String>,
        defined: Vec<(String, String)>,
    ) -> PyResult<ReadBatch> {
        let request = reading.request(py)?;
        self.warn(py, &request.columns)?;
        expressions::values(py, Arc::clone(&self.table), request, texts, defined)
    }

    /// The numbers of the entries of a reading for which a condition over columns by their numbers (`c3 > 5`) may be true, by what is known
    /// of these columns; none if nothing is known that leaves out an entry. Nothing is read.
    fn passable(&self, py: Python<'_>, reading: Reading, text: String) -> PyResult<Option<Memory>> {
        let (table, request) = (Arc::clone(&self.table), reading.request(py)?);
        let find = move |_: &Watch| {
            passable(&*table, &text, request.entries, request.selection.as_ref(), request.budget.memory)
        };
        let numbers =
            |found: EntrySet| Memory(arrow_buffer::Buffer::from_vec(found.all_runs().flatten().collect::<Vec<u64>>()));
        Ok(listening(py, find)?.map(numbers))
    }

    /// Reads it all at once. `told` is told numbers of entries, each once for every column.
    #[pyo3(signature = (reading, told = None))]
    fn read(&self, py: Python<'_>, reading: Reading, told: Told) -> PyResult<ReadBatch> {
        let (table, request) = (Arc::clone(&self.table), reading.request(py)?);
        check(&table, &request).map_err(exception)?;
        self.warn(py, &request.columns)?;
        let read = move |watch: &Watch| {
            let (remembers, tell) = (request.remembers, |entries| watch.tell(entries));
            let request = request.request(&tell);
            let read = table.read(&request)?;
            if remembers {
                Remembering::new(&*table, &request)?.take(&read);
            }
            Ok(read)
        };
        let read = telling(py, &told, read)?;
        Ok(ReadBatch::new(&read))
    }

    /// Reads in steps of a number of entries, or of bytes, or else of clusters.
    fn steps(&self, py: Python<'_>, reading: Reading, entries: Option<u64>, bytes: Option<u64>) -> PyResult<Steps> {
        let request = reading.request(py)?;
        let schema = check(&self.table, &request).map_err(exception)?;
        self.warn(py, &request.columns)?;
        let step = match (entries, bytes) {
            (Some(entries), _) => BatchSize::Entries(entries),
            // One step is in use and the next is being read; add their inputs, and memory that the
            // allocator keeps of earlier ones.
            (None, Some(bytes)) => BatchSize::Bytes(bytes.min(request.budget.memory / 8)),
            (None, None) => BatchSize::Cluster,
        };
        Steps::begin(Arc::clone(&self.table), request, step, schema)
    }
}

/// Whether a file is a Parquet file.
#[pyfunction]
pub fn is_parquet(py: Python<'_>, path: PathBuf) -> PyResult<bool> {
    listening(py, move |_: &Watch| Ok(Format::is_parquet(&path)))
}

/// How far addresses in files are followed.
pub fn follow_of(urls: bool) -> Follow {
    if urls { Follow::Urls } else { Follow::Paths }
}

/// Checks the name of a way to join files.
#[pyfunction]
pub fn check_join(join: &str) -> PyResult<()> {
    joining(join, false).map(|_| ())
}

/// How files whose columns differ are joined, by the name of it.
fn joining(join: &str, widen: bool) -> PyResult<Joining> {
    let join = match join {
        "strict" => Join::Strict,
        "common" => Join::Common,
        "fill" => Join::Fill,
        other => {
            let message = format!("unknown join '{}': choose one of 'strict', 'common', 'fill'", printable(other));
            return Err(PyValueError::new_err(message));
        }
    };
    Ok(Joining { join, widen })
}

/// Checks that the columns can be joined, and that they hold the requested entries: values that no file has are not made up. Returns
/// their schema.
fn check(table: &JoinedTable, request: &ReadRequest) -> Result<SchemaRef, Error> {
    let schema = table.schema_of(&request.columns)?;
    for (&column, field) in request.columns.iter().zip(schema.fields()) {
        let Some(first) = table.missing(column, &request.entries, request.selection.as_ref()) else { continue };
        let (held, all) = (table.held(column), table.entries());
        let mut message = format!("has {held} of {all} entries, and not entry {first}");
        let end = table.held_until(column, request.entries.start);
        if end < all {
            message.push_str(&format!("; read it by itself, or with entry_stop={end}"));
        }
        let path = table.first().map_or("", Dataset::path);
        return Err(Error::request(message).object(format!("branch {} of {path}", field.name())));
    }
    Ok(schema)
}
