//! Data sets: a tree, an RNTuple or a Parquet file, or many files as one table; their schema and their entries as Arrow.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use dataset::EntrySet;
use dataset::glob::Pattern;
use flow::inputs::{Input, inputs};
use flow::read::{BatchSize, JoinedTable, Joining, Request};
use flow::{Budget, Choice, DEFAULT_MEMORY, Join, unwatched};
use rootfile::{Error as Failure, Follow, Owned, Result};

use crate::answer::{handle, quietly, status};
use crate::arrow::{self, ArrowArrayStream, ArrowSchema};
use crate::error::Error;
use crate::foreign::{self, Text, items};
use crate::options::{Versioned, versioned};
use crate::settings::pairs;

/// What is read of a data set. Set `size` to its sizeof, and all else to zero for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ScanOptions {
    /// The sizeof of this structure.
    pub size: usize,
    /// Names of columns or patterns (`Muon_*`), divided by commas; null: all columns. The parts of a split object have dots: `event.hits`.
    pub columns: Text,
    /// The first entry, counted over all files.
    pub first: u64,
    /// The entry behind the last one; 0: the end.
    pub end: u64,
    /// Entries of a batch; 0: those of a cluster, or by `batch_bytes`.
    pub batch_entries: u64,
    /// Bytes of a batch before compression; 0: those of a cluster.
    pub batch_bytes: u64,
    /// Bytes of memory beside the batches; 0: 1 GiB.
    pub memory: u64,
    /// Threads that fetch and decode; 0: one.
    pub threads: u32,
    /// Must be 0.
    pub reserved: u32,
    /// A condition, such as `nMuon > 1 && Muon_pt[0] > 20` (its language is on the page docs/expressions.md), or several, one a line: only
    /// entries for which all are true are read. Its columns need not be among `columns`; they are read first, before the call returns, and of
    /// the others what the condition keeps. Null: all entries.
    pub cut: Text,
}

// SAFETY: the layout is C's, the size is first, and zeroes are numbers and null pointers.
unsafe impl Versioned for ScanOptions {
    const NAME: &'static str = "options of the scan";
}

/// A table of one file, or of many files as one. Any thread may use it, several at once.
pub struct Dataset(Owned<Arc<JoinedTable>>);

impl Dataset {
    fn open(files: &[Text], settings: Text) -> Result<Self> {
        let names: Vec<&str> = files.iter().map(|file| file.text("an input")).collect::<Result<_>>()?;
        let (mut joining, mut tree, mut follow) = (Joining::default(), None, Follow::default());
        for (key, value) in pairs(settings.or_empty("the settings")?)? {
            match (key, value) {
                ("join", "strict") => joining.join = Join::Strict,
                ("join", "common") => joining.join = Join::Common,
                ("join", "fill") => joining.join = Join::Fill,
                ("widen", "true" | "false") => joining.widen = value == "true",
                ("follow-urls", "true" | "false") => {
                    follow = if value == "true" { Follow::Urls } else { Follow::Paths };
                }
                ("tree", path) => tree = Some(path.trim_matches('/').to_owned()),
                _ => {
                    let known = "join=strict|common|fill, widen=true|false, follow-urls=true|false, tree=PATH";
                    return Err(Failure::request(format!("no such setting: {key}={value}; there are {known}")));
                }
            }
        }
        let named = |input: Input| Input { tree: input.tree.or_else(|| tree.clone()), ..input };
        let all: Vec<Input> = inputs(&names)?.into_iter().map(named).collect();
        Ok(Self(Owned::new(Arc::new(JoinedTable::open(&all, follow, joining, &[])?))))
    }

    /// What it holds, in the process that opened it.
    pub(crate) fn table(&self) -> Result<&Arc<JoinedTable>> {
        self.0.owner().check("the data set", "open it anew here")?;
        self.0.get().ok_or_else(|| Failure::request("the data set is closed"))
    }
}

/// What is read, by numbers of columns and with their names.
pub(crate) struct Selected {
    columns: Vec<usize>,
    pub schema: SchemaRef,
}

/// The columns of a table: the ones at the top, or in place of one that only groups others those below it. Names have dots.
fn columns_of(table: &JoinedTable) -> Vec<(String, usize, bool)> {
    let nodes = table.nodes();
    let mut paths: Vec<String> = Vec::with_capacity(nodes.len());
    let mut covered: Vec<bool> = Vec::with_capacity(nodes.len());
    let mut found = Vec::new();
    for (node, column) in &nodes {
        let above = node.parent.and_then(|parent| Some((paths.get(parent)?, covered.get(parent)?)));
        let (path, is_part) = match above {
            // Branches below others often have the whole path in their names.
            Some((above, covered)) if node.name.starts_with(&format!("{above}.")) => (node.name.clone(), *covered),
            Some((above, covered)) => (format!("{}.{}", above.trim_end_matches('.'), node.name), *covered),
            None => (node.name.clone(), false),
        };
        let column = column.filter(|_| !node.groups);
        if let Some(column) = column {
            found.push((path.clone(), column, !is_part));
        }
        covered.push(is_part || column.is_some());
        paths.push(path);
    }
    found
}

/// Finds the columns that are asked for.
pub(crate) fn selected(table: &JoinedTable, asked: Text) -> Result<Selected> {
    let all = columns_of(table);
    let mut chosen: Vec<(&str, usize)> = Vec::new();
    match asked.given("the columns")? {
        None => chosen.extend(all.iter().filter(|(_, _, top)| *top).map(|(name, column, _)| (name.as_str(), *column))),
        Some(names) => {
            for name in names.split([',', '\n']).map(str::trim).filter(|name| !name.is_empty()) {
                let exact = all.iter().find(|(path, ..)| path == name);
                let pattern = if exact.is_some() { None } else { Some(Pattern::new(name)?) };
                let matches = |path: &str| pattern.as_ref().is_some_and(|pattern| pattern.matches(path));
                let more = all.iter().filter(|(path, ..)| exact.map_or_else(|| matches(path), |(own, ..)| own == path));
                let before = chosen.len();
                for (path, column, _) in more {
                    if !chosen.iter().any(|(_, known)| known == column) {
                        chosen.push((path, *column));
                    }
                }
                if chosen.len() == before && exact.is_none() && !all.iter().any(|(path, ..)| matches(path)) {
                    let why = table.left_out(name).map_or_else(String::new, |why| format!(": {why}"));
                    return Err(Failure::request(format!("there is no column {name}{why}")));
                }
            }
        }
    }
    let columns: Vec<usize> = chosen.iter().map(|(_, column)| *column).collect();
    let schema = table.schema_of(&columns)?;
    let fields = schema.fields().iter().zip(&chosen).map(|(field, (name, _))| Field::clone(field).with_name(*name));
    Ok(Selected { schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns })
}

/// Batches that another thread reads, one ahead.
pub(crate) struct Reading {
    batches: Receiver<Result<RecordBatch>>,
    pub schema: SchemaRef,
    /// The entries that are read.
    pub entries: Range<u64>,
    /// Those of them that pass the cut, if there is one.
    pub selection: Option<EntrySet>,
}

impl Reading {
    /// Begins to read.
    pub fn begin(table: &Arc<JoinedTable>, options: &ScanOptions) -> Result<Self> {
        let Selected { columns, schema } = selected(table, options.columns)?;
        let end = if options.end == 0 { table.entries() } else { options.end.min(table.entries()) };
        let entries = options.first.min(end)..end;
        let memory = if options.memory == 0 { DEFAULT_MEMORY } else { options.memory };
        let budget = Budget::new(memory, options.threads.max(1) as usize);
        let cuts = options.cut.or_empty("the cut")?.lines().map(str::trim).filter(|cut| !cut.is_empty());
        let cuts: Vec<String> = cuts.map(str::to_owned).collect();
        let choice = Choice { cuts, remembers: true, ..Choice::default() };
        let passing = |choice: Choice| choice.of_selected(&**table, entries.clone(), None, budget, &unwatched);
        let selection = (!choice.cuts.is_empty()).then_some(choice).map(passing).transpose()?;
        for (column, field) in columns.iter().zip(schema.fields()) {
            if let Some(first) = table.missing(*column, &entries, selection.as_ref()) {
                let message = format!("has no value in entry {first}; read other entries of it by themselves");
                return Err(Failure::request(message).object(format!("column {}", field.name())));
            }
        }
        let step = match (options.batch_entries, options.batch_bytes) {
            (0, 0) => BatchSize::Cluster,
            (0, bytes) => BatchSize::Bytes(bytes.min(memory / 8)),
            (entries, _) => BatchSize::Entries(entries),
        };
        let (send, batches) = sync_channel(0);
        let (table, renamed) = (Arc::clone(table), Arc::clone(&schema));
        let (kept, of) = (selection.clone(), entries.clone());
        let read = move || {
            let request = Request { columns, entries: of, selection, budget, progress: &unwatched };
            for batch in table.batches(request, step) {
                let batch = batch.and_then(|batch| {
                    let made = RecordBatch::try_new(Arc::clone(&renamed), batch.columns().to_vec());
                    made.map_err(arrow::refused)
                });
                // Nobody asks for more.
                if send.send(batch).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("basketry".to_owned()).spawn(read)?;
        Ok(Self { batches, schema, entries, selection: kept })
    }

    /// The number of an entry by its place among those that are read.
    pub fn entry(&self, place: u64) -> u64 {
        let selected = self.selection.as_ref().map(|set| set.nth(set.rank(self.entries.start) + place));
        selected.map_or(self.entries.start + place, |entry| entry.unwrap_or(self.entries.end))
    }

    /// The next batch, or none.
    pub fn next(&self) -> Option<Result<RecordBatch>> {
        self.batches.recv().ok()
    }
}

/// A reading as a stream of Arrow's.
struct Stream(Mutex<Reading>);

impl Iterator for Stream {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).next()?;
        Some(next.map_err(|e| ArrowError::ExternalError(Box::new(e))))
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner).schema)
    }
}

/// Opens the tables of files as one.
///
/// @param inputs    Files and URLs: `FILE`, `FILE:TREE`, `https://host/a.root:TREE`, patterns (`data/?.root`), and `@list.txt` with one a
///                  line. The tree need not be named where there is one.
/// @param count     Their number.
/// @param settings  `tree=PATH` for those that name none; `join=strict|common|fill` and `widen=true` for files whose columns differ;
///                  `follow-urls=true`. May be null.
/// @return The data set, or null after an error. The caller frees it by ::basketry_dataset_free.
///
/// Reads the metadata of all files.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_dataset_open(
    inputs: *const Text,
    count: usize,
    settings: Text,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> Option<Box<Dataset>> {
    handle(error, || {
        // SAFETY: the interface asks for so many texts.
        let inputs = unsafe { items(inputs, count, "the inputs") }?;
        Dataset::open(inputs, settings)
    })
}

/// The number of entries; 0 for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_dataset_entries(dataset: Option<&Dataset>) -> u64 {
    dataset.and_then(|dataset| dataset.table().ok()).map_or(0, |table| table.entries())
}

/// Writes the schema of columns, which the caller releases. The metadata of its fields have the C++ types (`typename`).
///
/// @param columns  As in ::basketry_scan_options; null: all.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_dataset_schema(
    dataset: Option<&Dataset>,
    columns: Text,
    schema: *mut ArrowSchema,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        let found = selected(foreign::handle(dataset, "the data set")?.table()?, columns)?;
        // SAFETY: the interface asks for a structure of Arrow's interface.
        unsafe { arrow::give_schema(&found.schema, schema) }
    })
}

/// Reads entries as a stream of Arrow's, which the caller releases. A thread of the stream's reads one batch ahead.
///
/// @param options  May be null.
/// @return 0, or -1 after an error. Errors of reading are the stream's: `get_last_error` has the message.
///
/// The stream holds the data set as long as it needs it. One thread at a time may use it.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_dataset_scan(
    dataset: Option<&Dataset>,
    options: *const ScanOptions,
    stream: *mut ArrowArrayStream,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        // SAFETY: the interface asks for null or options of the size that they say.
        let options = unsafe { versioned(options) }?;
        let reading = Reading::begin(foreign::handle(dataset, "the data set")?.table()?, &options)?;
        let made = FFI_ArrowArrayStream::new(Box::new(Stream(Mutex::new(reading))));
        // SAFETY: the interface asks for a structure of Arrow's interface.
        unsafe { arrow::give_stream(made, stream) }
    })
}

/// Frees a data set. A null pointer is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_dataset_free(dataset: Option<Box<Dataset>>) {
    quietly(|| drop(dataset));
}
