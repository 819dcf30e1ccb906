//! The live view of a watched job: one line that a terminal redraws, or one line each second without a terminal.

use std::collections::VecDeque;
use std::io::{Write, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use lab::monitor::Sample;

use crate::output;

/// Time between two lines, on a terminal and elsewhere.
const DRAWN: Duration = Duration::from_millis(250);
const PRINTED: Duration = Duration::from_secs(1);
/// How many values the curve of resident memory has.
const CURVE: usize = 24;
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The view.
pub struct Live {
    bar: ProgressBar,
    shown: Option<(Instant, Sample)>,
    curve: VecDeque<u64>,
}

impl Live {
    /// A view on standard error.
    pub fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        Self { bar, shown: None, curve: VecDeque::new() }
    }

    /// Shows a sample, if it is time.
    pub fn show(&mut self, sample: &Sample) {
        let apart = if self.bar.is_hidden() { PRINTED } else { DRAWN };
        if self.shown.as_ref().is_some_and(|(when, _)| when.elapsed() < apart) {
            return;
        }
        if self.curve.len() == CURVE {
            self.curve.pop_front();
        }
        self.curve.push_back(sample.rss);
        let line = line(sample, self.shown.as_ref().map(|(_, before)| before), &self.curve);
        if self.bar.is_hidden() {
            // A view that cannot be shown is no reason to stop.
            let _ = writeln!(stderr().lock(), "{line}");
        } else {
            self.bar.set_message(line);
        }
        self.shown = Some((Instant::now(), sample.clone()));
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn line(now: &Sample, before: Option<&Sample>, curve: &VecDeque<u64>) -> String {
    let nothing = Sample::default();
    let before = before.unwrap_or(&nothing);
    let time = (now.time - before.time).max(1e-3);
    let cpu = (now.user + now.system - before.user - before.system).max(0.0);
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shown")]
    let rate = |now: u64, before: u64| (now.saturating_sub(before) as f64 / time) as u64;
    let mut line = format!(
        "{:.1} s  RSS {} {} (peak {})  virtual {}  CPU {:.0}%  read {}/s  wrote {}/s",
        now.time,
        output::bytes(now.rss),
        drawn(curve),
        output::bytes(now.peak_rss),
        output::bytes(now.vsize),
        100.0 * cpu / time,
        output::bytes(rate(now.read, before.read)),
        output::bytes(rate(now.written, before.written)),
    );
    if now.outputs > 0 {
        line.push_str(&format!("  files {}", output::bytes(now.output)));
    }
    if now.events > 0 {
        let rate = rate(now.events, before.events);
        line.push_str(&format!("  events {} ({}/s)", output::count(now.events), output::count(rate)));
    }
    line
}

/// Values as blocks, the largest the highest.
fn drawn(curve: &VecDeque<u64>) -> String {
    let most = curve.iter().copied().max().unwrap_or(0).max(1);
    let top = LEVELS.len() as u64 - 1;
    let level = |value: u64| usize::try_from(u128::from(value) * u128::from(top) / u128::from(most)).unwrap_or(0);
    curve.iter().filter_map(|value| LEVELS.get(level(*value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_changes_since_the_last() {
        let before = Sample { time: 1.0, user: 0.5, written: 1_000_000, events: 10, ..Sample::default() };
        let now = Sample {
            time: 3.0,
            user: 1.5,
            rss: 7,
            written: 5_000_000,
            events: 30,
            outputs: 1,
            output: 42,
            ..Sample::default()
        };
        let line = line(&now, Some(&before), &VecDeque::from([0, 7]));
        for part in ["3.0 s", "RSS 7 B ▁█", "CPU 50%", "wrote 2.00 MB/s", "files 42 B", "events 30 (10/s)"] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }
}
