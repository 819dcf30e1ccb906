//! The items of a sample: for each entry, or each item of the lists of an entry, its place on the axes and its weight, for each cut that it
//! passes. Expressions are evaluated on all threads; items come in the order of entries.

use std::ops::Range;

use dataset::EntrySet;
use flow::read::Dataset;
use flow::{Budget, Computed, Given, Progress, Step};
use rootfile::{Error, Hint, Result, public_path};

use super::fill::Item;
use super::options::{DrawOptions, Sample};
use super::values::{Together, Values};
use crate::look::check_entries;
use crate::system::on_each::on_each;

/// The options of expressions.
const CUT: &str = "cut";
const WEIGHT: &str = "weight";
/// Entries of which a thread computes the values at a time.
const ROWS: usize = 1 << 14;

/// A sample that is open, with its expressions.
pub(super) struct Items {
    computed: Computed,
    axes: usize,
    /// The places of the weight and of each cut among the expressions.
    weight: Option<usize>,
    cuts: Vec<Option<usize>>,
    range: Range<u64>,
    selection: Option<EntrySet>,
    budget: Budget,
}

impl Items {
    /// Opens the files of a sample, and binds the expressions of its axes, the weight and the cuts. Errors name its first file.
    pub fn open(sample: &Sample, axes: &[&str], cuts: &[Option<&str>], options: &DrawOptions) -> Result<Self> {
        let of_file = |e: Error| match sample.inputs.first() {
            Some(first) => e.file(public_path(&first.path)),
            None => e,
        };
        Self::opened(sample, axes, cuts, options).map_err(of_file)
    }

    fn opened(sample: &Sample, axes: &[&str], cuts: &[Option<&str>], options: &DrawOptions) -> Result<Self> {
        let dataset = Dataset::open_following(&sample.inputs, options.follow)?;
        if !options.allow_no_match {
            check_entries(&dataset, &options.entries)?;
        }
        let (range, selection) = options.entries.choose(dataset.entries(), 1)?;
        let weight = options.weight.as_deref().map(|text| Given { text, option: WEIGHT });
        let conditions = cuts.iter().flatten().map(|&text| Given { text, option: CUT });
        let mut expressions: Vec<Given<'_>> = axes.iter().map(|&text| Given { text, option: "" }).collect();
        expressions.extend(weight);
        let mut place = expressions.len();
        expressions.extend(conditions);
        let weight = weight.map(|_| axes.len());
        let cuts = cuts.iter().map(|cut| {
            cut.map(|_| {
                place += 1;
                place - 1
            })
        });
        let cuts = cuts.collect();
        let computed = Computed::numbers(dataset, &expressions, &options.defines)?;
        check_depths(&computed, &expressions, axes.len())?;
        Ok(Self { computed, axes: axes.len(), weight, cuts, range, selection, budget: options.budget })
    }

    /// Path of the table.
    pub fn path(&self) -> &str {
        self.computed.dataset().path()
    }

    /// Entries that are looked at.
    pub fn entries(&self) -> u64 {
        self.selection.as_ref().map_or(self.range.end - self.range.start, EntrySet::len)
    }

    /// Whether an axis has whole numbers.
    pub fn is_whole(&self, axis: usize) -> bool {
        self.computed.is_whole(axis)
    }

    /// Whether an axis has lists.
    pub fn has_lists(&self) -> bool {
        (0..self.axes).any(|axis| self.computed.depth(axis) > 0)
    }

    /// Calls `visit` with the cut and the item, for each item that passes one.
    pub fn each(&self, progress: Progress<'_>, visit: &mut dyn FnMut(usize, Item)) -> Result<()> {
        let (range, selection) = (self.range.clone(), self.selection.as_ref());
        self.computed.each_step(range, selection, self.budget, progress, &mut |step| {
            let mut parts: Vec<(Range<usize>, Option<Together>)> =
                (0..step.rows()).step_by(ROWS).map(|start| (start..(start + ROWS).min(step.rows()), None)).collect();
            on_each(self.budget.threads, &mut parts, |(rows, together)| {
                *together = Some(self.together(step, rows.clone())?);
                Ok(())
            })?;
            for (rows, together) in &parts {
                together.iter().for_each(|together| self.visit(together, rows.len(), visit));
            }
            Ok(())
        })
    }

    /// The values of all expressions in some rows.
    fn together(&self, step: &Step<'_>, rows: Range<usize>) -> Result<Together> {
        let expressions = self.axes + usize::from(self.weight.is_some()) + self.cuts.iter().flatten().count();
        let of = |expression| Values::of(&step.values(expression, rows.clone())?);
        let values = (0..expressions).map(of).collect::<Result<_>>()?;
        Together::new(values, rows.len()).map_err(|row| {
            let entry = step.entry(rows.start + row);
            Error::request(format!("lists have different lengths in entry {entry}")).object(self.path())
        })
    }

    fn visit(&self, together: &Together, rows: usize, visit: &mut dyn FnMut(usize, Item)) {
        for row in 0..rows {
            for item in together.items(row) {
                let at = |part| together.at(part, row, item);
                let upwards = if self.axes > 1 { at(Some(1)) } else { 0.0 };
                let found = Item { at: [at(Some(0)), upwards], weight: at(self.weight) };
                for (place, cut) in self.cuts.iter().enumerate() {
                    let passes = at(*cut);
                    if passes != 0.0 && !passes.is_nan() {
                        visit(place, found);
                    }
                }
            }
        }
    }
}

/// Fails for lists that go together with no list of an axis.
fn check_depths(computed: &Computed, expressions: &[Given<'_>], axes: usize) -> Result<()> {
    let deepest = (0..axes).map(|axis| computed.depth(axis)).max().unwrap_or(0);
    for (place, Given { text, option }) in expressions.iter().enumerate() {
        let depth = computed.depth(place);
        if depth == 0 || depth == deepest {
            continue;
        }
        let drawn = expressions.iter().take(axes).map(|given| given.text).collect::<Vec<_>>().join(" and ");
        let lists = |depth| match depth {
            0 => "one number for each entry".to_owned(),
            1 => "lists".to_owned(),
            depth => format!("{depth} levels of lists"),
        };
        let advice = if deepest == 0 { ": write any(...), sum(...) or first(...) around it" } else { "" };
        let why = format!("{text} has {}, and {drawn} {}{advice}", lists(depth), lists(deepest));
        if option.is_empty() {
            return Err(Error::request(why));
        }
        let hint = Hint::named(*option);
        return Err(Error::request(format!("{hint} {why}")).hint(hint));
    }
    Ok(())
}
