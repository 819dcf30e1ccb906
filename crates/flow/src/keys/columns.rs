//! The columns of a key in an open table: bound by their names, or as expressions, and read step by step. Nothing else is read.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use arrow_array::ArrayRef;
use dataset::EntrySet;
use dataset::glob::NameFilter;
use expr::{Kind, Program, Type};
use rayon::ThreadPool;
use rootfile::{Error, Hint, Result};

use super::key_type::KeyPart;
use super::names::KeyNames;
use crate::arrow::read::{Dataset, ReadCost};
use crate::execute::budget::Budget;
use crate::select::{
    Cut, Define, EvaluatedRows, MADE, OpenColumns, STEP, Steps, TableNames, columns_of, filter, names_in,
    refuse_incomplete, refused,
};

/// Where the values of a part of a key come from.
enum Source {
    /// A column, by its number.
    Column(usize),
    /// An expression.
    Program(Program),
}

/// The columns of a key.
pub(crate) struct KeyColumns {
    dataset: Dataset,
    sources: Vec<Source>,
    parts: Vec<KeyPart>,
    /// The columns that are read.
    columns: Vec<usize>,
    /// The option that gave the key.
    option: &'static str,
}

/// Which entries are read, and how.
pub(crate) struct KeyReading<'a> {
    pub entries: Range<u64>,
    pub selection: Option<&'a EntrySet>,
    pub budget: Budget,
    pub team: Option<Arc<ThreadPool>>,
    /// Entries of the tables before this one, where several are one after the other.
    pub before: u64,
}

/// The values of the key for some entries.
pub(crate) struct KeyStep<'a> {
    /// An array for each part.
    pub arrays: Vec<ArrayRef>,
    pub rows: EvaluatedRows<'a>,
    /// What was read for them.
    pub spent: ReadCost,
}

impl KeyStep<'_> {
    /// The numbers of the entries.
    pub fn entries(&self) -> impl Iterator<Item = u64> {
        let EvaluatedRows { count, first, numbers, .. } = self.rows;
        (0..count).map(move |row| numbers.map_or(first + row as u64, |all| all.get(row).copied().unwrap_or(0)))
    }
}

/// What a table lacks, all of whose columns are open, for a key.
///
/// # Errors
///
/// A text of the key is no expression.
pub(crate) fn lacking_of(
    dataset: &Dataset,
    path: &str,
    key: &KeyNames,
    defines: &[Define],
) -> Result<Option<expr::Error>> {
    let names = TableNames::new(dataset, path, defines);
    for text in key.texts() {
        if let Err(lacking) = Cut::new(text, key.option()).bind(&names)? {
            return Ok(Some(lacking));
        }
    }
    Ok(None)
}

impl KeyColumns {
    /// Opens the columns in a table of this path, some of which may be defined by expressions. The inner error names what the table lacks.
    ///
    /// # Errors
    ///
    /// A text is no expression, has no number for each entry, or the table cannot be opened.
    pub fn open(
        path: &str,
        open: OpenColumns<'_>,
        key: &KeyNames,
        defines: &[Define],
    ) -> Result<std::result::Result<Self, expr::Error>> {
        let parsed: Vec<Cut> = key.texts().iter().map(|text| Cut::new(text, key.option())).collect();
        let names: Vec<String> = parsed.iter().flat_map(Cut::names).chain(names_in(defines)).collect();
        match Self::bind(open(&filter(&names)?)?, path, &parsed, key.option(), defines)? {
            Ok(found) => Ok(Ok(found)),
            // Aliases name further columns, and messages name those that are near.
            Err(_) => Self::bind(open(&NameFilter::default())?, path, &parsed, key.option(), defines),
        }
    }

    fn bind(
        dataset: Dataset,
        path: &str,
        key: &[Cut],
        option: &'static str,
        defines: &[Define],
    ) -> Result<std::result::Result<Self, expr::Error>> {
        let (mut sources, mut parts, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        let names = TableNames::new(&dataset, path, defines);
        for cut in key {
            let column = expr::Names::column(&names, &cut.text);
            let of_column =
                column.and_then(|column| Some((KeyPart::new(&cut.text, &column.data_type)?, column.number)));
            if let Some((part, number)) = of_column {
                columns.push(number);
                parts.push(part);
                sources.push(Source::Column(number));
                continue;
            }
            let program = match cut.bind(&names)? {
                Ok(program) => program,
                Err(lacking) => return Ok(Err(lacking)),
            };
            let part = match program.value_type() {
                Type { kind: Kind::Text, .. } | Type { depth: 1.., .. } => None,
                Type { kind, .. } => KeyPart::new(&cut.text, &kind.arrow()),
            };
            let part = part.ok_or_else(|| {
                let hint = Hint::named(option);
                let of = program.value_type();
                let message = format!("{hint} {}: a key has one number for each entry, and this is {of}", cut.text);
                Error::request(message).hint(hint).object(path)
            })?;
            columns.extend(program.columns());
            parts.push(part);
            sources.push(Source::Program(program));
        }
        drop(names);
        columns.sort_unstable();
        columns.dedup();
        refuse_incomplete(&dataset, &columns, option, path)?;
        Ok(Ok(Self { dataset, sources, parts, columns, option }))
    }

    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// Bytes of the columns that are read.
    pub fn bytes(&self) -> u64 {
        self.dataset.bytes_of(&self.columns)
    }

    /// The names and types of its parts.
    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }

    /// Whether an expression counts entries.
    pub fn counts_entries(&self) -> bool {
        let counts = |source: &Source| matches!(source, Source::Program(program) if program.counts_entries());
        self.sources.iter().any(counts)
    }

    /// Calls `take` with the entries, step by step.
    ///
    /// # Errors
    ///
    /// A column cannot be read, or `take` fails.
    pub fn each_step(&self, how: &KeyReading<'_>, take: &mut dyn FnMut(&KeyStep<'_>) -> Result<()>) -> Result<()> {
        let KeyReading { entries, selection, budget, team, before } = how;
        let steps = Steps {
            table: &self.dataset,
            columns: &self.columns,
            entries: entries.clone(),
            selection: *selection,
            budget: *budget,
            bytes: STEP,
            made: MADE,
            team: team.clone(),
            before: *before,
        };
        steps.each(|step| {
            let rows = step.rows();
            let mut spent = ReadCost::default();
            step.spent.iter().for_each(|one| spent += *one);
            take(&KeyStep { arrays: self.arrays(&step.arrays, &rows)?, rows, spent })?;
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The values of each part, given those of the columns.
    fn arrays(&self, read: &[ArrayRef], rows: &EvaluatedRows<'_>) -> Result<Vec<ArrayRef>> {
        let path = self.dataset.path();
        let of = |source: &Source| match source {
            Source::Column(number) => {
                let array = columns_of(&self.columns, read, std::slice::from_ref(number)).pop();
                array.ok_or_else(|| Error::request("a column of the key was not read").object(path))
            }
            Source::Program(program) => {
                let own = columns_of(&self.columns, read, program.columns());
                let found = program.array(&own, rows.count, rows.entries(&(0..rows.count)));
                found.map_err(|e| refused(&e, self.option).object(path))
            }
        };
        self.sources.iter().map(of).collect()
    }
}
