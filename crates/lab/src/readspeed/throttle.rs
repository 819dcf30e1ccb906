//! Simulates slow storage: all files share one channel of a given rate. The data are the same, only later. Read-ahead is not
//! simulated: bytes are sent when they are requested.

use std::num::NonZeroU64;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rootfile::{Result, Source};

/// Longest idle time that the channel may catch up. Sleeps end some tenths of a millisecond late, and catching up
/// corrects that.
const SLACK: Duration = Duration::from_millis(5);

/// Tells the time and sleeps. Tests use a virtual clock.
pub(super) trait Clock: Send + Sync {
    fn now(&self) -> Duration;
    fn sleep(&self, time: Duration);
}

/// The time since it was made.
struct Real(Instant);

impl Clock for Real {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// The channel: it transfers one request after the other.
pub(super) struct Line {
    bytes_a_second: NonZeroU64,
    clock: Box<dyn Clock>,
    /// The time when all requests so far are transferred.
    free: Mutex<Duration>,
}

impl Line {
    pub fn new(bytes_a_second: NonZeroU64) -> Arc<Self> {
        Self::with_clock(bytes_a_second, Box::new(Real(Instant::now())))
    }

    fn with_clock(bytes_a_second: NonZeroU64, clock: Box<dyn Clock>) -> Arc<Self> {
        let free = Mutex::new(clock.now());
        Arc::new(Self { bytes_a_second, clock, free })
    }

    /// The file, read through the channel.
    pub fn to(self: &Arc<Self>, file: Arc<dyn Source>) -> Arc<dyn Source> {
        Arc::new(Far { file, line: Arc::clone(self) })
    }

    /// Waits until `bytes` bytes are transferred.
    fn bring(&self, bytes: usize) {
        let nanoseconds = bytes as u128 * 1_000_000_000 / u128::from(self.bytes_a_second.get());
        let takes = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        let (now, there) = {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            let now = self.clock.now();
            *free = (*free).max(now.saturating_sub(SLACK)).saturating_add(takes);
            (now, *free)
        };
        if let Some(wait) = there.checked_sub(now).filter(|wait| !wait.is_zero()) {
            self.clock.sleep(wait);
        }
    }
}

/// A file that is read through the channel.
struct Far {
    file: Arc<dyn Source>,
    line: Arc<Line>,
}

impl Source for Far {
    fn size(&self) -> u64 {
        self.file.size()
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(offset, buf)?;
        self.line.bring(buf.len());
        Ok(())
    }

    fn name(&self) -> &Path {
        self.file.name()
    }

    /// Loads the bytes into the page cache first, so that readers wait for the channel alone.
    fn will_need(&self, ranges: &[Range<u64>]) {
        self.file.will_need(ranges);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rootfile::MemoryFile;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A clock for tests: sleeping advances it, a little longer than requested, as a real sleep does.
    #[derive(Clone, Default)]
    struct Planted(Arc<AtomicU64>);

    const LATE: u64 = 300_000;

    impl Clock for Planted {
        fn now(&self) -> Duration {
            Duration::from_nanos(self.0.load(Ordering::SeqCst))
        }

        fn sleep(&self, time: Duration) {
            let time = u64::try_from(time.as_nanos()).unwrap();
            self.0.fetch_add(time + LATE, Ordering::SeqCst);
        }
    }

    /// Two files of ten kilobytes behind a channel of a megabyte a second.
    fn files() -> (Planted, [Arc<dyn Source>; 2]) {
        let clock = Planted::default();
        let line = Line::with_clock(NonZeroU64::new(1_000_000).unwrap(), Box::new(clock.clone()));
        let file = |byte: u8| line.to(Arc::new(MemoryFile(vec![byte; 10_000])));
        (clock, [file(1), file(2)])
    }

    #[test]
    fn files_share_the_rate_and_late_sleeps_do_not_add_up() {
        let (clock, files) = files();
        for at in 0..100 {
            for (file, byte) in files.iter().zip([1, 2]) {
                assert_eq!(file.read(at * 100, 100).unwrap(), vec![byte; 100]);
            }
        }
        let took = clock.now();
        assert!(took >= Duration::from_millis(20) && took < Duration::from_micros(20_500), "{took:?}");
    }

    #[test]
    fn an_idle_channel_does_not_read_ahead() {
        let (clock, files) = files();
        clock.sleep(Duration::from_secs(9));
        let before = clock.now();
        files[0].read(0, 10_000).unwrap();
        let took = clock.now() - before;
        assert!(took >= Duration::from_millis(10) - SLACK && took < Duration::from_millis(10), "{took:?}");
    }

    #[test]
    fn unreadable_ranges_take_no_time() {
        let (clock, files) = files();
        assert_eq!((files[0].size(), files[0].name()), (10_000, Path::new("(memory)")));
        assert!(files[0].read(9_999, 2).is_err());
        assert!(files[0].read_exact_at(9_999, &mut [0; 2]).is_err());
        assert_eq!(clock.now(), Duration::ZERO);
    }
}
