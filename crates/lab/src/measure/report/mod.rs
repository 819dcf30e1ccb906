//! The report of a sweep: charts, tables and the decision, as a page that needs no network ([`page`]) or as plain values.
//!
//! Each kind of chart has a module, which decides what to draw; `echarts` only translates. A chart without data is left out,
//! and the page says so.

pub mod chart;
mod columns;
pub mod contents;
mod echarts;
mod job_timeline;
mod names;
mod outputs;
pub mod page;
mod parallel_write;
pub mod precision;
pub mod reading;
pub mod table;
#[cfg(test)]
mod tests;
mod threads;
mod tradeoffs;
pub mod tuning;

use std::path::Path;

use rootfile::{Error, Hint, Result};
use serde::Serialize;

use crate::math::as_f64;
use crate::price::PriceBook;
use crate::sweep::costs::{record_note, unpriced};
use crate::sweep::findings::Findings;
use crate::sweep::metric::{Unit, amount, metric_of};
use crate::system::shell::{output, pasted};
use chart::Chart;
pub(crate) use echarts::COLOURS;
use job_timeline::Sample;
use parallel_write::Bench;
use table::Table;

/// The report of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Its title.
    pub title: String,
    /// The input, the settings and the host.
    pub facts: Vec<Fact>,
    /// The chosen point, with its number.
    pub chosen: Option<String>,
    /// Reasons, and alternatives.
    pub said: Vec<Statement>,
    /// Its layout as TOML.
    pub layout: Option<String>,
    /// The command that brings a file into it.
    pub command: Option<String>,
    /// The charts that there are data for.
    pub charts: Vec<Chart>,
    /// Charts without data, and the command that would give data.
    pub left_out: Vec<String>,
    /// The meaning of a star, with the statistical test.
    pub stars: String,
    /// The tables.
    pub tables: Vec<Table>,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Its text.
    pub name: &'static str,
    /// It.
    pub value: String,
}

/// Sentences about one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// Their title.
    pub title: String,
    /// The sentences.
    pub lines: Vec<String>,
}

/// Additional measurements: reports of `write-bench --json`, and samples of `monitor`.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    benches: Vec<Bench>,
    samples: Vec<Sample>,
    prices: Option<PriceBook>,
}

impl Extras {
    /// The prices by which the page counts money, if it does.
    pub fn priced(prices: Option<PriceBook>) -> Self {
        Self { prices, ..Self::default() }
    }

    /// Adds the contents of a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is nothing that a page can show.
    pub fn add(&mut self, path: &Path) -> Result<()> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::from(e).file(path))?;
        if let Some(samples) = job_timeline::samples(&text) {
            self.samples = samples;
        } else if let Some(bench) = serde_json::from_str(&text).ok().and_then(Bench::of) {
            self.benches.push(bench);
        } else {
            let what = "is neither output of write-bench --json nor of monitor -o FILE.jsonl";
            return Err(Error::request(what).hint(Hint::named("json")).file(path));
        }
        Ok(())
    }
}

/// The report of a sweep.
pub fn report(findings: &Findings, besides: &Extras) -> Report {
    let head = &findings.head;
    let sizes = columns::sizes(&head.subject);
    let with = "--with FILE";
    let charts = [
        (tradeoffs::memory(findings), "memory against CPU (one point was measured)".to_owned()),
        (tradeoffs::size(findings), "size against reading (needs copying and reading of several points)".to_owned()),
        (tradeoffs::sparse(findings), "reading everything against picked entries (needs reading)".to_owned()),
        (threads::speed_up(findings), "speed-up (--threads 1,2)".to_owned()),
        (threads::time(findings), "what threads do while copying (--threads 1,2)".to_owned()),
        (outputs::memory(findings), "memory of several outputs (--streams 1,2,5)".to_owned()),
        (outputs::time(findings), "time of several outputs (--streams 1,2,5)".to_owned()),
        (columns::tiles(findings, &sizes), "columns (needs reading, or the input)".to_owned()),
        (
            parallel_write::over_threads(&besides.benches),
            format!("writing against what fills or writes nothing ({with} of write-bench --json)"),
        ),
        (
            parallel_write::over_outputs(&besides.benches),
            format!(
                "writing several outputs at once ({with} of write-bench --outputs 1 --json, and --outputs 2 and so on)"
            ),
        ),
        (
            parallel_write::time(&besides.benches),
            format!("what threads do while writing ({with} of write-bench --json)"),
        ),
        (job_timeline::threads(&besides.samples), format!("threads over time ({with} of monitor -o FILE.jsonl)")),
        (job_timeline::memory(&besides.samples), format!("memory over time ({with} of monitor -o FILE.jsonl)")),
    ];
    let mut drawn = Vec::new();
    let mut left_out = Vec::new();
    for (chart, what) in charts {
        match chart {
            Some(chart) => drawn.push(chart),
            None => left_out.push(what),
        }
    }
    let name = |point: usize| findings.lines.get(point).map_or_else(String::new, |line| names::full(point, line));
    let layout = findings.decision.layout.clone();
    Report {
        title: format!("Sweep of {}", head.title()),
        facts: facts(findings, besides.prices.as_ref()),
        chosen: findings.decision.chosen.map(name),
        said: statements(findings),
        command: layout.as_ref().filter(|_| head.settings.command.is_none()).map(|_| rewrite(&head.subject.input)),
        layout,
        charts: drawn,
        left_out,
        stars: format!("A star marks differences from {} {}", name(findings.reference), findings.test()),
        tables: table::tables(findings, besides.prices.as_ref()),
    }
}

/// The command that applies a layout, for a shell.
fn rewrite(input: &Path) -> String {
    let input = input.to_string_lossy();
    format!("basketry rewrite {} -o {} --layout layout.toml", pasted(&input), pasted(&output(&input, "chosen")))
}

fn facts(findings: &Findings, prices: Option<&PriceBook>) -> Vec<Fact> {
    let head = &findings.head;
    let (subject, settings, machine) = (&head.subject, &head.settings, &head.machine);
    let versions: Vec<String> = head.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let bytes = |n: u64| amount(Unit::Bytes, as_f64(n));
    let cache = if settings.cold { "cold" } else { "warm" };
    let goal = metric_of(&findings.decision.goal).map_or("", |metric| metric.title);
    let fact = |name, value| Fact { name, value };
    let input = format!("{}, {} of {} entries", bytes(subject.bytes), subject.entries, subject.all_entries);
    let mut all = vec![
        match &settings.command {
            Some(command) => fact("command", command.write.clone()),
            None => fact("input", input),
        },
        fact("measured", format!("{} points, {} times each, {cache} cache", head.points.len(), settings.repeat)),
        fact("to be small", goal.to_owned()),
        fact(
            "machine",
            format!(
                "{}, {} processors, {} of memory, {}",
                machine.processor,
                machine.processors,
                bytes(machine.memory),
                machine.kernel
            ),
        ),
        fact("by", versions.join(", ")),
    ];
    all.extend(prices.map(|book| fact("prices", book.summary())));
    all.extend(record_note(findings).map(|why| fact("sizes", why)));
    all.extend(prices.and_then(|_| unpriced(findings)).map(|why| fact("no price", why)));
    all
}

fn statements(findings: &Findings) -> Vec<Statement> {
    let name = |point: &usize| findings.lines.get(*point).map_or_else(String::new, |line| names::full(*point, line));
    let part = |title: &str, lines: Vec<String>| Statement { title: title.to_owned(), lines };
    let mut all = vec![part("Commands that failed", findings.failed())];
    for (number, decision) in findings.decisions().enumerate() {
        // The first decision is told of above.
        if let Some(goal) = metric_of(&decision.goal).filter(|_| number > 0) {
            all.push(part(&format!("Best in {}", goal.title), decision.chosen.iter().map(name).collect()));
        }
        all.extend([
            part("Limits that cannot be met", decision.impossible.clone()),
            part("Why", decision.reasons.clone()),
            part("As good within the noise", decision.equals.iter().map(name).collect()),
            part("Gains and costs of other limits", decision.sensitivity.clone()),
        ]);
    }
    for front in &findings.fronts {
        let [a, b] = front.metrics.each_ref().map(|metric| metric_of(metric).map_or("", |metric| metric.title));
        all.push(part(&format!("Not beaten in both {a} and {b}"), front.points.iter().map(name).collect()));
    }
    all.retain(|part| !part.lines.is_empty());
    all
}
