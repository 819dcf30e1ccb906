//! CPU clocks.

use rustix::time::{ClockId, clock_gettime};

/// CPU seconds that this thread has used.
pub fn thread_seconds() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

/// CPU seconds that this process has used, all threads together.
pub fn process_seconds() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

#[expect(clippy::cast_precision_loss, reason = "seconds")]
fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
