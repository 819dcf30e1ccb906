//! Deals out tasks to threads. This is the one place where the threads of an operation begin, where a failure or the caller ends
//! them, and where a panic becomes an error. Which tasks there are, and what becomes of their results, is the caller's.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::{Scope, ThreadPool, Yield};
use rootfile::{Error, ErrorKind, Result};

use super::progress::{Progress, tell};

/// The threads for some tasks, and who ends the work.
#[derive(Clone, Copy)]
pub(crate) struct Workers<'a> {
    /// What the tasks are part of, for the error of a panic.
    what: &'static str,
    threads: usize,
    progress: Progress<'a>,
    /// Wakes tasks that wait for others, when the work ends early.
    give_up: &'a (dyn Fn() + Sync),
    in_order: bool,
    team: Option<&'a ThreadPool>,
}

impl<'a> Workers<'a> {
    /// At most `threads` threads; the calling one is one of them, so that a budget of one thread spawns none, and each task begins one at
    /// most, so that there are no more of them than tasks. `progress` is asked before each task whether the work goes on. Of several failing tasks the error of the first one in time is returned.
    pub fn new(what: &'static str, threads: usize, progress: Progress<'a>) -> Self {
        Self { what, threads, progress, give_up: &|| (), in_order: false, team: None }
    }

    /// The error of the first failing task in the order of dealing is returned, whatever the timing. No task may wait for another.
    pub fn in_order(self) -> Self {
        Self { in_order: true, ..self }
    }

    /// `give_up` is called when the work ends early. Tasks that wait for others are to fail then, as interrupted.
    pub fn giving_up(self, give_up: &'a (dyn Fn() + Sync)) -> Self {
        Self { give_up, ..self }
    }

    /// The threads of a team perform the tasks, whenever they have nothing else to do.
    pub fn with_team(self, team: Option<&'a ThreadPool>) -> Self {
        Self { team, ..self }
    }

    /// Runs tasks. `next` deals them out one by one; each is performed by one thread, which gets its number in this order and the
    /// thread's own scratch. After a failure no task begins any more.
    ///
    /// # Errors
    ///
    /// That of a task or of `next`; a panic of either, which names the task; interrupted, if `progress` ends the work.
    pub fn run<T, S: Send>(
        &self,
        next: impl FnMut() -> Result<Option<T>> + Send,
        scratch: impl Fn() -> S + Sync,
        perform: impl Fn(u64, T, &mut S) -> Result<()> + Sync,
    ) -> Result<()> {
        let dealer: Dealer<'_, S, _, _, _> = Dealer {
            workers: *self,
            untaken: Mutex::new((0, next)),
            failed: Mutex::new(None),
            ended: AtomicBool::new(false),
            begun: AtomicUsize::new(1),
            free: Mutex::new((1..self.threads).map(|_| None).collect()),
            scratch,
            perform,
        };
        match self.team.filter(|_| self.threads > 1) {
            Some(team) => team.scope(|scope| dealer.work_in_team(scope)),
            None => std::thread::scope(|scope| dealer.work(scope)),
        }
        let failed = dealer.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Runs the tasks from 0 to `count`, and returns their results in order.
    ///
    /// # Errors
    ///
    /// As [`Workers::run`].
    pub fn results<T: Send>(&self, count: usize, task: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
        let done: Mutex<BTreeMap<usize, T>> = Mutex::default();
        let mut numbers = 0..count;
        let workers = Self { threads: self.threads.min(count), ..*self };
        workers.run(
            || Ok(numbers.next()),
            || (),
            |_, number, ()| {
                let result = task(number)?;
                lock(&done).insert(number, result);
                Ok(())
            },
        )?;
        Ok(done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect())
    }
}

/// Does work, whose panic becomes an error with the name of the work.
pub(crate) fn guarded<T>(name: impl FnOnce() -> String, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Error::unsupported(format!("internal error in {} (panic above); please report it", name())))
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the threads share.
struct Dealer<'a, S, N, M, P> {
    workers: Workers<'a>,
    /// The number of the next task, and who has it.
    untaken: Mutex<(u64, N)>,
    /// The failure to return, and the number of its task.
    failed: Mutex<Option<(u64, Error)>>,
    /// Whether no task begins any more.
    ended: AtomicBool,
    /// Threads that were begun, with the calling one.
    begun: AtomicUsize,
    /// The scratches of the other threads of a team that are not in use.
    free: Mutex<Vec<Option<S>>>,
    scratch: M,
    perform: P,
}

impl<T, S, N, M, P> Dealer<'_, S, N, M, P>
where
    S: Send,
    N: FnMut() -> Result<Option<T>> + Send,
    M: Fn() -> S + Sync,
    P: Fn(u64, T, &mut S) -> Result<()> + Sync,
{
    /// Works until no task is left. Whoever has a task begins another thread, if there may be one.
    fn work<'s>(&'s self, scope: &'s std::thread::Scope<'s, '_>) {
        let mut scratch = None;
        let begin = || {
            let more = |begun: usize| (begun < self.workers.threads).then_some(begun + 1);
            if self.begun.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok() {
                scope.spawn(move || self.work(scope));
            }
        };
        while self.one(&mut scratch, &begin) {}
    }

    /// Works on a thread of a team until no task is left. Other work of the team goes first; where there is none, the other threads
    /// are offered a task or two each, so that as many threads work on these tasks as lack other work.
    fn work_in_team<'s>(&'s self, scope: &Scope<'s>) {
        let mut scratch = None;
        loop {
            while rayon::yield_now() == Some(Yield::Executed) {}
            for _ in 0..2 * (self.workers.threads - 1) {
                scope.spawn(|_| self.help());
            }
            if !self.one(&mut scratch, &|| ()) {
                return;
            }
        }
    }

    /// Performs a task on another thread of the team, unless as many threads as may are at it.
    fn help(&self) {
        let Some(mut scratch) = lock(&self.free).pop() else { return };
        self.one(&mut scratch, &|| ());
        lock(&self.free).push(scratch);
    }

    /// Performs the next task; `begin` is called once there is one. Returns whether there may be another.
    fn one(&self, scratch: &mut Option<S>, begin: &dyn Fn()) -> bool {
        // Who is not dealt a task is behind all tasks.
        let number = Cell::new(u64::MAX);
        let name = || match number.get() {
            u64::MAX => self.workers.what.to_owned(),
            number => format!("task {number} of {}", self.workers.what),
        };
        let done = guarded(name, || {
            if self.ended.load(Ordering::Relaxed) {
                return Ok(false);
            }
            tell(self.workers.progress, 0)?;
            let task = {
                let (dealt, next) = &mut *lock(&self.untaken);
                number.set(*dealt);
                let Some(task) = next()? else {
                    self.ended.store(true, Ordering::Relaxed);
                    return Ok(false);
                };
                *dealt += 1;
                task
            };
            begin();
            (self.perform)(number.get(), task, scratch.get_or_insert_with(&self.scratch)).map(|()| true)
        });
        done.unwrap_or_else(|error| {
            self.fail(number.get(), error);
            false
        })
    }

    /// Ends the work.
    fn fail(&self, number: u64, error: Error) {
        let mut failed = lock(&self.failed);
        // Tasks that wait for others are interrupted by their failure.
        let counts = match &*failed {
            None => true,
            Some(_) if matches!(error.kind(), ErrorKind::Interrupted) => false,
            Some((first, _)) => self.workers.in_order && number < *first,
        };
        if counts {
            *failed = Some((number, error));
        }
        drop(failed);
        self.ended.store(true, Ordering::Relaxed);
        (self.workers.give_up)();
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::atomic::AtomicUsize;
    use std::sync::{Barrier, Condvar};

    use rayon::ThreadPoolBuilder;

    use super::super::progress::unwatched;
    use super::*;

    fn workers(threads: usize) -> Workers<'static> {
        Workers::new("the test", threads, &unwatched)
    }

    #[test]
    fn results_are_in_order() {
        let squares = workers(4).results(100, |n| Ok(n * n)).unwrap();
        assert_eq!(squares, (0..100).map(|n| n * n).collect::<Vec<_>>());
        assert!(workers(4).results(0, Ok).unwrap().is_empty());
    }

    #[test]
    fn the_error_of_the_first_task_is_reported() {
        // Task 1 fails only after task 2 has failed.
        let both = Barrier::new(2);
        let error = workers(2).in_order().results(50, |n| match n {
            0 => Ok(()),
            1 => {
                both.wait();
                std::thread::sleep(std::time::Duration::from_millis(20));
                Err(Error::corrupt("first"))
            }
            2 => {
                both.wait();
                Err(Error::corrupt("second"))
            }
            _ => panic!("starts after a failure"),
        });
        assert_eq!(error.unwrap_err().to_string(), "first");
    }

    #[test]
    fn there_are_no_more_threads_than_tasks() {
        let seen: Mutex<std::collections::HashSet<_>> = Mutex::default();
        let mut numbers = 0..3u64;
        let perform = |_: u64, _: u64, (): &mut ()| {
            lock(&seen).insert(std::thread::current().id());
            Ok(())
        };
        let scratches = AtomicUsize::new(0);
        let scratch = || _ = scratches.fetch_add(1, Ordering::Relaxed);
        workers(1000).run(|| Ok(numbers.next()), scratch, perform).unwrap();
        assert!(lock(&seen).len() <= 3 && scratches.into_inner() <= 3);
    }

    #[test]
    fn a_failure_ends_the_work() {
        let started = AtomicUsize::new(0);
        let error = workers(1).results(1000, |n| {
            started.fetch_add(1, Ordering::Relaxed);
            if n == 3 { Err(Error::corrupt("three")) } else { Ok(()) }
        });
        assert_eq!((error.unwrap_err().to_string(), started.into_inner()), ("three".to_owned(), 4));
    }

    #[test]
    fn a_panic_is_an_error_that_names_the_task_and_nobody_waits_for_it() {
        let team = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for (threads, team) in [(1, None), (4, None), (3, Some(&team))] {
            for panics in [0, 5, 20] {
                let (turn, changed) = (Mutex::new(0), Condvar::new());
                let give_up = || {
                    *lock(&turn) = u64::MAX;
                    changed.notify_all();
                };
                let mut numbers = 0..20;
                // The dealer itself panics where no task does.
                let next = || {
                    let number = numbers.next();
                    assert!(number.is_some(), "the dealer");
                    Ok(number)
                };
                // Each task waits for the ones before.
                let perform = |number: u64, task: u64, (): &mut ()| {
                    let waited = changed.wait_while(lock(&turn), |turn| *turn < number);
                    let mut turn = waited.unwrap_or_else(PoisonError::into_inner);
                    if *turn > number {
                        return Err(Error::interrupted());
                    }
                    assert_ne!(task, panics, "the task");
                    *turn += 1;
                    changed.notify_all();
                    Ok(())
                };
                let workers = workers(threads).giving_up(&give_up).with_team(team);
                let message = workers.run(next, || (), perform).unwrap_err().to_string();
                let expected = format!("internal error in task {panics} of the test (panic above); please report it");
                assert_eq!(message, expected);
            }
        }
    }

    #[test]
    fn who_watches_ends_the_work_before_the_next_task() {
        for threads in [1, 3] {
            let (asked, started) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let progress = |_| match asked.fetch_add(1, Ordering::Relaxed) {
                0..5 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            };
            let ended = Workers::new("the test", threads, &progress).results(100, |_| {
                started.fetch_add(1, Ordering::Relaxed);
                Ok(())
            });
            assert!(matches!(ended.unwrap_err().kind(), ErrorKind::Interrupted));
            assert_eq!(started.into_inner(), 5);
        }
    }
}
