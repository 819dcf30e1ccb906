//! Buffers and compressors of threads that encode, and the helpers that they may leave pieces to.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::ThreadPool;
use rootfile::codec::Compressor;

use super::clocks::Clocks;
use super::compressors::Compressors;
use crate::execute::shared_work::{Job, Needs, SharedWork, Slot};

/// Buffers and compressor of one thread that makes baskets, for any branch.
pub(crate) struct EncodeScratch {
    pub compressor: Compressor,
    /// The payload of a basket with offsets, its part behind the entries, and the offsets.
    pub payload: Vec<u8>,
    pub tail: Vec<u8>,
    pub offsets: Vec<u32>,
    pub clocks: Arc<Clocks>,
}

impl EncodeScratch {
    pub fn new(compressor: Compressor, clocks: Arc<Clocks>) -> Self {
        Self { compressor, payload: Vec::new(), tail: Vec::new(), offsets: Vec::new(), clocks }
    }
}

/// Who makes pieces besides the thread that cuts them.
#[derive(Clone)]
pub(crate) struct Crew {
    work: Arc<SharedWork>,
    /// Threads that help with each piece that is put. Others look for work themselves.
    team: Option<Arc<ThreadPool>>,
}

impl Crew {
    /// The threads that take this work, and a team with so many threads.
    pub fn new(work: Arc<SharedWork>, team: Option<Arc<ThreadPool>>) -> Self {
        Self { work, team }
    }

    /// A team that takes work of at most `most` bytes at once.
    pub fn of_team(team: Arc<ThreadPool>, most: u64) -> Self {
        let work = SharedWork::new(most, || true, || ());
        work.add_helpers(team.current_num_threads());
        Self::new(Arc::new(work), Some(team))
    }

    /// Whether a helper lacks work.
    pub fn wants_work(&self) -> bool {
        self.work.is_wanted()
    }

    /// Leaves work of so many bytes to helpers.
    pub fn share(&self, bytes: u64, needs: Needs, job: Job) {
        self.work.put(bytes, needs, job);
        if let Some(team) = &self.team {
            let work = Arc::clone(&self.work);
            // What lacks means now is done by the thread that uses them.
            team.spawn_fifo(move || while work.help_without_waiting() {});
        }
    }

    /// Takes what was left to helpers. Does what waits for them, until it is made.
    pub fn take<T>(&self, made: &Slot<T>) -> T {
        loop {
            match made.try_take() {
                Some(made) => return made,
                // What is not made, and waits no more, is being made.
                None if !self.work.help() => return made.take(),
                None => {}
            }
        }
    }
}

/// The scratch buffers of a context: one for each thread that works for it. Compressors are lent by a stock.
pub(crate) struct EncodeScratchPool {
    free: Mutex<Vec<EncodeScratch>>,
    pub compressors: Arc<Compressors>,
    pub clocks: Arc<Clocks>,
    crew: Option<Crew>,
}

impl EncodeScratchPool {
    pub fn new(compressors: Arc<Compressors>, clocks: Arc<Clocks>) -> Self {
        Self { free: Mutex::default(), compressors, clocks, crew: None }
    }

    /// The same with helpers.
    pub fn with_crew(self, crew: Option<Crew>) -> Self {
        Self { crew, ..self }
    }

    /// The helpers, if there may be some.
    pub fn crew(&self) -> Option<&Crew> {
        self.crew.as_ref()
    }

    /// The helpers, if one lacks work.
    pub fn idle_crew(&self) -> Option<&Crew> {
        self.crew().filter(|crew| crew.wants_work())
    }

    /// Runs work with a free scratch, or with a new one if all are in use. It waits for a compressor where memory is short, so
    /// the work must not ask for another scratch.
    pub fn with<T>(&self, work: impl FnOnce(&mut EncodeScratch) -> T) -> T {
        let lock = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = lock().pop();
        let mut scratch = free.unwrap_or_else(|| EncodeScratch::new(Compressor::new(), Arc::clone(&self.clocks)));
        let mut lent = self.compressors.lend();
        std::mem::swap(&mut scratch.compressor, &mut lent.compressor);
        let done = work(&mut scratch);
        std::mem::swap(&mut scratch.compressor, &mut lent.compressor);
        drop(lent);
        lock().push(scratch);
        done
    }

    /// Bytes of their buffers.
    pub fn memory(&self) -> u64 {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = |scratch: &EncodeScratch| {
            scratch.payload.capacity() + scratch.tail.capacity() + scratch.offsets.capacity() * size_of::<u32>()
        };
        free.iter().map(|scratch| bytes(scratch) as u64).sum()
    }

    /// Drops the buffers.
    pub fn drop_buffers(&self) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
