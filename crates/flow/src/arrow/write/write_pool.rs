//! Resources that one or several writers share: memory, buffers, and threads that help to encode.

use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};

use rayon::ThreadPool;
use rootfile::Result;

use super::buffer_pool::BufferPool;
use super::memory_limiter::{MemoryLimiter, Reserve};
use crate::execute::allocator::{self, LittleKept};
use crate::execute::budget::Budget;
use crate::execute::encode::compressors::Compressors;
use crate::execute::encode::scratch::Crew;
use crate::execute::shared_work::{Helper, SharedWork};

/// The allocator may keep one part in this many of the budget.
const KEPT_SHARE: u64 = 16;
/// The budget is divided by this number for the share of a foreign program's threads: their copies of batches, and what the allocator
/// keeps for each of them.
const SPARE_SHARE: u64 = 8;

/// The same for the share of each thread after the first.
const EACH_SHARE: u64 = 128;

/// Pieces that wait for helpers take at most one part in this many of the budget, and as much again while they are made.
const SHARED_SHARE: u64 = 32;
const SHARED_COPIES: u64 = 2;

/// A thread of a pool, to be run by somebody else's thread.
#[derive(Debug)]
pub struct LentThread(rayon::ThreadBuilder);

impl LentThread {
    /// Works for the pool. Returns when the pool has ended.
    pub fn run(self) {
        self.0.run();
    }
}

/// Memory that one or several writers share: all clusters of all their trees that are filled or wait to be written.
#[derive(Clone, Debug)]
pub struct WritePool {
    pub(super) memory_limiter: Arc<MemoryLimiter>,
    pub(super) buffer_pool: Arc<BufferPool>,
    pub(super) compressors: Arc<Compressors>,
    /// Baskets and pages that any thread makes which has nothing else to do.
    pub(super) work: Arc<SharedWork>,
    /// Threads that help to encode.
    pub(super) team: Option<Arc<ThreadPool>>,
    kept: Arc<Kept>,
}

/// What was done about memory that the allocator keeps, for one thread and for several.
#[derive(Debug, Default)]
struct Kept {
    some: OnceLock<()>,
    little: OnceLock<LittleKept>,
}

impl WritePool {
    /// A pool of the budget's memory. The caller brings the threads and fills a context with each: the budget's number of
    /// threads is not used.
    pub fn new(budget: Budget) -> Self {
        let mut reserve = match allocator::is_ours() {
            true => {
                allocator::keep(budget.memory / KEPT_SHARE);
                Reserve::default()
            }
            false => Reserve { all: budget.memory / SPARE_SHARE, each: budget.memory / EACH_SHARE },
        };
        let compressors = Arc::new(Compressors::new(budget.memory));
        let shared = budget.memory / SHARED_SHARE;
        reserve.all += SHARED_COPIES * shared;
        let limiter = MemoryLimiter::new(budget.memory, reserve, compressors.bytes());
        let memory_limiter = Arc::new(limiter);
        let (waiting, means) = (Arc::clone(&memory_limiter), Arc::clone(&compressors));
        let work = SharedWork::new(shared, move || means.has_one(), move || waiting.notify());
        Self {
            memory_limiter,
            buffer_pool: Arc::default(),
            compressors,
            work: Arc::new(work),
            team: None,
            kept: Arc::default(),
        }
    }

    /// A pool with threads of its own, as many as the budget says. All of them encode and compress each cluster, for callers
    /// that fill from one thread. The bytes are the same as with one thread.
    ///
    /// # Errors
    ///
    /// The threads cannot be started.
    pub fn with_team(budget: Budget) -> Result<Self> {
        Ok(Self::new(budget).helped_by(budget.helpers()?))
    }

    /// The same with threads of another's: `start` has each of them run somewhere, as many as the budget says. They end with the pool.
    ///
    /// # Errors
    ///
    /// `start` fails.
    pub fn with_lent_team(budget: Budget, mut start: impl FnMut(LentThread) -> std::io::Result<()>) -> Result<Self> {
        let team = rayon::ThreadPoolBuilder::new()
            .num_threads(budget.threads)
            .spawn_handler(|thread| start(LentThread(thread)));
        let team = team.build().map_err(|e| rootfile::Error::from(std::io::Error::other(e)))?;
        Ok(Self::new(budget).helped_by(Some(Arc::new(team))))
    }

    fn helped_by(self, team: Option<Arc<ThreadPool>>) -> Self {
        self.work.add_helpers(team.as_ref().map_or(0, |team| team.current_num_threads()));
        Self { team, ..self }
    }

    /// Bytes of memory.
    pub fn memory(&self) -> u64 {
        self.memory_limiter.limit()
    }

    /// The threads that make pieces of clusters, besides the one that fills.
    pub(super) fn crew(&self) -> Crew {
        Crew::new(Arc::clone(&self.work), self.team.clone())
    }

    /// Counts a thread that is about to wait as a helper, as long as this cell lives. Returns whether there is work for it.
    pub(super) fn helps<'a>(&'a self, helper: &OnceCell<Helper<'a>>) -> bool {
        helper.get_or_init(|| self.work.helper());
        self.work.has_some()
    }

    /// Limits what the allocator keeps of freed memory, before a thread fills a cluster. With several threads it keeps little, since each has
    /// an arena of its own in processes that are not `allocator::ours`. With one it may keep some, since returning it costs time: from the
    /// second cluster of a context on, when other threads would have shown up.
    pub(super) fn limit_kept(&self, is_later: bool) {
        if allocator::is_ours() {
            return;
        }
        let limit = self.memory_limiter.limit();
        let threads = self.memory_limiter.threads();
        if threads > 1 {
            self.kept.little.get_or_init(|| LittleKept::new(limit)).keep_for(threads);
        } else if is_later {
            self.kept.some.get_or_init(|| allocator::keep(limit / KEPT_SHARE));
        }
    }

    /// Gives back freed memory, after a thread filled these bytes.
    pub(super) fn give_back(&self, filled: u64) {
        if let Some(kept) = self.kept.little.get() {
            kept.give_back(filled);
        }
    }
}

impl Default for WritePool {
    fn default() -> Self {
        Self::new(Budget::default())
    }
}
