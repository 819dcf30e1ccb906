//! Branches with some basket many times the usual size.

use serde::{Deserialize, Serialize};

use crate::inspect::contents::BranchReport;
use crate::inspect::diagnose::baskets::{GOOD_BASKET, MEMORY};
use crate::inspect::diagnose::format::{plural, size};
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::speeds::BASKET_BYTES;
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::diagnose::sums::on_disk;
use crate::inspect::fault_cost::{Cost, Price};

/// Branches with some basket many times the usual size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnevenBaskets {
    /// Branches.
    pub branches: u64,
    /// The branch that is worst.
    pub worst: String,
    /// Its usual basket, before compression.
    pub median: u64,
    /// Its largest.
    pub max: u64,
}

impl Rule for UnevenBaskets {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.tree()?;
        let excess = |branch: &BranchReport| {
            let raw = branch.basket_summary.raw.filter(|raw| raw.max > 10 * raw.median.max(1))?;
            // An entry that is large by itself is so in any basket.
            let least = raw.median.max(branch.largest_entry.unwrap_or(0)).min(raw.max);
            (branch.basket_summary.count >= 10).then_some((raw.max - least, raw))
        };
        let uneven = || on_disk(tree).filter_map(|branch| Some((excess(branch)?, branch)));
        let memory = uneven().map(|((excess, _), _)| excess).sum();
        let ((_, raw), worst) = uneven().max_by_key(|((excess, _), _)| *excess)?;
        let fault =
            Self { branches: uneven().count() as u64, worst: worst.name.clone(), median: raw.median, max: raw.max };
        let price = Price { bytes: memory / GOOD_BASKET * BASKET_BYTES, ..Price::default() };
        (memory > MEMORY).then(|| Detected::new(fault, Cost { memory, ..Cost::default() }).priced(price))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "{} with some basket more than ten times the median: {} has {}, and its median is {}. Readers \
             and writers hold memory for the largest.",
            plural(self.branches, "branch"),
            self.worst,
            size(self.max),
            size(self.median)
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::baskets(GOOD_BASKET))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::fixtures::{branch, faults, only, report, tree};
    use crate::inspect::values::Spread;

    #[test]
    fn the_worst_branch_is_named() {
        let mut uneven = branch("a", 100);
        uneven.basket_summary.raw = Some(Spread { min: 1, median: 10_000, max: 9_000_000, ..Spread::default() });
        let expected = UnevenBaskets { branches: 1, worst: "a".to_owned(), median: 10_000, max: 9_000_000 };
        assert_eq!(only(tree(vec![uneven.clone()])).fault, expected.into());
        // One entry that is as large cannot be cut.
        uneven.largest_entry = Some(8_999_000);
        assert_eq!(faults(&report(vec![tree(vec![uneven])])), []);
    }
}
