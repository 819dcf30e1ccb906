//! Runs a whole sweep: estimates its time, runs every job that is not in the journal, drops points that cannot win if asked,
//! and writes figures, tables and the chosen layout into the folder.

use std::collections::BTreeSet;
use std::path::Path;

use rootfile::{Error, Hint, OutputFile, Result, ScratchFolder};

use super::analyse::analyse;
use super::findings::Findings;
use super::journal::{Head, Journal};
use super::metric::metric_of;
use super::plan::{Estimate, Job, Seconds};
use super::point::Point;
use super::runner::Measured;
use super::runs::{Runs, candidates, reference};
use super::session::Sweep;
use super::{decide, estimate, show};

/// Rounds before the first points are dropped: one round does not show the noise.
const BEFORE_DROPPING: usize = 2;
/// A point is never dropped if it is within this multiple of the noise of the best.
const WITHIN: f64 = 3.0;

/// Progress of a sweep.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Before anything is measured.
    Expected(Estimate),
    /// After each job.
    Done {
        /// Jobs that are done, also in earlier runs of the sweep.
        done: usize,
        /// Jobs that there are, as far as is known.
        all: usize,
        /// Seconds that the rest will take.
        left: f64,
        /// The job.
        job: Job,
        /// Its point.
        point: &'a Point,
    },
    /// Points were dropped; the number of points that are left.
    Dropped(usize),
}

impl Sweep<'_> {
    /// How long it would take, by a short probe. Nothing is left in the folder.
    ///
    /// # Errors
    ///
    /// A probe cannot be written or read.
    pub fn dry_run(mut self) -> Result<Estimate> {
        let probe = ScratchFolder::within(&self.folder)?;
        let folder = std::mem::replace(&mut self.folder, probe.path().to_path_buf());
        let estimate = self.estimate();
        drop(probe);
        // A folder with something in it stays.
        let _ = std::fs::remove_dir(folder);
        estimate.map(|(estimate, _)| estimate)
    }

    /// How long it will take, and each job.
    fn estimate(&mut self) -> Result<(Estimate, Seconds)> {
        self.runner.prepare(&self.folder, &self.head.subject)?;
        estimate::estimate(self)
    }

    /// The estimate before the first measured job. Refuses a sweep that does not fit on the disk.
    fn pace(&mut self, say: &mut dyn FnMut(Event<'_>)) -> Result<Pace> {
        let (estimate, expected) = self.estimate()?;
        self.room(&estimate)?;
        say(Event::Expected(estimate));
        Ok(Pace { expected, planned: 0.0, taken: 0.0 })
    }

    /// Runs it. `keep` leaves the files that were read.
    ///
    /// # Errors
    ///
    /// The folder has another sweep or cannot be written, or a job cannot be run.
    pub fn run(mut self, keep: bool, say: &mut dyn FnMut(Event<'_>)) -> Result<Findings> {
        let mut journal = Journal::begin(&self.folder, &self.head)?;
        let rounds = self.head.settings.repeat;
        let mut all = self.plan.count(rounds);
        let (mut pace, mut done) = (None, 0);
        let mut wanted: BTreeSet<usize> = (0..self.head.points.len()).collect();
        for round in 0..rounds {
            let jobs = self.plan.round(round, &|point| wanted.contains(&point));
            for (at, &job) in jobs.iter().enumerate() {
                done += 1;
                if journal.get(&job).is_some() {
                    continue;
                }
                let pace = match &mut pace {
                    Some(pace) => pace,
                    none => none.insert(self.pace(say)?),
                };
                let measured = self.measure(job)?;
                pace.add(&job, &measured);
                journal.add(job, measured)?;
                let later = (round + 1..rounds).flat_map(|_| jobs.iter());
                let left = pace.left(jobs.iter().skip(at + 1).chain(later));
                if let Some(point) = self.head.points.get(job.point) {
                    say(Event::Done { done, all, left, job, point });
                }
            }
            let through = round + 1;
            if self.head.settings.drop && through >= BEFORE_DROPPING && through < rounds {
                let left = survivors(&self.head, &journal, &wanted);
                if left.len() < wanted.len() {
                    wanted = left;
                    say(Event::Dropped(wanted.len()));
                }
                all = done + (rounds - through) * self.plan.round(through, &|point| wanted.contains(&point)).len();
            }
        }
        let findings = analyse(&self.head, journal.entries());
        write_results(&self.folder, &findings)?;
        if !keep {
            self.remove_scratch();
        }
        Ok(findings)
    }

    /// Refuses a sweep that does not fit on the disk.
    fn room(&self, estimate: &Estimate) -> Result<()> {
        let disk = rustix::fs::statvfs(&self.folder).map_err(std::io::Error::from)?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if estimate.disk > free {
            return Err(Error::request(format!(
                "the files need up to {} MB, and {} MB are free: use fewer points, or --entries",
                estimate.disk / 1_000_000,
                free / 1_000_000
            ))
            .hint(Hint::named("entries"))
            .file(&self.folder));
        }
        Ok(())
    }
}

/// The pace of the sweep against the estimate.
struct Pace {
    expected: Seconds,
    planned: f64,
    taken: f64,
}

impl Pace {
    fn expects(&self, job: &Job) -> f64 {
        self.expected.get(&(job.point, job.kind)).copied().unwrap_or(0.0)
    }

    fn add(&mut self, job: &Job, measured: &Measured) {
        self.planned += self.expects(job);
        self.taken += measured.wall + measured.first.unwrap_or(0.0) + estimate::START;
    }

    fn left<'b>(&self, jobs: impl Iterator<Item = &'b Job>) -> f64 {
        let pace = if self.planned > 0.0 { self.taken / self.planned } else { 1.0 };
        jobs.map(|job| self.expects(job)).sum::<f64>() * pace
    }
}

/// The points that may still win: the better half, and points as good within the noise. Points that differ only
/// in how they are run go with their layout.
fn survivors(head: &Head, journal: &Journal, wanted: &BTreeSet<usize>) -> BTreeSet<usize> {
    let runs = Runs::new(head, journal.entries());
    let reference = reference(&head.points);
    let candidates = candidates(&head.points, reference);
    let cost = |&point: &usize| Some((point, decide::cost(&runs, head, point, reference)?));
    // Today's layout is the reference, and stays.
    let others = candidates.iter().filter(|&&point| point != reference && wanted.contains(&point));
    let mut costs: Vec<(usize, f64)> = others.filter_map(cost).collect();
    costs.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some(&(_, best)) = costs.first() else { return wanted.clone() };
    let noise = metric_of(head.settings.goal_metric()).and_then(|metric| runs.noise(metric)).unwrap_or(0.0);
    let half = costs.len().div_ceil(2);
    let kept = costs.iter().enumerate().filter(|(at, (_, cost))| *at < half || *cost <= best * (1.0 + WITHIN * noise));
    let kept: BTreeSet<usize> = kept.map(|(_, (point, _))| *point).collect();
    let layout = |point: usize| head.points.get(point).map(|point| &point.layout);
    let stays = |&point: &usize| {
        let candidate = candidates.iter().find(|&&candidate| layout(candidate) == layout(point));
        point == reference || candidate.is_none_or(|candidate| *candidate == reference || kept.contains(candidate))
    };
    wanted.iter().copied().filter(stays).collect()
}

/// Writes figures, tables and the layout into the folder.
fn write_results(folder: &Path, findings: &Findings) -> Result<()> {
    let mut text = serde_json::to_string_pretty(findings).map_err(std::io::Error::from)?;
    text.push('\n');
    OutputFile::replace(&folder.join("result.json"), &text)?;
    OutputFile::replace(&folder.join("tables.md"), &show::markdown(findings))?;
    if let Some(layout) = &findings.decision.layout {
        OutputFile::replace(&folder.join("layout.toml"), layout)?;
    }
    Ok(())
}

/// The findings in a folder, also of an unfinished sweep.
///
/// # Errors
///
/// The folder has no sweep, or its journal cannot be read.
pub fn findings(folder: &Path) -> Result<Findings> {
    let (head, journal) = Journal::open(folder)?;
    if journal.entries().is_empty() {
        return Err(Error::request("nothing was measured yet").file(folder));
    }
    Ok(analyse(&head, journal.entries()))
}
