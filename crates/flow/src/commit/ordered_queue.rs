//! Items of numbered tasks, in the order of the tasks, whichever task is done first. It knows neither what an item is nor
//! where it goes.

use std::collections::{BTreeMap, BTreeSet};

/// The items of numbered tasks that wait for their turn.
#[derive(Debug)]
pub(crate) struct OrderedQueue<T> {
    /// The first task that is not done.
    head: u64,
    /// Tasks that are done while earlier ones are not.
    done: BTreeSet<u64>,
    /// Waiting items by task and order of arrival.
    waiting: BTreeMap<(u64, u64), T>,
    /// Number of items that arrived.
    arrived: u64,
}

impl<T> OrderedQueue<T> {
    pub fn new() -> Self {
        Self { head: 0, done: BTreeSet::new(), waiting: BTreeMap::new(), arrived: 0 }
    }

    /// The task whose items come next.
    pub fn head(&self) -> u64 {
        self.head
    }

    pub fn is_done(&self, task: u64) -> bool {
        task < self.head || self.done.contains(&task)
    }

    /// Adds an item of a task, behind the task's earlier items.
    pub fn put(&mut self, task: u64, item: T) {
        self.arrived += 1;
        self.waiting.insert((task, self.arrived), item);
    }

    /// Ends a task, whose items are all here.
    pub fn done(&mut self, task: u64) {
        self.done.insert(task);
    }

    /// Ends the tasks before the last one that is done.
    pub fn close(&mut self) {
        if let Some(last) = self.done.last().copied() {
            self.done.extend(self.head..last);
        }
    }

    /// The next item in the order, if it is here.
    pub fn next(&mut self) -> Option<T> {
        loop {
            match self.waiting.first_entry() {
                Some(first) if first.key().0 == self.head => return Some(first.remove()),
                _ if self.done.remove(&self.head) => self.head += 1,
                _ => return None,
            }
        }
    }

    /// The waiting items, those whose turn comes last first.
    pub fn last_first(&mut self) -> impl Iterator<Item = &mut T> {
        self.waiting.values_mut().rev()
    }

    /// Removes all waiting items.
    pub fn clear(&mut self) -> impl Iterator<Item = T> {
        std::mem::take(&mut self.waiting).into_values()
    }
}
