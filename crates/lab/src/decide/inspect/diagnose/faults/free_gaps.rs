//! Gaps between records that take much of the file.

use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::format::{plural, size};
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Cost;

/// Gaps between records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FreeGaps {
    /// Gaps.
    pub gaps: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Rule for FreeGaps {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let (gaps, bytes) = (at.file.free_segments, at.file.free_bytes);
        (at.is_file() && at.is_much_of_file(bytes))
            .then(|| Detected::new(Self { gaps, bytes }, Cost { bytes, ..Cost::default() }))
    }

    fn sentence(&self, _: Words) -> String {
        format!("{} in {} belong to no record.", size(self.bytes), plural(self.gaps, "gap"))
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::rewrite("rewritten"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::fixtures::{branch, faults, report, tree};

    #[test]
    fn gaps_count_where_they_are_a_share_of_the_file() {
        let mut file = report(vec![tree(vec![branch("a", 10)])]);
        (file.file.free_bytes, file.file.free_segments) = (5_000_000, 3);
        assert_eq!(faults(&file), [FreeGaps { gaps: 3, bytes: 5_000_000 }.into()]);
        file.file.free_bytes = 100_000;
        assert_eq!(faults(&file), []);
    }
}
