//! The processes that descend from this one, and their end: told by a signal, killed if they do not heed it, also those that lose their
//! parent or are started meanwhile. What they do, and why they are to end, is not known here.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::kernel::{adopt_orphans, processes};

/// Processes that are told to end have this long before they are killed.
const GRACE: Duration = Duration::from_secs(3);
/// Time between two looks at them.
const EVERY: Duration = Duration::from_millis(10);
/// A process that the kernel does not end is not waited for longer.
const STUCK: Duration = Duration::from_secs(30);

/// The end of all descendants, once it has begun.
static ENDING: Mutex<Option<Ending>> = Mutex::new(None);

struct Ending {
    signal: Signal,
    begun: Instant,
    /// Those that have the signal: a program may take a second one for an order to drop everything.
    told: HashSet<i32>,
}

/// From here on processes whose parent ends before them become children of this one, and so stay among its descendants.
pub fn adopt() {
    // Without it such processes are not found, and nothing else changes.
    let _ = adopt_orphans();
}

/// Tells all descendants to end with a signal, by its number, and what else [`ended`] finds while it waits for them.
pub fn begin_ending(signal: i32) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        let begun = Instant::now();
        ending().get_or_insert_with(|| Ending { signal, begun, told: HashSet::new() }).tell();
    }
}

/// Tells all descendants to end, and those that are started while this process goes on: it does not return.
pub fn end_from_now_on(signal: i32) -> ! {
    begin_ending(signal);
    loop {
        ended();
        std::thread::sleep(EVERY);
    }
}

/// Whether they have been told to end. If so, this returns when none is left.
pub fn ended() -> bool {
    loop {
        let left = ending().as_mut().map(|ending| ending.tell() && ending.begun.elapsed() < STUCK);
        match left {
            None => return false,
            Some(false) => return true,
            Some(true) => {}
        }
        std::thread::sleep(EVERY);
    }
}

fn ending() -> MutexGuard<'static, Option<Ending>> {
    ENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ending {
    /// Tells those that do not know yet, or kills all; false if none is left.
    fn tell(&mut self) -> bool {
        let left = descendants();
        let is_late = self.begun.elapsed() > GRACE;
        for pid in &left {
            let is_new = self.told.insert(*pid);
            if let (true, Some(pid)) = (is_new || is_late, Pid::from_raw(*pid)) {
                // One that has ended meanwhile is what was wanted.
                let _ = kill_process(pid, if is_late { Signal::KILL } else { self.signal });
            }
        }
        !left.is_empty()
    }
}

/// Those that run, or wait.
fn descendants() -> Vec<i32> {
    let all = processes();
    let mut family = vec![rustix::process::getpid().as_raw_pid()];
    let mut at = 0;
    while let Some(&parent) = family.get(at) {
        // What has ended has no children any more.
        let children = all.iter().filter(|child| child.parent == parent && child.pid != parent && child.alive);
        family.extend(children.map(|child| child.pid));
        at += 1;
    }
    family.split_off(1)
}
