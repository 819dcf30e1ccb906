//! Baskets so large that a reader of a few entries decompresses many.

use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::baskets::{SMALLER_BASKET, started};
use crate::inspect::diagnose::codecs::{decoding, decompression};
use crate::inspect::diagnose::format::{plural, size};
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::diagnose::sums::on_disk;
use crate::inspect::fault_cost::{Cost, Price};
use crate::math::as_f64;

/// A larger basket is expensive for a reader of single entries.
const HUGE_BASKET: u64 = 1_000_000;
/// Large baskets are reported if a single entry takes at least this many seconds.
const ENTRY: f64 = 5e-3;

/// Baskets so large that a reader of a few entries decompresses many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HugeBaskets {
    /// Branches that have them.
    pub branches: u64,
    /// The largest median of a branch, before compression.
    pub median: u64,
}

impl Rule for HugeBaskets {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.tree()?;
        let (mut branches, mut median, mut entry_seconds, mut cut) = (0, 0, 0.0, 0);
        for branch in on_disk(tree) {
            let Some(raw) = branch.basket_summary.raw.filter(|raw| raw.median > HUGE_BASKET) else { continue };
            let baskets = branch.basket_summary.count;
            // An entry that is huge by itself cannot be cut.
            if branch.entries < 8 * baskets || branch.tot_bytes / branch.entries.max(1) > SMALLER_BASKET / 4 {
                continue;
            }
            branches += 1;
            median = median.max(raw.median);
            cut += branch.tot_bytes / SMALLER_BASKET;
            let whole = decompression(branch, at.setting()) + decoding(branch);
            entry_seconds += whole / as_f64(baskets) * (1.0 - as_f64(SMALLER_BASKET) / as_f64(raw.median));
        }
        let price = started(cut);
        let price = Price { bytes: price.bytes + tree.zip_bytes / 200, ..price };
        let cost = Cost { entry_seconds, ..Cost::default() };
        (entry_seconds > ENTRY).then(|| Detected::new(Self { branches, median }, cost).priced(price))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "{} with baskets of up to {} before compression, where 256 kB would be enough: a reader of a few \
             entries decompresses many others.",
            plural(self.branches, "branch"),
            size(self.median)
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::baskets(SMALLER_BASKET))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::fixtures::{branch, faults, only, report, tree};
    use crate::inspect::values::Spread;

    #[test]
    fn baskets_are_huge_where_they_hold_many_entries() {
        let mut large = branch("a", 10);
        large.entries = 10_000;
        large.tot_bytes = 80_000_000;
        large.zip_bytes = 40_000_000;
        large.basket_summary.raw = Some(Spread { min: 8_000_000, mean: 8_000_000, median: 8_000_000, max: 8_000_000 });
        let finding = only(tree(vec![large.clone()]));
        assert_eq!(finding.fault, HugeBaskets { branches: 1, median: 8_000_000 }.into());
        assert!(finding.cost.entry_seconds > 5e-3 && finding.cost.read_seconds == 0.0);
        // One entry that is as large cannot be cut.
        large.entries = 10;
        assert_eq!(faults(&report(vec![tree(vec![large])])), []);
    }
}
