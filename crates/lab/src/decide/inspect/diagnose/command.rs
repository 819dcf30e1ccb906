//! The command that mends a fault. The output is named after the input and the fault, and is never the input.

use dataset::ntuple::is_ntuple;

use super::remedy::Remedy;
use super::subject::Diagnosed;
use super::sums::absent;
use crate::system::shell::{output, pasted, pasted_pattern};

/// The command of a remedy, if there is one for what is diagnosed.
pub(super) fn command(at: &Diagnosed<'_>, remedy: &Remedy) -> Option<String> {
    // A rewrite refuses files with RNTuples that cannot be read.
    if at.skipped.iter().any(|line| is_ntuple(&line.class)) {
        return None;
    }
    // One tree needs no name.
    let (verb, mut options) = remedy.options(at.path().filter(|_| at.file.trees + at.file.ntuples > 1));
    // A rewrite refuses branches whose file is not there.
    let mut without: Vec<&str> = at.newest().flat_map(absent).map(|branch| branch.name.as_str()).collect();
    without.dedup();
    options.extend(without.into_iter().map(|branch| format!(" --drop {}", pasted_pattern(branch))));
    let input = &at.file.path;
    Some(format!("basketry {verb} {} -o {}{options}", pasted(input), pasted(&output(input, remedy.word))))
}
