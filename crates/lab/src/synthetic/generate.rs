//! Writes a data set of [`models`](crate::synthetic::models) into ROOT files from several threads, and measures the cost.
//!
//! The layout alone decides how entries are cut into tasks, so the same data set and layout give the same file whatever the
//! threads. [`flow::write`] writes the file.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use arrow_array::RecordBatch;
use dataset::glob::{ColumnPattern, TreePattern};
use dataset::layout::{ClusterSize, ColumnLayout, Layout, TreeLayout, defaults};
use dataset::tree::make::{NewKind, NewLeaf};
use flow::Budget;
use flow::write::{
    Ahead, FillContext, Metrics, ParallelWriter, TreeColumn, TreeSpec, WriteOptions, WritePlace, WritePool, Written,
    fill_tasks,
};
use rootfile::streamer::{StreamerInfos, describe};
use rootfile::{Error, Result, time_in_syncs};
use serde::Serialize;

use crate::synthetic::models::{Model, ModelColumn};
use crate::synthetic::pace::Pace;
use crate::synthetic::timeline::{Stretch, Timeline};
use crate::system::clock::process_seconds;

/// The tree that a data set is written to.
pub const TREE: &str = "Events";
/// Bytes of a batch: few enough for a core's own cache, and enough to be worth a call.
const BATCH: Range<u64> = 64 << 10..1 << 20;
/// Memory of a batch while it is made, as a multiple of its bytes: numbers, offsets, and growing arrays.
const MAKING: u64 = 3;
/// Threads that get batches of the full size, if there is memory for it.
const MAKERS: u64 = 16;
/// Batches that are made ahead, if there are threads without other work.
const AHEAD: usize = 2;
/// Most bytes of the entries that decide how many entries a cluster has.
const SAMPLE: u64 = 4 << 20;

/// A data set to write.
pub struct Job<'a> {
    /// The data set.
    pub model: &'a Model,
    /// The files; each gets the whole data set.
    pub outputs: Vec<PathBuf>,
    /// Layout, order and AutoSave of the files.
    pub options: WriteOptions,
    /// Memory for all files together, and threads.
    pub budget: Budget,
    /// Whether entries are filled, or only made.
    pub fill: bool,
    /// Most bytes of payload that are made in a second, if they are limited.
    pub rate: Option<u64>,
    /// Whether to record what each thread does.
    pub timeline: bool,
}

impl Job<'_> {
    /// Memory for the batches of all threads. It does not depend on their number, since the rest may decide where
    /// clusters end.
    fn for_making(&self) -> u64 {
        (self.budget.memory / 5).min(MAKERS * MAKING * BATCH.end)
    }

    /// The rest, for the writers.
    fn for_filling(&self) -> Budget {
        Budget::new(self.budget.memory - self.for_making(), self.budget.threads)
    }

    /// Threads that may fill. A thread that fills several files does not wait between them, so the memory must hold its
    /// whole task.
    fn threads(&self, tasks: &Tasks) -> usize {
        let files = self.outputs.len() as u64;
        if files < 2 {
            return self.budget.threads;
        }
        let each = tasks.each.min(tasks.entries).saturating_mul(tasks.entry).saturating_mul(files);
        let fitting = self.for_filling().memory / each.max(1);
        usize::try_from(fitting).unwrap_or(usize::MAX).clamp(1, self.budget.threads.max(1))
    }

    /// Bytes of a batch.
    fn batch(&self) -> u64 {
        (self.for_making() / MAKING / self.budget.threads.max(1) as u64).clamp(BATCH.start, BATCH.end)
    }
}

/// The files written, and their cost.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Ran {
    /// The files.
    pub written: Vec<Written>,
    /// Seconds by the clock, until all was handed to the system.
    pub wall: f64,
    /// Seconds of CPU, of all threads.
    pub cpu: f64,
    /// Additional seconds until the data were on disk.
    pub sync: f64,
    /// Where the time went, by file.
    pub metrics: Vec<Metrics>,
    /// What each thread did, if that was recorded: part of the report of `write-bench`.
    #[serde(skip)]
    pub timeline: Vec<Stretch>,
}

/// Writes. Calls `done` with the number of entries filled; its result may stop the work.
///
/// # Errors
///
/// An output cannot be written, the budget is too small, or the callback ends the work.
pub fn generate(job: &Job<'_>, done: flow::Progress<'_>) -> Result<Ran> {
    let (started, cpu) = (Instant::now(), process_seconds());
    let pool = WritePool::new(job.for_filling());
    let mut options = WriteOptions { layout: with_splits(job.model, &job.options.layout)?, ..job.options.clone() };
    let spec = spec(job.model)?;
    let tasks = Tasks::new(job, cluster(job, &options, &spec)?);
    let size = TreeLayout { cluster: Some(ClusterSize::Entries(tasks.each)), ..TreeLayout::default() };
    options.layout.set_tree(TreePattern::new(TREE)?, &size);
    let mut outputs = Vec::with_capacity(job.outputs.len());
    for path in &job.outputs {
        let mut writer = ParallelWriter::create(path, &options, &pool)?;
        let tree = writer.tree(&spec)?;
        outputs.push((writer, tree));
    }
    let (timeline, pace) = (job.timeline.then(Timeline::default), Pace::new(job.rate));
    let paced = |count: u64| pace.wait(count.saturating_mul(tasks.entry), done);
    let model = Arc::new(job.model.clone());
    fill_tasks(&outputs, tasks.count(), job.threads(&tasks), |number, contexts| {
        let mut batches = tasks.batches(tasks.entries(number));
        // Threads that have nothing else to do make the next ones.
        let ahead = |context: &FillContext| {
            let entries = batches.next()?;
            let (count, model) = (entries.end - entries.start, Arc::clone(&model));
            Some((count, context.ahead(count.saturating_mul(tasks.entry), move || model.batch(entries))))
        };
        run(job, contexts, ahead, &paced, timeline.as_ref(), done)
    })?;
    let mut ran = Ran { wall: started.elapsed().as_secs_f64(), ..Ran::default() };
    ran.timeline = timeline.map(Timeline::stretches).unwrap_or_default();
    let synced = Instant::now();
    outputs.iter().try_for_each(|(writer, _)| writer.sync())?;
    ran.sync = synced.elapsed().as_secs_f64();
    let (closing, waited) = (Instant::now(), time_in_syncs());
    for (writer, _) in outputs {
        ran.metrics.push(writer.metrics());
        ran.written.push(writer.finish()?);
    }
    // The end of a file waits for the disk as well.
    let waited = time_in_syncs().saturating_sub(waited);
    ran.wall += closing.elapsed().saturating_sub(waited).as_secs_f64();
    ran.sync += waited.as_secs_f64();
    ran.cpu = process_seconds() - cpu;
    Ok(ran)
}

/// Entries of a cluster. For a size in bytes the first entries decide, as in ROOT
/// (`TTree::Fill`, where fAutoFlush is negative).
fn cluster(job: &Job<'_>, options: &WriteOptions, spec: &TreeSpec) -> Result<u64> {
    let bytes = match options.layout.resolve_tree(TREE).cluster {
        Some(ClusterSize::Entries(n)) => return Ok(n),
        Some(ClusterSize::Bytes(bytes)) => bytes,
        None => defaults::AUTO_FLUSH.unsigned_abs(),
    };
    let all = Tasks::new(job, job.model.entries());
    if !job.fill || all.entries == 0 {
        return Ok(bytes / all.entry);
    }
    let first = (SAMPLE.min(bytes).min(job.model.payload() / 16) / all.entry).clamp(1, all.entries);
    let trial = WriteOptions { place: WritePlace::Nowhere, auto_save: None, ..options.clone() };
    let path = job.outputs.first().ok_or_else(|| Error::request("no output is given"))?;
    let mut writer = ParallelWriter::create(path, &trial, &WritePool::new(job.for_filling()))?;
    let tree = writer.tree(spec)?;
    let mut context = writer.fill_task(tree, 0)?;
    all.batches(0..first).try_for_each(|entries| context.fill(&job.model.batch(entries)?))?;
    context.finish()?;
    let found: u64 = writer.finish()?.trees.iter().map(|tree| tree.zip_bytes + tree.checksum_bytes).sum();
    Ok(u64::try_from(u128::from(bytes) * u128::from(first) / u128::from(found.max(1))).unwrap_or(u64::MAX))
}

/// Fills the batches of one task into all outputs. `next` has the next one made, and says how many entries it has.
fn run(
    job: &Job<'_>,
    contexts: &mut [FillContext],
    mut next: impl FnMut(&FillContext) -> Option<(u64, Ahead<RecordBatch>)>,
    paced: &dyn Fn(u64) -> Result<()>,
    timeline: Option<&Timeline>,
    done: flow::Progress<'_>,
) -> Result<()> {
    timeline.inspect(|timeline| timeline.begin(contexts));
    let mut coming = VecDeque::new();
    loop {
        while let Some(batch) = contexts.first().filter(|_| coming.len() < AHEAD).and_then(&mut next) {
            coming.push_back(batch);
        }
        let Some((count, batch)) = coming.pop_front() else { return Ok(()) };
        paced(count)?;
        let begun = Instant::now();
        let batch = batch.take()?;
        let made = Instant::now();
        if job.fill {
            contexts.iter_mut().try_for_each(|context| context.fill(&batch))?;
        }
        timeline.inspect(|timeline| timeline.filled(begun, made));
        flow::tell(done, count)?;
    }
}

/// How the entries are dealt out.
struct Tasks {
    entries: u64,
    /// Entries of a task, which is a cluster.
    each: u64,
    /// Bytes of an entry before compression, and of a batch.
    entry: u64,
    batch: u64,
}

impl Tasks {
    fn new(job: &Job<'_>, each: u64) -> Self {
        let entries = job.model.entries();
        let entry = (job.model.payload() / entries.max(1)).max(1);
        Self { entries, each: each.max(1), entry, batch: job.batch() }
    }

    /// Some entries, as they are made.
    fn batches(&self, entries: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let size = (self.batch / self.entry).clamp(1, 1 << 16);
        let firsts = (entries.start..entries.end).step_by(usize::try_from(size).unwrap_or(1));
        firsts.map(move |first| first..entries.end.min(first + size))
    }

    fn count(&self) -> u64 {
        self.entries.div_ceil(self.each)
    }

    fn entries(&self, task: u64) -> Range<u64> {
        let place = |task: u64| task.saturating_mul(self.each).min(self.entries);
        place(task)..place(task.saturating_add(1))
    }
}

/// The tree of a data set.
///
/// # Errors
///
/// A column has a name or type that trees cannot hold.
pub fn spec(model: &Model) -> Result<TreeSpec> {
    let mut classes = StreamerInfos::new();
    for info in describe::describe(&describe::parse(model.classes())?, &StreamerInfos::new())? {
        classes.add(Arc::new(info));
    }
    let columns = model.columns().iter().map(column).collect::<Result<Vec<_>>>()?;
    Ok(TreeSpec { path: TREE.to_owned(), title: "a data set made by basketry".to_owned(), columns, classes })
}

fn column(column: &ModelColumn) -> Result<TreeColumn> {
    let letter = match column.type_name.as_str() {
        "bool" => Some('O'),
        "char" | "int8_t" => Some('B'),
        "unsigned char" | "uint8_t" => Some('b'),
        "short" | "int16_t" => Some('S'),
        "unsigned short" | "uint16_t" => Some('s'),
        "int" | "int32_t" => Some('I'),
        "unsigned int" | "uint32_t" => Some('i'),
        "Long64_t" | "int64_t" | "long" => Some('L'),
        "ULong64_t" | "uint64_t" | "unsigned long" => Some('l'),
        "float" => Some('F'),
        "double" => Some('D'),
        _ => None,
    };
    let kind = match (letter, &column.counter) {
        (Some(letter), counter) => NewKind::Leaves(vec![NewLeaf {
            name: column.name.clone(),
            letter,
            counter: counter.clone(),
            ..NewLeaf::default()
        }]),
        (None, None) => NewKind::Class { type_name: column.type_name.clone(), clones: None },
        (None, Some(_)) => return Err(Error::unsupported(format!("an array of {}", column.type_name))),
    };
    Ok(TreeColumn { name: column.name.clone(), kind })
}

/// The layout, with the split levels of the data set where the layout has none.
fn with_splits(model: &Model, layout: &Layout) -> Result<Layout> {
    let mut whole = Layout::default();
    for column in model.columns() {
        if let Some(split) = column.split_level {
            let keys = ColumnLayout { split_level: Some(u32::try_from(split).unwrap_or(0)), ..ColumnLayout::default() };
            whole.set_column(ColumnPattern::new(&column.name)?, &keys);
        }
    }
    if layout.common.split_level.is_some() {
        return Ok(layout.clone());
    }
    whole.overlay(layout);
    Ok(whole)
}

/// The names of several outputs, made from one name: `out.root`, `out-1.root`, `out-2.root`.
pub fn numbered(path: &Path, outputs: usize) -> Vec<PathBuf> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = |i: usize| if i == 0 { path.to_path_buf() } else { path.with_file_name(format!("{stem}-{i}.root")) };
    (0..outputs.max(1)).map(name).collect()
}
