//! Options of `tune`, and the limits that follow from them.

use std::path::Path;
use std::str::FromStr;

use dataset::layout::Container;
use flow::Budget;
use rootfile::{Error, Result};

use super::choice::Limits;
use super::limits::Limit;
use super::names::Choose;
use super::reader::Reader;
use crate::cost::model::Cost;
use crate::cost::statistics::FileStats;
use crate::cost::{Demand, Goal, Weights, Workload};
use crate::math::as_f64;
use crate::price::PriceBook;

/// The default limit on a reader's memory: this many bytes, or this many times today's if that is more.
pub(crate) const READ_MEMORY: (f64, f64) = (256e6, 1.5);

/// Which containers the output may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Containers {
    /// The container of the input.
    #[default]
    Own,
    /// This one.
    One(Container),
    /// Whichever is better.
    Any,
}

impl FromStr for Containers {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "any" { Ok(Self::Any) } else { text.parse().map(Self::One) }
    }
}

/// Options of `tune`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The workload.
    pub workload: Workload,
    /// What is minimised.
    pub goal: Goal,
    /// The prices that bytes and seconds are balanced by.
    pub prices: PriceBook,
    /// The most bytes that the file may have; today's if nothing is said.
    pub max_size: Option<Limit>,
    /// The most memory that a reader of all columns may need.
    pub max_read_memory: Option<Limit>,
    /// The most seconds that compression may take.
    pub max_write_time: Option<Limit>,
    /// The most seconds that the workload may take to read; today's if nothing is said and reading is not the goal.
    pub max_read_time: Option<Limit>,
    /// The fewest clusters of the largest table; none: as many as `cost::clusters` says, but no more than today.
    pub min_clusters: Option<u64>,
    /// The most memory that a writer of all columns may need.
    pub memory: u64,
    /// Seed of the samples.
    pub seed: u64,
    /// Only this tree, by its path.
    pub tree: Option<String>,
    /// Whether columns of objects may be split or streamed otherwise.
    pub recode: bool,
    /// Whether numbers in RNTuples keep the bits that they have, although fewer would keep their values.
    pub no_exact: bool,
    /// The program that will read the file; none: basketry.
    pub reader: Option<Reader>,
    /// The containers that the output may have.
    pub containers: Containers,
    /// The choice that is asked for; none: the best by the goal.
    pub choose: Option<Choose>,
}

impl Options {
    /// The statistics of a file, with the demands of the workload.
    pub(super) fn stats(&self, input: &Path) -> Result<FileStats> {
        let Some(reader) = &self.reader else { return FileStats::read(input, self.tree.as_deref(), &self.workload) };
        reader.check(&self.workload)?;
        let stats = FileStats::read_columns(input, self.tree.as_deref(), &|asked| {
            let is_read = asked.decoded.is_some() || reader.reads_all();
            let demand = || self.workload.demand_of_any(asked.table, asked.lineages);
            Some(if is_read { demand() } else { Demand::default() })
        })?;
        if stats.has_pages() {
            reader.check_ntuples()?;
        }
        Ok(stats)
    }

    /// What the output has of the input.
    pub(super) fn content(&self) -> flow::ContentOptions {
        flow::ContentOptions {
            tree: self.tree.clone(),
            // The output stands for the input: another tree under the same name must not be lost.
            cycles: flow::Cycles::OtherTrees,
            ..flow::ContentOptions::default()
        }
    }

    /// What is weighed against what.
    pub(super) fn weights(&self) -> Weights {
        Weights { goal: self.goal, rates: self.prices.rates() }
    }

    pub(super) fn budget(&self) -> Budget {
        Budget::new(self.memory, 1)
    }

    pub(super) fn limits(&self, today: &Cost) -> Limits {
        let size = self.max_size.unwrap_or(Limit::Times(1.0)).of(today.size);
        let read_memory = self
            .max_read_memory
            .map_or((READ_MEMORY.1 * today.read_memory).max(READ_MEMORY.0), |l| l.of(today.read_memory));
        let as_today = self.goal.keeps_reading().then_some(Limit::Times(1.0));
        Limits {
            size,
            write: self.max_write_time.map_or(f64::INFINITY, |l| l.of(today.write)),
            read_memory,
            write_memory: as_f64(self.memory),
            read: self.max_read_time.or(as_today).map_or(f64::INFINITY, |l| l.of(today.read)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_named() {
        assert_eq!("any".parse::<Containers>().unwrap(), Containers::Any);
        assert_eq!("rntuple".parse::<Containers>().unwrap(), Containers::One(Container::Rntuple));
        assert!("both".parse::<Containers>().is_err());
    }
}
