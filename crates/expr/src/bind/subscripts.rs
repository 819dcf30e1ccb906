//! The types of square brackets: an item of each list, a part of each list, items for which a condition is true.

use std::ops::Range;

use super::binder::{Binder, constant};
use crate::error::{Error, Result};
use crate::syntax::{Literal, Subscript, Syntax};
use crate::typed::{Step, Typed};
use crate::types::{Kind, Type};

impl<'a> Binder<'a> {
    /// A value with square brackets behind it. `x[:, 0]` is `x[0]`: an expression is about one entry.
    pub(super) fn index(
        &mut self,
        value: &'a Syntax,
        subscripts: &'a [Subscript],
        place: Range<usize>,
    ) -> Result<Typed> {
        let mut found = self.part(value)?;
        let subscripts = match subscripts {
            [Subscript::Slice(None, None, _), rest @ ..] if !rest.is_empty() => rest,
            [Subscript::Slice(_, _, at), _, ..] => {
                let message = "the first of several indices is : for the entries; entries are chosen elsewhere";
                return Err(Error::syntax(message, at.clone()));
            }
            all => all,
        };
        let Some((last, before)) = subscripts.split_last() else {
            return Err(Error::syntax("an index is expected in the brackets", place));
        };
        for subscript in before {
            let Subscript::At(at) = subscript else {
                return Err(Error::syntax("a slice is the last index", place));
            };
            let at = self.part(at)?;
            found = at_index(found, at, place.clone())?;
        }
        match last {
            Subscript::At(at) => {
                let at = self.part(at)?;
                at_index(found, at, place)
            }
            Subscript::Slice(start, end, _) => {
                has_lists(&found, "a slice")?;
                Ok(Typed { of: found.of, step: Step::Slice(Box::new(found), *start, *end), place })
            }
        }
    }
}

fn has_lists(value: &Typed, what: &str) -> Result<()> {
    if value.of.depth > 0 {
        return Ok(());
    }
    let message = format!("{what} takes a list, and this is {}; an expression is about one entry", value.of);
    Err(Error::types(message, value.place.clone()))
}

/// The item at a constant place.
pub(super) fn item(value: Typed, at: i64, what: &str, place: Range<usize>) -> Result<Typed> {
    has_lists(&value, what)?;
    let at = constant(Literal::Whole(at), place.clone());
    at_index(value, at, place)
}

/// An item of each list, or the items that a list of places or of truth values chooses.
pub(super) fn at_index(value: Typed, at: Typed, place: Range<usize>) -> Result<Typed> {
    has_lists(&value, "an index")?;
    let of = value.of;
    let (wrong, at_place) = (|message: String, at: Range<usize>| Err(Error::types(message, at)), at.place.clone());
    match (at.of.kind, at.of.depth) {
        (Kind::Bool, 0) => {
            wrong("an index is a whole number; this is a truth value for each entry".to_owned(), at_place)
        }
        (Kind::Bool, depth) if depth > of.depth => {
            wrong(format!("the condition is {}, and the values before it are {of}", at.of), at_place)
        }
        (Kind::Bool, _) => Ok(Typed { step: Step::Filter(Box::new([value, at])), of, place }),
        (Kind::Whole | Kind::Unsigned, 0) => {
            let of = Type { depth: of.depth - 1, ..of };
            Ok(Typed { step: Step::Item(Box::new([value, at.to(Kind::Whole)])), of, place })
        }
        (Kind::Whole | Kind::Unsigned, 1) if of.depth == 1 => {
            Ok(Typed { step: Step::Pick(Box::new([value, at.to(Kind::Whole)])), of, place })
        }
        (Kind::Whole | Kind::Unsigned, _) => wrong("lists of lists are indexed by one number".to_owned(), at_place),
        (Kind::Number | Kind::Text, _) => wrong(format!("an index is a whole number, and this is {}", at.of), at_place),
    }
}
