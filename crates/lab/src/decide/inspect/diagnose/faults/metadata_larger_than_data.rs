//! The metadata of a tree or an RNTuple are larger than its data.

use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::format::{plural, size};
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::speeds;
use crate::inspect::diagnose::subject::{Diagnosed, Subject, Words};
use crate::inspect::diagnose::sums::{BYTES, embedded_bytes};
use crate::inspect::fault_cost::Cost;

/// The metadata are larger than the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetadataLargerThanData {
    /// Bytes before compression of the tree's own record; of anchor, header, footer and page lists of an RNTuple.
    pub metadata: u64,
    /// Bytes of data on disk.
    pub data: u64,
    /// Branches, or columns of an RNTuple.
    pub branches: u64,
}

impl Rule for MetadataLargerThanData {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let (fault, embedded, read_seconds) = match at.subject {
            Subject::File => return None,
            Subject::Tree(tree) => {
                let embedded = embedded_bytes(tree);
                let metadata = tree.metadata.raw_bytes.saturating_sub(embedded);
                let fault = Self { metadata, data: tree.zip_bytes, branches: tree.branches.len() as u64 };
                (fault, embedded, speeds::open(tree))
            }
            Subject::Ntuple { ntuple, facts } => {
                let metadata = ntuple.metadata.raw_bytes;
                (Self { metadata, data: ntuple.zip_bytes, branches: ntuple.columns }, 0, facts.read_time.open)
            }
        };
        (fault.metadata > BYTES && fault.metadata > fault.data + embedded)
            .then(|| Detected::new(fault, Cost { read_seconds, ..Cost::default() }))
    }

    fn sentence(&self, words: Words) -> String {
        format!(
            "{} {} for {}, its data only {}: opening it costs more than reading it. Merge \
             similar files, or drop what is not used.",
            words.metadata,
            size(self.metadata),
            plural(self.branches, words.column),
            size(self.data)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::fixtures::{branch, field, ntuple, only, only_ntuple, tree};
    use crate::inspect::values::Sizes;

    #[test]
    fn a_record_larger_than_the_data_is_named() {
        let mut heavy = tree(vec![branch("a", 1)]);
        heavy.metadata = Sizes { bytes: 100_000, raw_bytes: 900_000 };
        let finding = only(heavy);
        let expected = MetadataLargerThanData { metadata: 900_000, data: 10_000, branches: 1 };
        assert_eq!((finding.fault, finding.command), (expected.into(), None));
    }

    #[test]
    fn that_of_an_rntuple_too() {
        let mut wide = ntuple(vec![field("a", 1)]);
        wide.metadata = Sizes { bytes: 50_000, raw_bytes: 400_000 };
        let finding = only_ntuple(wide);
        let expected = MetadataLargerThanData { metadata: 400_000, data: 10_000, branches: 1 };
        assert_eq!(finding.fault, expected.into());
        assert!(finding.text.contains("for 1 column,"), "{}", finding.text);
    }
}
