//! A sweep in its folder: runs single jobs, and keeps the files that they read. [`super::run`] decides which jobs run, and in
//! which order.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rootfile::{Error, Hint, Result};

use super::extend::{Request, extended};
use super::input::SweepInput;
use super::journal::{self, Head, Journal};
use super::picked::Picked;
use super::plan::{Job, Kind, Plan};
use super::point::Point;
use super::runner::{Measured, Runner, Task};
use super::runs::today;
use super::settings::{SCHEMA, Settings};
use crate::readspeed::cache::drop_from_cache;
use crate::system::host::HostInfo;
use crate::system::shell::quoted;

/// A sweep that is to be run, or gone on with.
pub struct Sweep<'a> {
    pub(super) folder: PathBuf,
    pub(super) head: Head,
    /// The plan of the requested jobs.
    pub(super) plan: Plan,
    pub(super) request: Request,
    pub(super) runner: &'a mut dyn Runner,
}

impl Head {
    /// The description of a sweep on this machine.
    ///
    /// # Errors
    ///
    /// The folder has something else, or another sweep, or cannot be written.
    pub fn new(subject: SweepInput, points: Vec<Point>, settings: Settings, runner: &dyn Runner) -> Result<Self> {
        settings.question.check()?;
        if settings.repeat == 0 || settings.kinds.is_empty() {
            return Err(Error::request("nothing to measure: repeat at least once, and copy or read"));
        }
        let (versions, machine) = (runner.versions(), HostInfo::here());
        Ok(Self { schema: SCHEMA, subject, points, settings, versions, machine })
    }
}

impl<'a> Sweep<'a> {
    /// In this folder, which is made if it is not there. It has nothing in it, or a sweep that this one extends: by other points,
    /// jobs or repeats, or by another goal.
    ///
    /// # Errors
    ///
    /// The folder has something else, or a sweep whose measurements are not comparable, or cannot be written; or no job measures
    /// the figure of a goal.
    pub fn new(folder: &Path, head: Head, runner: &'a mut dyn Runner) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|e| Error::from(e).file(folder))?;
        // Programs that are started may have another working directory.
        let folder = std::fs::canonicalize(folder).map_err(|e| Error::from(e).file(folder))?;
        let mut names = std::fs::read_dir(&folder)?.flatten().map(|file| file.file_name());
        let visible = names.any(|name| !name.to_string_lossy().starts_with('.'));
        if visible && !folder.join(journal::HEAD).exists() {
            return Err(Error::request("has other files in it; choose a new folder").file(folder));
        }
        let (head, request) = match journal::known_head(&folder)? {
            Some(there) => extended(&there, &head).map_err(|e| e.file(&folder))?,
            None => {
                let whole = Request::whole(&head);
                (head, whole)
            }
        };
        head.settings.check_goals()?;
        if head.settings.command.is_some() && head.settings.question.is_relative() && today(&head.points).is_none() {
            let message = "a limit is a multiple of today's, and no point of the grid has the name \"today\"";
            return Err(Error::request(message).hint(Hint::named("grid")));
        }
        let plan = Plan::new(&head.points, request.kinds.clone(), head.settings.seed);
        Ok(Self { folder, head, plan, request, runner })
    }

    /// The same with today's layout as a point by itself, if no point has it: what others are compared with.
    #[must_use]
    pub fn beside_today(mut self) -> Self {
        let points = &mut self.head.points;
        let place = today(points).or_else(|| {
            points.push(Point::today_beside(points)?);
            Some(points.len() - 1)
        });
        self.request.points.extend(place);
        self.plan = Plan::new(&self.head.points, self.request.kinds.clone(), self.head.settings.seed);
        self
    }

    /// The jobs of a round, of those points that are still wanted, in their order.
    pub(super) fn round(&self, round: usize, wanted: &BTreeSet<usize>) -> Vec<Job> {
        self.plan.round(round, &|point| wanted.contains(&point))
    }

    /// The requested jobs that have no result yet.
    pub(super) fn missing(&self, known: &Journal) -> Vec<Job> {
        let all = (0..self.request.repeat).flat_map(|round| self.round(round, &self.request.points));
        all.filter(|job| known.get(job).is_none()).collect()
    }

    pub(super) fn parts(&self) -> (&Head, &Plan, &Path) {
        (&self.head, &self.plan, &self.folder)
    }

    /// Runs one job, on its own files.
    pub(super) fn measure(&mut self, job: Job) -> Result<Measured> {
        let task = self.task(job)?;
        if job.kind == Kind::Copy {
            let measured = self.measured(&task)?;
            if job.round == 0 && self.plan.keeps(job.point) && measured.failed.is_none() {
                self.keep(job.point)?;
            }
            let remove = |path: &PathBuf| std::fs::remove_file(path).or_else(|_| std::fs::remove_dir_all(path));
            task.outputs.iter().for_each(|path| drop(remove(path)));
            return Ok(measured);
        }
        if !task.input.exists() {
            // The sweep only reads, or the file was removed.
            let written = self.write(self.plan.owner(job.point))?;
            if written.failed.is_some() {
                return Ok(written);
            }
        }
        self.measured(&task)
    }

    fn measured(&mut self, task: &Task) -> Result<Measured> {
        let cold = match self.head.settings.cold {
            // A command of the user may need no input, or one that is elsewhere.
            _ if !task.input.is_file() => None,
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
    fn write(&mut self, owner: usize) -> Result<Measured> {
        let mut task = self.task(Job { round: 0, point: owner, kind: Kind::Copy })?;
        task.outputs.truncate(1);
        let written = self.runner.run(&task)?;
        if written.failed.is_none() {
            self.keep(owner)?;
        }
        Ok(written)
    }

    /// The file that a job reads, and whether it is there.
    pub(super) fn has_file(&self, job: &Job) -> bool {
        self.kept(self.plan.owner(job.point)).exists()
    }

    /// The commands that the user's jobs run at each point, as a shell takes them.
    pub(super) fn commands(&self) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for &point in &self.request.points {
            for &kind in self.request.kinds.iter().filter(|kind| [Kind::Copy, Kind::Full].contains(kind)) {
                let words = self.runner.commands(&self.task(Job { round: 0, point, kind })?)?;
                all.extend(
                    words.iter().map(|words| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
                );
            }
        }
        Ok(all)
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
        let point = points.get(job.point).ok_or_else(|| Error::request("the job belongs to another sweep"))?;
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
            values: self.values(point),
            jobs: Vec::new(),
            limit: None,
            logs: self.folder.clone(),
        })
    }

    /// What a command of the user gets.
    fn values(&self, point: &Point) -> BTreeMap<String, String> {
        let mut values = point.variables.clone();
        values.insert("streams".to_owned(), point.streams.to_string());
        values.insert("threads".to_owned(), point.threads.to_string());
        values.insert("input".to_owned(), self.head.subject.input.to_string_lossy().into_owned());
        values
    }

    pub(super) fn runner(&mut self) -> &mut dyn Runner {
        self.runner
    }

    /// Removes the files that only the measurements needed.
    pub(super) fn remove_scratch(&self) {
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
