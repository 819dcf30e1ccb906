//! What is wrong with a file's layout, what each fault costs its readers, and the command that mends it, with its price.
//!
//! A pure function of the [`Report`]: nothing is read here. Each fault is a file of [`faults`]. [`baskets`], [`codecs`], [`pages`] and
//! [`sums`] have what several of them need, [`speeds`] weighs them, and [`command`] writes the commands. Faults that only a writer pays
//! for come last.

mod advised;
mod alike;
mod baskets;
mod codecs;
mod command;
pub mod faults;
#[cfg(test)]
mod fixtures;
mod format;
mod pages;
pub(super) mod remedy;
mod rule;
pub(crate) mod speeds;
mod subject;
mod sums;
#[cfg(test)]
mod tests;

pub(super) use advised::Advised;
pub(crate) use codecs::{read_time, worth_trying};
pub(crate) use pages::facts as ntuple_facts;

use super::contents::TreeReport;
use super::ntuple::report::NtupleReport;
use super::report::{Finding, Report};
use advised::sort;
use command::command;
use faults::Fault;
use format::plural;
use remedy::Remedy;
use rule::Detected;
use subject::{Diagnosed, Subject};
use sums::{absent, any_rewrite};

/// Detects all faults, with the command that should mend each: first the faults that readers pay for, worst first, then those of writers.
pub fn diagnose(report: &Report) -> Vec<Finding> {
    examine(report).into_iter().map(|advised| advised.finding).collect()
}

/// The same, with all remedies of each.
pub(super) fn examine(report: &Report) -> Vec<Advised> {
    alike::together(report, each(report))
}

/// The same, each table by itself.
pub(super) fn each(report: &Report) -> Vec<Advised> {
    let ntuples: Vec<(&NtupleReport, TreeReport)> =
        report.newest_ntuples().map(|ntuple| (ntuple, ntuple_facts(ntuple))).collect();
    let subjects = std::iter::once(Subject::File)
        .chain(report.newest().map(Subject::Tree))
        .chain(ntuples.iter().map(|(ntuple, facts)| Subject::Ntuple { ntuple, facts }));
    let mut findings = Vec::new();
    for subject in subjects {
        let at = Diagnosed { file: &report.file, trees: &report.trees, skipped: &report.skipped, subject };
        findings.extend(faults::detect(&at).into_iter().map(|found| finding(&at, found)));
    }
    sort(&mut findings);
    findings
}

/// Puts a finding together.
fn finding(at: &Diagnosed<'_>, detected: Detected<Fault>) -> Advised {
    let Detected { fault, cost, mut price, pays } = detected;
    let remedies = fault.remedies(at);
    if !remedies.first().is_some_and(Remedy::is_tune) {
        price.bytes += any_rewrite(at.newest());
    }
    let mut note = |more: String| {
        price.note = if price.note.is_empty() { more } else { format!("{} {more}", price.note) };
    };
    if let Some(lost) = other_cycles(at.trees) {
        note(lost);
    }
    let without = at.newest().flat_map(absent).count() as u64;
    if without > 0 {
        note(format!("The output lacks {}, whose file is missing.", plural(without, "branch")));
    }
    // One tree needs no name.
    let several = at.file.trees + at.file.ntuples > 1;
    let paths: Vec<String> = at.path().filter(|_| several).map(str::to_owned).into_iter().collect();
    let with_command = |remedy: Remedy| command(at, &remedy, &paths).map(|command| (remedy, command));
    let remedies: Vec<(Remedy, String)> = remedies.into_iter().filter_map(with_command).collect();
    let command = remedies.first().map(|(_, command)| command.clone());
    let price = command.is_some().then_some(price);
    let text = fault.sentence(at.words());
    let tree = at.path().map(str::to_owned);
    let finding = Finding { fault, tree, also: Vec::new(), cost, text, command, expected_bytes: None, pays, price };
    Advised { finding, remedies, paths }
}

/// Trees that a rewrite leaves out: it keeps the newest cycle of each name, also where an older one is another tree.
fn other_cycles(trees: &[TreeReport]) -> Option<String> {
    let others = || trees.iter().filter(|tree| !tree.newest && tree.is_another);
    let first = others().next()?;
    let more = match others().count() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    Some(format!("The output lacks {};{}{more}, another tree under the name of a newer one.", first.path, first.cycle))
}
