//! What must hold between the fields and columns of a schema, so that later code needs no checks of IDs: a walk up or down
//! the fields ends, and the representations of a field are complete.

use rootfile::{Error, Result};

use super::frame::Reader;
use super::model::{Column, Field};

/// Most levels of fields below each other. No type nests that deep, and functions that walk the fields recurse.
pub const DEEPEST: u16 = 128;

/// The rules, and what they need to know of the fields and columns so far.
#[derive(Debug, Default)]
pub struct Rules {
    /// The level of each field, from 0.
    levels: Vec<u16>,
    /// For each field its columns so far.
    columns: Vec<Representations>,
}

/// The representations of a field so far.
#[derive(Clone, Copy, Debug, Default)]
struct Representations {
    /// How many there are.
    count: u16,
    /// Columns of the first.
    columns: usize,
    /// Columns of the last.
    columns_of_last: usize,
}

impl Representations {
    fn complete(self) -> bool {
        self.columns == self.columns_of_last
    }
}

impl Rules {
    /// Checks the next field. `r` is for the error.
    pub fn field(&mut self, r: &Reader<'_>, fields: &[Field], field: &Field) -> Result<()> {
        let id = fields.len();
        let level = match field.parent {
            None => 0,
            Some(parent) => match self.levels.get(parent) {
                Some(level) if *level < DEEPEST => level + 1,
                Some(_) => return Err(r.corrupt(format_args!("field {id} is more than {DEEPEST} levels deep"))),
                None => {
                    return Err(
                        r.corrupt(format_args!("field {id} is below field {parent}, which does not precede it"))
                    );
                }
            },
        };
        // Dots join the names of a path.
        if field.name.is_empty() || field.name.contains(|c: char| c == '.' || c.is_ascii_control()) {
            return Err(r.corrupt(format_args!("field {id} has the impossible name {:?}", field.name)));
        }
        self.levels.push(level);
        self.columns.push(Representations::default());
        Ok(())
    }

    /// Checks the next column: representations of a field are numbered from 0, and each column follows those of its own and
    /// of earlier representations.
    pub fn column(&mut self, r: &Reader<'_>, fields: &[Field], column: &Column) -> Result<()> {
        let Some(known) = self.columns.get_mut(column.field) else {
            return Err(r.corrupt(format_args!("a column of field {}, but there are {}", column.field, fields.len())));
        };
        if column.representation == known.count && known.complete() {
            known.count = known.count.saturating_add(1);
            known.columns_of_last = 0;
        } else if column.representation.checked_add(1) != Some(known.count) {
            let (field, next) = (column.field, column.representation);
            return Err(r.corrupt(format_args!("field {field}: a column of representation {next} is out of order")));
        }
        known.columns_of_last += 1;
        if known.count == 1 {
            known.columns = known.columns_of_last;
        }
        Ok(())
    }

    /// Checks the schema as a whole.
    pub fn finish(&self, fields: &[Field]) -> Result<()> {
        if let Some((id, known)) = self.columns.iter().enumerate().find(|(_, known)| !known.complete()) {
            let (first, last) = (known.columns, known.columns_of_last);
            return Err(Error::corrupt(format!("field {id}: representations with {first} and with {last} columns")));
        }
        for (id, source) in fields.iter().enumerate().filter_map(|(id, field)| Some((id, field.source?))) {
            match fields.get(source) {
                None => return Err(Error::corrupt(format!("field {id} shows field {source}, which does not exist"))),
                Some(shown) if shown.source.is_some() => {
                    return Err(Error::corrupt(format!("field {id} shows field {source}, which shows another itself")));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}
