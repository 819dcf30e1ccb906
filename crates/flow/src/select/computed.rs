//! Expressions over the entries of an open table: each is bound to its columns, and evaluated over what is read of them, step by step.
//! Only the columns of the expressions are read.

use std::ops::{ControlFlow, Range};

use arrow_array::ArrayRef;
use dataset::EntrySet;
use expr::{Kind, Program, Type};
use rootfile::{Error, Hint, Result};

use super::cuts::{Cut, refused};
use super::define::Define;
use super::defined::Defined;
use super::names::TableNames;
use super::parts::{EvaluatedRows, columns_of, incomplete};
use super::steps::{MADE, STEP, Steps};
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::execute::progress::{Progress, tell};

/// A text that is an expression, and the option that it was given by; without a name it was an argument.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The text.
    pub text: &'a str,
    /// The option.
    pub option: &'static str,
}

/// Expressions over the columns of a table.
pub struct Computed {
    dataset: Dataset,
    programs: Vec<(Program, &'static str)>,
    /// The columns that are read.
    columns: Vec<usize>,
}

impl Computed {
    /// Binds expressions to a table. They may use the names of those that are defined.
    ///
    /// # Errors
    ///
    /// A text is no expression, or has no numbers; a name is unknown; a column has fewer entries than the table.
    pub fn numbers(dataset: Dataset, expressions: &[Given<'_>], defines: &[Define]) -> Result<Self> {
        Self::bind(dataset, expressions, defines, false)
    }

    /// Binds expressions to a table, whose values may be texts.
    ///
    /// # Errors
    ///
    /// A text is no expression; a name is unknown; a column has fewer entries than the table.
    pub fn values(dataset: Dataset, expressions: &[Given<'_>]) -> Result<Self> {
        Self::bind(dataset, expressions, &[], true)
    }

    fn bind(dataset: Dataset, expressions: &[Given<'_>], defines: &[Define], texts: bool) -> Result<Self> {
        let path = dataset.path().to_owned();
        // One that no expression uses is looked at as well.
        Defined::bind(&dataset, &path, defines)?.all(&path)?;
        let (mut programs, mut columns) = (Vec::new(), Vec::new());
        let names = TableNames::new(&dataset, &path, defines);
        for &Given { text, option } in expressions {
            let cut = Cut::new(text, option);
            let program = cut.bind(&names)?.map_err(|e| cut.refused(&e).object(&path))?;
            if let (false, of @ Type { kind: Kind::Text, .. }) = (texts, program.value_type()) {
                let why = format!("{}: numbers are needed, and this is {of}: compare it, as in x == 'a'", cut.text);
                return Err(about(why, option).object(&path));
            }
            if let Some(name) = incomplete(&dataset, program.columns()) {
                let why = format!("{}: {name} has no value for each entry", cut.text);
                return Err(about(why, option).object(&path));
            }
            for &column in program.columns() {
                if !columns.contains(&column) {
                    columns.push(column);
                }
            }
            programs.push((program, option));
        }
        drop(names);
        Ok(Self { dataset, programs, columns })
    }

    /// The table.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The number of lists around each value of an expression.
    pub fn depth(&self, expression: usize) -> usize {
        self.programs.get(expression).map_or(0, |(program, _)| program.value_type().depth)
    }

    /// Whether all values of an expression are whole numbers, or truth values.
    pub fn is_whole(&self, expression: usize) -> bool {
        self.programs.get(expression).is_some_and(|(program, _)| program.value_type().kind != Kind::Number)
    }

    /// Calls `take` with the entries, step by step. `progress` gets bytes before compression.
    ///
    /// # Errors
    ///
    /// A column cannot be read, `take` fails, or the work is ended.
    pub fn each_step(
        &self,
        range: Range<u64>,
        selection: Option<&EntrySet>,
        budget: Budget,
        progress: Progress<'_>,
        take: &mut dyn FnMut(&Step<'_>) -> Result<()>,
    ) -> Result<()> {
        let steps = Steps {
            table: &self.dataset,
            columns: &self.columns,
            entries: range,
            selection,
            budget,
            bytes: STEP,
            made: MADE * self.programs.len() as u64,
            team: None,
            before: 0,
        };
        steps.each(|step| {
            take(&Step { computed: self, arrays: &step.arrays, rows: step.rows() })?;
            tell(progress, step.spent.iter().map(|spent| spent.uncompressed).sum())?;
            Ok(ControlFlow::Continue(()))
        })
    }
}

/// Some entries, and the values of the columns for them.
pub struct Step<'a> {
    computed: &'a Computed,
    arrays: &'a [ArrayRef],
    rows: EvaluatedRows<'a>,
}

impl Step<'_> {
    /// The number of entries.
    pub fn rows(&self) -> usize {
        self.rows.count
    }

    /// The number of the entry in a row.
    pub fn entry(&self, row: usize) -> u64 {
        self.rows.entry(row)
    }

    /// The values of an expression in some rows: of Arrow's types of 64 bits, or truth values, in large lists.
    ///
    /// # Errors
    ///
    /// Lists that are joined have different lengths, or a whole number is too large.
    pub fn values(&self, expression: usize, rows: Range<usize>) -> Result<ArrayRef> {
        let (start, all) = (rows.start.min(self.rows.count), rows.end.min(self.rows.count));
        let Some((program, option)) = self.computed.programs.get(expression) else {
            return Err(Error::request("there is no such expression"));
        };
        let part = start..all.max(start);
        let arrays = columns_of(&self.computed.columns, &self.rows.arrays(self.arrays, &part), program.columns());
        let found = program.array(&arrays, part.len(), self.rows.entries(&part));
        found.map_err(|e| refused(&e, option).object(self.computed.dataset.path()))
    }
}

/// An error about an option or an argument.
fn about(why: String, option: &'static str) -> Error {
    if option.is_empty() {
        return Error::request(why);
    }
    let hint = Hint::named(option);
    Error::request(format!("{hint} {why}")).hint(hint)
}
