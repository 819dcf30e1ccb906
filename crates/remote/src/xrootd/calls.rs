//! Calls of the library: which are under way, which nobody waits for, and what becomes of them when the process ends. The
//! library tears itself down then, so no call may begin any more, and those that are under way get a moment to return.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// How long the end of the process waits for calls: many round trips, but not for a server that hangs. A call that still
/// waits then stays as it is until the process is gone.
const MOMENT: Duration = Duration::from_secs(1);

struct State {
    under_way: usize,
    has_ended: bool,
}

static STATE: Mutex<State> = Mutex::new(State { under_way: 0, has_ended: false });
static RETURNED: Condvar = Condvar::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A call under way.
struct UnderWay;

impl Drop for UnderWay {
    fn drop(&mut self) {
        state().under_way -= 1;
        RETURNED.notify_all();
    }
}

/// Makes a call, unless the process is ending.
pub(super) fn call<T>(task: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let mut now = state();
    if now.has_ended {
        return Err(io::Error::other("the process is ending"));
    }
    now.under_way += 1;
    drop(now);
    let _under_way = UnderWay;
    task()
}

/// Ends all calls.
pub(super) fn end() {
    let mut now = state();
    now.has_ended = true;
    let _ = RETURNED.wait_timeout_while(now, MOMENT, |now| now.under_way > 0);
}

type Task = Box<dyn FnOnce() + Send>;

static LATER: Mutex<Option<Sender<Task>>> = Mutex::new(None);

/// Makes a call that nobody waits for, after those before it, in a thread of its own; here, where no thread can be had.
pub(super) fn later(task: impl FnOnce() + Send + 'static) {
    let task = move || {
        let _ = call(|| {
            task();
            Ok(())
        });
    };
    let mut tasks = LATER.lock().unwrap_or_else(PoisonError::into_inner);
    if tasks.is_none() {
        let (sender, receiver) = channel::<Task>();
        let thread = Builder::new().name("xrootd-close".into()).spawn(move || receiver.iter().for_each(|task| task()));
        *tasks = thread.ok().map(|_| sender);
    }
    let unsent: Option<Task> = match tasks.as_ref() {
        Some(tasks) => tasks.send(Box::new(task)).err().map(|unsent| unsent.0),
        None => Some(Box::new(task)),
    };
    drop(tasks);
    if let Some(task) = unsent {
        task();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test: the end is that of the whole process.
    #[test]
    fn later_calls_are_in_order_and_none_begins_after_the_end() {
        let (sender, receiver) = channel();
        for i in 0..10 {
            let sender = sender.clone();
            later(move || sender.send((i, std::thread::current().id())).unwrap());
        }
        let ran: Vec<_> = receiver.iter().take(10).collect();
        assert!(ran.iter().all(|(_, thread)| *thread != std::thread::current().id()));
        assert_eq!(ran.iter().map(|(i, _)| *i).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());

        let (begun, has_begun) = channel();
        let slow = std::thread::spawn(move || {
            call(|| {
                begun.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(20));
                Ok(())
            })
        });
        has_begun.recv().unwrap();
        end();
        assert_eq!(state().under_way, 0);
        assert!(call(|| Ok(())).is_err());
        assert!(slow.join().unwrap().is_ok());
    }
}
