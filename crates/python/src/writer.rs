//! A file that any number of Python threads write.
//!
//! Each call that fills uses a fill context of its own: an idle one, or a new one. The entries of one thread are therefore in the
//! order of its calls, and those of several threads in the order of arrival. An idle context may hold a cluster that is not full,
//! and memory that another thread waits for: see [`Writer::make_room`].

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use arrow_array::RecordBatch;
use flow::Budget;
use flow::write::{
    AutoSave, Casting, FillContext, NewObject, NtupleSpec, Order, ParallelWriter, TableId, TreeSpec, WriteOptions,
    WritePool,
};
use pyo3::types::PyAny;
use pyo3::{Bound, FromPyObject, PyResult, Python, pyclass, pymethods};
use rootfile::streamer::{StreamerInfos, describe};
use rootfile::{Error, Owned, Result, RootFile, check_output};

use crate::batch::Batch;
use crate::columns::{ColumnSpec, columns, fields};
use crate::errors::exception;
use crate::fill::{Context, Filling, fill};
use crate::interrupt::listening;
use crate::lock::lock;
use crate::objects::{made, record};

/// How often `close` looks whether the calls that fill have ended.
const WAIT: Duration = Duration::from_millis(1);
/// What a forked process can do.
const WAY_OUT: &str = "write a file of its own in each process, and merge them, as basketry.parts does";

/// A file that is written, by the process that began it.
#[pyclass(frozen, module = "basketry._core")]
pub struct Writer(Owned<Open>);

/// The file, its tables, and who fills them.
struct Open {
    writer: Mutex<Option<ParallelWriter>>,
    trees: Mutex<Vec<Arc<Filling>>>,
    classes: StreamerInfos,
    memory: u64,
    order: Order,
    /// Calls that fill now.
    busy: AtomicUsize,
}

/// Options beside the layout: `WriterOptions` of `_core.pyi`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct WriterArgs {
    /// Bytes.
    memory: u64,
    threads: usize,
    /// Whether clusters are in the order of their tasks.
    in_order: bool,
    /// Entries between two saves, or bytes.
    save_entries: Option<u64>,
    save_bytes: Option<u64>,
    title: String,
    /// Classes as text, and a file that has some.
    classes: String,
    classes_file: Option<PathBuf>,
}

#[cold]
fn closed() -> Error {
    Error::request("the file is closed")
}

fn begin(path: PathBuf, layout: &str, args: WriterArgs) -> Result<Open> {
    let WriterArgs { memory, threads, title, .. } = args;
    let mut classes = StreamerInfos::new();
    // A file of this name is replaced, as the name `recreate` says, but not the one that the classes come from.
    check_output(&path, true, &args.classes_file)?;
    if let Some(file) = args.classes_file {
        classes.extend(RootFile::open(&file)?.infos());
    }
    let described = describe::parse(&args.classes).and_then(|parsed| describe::describe(&parsed, &classes));
    for info in described.map_err(|e| e.object("classes"))? {
        classes.add(Arc::new(info));
    }
    let auto_save = args.save_entries.map(AutoSave::Entries).or(args.save_bytes.map(AutoSave::Bytes));
    let order = if args.in_order { Order::Tasks } else { Order::Arrival };
    let layout = layout.parse()?;
    let casting = Casting::SameKind;
    let options = WriteOptions { layout, overwrite: true, order, casting, auto_save, title, ..WriteOptions::default() };
    let writer = ParallelWriter::create(&path, &options, &WritePool::with_team(Budget::new(memory, threads))?)?;
    let (writer, busy) = (Mutex::new(Some(writer)), AtomicUsize::new(0));
    Ok(Open { writer, trees: Mutex::default(), classes, memory, order, busy })
}

impl Open {
    fn with<T>(&self, work: impl FnOnce(&mut ParallelWriter) -> Result<T>) -> Result<T> {
        work(lock(&self.writer).as_mut().ok_or_else(closed)?)
    }

    fn filling(&self, tree: usize) -> Result<Arc<Filling>> {
        lock(&self.trees).get(tree).cloned().ok_or_else(closed)
    }

    /// A context for this thread.
    fn idle(&self, filling: &Filling) -> Result<(ThreadId, FillContext)> {
        let me = std::thread::current().id();
        let mut idle = lock(&filling.idle);
        let own = idle.iter().position(|(thread, _)| *thread == me);
        match own.or(idle.len().checked_sub(1)) {
            Some(place) => Ok(idle.swap_remove(place)),
            None => Ok((me, self.with(|writer| writer.fill_context(filling.id))?)),
        }
    }

    /// Whether memory is short. Calls that fill while the file is closed go on to their ends.
    fn is_short(&self) -> bool {
        lock(&self.writer).as_ref().is_some_and(|writer| writer.metrics().held_bytes > self.memory / 2)
    }

    /// If memory is short, ends idle clusters that other threads began. Otherwise they would stay, and this
    /// thread, or another that fills, would wait for their memory.
    fn make_room(&self) -> Result<()> {
        if !self.is_short() {
            return Ok(());
        }
        let me = std::thread::current().id();
        let trees = lock(&self.trees).clone();
        for filling in trees {
            for (thread, context) in lock(&filling.idle).iter_mut() {
                if *thread != me || self.busy.load(Ordering::SeqCst) > 1 {
                    context.flush()?;
                    *thread = me;
                }
            }
        }
        Ok(())
    }

    /// The number of a table that was added.
    fn add(&self, id: TableId) -> usize {
        let mut trees = lock(&self.trees);
        trees.push(Arc::new(Filling::new(id)));
        trees.len() - 1
    }

    fn fill(&self, py: Python<'_>, tree: usize, batch: &RecordBatch) -> PyResult<()> {
        // Before the tree is looked up: see `close`.
        self.busy.fetch_add(1, Ordering::SeqCst);
        let filled = self.filling(tree).map_err(exception).and_then(|filling| match self.order {
            Order::Arrival => self.fill_arriving(py, &filling, batch),
            Order::Tasks => self.fill_task(py, &filling, batch),
        });
        self.busy.fetch_sub(1, Ordering::SeqCst);
        filled
    }

    /// Ends the file. Later calls that fill are refused, and those that have begun end before.
    fn close(&self) -> Result<()> {
        let Some(writer) = lock(&self.writer).take() else { return Ok(()) };
        let trees = std::mem::take(&mut *lock(&self.trees));
        loop {
            let busy = self.busy.load(Ordering::SeqCst);
            for filling in &trees {
                let idle = std::mem::take(&mut *lock(&filling.idle));
                idle.into_iter().try_for_each(|(_, context)| context.finish())?;
            }
            // More contexts than calls: some were not finished, for which those calls may wait for ever. It is an error.
            if busy == 0 || writer.open_contexts() > busy {
                return writer.finish().map(drop);
            }
            std::thread::sleep(WAIT);
        }
    }

    fn abandon(&self, why: &str) {
        if let Some(writer) = lock(&self.writer).take() {
            let trees = std::mem::take(&mut *lock(&self.trees));
            writer.abandon(why);
            drop(trees);
        }
    }

    /// Fills a whole task with one batch.
    fn fill_task(&self, py: Python<'_>, filling: &Filling, batch: &RecordBatch) -> PyResult<()> {
        let started = self.with(|writer| writer.fill_context(filling.id)).map_err(exception)?;
        let (context, filled) = fill(py, started, filling, batch);
        // A batch that is refused leaves a task without entries.
        let finished = context.map_or(Ok(()), |context| py.detach(|| context.finish()).map_err(exception));
        filled.and(finished)
    }

    fn fill_arriving(&self, py: Python<'_>, filling: &Filling, batch: &RecordBatch) -> PyResult<()> {
        let started = || {
            self.make_room()?;
            self.idle(filling)
        };
        let (thread, context) = py.detach(started).map_err(exception)?;
        let (context, filled) = fill(py, context, filling, batch);
        lock(&filling.idle).extend(context.map(|context| (thread, context)));
        filled?;
        if self.busy.load(Ordering::SeqCst) > 1 {
            py.detach(|| self.make_room()).map_err(exception)?;
        }
        Ok(())
    }
}

#[pymethods]
impl Writer {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, layout: String, args: WriterArgs) -> PyResult<Self> {
        Ok(Self(Owned::new(listening(py, move |_| begin(path, &layout, args))?)))
    }

    /// Adds a tree with the types of a batch; returns its number and the columns that are counters.
    fn tree(
        &self,
        path: String,
        title: String,
        requested: Vec<ColumnSpec>,
        types: &Bound<'_, Batch>,
    ) -> PyResult<(usize, HashSet<String>)> {
        let open = self.open()?;
        let made = columns(&requested, types.get().0.schema_ref()).and_then(|(columns, counters)| {
            let spec = TreeSpec { path, title, columns, classes: open.classes.clone() };
            Ok((open.with(|writer| writer.tree(&spec))?, counters))
        });
        let (id, counters) = made.map_err(exception)?;
        Ok((open.add(id), counters))
    }

    /// Adds an RNTuple with these fields: of the given C++ types, or of the types of a batch. Returns its number.
    fn ntuple(
        &self,
        path: String,
        description: String,
        names: Vec<(String, Option<String>)>,
        types: &Bound<'_, Batch>,
    ) -> PyResult<usize> {
        let open = self.open()?;
        let made = fields(&names, &types.get().0).and_then(|fields| {
            let spec = NtupleSpec { path, description, fields, classes: open.classes.clone() };
            open.with(|writer| writer.ntuple(&spec))
        });
        Ok(open.add(made.map_err(exception)?))
    }

    /// Adds columns with the types of a batch to a tree that is being filled. Returns those that are counters.
    fn add_columns(
        &self,
        tree: usize,
        requested: Vec<ColumnSpec>,
        types: &Bound<'_, Batch>,
    ) -> PyResult<HashSet<String>> {
        let open = self.open()?;
        let added = open.filling(tree).and_then(|filling| {
            let (columns, counters) = columns(&requested, types.get().0.schema_ref())?;
            open.with(|writer| writer.add_columns(filling.id, &columns, &open.classes))?;
            Ok(counters)
        });
        added.map_err(exception)
    }

    /// Adds fields to an RNTuple that is being filled: see [`Writer::ntuple`].
    fn add_fields(
        &self,
        ntuple: usize,
        names: Vec<(String, Option<String>)>,
        types: &Bound<'_, Batch>,
    ) -> PyResult<()> {
        let open = self.open()?;
        let added = open.filling(ntuple).and_then(|filling| {
            let fields = fields(&names, &types.get().0)?;
            open.with(|writer| writer.add_fields(filling.id, &fields, &open.classes))
        });
        added.map_err(exception)
    }

    /// Makes a tree anew in another layout, before it is filled.
    fn remake(&self, tree: usize, layout: &str) -> PyResult<()> {
        let (open, layout) = (self.open()?, layout.parse().map_err(exception)?);
        let id = open.filling(tree).map_err(exception)?.id;
        open.with(|writer| writer.remake(id, &layout)).map_err(exception)
    }

    /// The layout of the trees and RNTuples that are made from now on.
    fn set_layout(&self, layout: &str) -> PyResult<()> {
        let layout = layout.parse().map_err(exception)?;
        let set = |writer: &mut ParallelWriter| {
            writer.set_layout(layout);
            Ok(())
        };
        self.open()?.with(set).map_err(exception)
    }

    /// The container that the layout asks for at a path.
    fn container(&self, path: &str) -> PyResult<String> {
        self.open()?.with(|writer| Ok(writer.container(path).to_string())).map_err(exception)
    }

    /// Makes a directory and its parents.
    fn mkdir(&self, path: &str) -> PyResult<()> {
        self.open()?.with(|writer| writer.mkdir(path)).map_err(exception)
    }

    /// Writes an object that is no table, from its class and its members by name.
    fn object(&self, path: &str, title: &str, class: &str, members: &Bound<'_, PyAny>) -> PyResult<()> {
        let open = self.open()?;
        let made = made(class, members, &open.classes)?;
        let payload = |keylen: usize| made.payload(keylen);
        let object = NewObject { class, title, infos: &made.infos, payload: &payload };
        open.with(|writer| writer.object(path, object)).map_err(exception)
    }

    /// Writes the object that another file has at an offset, as it is.
    fn copy(&self, py: Python<'_>, path: &str, source: PathBuf, offset: u64) -> PyResult<()> {
        let open = self.open()?;
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let found = listening(py, move |_| record(&source, offset, &name))?;
        let payload = |keylen: usize| (found.payload)(keylen);
        let object = NewObject { class: &found.class, title: &found.title, infos: &found.infos, payload: &payload };
        open.with(|writer| writer.object(path, object)).map_err(exception)
    }

    /// Adds entries to a tree.
    fn fill(&self, py: Python<'_>, tree: usize, batch: &Bound<'_, Batch>) -> PyResult<()> {
        self.open()?.fill(py, tree, &batch.get().0)
    }

    /// A fill context for one thread or task; the number of the task decides the position of its entries.
    fn context(&self, tree: usize, task: Option<u64>) -> PyResult<Context> {
        let open = self.open()?;
        let filling = open.filling(tree).map_err(exception)?;
        let started = open.with(|writer| match task {
            Some(_) if open.order == Order::Arrival => Err(Error::request("task numbers need order=\"tasks\"")),
            Some(task) => writer.fill_task(filling.id, task),
            None => writer.fill_context(filling.id),
        });
        Ok(Context::new(filling, started.map_err(exception)?))
    }

    /// Ends the idle clusters of a tree.
    fn flush(&self, py: Python<'_>, tree: usize) -> PyResult<()> {
        let filling = self.open()?.filling(tree).map_err(exception)?;
        py.detach(|| lock(&filling.idle).iter_mut().try_for_each(|(_, context)| context.flush())).map_err(exception)
    }

    /// Entries that a tree was given.
    fn entries(&self, tree: usize) -> PyResult<u64> {
        Ok(self.open()?.filling(tree).map_err(exception)?.entries.load(Ordering::Relaxed))
    }

    /// Saves the metadata of all trees, so that complete clusters can be read after a crash.
    fn save(&self, py: Python<'_>) -> PyResult<()> {
        let open = self.open()?;
        py.detach(|| open.with(|writer| writer.save())).map_err(exception)
    }

    /// The file in work, if there is one.
    #[getter]
    fn hidden_path(&self) -> Option<PathBuf> {
        self.0.get().and_then(|open| lock(&open.writer).as_ref().and_then(ParallelWriter::hidden_path))
    }

    /// Where time and memory go, in bytes and nanoseconds, of all threads together.
    fn metrics(&self) -> PyResult<Vec<(&'static str, u64)>> {
        let seen = self.open()?.with(|writer| Ok(writer.metrics())).map_err(exception)?;
        let sum = |of: fn(&flow::write::ContextMetrics) -> u64| seen.contexts.iter().map(of).sum::<u64>();
        Ok(vec![
            ("entries", seen.entries),
            ("clusters", seen.clusters),
            ("file_bytes", seen.file_bytes),
            ("queue_bytes", seen.queue_bytes),
            ("held_bytes", seen.held_bytes),
            ("peak_held_bytes", seen.peak_held_bytes),
            ("waiting", seen.waiting as u64),
            ("contexts", seen.contexts.len() as u64),
            ("encoding_ns", sum(|one| one.encoding_ns)),
            ("compressing_ns", sum(|one| one.compressing_ns)),
            ("waiting_ns", sum(|one| one.waiting_ns)),
            ("handing_ns", sum(|one| one.handing_ns)),
            ("appending_ns", seen.appending_ns),
        ])
    }

    /// Ends the file, as soon as the calls that fill it have ended.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let open = self.open()?;
        py.detach(|| open.close()).map_err(exception)
    }

    /// Abandons the output. In a forked process nothing is to be done.
    fn abandon(&self, py: Python<'_>, why: &str) {
        if let Some(open) = self.0.get() {
            py.detach(|| open.abandon(why));
        }
    }

    /// Whether it was closed or given up.
    #[getter]
    fn closed(&self) -> bool {
        self.0.get().is_some_and(|open| lock(&open.writer).is_none())
    }

    /// Whether this process began it, and not one from which it was forked.
    #[getter]
    fn is_own(&self) -> bool {
        self.0.owner().is_this()
    }
}

impl Writer {
    /// What it holds, in the process that began it.
    fn open(&self) -> PyResult<&Open> {
        self.0.owner().check("the file", WAY_OUT).map_err(exception)?;
        self.0.get().ok_or_else(closed).map_err(exception)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(writer) = lock(&self.writer).take() {
            writer.abandon("the file was not closed");
        }
    }
}
