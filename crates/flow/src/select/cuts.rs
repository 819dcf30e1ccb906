//! The cuts of a selection: parsed once, bound to the columns of each table, and evaluated over the entries of the table before the
//! rewrite is planned. Only the columns of the cuts are read, step by step.

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBuffer;
use dataset::glob::{ColumnPattern, NameFilter};
use dataset::{EntrySet, EntrySetBuilder};
use expr::{Condition, Entries, ErrorKind, Expression, Program};
use rootfile::{Error, Hint, Result};

use super::cut_flow::{Counts, CutStep};
use super::names::TableNames;
use super::source::OpenColumns;
use crate::arrow::read::{BatchSize, Dataset, Request, batches};
use crate::execute::budget::Budget;
use crate::execute::progress::unwatched;

/// Bytes of columns that are read at a time, for all threads.
pub(super) const STEP: u64 = 32 << 20;
/// Entries that are tested at a time where no column is read.
pub(super) const UNREAD: u64 = 1 << 16;
/// Largest table whose entries are tested without their columns: a file may claim any number.
pub(super) const MOST_UNREAD: u64 = 1 << 36;

/// The options of expressions.
pub(super) const CUT: &str = "cut";
pub(super) const WEIGHT: &str = "weight";

/// An expression of the selection.
pub(super) struct Cut {
    pub text: String,
    /// The option that it was given by.
    option: &'static str,
    expression: std::result::Result<Expression, expr::Error>,
}

impl Cut {
    pub fn new(text: &str, option: &'static str) -> Self {
        Self { text: text.trim().to_owned(), option, expression: Expression::parse(text.trim()) }
    }

    /// Fails for a text that is no expression, if it is no name either.
    fn parsed(&self, names: &TableNames<'_>) -> Result<Expression> {
        // A text that is a name is this name.
        if expr::Names::column(names, &self.text).is_some() {
            return Ok(Expression::named(&self.text));
        }
        self.expression.clone().map_err(|e| self.refused(&e))
    }

    /// Names that may be those of columns.
    fn names(&self) -> Vec<String> {
        let mut names = self.expression.as_ref().map(Expression::names).unwrap_or_default();
        names.push(self.text.clone());
        names
    }

    pub fn refused(&self, error: &expr::Error) -> Error {
        refused(error, self.option)
    }

    /// The error of a cut without a table that it could be about.
    pub fn refused_by_no_tree(&self) -> Error {
        let hint = Hint::named(self.option);
        Error::request(format!("{hint} {}: there is no tree", self.text)).hint(hint)
    }

    /// The program for a table; the inner error names what the table lacks.
    pub fn bind(&self, names: &TableNames<'_>) -> Result<std::result::Result<Program, expr::Error>> {
        let expression = self.parsed(names)?;
        match expression.bind(names) {
            Err(e) if e.kind() == ErrorKind::UnknownName => Ok(Err(e)),
            bound => bound.map(Ok).map_err(|e| self.refused(&e)),
        }
    }
}

/// What the cuts select of a table.
pub(super) struct Selected {
    pub entries: EntrySet,
    pub cuts: Vec<CutStep>,
}

/// The cuts that can be evaluated in a table, and why the others cannot.
pub(super) struct TableCuts {
    dataset: Dataset,
    /// By their places in the selection.
    conditions: Vec<(usize, Condition)>,
    weight: Option<Program>,
    pub lacking: Vec<(usize, expr::Error)>,
    pub lacks_weight: Option<expr::Error>,
}

impl TableCuts {
    /// Opens the columns of the cuts.
    pub fn open(path: &str, open: OpenColumns<'_>, cuts: &[Cut], weight: Option<&Cut>) -> Result<Self> {
        Self::opened(path, open, cuts, weight).map_err(|e| e.object(path))
    }

    fn opened(path: &str, open: OpenColumns<'_>, cuts: &[Cut], weight: Option<&Cut>) -> Result<Self> {
        let names: Vec<String> = cuts.iter().chain(weight).flat_map(Cut::names).collect();
        let found = Self::bind(path, open(&filter(&names)?)?, cuts, weight)?;
        if found.lacking.is_empty() && found.lacks_weight.is_none() {
            return Ok(found);
        }
        // Aliases name further columns, and messages name those that are near.
        let whole = Self::bind(path, open(&NameFilter::default())?, cuts, weight)?;
        Ok(match whole.conditions.len() > found.conditions.len() || whole.weight.is_some() != found.weight.is_some() {
            true => whole,
            false => Self { lacking: whole.lacking, lacks_weight: whole.lacks_weight, ..found },
        })
    }

    fn bind(path: &str, dataset: Dataset, cuts: &[Cut], weight: Option<&Cut>) -> Result<Self> {
        let names = TableNames::new(&dataset, path);
        let (mut conditions, mut lacking) = (Vec::new(), Vec::new());
        for (place, cut) in cuts.iter().enumerate() {
            match cut.bind(&names)? {
                Ok(program) => conditions.push((place, program.condition().map_err(|e| cut.refused(&e))?)),
                Err(e) => lacking.push((place, e)),
            }
        }
        let (mut bound, mut lacks_weight) = (None, None);
        if let Some(cut) = weight {
            match cut.bind(&names)? {
                Ok(program) => bound = Some(program.number().map_err(|e| cut.refused(&e))?),
                Err(e) => lacks_weight = Some(e),
            }
        }
        drop(names);
        Ok(Self { dataset, conditions, weight: bound, lacking, lacks_weight })
    }

    /// The places of the cuts that can be evaluated.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.conditions.iter().map(|(place, _)| *place)
    }

    /// Entries of the table.
    pub fn all(&self) -> u64 {
        self.dataset.entries()
    }

    /// The entries among `named` that pass.
    pub fn select(&self, named: Option<&EntrySet>, cuts: &[Cut], budget: Budget) -> Result<Selected> {
        let mut columns: Vec<usize> = Vec::new();
        let needed = self.conditions.iter().flat_map(|(_, condition)| condition.columns());
        for column in needed.chain(self.weight.iter().flat_map(Program::columns)) {
            if !columns.contains(column) {
                columns.push(*column);
            }
        }
        for &column in &columns {
            if !self.dataset.is_complete(column) {
                let name = self.dataset.column(column).map_or_else(String::new, |column| column.field().name().clone());
                let hint = Hint::named(CUT);
                let message = format!("{hint} takes columns with a value for each entry; this one has fewer");
                return Err(Error::request(message)
                    .hint(hint)
                    .object(format!("branch {name} of {}", self.dataset.path())));
            }
        }
        let all = self.all();
        let mut pass = Pass {
            cuts: self,
            columns: &columns,
            named,
            rank: 0,
            passed: EntrySetBuilder::new(all),
            counts: Counts::new(self.conditions.len(), self.weight.is_some()),
        };
        if columns.is_empty() {
            pass.without_columns(named.map_or(all, EntrySet::len))?;
        } else {
            let selection = named.cloned();
            let request =
                Request { columns: columns.clone(), entries: 0..all, selection, budget, progress: &unwatched };
            for read in batches(&self.dataset, request, BatchSize::Bytes(STEP)) {
                let read = read?;
                pass.take(read.batch.columns(), read.batch.num_rows())?;
            }
        }
        let names: Vec<String> = self.places().filter_map(|place| Some(cuts.get(place)?.text.clone())).collect();
        Ok(Selected { cuts: pass.counts.finish(&names), entries: pass.passed.finish() })
    }
}

/// One pass over the entries of a table.
struct Pass<'a> {
    cuts: &'a TableCuts,
    /// The columns that are read.
    columns: &'a [usize],
    named: Option<&'a EntrySet>,
    /// The number of entries before, among those that are named.
    rank: u64,
    passed: EntrySetBuilder,
    counts: Counts,
}

impl Pass<'_> {
    fn without_columns(&mut self, all: u64) -> Result<()> {
        if all > MOST_UNREAD {
            return Err(Error::request(format!("the table has too many entries to test each: {all}")));
        }
        while self.rank < all {
            let rows = usize::try_from(UNREAD.min(all - self.rank)).unwrap_or(usize::MAX);
            self.take(&[], rows)?;
        }
        Ok(())
    }

    /// Tests the next entries.
    fn take(&mut self, arrays: &[ArrayRef], rows: usize) -> Result<()> {
        let ranks = self.rank..self.rank + rows as u64;
        self.rank = ranks.end;
        let numbers: Option<Vec<u64>> = self.named.map(|named| named.runs(ranks.clone()).flatten().collect());
        let entries = numbers.as_deref().map_or_else(|| Entries::from(ranks.start), Entries::from);
        let of = |columns: &[usize]| -> Vec<ArrayRef> {
            let place = |column: &usize| self.columns.iter().position(|one| one == column);
            columns.iter().filter_map(|column| arrays.get(place(column)?).cloned()).collect()
        };
        let weights = match &self.cuts.weight {
            Some(weight) => weight.numbers(&of(weight.columns()), rows, entries).map_err(|e| refused(&e, WEIGHT))?,
            None => Vec::new(),
        };
        let weights_of = |passed: &BooleanBuffer| {
            let picked = passed.set_indices().filter_map(|row| weights.get(row).copied());
            picked.collect::<Vec<_>>().into_iter()
        };
        let mut passed = BooleanBuffer::new_set(rows);
        self.counts.add(0, rows, weights.iter().copied());
        for (number, (_, condition)) in self.cuts.conditions.iter().enumerate() {
            if passed.count_set_bits() > 0 {
                let own = condition.passed_of(&of(condition.columns()), rows, entries);
                passed = &passed & &own.map_err(|e| refused(&e, CUT))?;
            }
            self.counts.add(number + 1, passed.count_set_bits(), weights_of(&passed));
        }
        match &numbers {
            Some(numbers) => {
                let picked = passed.set_indices().filter_map(|row| numbers.get(row).copied());
                picked.for_each(|entry| self.passed.push(entry..entry + 1));
            }
            None => {
                for (start, end) in passed.set_slices() {
                    self.passed.push(ranks.start + start as u64..ranks.start + end as u64);
                }
            }
        }
        Ok(())
    }
}

/// The error of an expression; of an argument there is no option to name.
pub(super) fn refused(error: &expr::Error, option: &'static str) -> Error {
    if option.is_empty() {
        return Error::request(error.to_string());
    }
    let hint = Hint::named(option);
    Error::request(format!("{hint}: {error}")).hint(hint)
}

/// The columns with these names, whatever trees or branches stand before them.
fn filter(names: &[String]) -> Result<NameFilter> {
    let exact = |name: &str| {
        let pattern = ColumnPattern::exact("", name);
        pattern.as_str().trim_start_matches('/').to_owned()
    };
    let mut patterns: Vec<String> = Vec::new();
    for name in names {
        let last = name.rsplit('/').next().unwrap_or(name);
        patterns.extend([name.as_str(), last].into_iter().filter(|name| !name.is_empty()).map(exact));
    }
    NameFilter::new(&patterns, &[])
}
