//! `basketry monitor show`: prints records of the monitor, compares them, and draws them.

use std::io::Write;
use std::path::PathBuf;

use lab::record::{Difference, Moment, Phase, Report, Shown, Verdict, page, report, save};
use rootfile::{Error, Hint, Result, check_output};

use super::words::{ending, moment};
use crate::output::{self, Answer, Table};

/// Rows of a table of moments; the page and --json have all.
const MOMENTS: usize = 60;

#[derive(clap::Args)]
pub struct ShowArgs {
    /// A record: .root, .parquet, .csv or .jsonl, or the output of monitor --json; also of a job that still runs, or of a monitor
    /// that was killed. Two records are compared.
    #[arg(value_name = "RECORD", required = true)]
    records: Vec<PathBuf>,
    /// Compare with these records. With several on each side, the noise is the spread between the runs.
    #[arg(long, value_name = "RECORD", num_args = 1..)]
    against: Vec<PathBuf>,
    /// Write a page with pictures: memory, CPU, threads, input and output over time, in one HTML file that needs no network.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the samples of one record in another form, by the extension: .root, .parquet, .csv or .jsonl. So a record that a
    /// killed monitor left is completed.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Replace existing outputs.
    #[arg(short, long)]
    force: bool,
    /// Print one JSON object, for machines.
    #[arg(long)]
    json: bool,
}

impl ShowArgs {
    /// Prints the records, and writes what is wanted.
    pub fn run(&self) -> Result<Answer> {
        if let Some(path) = &self.output {
            check_output(path, self.force, self.records.iter().chain(&self.against))?;
        }
        let report = match (self.records.as_slice(), self.against.as_slice()) {
            ([a, b], []) => report(std::slice::from_ref(a), std::slice::from_ref(b))?,
            (a, b) => report(a, b)?,
        };
        if let Some(path) = &self.save {
            let ([record], []) = (self.records.as_slice(), self.against.as_slice()) else {
                let why = "one record at a time is saved in another form";
                return Err(Error::request(why).hint(Hint::named("save")));
            };
            save(record, path, self.force)?;
        }
        if let Some(path) = &self.output {
            output::text_file(path, &page(&report)?, self.force)?;
        }
        match self.json {
            true => output::json(&report)?,
            false => print(&report)?,
        }
        Ok(Answer::Yes)
    }
}

fn print(report: &Report) -> Result<()> {
    let mut out = output::stdout();
    for record in &report.records {
        facts(&mut out, record)?;
        // A comparison has its own table.
        if report.comparison.is_empty() {
            writeln!(out, "\n{}", phases(record))?;
            writeln!(out, "\n{}", moments(&record.moments))?;
            if let Some(more @ 1..) = record.moments.len().checked_sub(MOMENTS) {
                writeln!(out, "and {} more moments; --json has them all", output::count(more as u64))?;
            }
            writeln!(out)?;
        }
    }
    if !report.comparison.is_empty() {
        writeln!(out, "\n{}", differences(&report.comparison))?;
        if report.records.len() == 2 {
            let more = "one record of each side shows the noise of means, not that of sums; for those give several: A1 A2 A3 --against B1 B2 B3";
            writeln!(out, "{more}")?;
        }
    }
    out.flush()?;
    Ok(())
}

fn facts(out: &mut impl Write, record: &Shown) -> Result<()> {
    let path = record.path.display();
    match &record.job {
        Some(job) => writeln!(
            out,
            "{path}: {}: {}; on {} ({} cores), every {} s, {} samples",
            job.command,
            ending(job),
            job.host,
            job.cores,
            job.every,
            output::count(record.samples)
        )?,
        None => writeln!(out, "{path}: {}", output::plural(record.samples, "sample", "samples"))?,
    }
    output::notes(out, &record.notes)?;
    Ok(())
}

/// The figures of all of the time and of each phase.
fn phases(record: &Shown) -> Table {
    let mut table = output::table(&[
        "phase",
        ">wall s",
        ">CPU s",
        ">cores",
        ">RSS mean",
        ">RSS peak",
        ">vsize peak",
        ">threads",
        ">read",
        ">wrote",
        ">disk wrote",
        ">files",
        ">events",
    ]);
    for phase in std::iter::once(&record.whole).chain(&record.phases) {
        let Phase { name, wall, user, system, cores, rss, rss_peak, vsize_peak, threads, .. } = phase;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes for people")]
        let mean = output::bytes(rss.mean.max(0.0) as u64);
        let sign = if phase.output < 0 { "-" } else { "+" };
        table.add_row([
            name.clone(),
            format!("{wall:.2}"),
            format!("{:.2}", user + system),
            format!("{:.2}", cores.mean),
            mean,
            output::bytes(*rss_peak),
            output::bytes(*vsize_peak),
            format!("{:.1}", threads.mean),
            output::bytes(phase.read),
            output::bytes(phase.written),
            output::bytes(phase.disk_written),
            format!("{sign}{}", output::bytes(phase.output.unsigned_abs())),
            output::count(phase.events),
        ]);
    }
    table
}

fn moments(all: &[Moment]) -> Table {
    let mut table = output::table(&["mark", ">time s", ">events", ">vsize", ">RSS", ">CPU s", ">written", ">files"]);
    for at in all.iter().take(MOMENTS) {
        table.add_row([
            moment(&at.mark, &at.seen),
            format!("{:.2}", at.time),
            output::count(at.events),
            output::bytes(at.vsize),
            output::bytes(at.rss),
            format!("{:.2}", at.cpu),
            output::bytes(at.written),
            output::bytes(at.output),
        ]);
    }
    table
}

fn differences(all: &[Difference]) -> Table {
    let mut table = output::table(&["phase", "figure", ">A", ">B", ">B against A", ">noise", ""]);
    for one in all {
        let change = if one.a == 0.0 { String::new() } else { format!("{:+.1}%", 100.0 * (one.b - one.a) / one.a) };
        let noise =
            one.noise.filter(|_| one.a != 0.0).map_or_else(String::new, |n| format!("{:.1}%", 100.0 * n / one.a.abs()));
        let verdict = match one.verdict {
            Verdict::More => "more",
            Verdict::Less => "less",
            Verdict::Same => "same",
            Verdict::Unknown => "?",
        };
        let amount = |value: f64| amount(value, one.unit);
        let cells =
            [one.phase.clone(), one.figure.to_owned(), amount(one.a), amount(one.b), change, noise, verdict.to_owned()];
        table.add_row(cells);
    }
    table
}

fn amount(value: f64, unit: &str) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes for people")]
    let bytes = || output::bytes(value.max(0.0) as u64);
    match unit {
        "B" => bytes(),
        "B/s" => format!("{}/s", bytes()),
        "s" if value < 0.1 => format!("{:.3} ms", value * 1e3),
        "s" => format!("{value:.2} s"),
        _ => format!("{value:.2}"),
    }
}
