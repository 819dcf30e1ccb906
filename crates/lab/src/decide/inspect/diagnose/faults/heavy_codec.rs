//! A codec that is slow to read, where a sample shows that another one is better.

use rootfile::codec::Algorithm;
use serde::{Deserialize, Serialize};

use crate::inspect::contents::BranchReport;
use crate::inspect::diagnose::codecs::{FASTER, LEAST, algorithm, best, codec, decompression, own, tried};
use crate::inspect::diagnose::format::{plural, size};
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::speeds;
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::diagnose::sums::{on_disk, sizes};
use crate::inspect::fault_cost::{Cost, Price, STORAGE};
use crate::math::as_f64;

/// A codec that is slow to read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeavyCodec {
    /// Codec.
    pub codec: String,
    /// Branches, or columns of an RNTuple.
    pub branches: u64,
    /// Bytes before compression, without keys.
    pub tot_bytes: u64,
    /// Their share of the tree on disk, 0 to 1.
    pub share: f64,
    /// The setting that is better for readers.
    pub better: String,
    /// Bytes of the tree's baskets in this setting over today's, on a sample.
    pub size: f64,
}

impl Rule for HeavyCodec {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let (tree, setting) = (at.table()?, at.setting());
        let slow = |branch: &&BranchReport| !own(branch, setting).is_none() && codec(branch, setting) != "none";
        let mut by_codec: Vec<(&str, f64)> = Vec::new();
        for branch in on_disk(tree).filter(slow) {
            let (name, seconds) = (codec(branch, setting), decompression(branch, setting));
            match by_codec.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += seconds,
                None => by_codec.push((name, seconds)),
            }
        }
        let &(heavy, _) = by_codec.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let trial = best(tree)?;
        let (seconds, size) = tried(tree, trial);
        let (time, zip) = (tree.read_time, as_f64(sizes(tree).1));
        let cost =
            Cost { bytes: speeds::bytes(zip - size), read_seconds: time.decompress - seconds, ..Cost::default() };
        let price = Price { bytes: speeds::bytes(size - zip), ..Price::default() };
        let of = || on_disk(tree).filter(slow).filter(|branch| codec(branch, setting) == heavy);
        let fault = Self {
            codec: heavy.to_owned(),
            branches: of().count() as u64,
            tot_bytes: of().map(BranchReport::content_bytes).sum(),
            share: as_f64(of().map(|branch| branch.zip_bytes).sum()) / zip.max(1.0),
            better: trial.compression.clone(),
            size: trial.size,
        };
        let worth = cost.read_seconds > LEAST
            && cost.read_seconds > (1.0 - FASTER) * time.sum()
            && cost.weight() > 2.0 * as_f64(price.bytes) / STORAGE
            && algorithm(trial) != Algorithm::named(heavy);
        worth.then(|| Detected::new(fault, cost).priced(price))
    }

    fn sentence(&self, words: Words) -> String {
        format!(
            "Reading is mostly decompression: {} with {} before compression ({:.0}% of the {} on disk) in {}. \
             {} decompresses several times faster; a sample became {:.2} times as large.",
            plural(self.branches, words.column),
            size(self.tot_bytes),
            100.0 * self.share,
            words.table,
            self.codec,
            self.better,
            self.size
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::tree("compressed", "compression", &self.better))
    }
}

#[cfg(test)]
mod tests {
    use crate::inspect::Fault;
    use crate::inspect::contents::TreeReport;
    use crate::inspect::diagnose::diagnose;
    use crate::inspect::diagnose::fixtures::{
        branch, faults, only, only_ntuple, read_again, report, slow_ntuple, tree, trials, with_ntuples,
    };
    use crate::inspect::report::Report;

    #[test]
    fn a_slow_codec_is_named_where_another_is_worth_it() {
        let mut slow = branch("a", 100);
        slow.codecs = [("lzma".to_owned(), 100)].into();
        let mut heavy = tree(vec![slow, branch("b", 1)]);
        // Without a trial nothing is known that would be better.
        assert_eq!(faults(&report(vec![heavy.clone()])), []);
        heavy.trials = trials(5.2, 1.1);
        let finding = only(heavy.clone());
        assert!(matches!(&finding.fault, Fault::HeavyCodec(one) if one.branches == 1));
        assert!(finding.command.is_some_and(|command| command.ends_with("--compression zstd:5")));
        // 1.01 MB become a tenth more.
        assert_eq!(finding.price.map(|price| price.bytes), Some(101_000));
        // What is saved in time must be worth what it takes on storage.
        heavy.trials = trials(52.0, 15.0);
        assert_eq!(faults(&report(vec![heavy])), []);
    }

    #[test]
    fn zlib_is_named_where_reading_is_mostly_decompression() {
        let mut zlib = tree(vec![branch("a", 1000)]);
        zlib.trials = trials(1.15, 1.0);
        let finding = only(zlib.clone());
        assert!(matches!(&finding.fault, Fault::HeavyCodec(one) if one.codec == "zlib"), "{finding:?}");
        // Of two, the one that is better for bytes and time together.
        assert!(finding.command.is_some_and(|command| command.ends_with("--compression lz4:4")));
        zlib.trials = trials(3.0, 1.0);
        let command = only(zlib.clone()).command;
        assert!(command.is_some_and(|command| command.ends_with("--compression zstd:5")));
        // Another codec that is no smaller and no faster is no better.
        zlib.branches[0].codecs = [("lz4".to_owned(), 1000)].into();
        assert_eq!(faults(&report(vec![zlib])), []);
    }

    #[test]
    fn branches_that_deny_their_compression_are_not_uncompressed() {
        // A file as uproot writes it: the compression of the branch is 0, but its baskets are compressed to half.
        let mut denied = branch("a", 100);
        denied.compression = 0;
        denied.codecs.clear();
        let mut tree = tree(vec![denied]);
        tree.trials = trials(1.1, 1.0);
        let mut report = report(vec![tree]);
        report.file.compression = 207;
        read_again(&mut report);
        let found = faults(&report);
        assert!(matches!(&found[..], [Fault::HeavyCodec(one)] if one.branches == 1), "{found:#?}");
    }

    #[test]
    fn baskets_of_two_codecs_are_not_free() {
        let mut mixed = branch("a", 10_000);
        mixed.codecs = [("lzma+zlib".to_owned(), 10_000)].into();
        let mut mixed = tree(vec![mixed]);
        mixed.trials = trials(1.1, 1.0);
        let finding = only(mixed);
        assert!(matches!(&finding.fault, Fault::HeavyCodec(one) if one.codec == "lzma+zlib"), "{finding:?}");
    }

    #[test]
    fn the_codec_of_an_rntuple_has_a_command() {
        let finding = only_ntuple(slow_ntuple());
        assert!(finding.text.contains("1 column with 2.0 MB"), "{}", finding.text);
        assert_eq!(
            finding.command.as_deref(),
            Some("basketry rewrite 'my file.root' -o 'my file.compressed.root' --compression zstd:5")
        );
        // Beside others it is named.
        let mut two: Report = with_ntuples(vec![slow_ntuple()]);
        two.file.trees = 1;
        two.trees.push(TreeReport { path: "T".to_owned(), newest: true, ..TreeReport::default() });
        let command = diagnose(&two).remove(0).command;
        assert!(command.is_some_and(|command| command.ends_with(" --tree-set d/N compression=zstd:5")));
    }
}
