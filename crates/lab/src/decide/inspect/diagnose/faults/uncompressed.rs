//! Uncompressed data that would shrink, by a sample.

use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::codecs::{best, stored, tried};
use crate::inspect::diagnose::format::size;
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::speeds;
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::diagnose::sums::{BYTES, sizes};
use crate::inspect::fault_cost::{Cost, Price};
use crate::math::as_f64;

/// Uncompressed data that would shrink.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uncompressed {
    /// Bytes on disk.
    pub zip_bytes: u64,
    /// The share that remains with the better setting, 0 to 1, on a sample.
    pub compressible_to: f64,
    /// The setting that is better for readers.
    pub better: String,
}

impl Rule for Uncompressed {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.table()?;
        let zip_bytes = stored(tree, at.setting());
        if zip_bytes < BYTES || zip_bytes <= tree.zip_bytes / 2 {
            return None;
        }
        let trial = best(tree).filter(|trial| trial.size < 0.8)?;
        let (seconds, size) = tried(tree, trial);
        let bytes = speeds::bytes(as_f64(sizes(tree).1) - size);
        let price = Price { read_seconds: (seconds - tree.read_time.decompress).max(0.0), ..Price::default() };
        let fault = Self { zip_bytes, compressible_to: trial.size, better: trial.compression.clone() };
        Some(Detected::new(fault, Cost { bytes, ..Cost::default() }).priced(price))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "{} are not compressed; a sample shrank to {:.0}% with {}.",
            size(self.zip_bytes),
            100.0 * self.compressible_to,
            self.better
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::tree("compressed", "compression", &self.better))
    }
}

#[cfg(test)]
mod tests {
    use crate::inspect::Fault;
    use crate::inspect::diagnose::fixtures::{branch, field, ntuple, only, only_ntuple, tree, trials};
    use crate::inspect::ntuple::report::NtupleReport;

    #[test]
    fn data_that_shrink_have_a_command() {
        let mut plain = branch("a", 100);
        plain.compression = 0;
        plain.codecs = [("none".to_owned(), 100)].into();
        plain.zip_bytes = plain.tot_bytes;
        let mut stored = tree(vec![plain]);
        stored.trials = trials(0.5, 0.4);
        let finding = only(stored);
        assert!(matches!(&finding.fault, Fault::Uncompressed(one) if one.zip_bytes == 2_000_000), "{finding:?}");
        assert!(finding.cost.bytes >= 1_000_000 && finding.price.is_some_and(|price| price.read_seconds > 0.0));
    }

    #[test]
    fn those_of_an_rntuple_too() {
        let mut stored = field("x", 100);
        stored.columns[0].compression = [(0, 100)].into();
        stored.columns[0].codecs = [("none".to_owned(), 100)].into();
        stored.columns[0].zip_bytes = stored.columns[0].tot_bytes;
        let trials = trials(0.9, 0.4).split_off(1);
        let finding = only_ntuple(NtupleReport { trials, ..ntuple(vec![stored]) });
        assert!(matches!(&finding.fault, Fault::Uncompressed(one) if one.zip_bytes == 2_000_000), "{finding:?}");
        assert!(finding.command.is_some_and(|command| command.ends_with("--compression zstd:5")));
    }
}
