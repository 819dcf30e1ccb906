//! The cuts of a selection: parsed once, and bound to the columns of each table. `pass` evaluates them over its entries.

use dataset::glob::{ColumnPattern, NameFilter};
use expr::{Condition, ErrorKind, Expression, Program};
use rootfile::{Error, Hint, Result};

use super::define::Define;
use super::names::TableNames;
use super::source::OpenColumns;
use crate::arrow::read::{Dataset, NamedTable};

/// The options of expressions.
pub(super) const CUT: &str = "cut";
pub(super) const WEIGHT: &str = "weight";

/// An expression of the selection.
pub(crate) struct Cut {
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
        if names.has(&self.text) {
            return Ok(Expression::named(&self.text));
        }
        self.expression.clone().map_err(|e| self.refused(&e))
    }

    /// Names that may be those of columns.
    pub fn names(&self) -> Vec<String> {
        let mut names = self.expression.as_ref().map(Expression::names).unwrap_or_default();
        names.push(self.text.clone());
        names
    }

    pub fn refused(&self, error: &expr::Error) -> Error {
        refused(error, self.option)
    }

    /// The error of a cut without a tree that it could be about.
    pub fn refused_without_tree(&self, why: &str) -> Error {
        let hint = Hint::named(self.option);
        Error::request(format!("{hint} {}: {why}", self.text)).hint(hint)
    }

    /// The program for a table; the inner error names what the table lacks.
    pub fn bind(&self, names: &TableNames<'_>) -> Result<std::result::Result<Program, expr::Error>> {
        let expression = self.parsed(names)?;
        match expression.bind(names) {
            Err(e) if e.kind() == ErrorKind::UnknownName => names.unusable(&e).map_or(Ok(Err(e)), Err),
            bound => bound.map(Ok).map_err(|e| self.refused(&e)),
        }
    }
}

/// What is asked of a table.
#[derive(Clone, Copy)]
pub(super) struct Conditions<'a> {
    pub cuts: &'a [Cut],
    pub weight: Option<&'a Cut>,
    /// Columns that they may name.
    pub defines: &'a [Define],
}

/// The cuts that can be evaluated in a table, and why the others cannot.
pub(super) struct TableCuts {
    /// By their places in the selection.
    pub conditions: Vec<(usize, Condition)>,
    pub weight: Option<Program>,
    pub lacking: Vec<(usize, expr::Error)>,
    pub lacks_weight: Option<expr::Error>,
}

impl TableCuts {
    /// Opens the columns of the cuts.
    pub fn open(path: &str, open: OpenColumns<'_>, asked: &Conditions<'_>) -> Result<(Dataset, Self)> {
        Self::opened(path, open, asked).map_err(|e| e.object(path))
    }

    fn opened(path: &str, open: OpenColumns<'_>, asked: &Conditions<'_>) -> Result<(Dataset, Self)> {
        let mut names: Vec<String> = asked.cuts.iter().chain(asked.weight).flat_map(Cut::names).collect();
        names.extend(names_in(asked.defines));
        let dataset = open(&filter(&names)?)?;
        let found = Self::bind(path, &dataset, asked)?;
        if found.lacking.is_empty() && found.lacks_weight.is_none() {
            return Ok((dataset, found));
        }
        // Aliases name further columns, and messages name those that are near.
        let all = open(&NameFilter::default())?;
        let whole = Self::bind(path, &all, asked)?;
        Ok(match whole.conditions.len() > found.conditions.len() || whole.weight.is_some() != found.weight.is_some() {
            true => (all, whole),
            false => (dataset, Self { lacking: whole.lacking, lacks_weight: whole.lacks_weight, ..found }),
        })
    }

    /// Binds cuts to the columns of a table with this path.
    pub fn bind(path: &str, table: &dyn NamedTable, asked: &Conditions<'_>) -> Result<Self> {
        let Conditions { cuts, weight, defines } = *asked;
        let names = TableNames::new(table, path, defines);
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
        Ok(Self { conditions, weight: bound, lacking, lacks_weight })
    }

    /// Whether a cut, or the weight, counts entries.
    pub fn counts_entries(&self) -> bool {
        self.conditions.iter().any(|(_, cut)| cut.counts_entries()) || self.weight.iter().any(Program::counts_entries)
    }

    /// Whether one of the cuts that can be evaluated needs a column.
    pub fn name_columns(&self) -> bool {
        self.conditions.iter().any(|(_, condition)| !condition.columns().is_empty())
    }

    /// The places of the cuts that can be evaluated.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.conditions.iter().map(|(place, _)| *place)
    }
}

/// The error of an expression; one that was an argument has no option.
pub(crate) fn refused(error: &expr::Error, option: &'static str) -> Error {
    if option.is_empty() {
        return Error::request(error.to_string());
    }
    let hint = Hint::named(option);
    Error::request(format!("{hint}: {error}")).hint(hint)
}

/// Names in definitions, which may be those of columns.
pub(crate) fn names_in(defines: &[Define]) -> impl Iterator<Item = String> {
    let parsed = defines.iter().filter_map(|define| Expression::parse(&define.text).ok());
    parsed.flat_map(|expression| expression.names())
}

/// The columns with these names, whatever trees or branches stand before them.
pub(crate) fn filter(names: &[String]) -> Result<NameFilter> {
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
