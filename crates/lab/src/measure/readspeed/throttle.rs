//! Simulates slow storage: all files share one channel of a given rate, and each request may take a time before its first byte, as
//! to another machine. The data are the same, only later. The kernel's read-ahead is not simulated: bytes are sent when they are
//! requested.

use std::num::NonZeroU64;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dataset::layout::ByteSize;
use rootfile::{Result, Source, Traffic};

/// Longest idle time that the channel may catch up. Sleeps end some tenths of a millisecond late, and catching up
/// corrects that.
const SLACK: Duration = Duration::from_millis(5);

/// Simulated slow storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttle {
    /// At most this many bytes a second, over all files.
    pub bytes_a_second: Option<NonZeroU64>,
    /// The time from a request to its first byte. Requests may wait side by side.
    pub latency: Duration,
}

impl FromStr for Throttle {
    type Err = String;

    /// `20MB/s`, `30ms`, or both: `20MB/s,30ms`.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || format!("{text:?} is no throttle: write bytes a second, a latency, or both, like 20MB/s,30ms");
        let mut throttle = Self::default();
        for part in text.split(',').map(str::trim) {
            let latency = part.strip_suffix("ms").map(|number| (number, 1e-3));
            let latency =
                latency.or_else(|| part.strip_suffix('s').filter(|_| !part.ends_with("/s")).map(|n| (n, 1.0)));
            if let Some((number, unit)) = latency {
                let seconds = number.trim().parse::<f64>().map_err(|_| wrong())? * unit;
                throttle.latency = Some(seconds)
                    .filter(|seconds| (0.0..=60.0).contains(seconds))
                    .map(Duration::from_secs_f64)
                    .ok_or_else(wrong)?;
            } else {
                let size = part.strip_suffix("/s").unwrap_or(part).parse::<ByteSize>().map_err(|_| wrong())?;
                throttle.bytes_a_second = Some(NonZeroU64::new(size.bytes()).ok_or_else(wrong)?);
            }
        }
        Ok(throttle)
    }
}

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
    throttle: Throttle,
    clock: Box<dyn Clock>,
    /// The time when all requests so far are transferred.
    free: Mutex<Duration>,
    traffic: Mutex<Traffic>,
}

impl Line {
    pub fn new(throttle: Throttle) -> Arc<Self> {
        Self::with_clock(throttle, Box::new(Real(Instant::now())))
    }

    fn with_clock(throttle: Throttle, clock: Box<dyn Clock>) -> Arc<Self> {
        let free = Mutex::new(clock.now());
        Arc::new(Self { throttle, clock, free, traffic: Mutex::default() })
    }

    /// The file, read through the channel.
    pub fn to(self: &Arc<Self>, file: Arc<dyn Source>) -> Arc<dyn Source> {
        // The caller and this value have one.
        let is_first = Arc::strong_count(self) == 1;
        Arc::new(Far { file, line: Arc::clone(self), is_first })
    }

    /// Waits until `bytes` bytes of one request are transferred.
    fn bring(&self, bytes: u64) {
        if !self.throttle.latency.is_zero() {
            self.clock.sleep(self.throttle.latency);
        }
        let began = self.clock.now();
        if let Some(rate) = self.throttle.bytes_a_second {
            self.transfer(bytes, rate);
        }
        let transfer = self.clock.now().saturating_sub(began);
        *self.traffic.lock().unwrap_or_else(PoisonError::into_inner) +=
            Traffic { requests: 1, bytes, latency: self.throttle.latency, transfer };
    }

    fn transfer(&self, bytes: u64, rate: NonZeroU64) {
        let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(rate.get());
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
    is_first: bool,
}

impl Source for Far {
    fn size(&self) -> u64 {
        self.file.size()
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(offset, buf)?;
        self.line.bring(buf.len() as u64);
        Ok(())
    }

    /// With a latency, reading ahead is worth while as it is for other machines.
    fn is_remote(&self) -> bool {
        !self.line.throttle.latency.is_zero() || self.file.is_remote()
    }

    /// The channel is shared, so only its first file tells.
    fn traffic(&self) -> Option<Traffic> {
        match self.is_first && !self.line.throttle.latency.is_zero() {
            true => Some(*self.line.traffic.lock().unwrap_or_else(PoisonError::into_inner)),
            false => self.file.traffic(),
        }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        let read = self.file.read_ranges(ranges)?;
        self.line.bring(read.iter().map(|bytes| bytes.len() as u64).sum());
        Ok(read)
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

    #[test]
    fn rates_and_latencies() {
        let parsed = |text: &str| {
            let throttle: Throttle = text.parse()?;
            Ok((throttle.bytes_a_second.map_or(0, NonZeroU64::get), throttle.latency.as_millis()))
        };
        assert_eq!(parsed("20MB/s"), Ok((20_000_000, 0)));
        assert_eq!(parsed("500kB"), Ok((500_000, 0)));
        assert_eq!(parsed("20MB/s,30ms"), Ok((20_000_000, 30)));
        assert_eq!(parsed("1.5s"), Ok((0, 1500)));
        for text in ["0", "0/s", "MB/s", "20 apples", "20MB/h", "-1", "-3ms", "ms", "1e9s", ""] {
            assert!(parsed(text).is_err_and(|message: String| message.contains(text)), "{text}");
        }
    }

    #[test]
    fn several_ranges_are_one_request() {
        let clock = Planted::default();
        let line = Line::with_clock("1MB/s,30ms".parse().unwrap(), Box::new(clock.clone()));
        let file = line.to(Arc::new(MemoryFile(vec![1; 10_000])));
        assert_eq!(file.read_ranges(&[0..1000, 2000..10_000]).unwrap().concat().len(), 9000);
        let traffic = file.traffic().unwrap();
        assert_eq!((traffic.requests, traffic.bytes, traffic.latency.as_millis()), (1, 9000, 30));
        // 30 ms, and the 9 ms of the bytes less the 5 ms that an idle channel may catch up.
        assert!((34..36).contains(&clock.now().as_millis()), "{:?}", clock.now());
    }
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
        let line = Line::with_clock("1MB/s".parse().unwrap(), Box::new(clock.clone()));
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
