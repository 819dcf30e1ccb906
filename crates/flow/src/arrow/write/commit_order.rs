//! The order in which clusters are committed: as they arrive, or task by task, where clusters of later tasks wait here.

use std::collections::{BTreeSet, HashMap};
use std::sync::PoisonError;

use rootfile::{Error, Result};

use super::memory_limiter::QueuePosition;
use super::options::Order;
use super::sync::{Arc, AtomicU64, Mutex, Ordering};
use crate::commit::ordered_queue::OrderedQueue;

/// The clusters of one tree that are not committed yet.
#[derive(Debug)]
pub(crate) struct CommitOrder<T> {
    order: Order,
    /// Waiting clusters. In order of arrival all belong to one task.
    clusters: OrderedQueue<T>,
    /// The queue's head, for tickets.
    head: Arc<AtomicU64>,
    reserved: Reserved,
    /// Tasks that began and are not done.
    active: BTreeSet<u64>,
    /// One more than the highest task that began.
    next: u64,
}

/// Bytes that the contexts of tasks have reserved. Lock order: the memory limiter's lock comes before this one.
type Reserved = Arc<Mutex<HashMap<u64, u64>>>;

/// The number of one task in a [`CommitOrder`]. It is read without the lock of the order.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    order: Order,
    head: Arc<AtomicU64>,
    reserved: Reserved,
    task: u64,
}

impl Ticket {
    /// The position of this task's clusters. Tasks that are not next leave room for a cluster of `largest` bytes, less what
    /// the next task has reserved already.
    pub fn position(&self, largest: u64) -> QueuePosition {
        let head = self.head.load(Ordering::Acquire);
        match self.order {
            Order::Arrival => QueuePosition::Unordered,
            Order::Tasks if head == self.task => QueuePosition::Next,
            Order::Tasks => {
                let reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
                let of_head = reserved.get(&head).copied();
                let reserve = largest.saturating_sub(of_head.unwrap_or(0));
                QueuePosition::Later { reserve, head, is_begun: of_head.is_some() }
            }
        }
    }

    /// Records the bytes that the task's context has reserved: more bytes after it reserved them, fewer bytes before it
    /// releases them, so that other tasks never count on memory that is not reserved.
    pub fn set_reserved(&self, bytes: u64) {
        if self.order == Order::Tasks {
            self.reserved.lock().unwrap_or_else(PoisonError::into_inner).insert(self.task, bytes);
        }
    }

    pub fn task(&self) -> u64 {
        self.task
    }
}

impl<T> CommitOrder<T> {
    pub fn new(order: Order) -> Self {
        Self {
            order,
            clusters: OrderedQueue::new(),
            head: Arc::new(AtomicU64::new(0)),
            reserved: Arc::new(Mutex::new(HashMap::new())),
            active: BTreeSet::new(),
            next: 0,
        }
    }

    /// Whether any task was begun.
    pub fn has_begun(&self) -> bool {
        self.next > 0
    }

    /// Begins a task. Without a number the task comes after all others.
    pub fn begin(&mut self, task: Option<u64>) -> Result<Ticket> {
        let task = task.unwrap_or(self.next);
        if self.order == Order::Tasks {
            if self.clusters.is_done(task) {
                return Err(Error::request(format!("task {task} was finished already")));
            }
            if !self.active.insert(task) {
                return Err(Error::request(format!("task {task} is being filled already")));
            }
        }
        self.next = self.next.max(task.saturating_add(1));
        Ok(Ticket { order: self.order, head: Arc::clone(&self.head), reserved: Arc::clone(&self.reserved), task })
    }

    /// Adds a cluster of a task.
    pub fn put(&mut self, task: u64, cluster: T) {
        let task = match self.order {
            Order::Arrival => self.clusters.head(),
            Order::Tasks => task,
        };
        self.clusters.put(task, cluster);
    }

    /// Ends a task, which has made all its clusters.
    pub fn done(&mut self, task: u64) {
        if self.order == Order::Tasks {
            self.active.remove(&task);
            self.reserved.lock().unwrap_or_else(PoisonError::into_inner).remove(&task);
            self.clusters.done(task);
        }
    }

    /// Skips tasks that never began.
    pub fn close(&mut self) {
        self.clusters.close();
    }

    /// The next cluster to commit, if it is there.
    pub fn next(&mut self) -> Option<T> {
        let next = self.clusters.next();
        self.head.store(self.clusters.head(), Ordering::Release);
        next
    }

    /// The waiting clusters, those that are appended last first.
    pub fn last_first(&mut self) -> impl Iterator<Item = &mut T> {
        self.clusters.last_first()
    }

    /// Removes all waiting clusters.
    pub fn give_up(&mut self) -> impl Iterator<Item = T> {
        self.clusters.clear()
    }
}
