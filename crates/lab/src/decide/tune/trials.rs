//! Corrects a choice by trials: the chosen layout is written and read, the results replace the expectations, and the choice is
//! made again until it stays. This is for files that take little time; for others samples decide.

use dataset::layout::Layout;
use rootfile::Result;

use crate::cost::column::METADATA_PER_BASKET;
use crate::cost::model::Cost;
use crate::cost::statistics::FileStats;
use crate::cost::trial::{self, Trial};
use crate::cost::{Access, Allowance};
use crate::math::as_f64;
use crate::math::solve::Infeasible;
use crate::system::clock::process_seconds;

use super::candidates::Pick;
use super::choice::Chosen;
use super::decide::Space;
use super::foreseen;
use super::layout;
use super::options::Options;
use super::search::{Rewritten, Search};

/// Choices that are foreseen without a trial, and the share of the allowed time that one takes.
const FORESEEN: u32 = 2;
const OF_FORESEEING: f64 = 0.15;
/// The least share of the changed bytes that tells of all.
const LEAST_TRIED: f64 = 0.05;
/// Trials at most, and trials that may choose freely; later ones combine choices that were tried.
const MOST: u32 = 8;
const FREE: usize = 3;
/// A trial corrects untried choices by factors within these bounds.
const CORRECTION: (f64, f64) = (0.5, 2.0);
const SLOWER: (f64, f64) = (0.25, 4.0);

/// A choice that was tried.
struct Tried {
    chosen: Chosen,
    trial: Trial,
}

impl Search {
    fn fits(&self, tried: &Tried) -> bool {
        tried.trial.size <= self.limits.size
    }

    /// Whether it is small enough, and not slower to read than it may be.
    fn holds(&self, tried: &Tried) -> bool {
        self.fits(tried) && tried.trial.ratio() * self.now.1.read <= self.limits.slowest(self.space.today)
    }

    /// Tries the choice until it stays, or `allowance` is used up. Returns the number of trials.
    pub(super) fn run_trials(
        &mut self,
        stats: &FileStats,
        options: &Options,
        access: Access,
        allowance: &Allowance,
    ) -> Result<u32> {
        let mut tried: Vec<Tried> = Vec::new();
        let mut last: Option<f64> = None;
        for _ in 0..MOST {
            self.space.only_known = tried.len() >= FREE;
            if self.space.only_known {
                self.decide_again(stats);
            }
            let mut chosen = match &self.decision {
                Ok(chosen) => chosen.clone(),
                // By the samples no choice is small enough; a trial may show that one is.
                Err(_) if tried.is_empty() => match self.space.smallest(&self.limits) {
                    Ok(chosen) => chosen,
                    Err(_) => break,
                },
                Err(_) => break,
            };
            if tried.iter().any(|one| one.chosen.is_same(&chosen)) {
                break;
            }
            let expected = self.trial_seconds(stats, access, &chosen);
            let started = process_seconds();
            if !allowance.allows(last.unwrap_or(expected)) {
                // If no tried choice holds, the smallest choice is tried as well, even without time left.
                let smallest = self.space.smallest(&self.limits).ok();
                let new = smallest.filter(|one| !tried.iter().any(|other| other.chosen.is_same(one)));
                match new.filter(|_| !tried.is_empty() && !tried.iter().any(|one| self.holds(one))) {
                    Some(smallest) => chosen = smallest,
                    None => break,
                }
            }
            let Some(layout) = self.layout(stats, &chosen)? else { break };
            // A layout that cannot be written fails later, at the output, with its reason.
            let tree = options.tree.as_deref();
            let (budget, seed) = (options.budget(), options.seed);
            let trial = trial::run(stats.file.name(), tree, &layout, &options.workload, budget, seed);
            let Ok(mut trial) = trial else { break };
            last = Some(process_seconds() - started);
            // basketry's reading times do not apply to another reader: only sizes are learned.
            if options.reader.is_some() {
                trial.read = [self.now.1.read, chosen.total.read];
            }
            let expected = self.expected_rewriting(stats, access, &chosen);
            self.rewritten.push(Rewritten { chosen: chosen.clone(), expected, took: trial.rewrite });
            self.learn(stats, &chosen, &trial);
            tried.push(Tried { chosen, trial });
            self.limits = options.limits(&stats.compared(&self.now.1));
            self.decide_again(stats);
        }
        self.space.only_known = false;
        self.take_best(&tried);
        if tried.is_empty() {
            self.foresee(stats, options, allowance)?;
            self.part = self.try_parts(stats, options, access, allowance)?;
        }
        self.or_today(stats);
        Ok(u32::try_from(tried.len()).unwrap_or(u32::MAX))
    }

    /// Whether this is the decision.
    pub(super) fn is_decided(&self, chosen: &Chosen) -> bool {
        self.decision.as_ref().is_ok_and(|now| now.is_same(chosen))
    }

    pub(super) fn decide_again(&mut self, stats: &FileStats) {
        self.decision = self.space.decide(&self.limits);
        if self.decision.is_ok() {
            self.or_today(stats);
        }
    }

    /// Decides for the input's layout where it is as good, or where it alone is within the limits.
    fn or_today(&mut self, stats: &FileStats) {
        let decision = std::mem::replace(&mut self.decision, Err(Infeasible { nearest: Vec::new() }));
        self.decision = self.space.or_today(decision, stats, &self.now.0, &self.now.1, &self.limits);
    }

    /// Foresees the size of the output by a rewrite of parts into nothing, and decides again with the result. Samples of columns do not
    /// know what depends on the output's own baskets and pages, nor its metadata.
    fn foresee(&mut self, stats: &FileStats, options: &Options, allowance: &Allowance) -> Result<()> {
        // Parts of a file on another machine would be asked for one by one.
        let seconds = if stats.is_elsewhere() { f64::MIN_POSITIVE } else { OF_FORESEEING * allowance.seconds() };
        for _ in 0..FORESEEN {
            let Ok(chosen) = self.decision.clone() else { break };
            let Some(layout) = self.layout(stats, &chosen)? else { break };
            let (content, budget) = (options.content(), options.budget());
            let request = flow::Options { layout, content, budget, ..flow::Options::default() };
            let inputs = [stats.file.name().to_path_buf()];
            // No file of this name is made. The record contains a name, here of the length of the input's.
            let output = stats.file.name().with_extension("r00t");
            // A layout that cannot be written fails later, at the output, with its reason.
            let Ok(outlook) = flow::forecast_within(&inputs, &output, &request, seconds) else { break };
            self.space.foresee(stats, &chosen, &outlook);
            self.decide_again(stats);
            if self.is_decided(&chosen) {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn layout(&self, stats: &FileStats, chosen: &Chosen) -> Result<Option<Layout>> {
        let Some(option) = self.space.options.get(chosen.option) else { return Ok(None) };
        let recasts = &mut self.space.tops.chosen(&chosen.forms);
        layout::layout(stats, &self.measured.codecs, option, &chosen.picks, recasts).map(Some)
    }

    /// Replaces expectations by the results of a trial.
    fn learn(&mut self, stats: &FileStats, chosen: &Chosen, trial: &Trial) {
        let now = &mut self.now;
        let today = ratio(trial.read[0], now.1.read);
        now.0.iter_mut().chain([&mut now.1]).for_each(|cost| slow(cost, today));
        self.space.learn(stats, chosen, trial, today);
        let compared = stats.compared(&now.1);
        self.space.utility = self.space.weights.utility(&compared);
        self.space.today = compared.read;
    }

    /// Takes the best tried choice that holds, unless the chosen one was tried itself; with measured figures.
    fn take_best(&mut self, tried: &[Tried]) {
        if tried.is_empty() {
            return;
        }
        let stays = tried.iter().find(|one| self.is_decided(&one.chosen));
        let value = |one: &Tried| {
            let read = one.trial.ratio() * self.now.1.read;
            self.space.utility.of_cost(&Cost { read, size: one.trial.size, ..one.chosen.total })
        };
        let best = |fast: bool| {
            let all = tried.iter().filter(|one| if fast { self.holds(one) } else { self.fits(one) });
            all.min_by(|a, b| value(a).total_cmp(&value(b)))
        };
        let found = stays.filter(|one| self.holds(one)).or_else(|| best(true)).or_else(|| best(false));
        let Some(one) = found else {
            // All tried choices exceed the limit.
            let least = tried.iter().map(|one| one.trial.size).fold(f64::INFINITY, f64::min);
            self.decision = Err(Infeasible { nearest: vec![(0, Some(least))] });
            return;
        };
        let mut chosen = self.space.again(&one.chosen);
        chosen.total.size = one.trial.size;
        chosen.reserved = one.trial.size;
        let factor = ratio(one.trial.ratio() * self.now.1.read, chosen.total.read);
        slow(&mut chosen.total, factor);
        self.decision = Ok(chosen);
    }
}

impl Space {
    /// Replaces expectations by the results of a trial. The tried choices get their measured sizes, and the same codec with
    /// other baskets changes in proportion. Reading what does not change takes `today` times as long as expected.
    fn learn(&mut self, stats: &FileStats, chosen: &Chosen, trial: &Trial, today: f64) {
        let mut columns = 0.0;
        for (unit, (pick, expected)) in chosen.picks.iter().zip(&chosen.costs).enumerate() {
            let (Some((tree, name)), Some(pick)) = (stats.units.get(unit), pick) else { continue };
            let tree = stats.trees.get(*tree).map_or("", |tree| tree.path.as_str());
            let Some(&(bytes, baskets)) = trial.units.get(&(tree.to_owned(), name.clone())) else { continue };
            let size = bytes + METADATA_PER_BASKET * baskets;
            let off = (size / expected.size.max(1.0)).clamp(CORRECTION.0, CORRECTION.1);
            columns += size;
            for (option, units) in self.choices.iter_mut().enumerate() {
                for (other, cost) in units.get_mut(unit).into_iter().flatten() {
                    let place = (option, unit, *other);
                    if option == chosen.option && other == pick {
                        (cost.size, cost.baskets) = (size, baskets);
                        self.known.insert(place);
                    } else if other.codec == pick.codec && pick.codec.is_some() && !self.known.contains(&place) {
                        cost.size *= off;
                    }
                }
            }
        }
        self.rest = trial.size - columns;
        self.learn_times(chosen, trial.read[1], today);
    }

    /// Seconds of unchanged columns are multiplied by `today`, those of changed columns by the factor that explains the rest of `read`, the
    /// seconds that reading the choice takes.
    pub(super) fn learn_times(&mut self, chosen: &Chosen, read: f64, today: f64) {
        let changes = |pick: &Option<Pick>| pick.is_some_and(|pick| pick.codec.is_some());
        let sum = |changed: bool| -> f64 {
            let picks = chosen.picks.iter().zip(&chosen.costs);
            picks.filter(|(pick, _)| changes(pick) == changed).map(|(_, cost)| cost.read).sum()
        };
        let then = ratio(read - today * sum(false), sum(true));
        let all = self.choices.iter_mut().flatten().flatten();
        all.for_each(|(pick, cost)| slow(cost, if pick.codec.is_some() { then } else { today }));
    }

    /// Replaces the expected size of a choice by a foreseen one: that of changed columns by one factor, since parts of a file say little
    /// of a single column, and everything besides by the rest.
    fn foresee(&mut self, stats: &FileStats, chosen: &Chosen, outlook: &flow::Outlook) {
        let picks = chosen.picks.iter().zip(&chosen.costs);
        let of_kept = |(pick, cost): (&Option<Pick>, &Cost)| {
            let keeps = pick.as_ref().is_some_and(|pick| self.keeps(chosen.option, pick));
            if keeps { cost.size } else { 0.0 }
        };
        let kept: f64 = picks.map(of_kept).sum();
        let changed = chosen.total.size - self.rest - kept;
        let pieces: u64 = outlook.tables.iter().map(|table| table.baskets).sum();
        let columns = as_f64(outlook.bytes_after) + METADATA_PER_BASKET * as_f64(pieces);
        // Columns that were not tried are as the others are to a forecast, and here by their own samples: what was tried corrects these.
        // Too little says nothing.
        let is_enough = |part: f64, all: f64| part > LEAST_TRIED * all;
        let (found, expected) = match foreseen::tried(stats, chosen, outlook) {
            Some((found, expected)) if is_enough(expected, changed) => (found, expected),
            None if is_enough(as_f64(outlook.sampled), as_f64(outlook.bytes_before)) => (columns - kept, changed),
            _ => (1.0, 1.0),
        };
        let off = if expected > 0.0 { (found / expected).clamp(CORRECTION.0, CORRECTION.1) } else { 1.0 };
        self.rest =
            as_f64(outlook.bytes_written.saturating_sub(outlook.bytes_after)) - METADATA_PER_BASKET * as_f64(pieces);
        let mut choices = std::mem::take(&mut self.choices);
        for (option, units) in choices.iter_mut().enumerate() {
            for (_, cost) in units.iter_mut().flatten().filter(|(pick, _)| !self.keeps(option, pick)) {
                cost.size *= off;
                cost.read_bytes *= off;
            }
        }
        self.choices = choices;
    }

    /// A choice with its costs as known by now.
    pub(super) fn again(&self, chosen: &Chosen) -> Chosen {
        let mut again = Chosen { total: Cost { size: self.rest, ..Cost::default() }, ..chosen.clone() };
        let units = self.choices.get(chosen.option).map(Vec::as_slice).unwrap_or_default();
        for ((pick, cost), choices) in again.picks.iter().zip(&mut again.costs).zip(units) {
            if let Some((_, known)) = choices.iter().find(|(other, _)| Some(other) == pick.as_ref()) {
                *cost = *known;
            }
            again.total += *cost;
        }
        again.objective = self.utility.of_cost(&Cost { size: again.total.size - self.rest, ..again.total });
        again
    }
}

/// Measured over expected, within bounds.
fn ratio(found: f64, expected: f64) -> f64 {
    if found > 0.0 && expected > 0.0 { (found / expected).clamp(SLOWER.0, SLOWER.1) } else { 1.0 }
}

/// Scales the times of reading.
fn slow(cost: &mut Cost, factor: f64) {
    for part in [&mut cost.read, &mut cost.fetch, &mut cost.decompress, &mut cost.decode] {
        *part *= factor;
    }
}
