//! How many items there are at a position: a fixed number, a Poisson number, or a very variable one.

use arrow_buffer::OffsetBuffer;

use super::random::{Runs, Stream, below};

/// The distribution of a number of items.
#[derive(Clone, Copy, Debug)]
pub(super) enum CountSpec {
    /// So many.
    Fixed(u32),
    /// Poisson's distribution with this mean.
    Poisson(u32),
    /// Falling as 1/n² up to 1000 times this mean.
    Variable(u32),
}

/// The same, ready to draw from.
#[derive(Clone, Debug)]
pub(super) enum CountGenerator {
    Fixed(usize),
    /// The first number, and the cumulated probabilities from there, in units of 2^-32.
    Poisson(usize, Vec<u64>),
    Variable(f64),
}

/// The most of a variable number, in units of its mean.
const MOST: f64 = 1000.0;
/// The least: `LEAST / u` has the mean 1 where u is uniform from `LEAST / MOST` to 1.
const LEAST: f64 = 0.109_68;

impl CountGenerator {
    pub(super) fn new(many: CountSpec) -> Self {
        match many {
            CountSpec::Fixed(n) => Self::Fixed(n as usize),
            CountSpec::Poisson(mean) => poisson(mean),
            CountSpec::Variable(mean) => Self::Variable(f64::from(mean)),
        }
    }

    #[inline]
    fn of(&self, word: u64) -> usize {
        match self {
            Self::Fixed(n) => *n,
            Self::Poisson(first, cumulated) => {
                let chance = u64::from(below(word, u32::MAX));
                first + cumulated.partition_point(|&up_to| up_to <= chance)
            }
            Self::Variable(mean) => {
                let least = LEAST / MOST;
                let chance = f64::from((word >> 32) as u32) / 4_294_967_296.0;
                // At most 1000 times a mean of 32 bits, so a usize holds it.
                (mean * LEAST / (least + (1.0 - least) * chance) + 0.5) as usize
            }
        }
    }

    /// How many items all positions have.
    pub(super) fn total(&self, stream: Stream, parents: &Runs) -> u64 {
        match self {
            Self::Fixed(n) => (parents.total * n) as u64,
            _ => parents.positions().map(|at| self.of(stream.word(at)) as u64).sum(),
        }
    }

    /// Where the items of all positions are: consecutive if each has as many, else from a random position for each. A
    /// fixed number needs no stream.
    pub(super) fn items(&self, stream: Stream, parents: &Runs) -> (Runs, OffsetBuffer<i64>) {
        if let Self::Fixed(n) = self {
            return (parents.times(*n), OffsetBuffer::from_lengths(std::iter::repeat_n(*n, parents.total)));
        }
        let mut runs = Runs { runs: Vec::with_capacity(parents.total), total: 0 };
        for at in parents.positions() {
            let word = stream.word(at);
            runs.push(word, self.of(word));
        }
        let offsets = OffsetBuffer::from_lengths(runs.runs.iter().map(|&(_, length)| length));
        (runs, offsets)
    }
}

/// Poisson's distribution by its recursion from the most likely number, both ways until it is nothing; so that no
/// mean is too large and nothing but multiplications and divisions are needed.
fn poisson(mean: u32) -> CountGenerator {
    let mode = mean as usize;
    let mean = f64::from(mean);
    let mut below = Vec::new();
    let (mut n, mut p) = (mode, 1.0);
    while n > 0 && p > 1e-12 {
        p *= n as f64 / mean;
        n -= 1;
        below.push(p);
    }
    let first = n;
    let mut all: Vec<f64> = below.into_iter().rev().collect();
    (n, p) = (mode, 1.0);
    while p > 1e-12 {
        all.push(p);
        n += 1;
        p *= mean / n as f64;
    }
    let sum: f64 = all.iter().sum();
    let mut so_far = 0.0;
    let cumulated = all
        .iter()
        .take(all.len() - 1)
        .map(|p| {
            so_far += p / sum;
            (so_far * 4_294_967_296.0) as u64
        })
        .collect();
    CountGenerator::Poisson(first, cumulated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::models::random::Streams;

    fn counts(many: CountSpec, positions: usize) -> Vec<usize> {
        let stream = Streams::new(3).next();
        let (runs, offsets) = CountGenerator::new(many).items(stream, &Runs::one(0, positions));
        let all = Runs::one(0, positions);
        assert_eq!(offsets.iter().last().copied(), i64::try_from(CountGenerator::new(many).total(stream, &all)).ok());
        runs.runs.iter().map(|run| run.1).collect()
    }

    #[test]
    fn poisson_has_its_mean_and_deviation() {
        for mean in [0, 1, 30, 5000] {
            let counts = counts(CountSpec::Poisson(mean), 20_000);
            let average = counts.iter().sum::<usize>() as f64 / 2e4;
            let variance = counts.iter().map(|&n| (n as f64 - average).powi(2)).sum::<f64>() / 2e4;
            let wanted = f64::from(mean);
            assert!((average - wanted).abs() <= 0.05 * wanted.sqrt(), "{average} of {mean}");
            assert!((variance - wanted).abs() <= 0.05 * wanted, "{variance} of {mean}");
        }
    }

    #[test]
    fn variable_has_its_mean_and_most() {
        let counts = counts(CountSpec::Variable(64), 200_000);
        let average = counts.iter().sum::<usize>() as f64 / 2e5;
        let most = counts.iter().copied().max().unwrap();
        assert!((average / 64.0 - 1.0).abs() < 0.1, "{average}");
        assert!((32_000..=64_001).contains(&most), "{most}");
        assert!(counts.iter().filter(|&&n| n < 32).count() > 150_000);
    }

    #[test]
    fn a_fixed_number_of_items_lies_in_one_run() {
        let (runs, _) = CountGenerator::new(CountSpec::Fixed(10)).items(Streams::new(3).next(), &Runs::one(7, 5));
        assert_eq!(runs.runs, [(70, 50)]);
    }
}
