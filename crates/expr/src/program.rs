//! Expressions as their users see them: parsed, bound to the columns of a table, and evaluated over arrays of these columns in portions
//! that stay in the processor's cache.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, LargeListArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_schema::Field;
use arrow_select::concat::concat;

use crate::bind::{Bound, Input, Names, bind, names_in};
use crate::entries::Entries;
use crate::error::{Error, ErrorKind, Result};
use crate::evaluate::{Portion, evaluate};
use crate::extents::{Extent, Given, Passing, passing};
use crate::parse::parse;
use crate::syntax::{Node, Syntax};
use crate::typed::Typed;
use crate::types::{Kind, Type};
use crate::values::{Values, load};

/// Entries that are evaluated together.
const PORTION: usize = 8192;

/// An expression that was parsed.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    root: Syntax,
}

/// An expression over the columns of a table.
#[derive(Clone, Debug)]
pub struct Program {
    text: String,
    root: Typed,
    inputs: Vec<Input>,
    columns: Vec<usize>,
    counts_entries: bool,
}

/// A program with one truth value for each entry.
#[derive(Clone, Debug)]
pub struct Condition(Program);

impl Expression {
    /// Parses a text.
    ///
    /// # Errors
    ///
    /// The text is no expression, or too large.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(Self { root: parse(text)?, text: text.to_owned() })
    }

    /// The expression that is one name, whatever characters the name has.
    pub fn named(name: &str) -> Self {
        let root = Syntax { node: Node::Quoted(name.to_owned()), place: 0..name.len(), depth: 1, enclosed: false };
        Self { text: name.to_owned(), root }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names that may be those of columns or aliases, with those joined by slashes, and names before a dot.
    pub fn names(&self) -> Vec<String> {
        let mut found: Vec<String> = names_in(&self.root).into_iter().map(|(name, _)| name).collect();
        let above = found.iter().flat_map(|name| {
            let dots = name.match_indices('.');
            dots.filter_map(|(dot, _)| Some(name.get(..dot)?.to_owned())).collect::<Vec<_>>()
        });
        let above: Vec<String> = above.collect();
        found.extend(above);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The program for the columns of a table.
    ///
    /// # Errors
    ///
    /// A name is unknown, or an operation does not take its operands.
    pub fn bind(&self, names: &dyn Names) -> Result<Program> {
        let Bound { root, inputs, counts_entries } = bind(&self.text, &self.root, names)?;
        let mut columns = Vec::new();
        for input in &inputs {
            if !columns.contains(&input.number) {
                columns.push(input.number);
            }
        }
        Ok(Program { text: self.text.clone(), root, inputs, columns, counts_entries })
    }
}

impl Program {
    /// The text of the expression.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The numbers of the columns that it needs, each once.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Whether it needs the numbers of the entries.
    pub fn counts_entries(&self) -> bool {
        self.counts_entries
    }

    /// The type of its values.
    pub fn value_type(&self) -> Type {
        self.root.of
    }

    /// The program as a condition: numbers are true if they are not zero.
    ///
    /// # Errors
    ///
    /// It has lists or texts.
    pub fn condition(self) -> Result<Condition> {
        let refused = |message: String| Err(Error::types(message, self.root.place.clone()).of(&self.text));
        match self.root.of {
            Type { kind: Kind::Text, depth: 0 } => {
                refused("a condition is true or false, and this is a text: compare it, as in x == 'a'".to_owned())
            }
            Type { depth: 0, .. } => Ok(Condition(self)),
            of => refused(format!(
                "a condition has one truth value for each entry, and this is {of}: write any(...) or all(...) around it"
            )),
        }
    }

    /// The program as one number for each entry.
    ///
    /// # Errors
    ///
    /// It has lists or texts.
    pub fn number(self) -> Result<Self> {
        match self.root.of {
            Type { kind: Kind::Text, .. } | Type { depth: 1.., .. } => {
                let message = format!("one number for each entry is needed, and this is {}", self.root.of);
                Err(Error::types(message, self.root.place.clone()).of(&self.text))
            }
            _ => Ok(self),
        }
    }

    /// The values of one number for each entry as doubles; NaN where there is no value.
    ///
    /// # Errors
    ///
    /// As for [`Program::array`].
    pub fn numbers(&self, arrays: &[ArrayRef], rows: usize, entries: Entries<'_>) -> Result<Vec<f64>> {
        let array = self.array(arrays, rows, entries)?;
        let cast = arrow_cast::cast(&array, &Kind::Number.arrow()).map_err(|e| self.failed(&e.to_string()))?;
        Ok(cast.as_primitive::<Float64Type>().iter().map(|value| value.unwrap_or(f64::NAN)).collect())
    }

    /// Its values as an Arrow array, given the arrays of its columns in their order: of Arrow's types of 64 bits, in large lists.
    ///
    /// # Errors
    ///
    /// Lists that are joined have different lengths, or a whole number is too large.
    pub fn array(&self, arrays: &[ArrayRef], rows: usize, entries: Entries<'_>) -> Result<ArrayRef> {
        let mut parts = Vec::new();
        self.in_portions(arrays, rows, entries, &mut |values, rows| {
            parts.push(to_arrow(&values, rows));
            Ok(())
        })?;
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        concat(&parts).map_err(|e| self.failed(&e.to_string()))
    }

    /// Evaluates portion by portion. `take` gets the values and the number of entries of each; there is at least one.
    fn in_portions(
        &self,
        arrays: &[ArrayRef],
        rows: usize,
        entries: Entries<'_>,
        take: &mut dyn FnMut(Values, usize) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        loop {
            let count = PORTION.min(rows - at);
            let mut columns = Vec::with_capacity(self.inputs.len());
            for input in &self.inputs {
                let array = self.columns.iter().position(|column| *column == input.number);
                let array = array.and_then(|place| arrays.get(place)).filter(|array| array.len() >= at + count);
                let array = array.ok_or_else(|| self.failed("the values of a column are missing"))?;
                columns.push(load(&array.slice(at, count), &input.members, input.of).map_err(|e| self.failed(&e))?);
            }
            let portion = Portion { columns: &columns, rows: count, entries: entries.starting_at(at) };
            take(evaluate(&self.root, &portion).map_err(|e| e.of(&self.text))?, count)?;
            at += count;
            if at >= rows {
                return Ok(());
            }
        }
    }

    fn failed(&self, why: &str) -> Error {
        Error::new(ErrorKind::Values, why, self.root.place.clone()).of(&self.text)
    }
}

impl Condition {
    /// The text of the expression.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The numbers of the columns that it needs, each once.
    pub fn columns(&self) -> &[usize] {
        &self.0.columns
    }

    /// Whether it needs the numbers of the entries.
    pub fn counts_entries(&self) -> bool {
        self.0.counts_entries
    }

    /// How many of the entries with these numbers pass, given what is known of the columns in their order. Where their values may be an
    /// error, only these tell.
    pub fn passing(&self, extents: &[Option<Extent>], entries: Range<u64>) -> Passing {
        let column = |input: &Input| {
            let place = self.0.columns.iter().position(|column| *column == input.number);
            // What is known of objects is not that of a member.
            place.and_then(|place| extents.get(place)?.as_ref()).filter(|_| input.members.is_empty())
        };
        passing(&self.0.root, &Given { columns: self.0.inputs.iter().map(column).collect(), entries })
    }

    /// Which of the entries pass, given the arrays of its columns in their order. Without a column there is one entry.
    ///
    /// # Errors
    ///
    /// As for [`Program::array`].
    pub fn passed(&self, arrays: &[ArrayRef], entries: Entries<'_>) -> Result<BooleanBuffer> {
        self.passed_of(arrays, arrays.first().map_or(1, Array::len), entries)
    }

    /// The same for a number of entries. An entry without a value does not pass.
    ///
    /// # Errors
    ///
    /// As for [`Program::array`].
    pub fn passed_of(&self, arrays: &[ArrayRef], rows: usize, entries: Entries<'_>) -> Result<BooleanBuffer> {
        let mut found = BooleanBufferBuilder::new(rows);
        self.0.in_portions(arrays, rows, entries, &mut |values, rows| {
            let truth =
                arrow_cast::cast(&values.leaf, &Kind::Bool.arrow()).map_err(|e| self.0.failed(&e.to_string()))?;
            let truth = is_true(truth.as_boolean());
            match values.is_constant {
                true => found.append_n(rows, truth.iter().next().unwrap_or(false)),
                false => found.append_buffer(&truth),
            }
            Ok(())
        })?;
        Ok(found.finish())
    }
}

/// Where an array has a value that is true.
fn is_true(array: &BooleanArray) -> BooleanBuffer {
    array.nulls().map_or_else(|| array.values().clone(), |nulls| array.values() & nulls.inner())
}

/// Values as an array of so many entries.
fn to_arrow(values: &Values, rows: usize) -> ArrayRef {
    if values.is_constant {
        let places: Vec<_> = std::iter::repeat_n(Some(0), rows).collect();
        return crate::values::gather(&[], &values.leaf, &places).leaf;
    }
    values.levels.iter().rev().fold(values.leaf.clone(), |items, level| {
        let field = Arc::new(Field::new("item", items.data_type().clone(), true));
        Arc::new(LargeListArray::new(field, level.clone(), items, None))
    })
}
