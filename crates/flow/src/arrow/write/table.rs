//! A table of one container on its way into a file: its plans, the buffers that its contexts leave to each other, and its part of the
//! file. `any_table` is what others see of it; only its makers and its own clusters know the container.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use rootfile::{FileWriter, Result};

use super::batch_columns::column_of;
use super::format::{OpenTable, TableFormat};
use super::memory_limiter::stopped;
use crate::execute::encode::scratch::EncodeScratchPool;

/// A table of one container.
pub(crate) struct Table<F: TableFormat> {
    state: Mutex<State<F>>,
    /// Whether columns were added.
    is_wider: AtomicBool,
    /// Lock order: this comes after the state.
    stage: Mutex<Stage<F>>,
}

pub(super) struct State<F: TableFormat> {
    /// Each has the columns of the one before, and more.
    pub plans: Vec<Arc<F::Plan>>,
    pub idle: Vec<IdleStreams<F>>,
}

/// The streams of a finished context, with their buffers.
pub(crate) struct IdleStreams<F: TableFormat> {
    pub streams: Vec<F::Stream>,
    /// Bytes reserved for them.
    pub kept: u64,
}

/// How far the table is written.
pub(super) enum Stage<F: TableFormat> {
    Planned(Box<F::Record>),
    Open(Box<Opened<F>>),
    Finished,
}

/// A table that has a place in the file.
pub(crate) struct Opened<F: TableFormat> {
    pub table: F::Open,
    /// The plans with more columns of which no cluster has arrived yet, and the metadata with these.
    pub late: VecDeque<(Arc<F::Plan>, F::Record)>,
}

impl<F: TableFormat> State<F> {
    /// Drops the streams of finished contexts. Returns the bytes to release.
    pub fn drop_idle(&mut self) -> u64 {
        let idle = std::mem::take(&mut self.idle);
        idle.iter().map(|streams| streams.kept).sum()
    }
}

impl<F: TableFormat> Opened<F> {
    /// Adds the columns up to those of a plan, or all. Returns whether there were some.
    pub fn extend(
        &mut self,
        file: &mut FileWriter,
        plan: Option<&Arc<F::Plan>>,
        scratches: &EncodeScratchPool,
    ) -> Result<bool> {
        let last = match plan {
            None => self.late.len(),
            Some(plan) => self.late.iter().position(|(late, _)| Arc::ptr_eq(late, plan)).map_or(0, |place| place + 1),
        };
        // A plan has the columns of those before.
        let Some((plan, record)) = self.late.drain(..last).next_back() else { return Ok(false) };
        self.table.extend(file, plan, record, scratches)?;
        Ok(true)
    }
}

impl<F: TableFormat> Table<F> {
    /// A table with a plan, and its metadata without clusters.
    pub fn new((plan, record): (F::Plan, F::Record)) -> Arc<Self> {
        let state = State { plans: vec![Arc::new(plan)], idle: Vec::new() };
        let stage = Stage::Planned(Box::new(record));
        Arc::new(Self { state: Mutex::new(state), is_wider: AtomicBool::new(false), stage: Mutex::new(stage) })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State<F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stage(&self) -> MutexGuard<'_, Stage<F>> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The plan with all columns.
    pub fn newest(&self) -> Result<Arc<F::Plan>> {
        self.state().plans.last().cloned().ok_or_else(stopped)
    }

    /// Plans it anew before it begins, with the same columns.
    pub fn replan(&self, plan: F::Plan) {
        self.state().plans = vec![Arc::new(plan)];
    }

    /// The plan with this number.
    pub fn plan(&self, number: usize) -> Result<Arc<F::Plan>> {
        self.state().plans.get(number).cloned().ok_or_else(stopped)
    }

    /// The plan with all columns, and streams that fit it, where a finished context left some.
    pub fn begin_context(&self) -> Result<(Arc<F::Plan>, IdleStreams<F>)> {
        let mut state = self.state();
        let plan = state.plans.last().cloned().ok_or_else(stopped)?;
        let none = || IdleStreams { streams: Vec::new(), kept: 0 };
        Ok((plan, state.idle.pop().unwrap_or_else(none)))
    }

    /// Keeps the streams of a finished context, unless columns were added meanwhile. Returns the bytes to release.
    pub fn end_context(&self, plan: &Arc<F::Plan>, streams: IdleStreams<F>) -> u64 {
        let mut state = self.state();
        if !state.plans.last().is_some_and(|newest| Arc::ptr_eq(newest, plan)) {
            return streams.kept;
        }
        state.idle.push(streams);
        0
    }

    /// The number of the newest plan that added one of the batch's columns, for a batch with columns that `plan` lacks.
    /// Only the batch decides, not what other threads have done meanwhile.
    pub fn wider_plan(&self, plan: &Arc<F::Plan>, batch: &RecordBatch) -> Option<usize> {
        if !self.is_wider.load(Ordering::Acquire) {
            return None;
        }
        let state = self.state();
        let own = state.plans.iter().position(|other| Arc::ptr_eq(other, plan))?;
        let brings = |before: &F::Plan, after: &F::Plan| {
            let mut late = F::fields(after).skip(F::fields(before).count());
            late.any(|field| column_of(batch, usize::MAX, field.name()).is_some())
        };
        let mut pairs = state.plans.iter().zip(state.plans.iter().skip(1)).enumerate().skip(own);
        pairs.rfind(|(_, (before, after))| brings(before, after)).map(|(number, _)| number + 1)
    }

    /// A plan with more columns, as it follows the others. Fails if the columns can have no defaults.
    pub fn extended(&self, mut plan: F::Plan, scratches: &EncodeScratchPool) -> Result<F::Plan> {
        let before = self.newest()?;
        F::check_defaults(&plan, &before, scratches)?;
        F::extend(&mut plan, &before)?;
        Ok(plan)
    }

    /// Adds a plan of [`Table::extended`]: the file has its columns from the first cluster on that was filled by it. Contexts that begin
    /// now have them. Returns the bytes to release: nobody takes the buffers of other plans.
    pub fn add_columns(&self, plan: F::Plan, record: F::Record) -> u64 {
        let plan = Arc::new(plan);
        let mut state = self.state();
        state.plans.push(Arc::clone(&plan));
        self.is_wider.store(true, Ordering::Release);
        match &mut *self.stage() {
            Stage::Planned(own) => **own = record,
            Stage::Open(open) => open.late.push_back((plan, record)),
            Stage::Finished => {}
        }
        state.drop_idle()
    }

    /// Changes the metadata before the first entry.
    pub fn with_record<T>(&self, act: impl FnOnce(&mut F::Record) -> Result<T>) -> Result<T> {
        match &mut *self.stage() {
            Stage::Planned(record) => act(record),
            Stage::Open(_) | Stage::Finished => Err(stopped()),
        }
    }

    /// Works on the table in its file.
    pub fn with_open<T>(&self, act: impl FnOnce(&mut Opened<F>) -> Result<T>) -> Result<T> {
        match &mut *self.stage() {
            Stage::Open(open) => act(open),
            Stage::Planned(_) | Stage::Finished => Err(stopped()),
        }
    }
}
