//! Every interleaving of threads in the memory limiter and the commit order of the parallel writer, tried by loom: no
//! thread waits for ever, clusters come out in the order of their tasks, and all memory is released. Waits with a timeout
//! never time out here, so that no thread makes progress by its timeout alone.
#![allow(dead_code, reason = "the modules are the writer's own, and have more than this uses")]
#![allow(clippy::unwrap_used, reason = "a test")]

mod sync {
    pub(super) use loom::sync::atomic::{AtomicU64, Ordering};
    pub(super) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(super) use loom::thread::{ThreadId, current};
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

use commit_order::CommitOrder;
use flow::write::Order;
use loom::model::Builder;
use memory_limiter::{MemoryLimiter, QueuePosition};
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
}

impl Tree {
    fn new(memory: u64, order: Order) -> Arc<Self> {
        let limiter = Arc::new(MemoryLimiter::new(memory, 0, Arc::default()));
        Arc::new(Self {
            limiter,
            state: Mutex::new(State {
                commits: CommitOrder::new(order),
                appending: false,
                written: Vec::new(),
                idle_buffers: 0,
            }),
        })
    }

    /// Makes clusters as a fill context does. They turn out `more` bytes larger than expected. Keeps buffers if it may.
    fn fill(&self, task: u64, clusters: u64, bytes: u64, more: u64) {
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
            let mut taken = match self.limiter.try_reserve(bytes - kept, position()).unwrap() {
                Some(taken) => taken + kept,
                None => {
                    ticket.set_reserved(0);
                    self.limiter.release(kept);
                    self.drop_buffers();
                    self.limiter.reserve(bytes, position).unwrap().0
                }
            };
            if bytes + more > taken {
                self.limiter.grow(bytes + more - taken, position).unwrap();
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
        tree.limiter.reserve(2, || QueuePosition::Unordered).unwrap();
        let waits = {
            let (tree, stopped) = (Arc::clone(&tree), Arc::clone(&stopped));
            loom::thread::spawn(move || {
                let position = || match stopped.load(sync::Ordering::Acquire) {
                    0 => QueuePosition::Unordered,
                    _ => QueuePosition::Stopped,
                };
                tree.limiter.reserve(2, position).is_err()
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
        let limiter = Arc::new(MemoryLimiter::new(8, 1, Arc::new(sync::AtomicU64::new(2))));
        let idle = Arc::clone(&limiter);
        loom::thread::spawn(move || idle.reserve(4, || QueuePosition::Unordered).unwrap()).join().unwrap();
        limiter.count_running(true);
        limiter.count_running(true);
        assert_eq!(
            limiter.try_reserve(4, QueuePosition::Unordered).unwrap(),
            None,
            "another thread may end its cluster"
        );
        limiter.count_running(false);
        assert_eq!(limiter.reserve(4, || QueuePosition::Unordered).unwrap().0, 4);
    });
}
