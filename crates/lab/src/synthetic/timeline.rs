//! What each thread did, and when, while a data set was written: a few stretches for each batch, from the clocks of the
//! fill contexts. Within one batch a thread changes between stages more often than that: its stages are told one after the
//! other, with their total times.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use flow::write::{FillContext, Watch};
use serde::{Deserialize, Serialize};

/// Most stretches of a thread: later ones are not recorded.
const MOST: usize = 10_000;
/// Shorter stretches are left out.
const SHORTEST: Duration = Duration::from_micros(1);

/// What a thread does. Time without a stage is idle, or spent between the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Making the numbers of a batch.
    Filling,
    /// Waiting for memory.
    Waiting,
    /// Encoding, and cutting baskets or pages.
    Encoding,
    /// Compressing.
    Compressing,
    /// Handing over clusters, and appending them to the file.
    Writing,
}

/// In the order in which they are told.
const STAGES: [Stage; 4] = [Stage::Waiting, Stage::Encoding, Stage::Compressing, Stage::Writing];

/// One stage of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// The thread, from 0 on.
    pub thread: usize,
    /// What it did.
    pub stage: Stage,
    /// Seconds since the start.
    pub begin: f64,
    /// Seconds since the start.
    pub end: f64,
}

/// A recording at work.
#[derive(Debug)]
pub struct Timeline {
    started: Instant,
    threads: Mutex<Vec<Thread>>,
}

#[derive(Debug)]
struct Thread {
    id: ThreadId,
    stretches: Vec<(Stage, Instant, Duration)>,
    /// The contexts of its task, and their times that are told already.
    watches: Vec<Watch>,
    told: [u64; 4],
    /// The end of what is told.
    until: Instant,
}

impl Default for Timeline {
    fn default() -> Self {
        Self { started: Instant::now(), threads: Mutex::default() }
    }
}

impl Timeline {
    /// This thread begins a task with these contexts. Those of its last task are finished by now.
    pub fn begin(&self, contexts: &[FillContext]) {
        let (mut threads, id) = (self.threads(), std::thread::current().id());
        let place = threads.iter().position(|thread| thread.id == id).unwrap_or(threads.len());
        if place == threads.len() {
            let (stretches, watches) = (Vec::new(), Vec::new());
            threads.push(Thread { id, stretches, watches, told: [0; 4], until: Instant::now() });
        }
        if let Some(thread) = threads.get_mut(place) {
            thread.settle(thread.until);
            thread.watches = contexts.iter().map(FillContext::watch).collect();
            thread.told = thread.spent();
        }
    }

    /// This thread made a batch between these two times, and has filled it by now.
    pub fn filled(&self, begun: Instant, made: Instant) {
        let (mut threads, id) = (self.threads(), std::thread::current().id());
        if let Some(thread) = threads.iter_mut().find(|thread| thread.id == id) {
            thread.tell(Stage::Filling, begun, made - begun);
            thread.settle(made);
        }
    }

    /// All stretches, thread by thread. All contexts are finished by now.
    pub fn stretches(self) -> Vec<Stretch> {
        let mut all = Vec::new();
        for (number, thread) in self.threads().iter_mut().enumerate() {
            thread.settle(thread.until);
            all.extend(thread.stretches.iter().map(|&(stage, begin, long)| {
                let begin = begin.saturating_duration_since(self.started).as_secs_f64();
                Stretch { thread: number, stage, begin, end: begin + long.as_secs_f64() }
            }));
        }
        all
    }

    fn threads(&self) -> MutexGuard<'_, Vec<Thread>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Thread {
    /// Nanoseconds of each stage, of all contexts of the task.
    fn spent(&self) -> [u64; 4] {
        let mut spent = [0; 4];
        for one in self.watches.iter().map(Watch::metrics) {
            let times = [one.waiting_ns, one.encoding_ns, one.compressing_ns, one.handing_ns];
            spent.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
        }
        spent
    }

    /// Tells the times that the contexts have spent since the last call, from this time on.
    fn settle(&mut self, from: Instant) {
        let (spent, now) = (self.spent(), Instant::now());
        let mut at = from;
        for ((stage, spent), told) in STAGES.into_iter().zip(spent).zip(self.told) {
            // Other threads may help with encoding: their time is not this thread's.
            let long = Duration::from_nanos(spent.saturating_sub(told)).min(now.saturating_duration_since(at));
            self.tell(stage, at, long);
            at += long;
        }
        (self.told, self.until) = (spent, now);
    }

    fn tell(&mut self, stage: Stage, begin: Instant, long: Duration) {
        if long >= SHORTEST && self.stretches.len() < MOST {
            self.stretches.push((stage, begin, long));
        }
    }
}
