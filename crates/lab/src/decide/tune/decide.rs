//! The decision: the best choice over columns for each size of clusters, and the best of these.

use crate::cost::column::{Column, PageColumn};
use crate::cost::measured::{ColumnCost, Measured};
use crate::cost::model::{self, Cost};
use crate::cost::statistics::FileStats;
use crate::cost::{Packing, Utility, Weights};
use crate::math::solve::{Choice, Infeasible, Problem};
use std::collections::HashSet;

use super::acceptance::{Correction, Expected};
use super::candidates::{Choices, ClusterOption, Pick, choices};
use super::choice::{Chosen, Forms, Limits};
use super::explicit::makes_anew;
use super::forms::TopColumns;
use crate::cost::Access;

/// A choice counts as better than today's layout if its objective is below this share of today's.
const LEAST_GAIN: f64 = 0.98;

/// How often the elements of an RNTuple are copied into new memory when they are written anew: into arrays, behind those that wait for
/// their page, into the page, and into what is written.
const COPIES: f64 = 4.0;

/// Clusterings with the choices under each.
pub(crate) struct Space {
    pub options: Vec<ClusterOption>,
    pub tops: TopColumns,
    pub(super) choices: Vec<Vec<Choices>>,
    /// Choices with a size that a trial measured: by clustering, unit and choice.
    pub(super) known: HashSet<(usize, usize, Pick)>,
    /// Whether units with choices of measured size use only these.
    pub(super) only_known: bool,
    pub(super) weights: Weights,
    pub(super) utility: Utility,
    /// Seconds to read the file as it is.
    pub(super) today: f64,
    /// Bytes of the output without its columns.
    pub(super) rest: f64,
    /// Reserve on expected sizes, as a share, because samples are not exact. Unchanged columns need none.
    margin: f64,
    /// Corrections from earlier rewrites, on the costs of changed columns.
    pub correction: Correction,
}

impl Space {
    pub fn new(
        stats: &FileStats,
        measured: &Measured,
        access: &Access,
        options: Vec<ClusterOption>,
        (weights, today): (Weights, &Cost),
        margin: f64,
    ) -> Self {
        let choices = options.iter().map(|option| choices(stats, measured, access, option)).collect();
        let utility = weights.utility(today);
        Self {
            options,
            tops: TopColumns::new(stats),
            choices,
            known: HashSet::new(),
            only_known: false,
            weights,
            utility,
            today: today.read,
            rest: stats.rest(),
            margin,
            correction: Correction::default(),
        }
    }

    /// Whether a pick leaves a column as it is.
    pub(super) fn keeps(&self, option: usize, pick: &Pick) -> bool {
        let clusters_stay = self.options.get(option).is_none_or(|option| option.size.is_none());
        clusters_stay && pick.codec.is_none() && pick.basket.is_none()
    }

    /// The cost of a pick, corrected if the pick changes anything.
    fn corrected(&self, option: usize, (pick, cost): &(Pick, Cost)) -> Cost {
        let Correction { size, read } = self.correction;
        match self.keeps(option, pick) {
            true => *cost,
            false => Cost {
                size: cost.size * size,
                read_bytes: cost.read_bytes * size,
                read: cost.read * read,
                fetch: cost.fetch * read,
                decompress: cost.decompress * read,
                decode: cost.decode * read,
                ..*cost
            },
        }
    }

    /// Whether a choice leaves every column as it is.
    pub fn is_today(&self, chosen: &Chosen) -> bool {
        let recast = self.tops.chosen(&chosen.forms).next().is_some();
        !recast && chosen.picks.iter().flatten().all(|pick| self.keeps(chosen.option, pick))
    }

    /// The choice, or today's layout if that is within the limits and the choice gains less than the accuracy of the
    /// models, or if there is no choice.
    pub fn or_today(
        &self,
        decision: Result<Chosen, Infeasible>,
        stats: &FileStats,
        costs: &[Cost],
        total: &Cost,
        limits: &Limits,
    ) -> Result<Chosen, Infeasible> {
        // Today's records are copied: their compression is paid.
        let total = Cost { write: 0.0, ..*total };
        let uses = [total.size, total.write, total.read_memory, total.write_memory, total.read];
        let are_enough = self.options.first().is_some_and(|today| today.are_enough);
        let fits = are_enough && uses.iter().zip(limits.array()).all(|(used, limit)| *used <= limit);
        let mut by_unit = vec![Cost::default(); stats.units.len()];
        for (column, cost) in stats.columns.iter().zip(costs) {
            if let Some(sum) = by_unit.get_mut(column.unit) {
                *sum += Cost { write: 0.0, ..*cost };
            }
        }
        // The objective covers columns alone; other changes of size by a rewrite count as well.
        let besides = Cost { size: stats.rest() - self.rest, ..Cost::default() };
        let objective = by_unit.iter().chain([&besides]).map(|cost| value(self.utility, cost)).sum::<f64>();
        let is_better = |chosen: &Chosen| {
            self.tops.chosen(&chosen.forms).next().is_some() || chosen.objective < LEAST_GAIN * objective
        };
        if !fits || decision.as_ref().is_ok_and(is_better) {
            return decision;
        }
        let forms = self.tops.as_is();
        let keep = |unit| self.tops.is_active(unit, &forms).then_some(Pick { codec: None, basket: None });
        let picks = (0..stats.units.len()).map(keep).collect();
        let gap = decision.map_or(0.0, |chosen| chosen.gap);
        Ok(Chosen { option: 0, forms, picks, costs: by_unit, total, reserved: total.size, objective, gap })
    }

    /// The expectations of a choice that acceptance compares with measurements.
    pub fn expected(&self, chosen: &Chosen, today: &Cost) -> Expected {
        let mut expected = Expected {
            size: chosen.total.size,
            size_kept: self.rest,
            read: chosen.total.read,
            read_kept: 0.0,
            read_today: today.read,
        };
        let picks = chosen.picks.iter().zip(&chosen.costs);
        for (_, cost) in picks.filter(|(pick, _)| pick.is_some_and(|pick| self.keeps(chosen.option, &pick))) {
            expected.size_kept += cost.size;
            expected.read_kept += cost.read;
        }
        expected
    }

    /// The best choice within limits; or, for each limit that prevents one, the nearest value that would allow one.
    ///
    /// # Errors
    ///
    /// No choice is within the limits.
    pub fn decide(&self, limits: &Limits) -> Result<Chosen, Infeasible> {
        let chosen = self.decide_by(self.utility, limits);
        match &chosen {
            // Without a limit on reading, a file that reads slower than today's is never chosen, however small it is.
            Ok(slower) if slower.total.read > self.today && limits.read.is_infinite() => {
                let fastest = self.decide_by(Utility::READING, limits).ok();
                fastest.filter(|fastest| fastest.total.read <= self.today).map_or(chosen, Ok)
            }
            _ => chosen,
        }
    }

    /// The smallest file that there can be, whatever its size.
    pub(super) fn smallest(&self, limits: &Limits) -> Result<Chosen, Infeasible> {
        self.decide_by(Utility::SIZE, &Limits { size: f64::INFINITY, ..*limits })
    }

    pub(super) fn decide_by(&self, utility: Utility, limits: &Limits) -> Result<Chosen, Infeasible> {
        let all = || 0..self.options.len();
        self.tops.search(&|cost| value(utility, cost), &|forms| self.among(all(), forms, limits, utility))
    }

    /// The choice that reads fastest under one clustering, with these forms of columns.
    pub fn fastest(&self, option: usize, forms: &Forms, limits: &Limits) -> Result<Chosen, Infeasible> {
        self.among(std::iter::once(option), forms, &Limits { read: f64::INFINITY, ..*limits }, Utility::READING)
    }

    /// The same as [`Self::decide`], among some of the clusterings and with these forms of columns.
    pub fn decide_among(
        &self,
        among: impl Iterator<Item = usize>,
        forms: &Forms,
        limits: &Limits,
    ) -> Result<Chosen, Infeasible> {
        self.among(among, forms, limits, self.utility)
    }

    fn among(
        &self,
        among: impl Iterator<Item = usize>,
        forms: &Forms,
        limits: &Limits,
        utility: Utility,
    ) -> Result<Chosen, Infeasible> {
        let mut best: Option<Chosen> = None;
        let mut refused: Vec<Infeasible> = Vec::new();
        for option in among.filter(|&option| self.options.get(option).is_some_and(|option| option.are_enough)) {
            match self.solve(option, forms, limits, utility) {
                Ok(chosen) if best.as_ref().is_none_or(|b| better(&chosen, b)) => best = Some(chosen),
                Ok(_) => {}
                Err(infeasible) => refused.push(infeasible),
            }
        }
        best.ok_or_else(|| nearest_of(refused, self.rest))
    }

    fn solve(&self, option: usize, forms: &Forms, limits: &Limits, utility: Utility) -> Result<Chosen, Infeasible> {
        let units = self.choices.get(option).map(Vec::as_slice).unwrap_or_default();
        let choice = |unit: usize, found: &(Pick, Cost)| {
            let (pick, c) = (found.0, self.corrected(option, found));
            let exact = pick.codec.is_none() || self.known.contains(&(option, unit, pick));
            let spare = if exact { 1.0 } else { 1.0 + self.margin };
            Choice { cost: value(utility, &c), uses: [c.size * spare, c.write, c.read_memory, c.write_memory, c.read] }
        };
        let active = |unit: usize| self.tops.is_active(unit, forms);
        // Sizes of tried choices are exact; untried ones may fail again.
        let certain: Vec<Choices>;
        let units = if self.only_known {
            let is_known = |unit: usize, pick: Pick| self.known.contains(&(option, unit, pick));
            let of = |(number, all): (usize, &Choices)| -> Choices {
                let any = all.iter().any(|(pick, _)| is_known(number, *pick));
                all.iter().filter(|(pick, _)| !any || is_known(number, *pick)).copied().collect()
            };
            certain = units.iter().enumerate().map(of).collect();
            certain.as_slice()
        } else {
            units
        };
        let group = |(number, unit): (usize, &Choices)| match active(number) {
            true => unit.iter().map(|one| choice(number, one)).collect(),
            // A unit of another form costs nothing and uses nothing.
            false => vec![Choice::default()],
        };
        let groups = units.iter().enumerate().map(group).collect();
        let mut array = limits.array();
        array[0] -= self.rest;
        // A measured correction leaves no doubt to allow for.
        array[4] = if self.correction.read > 1.0 { limits.read } else { limits.expected_read() };
        let solution = Problem { groups, limits: array }.solve()?;
        let gap = solution.gap();
        let mut chosen = Chosen {
            option,
            forms: forms.clone(),
            picks: Vec::with_capacity(units.len()),
            costs: Vec::with_capacity(units.len()),
            total: Cost { size: self.rest, ..Cost::default() },
            reserved: solution.uses[0] + self.rest,
            objective: solution.cost,
            gap,
        };
        for (number, (unit, pick)) in units.iter().zip(solution.picks).enumerate() {
            let found = unit.get(pick).filter(|_| active(number)).copied();
            let cost = found.map_or_else(Cost::default, |found| self.corrected(option, &found));
            chosen.picks.push(found.map(|(pick, _)| pick));
            chosen.costs.push(cost);
            chosen.total += cost;
        }
        Ok(chosen)
    }
}

/// The objective of the solver.
fn value(utility: Utility, cost: &Cost) -> f64 {
    utility.of_cost(cost)
}

/// Another clustering is preferred to an earlier one only if it is better by more than the noise of measuring. The
/// first clustering is today's.
fn better(a: &Chosen, b: &Chosen) -> bool {
    a.objective < b.objective * 0.99
}

/// The nearest limits that would do, over all clusterings.
fn nearest_of(refused: Vec<Infeasible>, rest: f64) -> Infeasible {
    let with_rest = |(r, value): (usize, Option<f64>)| (r, value.map(|v| if r == 0 { v + rest } else { v }));
    Infeasible::of_any(
        refused.into_iter().map(|one| Infeasible { nearest: one.nearest.into_iter().map(with_rest).collect() }),
    )
}

/// Seconds to fetch and decompress every column once.
pub(crate) fn read_all(stats: &FileStats, measured: &Measured, access: &Access) -> f64 {
    read_once(stats, measured, access, &|_| true, &|_| false)
}

/// Seconds to fetch every column once, to decompress some, and to decode the elements of some.
fn read_once(
    stats: &FileStats,
    measured: &Measured,
    access: &Access,
    unpacked: &dyn Fn(&Column) -> bool,
    decoded: &dyn Fn(&Column) -> bool,
) -> f64 {
    let once = |(column, cost): (&Column, &ColumnCost)| {
        let (unpack, elements) = cost.unpacking(column);
        let unpack = if unpacked(column) { unpack } else { 0.0 };
        let decode = if decoded(column) { elements } else { 0.0 };
        column.count() * access.per_basket + column.on_disk() * access.per_byte + unpack + decode
    };
    stats.columns.iter().zip(&measured.columns).filter(|(column, _)| column.recast.is_none()).map(once).sum()
}

/// Seconds of a rewrite into a choice: metadata are read and written, baskets fetched, changed baskets
/// decompressed and compressed, and all written at the cost of fetching.
pub(crate) fn rewriting(
    stats: &FileStats,
    measured: &Measured,
    access: &Access,
    option: Option<&ClusterOption>,
    chosen: &Chosen,
) -> f64 {
    let regrouped = option.is_some_and(|option| option.size.is_some());
    // Pages are made anew for all columns or for none.
    let anew = option.is_some_and(|option| makes_anew(stats, &measured.codecs, option, &chosen.picks));
    let is_anew = |column: &Column| anew && column.pages.is_some();
    let changes = |column: &Column| {
        let pick = chosen.picks.get(column.unit).copied().flatten();
        regrouped || is_anew(column) || pick.is_none_or(|pick| pick.codec.is_some() || pick.basket.is_some())
    };
    let Cost { write, size, baskets, .. } = chosen.total;
    let written = write + size * access.per_written + baskets * access.per_basket;
    let made = if anew { new_pages(stats, measured, access, chosen) } else { proving(stats, measured, access) };
    2.0 * stats.metadata + read_once(stats, measured, access, &changes, &is_anew) + written + made
}

/// Seconds to prove the ends of collections of RNTuples, before pages are moved: they are read for this, whether they change or not.
fn proving(stats: &FileStats, measured: &Measured, access: &Access) -> f64 {
    let of = |(column, cost): (&Column, &ColumnCost)| {
        let (unpack, elements) = cost.unpacking(column);
        column.count() * access.per_basket + column.on_disk() * access.per_byte + unpack + elements
    };
    stats.columns.iter().zip(&measured.columns).filter(|(column, _)| column.has_ends()).map(of).sum()
}

/// Seconds to make arrays of the elements of RNTuples, and elements of these, which are encoded, and to compress those of columns that
/// stay. All fields are read and written once in each cluster.
fn new_pages(stats: &FileStats, measured: &Measured, access: &Access, chosen: &Chosen) -> f64 {
    let of = |(column, cost): (&Column, &ColumnCost)| {
        let codec = chosen.picks.get(column.unit).copied().flatten().and_then(|pick| pick.codec);
        let own = || measured.codecs.iter().position(|codec| *codec == column.packing());
        let encode = codec
            .or_else(own)
            .and_then(|k| *cost.codecs.get(k)?)
            .map_or(0.0, |codec| codec.encode.of(column.count(), column.raw));
        let arrays = 2.0 * (cost.decode.line.of(0.0, column.raw) + access.per_column);
        let in_memory = column.raw * column.pages.as_ref().map_or(1.0, PageColumn::in_memory);
        let arrays = arrays + COPIES * in_memory * access.per_copied;
        // The least bits are known when all values were read, which are then read again.
        let is_exact = codec.and_then(|k| measured.codecs.get(k)).is_some_and(Packing::is_exact);
        let (unpack, elements) = if is_exact { cost.unpacking(column) } else { (0.0, 0.0) };
        let arrays = arrays + unpack + elements + if is_exact { cost.decode.line.of(0.0, column.raw) } else { 0.0 };
        arrays + encode + if codec.is_none() { again(measured, column, cost) } else { 0.0 }
    };
    stats.columns.iter().zip(&measured.columns).filter(|(column, _)| column.pages.is_some()).map(of).sum()
}

/// Seconds to compress a column as it is.
fn again(measured: &Measured, column: &Column, cost: &ColumnCost) -> f64 {
    let codec = measured.codecs.iter().position(|c| *c == column.packing());
    let codec = codec.and_then(|k| *cost.codecs.get(k)?).or_else(|| cost.codecs.iter().flatten().last().copied());
    codec.map_or(0.0, |c| c.pack.of(column.count(), column.raw))
}

/// The present cost of each column, and of all together. The write time is that of writing it again.
pub(crate) fn today(
    stats: &FileStats,
    measured: &Measured,
    access: &Access,
    keep: &ClusterOption,
) -> (Vec<Cost>, Cost) {
    let mut total = Cost { size: stats.rest(), ..Cost::default() };
    let mut costs = Vec::with_capacity(stats.columns.len());
    for (i, column) in stats.columns.iter().enumerate() {
        let (Some(clusters), Some(cost)) = (keep.trees.get(column.tree), measured.columns.get(i)) else { continue };
        if column.recast.is_some() {
            costs.push(Cost::default());
            continue;
        }
        let mut now = model::today(column, cost, access, clusters);
        now.write = again(measured, column, cost);
        total += now;
        costs.push(now);
    }
    (costs, total)
}
