//! A tree's own record that is not compressed, though the file's codec would shrink it.

use rootfile::codec::Algorithm;
use serde::{Deserialize, Serialize};

use crate::cost::codec_speeds::CodecSpeeds;
use crate::inspect::diagnose::format::size;
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::speeds;
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::diagnose::sums::embedded_bytes;
use crate::inspect::fault_cost::{Cost, Price};
use crate::math::as_f64;

/// A tree's record that is not compressed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UncompressedRecord {
    /// Bytes of it.
    pub bytes: u64,
    /// The share that remains with the file's codec, 0 to 1, on a sample.
    pub compressible_to: f64,
}

impl Rule for UncompressedRecord {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.tree()?;
        let compressible_to = tree.record_compressible_to?;
        // Baskets in the record become baskets of their own, and keep the compression of their branch.
        let bytes = tree.metadata.bytes.saturating_sub(embedded_bytes(tree));
        let saved = speeds::bytes(as_f64(bytes) * (1.0 - compressible_to));
        let read_seconds = CodecSpeeds::of(Some(Algorithm::Zlib)).reading.seconds(bytes, bytes - saved, 1);
        let fault = Self { bytes: tree.metadata.bytes, compressible_to };
        at.is_much_of_file(saved).then(|| {
            Detected::new(fault, Cost { bytes: saved, ..Cost::default() })
                .priced(Price { read_seconds, ..Price::default() })
        })
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "The tree's own record has {} that are not compressed; a sample shrank to {:.0}%. It is read whenever the \
             tree is opened.",
            size(self.bytes),
            100.0 * self.compressible_to
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::rewrite("rewritten"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::diagnose;
    use crate::inspect::diagnose::fixtures::{branch, report, tree};
    use crate::inspect::values::Sizes;

    #[test]
    fn what_the_codec_would_save_is_the_cost() {
        let mut tree = tree(vec![branch("a", 1)]);
        tree.metadata = Sizes { bytes: 30_000, raw_bytes: 30_000 };
        tree.record_compressible_to = Some(0.1);
        let mut report = report(vec![tree]);
        report.file.bytes = 50_000;
        let finding = diagnose(&report).remove(0);
        assert_eq!(finding.fault, UncompressedRecord { bytes: 30_000, compressible_to: 0.1 }.into());
        // 90 % of 30 kB are saved.
        assert_eq!(finding.cost.bytes, 27_000);
    }
}
