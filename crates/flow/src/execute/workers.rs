//! Runs work on several threads. The caller distributes tasks and handles errors and panics.

/// Runs `work` on `threads` threads and returns when all have ended. The calling thread is one of them, so that a budget of
/// one thread spawns none.
pub(crate) fn run_workers(threads: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(&work);
        }
        work();
    });
}
