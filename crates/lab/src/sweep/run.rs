//! A whole sweep: says how long it will take, runs every job that the journal does not know yet, drops points that
//! cannot win if that is asked for, and leaves figures, tables and the chosen layout in the folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rootfile::{Error, Result, ScratchFolder};

use super::analyse::{Findings, Runs, analyse, reference};
use super::grid::Point;
use super::journal::{self, Head, Journal, write_whole};
use super::plan::{Estimate, Job, Kind, Plan, Seconds};
use super::runner::{Measured, Runner, Task};
use super::{SCHEMA, Settings, Subject, decide, estimate, show};
use crate::machine::Machine;
use crate::readspeed::cache::drop_from_cache;

/// Rounds before the first points are dropped: one tells nothing of the noise.
const BEFORE_DROPPING: usize = 2;
/// A point that is within so many times the noise of the best is never dropped.
const WITHIN: f64 = 3.0;

/// What is told while it goes on.
#[derive(Clone, Copy, Debug)]
pub enum Word<'a> {
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
    /// Points were dropped; so many are left.
    Dropped(usize),
}

/// A sweep that is to be run, or gone on with.
pub struct Sweep<'a> {
    folder: PathBuf,
    head: Head,
    plan: Plan,
    runner: &'a mut dyn Runner,
}

impl Head {
    /// What a sweep on this machine is about.
    pub fn new(subject: Subject, points: Vec<Point>, settings: Settings, runner: &dyn Runner) -> Result<Self> {
        settings.question.check()?;
        if settings.repeat == 0 || settings.kinds.is_empty() {
            return Err(Error::request("nothing to measure: repeat at least once, and copy or read"));
        }
        let (versions, machine) = (runner.versions(), Machine::here());
        Ok(Self { schema: SCHEMA, subject, points, settings, versions, machine })
    }
}

impl<'a> Sweep<'a> {
    /// In this folder, which is made if it is not there. It has nothing in it, or this very sweep.
    pub fn new(folder: &Path, head: Head, runner: &'a mut dyn Runner) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|e| Error::from(e).file(folder))?;
        // Programs that are started may have another working directory.
        let folder = std::fs::canonicalize(folder).map_err(|e| Error::from(e).file(folder))?;
        let mut names = std::fs::read_dir(&folder)?.flatten().map(|file| file.file_name());
        let visible = names.any(|name| !name.to_string_lossy().starts_with('.'));
        if visible && !folder.join(journal::HEAD).exists() {
            return Err(Error::request("has other files in it; choose a new folder").file(folder));
        }
        let plan = Plan::new(&head.points, head.settings.kinds.clone(), head.settings.seed);
        Ok(Self { folder, head, plan, runner })
    }

    /// How long it would take, by a short probe. Nothing is left in the folder.
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

    /// The same, before the first job that is measured. Refuses what the disk has no room for.
    fn pace(&mut self, say: &mut dyn FnMut(Word<'_>)) -> Result<Pace> {
        let (estimate, expected) = self.estimate()?;
        self.room(&estimate)?;
        say(Word::Expected(estimate));
        Ok(Pace { expected, planned: 0.0, taken: 0.0 })
    }

    /// Runs it. `keep` leaves the files that were read.
    pub fn run(mut self, keep: bool, say: &mut dyn FnMut(Word<'_>)) -> Result<Findings> {
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
                    say(Word::Done { done, all, left, job, point });
                }
            }
            let through = round + 1;
            if self.head.settings.drop && through >= BEFORE_DROPPING && through < rounds {
                let left = survivors(&self.head, &journal, &wanted);
                if left.len() < wanted.len() {
                    wanted = left;
                    say(Word::Dropped(wanted.len()));
                }
                all = done + (rounds - through) * self.plan.round(through, &|point| wanted.contains(&point)).len();
            }
        }
        let findings = analyse(&self.head, journal.entries());
        leave(&self.folder, &findings)?;
        if !keep {
            self.tidy();
        }
        Ok(findings)
    }

    /// Refuses a sweep that the disk has no room for.
    fn room(&self, estimate: &Estimate) -> Result<()> {
        let disk = rustix::fs::statvfs(&self.folder).map_err(std::io::Error::from)?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if estimate.disk > free {
            return Err(Error::request(format!(
                "the files will take up to {} MB, and {} MB are free: take fewer points, or --entries",
                estimate.disk / 1_000_000,
                free / 1_000_000
            ))
            .file(&self.folder));
        }
        Ok(())
    }

    pub(super) fn parts(&self) -> (&Head, &Plan, &Path) {
        (&self.head, &self.plan, &self.folder)
    }

    /// Runs one job, on its own files.
    fn measure(&mut self, job: Job) -> Result<Measured> {
        let task = self.task(job)?;
        if job.kind == Kind::Copy {
            let measured = self.measured(&task)?;
            if job.round == 0 && self.plan.keeps(job.point) {
                self.keep(job.point)?;
            }
            task.outputs.iter().for_each(|path| drop(std::fs::remove_file(path)));
            return Ok(measured);
        }
        if !task.input.exists() {
            // Only reading was asked for, or somebody removed it.
            self.write(self.plan.owner(job.point))?;
        }
        self.measured(&task)
    }

    fn measured(&mut self, task: &Task) -> Result<Measured> {
        let cold = match self.head.settings.cold {
            true => Some(drop_from_cache(&[&task.input])?),
            false => {
                let mut file = std::fs::File::open(&task.input).map_err(|e| Error::from(e).file(&task.input))?;
                std::io::copy(&mut file, &mut std::io::sink()).map_err(|e| Error::from(e).file(&task.input))?;
                None
            }
        };
        let measured = self.runner.run(task)?;
        Ok(Measured { cold: cold.or(measured.cold), ..measured })
    }

    /// Writes the file of a point that is to be read, without measuring it.
    fn write(&mut self, owner: usize) -> Result<()> {
        let mut task = self.task(Job { round: 0, point: owner, kind: Kind::Copy })?;
        task.outputs.truncate(1);
        self.runner.run(&task)?;
        self.keep(owner)
    }

    /// Keeps the first stream that was just written. All are written under names of one length, since a file has its
    /// name in it, and sizes are compared.
    fn keep(&self, owner: usize) -> Result<()> {
        let kept = self.kept(owner);
        std::fs::rename(self.stream(0), &kept).map_err(|e| Error::from(e).file(&kept))
    }

    fn stream(&self, number: usize) -> PathBuf {
        self.folder.join(format!("scratch-{number}.root"))
    }

    /// The file of a point that is read.
    fn kept(&self, owner: usize) -> PathBuf {
        self.folder.join(format!("point-{owner}.root"))
    }

    /// All that is to be known to run a job.
    pub(super) fn task(&self, job: Job) -> Result<Task> {
        let Head { subject, points, settings, .. } = &self.head;
        let point = points.get(job.point).ok_or_else(|| Error::request("a job of another sweep"))?;
        let owner = self.plan.owner(job.point);
        let copied = Picked::new(subject.entries, point.fraction, settings.seed);
        let (input, index, outputs) = match job.kind {
            Kind::Copy => {
                let index = (point.fraction < 1.0).then(|| copied.write(&self.folder, "copied")).transpose()?;
                (subject.input.clone(), index, (0..point.streams).map(|stream| self.stream(stream)).collect())
            }
            Kind::Sparse => {
                let picked = Picked::new(copied.count(), settings.share, settings.seed.wrapping_add(1));
                (self.kept(owner), Some(picked.write(&self.folder, "picked")?), Vec::new())
            }
            _ => (self.kept(owner), None, Vec::new()),
        };
        Ok(Task {
            job,
            input,
            tree: subject.tree.clone(),
            others: subject.others,
            entries: subject.entries,
            index,
            layout: point.layout.clone(),
            outputs,
            threads: point.threads,
            memory: settings.memory,
            columns: settings.columns.clone(),
            pin: settings.pin.then_some(point.threads),
        })
    }

    pub(super) fn runner(&mut self) -> &mut dyn Runner {
        self.runner
    }

    /// Removes what was only needed to measure.
    fn tidy(&self) {
        let Ok(files) = std::fs::read_dir(&self.folder) else { return };
        for file in files.flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            // A job that was killed leaves the hidden file that it was writing.
            let name = name.trim_start_matches('.');
            let is_ours = ["point-", "scratch-", "probe-", "copied-", "picked-", "task.", "record."];
            if is_ours.iter().any(|prefix| name.starts_with(prefix)) {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }
}

/// Some entries, each by its own throw of the dice.
pub(super) struct Picked {
    all: u64,
    share: f64,
    seed: u64,
}

impl Picked {
    pub fn new(all: u64, share: f64, seed: u64) -> Self {
        Self { all, share, seed }
    }

    fn entries(&self) -> impl Iterator<Item = u64> {
        (0..self.all).filter(|&entry| flow::spread(self.seed, entry) < self.share)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        if self.share >= 1.0 { self.all } else { (self.entries().count() as u64).max(1) }
    }

    /// An index file of them. There is always a first, and if there can be, another.
    pub fn write(&self, folder: &Path, what: &str) -> Result<PathBuf> {
        let path = folder.join(format!("{what}-{}-{}.txt", self.all, self.share));
        if !path.exists() {
            let mut entries: Vec<u64> = self.entries().collect();
            if entries.len() < 2 {
                entries.extend([0, self.all.saturating_sub(1)]);
                entries.sort_unstable();
                entries.dedup();
            }
            let lines: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
            write_whole(&path, &lines)?;
        }
        Ok(path)
    }
}

/// How fast it goes, against what was expected.
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

/// The points that may still win: the better half, and those that are as good within the noise. Points that differ only
/// in how they are run go with their layout.
fn survivors(head: &Head, journal: &Journal, wanted: &BTreeSet<usize>) -> BTreeSet<usize> {
    let runs = Runs::new(head, journal.entries());
    let reference = reference(&head.points);
    let candidates = decide::candidates(&head.points, reference);
    let cost = |&point: &usize| Some((point, decide::cost(&runs, head, point, reference)?));
    // Today's is what all are held against, and stays.
    let others = candidates.iter().filter(|&&point| point != reference && wanted.contains(&point));
    let mut costs: Vec<(usize, f64)> = others.filter_map(cost).collect();
    costs.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some(&(_, best)) = costs.first() else { return wanted.clone() };
    let noise = super::metric::metric_of(decide::goal(head)).and_then(|metric| runs.noise(metric)).unwrap_or(0.0);
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

/// Leaves figures, tables and the layout in the folder.
fn leave(folder: &Path, findings: &Findings) -> Result<()> {
    let mut text = serde_json::to_string_pretty(findings).map_err(std::io::Error::from)?;
    text.push('\n');
    write_whole(&folder.join("result.json"), &text)?;
    write_whole(&folder.join("tables.md"), &show::markdown(findings))?;
    if let Some(layout) = &findings.decision.layout {
        write_whole(&folder.join("layout.toml"), layout)?;
    }
    Ok(())
}

/// What a folder has, also of a sweep that is not through.
pub fn findings(folder: &Path) -> Result<Findings> {
    let (head, journal) = Journal::open(folder)?;
    if journal.entries().is_empty() {
        return Err(Error::request("nothing was measured yet").file(folder));
    }
    Ok(analyse(&head, journal.entries()))
}
