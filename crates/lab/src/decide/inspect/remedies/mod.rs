//! Tries what the findings advise: a command is given only if, by a trial of its rewrite on samples, the fault is gone afterwards and no
//! other one of its weight appears; its price is what the trial shows.
//!
//! Nothing is written. `flow` forecasts the rewrite, [`tree`] and [`ntuple`] make of the forecast the report that the output would have,
//! which is diagnosed as that of a file is. [`moved`] tries the other container.

mod moved;
mod ntuple;
mod tree;
mod trial;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use flow::{Absent, Outlook, PlanOptions};
use rootfile::RootFile;

use super::diagnose::remedy::Remedy;
use super::diagnose::{Advised, diagnose, each, examine};
use super::fault_cost::{Pays, Price};
use super::report::{Finding, Report};

/// Seconds of one core that the samples of one remedy take at most.
const SECONDS: f64 = 0.4;
/// Tables with metadata of more bytes before compression are not tried: a trial has them a second time.
const METADATA: u64 = 10_000_000;
/// Faster or slower reading by less is not a price.
const LEAST_SECONDS: f64 = 1e-3;
/// What is said where no remedy mends a fault.
const NONE: &str = " No rewrite that was tried mends it.";

/// Diagnoses a report, tries the remedies of what is found, and the other container, where that needs little memory.
pub(super) fn try_all(file: &RootFile, report: &mut Report) {
    let of_trees = report.trees.iter().map(|tree| tree.metadata.raw_bytes);
    let of_ntuples = report.ntuples.iter().map(|ntuple| ntuple.metadata.raw_bytes);
    if of_trees.chain(of_ntuples).sum::<u64>() > METADATA {
        report.findings = diagnose(report);
        return;
    }
    let mut trials = Trials { path: file.name(), known: HashMap::new() };
    let advised = examine(report);
    report.findings = advised.into_iter().map(|advised| trials.settle(report, advised)).collect();
    report.moved = moved::moved(file.name(), report);
}

/// Forecasts of rewrites of a file.
struct Trials<'a> {
    path: &'a Path,
    /// By their commands.
    known: HashMap<String, Trial>,
}

/// The end of a trial.
enum Trial {
    Done(Box<Outlook>),
    /// A rewrite refuses it.
    Refused,
    /// It needs more memory than trials have.
    TooLarge,
}

impl Trials<'_> {
    /// Gives a finding the first of its remedies that mends it.
    fn settle(&mut self, report: &Report, advised: Advised) -> Finding {
        let Advised { mut finding, remedies, paths } = advised;
        if remedies.first().is_none_or(|(remedy, _)| remedy.is_tune()) {
            return finding;
        }
        for (remedy, command) in &remedies {
            let outlook = match self.forecast(remedy, command, &paths) {
                Some(Trial::Done(outlook)) => outlook,
                // The command and its price stay estimates.
                Some(Trial::TooLarge) => return finding,
                Some(Trial::Refused) | None => continue,
            };
            let Some(after) = after(report, &finding, &paths, remedy, outlook) else { continue };
            if !mends(report, &after, &finding) {
                continue;
            }
            finding.price = finding.price.take().map(|price| price_of(report, &after, &finding, price, outlook));
            finding.cost.bytes = finding.cost.bytes.min(report.file.bytes.saturating_sub(outlook.bytes_written));
            (finding.command, finding.expected_bytes) = (Some(command.clone()), Some(outlook.bytes_written));
            return finding;
        }
        (finding.command, finding.price) = (None, None);
        finding.text.push_str(NONE);
        finding
    }

    /// What a remedy would make of the file.
    fn forecast(&mut self, remedy: &Remedy, command: &String, paths: &[String]) -> Option<&Trial> {
        if !self.known.contains_key(command) {
            let outlook = remedy.layout(paths).and_then(|layout| {
                let plan = PlanOptions { absent: Absent::LeaveOut, ..PlanOptions::default() };
                trial::forecast(self.path, flow::Options { layout, plan, ..flow::Options::default() }, SECONDS)
            });
            let trial = match outlook {
                Ok(outlook) => Trial::Done(Box::new(outlook)),
                Err(e) if trial::needs_memory(&e) => Trial::TooLarge,
                Err(_) => Trial::Refused,
            };
            self.known.insert(command.clone(), trial);
        }
        self.known.get(command)
    }
}

/// The report of the output, as far as findings depend on it. None if the forecast lacks the table of the finding.
fn after(report: &Report, finding: &Finding, paths: &[String], remedy: &Remedy, outlook: &Outlook) -> Option<Report> {
    let covered = covered(finding);
    let whole_file = !finding.also.is_empty() && paths.is_empty();
    let mut after = report.clone();
    (after.file.free_bytes, after.file.free_segments, after.file.recovered) = (0, 0, false);
    after.file.bytes = outlook.bytes_written;
    after.skipped.clear();
    after.trees.retain(|tree| tree.newest);
    after.ntuples.retain(|ntuple| ntuple.newest);
    let setting = after.file.compression;
    for forecast in &outlook.tables {
        // The settings of a remedy are for the table of its finding.
        let own = whole_file || covered.contains(forecast.path.as_str());
        let remedy = own.then_some(remedy);
        if let Some(tree) = after.trees.iter_mut().find(|tree| tree.path == forecast.path) {
            tree::change(tree, forecast, remedy, setting);
        } else if let Some(ntuple) = after.ntuples.iter_mut().find(|ntuple| ntuple.path == forecast.path) {
            ntuple::change(ntuple, forecast, remedy);
        }
    }
    let has = |path: &String| outlook.tables.iter().any(|table| table.path == *path);
    finding.tree.as_ref().is_none_or(has).then_some(after)
}

/// The tables of a finding.
fn covered(finding: &Finding) -> HashSet<&str> {
    finding.tree.iter().chain(&finding.also).map(String::as_str).collect()
}

/// Whether a fault is gone, and none of its weight has come.
fn mends(before: &Report, after: &Report, finding: &Finding) -> bool {
    let (had, has) = (each(before), each(after));
    let kind = |advised: &Advised| (advised.finding.tree.clone(), std::mem::discriminant(&advised.finding.fault));
    let known: HashSet<_> = had.iter().map(kind).collect();
    let worse = |new: &Advised| {
        let Finding { pays, cost, .. } = &new.finding;
        *pays == Pays::Reader && cost.weight() >= finding.cost.weight() && !known.contains(&kind(new))
    };
    let covered = covered(finding);
    let left = |left: &Advised| {
        let of = left.finding.tree.as_deref().map_or(finding.tree.is_none(), |path| covered.contains(path));
        of && std::mem::discriminant(&left.finding.fault) == std::mem::discriminant(&finding.fault)
    };
    !has.iter().any(|one| left(one) || worse(one))
}

/// The price by a trial, with the notes of `price`.
fn price_of(before: &Report, after: &Report, finding: &Finding, price: Price, outlook: &Outlook) -> Price {
    let covered = covered(finding);
    let reading = |report: &Report| {
        let is_one = |path: &str| covered.is_empty() || covered.contains(path);
        let trees = report.newest().filter(|tree| is_one(&tree.path)).map(|tree| {
            let inside =
                tree.branches.iter().flat_map(|branch| &branch.embedded).map(|basket| basket.bytes).sum::<u64>();
            (tree.memory.read + inside, tree.read_time.sum(), tree.cluster_count)
        });
        let ntuples = report.newest_ntuples().filter(|ntuple| is_one(&ntuple.path));
        let ntuples = ntuples.map(|ntuple| (ntuple.memory.read, ntuple.read_time.sum(), ntuple.cluster_count));
        trees.chain(ntuples).fold((0, 0.0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2))
    };
    let ((memory, seconds, _), (memory_then, seconds_then, clusters)) = (reading(before), reading(after));
    let more = seconds_then - seconds;
    Price {
        bytes: outlook.bytes_written.saturating_sub(before.file.bytes),
        read_seconds: if more > LEAST_SECONDS { more } else { 0.0 },
        memory: memory_then.saturating_sub(memory),
        note: with_clusters(price.note, clusters),
    }
}

/// A note with the number of clusters that a trial shows.
fn with_clusters(note: String, clusters: u64) -> String {
    const LEFT: &str = "left for threads and jobs to share.";
    let Some((_, rest)) = note.split_once(LEFT) else { return note };
    let (s, are) = if clusters == 1 { ("", "is") } else { ("s", "are") };
    format!("{clusters} cluster{s} {are} {LEFT}{rest}")
}
