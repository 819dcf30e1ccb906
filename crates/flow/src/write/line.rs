//! Whose turn it is: clusters are written as they arrive, or task by task, in which case those that come early wait here.
//! It knows neither what a cluster is nor where it goes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::PoisonError;

use rootfile::{Error, Result};

use super::gate::Turn;
use super::sync::{Arc, AtomicU64, Mutex, Ordering};
use super::writer::Order;

/// Clusters on their way into one tree.
#[derive(Debug)]
pub(super) struct Line<T> {
    order: Order,
    head: Arc<AtomicU64>,
    holds: Holds,
    /// Tasks that were begun and are not done.
    begun: BTreeSet<u64>,
    /// The number behind all that were begun.
    next: u64,
    /// Tasks that are done ahead of their turn.
    done: BTreeSet<u64>,
    /// Clusters that wait, by task and their number in it; as they arrive, all are of one task.
    waiting: BTreeMap<(u64, u64), T>,
    /// How many have come.
    arrived: u64,
}

/// Bytes that the contexts of tasks hold at the gate. Its lock is taken inside the gate's, never the other way round.
type Holds = Arc<Mutex<HashMap<u64, u64>>>;

/// The place of one task in a [`Line`]. It is looked at without the line's lock.
#[derive(Clone, Debug)]
pub(super) struct Place {
    order: Order,
    head: Arc<AtomicU64>,
    holds: Holds,
    task: u64,
}

impl Place {
    /// What a cluster of this task has before it, if the largest one there is takes so many bytes. Whose turn it is has
    /// a part of these already.
    pub fn turn(&self, largest: u64) -> Turn {
        let head = self.head.load(Ordering::Acquire);
        match self.order {
            Order::Arrival => Turn::Free,
            Order::Tasks if head == self.task => Turn::Next,
            Order::Tasks => {
                let holds = self.holds.lock().unwrap_or_else(PoisonError::into_inner);
                Turn::Later { besides: largest.saturating_sub(holds.get(&head).copied().unwrap_or(0)) }
            }
        }
    }

    /// Says how many bytes its context holds: of more, once it has them; of fewer, before they are given back, so that
    /// nobody counts on what is not held.
    pub fn holds(&self, bytes: u64) {
        if self.order == Order::Tasks {
            self.holds.lock().unwrap_or_else(PoisonError::into_inner).insert(self.task, bytes);
        }
    }

    pub fn task(&self) -> u64 {
        self.task
    }
}

impl<T> Line<T> {
    pub fn new(order: Order) -> Self {
        Self {
            order,
            head: Arc::new(AtomicU64::new(0)),
            holds: Arc::new(Mutex::new(HashMap::new())),
            begun: BTreeSet::new(),
            next: 0,
            done: BTreeSet::new(),
            waiting: BTreeMap::new(),
            arrived: 0,
        }
    }

    fn head(&self) -> u64 {
        self.head.load(Ordering::Acquire)
    }

    /// The place of a task that begins; without a number it is the one behind all others.
    pub fn begin(&mut self, task: Option<u64>) -> Result<Place> {
        let task = task.unwrap_or(self.next);
        if self.order == Order::Tasks {
            if task < self.head() || self.done.contains(&task) {
                return Err(Error::request(format!("task {task} was finished already")));
            }
            if !self.begun.insert(task) {
                return Err(Error::request(format!("task {task} is being filled already")));
            }
        }
        self.next = self.next.max(task.saturating_add(1));
        Ok(Place { order: self.order, head: Arc::clone(&self.head), holds: Arc::clone(&self.holds), task })
    }

    /// Takes a cluster, by the task that made it and its number among that one's.
    pub fn put(&mut self, made: (u64, u64), cluster: T) {
        self.arrived += 1;
        let place = match self.order {
            Order::Arrival => (self.head(), self.arrived),
            Order::Tasks => made,
        };
        self.waiting.insert(place, cluster);
    }

    /// Says that a task has made all its clusters.
    pub fn done(&mut self, task: u64) {
        if self.order == Order::Tasks {
            self.begun.remove(&task);
            self.holds.lock().unwrap_or_else(PoisonError::into_inner).remove(&task);
            self.done.insert(task);
        }
    }

    /// Says that tasks which were not begun so far never will be.
    pub fn close(&mut self) {
        if let Some(last) = self.done.last().copied() {
            self.done.extend(self.head()..last);
        }
    }

    /// The next cluster that waits for nothing any more.
    pub fn next(&mut self) -> Option<T> {
        loop {
            let head = self.head();
            match self.waiting.first_entry() {
                Some(first) if first.key().0 == head => return Some(first.remove()),
                _ if self.done.remove(&head) => self.head.store(head + 1, Ordering::Release),
                _ => return None,
            }
        }
    }

    /// All that wait, in whatever turn.
    pub fn give_up(&mut self) -> impl Iterator<Item = T> {
        std::mem::take(&mut self.waiting).into_values()
    }
}
