//! Every interleaving of threads in the memory limiter and the commit order of the parallel writer, tried by loom: no
//! thread waits for ever, clusters come out in the order of their tasks, and all memory is released. Waits with a timeout
//! never time out here, so that no thread makes progress by its timeout alone.
#![allow(dead_code, reason = "the modules are the writer's own, and have more than this uses")]
#![allow(clippy::unwrap_used, reason = "a test")]

mod sync {
    pub(super) use loom::sync::atomic::{AtomicU64, Ordering};
    pub(super) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(super) use loom::thread::{ThreadId, current};

    /// Never reached: waits of loom have no timeout.
    pub(super) const PATIENCE: u32 = 1;
}
mod commit {
    pub(super) use super::ordered_queue;
}
mod options {
    pub use flow::write::Order;
}
#[path = "../src/arrow/write/commit_order.rs"]
mod commit_order;
#[path = "../src/arrow/write/memory_limiter.rs"]
mod memory_limiter;
#[path = "../src/commit/ordered_queue.rs"]
mod ordered_queue;
#[path = "../src/execute/shared_work.rs"]
mod shared_work;

use commit_order::CommitOrder;
use flow::write::Order;
use loom::model::Builder;
use memory_limiter::{AtStandstill, Begun, Growth, MemoryLimiter, QueuePosition, Reserve};
use shared_work::{Needs, SharedWork, Slot};
use sync::{Arc, Mutex, MutexGuard, current};

/// The part of `write::committer` for one tree, with numbers for clusters.
struct Tree {
    limiter: Arc<MemoryLimiter>,
    state: Mutex<State>,
}

struct State {
    /// Clusters by the task that made them, and their bytes.
    commits: CommitOrder<(u64, u64)>,
    appending: bool,
    written: Vec<u64>,
    /// Bytes of buffers of finished contexts.
    idle_buffers: u64,
    /// How often a cluster had less memory than it wanted.
    short: usize,
}

impl Tree {
    fn new(memory: u64, order: Order) -> Arc<Self> {
        let limiter = Arc::new(MemoryLimiter::new(memory, Reserve::default(), Arc::default()));
        Arc::new(Self {
            limiter,
            state: Mutex::new(State {
                commits: CommitOrder::new(order),
                appending: false,
                written: Vec::new(),
                idle_buffers: 0,
                short: 0,
            }),
        })
    }

    /// Makes clusters as a fill context does. They turn out `more` bytes larger than expected. Keeps buffers if it may.
    fn fill(&self, task: u64, clusters: u64, bytes: u64, more: u64) {
        self.limiter.count_running(true);
        self.fill_clusters(task, clusters, bytes, more);
        self.limiter.count_running(false);
    }

    fn fill_clusters(&self, task: u64, clusters: u64, bytes: u64, more: u64) {
        let ticket = self.state.lock().unwrap().commits.begin(Some(task)).unwrap();
        // The buffers of the context, which stay when a cluster is filled.
        let own = bytes / 2;
        let mut kept = 0;
        for _ in 0..clusters {
            let most = self.limiter.cluster_limit();
            let position = || ticket.position(most);
            if !self.limiter.has_free(bytes - kept) {
                self.drop_buffers();
            }
            let mut taken = match self.limiter.try_reserve(bytes - kept, position(), true).unwrap() {
                Some(taken) => taken + kept,
                None => {
                    ticket.set_reserved(0);
                    self.limiter.release(kept);
                    self.drop_buffers();
                    self.reserve(bytes, position)
                }
            };
            if bytes + more > taken {
                self.grow((taken, bytes + more - taken), position);
                taken = bytes + more;
            }
            ticket.set_reserved(own);
            let mut state = self.state.lock().unwrap();
            state.commits.put(task, (task, taken - own));
            self.advance(state);
            kept = own;
            if !self.limiter.has_free(most) {
                ticket.set_reserved(0);
                self.limiter.release(std::mem::take(&mut kept));
            }
            self.limiter.end_filling(current().id());
        }
        ticket.set_reserved(0);
        if !self.limiter.has_free(self.limiter.cluster_limit()) {
            self.limiter.release(std::mem::take(&mut kept));
        }
        let mut state = self.state.lock().unwrap();
        state.idle_buffers += kept;
        state.commits.done(task);
        self.advance(state);
        self.limiter.notify();
    }

    /// As the committer's.
    fn reserve(&self, bytes: u64, position: impl Fn() -> QueuePosition) -> u64 {
        let mut then = AtStandstill::Report;
        loop {
            match self.limiter.reserve(bytes, &position, no_work, then).unwrap() {
                Begun::Reserved(taken) => {
                    self.state.lock().unwrap().short += usize::from(taken < bytes);
                    return taken;
                }
                Begun::Stalled => then = self.spill(),
                Begun::Work => unreachable!("there is none"),
            }
        }
    }

    fn grow(&self, more: (u64, u64), position: impl Fn() -> QueuePosition) {
        let mut then = AtStandstill::Report;
        loop {
            match self.limiter.grow(more, &position, no_work, then).unwrap() {
                Growth::Stalled => then = self.spill(),
                Growth::Fits => return,
                Growth::Full => {
                    self.state.lock().unwrap().short += 1;
                    return;
                }
                Growth::Work => unreachable!("there is none"),
            }
        }
    }

    /// Moves all waiting clusters out of memory.
    fn spill(&self) -> AtStandstill {
        let mut state = self.state.lock().unwrap();
        let clusters: u64 = state.commits.last_first().map(|(_, bytes)| std::mem::take(bytes)).sum();
        let freed = clusters + std::mem::take(&mut state.idle_buffers);
        self.limiter.release(freed);
        if freed > 0 { AtStandstill::Report } else { AtStandstill::GoOn }
    }

    /// Writes the clusters that can be written, unless another thread does.
    fn advance<'a>(&'a self, mut state: MutexGuard<'a, State>) {
        if state.appending {
            return;
        }
        state.appending = true;
        while let Some((task, bytes)) = state.commits.next() {
            drop(state);
            self.limiter.release(bytes);
            state = self.state.lock().unwrap();
            state.written.push(task);
        }
        state.appending = false;
    }

    fn drop_buffers(&self) {
        let idle_buffers = std::mem::take(&mut self.state.lock().unwrap().idle_buffers);
        self.limiter.release(idle_buffers);
    }

    fn written(&self) -> Vec<u64> {
        self.state.lock().unwrap().written.clone()
    }
}

/// A thread that waits for memory and has nothing else to do.
fn no_work() -> bool {
    false
}

/// Runs the tasks, one per thread, in every interleaving.
fn every_interleaving(memory: u64, order: Order, tasks: u64, clusters: u64, (bytes, more): (u64, u64)) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let tree = Tree::new(memory, order);
        let others = (1..tasks).map(|task| {
            let tree = Arc::clone(&tree);
            loom::thread::spawn(move || tree.fill(task, clusters, bytes, more))
        });
        let others: Vec<_> = others.collect();
        tree.fill(0, clusters, bytes, more);
        others.into_iter().for_each(|other| other.join().unwrap());
        let mut written = tree.written();
        if order == Order::Arrival {
            written.sort_unstable();
        }
        let expected: Vec<u64> = (0..tasks).flat_map(|task| (0..clusters).map(move |_| task)).collect();
        assert_eq!(written, expected);
        tree.drop_buffers();
        let in_use = tree.limiter.in_use();
        assert_eq!((in_use.now, in_use.waiting), (0, 0));
        assert!(in_use.peak <= memory, "{} bytes of {memory}", in_use.peak);
    });
}

#[test]
fn clusters_of_tasks_come_out_in_order_with_room_for_two() {
    every_interleaving(4, Order::Tasks, 2, 2, (2, 0));
}

#[test]
fn three_tasks_share_room_for_two() {
    every_interleaving(4, Order::Tasks, 3, 1, (2, 0));
}

#[test]
fn clusters_that_turn_out_larger_wait_for_those_before_them() {
    every_interleaving(4, Order::Tasks, 2, 2, (1, 1));
}

#[test]
fn clusters_as_they_arrive() {
    every_interleaving(4, Order::Arrival, 2, 2, (2, 0));
    every_interleaving(4, Order::Arrival, 3, 1, (2, 0));
    every_interleaving(6, Order::Arrival, 3, 2, (2, 0));
}

#[test]
fn waiting_threads_learn_that_the_output_was_given_up() {
    Builder::new().check(|| {
        let tree = Tree::new(2, Order::Arrival);
        let stopped = Arc::new(sync::AtomicU64::new(0));
        tree.limiter.count_running(true);
        tree.limiter.count_running(true);
        tree.limiter.reserve(2, || QueuePosition::Unordered, no_work, AtStandstill::Report).unwrap();
        let waits = {
            let (tree, stopped) = (Arc::clone(&tree), Arc::clone(&stopped));
            loom::thread::spawn(move || {
                let position = || match stopped.load(sync::Ordering::Acquire) {
                    0 => QueuePosition::Unordered,
                    _ => QueuePosition::Stopped,
                };
                tree.limiter.reserve(2, position, no_work, AtStandstill::Report).is_err()
            })
        };
        stopped.store(1, sync::Ordering::Release);
        tree.limiter.notify();
        assert!(waits.join().unwrap());
    });
}

#[test]
fn a_thread_does_not_wait_for_clusters_that_nobody_fills() {
    Builder::new().check(|| {
        let limiter = Arc::new(MemoryLimiter::new(8, Reserve { all: 1, each: 0 }, Arc::new(sync::AtomicU64::new(2))));
        let idle = Arc::clone(&limiter);
        loom::thread::spawn(move || {
            idle.reserve(4, || QueuePosition::Unordered, no_work, AtStandstill::Report).unwrap();
        })
        .join()
        .unwrap();
        limiter.count_running(true);
        limiter.count_running(true);
        assert_eq!(
            limiter.try_reserve(4, QueuePosition::Unordered, true).unwrap(),
            None,
            "another thread may end its cluster"
        );
        limiter.count_running(false);
        let begun = limiter.reserve(4, || QueuePosition::Unordered, no_work, AtStandstill::Report).unwrap();
        assert_eq!(begun, Begun::Reserved(4));
    });
}

#[test]
fn who_hands_back_gets_no_memory_for_its_thread_alone() {
    Builder::new().check(|| {
        let limiter = MemoryLimiter::new(8, Reserve { all: 1, each: 0 }, Arc::default());
        assert_eq!(limiter.try_reserve(6, QueuePosition::Unordered, false).unwrap(), Some(6));
        let later = QueuePosition::Later { reserve: 0, head: 0, is_begun: true };
        assert_eq!(limiter.try_reserve(4, later, false).unwrap(), None, "it is called again");
        assert_eq!(limiter.try_reserve(4, later, true).unwrap(), Some(2), "it would wait for itself");
    });
}

/// Tasks that two threads fill one after the other, in an order that is not theirs, in every interleaving.
fn every_interleaving_of(memory: u64, threads: [&'static [u64]; 2], (bytes, more): (u64, u64)) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let tree = Tree::new(memory, Order::Tasks);
        let other = {
            let tree = Arc::clone(&tree);
            loom::thread::spawn(move || threads[1].iter().for_each(|task| tree.fill(*task, 1, bytes, more)))
        };
        threads[0].iter().for_each(|task| tree.fill(*task, 1, bytes, more));
        other.join().unwrap();
        let tasks = (threads[0].len() + threads[1].len()) as u64;
        assert_eq!(tree.written(), (0..tasks).collect::<Vec<_>>());
        tree.drop_buffers();
        let in_use = tree.limiter.in_use();
        assert_eq!((in_use.now, in_use.waiting), (0, 0));
        assert_eq!(tree.state.lock().unwrap().short, 0, "clusters end where they do with one thread");
        assert!(in_use.peak <= memory, "{} bytes of {memory}", in_use.peak);
    });
}

#[test]
fn fewer_threads_than_tasks_begin_them_out_of_order() {
    // While tasks 2 and 3 are filled, nobody fills the tasks before them.
    every_interleaving_of(4, [&[2, 1], &[3, 0]], (2, 0));
    every_interleaving_of(4, [&[3, 2, 1, 0], &[]], (2, 0));
}

/// Leaves pieces to helpers that lack work, makes the others, and adds all in order, as `parallel_encode` does.
fn fill_pieces(work: &SharedWork, pieces: usize) {
    let leave = |number: usize| {
        let slot = Arc::new(Slot::new());
        let made = Arc::clone(&slot);
        match work.is_wanted() {
            true => work.put(1, Needs::Thread, Box::new(move || made.put(number))),
            false => made.put(number),
        }
        slot
    };
    let apart: Vec<_> = (0..pieces).map(leave).collect();
    let settle = |slot: &Slot<usize>| {
        loop {
            if let Some(made) = slot.try_take() {
                return made;
            }
            if !work.help() {
                return slot.take();
            }
        }
    };
    let added: Vec<usize> = apart.iter().map(|slot| settle(slot)).collect();
    assert_eq!(added, (0..pieces).collect::<Vec<_>>());
}

#[test]
fn helpers_leave_work_alone_that_would_wait_for_means() {
    Builder::new().check(|| {
        let work = SharedWork::new(9, || false, || ());
        let (means, thread) = (Arc::new(Slot::new()), Arc::new(Slot::new()));
        for (needs, slot) in [(Needs::Means, &means), (Needs::Thread, &thread)] {
            let slot = Arc::clone(slot);
            work.put(1, needs, Box::new(move || slot.put(needs)));
        }
        assert!(work.has_some() && work.help_without_waiting());
        assert_eq!((means.try_take(), thread.try_take()), (None, Some(Needs::Thread)));
        assert!(!work.has_some() && !work.help_without_waiting());
        assert!(work.help(), "who needs it does it");
        assert_eq!(means.try_take(), Some(Needs::Means));
    });
}

#[test]
fn helpers_make_pieces_until_nobody_fills() {
    for (helpers, pieces) in [(1, 3), (2, 2)] {
        let mut builder = Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(move || {
            let work = Arc::new(SharedWork::new(2, || true, || ()));
            let filler = work.filler().unwrap();
            assert!(work.filler().is_none(), "helpers come first");
            let help = |_| {
                let work = Arc::clone(&work);
                loom::thread::spawn(move || work.help_while_filled())
            };
            let helpers: Vec<_> = (0..helpers).map(help).collect();
            fill_pieces(&work, pieces);
            drop(filler);
            helpers.into_iter().for_each(|helper| helper.join().unwrap());
            assert!(!work.has_some() && !work.is_filled() && !work.is_wanted());
        });
    }
}

#[test]
fn a_thread_that_waits_for_memory_makes_pieces_of_others() {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let limiter = Arc::new(MemoryLimiter::new(2, Reserve::default(), Arc::default()));
        let wakes = Arc::clone(&limiter);
        let work = Arc::new(SharedWork::new(2, || true, move || wakes.notify()));
        let begin = |limiter: &MemoryLimiter, has_work: &dyn Fn() -> bool, then| {
            limiter.reserve(2, || QueuePosition::Unordered, has_work, then).unwrap()
        };
        let end = |limiter: &MemoryLimiter| {
            limiter.end_filling(current().id());
            limiter.release(2);
            limiter.count_running(false);
        };
        limiter.count_running(true);
        limiter.count_running(true);
        assert_eq!(begin(&limiter, &no_work, AtStandstill::Report), Begun::Reserved(2));
        let waits = {
            let (limiter, work) = (Arc::clone(&limiter), Arc::clone(&work));
            loom::thread::spawn(move || {
                let (_helper, mut then) = (work.helper(), AtStandstill::Report);
                loop {
                    match begin(&limiter, &|| work.has_some(), then) {
                        Begun::Reserved(_) => break,
                        Begun::Stalled => then = AtStandstill::GoOn,
                        Begun::Work => {
                            work.help();
                        }
                    }
                }
                end(&limiter);
            })
        };
        fill_pieces(&work, 2);
        end(&limiter);
        waits.join().unwrap();
        assert_eq!((limiter.in_use().now, limiter.in_use().waiting), (0, 0));
        assert!(!work.has_some());
    });
}
