//! Estimates the time and the disk space of a sweep: some layouts are run on one entry and on a few, and a line through both
//! is extrapolated.

use std::collections::{BTreeSet, HashMap};

use rootfile::Result;

use super::picked::Picked;
use super::plan::{Estimate, Job, Kind, Seconds};
use super::point::Point;
use super::runner::Measured;
use super::session::Sweep;
use crate::math::as_f64;

/// Layouts that are tried at most.
const TRIED: usize = 6;
/// One entry of this many is tried.
const OF: u64 = 50;
/// Seconds that it takes to start a process.
pub(super) const START: f64 = 0.02;

/// The time of a job: a fixed part, and a part for each entry.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    fixed: f64,
    each: f64,
}

impl Cost {
    /// The line through the times of one entry and of several.
    fn through(one: f64, some: f64, entries: u64) -> Self {
        let each = if entries > 1 { (some - one).max(0.0) / as_f64(entries - 1) } else { 0.0 };
        Self { fixed: (one - each).max(0.0), each }
    }

    fn of(self, entries: f64) -> f64 {
        self.fixed + self.each * entries
    }
}

/// The trial runs of one layout.
struct Tried {
    owner: usize,
    kinds: HashMap<Kind, Cost>,
    size: Cost,
}

/// The estimate of these jobs, and the expected seconds of each.
pub(super) fn estimate(sweep: &mut Sweep<'_>, jobs: &[Job]) -> Result<(Estimate, Seconds)> {
    let (_, plan, _) = sweep.parts();
    let points: BTreeSet<usize> = jobs.iter().map(|job| job.point).collect();
    let owners: BTreeSet<usize> = points.iter().map(|&point| plan.owner(point)).collect();
    let owners: Vec<usize> = owners.into_iter().collect();
    let step = owners.len().div_ceil(TRIED).max(1);
    let chosen: Vec<usize> = owners.iter().copied().step_by(step).collect();
    let tried = chosen.into_iter().map(|owner| try_one(sweep, owner)).collect::<Result<Vec<Tried>>>()?;
    let (head, plan, _) = sweep.parts();
    let entries = |point: &Point| as_f64(Picked::new(head.subject.entries, point.fraction, head.settings.seed).count());
    // The nearest tried layout stands for a point.
    let nearest = |point: usize| {
        let owner = plan.owner(point);
        tried.iter().min_by_key(|tried| tried.owner.abs_diff(owner))
    };
    let mut each = HashMap::new();
    let mut estimate = Estimate { points: sweep.request.points.len(), jobs: jobs.len(), ..Estimate::default() };
    for job in jobs {
        let (Some(tried), Some(point)) = (nearest(job.point), head.points.get(job.point)) else { continue };
        let cost = tried.kinds.get(&job.kind).copied().unwrap_or_default();
        let times = if job.kind == Kind::Copy { side_by_side(point) } else { 1.0 };
        let seconds = cost.of(entries(point) * times) + START;
        each.insert((job.point, job.kind), seconds);
        estimate.seconds += seconds;
    }
    let size = |point: usize| Some(nearest(point)?.size.of(entries(head.points.get(point)?)));
    let kept: f64 = owners.iter().filter(|&&owner| plan.keeps(owner)).filter_map(|&owner| size(owner)).sum();
    let scratch = points.iter().copied().filter_map(|at| Some(size(at)? * as_f64(head.points.get(at)?.streams as u64)));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
    let disk = (kept + scratch.fold(0.0, f64::max)) as u64;
    Ok((Estimate { disk, ..estimate }, each))
}

/// How much longer several streams take than one.
fn side_by_side(point: &Point) -> f64 {
    as_f64(point.streams as u64) / as_f64(point.streams.min(point.threads).max(1) as u64)
}

/// Runs each kind of job on one entry and on some.
fn try_one(sweep: &mut Sweep<'_>, owner: usize) -> Result<Tried> {
    let (head, plan, folder) = sweep.parts();
    let kinds: Vec<Kind> = plan.kinds().iter().copied().filter(|kind| *kind != Kind::Copy).collect();
    let some = (head.subject.entries / OF).max(2).min(head.subject.entries);
    let file = folder.join("probe-0.root");
    let mut runs: HashMap<Kind, Vec<Measured>> = HashMap::new();
    for entries in [1, some] {
        for kind in std::iter::once(Kind::Copy).chain(kinds.iter().copied()) {
            let mut task = sweep.task(Job { round: 0, point: owner, kind })?;
            task.entries = entries;
            match kind {
                Kind::Copy => (task.index, task.outputs) = (None, vec![file.clone()]),
                _ => task.input.clone_from(&file),
            }
            if kind == Kind::Sparse {
                let (head, _, folder) = sweep.parts();
                let picked = Picked::new(entries, head.settings.share, head.settings.seed.wrapping_add(1));
                task.index = Some(picked.write(folder, "picked")?);
            }
            let measured = sweep.runner().run(&task)?;
            runs.entry(kind).or_default().push(measured);
        }
    }
    let _ = std::fs::remove_file(&file);
    let seconds = |run: &Measured| run.wall + run.first.unwrap_or(0.0);
    let through = |of: &dyn Fn(&Measured) -> f64, kind: Kind| match runs.get(&kind).map(Vec::as_slice) {
        Some([one, several]) => Cost::through(of(one), of(several), some),
        _ => Cost::default(),
    };
    Ok(Tried {
        owner,
        kinds: runs.keys().map(|&kind| (kind, through(&seconds, kind))).collect(),
        size: through(&|run| as_f64(run.bytes), Kind::Copy),
    })
}
