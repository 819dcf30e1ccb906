//! The command that mends a fault. The output is named after the input and the fault, and is never the input.

use dataset::ntuple::is_ntuple;

use super::remedy::Remedy;
use super::subject::Diagnosed;
use super::sums::absent;
use crate::system::shell::{output, pasted, pasted_pattern};

/// The command of a remedy, for the tables of these paths or for all, if there is one for what is diagnosed.
pub(super) fn command(at: &Diagnosed<'_>, remedy: &Remedy, paths: &[String]) -> Option<String> {
    // A rewrite refuses files with RNTuples that cannot be read.
    if at.skipped.iter().any(|line| is_ntuple(&line.class)) {
        return None;
    }
    let (verb, mut options) = remedy.options(paths);
    // A rewrite refuses branches whose file is not there.
    let mut without: Vec<&str> = at.newest().flat_map(absent).map(|branch| branch.name.as_str()).collect();
    without.dedup();
    options.extend(without.into_iter().map(|branch| format!(" --drop {}", pasted_pattern(branch))));
    let input = &at.file.path;
    Some(format!("basketry {verb} {} -o {}{options}", pasted(input), pasted(&output(input, remedy.word))))
}
