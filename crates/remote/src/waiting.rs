//! Says that a server is waited for, to whoever registered for that: a command says it on the terminal. Requests that wait together
//! say it once.

use std::future::Future;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Takes a sentence.
pub type Say = fn(&str);

static SAY: OnceLock<Say> = OnceLock::new();
/// When something was said last.
static LAST: Mutex<Option<Instant>> = Mutex::new(None);

/// A wait is said after this time, and again each time it has passed; after a quarter of the time-out, if that is shorter.
const SOON: Duration = Duration::from_secs(5);

/// Lets waits be said by this function: for whom, and for how long. The first registration stays.
pub fn say_waiting(say: Say) {
    let _ = SAY.set(say);
}

/// Says a sentence, unless another was said a moment ago.
pub(crate) fn say(sentence: impl FnOnce() -> String, apart: Duration) {
    let Some(say) = SAY.get() else { return };
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.is_none_or(|last| last.elapsed() >= apart) {
        *last = Some(Instant::now());
        say(&sentence());
    }
}

/// Waits for a server, and says so if it takes long.
pub(crate) async fn waiting<T>(host: &str, timeout: Duration, future: impl Future<Output = T>) -> T {
    let each = SOON.min(timeout / 4).max(Duration::from_millis(10));
    let began = Instant::now();
    let mut future = std::pin::pin!(future);
    loop {
        if let Ok(done) = tokio::time::timeout(each, &mut future).await {
            return done;
        }
        let sentence = || {
            let (since, at) = (began.elapsed().as_secs_f64(), timeout.as_secs_f64());
            format!("waiting for {host}: no answer for {since:.0} s; it is given up after {at:.0} s")
        };
        say(sentence, each / 2);
    }
}
