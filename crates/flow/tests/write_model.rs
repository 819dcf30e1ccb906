//! Every way in which threads can meet at the gate and in the line of the parallel writer, tried by loom: none waits for
//! ever, clusters come out in the order of their tasks, and all memory is given back. A wait that ends by the clock in
//! the writer never does so here, so that no thread is freed by patience alone.
#![allow(dead_code, reason = "the modules are the writer's own, and have more than this uses")]
#![allow(clippy::unwrap_used, reason = "a test")]

mod sync {
    pub(super) use loom::sync::atomic::{AtomicU64, Ordering};
    pub(super) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(super) use loom::thread::{ThreadId, current};
}
mod writer {
    pub use flow::write::Order;
}
#[path = "../src/write/gate.rs"]
mod gate;
#[path = "../src/write/line.rs"]
mod line;

use flow::write::Order;
use gate::{Gate, Turn};
use line::Line;
use loom::model::Builder;
use sync::{Arc, Mutex, MutexGuard, current};

/// What `write::shared` holds of one tree, with numbers for clusters.
struct Tree {
    gate: Arc<Gate>,
    state: Mutex<State>,
}

struct State {
    /// Clusters by the task that made them, and their bytes.
    line: Line<(u64, u64)>,
    appending: bool,
    written: Vec<u64>,
    /// Bytes of buffers that finished contexts have left.
    kits: u64,
}

impl Tree {
    fn new(memory: u64, order: Order) -> Arc<Self> {
        let gate = Arc::new(Gate::new(memory));
        Arc::new(Self {
            gate,
            state: Mutex::new(State { line: Line::new(order), appending: false, written: Vec::new(), kits: 0 }),
        })
    }

    /// Makes clusters as a fill context does, which turn out larger than was thought by `more`, and keeps what room it
    /// may.
    fn fill(&self, task: u64, clusters: u64, bytes: u64, more: u64) {
        let place = self.state.lock().unwrap().line.begin(Some(task)).unwrap();
        // What stays of a cluster's memory once it is filled: buffers of the context.
        let own = bytes / 2;
        let mut kept = 0;
        for number in 0..clusters {
            let most = self.gate.most();
            let turn = || place.turn(most);
            if !self.gate.has(bytes - kept) {
                self.drop_kits();
            }
            let mut taken = match self.gate.try_enter(bytes - kept, turn()).unwrap() {
                Some(taken) => taken + kept,
                None => {
                    place.holds(0);
                    self.gate.release(kept);
                    self.drop_kits();
                    self.gate.enter(bytes, turn).unwrap().0
                }
            };
            if bytes + more > taken {
                self.gate.grow(bytes + more - taken, turn).unwrap();
                taken = bytes + more;
            }
            place.holds(own);
            let mut state = self.state.lock().unwrap();
            state.line.put((task, number), (task, taken - own));
            self.advance(state);
            kept = own;
            if !self.gate.has(most) {
                place.holds(0);
                self.gate.release(std::mem::take(&mut kept));
            }
            self.gate.leave(current().id());
        }
        place.holds(0);
        if !self.gate.has(self.gate.most()) {
            self.gate.release(std::mem::take(&mut kept));
        }
        let mut state = self.state.lock().unwrap();
        state.kits += kept;
        state.line.done(task);
        self.advance(state);
        self.gate.look_again();
    }

    /// Writes what may be written, unless another does.
    fn advance<'a>(&'a self, mut state: MutexGuard<'a, State>) {
        if state.appending {
            return;
        }
        state.appending = true;
        while let Some((task, bytes)) = state.line.next() {
            drop(state);
            self.gate.release(bytes);
            state = self.state.lock().unwrap();
            state.written.push(task);
        }
        state.appending = false;
    }

    fn drop_kits(&self) {
        let kits = std::mem::take(&mut self.state.lock().unwrap().kits);
        self.gate.release(kits);
    }

    fn written(&self) -> Vec<u64> {
        self.state.lock().unwrap().written.clone()
    }
}

/// Runs the tasks, one a thread, in every order there is.
fn every_way(memory: u64, order: Order, tasks: u64, clusters: u64, (bytes, more): (u64, u64)) {
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
        tree.drop_kits();
        let held = tree.gate.held();
        assert_eq!((held.now, held.waiting), (0, 0));
        assert!(held.peak <= memory, "{} bytes of {memory}", held.peak);
    });
}

#[test]
fn clusters_of_tasks_come_out_in_order_with_room_for_two() {
    every_way(4, Order::Tasks, 2, 2, (2, 0));
}

#[test]
fn three_tasks_share_room_for_two() {
    every_way(4, Order::Tasks, 3, 1, (2, 0));
}

#[test]
fn clusters_that_turn_out_larger_wait_for_those_before_them() {
    every_way(4, Order::Tasks, 2, 2, (1, 1));
}

#[test]
fn clusters_as_they_arrive() {
    every_way(4, Order::Arrival, 2, 2, (2, 0));
    every_way(4, Order::Arrival, 3, 1, (2, 0));
    every_way(6, Order::Arrival, 3, 2, (2, 0));
}

#[test]
fn who_waits_is_told_that_the_output_is_given_up() {
    Builder::new().check(|| {
        let tree = Tree::new(2, Order::Arrival);
        let stopped = Arc::new(sync::AtomicU64::new(0));
        tree.gate.enter(2, || Turn::Free).unwrap();
        let waits = {
            let (tree, stopped) = (Arc::clone(&tree), Arc::clone(&stopped));
            loom::thread::spawn(move || {
                let turn = || match stopped.load(sync::Ordering::Acquire) {
                    0 => Turn::Free,
                    _ => Turn::Stopped,
                };
                tree.gate.enter(2, turn).is_err()
            })
        };
        stopped.store(1, sync::Ordering::Release);
        tree.gate.look_again();
        assert!(waits.join().unwrap());
    });
}
