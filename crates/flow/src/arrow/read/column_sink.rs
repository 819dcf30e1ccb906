//! The sink of a column that is read: its pieces are appended in order, one at a time, by the thread that has the next ones. The
//! result is one array, or arrays that are dropped again.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

use arrow_array::ArrayRef;
use dataset::table::piece::Piece;
use dataset::table::{Loaded, TableColumn, ValueBuilder};
use dataset::tree::basket::BasketData;
use rootfile::{Error, Result};

use super::cost::ReadCost;
use super::request::RequestedEntries;
use crate::table::tree::column::Column;

/// The output of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputMode {
    /// One array of all entries.
    Keep,
    /// None: columns of numbers are decoded page by page, of others arrays of about [`DROPPED_BYTES`], at least one for each task,
    /// each dropped as soon as it is made.
    Drop,
}

/// Expected entries and bytes of an array.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    entries: usize,
    bytes: usize,
}

impl OutputMode {
    /// An empty array of a column, with room for what is expected.
    fn start(self, plan: &TableColumn, Capacity { entries, bytes }: Capacity) -> Result<ValueBuilder> {
        match self {
            Self::Drop => plan.start_passing().map_or_else(|| plan.start(entries, bytes), Ok),
            Self::Keep => plan.start(entries, bytes),
        }
    }
}

/// Bytes of an array that is dropped: enough to be worth starting one, few enough to stay in a core's cache, so that no value goes to
/// memory that was never touched.
pub(super) const DROPPED_BYTES: u64 = 1 << 20;

/// Bytes of the pieces that are passed in one go. Pages at their ends are looked at twice, and the ends of collections take memory.
pub(super) const PASSED_BYTES: u64 = 32 << 20;

/// Largest initial capacity of an array, in entries and bytes.
const MAX_ENTRIES: usize = 1 << 20;
const MAX_BYTES: usize = 64 << 20;

/// A column that is being filled.
pub(crate) struct ColumnSink {
    plan: TableColumn,
    mode: OutputMode,
    capacity: Capacity,
    state: Mutex<State>,
    served: Condvar,
}

struct State {
    /// The ticket that is served now.
    serving: u64,
    /// The entries so far, if any, or the error of the column.
    builder: Result<Option<ValueBuilder>>,
    /// What was appended to it.
    bytes: u64,
    /// The next entry to decode.
    at: u64,
    spent: ReadCost,
}

/// Exclusive access to a sink, for the task with the current ticket.
pub(crate) struct SinkGuard<'a> {
    sink: &'a ColumnSink,
    state: MutexGuard<'a, State>,
}

impl ColumnSink {
    pub fn new(plan: &TableColumn, column: &Column, requested: &RequestedEntries<'_>, mode: OutputMode) -> Self {
        let (entries, bytes) = (requested.count(&requested.span()), requested.bytes(column));
        let arrays = match mode {
            OutputMode::Keep => 1,
            OutputMode::Drop => (bytes / DROPPED_BYTES).max(1),
        };
        // The metadata are not trusted: buffers grow with the entries that are really there.
        let limited = |n: u64, most: usize| usize::try_from(n / arrays).unwrap_or(usize::MAX).min(most);
        let capacity = Capacity { entries: limited(entries, MAX_ENTRIES), bytes: limited(bytes, MAX_BYTES) };
        let at = requested.span().start;
        let state = State { serving: 0, builder: Ok(None), bytes: 0, at, spent: ReadCost::default() };
        Self { plan: plan.clone(), mode, capacity, state: Mutex::new(state), served: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a ticket to be served. Tasks with earlier tickets wait for nothing else, so it will be served.
    pub fn wait(&self, ticket: u64) -> SinkGuard<'_> {
        let state = self.served.wait_while(self.lock(), |state| state.serving < ticket);
        SinkGuard { sink: self, state: state.unwrap_or_else(PoisonError::into_inner) }
    }

    /// Access with a ticket, if it is served now and nobody is at it.
    pub fn try_wait(&self, ticket: u64) -> Option<SinkGuard<'_>> {
        let state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        (state.serving >= ticket).then_some(SinkGuard { sink: self, state })
    }

    /// Ends all waiting.
    pub fn give_up(&self) {
        self.lock().serving = u64::MAX;
        self.served.notify_all();
    }

    /// The array and its cost. Entries that are in no basket get default values.
    pub fn finish(self, requested: &RequestedEntries<'_>) -> (Result<ArrayRef>, ReadCost) {
        let Self { plan, mode, capacity, state, .. } = self;
        let mut state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let end = requested.span().end;
        let start = || mode.start(&plan, capacity);
        state.skip_to(end, requested, start);
        let started = Instant::now();
        let array = state.builder.and_then(|builder| builder.map_or_else(start, Ok)?.finish());
        state.spent.decode += started.elapsed();
        (array, state.spent)
    }
}

impl State {
    fn skip_to(&mut self, entry: u64, requested: &RequestedEntries<'_>, start: impl Fn() -> Result<ValueBuilder>) {
        if entry > self.at {
            let missing = requested.count(&(self.at..entry));
            self.at = entry;
            if missing > 0 {
                self.fill(start, |builder| {
                    let missing =
                        usize::try_from(missing).map_err(|_| Error::request("too many entries for an array"))?;
                    builder.append_missing(missing)
                });
            }
        }
    }

    /// Appends to the array, which is started if need be. Does nothing after an error.
    fn fill(&mut self, start: impl Fn() -> Result<ValueBuilder>, append: impl FnOnce(&mut ValueBuilder) -> Result<()>) {
        let Ok(slot) = &mut self.builder else { return };
        let filled = match slot {
            Some(builder) => append(builder),
            None => start().and_then(|builder| append(slot.insert(builder))),
        };
        if let Err(error) = filled {
            self.builder = Err(error);
        }
    }
}

impl SinkGuard<'_> {
    /// Appends the requested entries of a piece, and gives back its basket. An error ends this column only.
    pub fn append(
        &mut self,
        piece: &Piece,
        loaded: Loaded,
        requested: &RequestedEntries<'_>,
        counts: Counts<'_>,
    ) -> Option<BasketData> {
        let started = Instant::now();
        let state = &mut *self.state;
        let start = || self.sink.mode.start(&self.sink.plan, self.sink.capacity);
        state.skip_to(piece.first_entry, requested, start);
        let entries = piece.first_entry..piece.end();
        let mut rest = None;
        match loaded {
            Loaded::Basket(basket) => {
                state.fill(start, |builder| {
                    let ValueBuilder::Branch(builder) = builder else { return Err(mixed()) };
                    let appended = match requested.scattered(&entries) {
                        Some(numbers) => counts(&spanned(&numbers))
                            .and_then(|counts| builder.append_scattered(&basket, piece.first_entry, &numbers, &counts)),
                        None => requested.runs(&entries).try_for_each(|run| {
                            let counts = counts(&run)?;
                            let local = |entry: u64| usize::try_from(entry - piece.first_entry).unwrap_or(usize::MAX);
                            builder.append(&basket, local(run.start)..local(run.end), &counts)
                        }),
                    };
                    appended.map_err(|e| piece.blame(e))
                });
                rest = Some(basket);
            }
            Loaded::Values(mut values) => match &mut state.builder {
                // The first values become the array, which grows from there.
                Ok(slot @ None) => match values.reserve(self.sink.capacity.entries.saturating_sub(values.len())) {
                    Ok(()) => *slot = Some(ValueBuilder::Field(values)),
                    Err(error) => state.builder = Err(error),
                },
                _ => state.fill(start, |builder| builder.append(Loaded::Values(values))),
            },
            array @ Loaded::Array(_) => state.fill(start, |builder| builder.append(array)),
        }
        state.at = state.at.max(piece.end());
        state.spent.decode += started.elapsed();
        rest
    }

    /// Appends the requested entries of a piece by a function that appends them to the values so far: an error of it is one of the read.
    pub fn append_by(
        &mut self,
        piece: &Piece,
        requested: &RequestedEntries<'_>,
        append: impl FnOnce(&mut ValueBuilder) -> Result<()>,
    ) -> Result<()> {
        let state = &mut *self.state;
        let start = || self.sink.mode.start(&self.sink.plan, self.sink.capacity);
        state.skip_to(piece.first_entry, requested, start);
        state.at = state.at.max(piece.end());
        let mut done = Ok(());
        state.fill(start, |values| {
            let is_first = values.is_empty();
            done = append(values);
            if is_first && done.is_ok() {
                values.expect(self.sink.capacity.entries.saturating_sub(values.len()));
            }
            Ok(())
        });
        done
    }

    /// Counts what was appended, so many bytes in memory. An array that is to be dropped is made when it has enough of them.
    pub fn appended(&mut self, bytes: u64) {
        self.state.bytes = self.state.bytes.saturating_add(bytes);
        if self.state.bytes >= DROPPED_BYTES {
            self.drop_array();
        }
    }

    /// Makes the array and drops it, unless it is to be kept.
    fn drop_array(&mut self) {
        let state = &mut *self.state;
        state.bytes = 0;
        if self.sink.mode != OutputMode::Keep
            && let Ok(builder) = &mut state.builder
        {
            let started = Instant::now();
            if let Some(Err(error)) = builder.take().map(ValueBuilder::finish) {
                state.builder = Err(error);
            }
            state.spent.decode += started.elapsed();
        }
    }

    /// Adds to the cost of the column, and serves the next ticket.
    pub fn end(mut self, spent: ReadCost) {
        self.drop_array();
        self.state.spent += spent;
        self.state.serving = self.state.serving.saturating_add(1);
        self.sink.served.notify_all();
    }
}

/// The range from the first of these entries to the last.
fn spanned(numbers: &[u64]) -> std::ops::Range<u64> {
    numbers.first().zip(numbers.last()).map_or(0..0, |(first, last)| *first..last + 1)
}

/// Values of one container in an array of the other.
#[cold]
fn mixed() -> Error {
    Error::unsupported("a piece of another container")
}

/// Reads the values of a column's counters for some entries.
pub(crate) type Counts<'a> = &'a mut dyn FnMut(&std::ops::Range<u64>) -> Result<Vec<Vec<u64>>>;
