//! Pages of an RNTuple without a checksum.

use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::format::plural;
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Cost;
use crate::inspect::ntuple::report::Checksums;

/// Pages without a checksum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoChecksums {
    /// Pages.
    pub pages: u64,
    /// Of these, pages without.
    pub without: u64,
}

impl Rule for NoChecksums {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let ntuple = at.ntuple()?;
        let fault = Self { pages: ntuple.pages, without: ntuple.pages - ntuple.checked_pages };
        (ntuple.checksums != Checksums::All).then(|| Detected::new(fault, Cost::default()))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "{} of {} have no checksum: damage on disk or in transfer may go unnoticed.",
            self.without,
            plural(self.pages, "page")
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::tree("checked", "page-checksums", true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::Fault;
    use crate::inspect::diagnose::fixtures::{faults, slow_ntuple, with_ntuples};

    #[test]
    fn pages_without_checksums_come_last() {
        let mut slow = slow_ntuple();
        (slow.checksums, slow.checked_pages) = (Checksums::None, 0);
        let found = faults(&with_ntuples(vec![slow]));
        let [Fault::HeavyCodec(_), last] = &found[..] else { panic!("{found:#?}") };
        assert_eq!(*last, NoChecksums { pages: 100, without: 100 }.into());
    }
}
