//! The proof: a choice is rewritten under a temporary name, compared with the input, measured, and read as the workload would.
//! It is published only if it holds; otherwise the next choice is tried.

use std::path::{Path, PathBuf};

use dataset::layout::Layout;
use flow::{Budget, Progress, VerifyOptions};
use rootfile::{Error, Result, StagedFile};

use super::acceptance::{Bounds, Candidate, Correction, Expected, Written, rewrite_until_accepted};
use super::compare::{Comparison, compare};
use super::options::Options;
use super::reader::proof::Judge;
use super::report::{Attempt, Compared, Proof, Rejected, Report};
use super::tuned::Tuned;
use crate::cost::replay;
use crate::math::as_f64;
use crate::system::clock::process_seconds;

/// Differences that are told in words.
const TOLD: usize = 3;

/// Rewrites `input` into `output` with the layout that was chosen, or with the next one that holds, and completes the
/// report. The output gets its name only if it holds; otherwise an existing file stays.
///
/// # Errors
///
/// The output cannot be written, no layout of the candidates holds, or it is not verified to be equal.
pub fn prove(
    tuned: &mut Tuned,
    input: &Path,
    output: &Path,
    options: &Options,
    budget: Budget,
    overwrite: bool,
    progress: Progress<'_>,
) -> Result<()> {
    rootfile::check_output(output, overwrite, [input])?;
    if tuned.report.asked.is_some() && tuned.report.unchanged {
        "today's layout was asked for: nothing was written".clone_into(&mut tuned.report.verdict);
        tuned.report.delivered = Some(false);
        return Ok(());
    }
    tuned.report.delivered = Some(false);
    let Some(first) = tuned.expected() else {
        if tuned.layout.is_some() {
            "nothing that was tried is better than today's layout by more than the noise: nothing was written"
                .clone_into(&mut tuned.report.verdict);
        }
        return Ok(());
    };
    let limit = |name: &str| tuned.report.limits.iter().find(|l| l.name == name).map(|l| l.value);
    let (limit, read) = (limit("--max-size").unwrap_or(f64::INFINITY), limit("--max-read-time"));
    let most = read.map_or(tuned.slowest(), |seconds| seconds / tuned.report.today.cost.read.max(f64::MIN_POSITIVE));
    let size_today = tuned.report.today.cost.size;
    // Another container, other names of branches, or a choice that was asked for, may be wanted without a gain.
    let today_counts = tuned.report.asked.is_none()
        && tuned.report.recasts.is_empty()
        && tuned.decider.as_ref().is_some_and(|decider| decider.conversion.is_none());
    let measuring = tuned.report.measuring.cpu_seconds;
    let judge = options.reader.as_ref().map(|reader| {
        let tree = options.tree.as_deref();
        Judge::start(reader, input, tree, &options.workload)
    });
    let (judge, instead) = match judge.transpose() {
        Ok(judge) => (judge, None),
        Err(why) => (None, Some(why)),
    };
    let proven_by = judge.as_ref().map(|judge| judge.name.clone());
    let mut candidate = Files { tuned, input, output, options, budget, overwrite, progress, staged: None, most, judge };
    let outcome = rewrite_until_accepted(
        &mut candidate,
        first,
        Bounds { bytes: limit, reading: most, to_beat: today_counts.then_some(size_today) },
    )?;
    drop(candidate);
    let by = proven_by.clone();
    let report = &mut tuned.report;
    report.measuring.cpu_seconds = measuring;
    report.delivered = Some(outcome.delivered);
    report.reader.proven_by = Some(proven_by.unwrap_or_else(|| "basketry".to_owned()));
    report.reader.instead = instead;
    report.verdict = verdict(output, &outcome.attempts, outcome.delivered, outcome.exhausted, limit, by.as_deref());
    if let Some(last) = outcome.attempts.last().filter(|_| outcome.delivered) {
        report.proof = proof(report, output, last);
    }
    report.attempts = outcome.attempts;
    Ok(())
}

/// The choice that is tried, and its file.
struct Files<'a> {
    tuned: &'a mut Tuned,
    input: &'a Path,
    output: &'a Path,
    options: &'a Options,
    budget: Budget,
    overwrite: bool,
    progress: Progress<'a>,
    /// The file under its temporary name; removed when dropped.
    staged: Option<StagedFile>,
    /// The most times today's reading that the file may take.
    most: f64,
    /// The program that will read the file, where it can be run.
    judge: Option<Judge>,
}

impl Files<'_> {
    fn layout(&self) -> Layout {
        self.tuned.layout.clone().unwrap_or_default()
    }

    fn staged(&self) -> Result<PathBuf> {
        let path = self.staged.as_ref().map(|file| file.path().to_path_buf());
        path.ok_or_else(|| Error::request("nothing was written yet").file(self.output))
    }
}

impl Candidate for Files<'_> {
    fn write(&mut self) -> Result<Written> {
        self.staged = None;
        let request = flow::Options {
            layout: self.layout(),
            content: self.options.content(),
            budget: self.budget,
            overwrite: self.overwrite,
            ..flow::Options::default()
        };
        let start = process_seconds();
        let (summary, staged) =
            flow::rewrite_staged(&[self.input.to_path_buf()], self.output, &request, self.progress)?;
        self.staged = Some(staged);
        Ok(Written {
            bytes: as_f64(summary.bytes_written),
            baskets: as_f64(summary.tables.iter().map(|t| t.baskets).sum()),
            rewrite: process_seconds() - start,
        })
    }

    fn differences(&mut self) -> Result<Vec<String>> {
        let verify = VerifyOptions { tree: self.options.tree.clone(), budget: self.budget, ..VerifyOptions::default() };
        let verdict = flow::verify(&[self.input.to_path_buf()], &self.staged()?, &verify, &|_| (self.progress)(0))?;
        match verdict.equal {
            true => Ok(Vec::new()),
            false if verdict.differences.is_empty() => Ok(vec!["the contents differ".to_owned()]),
            false => Ok(verdict.differences.iter().map(ToString::to_string).collect()),
        }
    }

    fn compare(&mut self) -> Result<Comparison> {
        let staged = self.staged()?;
        let Options { tree, workload, seed, .. } = self.options;
        if let Some(judge) = &mut self.judge {
            return judge.compare([self.input, &staged], tree.as_deref(), workload, *seed, self.most);
        }
        compare(self.most, &mut |swapped| {
            let files = if swapped { [staged.as_path(), self.input] } else { [self.input, staged.as_path()] };
            let readings = replay(&files, tree.as_deref(), workload, self.budget, *seed)?;
            let seconds = |i: usize| readings.get(i).map_or(0.0, |r| r.seconds);
            Ok(if swapped { (seconds(1), seconds(0)) } else { (seconds(0), seconds(1)) })
        })
    }

    fn choose(&mut self, correction: Correction) -> Result<Option<Expected>> {
        // A saved report has no costs to correct.
        let Some(decider) = &mut self.tuned.decider else { return Ok(None) };
        let before = self.tuned.report.layout.take();
        decider.choose(correction);
        let expected = decider.expected();
        let (report, layout) = decider.report(self.input)?;
        // The same layout again would be measured the same.
        let expected = expected.filter(|_| report.layout != before);
        if expected.is_some() {
            let Report { input, files, measured_files, .. } = &self.tuned.report;
            let report = Report { input: input.clone(), files: *files, measured_files: *measured_files, ..report };
            let row = decider.chosen_row()?;
            let before = std::mem::replace(&mut self.tuned.report, report);
            if let Some(row) = row {
                self.tuned.report.choices_of(before, &row);
            }
            self.tuned.layout = layout;
        } else {
            self.tuned.report.layout = before;
        }
        Ok(expected)
    }

    fn publish(&mut self) -> Result<()> {
        let Some(staged) = self.staged.take() else { return Ok(()) };
        staged.deliver().map(drop)
    }
}

fn proof(report: &Report, output: &Path, attempt: &Attempt) -> Option<Proof> {
    let chosen = report.chosen.as_ref()?;
    let reading = attempt.reading?;
    let expected = report.today.cost.read / chosen.cost.read.max(f64::MIN_POSITIVE);
    Some(Proof {
        output: output.display().to_string(),
        size: Compared { expected: chosen.cost.size, measured: attempt.written.bytes },
        speedup: Compared { expected, measured: 1.0 / reading.ratio.max(f64::MIN_POSITIVE) },
        read_today: Compared { expected: report.today.cost.read, measured: reading.before },
        read_chosen: Compared { expected: chosen.cost.read, measured: reading.after },
        reading,
        baskets: Compared { expected: chosen.cost.baskets, measured: attempt.written.baskets },
        rewrite: Compared { expected: report.rewrite, measured: attempt.written.rewrite },
        measuring_share: report.measuring.cpu_seconds / attempt.written.rewrite.max(f64::MIN_POSITIVE),
        equal: true,
        differences: Vec::new(),
        within_size: true,
    })
}

/// The result of all attempts, as a sentence.
fn verdict(
    output: &Path,
    attempts: &[Attempt],
    delivered: bool,
    exhausted: bool,
    limit: f64,
    by: Option<&str>,
) -> String {
    let output = output.display();
    let by = by.map_or_else(String::new, |name| format!(" by {name}"));
    let megabytes = |bytes: f64| format!("{:.3} MB", bytes / 1e6);
    let rejected = |attempt: &Attempt| match (attempt.rejected, attempt.reading) {
        (Some(Rejected::TooLarge), _) => {
            format!("the rewritten file has {}, the limit is {}", megabytes(attempt.written.bytes), megabytes(limit))
        }
        (Some(Rejected::Slower), Some(reading)) => format!(
            "reading the rewritten file{by} takes {:.2} to {:.2} times as long as today ({} repeats)",
            reading.interval[0], reading.interval[1], reading.repeats
        ),
        (Some(Rejected::NoGain), Some(reading)) => format!(
            "the rewritten file has {} and reads {}: no gain beyond the noise",
            megabytes(attempt.written.bytes),
            reading.against_today()
        ),
        _ => {
            let told = attempt.differences.iter().take(TOLD).cloned().collect::<Vec<_>>().join("; ");
            format!("the rewritten file differs from its input: {told}")
        }
    };
    let reasons = |attempts: &[Attempt]| {
        let numbered = attempts.iter().enumerate().map(|(i, a)| format!("choice {}: {}", i + 1, rejected(a)));
        numbered.collect::<Vec<_>>().join("; ")
    };
    let holds = |attempt: &Attempt| {
        let reading = attempt.reading.map(|reading| format!(", and reads {}{by}", reading.against_today()));
        format!("{}{}", megabytes(attempt.written.bytes), reading.unwrap_or_default())
    };
    match attempts.split_last() {
        Some((last, [])) if delivered => format!("{output}: the first choice holds: {}", holds(last)),
        Some((last, before)) if delivered => {
            format!("{output}: choice {} holds: {}; {}", attempts.len(), holds(last), reasons(before))
        }
        _ => {
            let end = if exhausted { "; no other choice is expected to be better than today's layout" } else { "" };
            format!("{output} was not written: {}{end}", reasons(attempts))
        }
    }
}
