//! Corrects a choice by trials: the chosen layout is written and read, the results replace the expectations, and the choice is
//! made again until it stays. This is for files that take little time; for others samples decide.

use std::collections::HashMap;

use dataset::layout::Layout;
use dataset::tree::BasketRef;
use flow::uniform;
use rootfile::Result;

use crate::cost::column::{Column, METADATA_PER_BASKET};
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
use super::layout;
use super::options::Options;
use super::search::Search;

/// Measurements of the metadata at most.
const METADATA_ROUNDS: u32 = 2;
/// Trials at most, and trials that may choose freely; later ones combine choices that were tried.
const MOST: u32 = 8;
const FREE: usize = 3;
/// A trial corrects untried choices by factors within these bounds.
const CORRECTION: (f64, f64) = (0.5, 2.0);
const SLOWER: (f64, f64) = (0.25, 4.0);

/// A choice that was tried.
struct Tried {
    chosen: Chosen,
    size: f64,
    /// Seconds to read the input and the output.
    read: [f64; 2],
}

impl Tried {
    /// Reading time of the output over that of the input.
    fn ratio(&self) -> f64 {
        self.read[1] / self.read[0].max(f64::MIN_POSITIVE)
    }
}

impl Search {
    fn fits(&self, tried: &Tried) -> bool {
        tried.size <= self.limits.size
    }

    /// Whether it is small enough, and not slower to read than it may be.
    fn holds(&self, tried: &Tried) -> bool {
        self.fits(tried) && tried.ratio() * self.now.1.read <= self.limits.slowest(self.space.today)
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
            if tried.iter().any(|one| same(&one.chosen, &chosen)) {
                break;
            }
            let expected = self.trial_seconds(stats, access, &chosen);
            let started = process_seconds();
            if !allowance.allows(last.unwrap_or(expected)) {
                // If no tried choice holds, the smallest choice is tried as well, even without time left.
                let smallest = self.space.smallest(&self.limits).ok();
                let new = smallest.filter(|one| !tried.iter().any(|other| same(&other.chosen, one)));
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
            self.learn(stats, &chosen, &trial);
            tried.push(Tried { chosen, size: trial.size, read: trial.read });
            self.limits = options.limits(&stats.compared(&self.now.1));
            self.decide_again(stats);
        }
        self.space.only_known = false;
        self.take_best(&tried);
        if tried.is_empty() {
            self.measure_metadata(stats, options, allowance)?;
        }
        self.or_today(stats);
        Ok(u32::try_from(tried.len()).unwrap_or(u32::MAX))
    }

    fn decide_again(&mut self, stats: &FileStats) {
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

    /// Measures the metadata that a rewrite would write, with the expected number of baskets, and decides again
    /// with the result. This happens at least once, and again while `allowance` lasts.
    fn measure_metadata(&mut self, stats: &FileStats, options: &Options, allowance: &Allowance) -> Result<()> {
        let mut last = None;
        // The page lists of an RNTuple are small, and known with its pages alone.
        let rounds = if stats.has_pages() { 0 } else { METADATA_ROUNDS };
        for _ in 0..rounds {
            if last.is_some_and(|seconds| !allowance.allows(seconds)) {
                break;
            }
            let started = process_seconds();
            let Ok(chosen) = self.decision.clone() else { break };
            let Some(layout) = self.layout(stats, &chosen)? else { break };
            let expected = Expected::new(stats, &self.space, &chosen);
            let of = |tree: &str, lineage: &[&str], bounds: &[u64]| expected.baskets(tree, lineage, bounds);
            let request = flow::Options {
                layout,
                content: options.content(),
                budget: options.budget(),
                ..flow::Options::default()
            };
            let input = stats.file.name();
            // No file of this name is made. The record contains a name, here of the length of the input's.
            let Ok(besides) = flow::metadata_size(input, &input.with_extension("r00t"), &request, &of) else { break };
            self.space.rest = as_f64(besides) - METADATA_PER_BASKET * chosen.total.baskets;
            self.decide_again(stats);
            last = Some(process_seconds() - started);
            if self.decision.as_ref().is_ok_and(|now| same(now, &chosen)) {
                break;
            }
        }
        Ok(())
    }

    fn layout(&self, stats: &FileStats, chosen: &Chosen) -> Result<Option<Layout>> {
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
        let stays = tried.iter().find(|one| self.decision.as_ref().is_ok_and(|chosen| same(chosen, &one.chosen)));
        let value = |one: &Tried| {
            let read = one.ratio() * self.now.1.read;
            self.space.utility.of_cost(&Cost { read, size: one.size, ..one.chosen.total })
        };
        let best = |fast: bool| {
            let all = tried.iter().filter(|one| if fast { self.holds(one) } else { self.fits(one) });
            all.min_by(|a, b| value(a).total_cmp(&value(b)))
        };
        let found = stays.filter(|one| self.holds(one)).or_else(|| best(true)).or_else(|| best(false));
        let Some(one) = found else {
            // All tried choices exceed the limit.
            let least = tried.iter().map(|one| one.size).fold(f64::INFINITY, f64::min);
            self.decision = Err(Infeasible { nearest: vec![(0, Some(least))] });
            return;
        };
        let mut chosen = self.space.again(&one.chosen);
        chosen.total.size = one.size;
        chosen.reserved = one.size;
        let factor = ratio(one.ratio() * self.now.1.read, chosen.total.read);
        slow(&mut chosen.total, factor);
        self.decision = Ok(chosen);
    }
}

/// The baskets that are expected of a choice.
struct Expected<'a> {
    stats: &'a FileStats,
    /// Whether clusters stay as they are.
    keeps: bool,
    /// Choice and cost of a column, by tree and name.
    units: HashMap<(&'a str, &'a str), (Pick, Cost)>,
    /// Columns of the file, by tree and lineage.
    columns: HashMap<(&'a str, Vec<&'a str>), usize>,
}

impl<'a> Expected<'a> {
    fn new(stats: &'a FileStats, space: &Space, chosen: &Chosen) -> Self {
        let path = |tree: usize| stats.trees.get(tree).map_or("", |tree| tree.path.as_str());
        let mut members = vec![0.0; stats.units.len()];
        for column in &stats.columns {
            if let Some(count) = members.get_mut(column.unit) {
                *count += 1.0;
            }
        }
        let unit = |(number, (tree, name)): (usize, &'a (usize, String))| {
            let (pick, cost) = (chosen.picks.get(number).copied().flatten()?, chosen.costs.get(number)?);
            let n: f64 = members.get(number).copied().unwrap_or(1.0);
            let each = Cost { size: cost.size / n.max(1.0), baskets: cost.baskets / n.max(1.0), ..*cost };
            Some(((path(*tree), name.as_str()), (pick, each)))
        };
        let column = |(number, column): (usize, &'a Column)| {
            let lineage = column.lineage.iter().map(String::as_str).collect();
            column.recast.is_none().then(|| ((path(column.tree), lineage), number))
        };
        Self {
            stats,
            keeps: space.options.get(chosen.option).is_some_and(|option| option.size.is_none()),
            units: stats.units.iter().enumerate().filter_map(unit).collect(),
            columns: stats.columns.iter().enumerate().filter_map(column).collect(),
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "expected sizes and numbers")]
    fn baskets(&self, tree: &str, lineage: &[&str], bounds: &[u64]) -> Vec<BasketRef> {
        let Some((pick, cost)) = self.units.get(&(tree, lineage.last().copied().unwrap_or(""))) else {
            return Vec::new();
        };
        let column = self.columns.get(&(tree, lineage.to_vec())).and_then(|&number| self.stats.columns.get(number));
        if let Some(column) = column.filter(|_| self.keeps && pick.codec.is_none() && pick.basket.is_none()) {
            return column.baskets.clone();
        }
        let clusters = bounds.windows(2).map(|pair| (pair[0], pair[1].saturating_sub(pair[0])));
        let all = as_f64(bounds.last().copied().unwrap_or(0)).max(1.0);
        let size = (cost.size / cost.baskets.max(1.0) - METADATA_PER_BASKET).max(1.0);
        let mut baskets = Vec::new();
        for (start, entries) in clusters.filter(|(_, entries)| *entries > 0) {
            let count = (cost.baskets * as_f64(entries) / all).round().clamp(1.0, as_f64(entries)) as u64;
            let each = entries.div_ceil(count.max(1));
            let mean = size * cost.baskets * as_f64(entries) / all / as_f64(count.max(1));
            baskets.extend((0..count).take_while(|k| k * each < entries).map(|k| BasketRef {
                first_entry: start + k * each,
                entries: each.min(entries - k * each),
                // Sizes of baskets vary, and are the part of a tree's record that compresses least.
                nbytes: (mean * (0.9 + 0.2 * uniform(start, k))) as u32,
                seek: 0,
            }));
        }
        baskets
    }
}

impl Space {
    /// Replaces expectations by the results of a trial. The tried choices get their measured sizes, and the same codec with
    /// other baskets changes in proportion. Seconds of unchanged columns are multiplied by `today`, seconds of changed
    /// columns by the factor that explains the rest of the measured time.
    fn learn(&mut self, stats: &FileStats, chosen: &Chosen, trial: &Trial, today: f64) {
        let picks = || chosen.picks.iter().zip(&chosen.costs).enumerate();
        let changes = |pick: &Option<Pick>| pick.is_some_and(|pick| pick.codec.is_some());
        let sum = |changed: bool| -> f64 {
            picks().filter(|(_, (pick, _))| changes(pick) == changed).map(|(_, (_, cost))| cost.read).sum()
        };
        let (kept, changed) = (sum(false), sum(true));
        let then = ratio(trial.read[1] - today * kept, changed);
        let mut columns = 0.0;
        for (unit, (pick, expected)) in picks() {
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
        let all = self.choices.iter_mut().flatten().flatten();
        all.for_each(|(pick, cost)| slow(cost, if pick.codec.is_some() { then } else { today }));
    }

    /// A choice with its costs as known by now.
    fn again(&self, chosen: &Chosen) -> Chosen {
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

fn same(a: &Chosen, b: &Chosen) -> bool {
    a.option == b.option && a.forms == b.forms && a.picks == b.picks
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
