//! What a text is as an expression over an open table, before anything is read: for callers that know another language as well. Its values
//! are those of [`Defined`](super::Defined), and the entries that pass it those of [`Choice`](super::Choice).

use expr::{Expression, Program};
use rootfile::Error;

use super::cuts::{CUT, Cut};
use super::define::Define;
use super::names::TableNames;
use crate::arrow::read::NamedTable;

/// What a text is for a table.
#[derive(Debug)]
pub enum Meaning {
    /// An expression over these columns.
    Fits(Vec<usize>),
    /// No expression.
    NoExpression,
    /// An expression with a name, of a column or a function, that is not known, and the whole message.
    UnknownName(String, Error),
    /// An expression that cannot be evaluated for this table.
    Wrong(Error),
}

impl Meaning {
    /// What it is as a condition on entries. It may use what is defined.
    pub fn of_condition(table: &dyn NamedTable, text: &str, defines: &[Define]) -> Self {
        let columns = |program: Program| program.condition().map(|condition| condition.columns().to_vec());
        Self::of(table, &Cut::new(text, CUT), defines, columns)
    }

    /// What it is as the values of a column. It may use what is defined.
    pub fn of_values(table: &dyn NamedTable, text: &str, defines: &[Define]) -> Self {
        Self::of(table, &Cut::new(text, ""), defines, |program| Ok(program.columns().to_vec()))
    }

    fn of(
        table: &dyn NamedTable,
        asked: &Cut,
        defines: &[Define],
        columns: impl FnOnce(Program) -> Result<Vec<usize>, expr::Error>,
    ) -> Self {
        if Expression::parse(&asked.text).is_err() {
            return Self::NoExpression;
        }
        match asked.bind(&TableNames::new(table, table.path(), defines)) {
            Err(e) => Self::Wrong(e),
            Ok(Err(e)) => {
                let name = e.subject().to_owned();
                Self::UnknownName(name, asked.refused(&e))
            }
            Ok(Ok(program)) => columns(program).map_or_else(|e| Self::Wrong(asked.refused(&e)), Self::Fits),
        }
    }
}
