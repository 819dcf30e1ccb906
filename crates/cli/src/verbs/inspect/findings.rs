//! The findings of a report as text: message, cost, command and price of each.

use std::collections::HashSet;
use std::io::{Result, Write};

use lab::inspect::report::{Moved, OtherContainer, Report};
use lab::inspect::{Finding, Pays, Price};
use lab::report::page::Told;

use super::format::seconds;
use crate::output::{bytes, name, percent, plural};

/// Prints the findings; with `writer` also those that only a writer of the file pays for.
pub fn findings(out: &mut impl Write, report: &Report, writer: bool) -> Result<()> {
    let shown = told(report, writer);
    let hidden = (report.findings.len() - shown.len()) as u64;
    if shown.is_empty() {
        let least = "savings below 1 ms at a full read are not reported";
        writeln!(out, "\nThe layout of this file has no faults for readers; {least}.")?;
    } else {
        writeln!(out, "\nFindings, worst first:")?;
    }
    for (i, Told { text, command, price }) in shown.iter().enumerate() {
        writeln!(out, "{:>2}. {}", i + 1, name(text))?;
        for line in command.iter().chain(price) {
            writeln!(out, "    {}", name(line))?;
        }
    }
    if hidden > 0 {
        let (what, is) = (plural(hidden, "finding", "findings"), if hidden == 1 { "is" } else { "are" });
        writeln!(out, "{what} that only a writer of the file pays for {is} left out; --writer shows them.")?;
    }
    moved(out, report)
}

/// The findings in words, worst first; with `writer` also those that only a writer of the file pays for.
pub fn told(report: &Report, writer: bool) -> Vec<Told> {
    let one = |finding: &Finding| {
        let others = match finding.also.len() as u64 {
            0 => String::new(),
            n => format!(" and {}", plural(n, "other", "others")),
        };
        let tree = finding.tree.as_ref().map(|tree| format!("{tree}{others}: ")).unwrap_or_default();
        Told {
            text: format!("{tree}{}{}", finding.text, cost(report, finding)),
            command: finding.command.clone(),
            price: finding.price.as_ref().map(|price| price_of(report, price)),
        }
    };
    report.findings.iter().filter(|finding| writer || finding.pays == Pays::Reader).map(one).collect()
}

/// What tables would take in the other container.
fn moved(out: &mut impl Write, report: &Report) -> Result<()> {
    for (i, Moved { path, container, bytes_now, bytes: then, uncertainty, refused }) in report.moved.iter().enumerate()
    {
        let (now, other) = match container {
            OtherContainer::Rntuple => ("tree", "an RNTuple"),
            OtherContainer::Ttree => ("RNTuple", "a tree"),
        };
        if i == 0 {
            writeln!(out)?;
        }
        let (path, refused) = (name(path), name(refused));
        if !refused.is_empty() {
            writeln!(out, "The {now} {path} cannot become {other} as it is: {refused}")?;
            continue;
        }
        let off = if *uncertainty == 0 { String::new() } else { format!(" ± {}", bytes(*uncertainty)) };
        let (part, word) = (percent(*then, *bytes_now), if off.is_empty() { "a trial" } else { "samples" });
        let (now_bytes, then) = (bytes(*bytes_now), bytes(*then));
        writeln!(out, "As {other}, {path} would have {then}{off}, {part} of the {now_bytes} of now, by {word}.")?;
    }
    Ok(())
}

/// The cost of a finding, with its total.
fn cost(report: &Report, finding: &Finding) -> String {
    let cost = &finding.cost;
    let mut parts = Vec::new();
    if cost.bytes > 0 {
        parts.push(format!("{} of {} on disk", bytes(cost.bytes), bytes(report.file.bytes)));
    }
    if cost.read_seconds >= 0.0005 {
        let trees = report.newest().map(|tree| (&tree.path, tree.read_time));
        let tables = trees.chain(report.newest_ntuples().map(|ntuple| (&ntuple.path, ntuple.read_time)));
        let own: HashSet<&String> = finding.tree.iter().chain(&finding.also).collect();
        let times: Vec<f64> = tables.filter(|(path, _)| own.contains(path)).map(|(_, time)| time.sum()).collect();
        let all = if times.is_empty() { String::new() } else { format!(" of {}", seconds(times.iter().sum())) };
        parts.push(format!("{}{all} at each full read", seconds(cost.read_seconds)));
    }
    if cost.open_seconds >= 0.0005 {
        parts.push(format!("{} at each opening", seconds(cost.open_seconds)));
    }
    if cost.entry_seconds >= 0.0005 {
        parts.push(format!("{} for each single entry", seconds(cost.entry_seconds)));
    }
    if cost.shared_seconds >= 0.0005 {
        parts.push(format!("{} at each full read by threads or jobs that share it", seconds(cost.shared_seconds)));
    }
    if cost.write_seconds >= 0.0005 {
        parts.push(format!("{} when written", seconds(cost.write_seconds)));
    }
    if cost.memory > 0 {
        parts.push(format!("{} of memory", bytes(cost.memory)));
    }
    if parts.is_empty() { String::new() } else { format!(" Costs about {}.", parts.join(", ")) }
}

/// The price of a command.
fn price_of(report: &Report, price: &Price) -> String {
    let mut parts = Vec::new();
    if price.bytes > report.file.bytes / 1000 {
        #[expect(clippy::cast_precision_loss, reason = "two decimals are shown")]
        let times = (report.file.bytes + price.bytes) as f64 / report.file.bytes.max(1) as f64;
        parts.push(format!("the file is about {} larger ({times:.2} times)", bytes(price.bytes)));
    }
    if price.read_seconds >= 0.0005 {
        parts.push(format!("a full read takes about {} more", seconds(price.read_seconds)));
    }
    if price.memory >= 100_000 {
        parts.push(format!("a reader of all branches needs about {} more memory", bytes(price.memory)));
    }
    let main = if parts.is_empty() { "only the rewrite".to_owned() } else { parts.join(", ") };
    let note = if price.note.is_empty() { String::new() } else { format!(" {}", price.note) };
    format!("Price: {main}.{note}")
}
