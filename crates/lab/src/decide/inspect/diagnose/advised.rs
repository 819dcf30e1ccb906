//! A finding on its way into the report: with what would mend it, and its place among others. What is wrong, and what mends it, is said
//! by the faults.

use super::remedy::Remedy;
use crate::inspect::fault_cost::Pays;
use crate::inspect::report::Finding;

/// A finding with what would mend it, the best first.
pub(in crate::decide::inspect) struct Advised {
    pub finding: Finding,
    pub remedies: Vec<(Remedy, String)>,
    /// The tables that settings are for, in files with several; none where the whole file is meant.
    pub paths: Vec<String>,
}

/// The worst first.
pub(super) fn sort(findings: &mut [Advised]) {
    findings.sort_by(|a, b| {
        let worse = |of: &Advised| match of.finding.pays {
            Pays::Reader => of.finding.cost.weight(),
            // By the cost of a writer, and after all others.
            Pays::Writer => -1.0 / (1.0 + of.finding.cost.weight() + of.finding.cost.write_seconds),
        };
        worse(b).total_cmp(&worse(a))
    });
}
