//! A data set, and reading from it.

use std::collections::HashSet;
use std::ffi::{CString, OsString};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::{DataType, Field, Schema};
use dataset::table::{Node, TableSchema};
use dataset::tree::read_tree;
use flow::inputs::Input;
use flow::read::{BatchSize, Dataset, Friend, read};
use pyo3::exceptions::PyUserWarning;
use pyo3::{PyErr, PyResult, Python, pyclass, pyfunction, pymethods};
use rootfile::{Error, Follow, RootFile};

use crate::errors::{exception, keyword};
use crate::interrupt::{Told, Watch, listening, telling};
use crate::read_batch::ReadBatch;
use crate::request::{ReadRequest, Reading};
use crate::steps::Steps;

/// The trees or RNTuples of one or more files, as one table.
#[pyclass(frozen, module = "basketry._core")]
pub struct Table {
    dataset: Arc<Dataset>,
    /// What the user was told already.
    said: Mutex<HashSet<String>>,
}

impl Table {
    /// Warns of files outside of the folders of those that name them, before these columns are read.
    fn warn(&self, py: Python<'_>, columns: &[usize]) -> PyResult<()> {
        let (dataset, columns) = (Arc::clone(&self.dataset), columns.to_vec());
        self.say(py, listening(py, move |_: &Watch| Ok(dataset.remarks(&columns)))?)
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

/// A friend: its name, its branches, and the error if it cannot be read.
type FriendLine = (String, Vec<BranchLine>, Option<String>);

/// Files, each with the tree in it if one is named.
type Inputs = Vec<(PathBuf, Option<String>)>;

fn inputs(inputs: Inputs) -> Vec<Input> {
    inputs.into_iter().map(|(path, tree)| Input { path, tree }).collect()
}

/// A type as short text, in awkward's notation.
fn type_text(field: &Field) -> String {
    let words = match field.data_type() {
        DataType::LargeList(item) => format!("var * {}", type_text(item)),
        DataType::FixedSizeList(item, size) => format!("{size} * {}", type_text(item)),
        DataType::LargeUtf8 => "string".to_owned(),
        DataType::LargeBinary => "bytes".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::Struct(fields) => {
            let parts: Vec<_> = fields.iter().map(|part| format!("{}: {}", part.name(), type_text(part))).collect();
            format!("{{{}}}", parts.join(", "))
        }
        DataType::Union(parts, _) => {
            let parts: Vec<_> = parts.iter().filter(|(id, _)| *id > 0).map(|(_, part)| type_text(part)).collect();
            format!("union[{}]", parts.join(", "))
        }
        other => format!("{other:?}").to_lowercase(),
    };
    if field.is_nullable() { format!("?{words}") } else { words }
}

/// All nodes of a schema with their column numbers in the data set.
fn branch_lines(dataset: &Dataset, schema: &TableSchema, columns: &[Option<usize>]) -> Vec<BranchLine> {
    let line = |(index, node): (usize, Node)| {
        // The counter of a split STL collection is redundant with its members; as in uproot the branch is the whole
        // collection.
        let column = columns.get(index).copied().flatten().filter(|_| !node.groups);
        let plan = column.and_then(|c| dataset.column(c));
        let typename = plan.and_then(|p| p.field().metadata().get("typename").cloned()).unwrap_or(node.type_name);
        let read_as = plan.map_or_else(String::new, |plan| type_text(plan.field()));
        (node.name, node.parent, typename, column, read_as, node.title)
    };
    schema.nodes().into_iter().enumerate().map(line).collect()
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

#[pymethods]
impl Table {
    /// Files and trees, and friends: their names, if they have one, and their files; and whether URLs in the files are followed.
    #[new]
    #[pyo3(signature = (files, friends = Vec::new(), follow_urls = false))]
    fn new(py: Python<'_>, files: Inputs, friends: Vec<(Option<String>, Inputs)>, follow_urls: bool) -> PyResult<Self> {
        let follow = if follow_urls { Follow::Urls } else { Follow::Paths };
        let open = move |_: &Watch| {
            let friends: Vec<_> = friends.into_iter().map(|(name, files)| (name, inputs(files))).collect();
            Dataset::open_following(&inputs(files), follow)?.with_friends(&friends)
        };
        Ok(Self { dataset: Arc::new(listening(py, open)?), said: Mutex::default() })
    }

    #[getter]
    fn path(&self) -> &str {
        self.dataset.path()
    }

    #[getter]
    fn name(&self) -> &str {
        self.dataset.names().0
    }

    #[getter]
    fn title(&self) -> &str {
        self.dataset.names().1
    }

    /// Its files: their paths, the path of the table in each, and their UUIDs.
    #[getter]
    fn files(&self) -> Vec<(OsString, String, String)> {
        let whole = |(input, uuid): (&Input, &String)| {
            let tree = input.tree.clone().unwrap_or_else(|| self.dataset.path().to_owned());
            (input.path.clone().into_os_string(), tree, uuid.clone())
        };
        self.dataset.inputs().iter().zip(self.dataset.uuids()).map(whole).collect()
    }

    #[getter]
    fn entries(&self) -> u64 {
        self.dataset.entries()
    }

    #[getter]
    fn clusters(&self) -> Vec<u64> {
        self.dataset.clusters().to_vec()
    }

    /// Names and formulas of the tree's aliases, in the order of the list.
    fn aliases(&self) -> Vec<(String, String)> {
        let Some(tree) = self.dataset.tree() else { return Vec::new() };
        tree.listed(tree.aliases).map(|alias| (alias.name.to_owned(), alias.title.to_owned())).collect()
    }

    /// Whether the fields of an RNTuple are read, not the branches of a tree.
    #[getter]
    fn is_ntuple(&self) -> bool {
        self.dataset.tree().is_none()
    }

    /// All branches, depth first, or all fields.
    fn branches(&self) -> Vec<BranchLine> {
        branch_lines(&self.dataset, self.dataset.schema(), &self.dataset.column_of_each_node())
    }

    /// The names of all friends. None is opened.
    fn friend_names(&self) -> Vec<String> {
        self.dataset.friend_names()
    }

    /// All friends, opened.
    fn friends(&self, py: Python<'_>) -> PyResult<Vec<FriendLine>> {
        let dataset = Arc::clone(&self.dataset);
        let friends = move |_: &Watch| {
            let line = |friend: &Friend| match friend.schema() {
                Ok(schema) => {
                    (friend.name().to_owned(), branch_lines(&dataset, schema, &friend.column_of_each_node()), None)
                }
                Err(why) => (friend.name().to_owned(), Vec::new(), Some(why.text(keyword))),
            };
            let remarks: Vec<String> = dataset.friends().iter().flat_map(Friend::remarks).cloned().collect();
            Ok((dataset.friends().iter().map(line).collect(), remarks))
        };
        let (lines, remarks) = listening(py, friends)?;
        self.say(py, remarks)?;
        Ok(lines)
    }

    /// Why a column holds bytes only, if so.
    fn opaque(&self, column: usize) -> Option<&str> {
        self.dataset.column(column)?.opaque()
    }

    /// The entry up to which each of these columns holds all entries from `start` on, if it holds none behind.
    fn held_until(&self, columns: Vec<usize>, start: u64) -> Vec<u64> {
        columns.into_iter().map(|column| self.dataset.held_until(column, start)).collect()
    }

    /// Bytes of these columns before compression.
    fn bytes(&self, columns: Vec<usize>) -> u64 {
        columns.into_iter().map(|column| self.dataset.bytes(column)).sum()
    }

    /// Reads it all at once. `told` is told numbers of entries, each once for every column.
    #[pyo3(signature = (reading, told = None))]
    fn read(&self, py: Python<'_>, reading: Reading, told: Told) -> PyResult<ReadBatch> {
        let (dataset, request) = (Arc::clone(&self.dataset), reading.request(py)?);
        check_held(&dataset, &request).map_err(exception)?;
        self.warn(py, &request.columns)?;
        let read = telling(py, &told, move |watch| read(&dataset, &request.request(&|entries| watch.tell(entries))))?;
        Ok(ReadBatch::new(&read.batch))
    }

    /// Reads in steps of a number of entries, or of bytes, or else of clusters.
    fn steps(&self, py: Python<'_>, reading: Reading, entries: Option<u64>, bytes: Option<u64>) -> PyResult<Steps> {
        let request = reading.request(py)?;
        check_held(&self.dataset, &request).map_err(exception)?;
        self.warn(py, &request.columns)?;
        let step = match (entries, bytes) {
            (Some(entries), _) => BatchSize::Entries(entries),
            // One step is in use and the next is being read; add their inputs, and memory that the
            // allocator keeps of earlier ones.
            (None, Some(bytes)) => BatchSize::Bytes(bytes.min(request.budget.memory / 8)),
            (None, None) => BatchSize::Cluster,
        };
        let fields =
            request.columns.iter().map(|&column| self.dataset.column(column).map(|plan| Arc::clone(plan.field())));
        let fields: Option<Vec<_>> = fields.collect();
        let fields = fields.ok_or_else(|| exception(Error::request("no such column")))?;
        Steps::begin(Arc::clone(&self.dataset), request, step, Arc::new(Schema::new(fields)))
    }
}

/// Checks that the columns hold the requested entries: values that no file has are not made up.
fn check_held(dataset: &Dataset, request: &ReadRequest) -> Result<(), Error> {
    for &column in &request.columns {
        let Some(first) = dataset.missing(column, &request.entries, request.selection.as_ref()) else { continue };
        let (held, all) = (dataset.held(column), dataset.entries());
        let name = dataset.column(column).map_or("", |column| column.field().name());
        let mut message = format!("has {held} of {all} entries, and not entry {first}");
        let end = dataset.held_until(column, request.entries.start);
        if end < all {
            message.push_str(&format!("; read it by itself, or with entry_stop={end}"));
        }
        return Err(Error::request(message).object(format!("branch {name} of {}", dataset.path())));
    }
    Ok(())
}
