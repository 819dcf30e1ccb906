//! What is wrong with a file's layout, what each fault costs its readers, and the command that mends it, with its price.
//!
//! A pure function of the [`Report`]: nothing is read here. [`rules`], [`baskets`], [`codecs`] and [`pages`] detect faults, [`speeds`]
//! weighs them, [`remedy`] writes the commands and [`messages`] the sentences. Faults that only a writer pays for come last.

mod baskets;
mod codecs;
mod detected;
mod format;
mod messages;
#[cfg(test)]
mod ntuple_tests;
mod pages;
mod remedy;
mod rules;
pub(crate) mod speeds;
mod subject;
mod sums;
#[cfg(test)]
mod tests;

pub(crate) use codecs::{read_time, worth_trying};
pub(crate) use pages::facts as ntuple_facts;

use super::finding::{Fault, Finding, Pays};
use super::report::Report;
use detected::Detected;
use format::plural;
use subject::Subject;
use sums::{absent, any_rewrite};

/// Detects all faults: first the faults that readers pay for, worst first, then those of writers.
pub fn diagnose(report: &Report) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        rules::file(report).into_iter().map(|found| finding(report, Subject::File, found)).collect();
    for tree in report.newest() {
        findings.extend(rules::tree(report, tree).into_iter().map(|found| finding(report, Subject::Tree(tree), found)));
    }
    for ntuple in report.newest_ntuples() {
        findings.extend(pages::ntuple(ntuple).into_iter().map(|found| finding(report, Subject::Ntuple(ntuple), found)));
    }
    findings.sort_by(|a, b| {
        let worse = |of: &Finding| match of.pays {
            Pays::Reader => of.cost.weight(),
            // By the cost of a writer, and after all others.
            Pays::Writer => -1.0 / (1.0 + of.cost.weight() + of.cost.write_seconds),
        };
        worse(b).total_cmp(&worse(a))
    });
    findings
}

/// Puts a finding together.
fn finding(report: &Report, subject: Subject<'_>, detected: Detected) -> Finding {
    let Detected { fault, cost, mut price, pays } = detected;
    let text = messages::message(&fault, subject.words());
    let command = remedy::command(report, subject, &fault);
    // `tune` writes nothing that is larger than today.
    price.bytes += if matches!(fault, Fault::CodecsByBranch { .. }) { 0 } else { any_rewrite(report) };
    if let Some(lost) = other_cycles(report) {
        price.note = format!("{}{}{lost}", price.note, if price.note.is_empty() { "" } else { " " });
    }
    let without = report.newest().flat_map(absent).count() as u64;
    if without > 0 {
        let also = format!("The output lacks {}, whose file is missing.", plural(without, "branch"));
        price.note = if price.note.is_empty() { also } else { format!("{} {also}", price.note) };
    }
    let price = command.is_some().then_some(price);
    Finding { fault, tree: subject.path().map(str::to_owned), cost, text, command, pays, price }
}

/// Trees that a rewrite leaves out: it keeps the newest cycle of each name, also where an older one is another tree.
fn other_cycles(report: &Report) -> Option<String> {
    let others = || report.trees.iter().filter(|tree| !tree.newest && tree.is_another);
    let first = others().next()?;
    let more = match others().count() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    Some(format!("The output lacks {};{}{more}, another tree under the name of a newer one.", first.path, first.cycle))
}
