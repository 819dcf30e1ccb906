//! Runs one job in this process, so that memory and CPU of the process are those of the job.
//!
//! A copy is a rewrite into each stream, side by side. A reading is decoded into Arrow and dropped.

use std::collections::{HashSet, VecDeque};
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dataset::EntrySet;
use dataset::glob::TreePattern;
use flow::inputs::Input;
use flow::read::{Dataset, Request, drain};
use flow::{Budget, ContentOptions, Entries, EntryFilter, Listed, Options, Summary};
use rootfile::{Error, Result};
use rustix::process::Signal;

use super::jobs;
use super::plan::Kind;
use super::record;
use super::runner::{Measured, Task, record_of};
use crate::readspeed::Columns;
use crate::system::clock::process_seconds;
use crate::system::kernel::{Process, hear_end_of_parent};
use crate::system::subprocess::Memory;

/// Memory is looked at no more often than this.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
/// Appends that are remembered: more than a tree of one record has branches.
const REMEMBERED: usize = 1 << 14;

/// Runs a job, and returns its measurements. The process ends with the sweep that started it.
///
/// # Errors
///
/// The copy cannot be written or read, or the process for it cannot be started.
pub fn execute(task: &Task) -> Result<Measured> {
    hear_end_of_parent(Signal::TERM)?;
    match task.job.kind {
        _ if !task.jobs.is_empty() => jobs::run(task),
        Kind::Copy => copy(task),
        _ => read(task),
    }
}

/// A stretch of work that is measured.
struct Stretch {
    start: Memory,
    started: Instant,
    cpu: f64,
    ticks: (f64, f64),
}

impl Stretch {
    fn begin() -> Self {
        let (start, ticks) = (Memory::now(), ticks());
        Self { start, started: Instant::now(), cpu: process_seconds(), ticks }
    }

    fn end(self) -> Measured {
        let wall = self.started.elapsed().as_secs_f64();
        let cpu = process_seconds() - self.cpu;
        let now = ticks();
        let (user, system) = (now.0 - self.ticks.0, now.1 - self.ticks.1);
        // Ticks are too coarse to be times, but good enough to share the time out.
        let share = if user + system > 0.0 { system / (user + system) } else { 0.0 };
        let peak = Memory::peak();
        Measured {
            wall,
            user: cpu * (1.0 - share),
            system: cpu * share,
            start: self.start,
            events: peak,
            peak,
            ..Measured::default()
        }
    }
}

/// User's and system's time of this process, in microseconds.
#[expect(clippy::cast_precision_loss, reason = "microseconds")]
fn ticks() -> (f64, f64) {
    let stat = Process::own().ok().and_then(|own| own.stat());
    stat.map_or((0.0, 0.0), |stat| (stat.user as f64, stat.system as f64))
}

/// Notes during a copy.
#[derive(Default)]
struct Notes {
    looked: Option<Instant>,
    /// The most memory so far, whenever it had grown.
    peaks: Vec<(Instant, Memory)>,
    /// When each stream appended last, and how often it did.
    appends: Vec<VecDeque<Instant>>,
}

impl Notes {
    fn append(&mut self, stream: usize) {
        let now = Instant::now();
        if self.looked.is_none_or(|last| now - last >= BETWEEN_LOOKS) {
            self.looked = Some(now);
            let peak = Memory::peak();
            if self.peaks.last().is_none_or(|(_, last)| *last != peak) {
                self.peaks.push((now, peak));
            }
        }
        let Some(appends) = self.appends.get_mut(stream) else { return };
        if appends.len() == REMEMBERED {
            appends.pop_front();
        }
        appends.push_back(now);
    }

    /// The most memory until all streams were through with the events: before the last `records` appends of each.
    fn before(&self, records: usize) -> Option<Memory> {
        let last = |appends: &VecDeque<Instant>| appends.get(appends.len().checked_sub(records + 1)?).copied();
        let until = self.appends.iter().filter_map(last).max()?;
        self.peaks.iter().rev().find(|(at, _)| *at <= until).map(|(_, peak)| *peak)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn copy(task: &Task) -> Result<Measured> {
    let streams = task.outputs.len().max(1);
    let record = record_of(task);
    let inputs: Vec<_> = std::iter::once(task.input.clone()).chain(record).collect();
    let budget = Budget::new(task.memory / streams as u64, (task.threads / streams).max(1));
    let options = Options {
        layout: task.layout.clone(),
        content: ContentOptions {
            entries: entries(task)?,
            listed: (!task.others).then(|| {
                let name = task.tree.rsplit('/').next().unwrap_or_default();
                Listed::Only(HashSet::from([name.to_owned(), record::TREE.to_owned()]))
            }),
            ..ContentOptions::default()
        },
        budget,
        overwrite: true,
        ..Options::default()
    };
    let notes = Mutex::new(Notes { appends: vec![VecDeque::new(); streams], ..Notes::default() });
    let stretch = Stretch::begin();
    let done = std::thread::scope(|scope| {
        let (options, inputs, notes) = (&options, &inputs, &notes);
        let stream = |(number, output): (usize, &std::path::PathBuf)| {
            let output = output.clone();
            scope.spawn(move || {
                let appended = |bytes| {
                    if bytes > 0 {
                        lock(notes).append(number);
                    }
                    ControlFlow::Continue(())
                };
                flow::rewrite(inputs, &output, options, &appended)
            })
        };
        let running: Vec<_> = task.outputs.iter().enumerate().map(stream).collect();
        let join = |running: std::thread::ScopedJoinHandle<'_, Result<Summary>>| {
            running.join().unwrap_or_else(|_| Err(Error::request("a stream failed")))
        };
        running.into_iter().map(join).collect::<Result<Vec<Summary>>>()
    })?;
    let mut measured = stretch.end();
    let of = |path: &str| done.first().and_then(|summary| summary.tables.iter().find(|table| table.path == path));
    let records = of(record::TREE).map_or(0, |table| table.baskets);
    if let Some(before) = lock(&notes).before(usize::try_from(records).unwrap_or(usize::MAX)) {
        measured.events = before;
        // The kernel counts pages by processor, and a later reading may be a little lower.
        measured.peak = measured.peak.or_more(before);
    }
    if let Some(table) = of(&task.tree) {
        measured.entries = table.entries * streams as u64;
        measured.baskets = table.baskets;
        measured.clusters = table.clusters;
        measured.compressed = table.zip_bytes;
    }
    measured.bytes = done.first().map_or(0, |summary| summary.bytes_written);
    Ok(measured)
}

/// The entries of the tree that are copied.
fn entries(task: &Task) -> Result<EntryFilter> {
    let wanted = match &task.index {
        Some(path) => Entries::Listed(path.clone()),
        None => Entries::from(0..task.entries),
    };
    Ok(EntryFilter { entries: vec![(Some(TreePattern::exact(&task.tree)), wanted)], ..EntryFilter::default() })
}

fn read(task: &Task) -> Result<Measured> {
    let input = Input { path: task.input.clone(), tree: Some(task.tree.clone()) };
    let dataset = Dataset::open(std::slice::from_ref(&input))?;
    let all = dataset.default_columns();
    let reading = Reading { dataset: &dataset, budget: Budget::new(task.memory, task.threads) };
    let range = 0..dataset.entries();
    let mut measured = match task.job.kind {
        Kind::Columns => reading.columns()?,
        Kind::Sparse => reading.picked(all.clone(), task)?,
        Kind::Chosen => {
            let chosen = Columns::Named(task.columns.clone()).choose(&dataset, true)?;
            reading.measured(chosen, range.clone(), None)?
        }
        Kind::Copy | Kind::Full => reading.measured(all.clone(), range.clone(), None)?,
    };
    measured.bytes = std::fs::metadata(&task.input).map_err(|e| Error::from(e).file(&task.input))?.len();
    measured.baskets = all.iter().map(|&column| dataset.stored(column, &range).1).sum();
    measured.clusters = dataset.clusters().len().saturating_sub(1) as u64;
    Ok(measured)
}

struct Reading<'a> {
    dataset: &'a Dataset,
    budget: Budget,
}

impl Reading<'_> {
    /// Entries read, and bytes on disk.
    fn drain(&self, columns: Vec<usize>, entries: Range<u64>, selection: Option<EntrySet>) -> Result<(u64, u64)> {
        let request = Request { columns, entries, selection, budget: self.budget, progress: &flow::unwatched };
        let (entries, spent) = drain(self.dataset, &request, &|_| ())?;
        Ok((entries, spent.iter().map(|spent| spent.compressed).sum()))
    }

    fn measured(&self, columns: Vec<usize>, range: Range<u64>, selection: Option<EntrySet>) -> Result<Measured> {
        let stretch = Stretch::begin();
        let (entries, compressed) = self.drain(columns, range, selection)?;
        Ok(Measured { entries, compressed, ..stretch.end() })
    }

    /// Each column of the first level, with all its branches, by itself.
    fn columns(&self) -> Result<Measured> {
        let mut tops: Vec<(String, Vec<usize>)> = Vec::new();
        let schema = self.dataset.schema();
        for column in self.dataset.default_columns() {
            let Some(plan) = self.dataset.column(column) else { continue };
            let top = schema.lineage(plan.node()).last().copied().unwrap_or_default();
            match tops.last_mut() {
                Some((name, columns)) if name == top => columns.push(column),
                _ => tops.push((top.to_owned(), vec![column])),
            }
        }
        let stretch = Stretch::begin();
        let (mut times, mut compressed, mut entries) = (Vec::with_capacity(tops.len()), 0, 0);
        for (name, columns) in tops {
            let started = Instant::now();
            let (read, bytes) = self.drain(columns, 0..self.dataset.entries(), None)?;
            times.push((name, started.elapsed().as_secs_f64()));
            (compressed, entries) = (compressed + bytes, read);
        }
        Ok(Measured { entries, compressed, columns: times, ..stretch.end() })
    }

    /// The entries of an index file, the first apart.
    fn picked(&self, columns: Vec<usize>, task: &Task) -> Result<Measured> {
        let index = task.index.as_ref().ok_or_else(|| Error::request("no index of entries"))?;
        let range = 0..self.dataset.entries();
        let chosen = match Entries::Listed(index.clone()).choose(range.end, 1)? {
            (range, None) => range.collect::<Vec<u64>>(),
            (_, Some(selection)) => selection.all_runs().flatten().collect(),
        };
        let (first, rest) = chosen.split_at(chosen.len().min(1));
        let started = Instant::now();
        self.drain(columns.clone(), range.clone(), Some(EntrySet::sorted(first)?))?;
        let first = started.elapsed().as_secs_f64();
        let measured = self.measured(columns, range, Some(EntrySet::sorted(rest)?))?;
        Ok(Measured { first: Some(first), entries: rest.len() as u64, ..measured })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_before_the_records_is_what_was_there_when_the_last_stream_was_through() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let memory = |rss: u64| Memory { rss, vsize: 2 * rss };
        let notes = Notes {
            looked: None,
            peaks: vec![(at(0), memory(1)), (at(5), memory(5)), (at(9), memory(9))],
            appends: vec![[0, 3, 9].map(at).into(), [1, 6, 10].map(at).into()],
        };
        assert_eq!(notes.before(1), Some(memory(5)), "the second stream was through at 6");
        assert_eq!(notes.before(0), Some(memory(9)));
        assert_eq!(notes.before(3), None);
    }

    #[test]
    fn ticks_are_those_of_this_process() {
        let stretch = Stretch::begin();
        while ticks().0 == stretch.ticks.0 {
            std::hint::black_box(std::hint::black_box(1.0f64).sqrt());
        }
        let measured = stretch.end();
        assert!(measured.wall > 0.0 && measured.user > 0.0, "{measured:?}");
    }
}
