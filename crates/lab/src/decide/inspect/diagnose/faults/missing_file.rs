//! Branches with baskets in another file, which is missing.

use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::diagnose::sums::absent;
use crate::inspect::fault_cost::Cost;

/// Branches with baskets in a missing file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MissingFile {
    /// The branches.
    pub branches: Vec<String>,
    /// The file, as the branch names it.
    pub missing: String,
}

impl Rule for MissingFile {
    fn find_all(at: &Diagnosed<'_>) -> Vec<Detected<Self>> {
        let Some(tree) = at.tree() else { return Vec::new() };
        let mut files: Vec<&str> = absent(tree).map(|branch| branch.file_name.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        let found = files.into_iter().map(|missing| {
            let of = absent(tree).filter(|branch| branch.file_name == missing);
            let fault = Self { branches: of.map(|b| b.name.clone()).collect(), missing: missing.to_owned() };
            Detected::new(fault, Cost::DANGER)
        });
        found.collect()
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "The baskets of {} are in another file, {}, which is missing: put it beside this file.",
            self.branches.join(", "),
            self.missing
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::contents::BranchReport;
    use crate::inspect::diagnose::diagnose;
    use crate::inspect::diagnose::fixtures::{branch, report, tree};

    #[test]
    fn branches_in_a_file_that_is_not_there() {
        let mut gone = branch("friend.", 100);
        gone.id = "1".to_owned();
        gone.file_name = "gone.root".to_owned();
        gone.absent = true;
        let below = BranchReport { id: "1.0".to_owned(), name: "friend.x".to_owned(), ..gone.clone() };
        let mut tiny = branch("a", 1000);
        tiny.id = "0".to_owned();
        tiny.tot_bytes = 200_000;
        tiny.zip_bytes = 100_000;
        let findings = diagnose(&report(vec![tree(vec![tiny, gone, below])]));
        let [missing, tiny] = &findings[..] else { panic!("{findings:#?}") };
        let expected = MissingFile { branches: vec!["friend.".to_owned()], missing: "gone.root".to_owned() };
        assert_eq!((&missing.fault, &missing.command), (&expected.into(), &None));
        // A rewrite refuses branches whose file is not there.
        assert!(tiny.command.as_ref().is_some_and(|command| command.ends_with(" --basket 32kB --drop friend.")));
        assert!(tiny.price.as_ref().is_some_and(|price| price.note.contains("lacks 1 branch")), "{tiny:?}");
    }
}
