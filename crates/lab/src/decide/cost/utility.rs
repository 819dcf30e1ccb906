//! The utility of a layout in one number: of money, of seconds or of bytes. `tune` minimises it over expected costs, `sweep` over
//! measured ones.

use std::str::FromStr;

use rootfile::{Error, Result};

use super::model::Cost;
use crate::price::Rates;

/// Assumed readings of a file for each time it is written. A second of compression counts as this share of a second of
/// reading.
const READS_PER_WRITE: f64 = 200.0;
/// One per cent of the figure that is no goal counts as this many per cent of the goal.
const OTHER_VALUE: f64 = 0.05;
/// The same where the other figure only decides between choices that are alike.
const TIE: f64 = 0.002;

/// What `tune` minimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// The price of the file's life.
    #[default]
    Balanced,
    /// The reading time of the workload.
    Reading,
    /// Bytes on disk.
    Size,
}

impl Goal {
    /// The first where reading is the goal, the second where bytes count as well.
    pub(crate) fn pick<T>(self, reading: T, size: T) -> T {
        match self {
            Self::Reading => reading,
            Self::Size | Self::Balanced => size,
        }
    }

    /// Whether it is the price.
    pub(crate) fn is_balanced(self) -> bool {
        self == Self::Balanced
    }

    /// Whether a choice must read as fast as today's layout, if nothing else was said.
    pub(crate) fn keeps_reading(self) -> bool {
        matches!(self, Self::Size | Self::Balanced)
    }
}

impl FromStr for Goal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "balanced" => Ok(Self::Balanced),
            "reading" => Ok(Self::Reading),
            "size" => Ok(Self::Size),
            _ => Err(Error::request(format!("{text:?} is no goal; write balanced, reading or size"))),
        }
    }
}

/// What is weighed against what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    pub goal: Goal,
    /// The prices of bytes and seconds, where they are balanced.
    pub rates: Rates,
}

impl Weights {
    /// The utility for a file that costs this today.
    pub fn utility(self, today: &Cost) -> Utility {
        match self.goal {
            Goal::Balanced => Utility::priced(self.rates),
            goal => Utility::new(goal, today.read, today.size),
        }
    }
}

/// Weights of seconds and bytes in one number; its unit is that of the goal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Utility {
    /// Weight of a second of reading.
    read: f64,
    /// Weight of a second of compression.
    write: f64,
    /// Weight of a byte on disk.
    byte: f64,
    /// Weight of a byte that the workload reads.
    read_byte: f64,
}

impl Utility {
    /// The fewest bytes; of as many, the fastest to read.
    pub fn smallest(today: &Cost) -> Self {
        Self::weighted(Goal::Size, today.read, today.size, TIE)
    }

    /// The fewest seconds to read; of as many, the smallest.
    pub fn fastest(today: &Cost) -> Self {
        // Compression, which is done once, decides between alike choices only, too.
        Self { write: TIE / READS_PER_WRITE, ..Self::weighted(Goal::Reading, today.read, today.size, TIE) }
    }

    /// The same with a second of reading at so many times its weight.
    pub fn reading_times(self, factor: f64) -> Self {
        Self { read: factor * self.read, ..self }
    }

    /// For a file that takes `read` seconds to read and has `size` bytes today, where one of both is the goal.
    pub fn new(goal: Goal, read: f64, size: f64) -> Self {
        Self::weighted(goal, read, size, OTHER_VALUE)
    }

    fn weighted(goal: Goal, read: f64, size: f64, other: f64) -> Self {
        let (seconds, byte) = match goal {
            Goal::Reading => (1.0, other * read / size.max(1.0)),
            Goal::Size | Goal::Balanced => (other * size / read.max(f64::MIN_POSITIVE), 1.0),
        };
        Self { read: seconds, write: seconds / READS_PER_WRITE, byte, read_byte: 0.0 }
    }

    /// By the prices of bytes and seconds.
    pub fn priced(rates: Rates) -> Self {
        let Rates { stored_byte, read_byte, read_second, write_second } = rates;
        Self { read: read_second, write: write_second, byte: stored_byte, read_byte }
    }

    /// Only reading counts.
    pub const READING: Self = Self { read: 1.0, write: 1.0 / READS_PER_WRITE, byte: 0.0, read_byte: 0.0 };
    /// Only bytes on disk count.
    pub const SIZE: Self = Self { read: 0.0, write: 0.0, byte: 1.0, read_byte: 0.0 };

    /// The number to minimise.
    pub fn of(self, read: f64, write: f64, size: f64) -> f64 {
        self.read * read + self.write * write + self.byte * size
    }

    /// The same for an expected cost.
    pub fn of_cost(self, cost: &Cost) -> f64 {
        self.of(cost.read, cost.write, cost.size) + self.read_byte * cost.read_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price::{PriceBook, Usage};

    #[test]
    fn reading_counts_most() {
        // Today's file counts a twentieth of its own reading.
        let utility = Utility::new(Goal::Reading, 4.0, 1e9);
        for (size, value) in [(1e9, 4.0 + 0.1 + 0.2), (2e9, 4.0 + 0.1 + 0.4)] {
            assert!((utility.of(4.0, 20.0, size) - value).abs() < 1e-12);
        }
    }

    #[test]
    fn bytes_count_most() {
        // Today's reading counts a twentieth of the file.
        let utility = Utility::new(Goal::Size, 4.0, 1e9);
        for (read, value) in [(4.0, 1e9 + 50e6), (8.0, 1e9 + 100e6)] {
            assert!((utility.of(read, 0.0, 1e9) - value).abs() < 1.0);
        }
    }

    #[test]
    fn balanced_is_the_bill() {
        let book = PriceBook::default();
        let cost = Cost { read: 4.0, write: 20.0, size: 1e9, read_bytes: 0.5e9, ..Cost::default() };
        let weights = Weights { goal: Goal::Balanced, rates: book.rates() };
        let bill = book.bill(&Usage { stored: 1e9, read: 0.5e9, reading: 4.0, writing: 20.0 });
        let value = weights.utility(&Cost::default()).of_cost(&cost);
        assert!((value - bill.total).abs() < 1e-12 * bill.total, "{value} {}", bill.total);
    }
}
