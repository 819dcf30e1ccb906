//! A column being filled by whoever has its next baskets: they are decoded in their order, one at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use dataset::decode::{ColumnBuilder, ColumnPlan};
use dataset::tree::basket::BasketData;
use rootfile::{Error, Result};

use super::request::Wanted;
use super::spent::Spent;
use crate::column::Piece;

/// A column being filled.
pub(super) struct Lane {
    state: Mutex<State>,
    turned: Condvar,
}

struct State {
    turn: u64,
    /// The entries so far, or why there will be none.
    builder: Result<ColumnBuilder>,
    /// The first entry that is not there yet.
    at: u64,
    spent: Spent,
}

/// A lane whose turn it is.
pub(super) struct Turn<'a> {
    lane: &'a Lane,
    state: MutexGuard<'a, State>,
}

impl Lane {
    pub fn new(plan: &ColumnPlan, wanted: &Wanted<'_>) -> Self {
        let span = wanted.span();
        // What a file claims is not taken for granted: buffers grow with what is really there.
        let capacity = usize::try_from(wanted.count(&span)).unwrap_or(usize::MAX).min(1 << 20);
        let state = State { turn: 0, builder: Ok(plan.start(capacity)), at: span.start, spent: Spent::default() };
        Self { state: Mutex::new(state), turned: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn. Whoever has an earlier one never waits for anything else, so it comes.
    pub fn wait(&self, turn: u64) -> Turn<'_> {
        let state = self.turned.wait_while(self.lock(), |state| state.turn < turn);
        Turn { lane: self, state: state.unwrap_or_else(PoisonError::into_inner) }
    }

    /// The turn, if it has come.
    pub fn try_wait(&self, turn: u64) -> Option<Turn<'_>> {
        let state = self.lock();
        (state.turn >= turn).then_some(Turn { lane: self, state })
    }

    /// Lets nobody wait any longer.
    pub fn give_up(&self) {
        self.lock().turn = u64::MAX;
        self.turned.notify_all();
    }

    /// What was filled in, and what it cost. Entries that are in no basket are defaults.
    pub fn finish(self, wanted: &Wanted<'_>) -> (Result<ColumnBuilder>, Spent) {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let end = wanted.span().end;
        state.skip_to(end, wanted);
        (state.builder, state.spent)
    }
}

impl State {
    fn skip_to(&mut self, entry: u64, wanted: &Wanted<'_>) {
        if entry > self.at {
            let missing = wanted.count(&(self.at..entry));
            self.at = entry;
            if missing > 0
                && let Ok(builder) = &mut self.builder
            {
                let appended = usize::try_from(missing).map_err(|_| Error::request("too many entries for an array"));
                if let Err(error) = appended.and_then(|n| builder.append_missing(n)) {
                    self.builder = Err(error);
                }
            }
        }
    }
}

impl Turn<'_> {
    /// Decodes the wanted entries of a piece. An error is the column's own: others go on.
    pub fn append(&mut self, piece: &Piece, basket: &BasketData, wanted: &Wanted<'_>, counts: Counts<'_>) {
        let begun = Instant::now();
        let state = &mut *self.state;
        state.skip_to(piece.first_entry, wanted);
        if let Ok(builder) = &mut state.builder {
            let mut runs = wanted.runs(piece.first_entry..piece.end());
            let appended = runs.try_for_each(|run| {
                let counts = counts(&run)?;
                let local = |entry: u64| usize::try_from(entry - piece.first_entry).unwrap_or(usize::MAX);
                builder.append(basket, local(run.start)..local(run.end), &counts)
            });
            if let Err(error) = appended {
                state.builder = Err(error.at(piece.seek));
            }
        }
        state.at = state.at.max(piece.end());
        state.spent.decode += begun.elapsed();
    }

    /// Adds to what the column cost, and passes the turn on.
    pub fn end(mut self, spent: Spent) {
        self.state.spent += spent;
        self.state.turn = self.state.turn.saturating_add(1);
        self.lane.turned.notify_all();
    }
}

/// Gives the values of a column's counters for some entries.
pub(super) type Counts<'a> = &'a mut dyn FnMut(&std::ops::Range<u64>) -> Result<Vec<Vec<u64>>>;
