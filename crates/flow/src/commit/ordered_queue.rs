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
    /// Tasks before this one are done, whether they began or not.
    closed: u64,
    /// Waiting items by task and order of arrival.
    waiting: BTreeMap<(u64, u64), T>,
    /// Number of items that arrived.
    arrived: u64,
}

impl<T> OrderedQueue<T> {
    pub fn new() -> Self {
        Self { head: 0, done: BTreeSet::new(), closed: 0, waiting: BTreeMap::new(), arrived: 0 }
    }

    /// The task whose items come next.
    pub fn head(&self) -> u64 {
        self.head
    }

    pub fn is_done(&self, task: u64) -> bool {
        task < self.head.max(self.closed) || self.done.contains(&task)
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
            self.closed = last;
        }
    }

    /// The next item in the order, if it is here.
    pub fn next(&mut self) -> Option<T> {
        loop {
            match self.waiting.first_entry() {
                Some(first) if first.key().0 == self.head => return Some(first.remove()),
                _ if self.done.remove(&self.head) => self.head = self.head.saturating_add(1),
                // Numbers may lie far apart.
                first if self.head < self.closed => {
                    let waiting = first.map(|first| first.key().0);
                    let next = waiting.into_iter().chain(self.done.first().copied()).min();
                    self.head = next.map_or(self.closed, |next| next.min(self.closed));
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_tasks_may_lie_far_apart() {
        let tasks = [1_000_000_000_000, 5, u64::MAX - 1, 1 << 60, u64::MAX];
        let mut queue = OrderedQueue::new();
        for task in tasks {
            queue.put(task, task);
            queue.put(task, task);
            queue.done(task);
        }
        assert_eq!(queue.next(), None);
        queue.close();
        assert!(queue.is_done(17) && queue.is_done(1 << 59));
        let mut sorted: Vec<u64> = tasks.into_iter().chain(tasks).collect();
        sorted.sort_unstable();
        assert_eq!(std::iter::from_fn(|| queue.next()).collect::<Vec<_>>(), sorted);
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn tasks_that_were_not_ended_give_what_they_have() {
        let mut queue = OrderedQueue::new();
        for task in [3, 9, 20] {
            queue.put(task, task);
        }
        queue.done(9);
        queue.close();
        // Behind the last that is done nothing is skipped.
        assert_eq!(std::iter::from_fn(|| queue.next()).collect::<Vec<_>>(), [3, 9]);
        assert_eq!(queue.head(), 10);
    }
}
