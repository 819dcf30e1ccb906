//! A leaf that counts more than the maximum that it claims.

use serde::{Deserialize, Serialize};

use crate::inspect::contents::LeafReport;
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Cost;

/// A leaf counts more than the maximum that it claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterOutOfRange {
    /// The leaf.
    pub leaf: String,
    /// fMaximum.
    pub maximum: i64,
    /// The least number of elements in the longest entry.
    pub at_least: u64,
}

impl CounterOutOfRange {
    fn of(leaf: &LeafReport) -> Option<Self> {
        let (maximum, at_least) = (leaf.maximum?, leaf.counted_at_least?);
        let beyond = u64::try_from(maximum).map_or(at_least > 0, |maximum| at_least > maximum);
        beyond.then(|| Self { leaf: leaf.name.clone(), maximum, at_least })
    }
}

impl Rule for CounterOutOfRange {
    fn find_all(at: &Diagnosed<'_>) -> Vec<Detected<Self>> {
        let branches = at.tree().into_iter().flat_map(|tree| &tree.branches);
        let found = branches.flat_map(|branch| &branch.leaves).filter_map(Self::of);
        found.map(|fault| Detected::new(fault, Cost::DANGER)).collect()
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "Leaf {} has a maximum count of {}, but some entry has at least {}: programs that \
             allocate arrays by the maximum write beyond them.",
            self.leaf, self.maximum, self.at_least
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::rewrite("rewritten"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::Fault;
    use crate::inspect::diagnose::fixtures::{branch, faults, report, tree, trials};

    #[test]
    fn counters_out_of_range_go_first() {
        let mut counter = branch("n", 10);
        counter.leaves = vec![LeafReport { maximum: Some(3), counted_at_least: Some(7), ..LeafReport::default() }];
        let mut slow = branch("a", 10_000);
        slow.codecs = [("lzma".to_owned(), 10_000)].into();
        let mut slow = tree(vec![slow, counter]);
        slow.trials = trials(1.5, 1.1);
        let found = faults(&report(vec![slow]));
        assert_eq!(found[0], CounterOutOfRange { leaf: String::new(), maximum: 3, at_least: 7 }.into());
        assert!(matches!(found[1], Fault::HeavyCodec(_)));
    }
}
