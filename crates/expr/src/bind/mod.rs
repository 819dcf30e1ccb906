//! Gives an expression its types: names become columns, operands get the same kinds, and what cannot be computed is refused with its place.
//! `operators`, `calls` and `subscripts` have the rules of each kind of part, and `binder` those of names.

mod binder;
mod calls;
mod operators;
mod subscripts;

use crate::error::{Error, ErrorKind, Result};
use crate::parse::DEEPEST;
use crate::syntax::{Node, Syntax};
use crate::typed::{Logic, Typed};

use binder::{Binder, constant};
pub(crate) use binder::{Input, names_in};
pub use binder::{NamedColumn, Names};

/// The most parts of an expression with all of its aliases.
const MOST_PARTS: usize = 20_000;

/// The typed tree of an expression, and the columns that it needs.
pub(crate) struct Bound {
    pub root: Typed,
    pub inputs: Vec<Input>,
    /// Whether it names the number of the entry.
    pub counts_entries: bool,
}

/// Gives an expression its types.
pub(crate) fn bind(text: &str, root: &Syntax, names: &dyn Names) -> Result<Bound> {
    let (inputs, aliases) = (Vec::new(), Vec::new());
    let mut binder = Binder { names, inputs, aliases, scope: root, parts: 0, depth: 0, counts_entries: false };
    let root = binder.part(root).map_err(|e| e.of(text))?;
    Ok(Bound { root, inputs: binder.inputs, counts_entries: binder.counts_entries })
}

impl<'a> Binder<'a> {
    fn part(&mut self, syntax: &'a Syntax) -> Result<Typed> {
        self.parts += 1;
        self.depth += 1;
        if self.parts > MOST_PARTS || self.depth > DEEPEST {
            let message = "the expression is too large, with the aliases in it";
            return Err(Error::new(ErrorKind::TooLarge, message, syntax.place.clone()));
        }
        let place = || syntax.place.clone();
        let found = match &syntax.node {
            Node::Literal(literal) => constant(literal.clone(), place()),
            Node::Name(name) => self.name(name, place())?,
            Node::Quoted(name) => match self.stored(name, &place())? {
                Some(found) => found,
                None => return Err(self.unknown(name, place())),
            },
            Node::Unary(unary, operand) => {
                let operand = self.part(operand)?;
                operators::unary(*unary, operand, place())?
            }
            Node::Binary(binary, left, right) => match self.slashed(*binary, syntax)? {
                Some(column) => column,
                None => operators::binary(*binary, [self.part(left)?, self.part(right)?], place())?,
            },
            Node::Compare(first, rest) => {
                let mut left = self.part(first)?;
                let mut found = Vec::with_capacity(rest.len());
                for (comparison, right) in rest {
                    let right = self.part(right)?;
                    found.push(operators::compare(*comparison, [left, right.clone()], place())?);
                    left = right;
                }
                operators::all_of(found, place())
            }
            Node::All(operands) => operators::logic(Logic::All, self.all(operands)?, place())?,
            Node::Any(operands) => operators::logic(Logic::Any, self.all(operands)?, place())?,
            Node::Choose(parts) => {
                let [condition, yes, no] = parts.as_ref();
                operators::choose([self.part(condition)?, self.part(yes)?, self.part(no)?], place())?
            }
            Node::Within(item, list) => self.within(item, list, place())?,
            Node::List(_) => return Err(Error::types("a list of constants stands behind in", place())),
            Node::Call(name, arguments) => self.call(name, arguments, place())?,
            Node::Index(value, subscripts) => self.index(value, subscripts, place())?,
        };
        self.depth -= 1;
        Ok(found)
    }

    fn all(&mut self, parts: &'a [Syntax]) -> Result<Vec<Typed>> {
        parts.iter().map(|part| self.part(part)).collect()
    }
}
