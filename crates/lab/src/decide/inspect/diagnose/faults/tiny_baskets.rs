//! Baskets of a tree that hold next to nothing.

use dataset::layout::ByteSize;
use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::baskets::{GOOD_BASKET, SMALLER_BASKET, Tiny};
use crate::inspect::diagnose::format::{plural, size};
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Price;

/// Baskets that hold next to nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TinyBaskets {
    /// Branches that have them.
    pub branches: u64,
    /// Baskets of these branches.
    pub baskets: u64,
    /// Number of baskets that would be enough.
    pub enough: u64,
    /// Their mean size before compression.
    pub mean_bytes: u64,
}

impl Rule for TinyBaskets {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tiny = Tiny::of(at.tree()?)?;
        let Tiny { columns: branches, pieces: baskets, enough, bytes } = tiny;
        let mean_bytes = tiny.mean_bytes();
        // Readers hold a larger basket of each.
        let more = GOOD_BASKET.min(bytes / branches.max(1)).saturating_sub(mean_bytes);
        let price = Price { memory: branches * more, ..Price::default() };
        let fault = Self { branches, baskets, enough, mean_bytes };
        Some(Detected::new(fault, tiny.cost(at.overhead())).priced(price))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "{} of {} hold {} on average before compression, where {} would be enough. Each costs its key, \
             its entry in the tree's record and a start of the codec.",
            plural(self.baskets, "basket"),
            plural(self.branches, "branch"),
            size(self.mean_bytes),
            self.enough
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::baskets(GOOD_BASKET))
    }

    fn others(&self, at: &Diagnosed<'_>) -> Vec<Remedy> {
        let with = |basket| Remedy::clusters(at.table()).and("basket", ByteSize(basket));
        vec![with(GOOD_BASKET), with(SMALLER_BASKET)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::fixtures::{branch, only, tree};

    #[test]
    fn they_are_counted_and_the_memory_of_larger_ones_is_said() {
        let mut tiny = branch("a", 1000);
        tiny.tot_bytes = 200_000;
        tiny.zip_bytes = 100_000;
        let finding = only(tree(vec![tiny, branch("b", 10)]));
        let expected = TinyBaskets { branches: 1, baskets: 1000, enough: 7, mean_bytes: 200 };
        assert_eq!(finding.fault, expected.into());
        assert_eq!(
            finding.command.as_deref(),
            Some("basketry rewrite 'my file.root' -o 'my file.baskets.root' --basket 32kB")
        );
        assert_eq!(finding.price.map(|price| price.memory), Some(31_800));
    }
}
