//! Objects whose decoding takes most of the reading time, though their members could have branches of their own.

use serde::{Deserialize, Serialize};

use crate::inspect::contents::BranchReport;
use crate::inspect::diagnose::codecs::{LEAST, decoding, read_time};
use crate::inspect::diagnose::format::size;
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::speeds::decode_speed;
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::diagnose::sums::{NAMED, on_disk};
use crate::inspect::fault_cost::{Cost, Price};
use crate::inspect::values::Decoded;
use crate::math::as_f64;

/// Objects whose decoding takes most of the reading time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowDecoding {
    /// Branches that hold them.
    pub branches: u64,
    /// The largest of them, at most eight.
    pub largest: Vec<String>,
    /// Bytes before compression, without keys.
    pub tot_bytes: u64,
    /// Their share of the time that reading the tree takes, 0 to 1.
    pub share: f64,
}

impl Rule for SlowDecoding {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.tree()?;
        let can = |branch: &&BranchReport| branch.can_split && branch.decoded == Some(Decoded::Objects);
        let mut found: Vec<&BranchReport> = on_disk(tree).filter(can).collect();
        found.sort_by_key(|branch| std::cmp::Reverse(branch.tot_bytes));
        let tot_bytes: u64 = found.iter().map(|branch| branch.content_bytes()).sum();
        let decode: f64 = found.iter().map(|branch| decoding(branch)).sum();
        let share = decode / read_time(tree, at.setting()).sum().max(f64::MIN_POSITIVE);
        let fault = Self {
            branches: found.len() as u64,
            largest: found.iter().take(NAMED).map(|branch| branch.name.clone()).collect(),
            tot_bytes,
            share,
        };
        let read_seconds =
            as_f64(tot_bytes) * (1.0 / decode_speed(Decoded::Objects) - 1.0 / decode_speed(Decoded::Lists));
        let note = "Each member becomes a branch: the tree's record grows.".to_owned();
        (read_seconds > LEAST && share > 0.3).then(|| {
            Detected::new(fault, Cost { read_seconds, ..Cost::default() }).priced(Price { note, ..Price::default() })
        })
    }

    fn sentence(&self, _: Words) -> String {
        let rest = self.branches - self.largest.len() as u64;
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        format!(
            "{}{more} {} objects that are not split, {} before compression: decoding them one by one is about {:.0}% \
             of the time to read the tree. Branches of their members decode faster, and can be read alone.",
            self.largest.join(", "),
            if self.branches == 1 { "holds" } else { "hold" },
            size(self.tot_bytes),
            100.0 * self.share
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::tree("split", "split-level", "99"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::Fault;
    use crate::inspect::diagnose::fixtures::{branch, faults, only, report, tree};

    #[test]
    fn objects_that_are_slow_to_decode() {
        let mut objects = branch("event", 1000);
        objects.codecs = [("none".to_owned(), 1000)].into();
        objects.decoded = Some(Decoded::Objects);
        // What has no members cannot be split.
        assert_eq!(faults(&report(vec![tree(vec![objects.clone()])])), []);
        objects.can_split = true;
        let numbers = BranchReport { name: "x".into(), decoded: Some(Decoded::Numbers), ..objects.clone() };
        let finding = only(tree(vec![objects.clone(), numbers.clone()]));
        assert!(matches!(&finding.fault, Fault::SlowDecoding(one) if one.tot_bytes == 20_000_000), "{finding:?}");
        assert!(finding.text.starts_with("event holds objects"), "{}", finding.text);
        assert!(finding.command.is_some_and(|command| command.ends_with("--split-level 99")));
        // Where decompression takes longer, it is no fault.
        objects.codecs = [("lzma".to_owned(), 1000)].into();
        assert_eq!(faults(&report(vec![tree(vec![objects])])), []);
        assert_eq!(faults(&report(vec![tree(vec![numbers])])), []);
    }
}
