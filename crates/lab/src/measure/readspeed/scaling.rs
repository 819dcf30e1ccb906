//! Reading on several numbers of threads, beside a loop that only computes. What a machine can do with so many threads, the loop
//! shows: its gain is the number of cores that the threads really have, which are fewer where processors share a core or other
//! work runs. Runs of all numbers take turns, so that other work affects all alike.

use std::hint::black_box;
use std::time::Instant;

use super::report::{Run, Scaled, threads};
use crate::math::as_f64;
use crate::math::statistics::{Figure, median};

/// Seconds that the loop takes on one thread.
const LOOP: f64 = 0.1;
/// Rounds of the loop between two looks at the clock.
const ROUNDS: u64 = 1 << 16;

/// Measures on each number of threads, `repeat` times.
pub(super) struct Scaling {
    counts: Vec<usize>,
    runs: Vec<Vec<Run>>,
    /// Seconds of the loop on each number of threads, and on one, for each round.
    loops: Vec<Vec<f64>>,
    rounds: u64,
}

impl Scaling {
    /// Begins, for these numbers of threads.
    pub fn new(counts: &[usize]) -> Self {
        Self {
            counts: counts.to_vec(),
            runs: vec![Vec::new(); counts.len()],
            loops: vec![Vec::new(); counts.len()],
            rounds: calibrated(),
        }
    }

    /// Adds a reading on the number of threads at this place, and runs the loop beside it.
    pub fn add(&mut self, place: usize, run: Run) {
        let count = self.counts.get(place).copied().unwrap_or(1).max(1);
        if let (Some(runs), Some(loops)) = (self.runs.get_mut(place), self.loops.get_mut(place)) {
            runs.push(run);
            // Alone and together right after each other. One thread gains nothing over one.
            let gain = |alone: f64| threads(count) * alone / on_threads(count, self.rounds).max(1e-9);
            loops.push(if count == 1 { 1.0 } else { gain(on_threads(1, self.rounds)) });
        }
    }

    /// The curve.
    pub fn end(self, uncompressed: u64) -> Vec<Scaled> {
        let real = |runs: &[Run]| Figure::of(&runs.iter().map(|run| run.real).collect::<Vec<_>>()).unwrap_or_default();
        let cpu = |runs: &[Run]| Figure::of(&runs.iter().map(|run| run.cpu).collect::<Vec<_>>()).unwrap_or_default();
        let one = self.counts.iter().zip(&self.runs).find(|(count, _)| **count == 1).map(|(_, runs)| real(runs).median);
        let each = self.counts.iter().zip(&self.runs).zip(&self.loops);
        let scaled = |((&count, runs), gains): ((&usize, &Vec<Run>), &Vec<f64>)| {
            let real = real(runs);
            let seconds = real.median.max(1e-9);
            let (speed_up, effective_cores) = (one.map(|one| one / seconds), median(gains).unwrap_or(1.0));
            Scaled {
                threads: count,
                cpu: cpu(runs),
                throughput: as_f64(uncompressed) / 1e6 / seconds,
                speed_up,
                effective_cores,
                of_possible: speed_up.map(|gain| gain / effective_cores.max(1e-9)),
                real,
            }
        };
        each.map(scaled).collect()
    }
}

/// Rounds that take a moment on one thread.
fn calibrated() -> u64 {
    let started = Instant::now();
    let mut rounds = 0;
    while started.elapsed().as_secs_f64() < LOOP / 2.0 {
        compute(ROUNDS);
        rounds += ROUNDS;
    }
    rounds.saturating_mul(2)
}

/// Seconds that so many threads take, each with all rounds.
fn on_threads(count: usize, rounds: u64) -> f64 {
    let started = Instant::now();
    std::thread::scope(|scope| {
        // A thread that the system does not give has no loop.
        let others: Vec<_> = (1..count)
            .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, || compute(rounds)).ok())
            .collect();
        compute(rounds);
        others.into_iter().for_each(|other| drop(other.join()));
    });
    started.elapsed().as_secs_f64()
}

/// A loop in registers: no memory that threads could share, and nothing to wait for.
fn compute(rounds: u64) {
    let mut x = black_box(1_u64);
    for _ in 0..rounds {
        x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    }
    black_box(x);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_those_of_medians_and_of_the_loop() {
        let mut scaling =
            Scaling { counts: vec![1, 2], runs: vec![Vec::new(); 2], loops: vec![Vec::new(); 2], rounds: 1000 };
        for (one, two) in [(4.0, 2.0), (5.0, 2.5), (6.0, 9.0)] {
            scaling.add(0, Run { real: one, cpu: one, ..Run::default() });
            scaling.add(1, Run { real: two, cpu: one, ..Run::default() });
        }
        scaling.loops = vec![vec![1.0; 3], vec![1.0, 1.6, 1.8]];
        let found = scaling.end(10_000_000);
        let [one, two] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((one.speed_up, one.of_possible, one.throughput), (Some(1.0), Some(1.0), 2.0));
        assert_eq!((two.threads, two.speed_up, two.effective_cores, two.of_possible), (2, Some(2.0), 1.6, Some(1.25)));
        assert_eq!((two.real.least, two.real.most, two.real.runs), (2.0, 9.0, 3));
        let none = Scaling::new(&[2]);
        assert_eq!((none.end(1)[0].speed_up, calibrated() > 0), (None, true));
    }
}
