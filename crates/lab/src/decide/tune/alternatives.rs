//! The choices that a report offers beside its own: the smallest, the balanced and the fastest, and some between them. All come from
//! one set of measurements.
//!
//! Each is the best choice by other weights, so the best by any price lies on or near them. Limits that were asked for hold for all;
//! that no choice reads slower than today's layout is the default of the balanced one alone.

use rootfile::Result;

use super::choice::{Alternative, By, Chosen, Limits, SIZE_NOISE};
use super::containers::container_of;
use super::names::Name;
use super::report::{Choice, Figures};
use super::search::Search;
use super::tuned::{Decider, figures};
use super::{layout, reader};
use crate::cost::column::Column;
use crate::cost::model::Pieces;
use crate::cost::model::{self, Cost};
use crate::cost::page_counts::PageCounts;
use crate::cost::{Demand, Utility, Workload};
use crate::math::solve::Infeasible;
use crate::price::Usage;

/// The choices between: a second of reading at so many times its price.
const BETWEEN: [f64; 6] = [0.01, 0.1, 0.3, 3.0, 10.0, 100.0];
/// The workload of picked entries, and its share.
const PICKED: f64 = 0.01;

impl Decider {
    /// The decision and the other choices.
    pub(super) fn alternatives(&self) -> Vec<Alternative> {
        let Search { space, limits, now, decision, .. } = &self.search;
        let today = self.stats.compared(&now.1);
        let asked = &self.options;
        let priced = Utility::priced(asked.prices.rates());
        // Nothing but what was asked for limits reading.
        let free = Limits { read: if asked.max_read_time.is_some() { limits.read } else { f64::INFINITY }, ..*limits };
        let mut found: Vec<Alternative> = Vec::new();
        let mut add = |names: &[Name], chosen: Option<&Chosen>, by: Option<By>| {
            let Some(chosen) = chosen else { return };
            match found.iter_mut().find(|other| other.chosen.is_same(chosen)) {
                Some(other) => other.names.extend(names),
                None => {
                    let is_decision = by.is_none();
                    found.push(Alternative { names: names.to_vec(), chosen: chosen.clone(), by, is_decision });
                }
            }
        };
        let own = if asked.goal.is_balanced() { Name::Balanced } else { Name::Goal };
        let best: Vec<Name> = container_of(&self.stats).ok().map(Name::best).into_iter().chain([own]).rev().collect();
        add(&best, decision.as_ref().ok(), None);
        let by =
            |utility: Utility, limits: Limits| Some(By { utility, limits, may_be_slower: limits.read.is_infinite() });
        let no_limits = Limits::none();
        if self.conversion.is_none() {
            let as_is = Err(Infeasible { nearest: Vec::new() });
            let as_is = space.or_today(as_is, &self.stats, &now.0, &now.1, &no_limits);
            add(&[Name::Today], as_is.as_ref().ok(), by(priced, no_limits));
        }
        let mut decide = |names: &[Name], utility: Utility, limits: Limits| {
            add(names, space.decide_by(utility, &limits).as_ref().ok(), by(utility, limits));
        };
        decide(&[Name::Smallest], Utility::smallest(&today), free);
        decide(&[Name::Fastest], Utility::fastest(&today), free);
        if !asked.goal.is_balanced() {
            let read = asked.max_read_time.map_or(today.read, |limit| limit.of(today.read));
            decide(&[Name::Balanced], priced, Limits { read, ..*limits });
        }
        for factor in BETWEEN {
            decide(&[], priced.reading_times(factor), free);
        }
        name_the_best(&mut found, Name::Smallest, &free, |cost| cost.size);
        name_the_best(&mut found, Name::Fastest, &free, |cost| cost.read);
        if decision.is_ok() {
            let by = By { utility: space.utility, limits: *limits, may_be_slower: false };
            prefer_the_best(&mut found, by);
        }
        found
    }

    /// The present decision for the report, without its number and names.
    pub(super) fn chosen_row(&mut self) -> Result<Option<Choice>> {
        let Ok(chosen) = self.search.decision.clone() else { return Ok(None) };
        self.row(&Alternative { names: Vec::new(), chosen, by: self.by, is_decision: true }).map(Some)
    }

    /// The choice for the report, without its number.
    pub(super) fn row(&mut self, alternative: &Alternative) -> Result<Choice> {
        let Alternative { names, chosen, .. } = alternative;
        let [read_all, read_sparse] = self.other_readings(chosen);
        let Self { stats, access, options, conversion, .. } = self;
        let Search { measured, space, now, .. } = &self.search;
        let container = match conversion {
            Some(conversion) => conversion.container,
            None => container_of(stats)?,
        };
        let option = space.options.get(chosen.option);
        let is_today = conversion.is_none() && space.is_today(chosen);
        // What stays needs no compression now, but did once.
        let cost = if is_today { Cost { write: now.1.write, ..chosen.total } } else { chosen.total };
        let rewrite = self.search.rewriting(stats, *access, chosen);
        let recasts = &mut space.tops.chosen(&chosen.forms);
        let layout = match option.filter(|_| !is_today) {
            Some(option) => {
                let mut layout = layout::layout(stats, &measured.codecs, option, &chosen.picks, recasts)?;
                layout.common.container = conversion.as_ref().map(|conversion| conversion.container);
                Some(layout.to_toml()?)
            }
            None => None,
        };
        let share = conversion.as_ref().map_or(1.0, |conversion| conversion.share);
        let figures = figures(cost, option);
        let figures = conversion.as_ref().map_or(figures, |conversion| conversion.whole(figures));
        Ok(Choice {
            number: 0,
            names: names.clone(),
            container: container.to_string(),
            bill: options.prices.bill(&usage(&figures)),
            figures,
            read_all: read_all.map(|seconds| seconds / share),
            read_sparse: read_sparse.map(|seconds| seconds / share),
            rewrite: rewrite / share,
            layout,
            chosen: false,
        })
    }

    /// Seconds to read all, and one per cent of the entries, where the reader can.
    fn other_readings(&mut self, chosen: &Chosen) -> [Option<f64>; 2] {
        let own = self.modelled(chosen);
        // What trials and corrections taught of this workload holds for others.
        let known = if own > 0.0 { chosen.total.read / own } else { 1.0 };
        let all = Demand { full: 1.0, sparse: Vec::new() };
        let picked = Demand { full: 0.0, sparse: vec![(1.0, PICKED)] };
        [all, picked].map(|demand| {
            let reader = self.options.reader.as_ref();
            let can = reader.is_none_or(|reader| demand.sparse.is_empty() || reader.check(&Workload::picked()).is_ok());
            let reads_all = reader.is_some_and(reader::Reader::reads_all);
            let is_read = |column: &Column| reads_all || column.plan.is_some() || column.pages.is_some();
            let none = Demand::default();
            let demands = self.stats.columns.iter().map(|c| if is_read(c) { demand.clone() } else { none.clone() });
            let before = self.with_demands(demands.collect());
            let seconds = known * self.modelled(chosen);
            self.with_demands(before);
            can.then_some(seconds)
        })
    }

    /// Puts these demands in the place of those of the columns, and returns those.
    fn with_demands(&mut self, demands: Vec<Demand>) -> Vec<Demand> {
        let columns = self.stats.columns.iter_mut().zip(demands);
        columns.map(|(column, demand)| std::mem::replace(&mut column.demand, demand)).collect()
    }

    /// Seconds to read a choice by the model, for the demands of the columns.
    fn modelled(&self, chosen: &Chosen) -> f64 {
        let Some(option) = self.search.space.options.get(chosen.option) else { return 0.0 };
        let (measured, access) = self.search.reading(self.access);
        let mut seconds = 0.0;
        for (column, cost) in self.stats.columns.iter().zip(&measured.columns) {
            let pick = chosen.picks.get(column.unit).copied().flatten();
            let (Some(pick), Some(clusters)) = (pick, option.trees.get(column.tree)) else { continue };
            let codec = pick.codec.map(|codec| cost.codecs.get(codec).copied().flatten());
            seconds += match (codec, pick.basket) {
                (None, _) => model::today(column, cost, &access, clusters).read,
                (Some(None), _) => 0.0,
                (Some(Some(codec)), basket) => {
                    let entries = match basket {
                        Some(size) => model::entries_per_basket(column, size, clusters),
                        None => column.entries / column.count().max(1.0),
                    };
                    let size = basket.unwrap_or(column.basket_size);
                    let table = self.stats.trees.get(column.tree);
                    let counts = table.and_then(|table| PageCounts::new(column, table, clusters));
                    let pieces = Pieces { entries, size, count: counts.map(|counts| counts.pages(size)) };
                    model::planned(column, &codec, cost.decode, pieces, &access, clusters).read
                }
            };
        }
        seconds
    }
}

/// Moves a name to the choice that is the best by it: each was found by other weights, and clusters stay where another choice is hardly
/// better.
fn name_the_best(found: &mut [Alternative], name: Name, limits: &Limits, value: impl Fn(&Cost) -> f64) {
    let of = |one: &Alternative| value(&one.chosen.total);
    let Some(held) = found.iter().find(|one| one.names.contains(&name)).map(of) else { return };
    let Some(best) = least(found, |one| limits.hold_for(&one.chosen) && of(one) < held, of) else { return };
    for (at, one) in found.iter_mut().enumerate() {
        one.names.retain(|other| *other != name);
        if at == best {
            one.names.push(name);
        }
    }
}

/// Takes another choice for the decision, with its names, where that is better by the same goal and within the same limits.
fn prefer_the_best(found: &mut [Alternative], by: By) {
    let of = |one: &Alternative| by.utility.of_cost(&one.chosen.total);
    let Some(own) = found.iter().find(|one| one.is_decision).map(of) else { return };
    let is_better = |one: &Alternative| of(one) < own * (1.0 - SIZE_NOISE) && by.limits.hold_for(&one.chosen);
    let Some(best) = least(found, is_better, of) else { return };
    let is_of_decision = |name: &Name| !matches!(name, Name::Smallest | Name::Fastest | Name::Today);
    let mut names = Vec::new();
    for one in found.iter_mut().filter(|one| one.is_decision) {
        one.is_decision = false;
        names = one.names.extract_if(.., |name| is_of_decision(name)).collect();
    }
    if let Some(one) = found.get_mut(best) {
        (one.is_decision, one.by) = (true, Some(by));
        one.names.splice(0..0, names);
    }
}

/// The first of the choices that `can` be taken whose value is the least.
fn least(
    found: &[Alternative],
    can: impl Fn(&Alternative) -> bool,
    value: impl Fn(&Alternative) -> f64,
) -> Option<usize> {
    let possible = found.iter().enumerate().filter(|(_, one)| can(one));
    possible.min_by(|(_, a), (_, b)| value(a).total_cmp(&value(b))).map(|(at, _)| at)
}

/// What a file with these figures needs.
pub(super) fn usage(figures: &Figures) -> Usage {
    let Cost { size, read_bytes, read, write, .. } = figures.cost;
    Usage { stored: size, read: read_bytes, reading: read, writing: write }
}
