//! Counter-based random numbers: a value of a stream depends only on the key and the position, so any thread can make any part
//! of a data set. Values use integer arithmetic, and additions, multiplications and divisions of doubles, which IEEE 754 fixes
//! exactly; they are the same on every machine. `bench/native/draws.h` makes the same numbers for the rivals.
//!
//! The generator is SplitMix64 of `rand_xoshiro`. Its state is a counter that it scrambles, so seeding with `key + n *
//! GAMMA` jumps to position n by one multiplication; xoshiro and PCG take dozens of steps. No value depends on the one
//! before, so the compiler makes several at once.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The increment of SplitMix64's state for each number (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014).
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of random words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream(u64);

impl Stream {
    fn at(self, position: u64) -> SplitMix64 {
        SplitMix64::seed_from_u64(self.0.wrapping_add(position.wrapping_mul(GAMMA)))
    }

    /// The word at a position.
    pub(super) fn word(self, position: u64) -> u64 {
        self.at(position).next_u64()
    }

    /// Values made of the words at all positions of the runs.
    #[inline]
    pub(super) fn fill<T>(self, runs: &Runs, make: impl Fn(u64) -> T) -> Vec<T> {
        let mut out = Vec::with_capacity(runs.total);
        for &(first, length) in &runs.runs {
            let mut words = self.at(first);
            out.extend((0..length).map(|_| make(words.next_u64())));
        }
        out
    }
}

/// Gives out streams in the order of requests.
pub(super) struct Streams {
    keys: Stream,
    next: u64,
}

impl Streams {
    pub(super) fn new(seed: u64) -> Self {
        Self { keys: Stream(seed), next: 0 }
    }

    pub(super) fn next(&mut self) -> Stream {
        let key = self.keys.word(self.next);
        self.next += 1;
        Stream(key)
    }
}

/// Positions in a stream, as runs of consecutive ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    /// The first position of each, and how many.
    pub(super) runs: Vec<(u64, usize)>,
    /// How many positions in all.
    pub(super) total: usize,
}

impl Runs {
    pub(super) fn one(first: u64, length: usize) -> Self {
        Self { runs: vec![(first, length)], total: length }
    }

    pub(super) fn push(&mut self, first: u64, length: usize) {
        self.runs.push((first, length));
        self.total += length;
    }

    /// Every position.
    pub(super) fn positions(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().flat_map(|&(first, length)| (0u64..).take(length).map(move |j| first.wrapping_add(j)))
    }

    /// The positions of items, where each position has `n`.
    pub(super) fn times(&self, n: usize) -> Self {
        let factor = n as u64;
        let runs = self.runs.iter().map(|&(first, length)| (first.wrapping_mul(factor), length * n)).collect();
        Self { runs, total: self.total * n }
    }
}

/// The distribution of a number, from a random word.
#[derive(Clone, Copy, Debug)]
pub(super) enum Distribution {
    /// A real number from 0 to 1, of 52 random bits.
    Uniform,
    /// Most often near 0, from -16 to 16, of 52 random bits.
    Bell,
    /// Most often near 0, from -32 to 32, in steps of 1/256: values with less precision than their type.
    Steps,
    /// Falling as 1/x² from 8 to 512, as an energy does.
    Falling,
    /// From 0 to 1 in steps of 1/4096.
    Fraction,
    /// Most often near 0, up to 128, in steps of 1/4096.
    Decay,
    /// An integer from 0 to below this.
    Below(u32),
    /// True once in this many.
    Rare(u32),
    /// The position itself.
    Serial,
}

impl Distribution {
    /// The function from a word to a real number. Distributions of integers use `uniform`.
    pub(super) fn real(self) -> fn(u64) -> f64 {
        match self {
            Self::Bell => bell,
            Self::Steps => steps,
            Self::Falling => falling,
            Self::Fraction => fraction,
            Self::Decay => decay,
            _ => uniform,
        }
    }

    /// A real number for each position; each kind in a loop of its own.
    pub(super) fn doubles(self, stream: Stream, runs: &Runs) -> Vec<f64> {
        match self {
            Self::Bell => stream.fill(runs, bell),
            Self::Steps => stream.fill(runs, steps),
            Self::Falling => stream.fill(runs, falling),
            Self::Fraction => stream.fill(runs, fraction),
            Self::Decay => stream.fill(runs, decay),
            _ => stream.fill(runs, uniform),
        }
    }
}

#[inline(always)]
fn uniform(word: u64) -> f64 {
    // 52 bits behind the exponent of 1.
    f64::from_bits(0x3ff0_0000_0000_0000 | (word >> 12)) - 1.0
}

#[inline(always)]
fn bell(word: u64) -> f64 {
    let x = 2.0 * uniform(word) - 1.0;
    x * (4.0 + 12.0 * (x * x))
}

#[inline(always)]
fn steps(word: u64) -> f64 {
    let sum = (word >> 32) + (word & 0xffff_ffff);
    ((sum >> 19) as i32 - 8192) as f64 / 256.0
}

#[inline(always)]
fn falling(word: u64) -> f64 {
    8.0 / (uniform(word) + 1.0 / 64.0)
}

#[inline(always)]
fn fraction(word: u64) -> f64 {
    (word >> 52) as i32 as f64 / 4096.0
}

#[inline(always)]
fn decay(word: u64) -> f64 {
    let product = (word >> 32) * (word & 0xffff_ffff);
    (product >> 45) as i32 as f64 / 4096.0
}

/// An integer from 0 to below `n`.
#[inline(always)]
pub(super) fn below(word: u64, n: u32) -> u32 {
    (((word >> 32) * u64::from(n)) >> 32) as u32
}

/// The ten leading bits of the mantissa: the precision that analysis formats keep.
#[inline(always)]
pub(super) fn kept(value: f64) -> f32 {
    f32::from_bits((value as f32).to_bits() & 0xffff_e000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(draw: Distribution) -> (f64, f64, f64) {
        let stream = Streams::new(1).next();
        let values = draw.doubles(stream, &Runs::one(0, 100_000));
        let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(a, b), &v| (a.min(v), b.max(v)));
        (values.iter().sum::<f64>() / 1e5, least, most)
    }

    #[test]
    fn a_stream_is_the_same_from_any_position() {
        let stream = Streams::new(42).next();
        let whole = stream.fill(&Runs::one(5, 100), |word| word);
        let mut parts = Runs::default();
        parts.push(5, 1);
        parts.push(6, 98);
        parts.push(104, 1);
        assert_eq!(stream.fill(&parts, |word| word), whole);
        assert_eq!(parts.positions().map(|at| stream.word(at)).collect::<Vec<_>>(), whole);
    }

    #[test]
    fn draws_have_their_shapes() {
        let near = |value: f64, wanted: f64, within: f64| assert!((value - wanted).abs() < within, "{value} {wanted}");
        let (average, least, most) = mean(Distribution::Uniform);
        near(average, 0.5, 0.01);
        assert!(least >= 0.0 && most < 1.0);
        let (average, least, most) = mean(Distribution::Bell);
        near(average, 0.0, 0.1);
        assert!(least >= -16.0 && most < 16.0);
        near(mean(Distribution::Steps).0, 0.0, 0.1);
        let (average, least, most) = mean(Distribution::Falling);
        near(average, 8.0 * 65f64.ln(), 1.0);
        assert!(least > 7.8 && most <= 512.0);
        near(mean(Distribution::Fraction).0, 0.5, 0.01);
        near(mean(Distribution::Decay).0, 32.0, 1.0);
    }

    #[test]
    fn kept_bits_are_close() {
        assert_eq!(kept(1.0), 1.0);
        assert!((f64::from(kept(0.3)) / 0.3 - 1.0).abs() < 1e-3);
        assert_eq!(kept(0.3).to_bits() & 0x1fff, 0);
    }
}
