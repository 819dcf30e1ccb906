//! A record in figures: of all of its time, and of each phase. Samples pass one by one; what stays is a few blocks of time for each
//! phase, of which means have their noise, and a curve of some thousand points for the picture.

use serde::Serialize;

use crate::math::as_f64;
use crate::monitor::Sample;

/// Blocks of a phase while samples come, and at the end.
const BLOCKS: usize = 64;
/// Blocks that means are compared by: fewer say nothing, more are not independent.
const INDEPENDENT: std::ops::RangeInclusive<usize> = 5..=16;
/// Phases and moments that are told; the last phase has the rest of the time.
const PHASES: usize = 50;
const MOMENTS: usize = 2000;
/// Points of a curve at most.
const POINTS: usize = 4000;

/// A mean over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Mean {
    /// It.
    pub mean: f64,
    /// Two standard errors, by the means of parts of the time; none if there are too few samples.
    pub noise: Option<f64>,
}

/// A part of a job's time. Times in seconds, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Phase {
    /// From which mark to which.
    pub name: String,
    /// When it began, since the beginning of the job.
    pub start: f64,
    /// How long it took by the clock.
    pub wall: f64,
    /// CPU in user mode.
    pub user: f64,
    /// CPU in the kernel.
    pub system: f64,
    /// Cores that were busy: CPU by the clock.
    pub cores: Mean,
    /// Resident memory.
    pub rss: Mean,
    /// The most resident memory of all processes together.
    pub rss_peak: u64,
    /// Address space.
    pub vsize: Mean,
    /// The most of it.
    pub vsize_peak: u64,
    /// The most proportional memory; 0 unless it was sampled.
    pub pss_peak: u64,
    /// Threads.
    pub threads: Mean,
    /// Bytes read by system calls.
    pub read: u64,
    /// Bytes of them a second.
    pub read_rate: Mean,
    /// Bytes written by system calls.
    pub written: u64,
    /// Bytes of them a second.
    pub write_rate: Mean,
    /// Bytes read from disk.
    pub disk_read: u64,
    /// Bytes written to disk.
    pub disk_written: u64,
    /// By how much the outputs grew.
    pub output: i64,
    /// Events that were done.
    pub events: u64,
}

/// A moment with a mark.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Moment {
    /// The mark of the job; empty if there is none.
    pub mark: String,
    /// What the monitor saw; mostly empty.
    pub seen: String,
    /// Seconds since the beginning.
    pub time: f64,
    /// Events that were done.
    pub events: u64,
    /// Address space.
    pub vsize: u64,
    /// Resident memory.
    pub rss: u64,
    /// CPU until then.
    pub cpu: f64,
    /// Bytes written until then.
    pub written: u64,
    /// Bytes of the outputs.
    pub output: u64,
}

/// Points for the picture.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub points: Vec<Sample>,
    each: u64,
    passed: u64,
}

impl Default for Curve {
    fn default() -> Self {
        Self { points: Vec::new(), each: 1, passed: 0 }
    }
}

impl Curve {
    fn add(&mut self, sample: &Sample, is_peak: bool) {
        self.passed += 1;
        if !self.passed.is_multiple_of(self.each) && !is_peak && !sample.is_marked() {
            return;
        }
        self.points.push(sample.clone());
        if self.points.len() > POINTS {
            let most = self.points.iter().map(|point| point.rss).max().unwrap_or(0);
            let mut number = 0;
            self.points.retain(|point| {
                number += 1;
                number % 2 == 0 || (point.is_marked() && number < POINTS) || point.rss == most
            });
            self.each *= 2;
        }
    }
}

/// A stretch of time, with integrals over it.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    time: f64,
    cpu: f64,
    rss: f64,
    vsize: f64,
    threads: f64,
    read: f64,
    written: f64,
}

impl Block {
    fn plus(self, other: Self) -> Self {
        Self {
            time: self.time + other.time,
            cpu: self.cpu + other.cpu,
            rss: self.rss + other.rss,
            vsize: self.vsize + other.vsize,
            threads: self.threads + other.threads,
            read: self.read + other.read,
            written: self.written + other.written,
        }
    }

    /// The time between two samples.
    fn between(a: &Sample, b: &Sample) -> Self {
        let time = (b.time - a.time).max(0.0);
        // At the end nothing lives; until then it did.
        let later = if b.processes == 0 && b.rss == 0 { a } else { b };
        let over = |of: fn(&Sample) -> u64| (as_f64(of(a)) + as_f64(of(later))) / 2.0 * time;
        let more = |of: fn(&Sample) -> u64| as_f64(of(b).saturating_sub(of(a)));
        Self {
            time,
            cpu: (b.user + b.system - a.user - a.system).max(0.0),
            rss: over(|s| s.rss),
            vsize: over(|s| s.vsize),
            threads: over(|s| s.threads),
            read: more(|s| s.read),
            written: more(|s| s.written),
        }
    }
}

fn pairs(blocks: &[Block]) -> Vec<Block> {
    blocks.chunks(2).map(|pair| pair.iter().copied().fold(Block::default(), Block::plus)).collect()
}

/// A mean over blocks, with its noise.
fn mean(blocks: &[Block], of: impl Fn(&Block) -> f64) -> Mean {
    let time: f64 = blocks.iter().map(|block| block.time).sum();
    if time <= 0.0 {
        return Mean::default();
    }
    let mean = blocks.iter().map(&of).sum::<f64>() / time;
    let away = |block: &Block| block.time * (of(block) / block.time.max(f64::MIN_POSITIVE) - mean).powi(2);
    let noise = (blocks.len() >= *INDEPENDENT.start()).then(|| {
        let variance = blocks.iter().filter(|block| block.time > 0.0).map(away).sum::<f64>() / time;
        2.0 * (variance / (as_f64(blocks.len() as u64) - 1.0)).sqrt()
    });
    Mean { mean, noise }
}

/// A phase whose end is not there yet.
#[derive(Clone, Debug, Default)]
struct Open {
    from: String,
    first: Option<Sample>,
    last: Sample,
    blocks: Vec<Block>,
    least: f64,
    peaks: [u64; 3],
}

impl Open {
    fn add(&mut self, sample: &Sample) {
        if self.first.is_some() {
            let block = Block::between(&self.last, sample);
            match self.blocks.last_mut() {
                Some(last) if last.time < self.least => *last = last.plus(block),
                _ => self.blocks.push(block),
            }
            if self.blocks.len() > BLOCKS {
                self.blocks = pairs(&self.blocks);
                self.least = self.blocks.iter().map(|block| block.time).fold(self.least, f64::max);
            }
        } else {
            self.first = Some(sample.clone());
        }
        for (peak, value) in self.peaks.iter_mut().zip([sample.rss, sample.vsize, sample.pss]) {
            *peak = (*peak).max(value);
        }
        self.last.clone_from(sample);
    }

    fn phase(&self, name: String) -> Phase {
        let (first, last) = (self.first.clone().unwrap_or_default(), &self.last);
        let mut blocks = self.blocks.clone();
        while blocks.len() > *INDEPENDENT.end() {
            blocks = pairs(&blocks);
        }
        let more = |of: fn(&Sample) -> u64| of(last).saturating_sub(of(&first));
        let grown = i128::from(last.output) - i128::from(first.output);
        let [rss_peak, vsize_peak, pss_peak] = self.peaks;
        Phase {
            name,
            start: first.time,
            wall: (last.time - first.time).max(0.0),
            user: (last.user - first.user).max(0.0),
            system: (last.system - first.system).max(0.0),
            cores: mean(&blocks, |block| block.cpu),
            rss: mean(&blocks, |block| block.rss),
            rss_peak,
            vsize: mean(&blocks, |block| block.vsize),
            vsize_peak,
            pss_peak,
            threads: mean(&blocks, |block| block.threads),
            read: more(|s| s.read),
            read_rate: mean(&blocks, |block| block.read),
            written: more(|s| s.written),
            write_rate: mean(&blocks, |block| block.written),
            disk_read: more(|s| s.disk_read),
            disk_written: more(|s| s.disk_written),
            output: i64::try_from(grown).unwrap_or(0),
            events: more(|s| s.events),
        }
    }
}

/// Phases between moments of one kind.
#[derive(Clone, Debug, Default)]
struct Phases {
    done: Vec<Phase>,
    now: Open,
}

impl Phases {
    fn add(&mut self, sample: &Sample, name: Option<String>) {
        self.now.add(sample);
        if let Some(name) = name.filter(|_| self.done.len() < PHASES) {
            self.close(&name);
            self.now = Open { from: name, ..Open::default() };
            self.now.add(sample);
        }
    }

    fn close(&mut self, to: &str) {
        let from = if self.now.from.is_empty() { "begin" } else { &self.now.from };
        let phase = self.now.phase(format!("{from} .. {to}"));
        if phase.wall > 0.0 {
            self.done.push(phase);
        }
    }
}

/// A record, sample by sample.
#[derive(Clone, Debug, Default)]
pub(super) struct Digest {
    whole: Open,
    by_marks: Phases,
    by_files: Phases,
    moments: Vec<Moment>,
    left_out: u64,
    curve: Curve,
    samples: u64,
    finished: bool,
    most: u64,
}

/// The name of what happened to a file: its own, without its folders.
fn of_files(seen: &str) -> Option<String> {
    let one = |event: &str| {
        let (what, path) = event.split_once(' ').filter(|(what, _)| ["open", "close"].contains(what))?;
        Some(format!("{what} {}", path.rsplit('/').next().unwrap_or(path)))
    };
    let all: Vec<String> = seen.split("; ").filter_map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

impl Digest {
    pub fn add(&mut self, sample: &Sample) {
        self.samples += 1;
        self.whole.add(sample);
        self.finished |= sample.mark == "end";
        let inner = !sample.mark.is_empty() && sample.mark != "end";
        self.by_marks.add(sample, inner.then(|| sample.mark.clone()));
        self.by_files.add(sample, of_files(&sample.seen).filter(|_| sample.mark != "end"));
        if sample.is_marked() {
            match self.moments.len() < MOMENTS || sample.mark == "end" {
                true => self.moments.push(Moment {
                    mark: sample.mark.clone(),
                    seen: sample.seen.clone(),
                    time: sample.time,
                    events: sample.events,
                    vsize: sample.vsize,
                    rss: sample.rss,
                    cpu: sample.user + sample.system,
                    written: sample.written,
                    output: sample.output,
                }),
                false => self.left_out += 1,
            }
        }
        self.curve.add(sample, sample.rss > self.most);
        self.most = self.most.max(sample.rss);
    }

    pub fn end(self) -> Digested {
        let Self { whole, by_marks, by_files, moments, left_out, curve, samples, finished, .. } = self;
        let mut phases = if by_marks.done.is_empty() { by_files } else { by_marks };
        if !phases.done.is_empty() {
            phases.close(if finished { "end" } else { "now" });
        }
        let (whole, phases) = (whole.phase("all".to_owned()), phases.done);
        Digested { whole, phases, moments, left_out, curve, samples, finished }
    }
}

/// A whole record in figures.
pub(super) struct Digested {
    pub whole: Phase,
    pub phases: Vec<Phase>,
    pub moments: Vec<Moment>,
    /// Moments that there are more.
    pub left_out: u64,
    pub curve: Curve,
    pub samples: u64,
    /// Whether the job was watched to its end.
    pub finished: bool,
}
