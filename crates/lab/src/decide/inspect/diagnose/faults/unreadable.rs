//! Places of the file that could not be read, though their format is supported.

use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::format::plural;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Cost;

/// Objects that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unreadable {
    /// How many.
    pub objects: u64,
}

impl Rule for Unreadable {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let objects = at.skipped.iter().filter(|line| !line.unsupported).count() as u64;
        (at.is_file() && objects > 0).then(|| Detected::new(Self { objects }, Cost::DANGER))
    }

    fn sentence(&self, _: Words) -> String {
        let these = plural(self.objects, "place");
        format!(
            "{these} of the file cannot be read, or contradict the rest of the file: see `skipped`. `basketry \
             recover` scans the records."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::diagnose;
    use crate::inspect::diagnose::fixtures::{branch, faults, report, skipped, slow_ntuple, tree, with_ntuples};
    use crate::inspect::{Fault, Finding};

    #[test]
    fn what_is_broken_is_counted() {
        let mut file = report(vec![tree(vec![branch("a", 10)])]);
        file.skipped.push(skipped("TTree", false));
        assert_eq!(faults(&file), [Unreadable { objects: 1 }.into()]);
    }

    #[test]
    fn an_rntuple_that_is_not_supported_is_no_danger_and_stops_commands() {
        let mut file = with_ntuples(vec![slow_ntuple()]);
        file.skipped.push(skipped("ROOT::Experimental::RNTuple", true));
        let findings = diagnose(&file);
        assert!(matches!(&findings[..], [Finding { fault: Fault::HeavyCodec(_), command: None, .. }]), "{findings:#?}");
        file.skipped.push(skipped("ROOT::Experimental::RNTuple", false));
        assert_eq!(diagnose(&file)[0].fault, Unreadable { objects: 1 }.into());
    }
}
