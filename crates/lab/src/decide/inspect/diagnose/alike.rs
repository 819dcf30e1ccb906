//! Findings that many tables of a file have alike, as one finding: the worst is told, the others are named, cost and price are of all,
//! and one command mends all. What is alike is decided by the fault and by what would mend it; no fault is judged here.

use std::collections::HashMap;

use super::advised::{Advised, sort};
use super::command::command;
use super::format::plural;
use super::remedy::Remedy;
use super::subject::{Diagnosed, Subject};
use crate::inspect::fault_cost::{Cost, Pays};
use crate::inspect::report::{Finding, Report};

/// More tables with the same fault are told as one finding.
const MOST: usize = 4;
/// More tables are not named one by one in a command: it is for the whole file then.
const MOST_NAMED: usize = 40;

/// Puts findings together that many tables have alike. Findings come sorted, the worst first, and stay so.
pub(super) fn together(report: &Report, all: Vec<Advised>) -> Vec<Advised> {
    let mut groups: HashMap<_, usize> = HashMap::new();
    let mut found: Vec<Vec<Advised>> = Vec::new();
    for advised in all {
        let Advised { finding, remedies, .. } = &advised;
        let mends = |(remedy, _): &(Remedy, String)| format!("{}{}", remedy.word, remedy.options(&[]).1);
        let key = (
            std::mem::discriminant(&finding.fault),
            finding.pays == Pays::Reader,
            finding.tree.is_some(),
            remedies.iter().map(mends).collect::<Vec<_>>(),
        );
        let group = *groups.entry(key).or_insert(found.len());
        match found.get_mut(group) {
            Some(group) => group.push(advised),
            None => found.push(vec![advised]),
        }
    }
    let mut told: Vec<Advised> = Vec::new();
    for group in found {
        match group.len() > MOST && group.iter().all(|advised| advised.finding.tree.is_some()) {
            true => told.extend(one(report, group)),
            false => told.extend(group),
        }
    }
    sort(&mut told);
    told
}

/// One finding of a group, in the words of the worst.
fn one(report: &Report, group: Vec<Advised>) -> Option<Advised> {
    let mut group = group.into_iter();
    let Advised { mut finding, remedies, .. } = group.next()?;
    for other in group {
        finding.cost = sum(finding.cost, other.finding.cost);
        if let (Some(price), Some(more)) = (&mut finding.price, &other.finding.price) {
            price.bytes = price.bytes.saturating_add(more.bytes);
            price.read_seconds += more.read_seconds;
            price.memory = price.memory.max(more.memory);
        }
        finding.also.extend(other.finding.tree);
    }
    let others = plural(finding.also.len() as u64, "other table");
    finding.text = format!("{} So it is with {others}; cost and command are of all.", finding.text);
    let paths = paths(report, &finding);
    let at = Diagnosed { file: &report.file, trees: &report.trees, skipped: &report.skipped, subject: Subject::File };
    let with_command = |(remedy, _)| command(&at, &remedy, &paths).map(|command| (remedy, command));
    let remedies: Vec<(Remedy, String)> = remedies.into_iter().filter_map(with_command).collect();
    finding.command = remedies.first().map(|(_, command)| command.clone());
    Some(Advised { finding, remedies, paths })
}

/// The tables that a command names: none where it is for the whole file.
fn paths(report: &Report, finding: &Finding) -> Vec<String> {
    let tables = report.newest().count() + report.newest_ntuples().count();
    let named: Vec<String> = finding.tree.iter().chain(&finding.also).cloned().collect();
    if named.len() == tables || named.len() > MOST_NAMED { Vec::new() } else { named }
}

/// The cost to a reader of all these tables, one after the other.
fn sum(a: Cost, b: Cost) -> Cost {
    Cost {
        bytes: a.bytes.saturating_add(b.bytes),
        read_seconds: a.read_seconds + b.read_seconds,
        open_seconds: a.open_seconds + b.open_seconds,
        entry_seconds: a.entry_seconds.max(b.entry_seconds),
        shared_seconds: a.shared_seconds + b.shared_seconds,
        write_seconds: a.write_seconds + b.write_seconds,
        memory: a.memory.max(b.memory),
        danger: a.danger || b.danger,
    }
}

#[cfg(test)]
mod tests {
    use crate::inspect::contents::TreeReport;
    use crate::inspect::diagnose::diagnose;
    use crate::inspect::diagnose::fixtures::{branch, report, tree};

    fn tiny(number: u64) -> TreeReport {
        let mut tiny = branch("a", 1000 + number);
        (tiny.tot_bytes, tiny.zip_bytes) = (200_000, 100_000);
        TreeReport { path: format!("t{number}"), ..tree(vec![tiny]) }
    }

    #[test]
    fn many_tables_with_one_fault_are_one_finding() {
        let findings = diagnose(&report((0..100).map(tiny).collect()));
        assert_eq!(findings.len(), 1, "{findings:#?}");
        let finding = &findings[0];
        assert_eq!((finding.tree.as_deref(), finding.also.len()), (Some("t99"), 99));
        assert!(
            finding.text.ends_with("So it is with 99 other tables; cost and command are of all."),
            "{}",
            finding.text
        );
        assert!(finding.command.as_ref().is_some_and(|command| command.ends_with(" --basket 32kB")));
        let alone = &diagnose(&report(vec![tiny(0)]))[0];
        assert!(finding.cost.bytes > 100 * alone.cost.bytes);
        // Beside a tree without the fault they are named.
        let mut some: Vec<TreeReport> = (0..5).map(tiny).collect();
        some.push(TreeReport { path: "good".to_owned(), ..tree(vec![branch("a", 10)]) });
        let findings = diagnose(&report(some));
        assert_eq!((findings.len(), findings[0].also.len()), (1, 4));
        let command = findings[0].command.clone().unwrap();
        assert!(command.ends_with(
            " --tree-set t4 basket=32kB --tree-set t3 basket=32kB --tree-set t2 basket=32kB --tree-set t1 basket=32kB \
             --tree-set t0 basket=32kB"
        ), "{command}");
        // A few have findings of their own.
        assert_eq!(diagnose(&report((0..3).map(tiny).collect())).len(), 3);
    }
}
