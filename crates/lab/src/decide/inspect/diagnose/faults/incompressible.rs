//! Compressed branches that do not shrink.

use serde::{Deserialize, Serialize};

use crate::cost::codec_speeds::CodecSpeeds;
use crate::inspect::contents::BranchReport;
use crate::inspect::diagnose::codecs::{LEAST, decompression, own};
use crate::inspect::diagnose::format::size;
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::diagnose::sums::{BYTES, NAMED, on_disk};
use crate::inspect::fault_cost::{Cost, Price};
use crate::math::as_f64;

/// Branches whose setting one command changes.
const MOST_SET: usize = 40;

/// Compressed branches that do not shrink.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Incompressible {
    /// Branches.
    pub branches: u64,
    /// The largest of them, at most forty.
    pub largest: Vec<String>,
    /// Bytes before compression, without keys.
    pub tot_bytes: u64,
    /// Bytes on disk.
    pub zip_bytes: u64,
}

impl Rule for Incompressible {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let (tree, setting) = (at.tree()?, at.setting());
        let is_one = |b: &&BranchReport| {
            !own(b, setting).is_none() && b.zip_bytes > BYTES && b.zip_bytes > b.tot_bytes / 100 * 98
        };
        let mut found: Vec<&BranchReport> = on_disk(tree).filter(is_one).collect();
        found.sort_by_key(|branch| std::cmp::Reverse(branch.zip_bytes));
        let mut cost = Cost::default();
        for branch in &found {
            let setting = own(branch, setting);
            let writing = CodecSpeeds::of(setting.algorithm()).writing;
            cost.write_seconds += as_f64(branch.tot_bytes) / writing.at(setting.level());
        }
        // Baskets that were stored because they do not shrink cost a reader nothing.
        cost.read_seconds = found.iter().map(|branch| decompression(branch, setting)).sum();
        let zip_bytes: u64 = found.iter().map(|branch| branch.zip_bytes).sum();
        let fault = Self {
            branches: found.len() as u64,
            largest: found.iter().take(MOST_SET).map(|branch| branch.name.clone()).collect(),
            tot_bytes: found.iter().map(|branch| branch.content_bytes()).sum(),
            zip_bytes,
        };
        let price = Price { bytes: zip_bytes / 50, ..Price::default() };
        let found =
            (zip_bytes > tree.zip_bytes / 20 && !found.is_empty()).then(|| Detected::new(fault, cost).priced(price))?;
        Some(if found.cost.read_seconds < LEAST { found.of_writer() } else { found })
    }

    fn sentence(&self, _: Words) -> String {
        let named: Vec<&str> = self.largest.iter().take(NAMED).map(String::as_str).collect();
        let rest = self.branches - named.len() as u64;
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        format!(
            "{}{more} {} compressed without becoming smaller ({} to {}): compression and decompression cost time for nothing.",
            named.join(", "),
            if self.branches == 1 { "is" } else { "are" },
            size(self.tot_bytes),
            size(self.zip_bytes)
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        let few = self.branches <= MOST_SET as u64;
        few.then(|| Remedy::columns("stored", self.largest.clone(), "compression", "none"))
    }
}

#[cfg(test)]
mod tests {
    use crate::inspect::diagnose::fixtures::{branch, only, tree};
    use crate::inspect::{Fault, Finding};

    fn noise(compression: i32) -> Finding {
        let mut vain = branch("noise[3]", 100);
        vain.compression = compression;
        vain.zip_bytes = vain.tot_bytes;
        only(tree(vec![vain]))
    }

    #[test]
    fn compression_in_vain() {
        let finding = noise(101);
        assert!(matches!(&finding.fault, Fault::Incompressible(one) if one.branches == 1));
        assert!(finding.command.is_some_and(|command| command.ends_with("--column-set 'noise[3]' compression=none")));
    }

    #[test]
    fn every_codec_takes_time_to_write() {
        // The old deflate setting, 301, is written as zlib.
        assert_eq!(noise(301).cost.write_seconds, noise(101).cost.write_seconds);
    }
}
