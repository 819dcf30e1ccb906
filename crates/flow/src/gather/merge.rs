//! The interface of a growing merge: parts come from any thread, wait for their turn, and are written by one of the threads that bring
//! them. The others go on as long as there is room for what they bring.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rootfile::{Error, Result};

use super::buffer::PartBuffer;
use super::options::GatherOptions;
use super::output::GatherOutput;
use super::part::{PartBytes, PartInMemory, PartRoom};
use super::pool::{GatherPool, Waited};
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
    /// The task that others waited for in vain.
    stalled_at: Option<u64>,
    /// Why no more parts are taken.
    ended: Option<String>,
}

/// A part whose turn has not come.
struct Waiting {
    name: PathBuf,
    place: PartPlace,
}

enum PartPlace {
    Memory(PartBytes),
    Stored(StoredPart),
}

/// What a thread brings.
enum Brought {
    Whole(Vec<u8>),
    Chunks(PartBuffer),
}

/// The memory of a part.
#[derive(Clone, Copy)]
struct Need {
    bytes: u64,
    /// Whether the pool knows of it.
    is_counted: bool,
}

/// Whether there is room for a part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    Taken,
    Full,
}

impl Brought {
    /// The memory that it takes.
    fn need(&self) -> Need {
        match self {
            Self::Whole(bytes) => Need { bytes: bytes.len() as u64, is_counted: false },
            Self::Chunks(buffer) => Need { bytes: buffer.memory(), is_counted: true },
        }
    }

    /// The same with the room that was taken for it.
    fn with_room(self, pool: &Arc<GatherPool>) -> PartBytes {
        match self {
            Self::Whole(bytes) => {
                let room = PartRoom::taken(pool, bytes.len() as u64);
                PartBytes::Whole { bytes, _room: room }
            }
            Self::Chunks(mut buffer) => {
                buffer.become_part();
                PartBytes::Chunks(buffer)
            }
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
        let queue = Queue {
            parts: OrderedQueue::new(),
            begun: BTreeSet::new(),
            count: 0,
            busy: false,
            stalled_at: None,
            ended: None,
        };
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

    /// A file in memory, to be filled and added.
    pub fn buffer(&self) -> PartBuffer {
        PartBuffer::new(Arc::clone(&self.pool))
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_room(&self, task: u64, need: Need) -> Result<Room> {
        let Need { bytes, is_counted } = need;
        let is_next = {
            let queue = self.lock();
            queue.check_open()?;
            if self.order == Order::Tasks && queue.parts.is_done(task) {
                return Err(Error::request(format!("task {task} was ended already")));
            }
            // While somebody writes, memory becomes free.
            self.order == Order::Tasks && queue.parts.head() == task && !queue.busy
        };
        if self.pool.try_take(bytes, is_counted) {
            return Ok(Room::Taken);
        }
        if is_next {
            // Others wait for it.
            self.pool.take(bytes, is_counted);
            return Ok(Room::Taken);
        }
        Ok(Room::Full)
    }

    /// Waits for room. Returns whether there is some: in the order of tasks there may be none for a later task, which would wait in vain.
    fn room(&self, task: u64, need: Need) -> Result<Room> {
        let mut in_vain = 0;
        loop {
            if self.try_room(task, need)? == Room::Taken {
                return Ok(Room::Taken);
            }
            // Parts that are taken together go now. In the order of tasks that would depend on timing.
            if self.work(self.order == Order::Arrival)? {
                continue;
            }
            if self.order == Order::Tasks && self.lock().is_stalled() {
                return Ok(Room::Full);
            }
            in_vain = match self.pool.wait() {
                Waited::Changed => 0,
                Waited::AtWork => in_vain,
                Waited::InVain => in_vain + 1,
            };
            if in_vain >= PATIENCE {
                if self.order == Order::Tasks {
                    let mut queue = self.lock();
                    queue.stalled_at = Some(queue.parts.head());
                    return Ok(Room::Full);
                }
                self.pool.take(need.bytes, need.is_counted);
                return Ok(Room::Taken);
            }
        }
    }

    /// Adds a part, the bytes of a whole ROOT file, once there is room for it: while the parts that are not written yet fill the memory it
    /// waits. In the order of tasks the part of a later task that would wait in vain goes to a file beside the output. Who brings
    /// a part may write it, and others that came meanwhile.
    ///
    /// # Errors
    ///
    /// A part cannot be read or joined, or the output cannot be written. Then the output is given up. The error may be that of a part
    /// of another thread, which it names. Or the output was closed or given up, or the task was ended.
    pub fn add_part(&self, task: u64, part: Vec<u8>) -> Result<()> {
        self.bring(task, Brought::Whole(part))
    }

    /// The same for a part in the pool's memory.
    ///
    /// # Errors
    ///
    /// As [`GrowingMerge::add_part`].
    pub fn add(&self, task: u64, part: PartBuffer) -> Result<()> {
        self.bring(task, Brought::Chunks(part))
    }

    /// The same without waiting: gives the part back if there is no room for it.
    ///
    /// # Errors
    ///
    /// As [`GrowingMerge::add_part`].
    pub fn try_add(&self, task: u64, part: PartBuffer) -> Result<Option<PartBuffer>> {
        let part = Brought::Chunks(part);
        match (self.try_room(task, part.need())?, part) {
            (Room::Full, Brought::Chunks(part)) => Ok(Some(part)),
            (_, part) => self.put(task, PartPlace::Memory(part.with_room(&self.pool))).map(|()| None),
        }
    }

    fn bring(&self, task: u64, part: Brought) -> Result<()> {
        match self.room(task, part.need())? {
            Room::Taken => self.put(task, PartPlace::Memory(part.with_room(&self.pool))),
            Room::Full => {
                let mut spilled = self.spilled.lock().unwrap_or_else(PoisonError::into_inner);
                let stored = match part {
                    Brought::Whole(bytes) => spilled.put(PathBuf::new(), &bytes)?,
                    // Chunk by chunk: there is no memory for a copy.
                    Brought::Chunks(buffer) => {
                        spilled.put_source(&PartInMemory::new(PathBuf::new(), PartBytes::Chunks(buffer)))?
                    }
                };
                drop(spilled);
                self.put(task, PartPlace::Stored(stored))
            }
        }
    }

    /// Adds a part that has its place, and writes what can be written.
    fn put(&self, task: u64, place: PartPlace) -> Result<()> {
        {
            let mut queue = self.lock();
            queue.check_open()?;
            queue.count += 1;
            let (at, name) = match self.order {
                Order::Arrival => (queue.parts.head(), format!("part {}", queue.count)),
                Order::Tasks => (task, format!("a part of task {task}")),
            };
            if self.order == Order::Tasks {
                queue.begun.insert(task);
            }
            queue.parts.put(at, Waiting { name: PathBuf::from(name), place });
        }
        self.work(false).map(drop)
    }

    /// Ends a task, all of whose parts were added. In the order of arrival this says nothing.
    ///
    /// # Errors
    ///
    /// As [`GrowingMerge::add_part`], of the parts whose turn it is then.
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
        let mut next = queue.parts.next();
        if next.is_none() && !flush {
            return Ok(false);
        }
        queue.busy = true;
        self.pool.count_working(true);
        let mut did = false;
        let mut result = Ok(());
        while let Some(Waiting { name, place }) = next {
            drop(queue);
            did = true;
            result = guarded(|| name.display().to_string(), || self.write(name.clone(), place));
            queue = self.lock();
            if result.is_err() {
                break;
            }
            next = queue.parts.next();
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
        // Threads that only look whether there is work wake no others, or nobody would ever have waited in vain.
        if did || result.is_err() {
            self.pool.notify();
        }
        result.map(|()| did)
    }

    fn write(&self, name: PathBuf, place: PartPlace) -> Result<()> {
        let bytes = match place {
            PartPlace::Memory(bytes) => bytes,
            PartPlace::Stored(stored) => {
                let bytes = self.spilled.lock().unwrap_or_else(PoisonError::into_inner).take(&stored)?;
                self.pool.take(bytes.len() as u64, false);
                Brought::Whole(bytes).with_room(&self.pool)
            }
        };
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.as_mut().map_or_else(|| Err(given_up("")), |output| output.add(name, bytes))
    }

    fn flush(&self) -> Result<bool> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.as_mut().map_or(Ok(false), GatherOutput::flush)
    }

    fn give_up(&self, queue: &mut Queue, why: &str) {
        queue.ended.get_or_insert_with(|| format!("the output was given up: {why}"));
        queue.parts.clear().for_each(drop);
        drop(self.output.lock().unwrap_or_else(PoisonError::into_inner).take());
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
    /// As [`GrowingMerge::add_part`]; the output was closed before.
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
            drop(self.idle.wait(queue).unwrap_or_else(PoisonError::into_inner));
        }
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner).take();
        let output = output.ok_or_else(|| given_up(""))?;
        guarded(|| "the end of the output".to_owned(), || output.close())
    }
}

impl Queue {
    fn is_stalled(&self) -> bool {
        self.stalled_at == Some(self.parts.head())
    }

    fn check_open(&self) -> Result<()> {
        self.ended.as_ref().map_or(Ok(()), |why| Err(given_up(why)))
    }
}

#[cold]
fn given_up(why: &str) -> Error {
    Error::request(if why.is_empty() { "the output was given up after an earlier error" } else { why })
}
