//! Decompression is much of the reading time, and other codecs, branch by branch, would need no more bytes.

use serde::{Deserialize, Serialize};

use super::heavy_codec::HeavyCodec;
use crate::inspect::diagnose::codecs::{FASTER_BY_BRANCH, LEAST_BY_BRANCH, own};
use crate::inspect::diagnose::format;
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::speeds;
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::diagnose::sums::{SHARE, embedded_bytes, on_disk, sizes};
use crate::inspect::fault_cost::{Cost, Price};
use crate::math::as_f64;
use crate::tune::READ_MEMORY;

/// Decompression is much of the reading time, and other codecs, branch by branch, would need no more bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodecsByBranch {
    /// Seconds of one core to decompress the tree.
    pub decompress: f64,
    /// The same in the best codecs, on a sample.
    pub better: f64,
}

impl Rule for CodecsByBranch {
    /// Where no single codec is better for all branches without more bytes. If settings differ by branch, nothing is
    /// reported: the writer has chosen them.
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.tree()?;
        if HeavyCodec::find(at).is_some() {
            return None;
        }
        let mut settings = on_disk(tree).map(|branch| own(branch, at.setting()));
        let first = settings.next()?;
        // Baskets of the record need more room as baskets of their own, which no codec makes up for at the same size.
        if settings.any(|other| other != first) || embedded_bytes(tree) >= tree.zip_bytes / SHARE {
            return None;
        }
        let (mixed, time) = (tree.mixed?, tree.read_time);
        let better = time.decompress * mixed.time;
        let (_, zip) = sizes(tree);
        let cost = Cost {
            bytes: speeds::bytes(as_f64(zip) * (1.0 - mixed.size)),
            read_seconds: time.decompress - better,
            ..Cost::default()
        };
        let memory = speeds::bytes((READ_MEMORY.1 * as_f64(tree.memory.read)).max(READ_MEMORY.0));
        let note = format!(
            "The command measures the branches first. Clusters may grow: a reader of all branches needs at most {} of memory.",
            format::size(memory)
        );
        let worth = cost.read_seconds > LEAST_BY_BRANCH && cost.read_seconds > (1.0 - FASTER_BY_BRANCH) * time.sum();
        let fault = Self { decompress: time.decompress, better };
        worth.then(|| Detected::new(fault, cost).priced(Price { note, ..Price::default() }))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "Reading is mostly decompression, about {:.0} ms of it. With a codec for each branch it would be \
             about {:.0} ms, by a sample, and the file no larger.",
            1000.0 * self.decompress,
            1000.0 * self.better
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::tune())
    }
}

#[cfg(test)]
mod tests {
    use crate::inspect::Fault;
    use crate::inspect::contents::{EmbeddedReport, TreeReport};
    use crate::inspect::diagnose::diagnose;
    use crate::inspect::diagnose::fixtures::{branch, faults, only, report, tree, trials};
    use crate::inspect::values::Mixed;

    #[test]
    fn codecs_by_branch_are_what_tune_is_for() {
        let mut zlib = tree(vec![branch("a", 1000)]);
        zlib.trials = trials(3.0, 1.0);
        zlib.branches[0].codecs = [("zstd".to_owned(), 1000)].into();
        zlib.mixed = Some(Mixed { time: 0.9, size: 1.0 });
        assert_eq!(faults(&report(vec![zlib.clone()])), []);
        zlib.mixed = Some(Mixed { time: 0.5, size: 0.99 });
        let finding = only(zlib.clone());
        assert!(matches!(finding.fault, Fault::CodecsByBranch(_)), "{finding:?}");
        // Without a tree's name, so that the others are kept.
        let mut two = report(vec![zlib.clone(), TreeReport { path: "other".to_owned(), ..tree(vec![branch("b", 1)]) }]);
        two.file.trees = 2;
        assert_eq!(diagnose(&two)[0].command.as_deref(), Some("basketry tune 'my file.root' -o 'my file.tuned.root'"));
        // What lies in the record needs more room elsewhere.
        zlib.branches[0].embedded = vec![EmbeddedReport { index: 1000, entries: 5, bytes: 400_000 }];
        assert!(faults(&report(vec![zlib])).iter().all(|fault| !matches!(fault, Fault::CodecsByBranch(_))));
    }
}
