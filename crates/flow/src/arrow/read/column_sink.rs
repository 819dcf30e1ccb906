//! A column being filled by whoever has its next baskets: they are decoded in their order, one at a time. What becomes
//! of it, one array or one for each cluster that is dropped again, is said when it begins.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use arrow_array::ArrayRef;
use dataset::decode::{ColumnBuilder, ColumnPlan};
use dataset::tree::basket::BasketData;
use rootfile::{Error, Result};

use super::request::RequestedEntries;
use super::spent::Spent;
use crate::table::column::Column;
use crate::table::piece::Piece;

/// What becomes of the entries that are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputMode {
    /// One array.
    Keep,
    /// An array for each cluster, dropped as soon as it is made; the clusters are so many.
    DropClusters { clusters: usize },
}

/// Most that is set aside for an array before its entries come.
const MOST_ENTRIES: usize = 1 << 20;
const MOST_BYTES: usize = 64 << 20;

/// A column being filled.
pub(crate) struct ColumnSink {
    plan: ColumnPlan,
    mode: OutputMode,
    /// Entries and bytes that there will be about in an array.
    room: (usize, usize),
    state: Mutex<State>,
    turned: Condvar,
}

struct State {
    turn: u64,
    /// The entries so far, if any, or why there will be none.
    builder: Result<Option<ColumnBuilder>>,
    /// The first entry that is not there yet.
    at: u64,
    spent: Spent,
}

/// A lane whose turn it is.
pub(crate) struct SinkGuard<'a> {
    sink: &'a ColumnSink,
    state: MutexGuard<'a, State>,
}

impl ColumnSink {
    pub fn new(plan: &ColumnPlan, column: &Column, requested: &RequestedEntries<'_>, mode: OutputMode) -> Self {
        let span = requested.span();
        let arrays = match mode {
            OutputMode::Keep => 1,
            OutputMode::DropClusters { clusters } => clusters.max(1) as u64,
        };
        let (entries, bytes) = (requested.count(&span), requested.bytes(column));
        // What a file claims is not taken for granted: buffers grow with what is really there.
        let limited = |n: u64, most: usize| usize::try_from(n / arrays).unwrap_or(usize::MAX).min(most);
        let room = (limited(entries, MOST_ENTRIES), limited(bytes, MOST_BYTES));
        let state = State { turn: 0, builder: Ok(None), at: span.start, spent: Spent::default() };
        Self { plan: plan.clone(), mode, room, state: Mutex::new(state), turned: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn. Whoever has an earlier one never waits for anything else, so it comes.
    pub fn wait(&self, turn: u64) -> SinkGuard<'_> {
        let state = self.turned.wait_while(self.lock(), |state| state.turn < turn);
        SinkGuard { sink: self, state: state.unwrap_or_else(PoisonError::into_inner) }
    }

    /// The turn, if it has come.
    pub fn try_wait(&self, turn: u64) -> Option<SinkGuard<'_>> {
        let state = self.lock();
        (state.turn >= turn).then_some(SinkGuard { sink: self, state })
    }

    /// Lets nobody wait any longer.
    pub fn give_up(&self) {
        self.lock().turn = u64::MAX;
        self.turned.notify_all();
    }

    /// What was filled in, and what it cost. Entries that are in no basket are defaults.
    pub fn finish(self, requested: &RequestedEntries<'_>) -> (Result<ArrayRef>, Spent) {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let end = requested.span().end;
        let start = || self.plan.start(self.room.0, self.room.1);
        state.skip_to(end, requested, start);
        let begun = Instant::now();
        let array = state.builder.and_then(|builder| builder.unwrap_or_else(start).finish());
        state.spent.decode += begun.elapsed();
        (array, state.spent)
    }
}

impl State {
    fn skip_to(&mut self, entry: u64, requested: &RequestedEntries<'_>, start: impl Fn() -> ColumnBuilder) {
        if entry > self.at {
            let missing = requested.count(&(self.at..entry));
            self.at = entry;
            if missing > 0
                && let Ok(builder) = &mut self.builder
            {
                let builder = builder.get_or_insert_with(start);
                let appended = usize::try_from(missing).map_err(|_| Error::request("too many entries for an array"));
                if let Err(error) = appended.and_then(|n| builder.append_missing(n)) {
                    self.builder = Err(error);
                }
            }
        }
    }
}

impl SinkGuard<'_> {
    /// Decodes the requested entries of a piece. An error is the column's own: others go on.
    pub fn append(&mut self, piece: &Piece, basket: &BasketData, requested: &RequestedEntries<'_>, counts: Counts<'_>) {
        let begun = Instant::now();
        let state = &mut *self.state;
        let start = || self.sink.plan.start(self.sink.room.0, self.sink.room.1);
        state.skip_to(piece.first_entry, requested, start);
        if let Ok(builder) = &mut state.builder {
            let builder = builder.get_or_insert_with(start);
            let entries = piece.first_entry..piece.end();
            let appended = match requested.scattered(&entries) {
                Some(numbers) => counts(&spanned(&numbers))
                    .and_then(|counts| builder.append_scattered(basket, piece.first_entry, &numbers, &counts)),
                None => requested.runs(&entries).try_for_each(|run| {
                    let counts = counts(&run)?;
                    let local = |entry: u64| usize::try_from(entry - piece.first_entry).unwrap_or(usize::MAX);
                    builder.append(basket, local(run.start)..local(run.end), &counts)
                }),
            };
            if let Err(error) = appended {
                state.builder = Err(error.at(piece.seek));
            }
        }
        state.at = state.at.max(piece.end());
        state.spent.decode += begun.elapsed();
    }

    /// Adds to what the column cost, and passes the turn on.
    pub fn end(mut self, spent: Spent, ends_cluster: bool) {
        let begun = Instant::now();
        let state = &mut *self.state;
        state.spent += spent;
        if ends_cluster
            && self.sink.mode != OutputMode::Keep
            && let Ok(builder) = &mut state.builder
        {
            if let Some(Err(error)) = builder.take().map(ColumnBuilder::finish) {
                state.builder = Err(error);
            }
            state.spent.decode += begun.elapsed();
        }
        self.state.turn = self.state.turn.saturating_add(1);
        self.sink.turned.notify_all();
    }
}

/// From the first of these to the last.
fn spanned(numbers: &[u64]) -> std::ops::Range<u64> {
    numbers.first().zip(numbers.last()).map_or(0..0, |(first, last)| *first..last + 1)
}

/// Gives the values of a column's counters for some entries.
pub(crate) type Counts<'a> = &'a mut dyn FnMut(&std::ops::Range<u64>) -> Result<Vec<Vec<u64>>>;
