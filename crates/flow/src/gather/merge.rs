//! The interface of a growing merge: parts come from any thread, wait for their turn, and are written by one of the threads that bring
//! them. The others go on as long as there is room for what they bring.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rootfile::{Error, Result};

use super::options::GatherOptions;
use super::output::GatherOutput;
use super::pool::GatherPool;
use super::store::{PartStore, StoredPart};
use crate::arrow::write::Order;
use crate::commit::ordered_queue::OrderedQueue;
use crate::execute::workers::guarded;
use crate::rewrite::summary::Summary;

/// So often a thread waits in vain before it goes on without room: half a second.
const PATIENCE: u32 = 10;

/// An output to which whole ROOT files in memory are added. It appears under its name when it is closed; without that nothing is left.
pub struct GrowingMerge {
    pool: Arc<GatherPool>,
    order: Order,
    queue: Mutex<Queue>,
    idle: Condvar,
    output: Mutex<Option<GatherOutput>>,
    spilled: Mutex<PartStore>,
}

struct Queue {
    parts: OrderedQueue<Waiting>,
    /// Tasks that have parts and are not ended.
    begun: BTreeSet<u64>,
    /// Parts so far, for their names.
    count: u64,
    /// Whether a thread writes.
    busy: bool,
    /// Why no more parts are taken.
    ended: Option<String>,
}

/// A part whose turn has not come.
struct Waiting {
    name: PathBuf,
    bytes: PartBytes,
}

enum PartBytes {
    InMemory(Vec<u8>),
    InFile(StoredPart),
}

/// Room for a part in the memory of a pool. It goes back if no part comes.
pub struct PartRoom {
    pool: Arc<GatherPool>,
    task: u64,
    bytes: u64,
    /// Whether there is none: the part waits in a file.
    is_spilled: bool,
}

impl PartRoom {
    /// Bytes of the part.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The room is that of the part from now on.
    fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for PartRoom {
    fn drop(&mut self) {
        if self.bytes > 0 && !self.is_spilled {
            self.pool.give_back(self.bytes);
        }
    }
}

impl GrowingMerge {
    /// Begins an output of this path. Its file is made with the first part.
    ///
    /// # Errors
    ///
    /// The output is there and may not be replaced, or its folder is not there.
    pub fn begin(path: &Path, options: &GatherOptions, pool: Arc<GatherPool>) -> Result<Self> {
        let output = GatherOutput::new(path, options, pool.limit())?;
        let queue =
            Queue { parts: OrderedQueue::new(), begun: BTreeSet::new(), count: 0, busy: false, ended: None };
        Ok(Self {
            pool,
            order: options.order,
            queue: Mutex::new(queue),
            idle: Condvar::new(),
            output: Mutex::new(Some(output)),
            spilled: Mutex::new(PartStore::beside(path)),
        })
    }

    /// The memory of its parts.
    pub fn pool(&self) -> &Arc<GatherPool> {
        &self.pool
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the room of a part of so many bytes. In the order of tasks the part of a later task that would wait in vain gets it
    /// in a file beside the output.
    ///
    /// # Errors
    ///
    /// The output was closed or given up, or the task was ended.
    pub fn room(&self, task: u64, bytes: u64) -> Result<PartRoom> {
        let mut in_vain = 0;
        loop {
            if let Some(room) = self.try_room(task, bytes)? {
                return Ok(room);
            }
            // Parts that are taken together go now. In the order of tasks that would depend on timing.
            if self.work(self.order == Order::Arrival)? {
                continue;
            }
            in_vain = if self.pool.wait() { in_vain + 1 } else { 0 };
            if in_vain >= PATIENCE {
                let is_spilled = self.order == Order::Tasks;
                if !is_spilled {
                    self.pool.take(bytes);
                }
                return Ok(PartRoom { pool: Arc::clone(&self.pool), task, bytes, is_spilled });
            }
        }
    }

    /// The same, if no waiting is needed.
    ///
    /// # Errors
    ///
    /// As [`GrowingMerge::room`].
    pub fn try_room(&self, task: u64, bytes: u64) -> Result<Option<PartRoom>> {
        let is_next = {
            let queue = self.lock();
            queue.check_open()?;
            if self.order == Order::Tasks && queue.parts.is_done(task) {
                return Err(Error::request(format!("task {task} was ended already")));
            }
            self.order == Order::Tasks && queue.parts.head() == task
        };
        let room = |is_spilled| PartRoom { pool: Arc::clone(&self.pool), task, bytes, is_spilled };
        if self.pool.try_take(bytes) {
            return Ok(Some(room(false)));
        }
        if is_next {
            // Others wait for it.
            self.pool.take(bytes);
            return Ok(Some(room(false)));
        }
        Ok(None)
    }

    /// Adds a part, the bytes of a whole ROOT file. Who brings a part may write it, and others that came meanwhile.
    ///
    /// # Errors
    ///
    /// A part cannot be read or joined, or the output cannot be written. Then the output is given up. The error may be that of a part
    /// of another thread, which it names.
    pub fn add(&self, room: PartRoom, part: Vec<u8>) -> Result<()> {
        let task = room.task;
        let name = {
            let mut queue = self.lock();
            queue.check_open()?;
            queue.count += 1;
            match self.order {
                Order::Arrival => format!("part {}", queue.count),
                Order::Tasks => format!("part of task {task}"),
            }
        };
        let name = PathBuf::from(name);
        let bytes = if room.is_spilled {
            let mut spilled = self.spilled.lock().unwrap_or_else(PoisonError::into_inner);
            PartBytes::InFile(spilled.put(name.clone(), &part)?)
        } else {
            PartBytes::InMemory(part)
        };
        let held = room.bytes;
        {
            let mut queue = self.lock();
            queue.check_open()?;
            let at = match self.order {
                Order::Arrival => queue.parts.head(),
                Order::Tasks => task,
            };
            if self.order == Order::Tasks {
                queue.begun.insert(task);
            }
            // The room may be larger than the part.
            if let PartBytes::InMemory(part) = &bytes {
                self.pool.give_back(held.saturating_sub(part.len() as u64));
            }
            queue.parts.put(at, Waiting { name, bytes });
            room.keep();
        }
        self.work(false).map(drop)
    }

    /// Adds a part once there is room for it.
    ///
    /// # Errors
    ///
    /// As [`GrowingMerge::room`] and [`GrowingMerge::add`].
    pub fn add_part(&self, task: u64, part: Vec<u8>) -> Result<()> {
        self.add(self.room(task, part.len() as u64)?, part)
    }

    /// Ends a task, all of whose parts were added. In the order of arrival this says nothing.
    ///
    /// # Errors
    ///
    /// As [`GrowingMerge::add`], of the parts whose turn it is then.
    pub fn end_task(&self, task: u64) -> Result<()> {
        if self.order == Order::Arrival {
            return Ok(());
        }
        {
            let mut queue = self.lock();
            queue.check_open()?;
            queue.begun.remove(&task);
            queue.parts.done(task);
        }
        self.work(false)?;
        self.pool.notify();
        Ok(())
    }

    /// Writes the parts whose turn it is, unless another thread does. With `flush` those that are taken together as well. Returns whether
    /// there was anything to do.
    fn work(&self, flush: bool) -> Result<bool> {
        let mut queue = self.lock();
        if queue.busy || queue.ended.is_some() {
            return Ok(false);
        }
        queue.busy = true;
        self.pool.count_working(true);
        let mut did = false;
        let mut result = Ok(());
        while let Some(part) = queue.parts.next() {
            drop(queue);
            did = true;
            result = guarded(|| part.name.display().to_string(), || self.write(part.name.clone(), part.bytes));
            queue = self.lock();
            if result.is_err() {
                break;
            }
        }
        if flush && result.is_ok() {
            drop(queue);
            result = guarded(|| "the parts so far".to_owned(), || self.flush()).map(|flushed| did |= flushed);
            queue = self.lock();
        }
        if let Err(e) = &result {
            self.give_up(&mut queue, &e.to_string());
        }
        queue.busy = false;
        self.pool.count_working(false);
        self.idle.notify_all();
        drop(queue);
        self.pool.notify();
        result.map(|()| did)
    }

    fn write(&self, name: PathBuf, part: PartBytes) -> Result<()> {
        let (bytes, held) = match part {
            PartBytes::InMemory(bytes) => {
                let len = bytes.len() as u64;
                (bytes, len)
            }
            PartBytes::InFile(stored) => {
                let spilled = self.spilled.lock().unwrap_or_else(PoisonError::into_inner);
                let bytes = spilled.take(&stored)?;
                let len = bytes.len() as u64;
                self.pool.take(len);
                (bytes, len)
            }
        };
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(output) = output.as_mut() else {
            self.pool.give_back(held);
            return Err(given_up(""));
        };
        let pending = output.pending_bytes();
        let added = output.add(name, bytes);
        if added.is_err() {
            // All parts go.
            output.forget_pending();
        }
        self.pool.give_back(*added.as_ref().unwrap_or(&(held + pending)));
        added.map(drop)
    }

    fn flush(&self) -> Result<bool> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(output) = output.as_mut() else { return Ok(false) };
        let pending = output.pending_bytes();
        let flushed = output.flush();
        self.pool.give_back(pending);
        flushed.map(|bytes| bytes > 0)
    }

    fn give_up(&self, queue: &mut Queue, why: &str) {
        queue.ended.get_or_insert_with(|| format!("the output was given up: {why}"));
        for part in queue.parts.clear() {
            if let PartBytes::InMemory(bytes) = part.bytes {
                self.pool.give_back(bytes.len() as u64);
            }
        }
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.pool.give_back(output.map_or(0, |mut output| output.forget_pending()));
        self.spilled.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Gives the output up. Nothing is left of it.
    pub fn abort(&self) {
        let mut queue = self.lock();
        while queue.busy {
            queue = self.idle.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        self.give_up(&mut queue, "as asked");
        drop(queue);
        self.pool.notify();
    }

    /// Writes all parts that are left, and ends the output, which gets its name. Tasks that were not ended give what they have.
    ///
    /// # Errors
    ///
    /// As [`GrowingMerge::add`]; the output was closed before.
    pub fn close(&self) -> Result<Summary> {
        {
            let mut queue = self.lock();
            queue.check_open()?;
            for task in std::mem::take(&mut queue.begun) {
                queue.parts.done(task);
            }
            queue.parts.close();
        }
        loop {
            self.work(true)?;
            let mut queue = self.lock();
            queue.check_open()?;
            if !queue.busy {
                queue.ended = Some("the output was closed already".to_owned());
                break;
            }
            let _woken = self.idle.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner).take();
        output.map_or_else(|| Err(given_up("")), |output| guarded(|| "the end of the output".to_owned(), || output.close()))
    }
}

impl Queue {
    fn check_open(&self) -> Result<()> {
        self.ended.as_ref().map_or(Ok(()), |why| Err(given_up(why)))
    }
}

#[cold]
fn given_up(why: &str) -> Error {
    Error::request(if why.is_empty() { "the output was given up after an earlier error".to_owned() } else { why.to_owned() })
}
