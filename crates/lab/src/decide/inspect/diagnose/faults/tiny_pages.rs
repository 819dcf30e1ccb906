//! Pages of an RNTuple that hold next to nothing, though there are not many clusters.

use dataset::layout::ByteSize;
use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::baskets::{SMALLER_BASKET, Tiny};
use crate::inspect::diagnose::format::{plural, size};
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};

/// Pages that hold next to nothing, though there are not many clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TinyPages {
    /// Columns that have them.
    pub columns: u64,
    /// Pages of these columns.
    pub pages: u64,
    /// Number of pages that would be enough.
    pub enough: u64,
    /// Their mean size before compression.
    pub mean_bytes: u64,
}

impl Rule for TinyPages {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tiny = at.ntuple().and(at.table()).and_then(Tiny::of)?;
        let Tiny { columns, pieces: pages, enough, .. } = tiny;
        let fault = Self { columns, pages, enough, mean_bytes: tiny.mean_bytes() };
        Some(Detected::new(fault, tiny.cost(at.overhead())))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "{} of {} hold {} on average before compression, where {} would be enough. Each costs its entry in a \
             page list, a checksum and a start of the codec.",
            plural(self.pages, "page"),
            plural(self.columns, "column"),
            size(self.mean_bytes),
            self.enough
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::tree("pages", "basket", ByteSize(SMALLER_BASKET)))
    }

    fn others(&self, at: &Diagnosed<'_>) -> Vec<Remedy> {
        vec![Remedy::clusters(at.table()).and("basket", ByteSize(SMALLER_BASKET))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::fixtures::{field, ntuple, only_ntuple};

    #[test]
    fn they_are_counted_and_larger_pages_mend_them() {
        let mut tiny = field("a", 1000);
        (tiny.columns[0].tot_bytes, tiny.columns[0].zip_bytes) = (200_000, 100_000);
        let finding = only_ntuple(ntuple(vec![tiny, field("b", 10)]));
        let expected = TinyPages { columns: 1, pages: 1000, enough: 7, mean_bytes: 200 }.into();
        assert_eq!(finding.fault, expected);
        assert!(finding.command.is_some_and(|command| command.ends_with(" --basket 256kB")));
        // A page has 8 bytes in the lists, and a checksum.
        assert_eq!(finding.cost.bytes, 993 * 16);
    }
}
