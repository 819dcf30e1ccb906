//! The plan of a sweep: its jobs and their order.
//!
//! Every round runs every job once. The seed alone decides the order, so that other work on the machine affects all points
//! alike. Points that would write the same file share it, and points that would read it alike share the reading.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::point::Point;

/// The kind of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Copies the entries into each of the streams.
    Copy,
    /// Reads everything.
    Full,
    /// Reads each column of the first level, alone.
    Columns,
    /// Reads the entries of an index file.
    Sparse,
    /// Reads some columns.
    Chosen,
}

impl Kind {
    /// Its name, as in the journal.
    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Full => "full",
            Self::Columns => "columns",
            Self::Sparse => "sparse",
            Self::Chosen => "chosen",
        }
    }
}

/// One run of one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Job {
    /// Which round.
    pub round: usize,
    /// Which point.
    pub point: usize,
    /// Its kind.
    pub kind: Kind,
}

/// Which jobs there are.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The jobs of each point.
    kinds: Vec<Kind>,
    /// For each point the one whose first copy is the file that it reads.
    owners: Vec<usize>,
    /// For each point the one that reads for it.
    readers: Vec<usize>,
    seed: u64,
}

impl Plan {
    /// The plan of these points, each of which does all this.
    pub fn new(points: &[Point], kinds: Vec<Kind>, seed: u64) -> Self {
        let first = |same: &dyn Fn(&Point, &Point) -> bool| -> Vec<usize> {
            let of = |point: &Point| points.iter().position(|other| same(other, point)).unwrap_or_default();
            points.iter().map(of).collect()
        };
        // A command of the user may write another file with other threads.
        let threads = |a: &Point, b: &Point| a.threads == b.threads;
        let one_file = |a: &Point, b: &Point| a.writes_as(b) && (a.variables.is_empty() || threads(a, b));
        let owners = first(&one_file);
        let readers = first(&|a, b| one_file(a, b) && threads(a, b));
        Self { kinds, owners, readers, seed }
    }

    /// The jobs of each point.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The point whose file a point reads.
    pub fn owner(&self, point: usize) -> usize {
        self.owners.get(point).copied().unwrap_or(point)
    }

    /// The point that reads for a point.
    pub fn reader(&self, point: usize) -> usize {
        self.readers.get(point).copied().unwrap_or(point)
    }

    /// Whether a point is measured by jobs of its own of this kind.
    fn does(&self, point: usize, kind: Kind) -> bool {
        self.kinds.contains(&kind) && (kind == Kind::Copy || self.reader(point) == point)
    }

    /// Whether a job reads the output of the point.
    pub fn keeps(&self, point: usize) -> bool {
        self.owner(point) == point && self.kinds.iter().any(|kind| *kind != Kind::Copy)
    }

    /// Files that are kept until the end.
    pub fn files(&self) -> usize {
        (0..self.owners.len()).filter(|&point| self.keeps(point)).count()
    }

    /// The jobs of a round, for points that are still wanted, in their order.
    pub fn round(&self, round: usize, wanted: &dyn Fn(usize) -> bool) -> Vec<Job> {
        // A reading is wanted as long as one of the points that share it is.
        let read = |point: usize| (0..self.readers.len()).any(|other| self.reader(other) == point && wanted(other));
        let mut jobs = Vec::new();
        for point in 0..self.owners.len() {
            let own = self.kinds.iter().filter(|&&kind| self.does(point, kind));
            let own = own.filter(|&&kind| if kind == Kind::Copy { wanted(point) } else { read(point) });
            jobs.extend(own.map(|&kind| Job { round, point, kind }));
        }
        let seed = flow::uniform(self.seed, round as u64).to_bits();
        let mut order: Vec<(f64, Job)> = (0u64..).zip(jobs).map(|(i, job)| (flow::uniform(seed, i), job)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut jobs: Vec<Job> = order.into_iter().map(|(_, job)| job).collect();
        if round == 0 {
            self.write_first(&mut jobs);
        }
        jobs
    }

    /// Of the jobs that share a file, the one that writes it takes the first place of all.
    fn write_first(&self, jobs: &mut [Job]) {
        let mut firsts: HashMap<usize, usize> = HashMap::new();
        for at in 0..jobs.len() {
            let Some(job) = jobs.get(at).copied() else { continue };
            let owner = self.owner(job.point);
            let first = *firsts.entry(owner).or_insert(at);
            if job.kind == Kind::Copy && job.point == owner {
                jobs.swap(first, at);
            }
        }
    }

    /// The number of jobs in this number of rounds.
    pub fn count(&self, rounds: usize) -> usize {
        self.round(0, &|_| true).len() * rounds
    }
}

/// Seconds that each job of a point will take.
pub(super) type Seconds = HashMap<(usize, Kind), f64>;

/// How long it will take.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// Points.
    pub points: usize,
    /// Jobs.
    pub jobs: usize,
    /// Seconds that they will take, if none is dropped.
    pub seconds: f64,
    /// Bytes of files at most, at one time.
    pub disk: u64,
    /// The commands of the user, one of each job, as a shell takes them. Their time and files are not known before they run, and are 0 here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::super::grid::Grid;
    use super::*;

    fn points(axes: &[&str]) -> Vec<Point> {
        let mut grid = Grid::default();
        axes.iter().for_each(|axis| grid.add(axis).unwrap());
        grid.points().unwrap()
    }

    #[test]
    fn a_round_has_every_job_once_and_files_are_written_first() {
        let plan = Plan::new(&points(&["basket=1kB,2kB,3kB", "streams=1,2"]), vec![Kind::Copy, Kind::Full], 7);
        let first = plan.round(0, &|_| true);
        // Six copies; the points of one basket share a reading.
        assert_eq!((first.len(), plan.count(5), plan.files()), (9, 45, 3));
        for job in first.iter().filter(|job| job.kind == Kind::Full) {
            let place = |wanted: &Job| first.iter().position(|job| job == wanted).unwrap();
            assert!(place(&Job { kind: Kind::Copy, ..*job }) < place(job));
        }
        let second = plan.round(1, &|_| true);
        let sorted = |jobs: &[Job]| {
            let mut jobs: Vec<(usize, Kind)> = jobs.iter().map(|job| (job.point, job.kind)).collect();
            jobs.sort();
            jobs
        };
        assert_eq!(sorted(&first), sorted(&second));
        let order = |jobs: &[Job]| jobs.iter().map(|job| (job.point, job.kind)).collect::<Vec<_>>();
        assert_ne!(order(&first), order(&second), "each round has an order of its own");
        assert_eq!(first, plan.round(0, &|_| true), "which the seed decides");
    }

    #[test]
    fn a_dropped_point_is_read_for_others_that_share_it() {
        let plan = Plan::new(&points(&["basket=1kB,2kB", "streams=1,2"]), vec![Kind::Copy, Kind::Full], 1);
        let mut jobs = plan.round(1, &|point| point == 1);
        jobs.sort();
        let job = |point, kind| Job { round: 1, point, kind };
        assert_eq!(jobs, [job(0, Kind::Full), job(1, Kind::Copy)]);
    }

    #[test]
    fn readings_differ_by_threads() {
        let plan = Plan::new(&points(&["threads=1,2", "fraction=1,0.5"]), vec![Kind::Full], 1);
        assert_eq!((plan.count(1), plan.files()), (4, 2));
        assert_eq!((plan.owner(2), plan.reader(2)), (0, 2));
        assert!(plan.keeps(0) && !plan.keeps(2));
    }
}
