//! Chooses again among the choices of a saved report, by other prices or limits or by name. Nothing is measured.

use std::path::{Path, PathBuf};

use dataset::glob::ColumnPattern;
use dataset::layout::Layout;
use rootfile::{Error, Hint, Result};

use super::alternatives::usage;
use super::choice::Limits;
use super::limit_reports::limit_reports;
use super::names::{Choose, Name};
use super::options::Options;
use super::report::{Choice, Cost, Figures, Report, SCHEMA, number_of};
use super::tuned::Tuned;
use crate::cost::column::Column;
use crate::cost::statistics::FileStats;
use crate::cost::{Goal, Weights, Workload};
use crate::math::solve::{self, Infeasible, Problem};
use crate::price::PriceBook;

/// A saved report of `tune --json`.
pub struct Kept {
    report: Report,
    workload: Workload,
}

impl Kept {
    /// Reads the file of one.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no such report.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::from(e).file(path))?;
        Self::parse(&text).map_err(|e| e.file(path))
    }

    /// Reads the text of one.
    ///
    /// # Errors
    ///
    /// The text is no such report.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |why: String| {
            let json = Hint::named("json");
            Error::request(format!("is no report of tune {json}: {why}")).hint(json)
        };
        let report: Report = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
        if report.schema != SCHEMA {
            return Err(wrong(format!("it has schema {}, not {SCHEMA}", report.schema)));
        }
        if report.choices.is_empty() {
            return Err(wrong("it has no choices".to_owned()));
        }
        if std::iter::once(&report.today).chain(report.choices.iter().map(|choice| &choice.figures)).any(is_negative) {
            return Err(wrong("it has figures below zero".to_owned()));
        }
        let workload = report.workload.parse()?;
        Ok(Self { report, workload })
    }

    /// The input, its tree if one was named.
    ///
    /// # Errors
    ///
    /// It had several inputs.
    pub fn input(&self) -> Result<(PathBuf, Option<String>)> {
        match self.report.files {
            1 => Ok((PathBuf::from(&self.report.input), self.report.tree.clone())),
            files => Err(Error::request(format!("the report is of {files} files: name the one to rewrite"))),
        }
    }

    /// The workload that it was measured for.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// The seed of its samples.
    pub fn seed(&self) -> u64 {
        self.report.measuring.seed
    }

    /// The name of its reader, or the file of the reader's profile.
    pub fn reader(&self) -> &str {
        let reader = &self.report.reader;
        reader.profile.as_deref().filter(|profile| *profile != "shipped").unwrap_or(&reader.name)
    }

    /// Its prices.
    ///
    /// # Errors
    ///
    /// They are not those of a report.
    pub fn prices(&self) -> Result<PriceBook> {
        PriceBook::parse(&self.report.prices)
    }

    /// Chooses among its choices, by the goal, the prices and the limits of `options`.
    ///
    /// # Errors
    ///
    /// The choice that is asked for is not among them, or not within the limits that are asked for.
    pub fn choose(self, options: &Options) -> Result<Tuned> {
        let mut report = self.report;
        let today = report.today.cost;
        let limits = options.limits(&today);
        report.prices = options.prices.to_toml()?;
        for choice in &mut report.choices {
            choice.bill = options.prices.bill(&usage(&choice.figures));
            choice.names.retain(|name| !matches!(name, Name::Balanced | Name::Goal));
        }
        let as_today = Limits { read: options.max_read_time.map_or(today.read, |_| limits.read), ..limits };
        name_best(&mut report.choices, Goal::Balanced, options, &today, &as_today);
        if !options.goal.is_balanced() {
            name_best(&mut report.choices, options.goal, options, &today, &limits);
        }
        let own = if options.goal.is_balanced() { Name::Balanced } else { Name::Goal };
        let asked = options.choose.unwrap_or(Choose::Name(own));
        let at = number_of(&report.choices, asked).ok();
        // Without a name it is a question of limits, which has an answer.
        if options.choose.is_some() {
            number_of(&report.choices, asked)?;
        }
        let before = report.choices.iter().position(|choice| choice.chosen);
        for (place, choice) in report.choices.iter_mut().enumerate() {
            choice.chosen = Some(place) == at;
        }
        let chosen = at.and_then(|at| report.choices.get(at)).cloned();
        if let Some(choice) = &chosen {
            within(choice, options, &limits)?;
        }
        let may_be_slower = !matches!(asked, Choose::Name(Name::Balanced | Name::Goal));
        let kept = if may_be_slower { &limits } else { &as_today };
        let none = in_the_way(&report.choices, kept);
        report.limits = limit_reports(options, kept, chosen.as_ref().map(uses).ok_or(&none), 0.0);
        report.limits.retain(|limit| !(may_be_slower && limit.is_default && limit.name == "--max-read-time"));
        report.goal = options.goal;
        report.asked = options.choose.map(|choice| choice.to_string());
        report.unchanged = chosen.as_ref().is_some_and(Choice::is_today);
        report.rewrite = chosen.as_ref().map_or(0.0, |choice| choice.rewrite);
        report.chosen = chosen.as_ref().map(|choice| choice.figures);
        let text = chosen.as_ref().and_then(|choice| choice.layout.clone());
        let layout = match (&chosen, &text) {
            (Some(_), Some(text)) => Some(text.parse::<Layout>()?),
            (Some(_), None) => Some(Layout::default()),
            (None, _) => None,
        };
        report.layout = match &layout {
            Some(layout) => Some(text.map_or_else(|| layout.to_toml(), Ok)?),
            None => None,
        };
        if at != before {
            (report.gap, report.why) = (0.0, Vec::new());
        }
        (report.delivered, report.verdict) = (None, String::new());
        Ok(Tuned { report, layout, may_be_slower, decider: None })
    }
}

/// Whether one of the figures is below zero, which nothing costs.
fn is_negative(figures: &Figures) -> bool {
    let values = serde_json::to_value(figures).unwrap_or_default();
    values.as_object().is_some_and(|all| all.values().any(|value| value.as_f64().is_some_and(|value| value < 0.0)))
}

/// Refuses a layout for columns of which a file has none: it is that of another file.
///
/// # Errors
///
/// The file has none of them, or cannot be read.
pub fn check_suits(layout: &Layout, path: &Path, options: &Options) -> Result<()> {
    let patterns = layout.columns();
    let stats = FileStats::read(path, options.tree.as_deref(), &options.workload)?;
    let fits = |column: &Column| {
        let tree = stats.trees.get(column.tree).map_or("", |tree| tree.path.as_str());
        let names = |pattern: &ColumnPattern| {
            // A layout of the other container has other names below the first.
            let parts = || pattern.as_str().split(['/', '.', '{', '}', ',']);
            let named = |name: &String| pattern.matches(tree, name) || parts().any(|part| part == name);
            column.lineage.iter().any(named)
        };
        patterns.iter().any(|(pattern, _)| names(pattern))
    };
    match patterns.is_empty() || stats.columns.iter().any(fits) {
        true => Ok(()),
        false => {
            Err(Error::request("has no column that the report's layout names: the report is of another file")
                .file(path))
        }
    }
}

/// Names the best choice within the limits by a goal.
fn name_best(choices: &mut [Choice], goal: Goal, options: &Options, today: &Cost, limits: &Limits) {
    let utility = Weights { goal, rates: options.prices.rates() }.utility(today);
    let value = |choice: &Choice| utility.of_cost(&choice.figures.cost);
    let fits = |choice: &&mut Choice| fits(choice, limits);
    let best = choices.iter_mut().filter(fits).min_by(|a, b| value(a).total_cmp(&value(b)));
    if let Some(choice) = best {
        choice.names.push(if goal.is_balanced() { Name::Balanced } else { Name::Goal });
        choice.names.sort();
    }
}

fn uses(choice: &Choice) -> solve::Uses {
    let Cost { size, write, read_memory, write_memory, read, .. } = choice.figures.cost;
    // Of today's layout nothing is compressed again.
    [size, if choice.is_today() { 0.0 } else { write }, read_memory, write_memory, read]
}

fn fits(choice: &Choice, limits: &Limits) -> bool {
    uses(choice).iter().zip(limits.expected()).all(|(used, limit)| *used <= limit)
}

/// Which limits leave no choice, and the nearest that would.
fn in_the_way(choices: &[Choice], limits: &Limits) -> Infeasible {
    let one = |choice: &Choice| solve::Choice { cost: 0.0, uses: uses(choice) };
    let problem = Problem { groups: vec![choices.iter().map(one).collect()], limits: limits.expected() };
    problem.solve().err().unwrap_or(Infeasible { nearest: Vec::new() })
}

/// Refuses a choice that is not within limits that were asked for.
fn within(choice: &Choice, options: &Options, limits: &Limits) -> Result<()> {
    let asked = [
        options.max_size.is_some(),
        options.max_write_time.is_some(),
        options.max_read_memory.is_some(),
        false,
        options.max_read_time.is_some(),
    ];
    let names = super::choice::LIMIT_NAMES;
    let over = uses(choice).into_iter().zip(limits.expected()).zip(asked.into_iter().zip(names));
    match over.into_iter().find(|((used, limit), (asked, _))| *asked && used > limit) {
        None => Ok(()),
        Some((_, (_, name))) => {
            let name = Hint::named(name.trim_start_matches('-'));
            let why = format!("choice {} ({}) is not within {name}", choice.number, choice.title());
            Err(Error::request(why).hint(name))
        }
    }
}
