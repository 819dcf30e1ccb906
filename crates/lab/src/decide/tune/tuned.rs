//! A decision with its report and layout, and with the data to choose again where it does not hold.

use std::path::Path;

use dataset::layout::Layout;
use rootfile::{Result, public_path};
use serde::Serialize;

use super::acceptance::{Correction, Expected};
use super::candidates::ClusterOption;
use super::choice::{Alternative, By, Chosen};
use super::conversion::Conversion;
use super::exact::exact_sentence;
use super::limit_reports::limit_reports;
use super::options::Options;
use super::reader::{Reader, ReaderReport};
use super::report::{Figures, Measuring, Report, SCHEMA};
use super::search::{SIZE_MARGIN, Search};
use super::tradeoffs::{front, sensitivity};
use super::{decide, explain, layout, tried};
use crate::cost::confirm::Confirmed;
use crate::cost::measured::Measured;
use crate::cost::model::Cost;
use crate::cost::statistics::FileStats;
use crate::cost::{Access, Packing};

/// A decision, which prints as its report.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Tuned {
    /// The report.
    pub report: Report,
    /// The chosen layout, if the limits can be met.
    #[serde(skip)]
    pub layout: Option<Layout>,
    /// Whether the choice of a saved report may read slower than today's layout.
    #[serde(skip)]
    pub(super) may_be_slower: bool,
    /// The data of the choice, for the next one if this one does not hold; none if it is of a saved report.
    #[serde(skip)]
    pub(super) decider: Option<Box<Decider>>,
}

/// The data of a choice.
pub(super) struct Decider {
    pub(super) stats: FileStats,
    pub(super) search: Search,
    pub(super) access: Access,
    pub(super) options: Options,
    /// The other container, if the choice is for one.
    pub(super) conversion: Option<Conversion>,
    /// How the choice was made, if another than the decision was asked for.
    pub(super) by: Option<By>,
}

impl Tuned {
    /// Takes another choice than that of the search.
    ///
    /// # Errors
    ///
    /// Its layout cannot be written.
    pub(super) fn take(&mut self, alternative: Alternative) -> Result<()> {
        let Some(decider) = &mut self.decider else { return Ok(()) };
        decider.by = alternative.by;
        if let Some(by) = alternative.by {
            decider.search.limits = by.limits;
            decider.search.space.utility = by.utility;
        }
        decider.search.decision = Ok(alternative.chosen);
        let (report, layout) = decider.report(Path::new(&self.report.input))?;
        let Report { input, measuring, containers, not_tried, .. } = std::mem::replace(&mut self.report, report);
        (self.report.input, self.report.measuring, self.report.containers) = (input, measuring, containers);
        self.report.not_tried = not_tried;
        self.layout = layout;
        Ok(())
    }

    /// The expectations of the choice, for acceptance. `None` if there is no choice, or it changes nothing.
    pub(super) fn expected(&self) -> Option<Expected> {
        if let Some(decider) = &self.decider {
            return decider.expected();
        }
        let (chosen, today) = (self.report.chosen?.cost, self.report.today.cost);
        let expected = Expected { size: chosen.size, read: chosen.read, read_today: today.read, ..Expected::default() };
        (!self.report.unchanged).then_some(expected)
    }

    /// The most times today's reading that the output may take, if no limit was asked for.
    pub(super) fn slowest(&self) -> f64 {
        let by = self.decider.as_ref().and_then(|decider| decider.by);
        if self.may_be_slower || by.is_some_and(|by| by.may_be_slower) { f64::INFINITY } else { 1.0 }
    }
}

impl Decider {
    /// The report before anything is written, and the layout.
    pub(super) fn report(&self, input: &Path) -> Result<(Report, Option<Layout>)> {
        let Self { stats, access, options, .. } = self;
        let Search { measured, confirmed, space, now, limits, decision, .. } = &self.search;
        let (theirs, reading) = self.search.reading(*access);
        let mut report = Report {
            schema: SCHEMA,
            input: public_path(input).display().to_string(),
            tree: options.tree.clone(),
            files: 1,
            measured_files: 1,
            workload: options.workload.to_string(),
            goal: options.goal,
            reader: options.reader.as_ref().map_or_else(ReaderReport::ours, Reader::report),
            measuring: measuring(stats, measured, confirmed, reading, options.seed),
            // The second look at the choice for a looser limit may need a larger reserve.
            limits: limit_reports(options, limits, decision.as_ref().map(Chosen::uses), SIZE_MARGIN.1),
            prices: options.prices.to_toml()?,
            asked: options.choose.map(|choice| choice.to_string()),
            choices: Vec::new(),
            today: figures(now.1, space.options.first()),
            read_all: decide::read_all(stats, theirs, &reading),
            rewrite: 0.0,
            chosen: None,
            gap: 0.0,
            groups: Vec::new(),
            recasts: Vec::new(),
            containers: Vec::new(),
            why: Vec::new(),
            tried: tried::tried(stats, measured, &space.options, self.search.part),
            not_tried: tried::not_tried(stats, measured, &space.options, options),
            front: Vec::new(),
            sensitivity: Vec::new(),
            layout: None,
            unchanged: false,
            attempts: Vec::new(),
            delivered: None,
            verdict: String::new(),
            proof: None,
        };
        let Ok(chosen) = decision else {
            self.conversion.iter().for_each(|conversion| conversion.complete(&mut report));
            return Ok((report, None));
        };
        let option = space.options.get(chosen.option);
        let figures = figures(chosen.total, option);
        report.rewrite = self.search.rewriting(stats, *access, chosen);
        report.gap = chosen.gap;
        report.groups = explain::groups(stats, &measured.codecs, &now.0, &space.tops, chosen);
        report.recasts = explain::recasts(stats, &now.0, &space.tops, chosen);
        let clusters = (report.today.clusters, figures.clusters);
        let whose = if self.conversion.is_some() { "the converted file's" } else { explain::TODAYS };
        report.why = explain::sentences(stats, &report.groups, (&now.1, whose), chosen, clusters);
        report.why.extend(explain::recast_sentences(stats, &report.recasts, figures.clusters, options.recode));
        report.why.extend(exact_sentence(stats, &measured.codecs, chosen));
        report.chosen = Some(figures);
        report.front = front(space, chosen, limits);
        report.sensitivity = sensitivity(space, chosen, limits);
        report.unchanged = space.is_today(chosen);
        let Some(option) = option else { return Ok((report, None)) };
        let recasts = &mut space.tops.chosen(&chosen.forms);
        let mut layout = layout::layout(stats, &measured.codecs, option, &chosen.picks, recasts)?;
        if let Some(conversion) = &self.conversion {
            layout.common.container = Some(conversion.container);
            conversion.complete(&mut report);
        }
        report.layout = Some(layout.to_toml()?);
        Ok((report, Some(layout)))
    }

    /// The expectations of the choice, for acceptance. `None` if there is no choice, or it changes nothing.
    pub(super) fn expected(&self) -> Option<Expected> {
        let Search { space, now, decision, .. } = &self.search;
        let chosen = decision.as_ref().ok()?;
        match &self.conversion {
            Some(conversion) => Some(conversion.expected(space.expected(chosen, &now.1))),
            None => (!space.is_today(chosen)).then(|| space.expected(chosen, &now.1)),
        }
    }

    /// Makes the choice anew with corrected costs.
    pub(super) fn choose(&mut self, correction: Correction) {
        self.search.space.correction = correction;
        let Search { space, limits, now, .. } = &self.search;
        self.search.decision = match self.by {
            Some(by) => space.decide_by(by.utility, limits),
            None => space.or_today(space.decide(limits), &self.stats, &now.0, &now.1, limits),
        };
    }
}

fn measuring(stats: &FileStats, measured: &Measured, confirmed: &Confirmed, access: Access, seed: u64) -> Measuring {
    let text = |codecs: &[Packing]| codecs.iter().map(ToString::to_string).collect();
    Measuring {
        seed,
        cpu_seconds: 0.0,
        allowed: 0.0,
        trials: 0,
        metadata: stats.metadata,
        sampled_bytes: measured.sampled + confirmed.sampled,
        sampled_share: (measured.sampled + confirmed.sampled) / stats.now().map(|c| c.raw).sum::<f64>().max(1.0),
        columns: stats.now().count(),
        sampled_columns: (stats.columns.iter().zip(&measured.columns))
            .filter(|(column, cost)| column.recast.is_none() && cost.sampled > 0.0)
            .count(),
        codecs: text(&measured.codecs),
        dropped: text(&measured.dropped),
        access,
        optimism: if confirmed.found > 0.0 { 1.0 - confirmed.expected / confirmed.found } else { 0.0 },
    }
}

pub(super) fn figures(cost: Cost, option: Option<&ClusterOption>) -> Figures {
    let clusters = option.map_or(0.0, |o| o.trees.iter().map(|t| t.count).sum());
    Figures { cost, clusters, cluster_bytes: option.and_then(|o| o.size) }
}
