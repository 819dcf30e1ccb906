//! The compressors of all threads that encode for one memory budget. One of zstd takes megabytes, so where memory is short there are
//! fewer of them than threads, and threads wait for one. This changes no byte of the output.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rootfile::codec::{Algorithm, Compressor};

/// Compressors may take one part in this many of the budget; one there is always.
const SHARE: u64 = 4;
/// Assumed memory of a compressor until one was used: that of zstd, which keeps most.
const ASSUMED: u64 = Algorithm::Zstd.facts().kept as u64;

/// A stock of compressors.
pub(crate) struct Compressors {
    /// Most bytes of all together.
    most: u64,
    /// As `State::bytes`, for others to see; until one was used, the most that they may take.
    bytes: Arc<AtomicU64>,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    free: Vec<Compressor>,
    /// Those that exist, free or lent.
    count: u64,
    /// Bytes of memory of those that exist; lent ones count as much as the largest so far.
    bytes: u64,
    /// Bytes of the largest so far, once one was used.
    largest: Option<u64>,
}

impl std::fmt::Debug for Compressors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressors").field("most", &self.most).finish_non_exhaustive()
    }
}

impl Compressors {
    /// The compressors for a budget of so many bytes.
    pub fn new(memory: u64) -> Self {
        let most = memory / SHARE;
        Self { most, bytes: Arc::new(AtomicU64::new(most)), state: Mutex::default(), returned: Condvar::new() }
    }

    /// Bytes of memory of those that exist, at any time. Until one was used, the most that they may take: their first use comes when
    /// clusters of all threads are full.
    pub fn bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the bytes of all by what is lent or comes back.
    fn count(&self, state: &mut State, more: u64, less: u64) {
        state.bytes = (state.bytes + more).saturating_sub(less);
        let seen = if state.largest.is_some() { state.bytes } else { self.most.max(state.bytes) };
        self.bytes.store(seen, Ordering::Relaxed);
    }

    /// Lends a compressor. May wait until another thread returns one: a thread borrows one at a time.
    pub fn lend(&self) -> Lent<'_> {
        let mut state = self.lock();
        loop {
            let expected = state.largest.unwrap_or(ASSUMED);
            if let Some(compressor) = state.free.pop() {
                let own = compressor.memory() as u64;
                let counted = own.max(expected);
                self.count(&mut state, counted, own);
                return Lent { compressor, counted, stock: self };
            }
            if state.count == 0 || state.bytes + expected <= self.most {
                state.count += 1;
                self.count(&mut state, expected, 0);
                return Lent { compressor: Compressor::new(), counted: expected, stock: self };
            }
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether [`Compressors::lend`] would not wait.
    pub fn has_one(&self) -> bool {
        let state = self.lock();
        !state.free.is_empty() || state.count == 0 || state.bytes + state.largest.unwrap_or(ASSUMED) <= self.most
    }

    fn take_back(&self, compressor: Compressor, counted: u64) {
        let mut state = self.lock();
        let own = compressor.memory() as u64;
        state.largest = state.largest.max(Some(own));
        self.count(&mut state, own, counted);
        if state.bytes > self.most && state.count > 1 {
            // It grew beyond what was expected of it.
            state.count -= 1;
            self.count(&mut state, 0, own);
        } else {
            state.free.push(compressor);
        }
        drop(state);
        self.returned.notify_one();
    }
}

/// A compressor that one thread uses until this is dropped.
pub(crate) struct Lent<'a> {
    pub compressor: Compressor,
    counted: u64,
    stock: &'a Compressors,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.stock.take_back(std::mem::take(&mut self.compressor), self.counted);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Compresses a page of 1 MiB.
    fn work(compressor: &mut Compressor) {
        compressor.compress("zstd:5".parse().unwrap(), &vec![7; 1 << 20], &mut Vec::new()).unwrap();
    }

    #[test]
    fn there_are_as_many_as_fit_and_one_at_least() {
        let mut one = Compressor::new();
        work(&mut one);
        let own = one.memory() as u64;
        assert!(own > ASSUMED / 2 && own <= ASSUMED, "{own}");
        for memory in [0, SHARE * ASSUMED, 3 * SHARE * ASSUMED] {
            let (stock, now, peak) = (Compressors::new(memory), AtomicU64::new(0), AtomicU64::new(0));
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        for _ in 0..20 {
                            let mut lent = stock.lend();
                            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                            work(&mut lent.compressor);
                            now.fetch_sub(1, Ordering::SeqCst);
                        }
                    });
                }
            });
            let peak = peak.load(Ordering::SeqCst);
            assert!(peak <= (memory / SHARE / own).max(1), "{peak} in {memory}");
            let state = stock.lock();
            let free: u64 = state.free.iter().map(|one| one.memory() as u64).sum();
            assert_eq!((state.bytes, state.count), (free, state.free.len() as u64));
            assert_eq!(stock.bytes().load(Ordering::Relaxed), state.bytes);
        }
    }

    #[test]
    fn compressors_that_take_nothing_are_not_counted() {
        let stock = Compressors::new(0);
        drop(stock.lend());
        let lent: Vec<_> = (0..3).map(|_| stock.lend()).collect();
        assert_eq!(stock.lock().count, 3);
        drop(lent);
        assert_eq!(stock.lock().free.len(), 3);
    }
}
