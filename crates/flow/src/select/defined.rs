//! The columns that expressions define in one table: bound to its columns, and computed where columns are written or shown.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, FieldRef};
use arrow_select::concat::concat;
use dataset::glob::NameFilter;
use expr::{ErrorKind, Expression, Program};
use rayon::ThreadPool;
use rootfile::{Error, Hint, Result};

use super::cuts::{Cut, filter, names_in, refused};
use super::define::{DEFINE, Define};
use super::names::TableNames;
use super::parts::{EvaluatedRows, columns_of, in_parts, incomplete, refuse_incomplete};
use super::source::OpenColumns;
use crate::arrow::read::{Dataset, NamedTable};

/// The columns that are defined in one table.
#[derive(Clone, Debug, Default)]
pub struct Defined {
    programs: Vec<(String, Program)>,
    /// The columns of the table that they need.
    columns: Vec<usize>,
    /// The option that they were given by.
    option: &'static str,
    /// Why the table does not have the columns of others.
    pub(crate) lacking: Vec<(String, expr::Error)>,
}

impl Defined {
    /// Those for which a table with this path has the columns.
    ///
    /// # Errors
    ///
    /// A text is no expression, has no type that a column can have, or its name is taken.
    pub fn bind(table: &dyn NamedTable, path: &str, defines: &[Define]) -> Result<Self> {
        let mut found = Self { option: DEFINE, ..Self::default() };
        for (place, define) in defines.iter().enumerate() {
            let refused = |e: &expr::Error| refused(e, DEFINE).object(path);
            let expression = Expression::parse(&define.text).map_err(|e| refused(&e))?;
            let names = TableNames::new(table, path, defines.get(..place).unwrap_or_default());
            let program = match expression.bind(&names) {
                Ok(program) => program,
                Err(e) if e.kind() == ErrorKind::UnknownName => {
                    if let Some(why) = names.unusable(&e) {
                        return Err(why);
                    }
                    found.lacking.push((define.name.clone(), e));
                    continue;
                }
                Err(e) => return Err(refused(&e)),
            };
            if names.is_taken(&define.name) {
                let hint = Hint::named(DEFINE);
                let message = format!("{hint} {}: there is a column or an alias of this name already", define.name);
                return Err(Error::request(message).hint(hint).object(path));
            }
            found.push(&define.name, program);
        }
        refuse_incomplete(table, &found.columns, DEFINE, path)?;
        Ok(found)
    }

    /// The values of expressions that were arguments, each under its text. They may use what is defined, in place of aliases too.
    ///
    /// # Errors
    ///
    /// A text is no expression, or the table has not the columns of one, or not for each entry.
    pub fn of_texts(table: &dyn NamedTable, texts: &[String], defines: &[Define]) -> Result<Self> {
        let path = table.path();
        let names = TableNames::new(table, path, defines);
        let mut found = Self::default();
        for text in texts {
            let one = Cut::new(text, found.option);
            let program = one.bind(&names)?.map_err(|e| one.refused(&e).object(path))?;
            if let Some(name) = incomplete(table, program.columns()) {
                return Err(Error::request(format!("{text}: {name} has no value for each entry")).object(path));
            }
            found.push(text, program);
        }
        Ok(found)
    }

    fn push(&mut self, name: &str, program: Program) {
        self.columns.extend(program.columns());
        self.columns.sort_unstable();
        self.columns.dedup();
        self.programs.push((name.to_owned(), program));
    }

    /// Opens the columns that they need.
    ///
    /// # Errors
    ///
    /// As [`bind`](Self::bind), and if the table cannot be opened.
    pub(crate) fn open(path: &str, open: OpenColumns<'_>, defines: &[Define]) -> Result<(Dataset, Self)> {
        let mut names: Vec<String> = names_in(defines).collect();
        // Whether their own names are taken.
        names.extend(defines.iter().map(|define| define.name.clone()));
        let dataset = open(&filter(&names)?)?;
        let found = Self::bind(&dataset, path, defines)?;
        if found.lacking.is_empty() {
            return Ok((dataset, found));
        }
        // Aliases name further columns, and messages name those that are near.
        let dataset = open(&NameFilter::default())?;
        let found = Self::bind(&dataset, path, defines)?;
        Ok((dataset, found))
    }

    /// Fails if the table has not the columns of one.
    ///
    /// # Errors
    ///
    /// It has not.
    pub fn all(self, path: &str) -> Result<Self> {
        match self.lacking.first() {
            Some((_, error)) => Err(refused(error, DEFINE).object(path)),
            None => Ok(self),
        }
    }

    /// Whether nothing is defined.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty()
    }

    /// The columns of the table that are read for them.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Whether one counts entries.
    pub(crate) fn counts_entries(&self) -> bool {
        self.programs.iter().any(|(_, program)| program.counts_entries())
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.programs.iter().map(|(name, _)| name.as_str())
    }

    /// Their fields. Lists have the C++ type of a vector in their metadata, so that a tree needs no counter for them.
    pub fn fields(&self) -> Vec<FieldRef> {
        let field = |(name, program): &(String, Program)| {
            let of = program.value_type();
            let lists = (0..of.depth)
                .fold(of.kind.arrow(), |item, _| DataType::LargeList(Arc::new(Field::new("item", item, true))));
            let field = Field::new(name, lists, true);
            let vector = (0..of.depth).fold(cpp(of.kind).to_owned(), |item, _| match item.ends_with('>') {
                true => format!("vector<{item} >"),
                false => format!("vector<{item}>"),
            });
            let metadata = (of.depth > 0).then(|| ("typename".to_owned(), vector));
            Arc::new(field.with_metadata(HashMap::from_iter(metadata)))
        };
        self.programs.iter().map(field).collect()
    }

    /// Their values, given the arrays of their columns in order.
    ///
    /// # Errors
    ///
    /// A value cannot be computed.
    pub fn arrays(
        &self,
        read: &[ArrayRef],
        rows: &EvaluatedRows<'_>,
        team: Option<&ThreadPool>,
    ) -> Result<Vec<ArrayRef>> {
        let parts = in_parts(team, rows.count, |part| {
            let (arrays, entries) = (rows.arrays(read, part), rows.entries(part));
            let one = |(_, program): &(String, Program)| {
                let own = columns_of(&self.columns, &arrays, program.columns());
                program.array(&own, part.len(), entries).map_err(|e| refused(&e, self.option))
            };
            self.programs.iter().map(one).collect::<Result<Vec<ArrayRef>>>()
        })?;
        let failed = |e: arrow_schema::ArrowError| Error::unsupported(format!("internal error: {e}"));
        let of = |place: usize| {
            let all: Vec<&dyn Array> = parts.iter().filter_map(|(_, part)| Some(part.get(place)?.as_ref())).collect();
            match all.as_slice() {
                [] => {
                    let field = self.fields().get(place).map(|field| field.data_type().clone());
                    Ok(arrow_array::new_empty_array(&field.unwrap_or(DataType::Null)))
                }
                all => concat(all).map_err(failed),
            }
        };
        (0..self.programs.len()).map(of).collect()
    }
}

/// The error of a definition.
pub(crate) fn refuse_define(error: &expr::Error) -> Error {
    refused(error, DEFINE)
}

/// The C++ type of a value.
fn cpp(kind: expr::Kind) -> &'static str {
    match kind {
        expr::Kind::Bool => "bool",
        expr::Kind::Whole => "Long64_t",
        expr::Kind::Unsigned => "ULong64_t",
        expr::Kind::Number => "double",
        expr::Kind::Text => "string",
    }
}
