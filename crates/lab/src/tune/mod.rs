//! Tune: measures candidates, decides for a workload within limits, explains, and with an output proves it.
//!
//! [`tune`] is the whole way: costs from [`crate::cost`], choices from [`candidates`], the choice by
//! [`crate::solve`] in [`decide`], and the [`report`]. [`prove`] rewrites and measures what came of it.

mod candidates;
mod compare;
mod decide;
mod deliver;
mod explain;
mod forms;
mod layout;
mod limits;
mod outlook;
mod prove;
pub mod reader;
pub mod report;
mod settle;
mod subject;
#[cfg(test)]
mod tests;

use std::path::Path;

use dataset::layout::{Compression, Layout};
use flow::Budget;
use rootfile::{Error, Result};

use crate::cost::confirm::{Confirmed, Finalist};
use crate::cost::facts::{Column, Facts};
use crate::cost::measure::{self, Measured};
use crate::cost::model::Cost;
use crate::cost::{Allowance, Bench, Codecs, Demand, InPlace, calibrate, process_seconds};
use crate::solve::Infeasible;
use candidates::{ClusterOption, cluster_options};
use decide::{Chosen, LIMIT_NAMES, Limits, Space};
use deliver::{Correction, Expected};
use report::{Figures, FrontPoint, LimitReport, Loosened, Measuring, Nearest, Report, SCHEMA};

pub use crate::cost::{Access, Workload};
pub use limits::Limit;
pub(crate) use outlook::{Outlook, outlook};
pub use prove::prove;
pub use reader::Reader;
pub use subject::Subject;

/// Sizes are met with something to spare, since what samples say of a file is not exact: one and a half times the
/// error that a second look suggests, and at least and at most these shares.
const SIZE_MARGIN: (f64, f64) = (0.005, 0.03);
/// What is kept to spare before the second look.
const FIRST_MARGIN: f64 = 0.01;
/// The least memory that a reader may take where nothing is asked; else it is this times today's.
pub(crate) const READ_MEMORY: (f64, f64) = (256e6, 1.5);
/// Second looks at most, and the share of new bytes in one that makes another worth it.
const ROUNDS: u64 = 3;
const WORTH_A_ROUND: f64 = 0.05;
/// The report takes about so many times what deciding once takes.
const REPORT: f64 = 4.0;
/// Points of the front.
const FRONT: u32 = 10;
/// A limit is binding if the choice comes so near to it.
const NEAR: f64 = 0.985;
/// Below this share of a limit more of it is not asked for.
const SHORT: f64 = 0.9;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What the file will be read for.
    pub workload: Workload,
    /// The most bytes that the file may have; today's if nothing is said.
    pub max_size: Option<Limit>,
    /// The most memory that a reader of all columns may need.
    pub max_read_memory: Option<Limit>,
    /// The most seconds that compression may take.
    pub max_write_time: Option<Limit>,
    /// The most memory that a writer of all columns may need.
    pub memory: u64,
    /// Seed of the samples.
    pub seed: u64,
    /// Only this tree, by its path.
    pub tree: Option<String>,
    /// Whether columns of objects may be split or streamed otherwise.
    pub recode: bool,
    /// The program that will read the file; none: basketry.
    pub reader: Option<Reader>,
}

/// What was decided.
pub struct Tuned {
    /// All there is to say.
    pub report: Report,
    /// The chosen layout, if the limits can be met.
    pub layout: Option<Layout>,
    /// What the choice was made from, for the next choice if this one does not hold.
    decider: Decider,
}

/// What a choice is made from.
struct Decider {
    facts: Facts,
    search: Search,
    access: Access,
    options: Options,
}

/// Measures a file's columns and decides on a layout. Limits that cannot be met are an answer, not an error. Before it
/// measures `announce` is told how many CPU seconds that may take.
pub fn tune(input: &Path, options: &Options, announce: &dyn Fn(f64)) -> Result<Tuned> {
    tune_with(input, options, announce, &mut Codecs::default())
}

fn tune_with(input: &Path, options: &Options, announce: &dyn Fn(f64), bench: &mut dyn Bench) -> Result<Tuned> {
    let start = process_seconds();
    let mut facts = options.facts(input)?;
    facts.within(options.memory);
    let allowance = Allowance::new(start, 1e-9 * measure::nominal_rewrite(&facts.columns));
    announce(allowance.seconds());
    let basket = facts.columns.iter().filter(|c| c.can_sample).find_map(|c| c.written().next());
    let basket =
        basket.ok_or_else(|| Error::request("none of its baskets lie in this file: nothing to measure").file(input))?;
    // Baskets in other files are nothing to read here, but what lies here can still be decided.
    let mut in_place = InPlace::measure(&facts, options.budget()).unwrap_or_default();
    let access = calibrate(&**facts.file.source(), (basket.seek, basket.nbytes as usize), in_place.per_column())?;
    let own = main_codec(&facts);
    if options.recode {
        facts.recast(&options.workload, options.budget(), &mut in_place)?;
    }
    let mut codecs = codecs_for(own);
    let mut search = Search::new(&facts, options, (access, &in_place), (&codecs, own), &allowance, bench)?;
    let mut trials = search.settle(&facts, options, access, &search.keeping(allowance))?;
    if search.decision.as_ref().is_err_and(|i| i.nearest.is_empty() || i.nearest.iter().any(|(r, _)| *r == 0)) {
        codecs.extend(measure::last_resorts().into_iter().filter(|c| *c != own));
        search = Search::new(&facts, options, (access, &in_place), (&codecs, own), &allowance, bench)?;
        trials += search.settle(&facts, options, access, &search.keeping(allowance))?;
    }
    let decider = Decider { facts, search, access, options: options.clone() };
    let (mut report, layout) = decider.report(input)?;
    report.measuring.trials = trials;
    report.measuring.cpu_seconds = allowance.used();
    report.measuring.allowed = allowance.seconds();
    Ok(Tuned { report, layout, decider })
}

impl Decider {
    /// All there is to say before anything is written, and the layout.
    fn report(&self, input: &Path) -> Result<(Report, Option<Layout>)> {
        let Self { facts, access, options, .. } = self;
        let Search { measured, confirmed, space, now, limits, decision, .. } = &self.search;
        let (theirs, reading) = self.search.reading(*access);
        let mut report = Report {
            schema: SCHEMA,
            input: input.display().to_string(),
            files: 1,
            measured_files: 1,
            workload: options.workload.to_string(),
            reader: options.reader.as_ref().map_or_else(reader::ReaderReport::ours, Reader::report),
            measuring: measuring(facts, measured, confirmed, reading, options.seed),
            limits: limit_reports(options, limits, decision),
            today: figures(now.1, space.options.first()),
            read_all: decide::read_all(facts, theirs, &reading),
            rewrite: 0.0,
            chosen: None,
            gap: 0.0,
            groups: Vec::new(),
            recasts: Vec::new(),
            why: Vec::new(),
            front: Vec::new(),
            sensitivity: Vec::new(),
            layout: None,
            unchanged: false,
            attempts: Vec::new(),
            delivered: None,
            verdict: String::new(),
            proof: None,
        };
        let Ok(chosen) = decision else { return Ok((report, None)) };
        let option = space.options.get(chosen.option);
        let figures = figures(chosen.total, option);
        report.rewrite = decide::rewriting(facts, measured, access, (option, chosen));
        report.gap = chosen.gap;
        report.groups = explain::groups(facts, &measured.codecs, &now.0, (&space.tops, chosen));
        report.recasts = explain::recasts(facts, &now.0, (&space.tops, chosen));
        let clusters = (report.today.clusters, figures.clusters);
        report.why = explain::sentences(facts, &report.groups, &now.1, chosen, clusters);
        report.why.extend(explain::recast_sentences(facts, &report.recasts, figures.clusters, options.recode));
        report.chosen = Some(figures);
        report.front = front(space, chosen, limits);
        report.sensitivity = sensitivity(space, chosen, limits);
        report.unchanged = space.is_today(chosen);
        let Some(option) = option else { return Ok((report, None)) };
        let recasts = &mut space.tops.chosen(&chosen.forms);
        let layout = layout::layout(facts, &measured.codecs, option, (&chosen.picks, recasts))?;
        report.layout = Some(layout.to_toml()?);
        Ok((report, Some(layout)))
    }

    /// What a delivery has to know of the choice. None if there is no choice, or it changes nothing.
    fn expected(&self) -> Option<Expected> {
        let Search { space, now, decision, .. } = &self.search;
        let chosen = decision.as_ref().ok().filter(|chosen| !space.is_today(chosen))?;
        Some(space.expected(chosen, &now.1))
    }

    /// Makes the choice anew with corrected costs.
    fn choose(&mut self, correction: Correction) {
        self.search.space.correction = correction;
        let Search { space, limits, now, .. } = &self.search;
        let chosen = space.decide(limits);
        self.search.decision = space.or_today(chosen, &self.facts, (&now.0, &now.1), limits);
    }
}

/// The way to a decision: samples, a choice, a second look at what was chosen, and the choice anew.
struct Search {
    measured: Measured,
    /// The costs of reading by another program, if one will read the file.
    theirs: Option<(Measured, Access)>,
    confirmed: Confirmed,
    space: Space,
    now: (Vec<Cost>, Cost),
    limits: Limits,
    decision: std::result::Result<Chosen, Infeasible>,
    /// CPU seconds that deciding took.
    deciding: f64,
}

impl Search {
    fn new(
        facts: &Facts,
        options: &Options,
        (access, in_place): (Access, &InPlace),
        (codecs, own): (&[Compression], Compression),
        allowance: &Allowance,
        bench: &mut dyn Bench,
    ) -> Result<Self> {
        let mut measured = measure::measure(facts, codecs, own, (options.seed, allowance), bench)?;
        in_place.correct(facts, &access, &mut measured.columns);
        let mut search = Self::decide(facts, options, access, measured, FIRST_MARGIN)?;
        let mut last = 0.0;
        for round in 1..=ROUNDS {
            let Ok(chosen) = &search.decision else { break };
            if search.is_quick(facts, access) || !search.keeping(*allowance).allows(last) {
                break;
            }
            let begun = process_seconds();
            let finalists = finalists(facts, chosen);
            let Self { mut measured, mut confirmed, .. } = search;
            let new = confirmed.round(facts, &mut measured, &finalists, options.seed.wrapping_add(round), bench)?;
            let margin = (1.5 * confirmed.error()).clamp(SIZE_MARGIN.0, SIZE_MARGIN.1);
            search = Self { confirmed, ..Self::decide(facts, options, access, measured, margin)? };
            if new < WORTH_A_ROUND {
                break;
            }
            last = process_seconds() - begun;
        }
        Ok(search)
    }

    fn decide(facts: &Facts, options: &Options, access: Access, measured: Measured, margin: f64) -> Result<Self> {
        let begun = process_seconds();
        let clusterings = cluster_options(facts);
        let theirs = options.reader.as_ref();
        let theirs = theirs.map(|reader| reader::expect::expected(reader.profile(), facts, &measured));
        let (seen, reading) = theirs.as_ref().map_or((&measured, access), |(seen, reading)| (seen, *reading));
        let now = today(facts, seen, &reading, &clusterings)?;
        let limits = options.limits(&now.1);
        let space = Space::new(facts, seen, &reading, clusterings, (&now.1, margin));
        let decision = space.decide(&limits);
        let deciding = process_seconds() - begun;
        Ok(Self { theirs, measured, confirmed: Confirmed::default(), space, now, limits, decision, deciding })
    }

    /// What may be used before the report, which decides again for each point of the front and each looser limit.
    fn keeping(&self, allowance: Allowance) -> Allowance {
        allowance.keeping(REPORT * self.deciding)
    }

    /// What reading costs whoever will read the file; `access` is what it costs basketry.
    fn reading(&self, access: Access) -> (&Measured, Access) {
        self.theirs.as_ref().map_or((&self.measured, access), |(seen, reading)| (seen, *reading))
    }
}

/// What is chosen for each column that does not stay as it is.
fn finalists(facts: &Facts, chosen: &Chosen) -> Vec<Finalist> {
    let finalist = |(i, column): (usize, &Column)| {
        let codec = chosen.picks.get(column.unit).copied().flatten()?.codec?;
        // Columns of one unit share the number of baskets by their entries; most units are one column.
        let baskets = chosen.costs.get(column.unit)?.baskets.max(1.0);
        Some(Finalist { column: i, codec, basket: column.raw / baskets })
    };
    facts.columns.iter().enumerate().filter_map(finalist).collect()
}

fn today(facts: &Facts, measured: &Measured, access: &Access, options: &[ClusterOption]) -> Result<(Vec<Cost>, Cost)> {
    let keep = options.first().ok_or_else(|| Error::request("a file without clusters"))?;
    Ok(decide::today(facts, measured, access, keep))
}

/// Codecs that are tried for a file whose bytes mostly have `own`.
fn codecs_for(own: Compression) -> Vec<Compression> {
    let mut codecs = measure::candidates();
    if !codecs.contains(&own) {
        codecs.push(own);
    }
    codecs
}

/// The codec of most bytes.
fn main_codec(facts: &Facts) -> Compression {
    let mut bytes: Vec<(Compression, f64)> = Vec::new();
    for column in facts.now() {
        match bytes.iter_mut().find(|(c, _)| *c == column.compression) {
            Some((_, sum)) => *sum += column.raw,
            None => bytes.push((column.compression, column.raw)),
        }
    }
    bytes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(Compression::NONE, |(codec, _)| codec)
}

impl Options {
    /// The metadata of a file, with what the workload asks of its columns.
    fn facts(&self, input: &Path) -> Result<Facts> {
        let Some(reader) = &self.reader else { return Facts::read(input, self.tree.as_deref(), &self.workload) };
        reader.check(&self.workload)?;
        Facts::of(input, self.tree.as_deref(), &|tree, lineage, plan| {
            let is_read = plan.is_some() || reader.reads_all();
            Some(if is_read { self.workload.demand(tree, lineage) } else { Demand::default() })
        })
    }

    fn budget(&self) -> Budget {
        Budget::new(self.memory, 1)
    }

    fn limits(&self, today: &Cost) -> Limits {
        let size = self.max_size.unwrap_or(Limit::Times(1.0)).of(today.size);
        let read_memory = self
            .max_read_memory
            .map_or((READ_MEMORY.1 * today.read_memory).max(READ_MEMORY.0), |l| l.of(today.read_memory));
        Limits {
            size,
            write: self.max_write_time.map_or(f64::INFINITY, |l| l.of(today.write)),
            read_memory,
            write_memory: crate::cost::facts::as_f64(self.memory),
        }
    }
}

fn measuring(facts: &Facts, measured: &Measured, confirmed: &Confirmed, access: Access, seed: u64) -> Measuring {
    let text = |codecs: &[Compression]| codecs.iter().map(ToString::to_string).collect();
    Measuring {
        seed,
        cpu_seconds: 0.0,
        allowed: 0.0,
        trials: 0,
        metadata: facts.metadata,
        sampled_bytes: measured.sampled + confirmed.sampled,
        sampled_share: (measured.sampled + confirmed.sampled) / facts.now().map(|c| c.raw).sum::<f64>().max(1.0),
        columns: facts.now().count(),
        sampled_columns: (facts.columns.iter().zip(&measured.columns))
            .filter(|(column, cost)| column.recast.is_none() && cost.sampled > 0.0)
            .count(),
        codecs: text(&measured.codecs),
        dropped: text(&measured.dropped),
        access,
        optimism: if confirmed.found > 0.0 { 1.0 - confirmed.expected / confirmed.found } else { 0.0 },
    }
}

fn figures(cost: Cost, option: Option<&ClusterOption>) -> Figures {
    let clusters = option.map_or(0.0, |o| o.trees.iter().map(|t| t.count).sum());
    Figures { cost, clusters, cluster_bytes: option.and_then(|o| o.size) }
}

fn limit_reports(
    options: &Options,
    limits: &Limits,
    decision: &std::result::Result<Chosen, Infeasible>,
) -> Vec<LimitReport> {
    let defaults =
        [options.max_size.is_none(), options.max_write_time.is_none(), options.max_read_memory.is_none(), false];
    let used = decision.as_ref().ok().map(|c| [c.reserved, c.total.write, c.total.read_memory, c.total.write_memory]);
    let mut reports = Vec::new();
    for (r, (name, value)) in LIMIT_NAMES.into_iter().zip(limits.array()).enumerate() {
        let nearest = decision.as_ref().err().and_then(|i| i.nearest.iter().find(|(n, _)| *n == r));
        // A second look at what would be chosen then may ask for more to spare.
        let spare = if r == 0 { 1.0 + SIZE_MARGIN.1 } else { 1.0 };
        if value.is_finite() {
            reports.push(LimitReport {
                name,
                value,
                is_default: defaults[r],
                binding: used.is_some_and(|u| u[r] > NEAR * value),
                nearest: nearest.map(|(_, v)| Nearest { value: v.map(|v| v * spare) }),
            });
        }
    }
    reports
}

/// Best reading times by size, with columns in the forms that were chosen, from the smallest that can be to where more size gains nothing.
fn front(space: &Space, chosen: &Chosen, limits: &Limits) -> Vec<FrontPoint> {
    let among = || std::iter::once(chosen.option);
    let free = Limits { size: f64::INFINITY, ..*limits };
    let smallest = match space.decide_among(among(), &chosen.forms, &Limits { size: 0.0, ..*limits }) {
        Err(Infeasible { nearest }) => nearest.into_iter().find(|(r, _)| *r == 0).and_then(|(_, v)| v),
        Ok(_) => None,
    };
    let Some((smallest, largest)) =
        smallest.zip(space.decide_among(among(), &chosen.forms, &free).ok().map(|c| c.total.size))
    else {
        return Vec::new();
    };
    let step = |i: u32| smallest * 1.0001 + (largest - smallest).max(0.0) * f64::from(i) / f64::from(FRONT);
    let mut points: Vec<FrontPoint> = (0..=FRONT)
        .filter_map(|i| space.decide_among(among(), &chosen.forms, &Limits { size: step(i), ..*limits }).ok())
        .chain([chosen.clone()])
        .map(|c| FrontPoint { size: c.total.size, read: c.total.read, write: c.total.write })
        .collect();
    points.sort_by(|a, b| a.size.total_cmp(&b.size).then(a.read.total_cmp(&b.read)));
    let mut best = f64::INFINITY;
    points.retain(|p| {
        let better = p.read < best;
        best = best.min(p.read);
        better
    });
    points
}

/// What a little more of each, or no limit at all, would buy, with columns in the forms that were chosen.
fn sensitivity(space: &Space, chosen: &Chosen, limits: &Limits) -> Vec<Loosened> {
    let size =
        |factor: f64| ("--max-size", Limits { size: limits.size * factor, ..*limits }, Some(limits.size * factor));
    let mut asked = vec![size(1.05), size(1.25)];
    asked.push(("--max-size", Limits { size: f64::INFINITY, ..*limits }, None));
    let memory = limits.read_memory * 2.0;
    asked.push(("--max-read-memory", Limits { read_memory: memory, ..*limits }, Some(memory)));
    let memory = limits.write_memory * 2.0;
    asked.push(("--memory", Limits { write_memory: memory, ..*limits }, Some(memory)));
    if limits.write.is_finite() {
        asked.push(("--max-write-time", Limits { write: limits.write * 2.0, ..*limits }, Some(limits.write * 2.0)));
    }
    // What is not used up gains nothing when there is more of it.
    let (limit, used) =
        (limits.array(), [chosen.reserved, chosen.total.write, chosen.total.read_memory, chosen.total.write_memory]);
    let is_short = |limits: &Limits| {
        limits
            .array()
            .iter()
            .zip(limit.iter().zip(used))
            .any(|(more, (limit, used))| more > limit && used > SHORT * limit)
    };
    asked.retain(|(_, limits, _)| is_short(limits));
    let loosened = |(name, limits, value): (&'static str, Limits, Option<f64>)| {
        let found = space.decide_among(0..space.options.len(), &chosen.forms, &limits).ok()?;
        // Less than a per cent is nothing to offer.
        (found.objective < 0.995 * chosen.objective && found.total.read < 0.99 * chosen.total.read)
            .then_some(Loosened { name, value, size: found.total.size, read: found.total.read })
    };
    asked.into_iter().filter_map(loosened).collect()
}
