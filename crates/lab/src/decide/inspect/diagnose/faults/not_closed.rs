//! The file was not closed, or is cut short.

use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Cost;

/// The file was not closed, or is cut short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotClosed {}

impl Rule for NotClosed {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        (at.is_file() && at.file.recovered).then(|| Detected::new(Self {}, Cost::DANGER))
    }

    fn sentence(&self, _: Words) -> String {
        "The file was never closed, or is cut short: the listing comes from a scan, and the newest \
         entries are missing."
            .to_owned()
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::rewrite("closed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::fixtures::{branch, faults, report, tree};

    #[test]
    fn a_file_that_was_recovered_is_named() {
        let mut file = report(vec![tree(vec![branch("a", 10)])]);
        assert_eq!(faults(&file), []);
        file.file.recovered = true;
        assert_eq!(faults(&file), [NotClosed {}.into()]);
    }
}
