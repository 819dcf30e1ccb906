//! Runs a whole sweep: estimates its time, runs every job that is not in the journal, drops points that cannot win if asked,
//! and writes figures, tables and the chosen layout into the folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rootfile::{Error, Hint, OutputFile, Result, ScratchFolder};

use super::analyse::analyse_journal;
use super::findings::Findings;
use super::journal::{Entry, Head, Journal};
use super::metric::metric_of;
use super::plan::{Estimate, Job, Kind, Seconds};
use super::point::Point;
use super::question::Goal;
use super::runner::Measured;
use super::runs::{Runs, reference};
use super::session::Sweep;
use super::weighing::Weighing;
use super::{estimate, show};

/// Rounds before the first points are dropped: one round does not show the noise.
const BEFORE_DROPPING: usize = 2;
/// A point is never dropped if it is within this multiple of the noise of the best.
const WITHIN: f64 = 3.0;

/// Progress of a sweep.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Before anything is measured.
    Expected(&'a Estimate),
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
        let missing = self.missing(&Journal::of(&self.folder)?);
        if let Some(estimate) = self.unknown(&missing)? {
            let _ = std::fs::remove_dir(&self.folder);
            return Ok(estimate);
        }
        let probe = ScratchFolder::within(&self.folder)?;
        let folder = std::mem::replace(&mut self.folder, probe.path().to_path_buf());
        let estimate = self.estimate(&missing);
        drop(probe);
        // A folder with something in it stays.
        let _ = std::fs::remove_dir(folder);
        estimate.map(|(estimate, _)| estimate)
    }

    /// What is known of jobs that run commands of the user: how many there are, and which commands.
    fn unknown(&self, jobs: &[Job]) -> Result<Option<Estimate>> {
        if self.head.settings.command.is_none() {
            return Ok(None);
        }
        let commands = self.commands()?;
        let points = self.request.points.len();
        Ok(Some(Estimate { points, jobs: jobs.len(), commands, ..Estimate::default() }))
    }

    /// How long these jobs will take, and each of them.
    fn estimate(&mut self, jobs: &[Job]) -> Result<(Estimate, Seconds)> {
        self.runner.prepare(&self.folder, &self.head.subject)?;
        match self.unknown(jobs)? {
            Some(estimate) => Ok((estimate, Seconds::default())),
            None => estimate::estimate(self, jobs),
        }
    }

    /// The estimate before the first measured job. Refuses a sweep that does not fit on the disk.
    fn pace(&mut self, jobs: &[Job], say: &mut dyn FnMut(Event<'_>)) -> Result<Pace> {
        let (estimate, expected) = self.estimate(jobs)?;
        self.room(&estimate)?;
        say(Event::Expected(&estimate));
        Ok(Pace { expected, planned: 0.0, taken: 0.0, seen: BTreeMap::new() })
    }

    /// Runs it. `keep` leaves the files that were read.
    ///
    /// # Errors
    ///
    /// The folder has another sweep or cannot be written, or a job cannot be run.
    pub fn run(mut self, keep: bool, say: &mut dyn FnMut(Event<'_>)) -> Result<Findings> {
        let mut journal = Journal::begin(&self.folder, &self.head)?;
        let rounds = self.request.repeat;
        let mut wanted = self.request.points.clone();
        let mut all = rounds * self.round(0, &wanted).len();
        let (mut pace, mut done, mut failed) = (None, 0, BTreeSet::new());
        for round in 0..rounds {
            let jobs = self.round(round, &wanted);
            for (at, &job) in jobs.iter().enumerate() {
                done += 1;
                if journal.get(&job).is_some() {
                    continue;
                }
                let pace = match &mut pace {
                    Some(pace) => pace,
                    none => none.insert(self.pace(&self.missing(&journal), say)?),
                };
                // A command that failed at a point is not tried there again before the next start.
                if failed.contains(&(job.point, job.kind))
                    || (job.kind != Kind::Copy
                        && failed.contains(&(self.plan.owner(job.point), Kind::Copy))
                        && !self.has_file(&job))
                {
                    continue;
                }
                let measured = self.measure(job)?;
                pace.add(&job, &measured);
                if measured.failed.is_some() {
                    failed.insert((job.point, job.kind));
                }
                journal.add(job, measured)?;
                let later = (round + 1..rounds).flat_map(|_| jobs.iter());
                let left = pace.left(jobs.iter().skip(at + 1).chain(later));
                if let Some(point) = self.head.points.get(job.point) {
                    say(Event::Done { done, all, left, job, point });
                }
            }
            let through = round + 1;
            if self.head.settings.drop && through >= BEFORE_DROPPING && through < rounds {
                let left = survivors(&self.head, &journal, &wanted, through);
                if left.len() < wanted.len() {
                    wanted = left;
                    say(Event::Dropped(wanted.len()));
                }
                all = done + (rounds - through) * self.round(through, &wanted).len();
            }
        }
        if !keep {
            self.remove_scratch();
        }
        if journal.entries().is_empty()
            && let Some((_, _, reason)) = journal.failures().next()
        {
            return Err(
                Error::request(format!("no command of the sweep ended well; the first: {reason}")).file(&self.folder)
            );
        }
        let findings = analyse_journal(&self.head, &journal);
        write_results(&self.folder, &findings)?;
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
    /// Of jobs whose time was not expected: the seconds of each kind, and their number.
    seen: BTreeMap<Kind, (f64, f64)>,
}

impl Pace {
    fn expects(&self, job: &Job) -> f64 {
        let mean = || self.seen.get(&job.kind).map_or(0.0, |(seconds, count)| seconds / count);
        self.expected.get(&(job.point, job.kind)).copied().unwrap_or_else(mean)
    }

    fn add(&mut self, job: &Job, measured: &Measured) {
        let taken = measured.wall + measured.first.unwrap_or(0.0) + estimate::START;
        if self.expected.is_empty() {
            let seen = self.seen.entry(job.kind).or_default();
            *seen = (seen.0 + taken, seen.1 + 1.0);
            return;
        }
        self.planned += self.expects(job);
        self.taken += taken;
    }

    fn left<'b>(&self, jobs: impl Iterator<Item = &'b Job>) -> f64 {
        let pace = if self.planned > 0.0 { self.taken / self.planned } else { 1.0 };
        jobs.map(|job| self.expects(job)).sum::<f64>() * pace
    }
}

/// The points that may still win: the better half, and points as good within the noise. Points that differ only
/// in how they are run go with their layout.
fn survivors(head: &Head, journal: &Journal, wanted: &BTreeSet<usize>, rounds: usize) -> BTreeSet<usize> {
    // Later rounds, of a sweep that is extended, are not looked at: a sweep that continues drops what it dropped before.
    let entries: Vec<Entry> = journal.entries().iter().filter(|entry| entry.job.round < rounds).cloned().collect();
    let runs = Runs::new(head, &entries).beside_failures(journal.failures().map(|(point, kind, _)| (point, kind)));
    let reference = reference(&head.points);
    let candidates = runs.candidates(reference);
    // Today's layout is the reference, and stays.
    let others: Vec<usize> =
        candidates.iter().copied().filter(|point| *point != reference && wanted.contains(point)).collect();
    let mut kept = BTreeSet::new();
    for goal in head.settings.question.goals() {
        let weighing = Weighing::new(&runs, goal);
        let mut costs: Vec<(usize, f64)> =
            others.iter().filter_map(|&point| Some((point, weighing.cost(point)?))).collect();
        costs.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| weighing.order(a.0).cmp(&weighing.order(b.0))));
        let Some(&(_, best)) = costs.first() else { return wanted.clone() };
        let noise = metric_of(weighing.goal).and_then(|metric| runs.noise(metric)).unwrap_or(0.0);
        let half = costs.len().div_ceil(2);
        let near = |cost: f64| cost <= best * (1.0 + WITHIN * noise);
        kept.extend(costs.iter().enumerate().filter(|(at, (_, cost))| *at < half || near(*cost)).map(|(_, (p, _))| *p));
    }
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
    write_layouts(folder, findings)
}

/// Writes the layout of the decision, and with several goals the layout for each of them. Those of earlier decisions go.
fn write_layouts(folder: &Path, findings: &Findings) -> Result<()> {
    let goals = findings.head.settings.question.goals();
    let several = goals.len() > 1;
    let named = goals.iter().zip(findings.decisions()).filter(|_| several);
    let named = named.map(|(goal, decision)| (layout_file(Some(*goal)), &decision.layout));
    let wanted: Vec<(String, &Option<String>)> =
        std::iter::once((layout_file(None), &findings.decision.layout)).chain(named).collect();
    for (name, layout) in &wanted {
        if let Some(layout) = layout {
            OutputFile::replace(&folder.join(name), layout)?;
        }
    }
    let there = |name: &String| wanted.iter().any(|(other, layout)| other == name && layout.is_some());
    let all = Goal::ALL.into_iter().map(|goal| layout_file(Some(goal))).chain([layout_file(None)]);
    for name in all.filter(|name| !there(name)) {
        let _ = std::fs::remove_file(folder.join(name));
    }
    Ok(())
}

/// The file with the layout for a goal, or with that of the decision.
fn layout_file(goal: Option<Goal>) -> String {
    goal.map_or_else(|| "layout.toml".to_owned(), |goal| format!("layout-{}.toml", goal.name()))
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
    Ok(analyse_journal(&head, &journal))
}
