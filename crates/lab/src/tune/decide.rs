//! The decision: for each size of clusters the best choice over columns, and of these the best.

use crate::cost::Worth;
use crate::cost::facts::{Column, Facts};
use crate::cost::measure::{ColumnCost, Measured};
use crate::cost::model::{self, Cost};
use crate::solve::{Choice, Infeasible, Problem, RESOURCES};

use super::Access;
use super::candidates::{Choices, ClusterOption, Pick, choices};
use super::forms::{Forms, Tops};

/// Limits on the whole file, infinite where there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    pub size: f64,
    pub write: f64,
    pub read_memory: f64,
    pub write_memory: f64,
}

/// Names of the limits, in the order of the solver's resources, as options of the command.
pub(crate) const LIMIT_NAMES: [&str; RESOURCES] = ["--max-size", "--max-write-time", "--max-read-memory", "--memory"];

impl Limits {
    pub(crate) fn array(&self) -> [f64; RESOURCES] {
        [self.size, self.write, self.read_memory, self.write_memory]
    }
}

/// A choice for the whole file.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// Which clustering, by index.
    pub option: usize,
    /// The forms of the columns that may have several.
    pub forms: Forms,
    /// By unit; of those that are not in that form nothing is picked.
    pub picks: Vec<Option<Pick>>,
    /// By unit.
    pub costs: Vec<Cost>,
    /// All columns together.
    pub total: Cost,
    /// Bytes on disk with what is kept to spare.
    pub reserved: f64,
    /// What the solver made small.
    pub objective: f64,
    /// How much better another choice could be at most, by the costs that were measured.
    pub gap: f64,
}

/// Clusterings with the choices under each.
pub(crate) struct Space {
    pub options: Vec<ClusterOption>,
    pub tops: Tops,
    choices: Vec<Vec<Choices>>,
    worth: Worth,
    /// Bytes of the file that no choice changes.
    rest: f64,
    /// Share of expected sizes that is kept to spare: samples are not exact. What stays as it is needs none.
    margin: f64,
}

impl Space {
    pub fn new(
        facts: &Facts,
        measured: &Measured,
        access: &Access,
        options: Vec<ClusterOption>,
        (today, margin): (&Cost, f64),
    ) -> Self {
        let choices = options.iter().map(|option| choices(facts, measured, access, option)).collect();
        let worth = Worth::new(today.read, today.size);
        Self { options, tops: Tops::new(facts), choices, worth, rest: facts.rest(), margin }
    }

    /// The best choice within limits; or for each limit in the way, the nearest that would do.
    pub fn decide(&self, limits: &Limits) -> Result<Chosen, Infeasible> {
        self.tops.search(&|cost| self.value(cost), &|forms| self.decide_among(0..self.options.len(), forms, limits))
    }

    /// The same, among some of the clusterings and with these forms of columns.
    pub fn decide_among(
        &self,
        among: impl Iterator<Item = usize>,
        forms: &Forms,
        limits: &Limits,
    ) -> Result<Chosen, Infeasible> {
        let mut best: Option<Chosen> = None;
        let mut refused: Vec<Infeasible> = Vec::new();
        for option in among {
            match self.solve(option, forms, limits) {
                Ok(chosen) if best.as_ref().is_none_or(|b| better(&chosen, b)) => best = Some(chosen),
                Ok(_) => {}
                Err(infeasible) => refused.push(infeasible),
            }
        }
        best.ok_or_else(|| nearest_of(refused, self.rest))
    }

    /// What the solver makes small.
    fn value(&self, c: &Cost) -> f64 {
        self.worth.of(c.read, c.write, c.size)
    }

    fn solve(&self, option: usize, forms: &Forms, limits: &Limits) -> Result<Chosen, Infeasible> {
        let units = self.choices.get(option).map(Vec::as_slice).unwrap_or_default();
        let choice = |(pick, c): &(Pick, Cost)| {
            let spare = if pick.codec.is_some() { 1.0 + self.margin } else { 1.0 };
            Choice { cost: self.value(c), uses: [c.size * spare, c.write, c.read_memory, c.write_memory] }
        };
        let active = |unit: usize| self.tops.is_active(unit, forms);
        let group = |(number, unit): (usize, &Choices)| match active(number) {
            true => unit.iter().map(choice).collect(),
            // What is in another form costs nothing, and uses nothing.
            false => vec![Choice::default()],
        };
        let groups = units.iter().enumerate().map(group).collect();
        let mut array = limits.array();
        array[0] -= self.rest;
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
            let cost = found.map_or_else(Cost::default, |(_, cost)| cost);
            chosen.picks.push(found.map(|(pick, _)| pick));
            chosen.costs.push(cost);
            chosen.total += cost;
        }
        Ok(chosen)
    }
}

/// Another clustering must be better by more than the noise of measuring to be preferred to an earlier one, the
/// first of which is today's.
fn better(a: &Chosen, b: &Chosen) -> bool {
    a.objective < b.objective * 0.99
}

/// Of what clusterings said, the nearest limits that would do.
fn nearest_of(refused: Vec<Infeasible>, rest: f64) -> Infeasible {
    let mut nearest: [Option<Option<f64>>; RESOURCES] = [None; RESOURCES];
    for (r, value) in refused.into_iter().flat_map(|i| i.nearest) {
        let value = value.map(|v| if r == 0 { v + rest } else { v });
        if let Some(slot) = nearest.get_mut(r) {
            *slot = match (*slot, value) {
                (None, value) => Some(value),
                (Some(Some(a)), Some(b)) => Some(Some(a.min(b))),
                (Some(a), b) => Some(a.or(b)),
            };
        }
    }
    Infeasible { nearest: nearest.into_iter().enumerate().filter_map(|(r, n)| Some((r, n?))).collect() }
}

/// Seconds to fetch and decompress every column once.
pub(crate) fn read_all(facts: &Facts, measured: &Measured, access: &Access) -> f64 {
    read_once(facts, measured, access, &|_| true)
}

/// Seconds to fetch every column once, and to decompress some.
fn read_once(facts: &Facts, measured: &Measured, access: &Access, unpacked: &dyn Fn(&Column) -> bool) -> f64 {
    let once = |(column, cost): (&Column, &ColumnCost)| {
        let count = column.count();
        let unpack = if unpacked(column) { cost.today.of(count, column.raw) } else { 0.0 };
        count * access.per_basket + column.on_disk() * access.per_byte + unpack
    };
    facts.columns.iter().zip(&measured.columns).filter(|(column, _)| column.recast.is_none()).map(once).sum()
}

/// Seconds that a rewrite into a choice takes: metadata are read and written, baskets fetched, those that do not stay
/// unpacked and packed, and all written, where a byte is taken to cost what fetching it does.
pub(crate) fn rewriting(
    facts: &Facts,
    measured: &Measured,
    access: &Access,
    (option, chosen): (Option<&ClusterOption>, &Chosen),
) -> f64 {
    let regrouped = option.is_some_and(|option| option.size.is_some());
    let changes = |column: &Column| {
        let pick = chosen.picks.get(column.unit).copied().flatten();
        regrouped || pick.is_none_or(|pick| pick.codec.is_some() || pick.basket.is_some())
    };
    let Cost { write, size, baskets, .. } = chosen.total;
    let written = write + size * access.per_byte + baskets * access.per_basket;
    2.0 * facts.metadata + read_once(facts, measured, access, &changes) + written
}

/// What each column costs as it lies now, and all together. Its write time is what writing it anew would take.
pub(crate) fn today(facts: &Facts, measured: &Measured, access: &Access, keep: &ClusterOption) -> (Vec<Cost>, Cost) {
    let mut total = Cost { size: facts.rest(), ..Cost::default() };
    let mut costs = Vec::with_capacity(facts.columns.len());
    for (i, column) in facts.columns.iter().enumerate() {
        let (Some(clusters), Some(cost)) = (keep.trees.get(column.tree), measured.columns.get(i)) else { continue };
        if column.recast.is_some() {
            costs.push(Cost::default());
            continue;
        }
        let mut now = model::today(column, cost, access, clusters);
        let codec = measured.codecs.iter().position(|c| *c == column.compression);
        let codec = codec.and_then(|k| *cost.codecs.get(k)?).or_else(|| cost.codecs.iter().flatten().last().copied());
        now.write = codec.map_or(0.0, |c| c.pack.of(column.count(), column.raw));
        total += now;
        costs.push(now);
    }
    (costs, total)
}
