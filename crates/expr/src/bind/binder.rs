//! Names of an expression: which are columns, aliases, members of a column's objects, or constants.

use std::collections::HashSet;
use std::ops::Range;

use arrow_schema::DataType;

use crate::error::{Error, ErrorKind, Result, listing, near, offer};
use crate::parse::parse;
use crate::syntax::{Binary, Literal, Node, Syntax};
use crate::typed::{Fold, Step, Typed};
use crate::types::{Kind, Type, of_arrow};

/// The names that expressions are about: those of a table.
pub trait Names {
    /// The column of a name.
    fn column(&self, name: &str) -> Option<NamedColumn>;

    /// The text of an alias.
    fn alias(&self, name: &str) -> Option<String>;

    /// All names, for messages.
    fn known(&self) -> Vec<String>;
}

/// A column that a name stands for.
#[derive(Clone, Debug)]
pub struct NamedColumn {
    /// Its number, by which the caller knows it.
    pub number: usize,
    /// Its type.
    pub data_type: DataType,
}

/// A column that an expression needs, and the members of its objects on the way to the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    pub number: usize,
    pub members: Vec<String>,
    pub of: Type,
}

pub(super) struct Binder<'a> {
    pub names: &'a dyn Names,
    pub inputs: Vec<Input>,
    /// The aliases on the way to the part that is bound.
    pub aliases: Vec<String>,
    /// What `Iteration$` goes through: the argument of the innermost fold.
    pub scope: &'a Syntax,
    pub parts: usize,
    pub depth: usize,
    /// Whether the number of the entry was named.
    pub counts_entries: bool,
}

impl<'a> Binder<'a> {
    /// A name: of a column, an alias, a member of a column's objects, or a constant.
    pub fn name(&mut self, name: &str, place: Range<usize>) -> Result<Typed> {
        if let Some(found) = self.stored(name, &place)? {
            return Ok(found);
        }
        let whole = Type { kind: Kind::Whole, depth: 0 };
        let number = |number| Ok(constant(Literal::Number(number), place.clone()));
        match name {
            "entry" | "Entry$" | "rdfentry_" => {
                self.counts_entries = true;
                Ok(Typed { step: Step::Entry, of: whole, place })
            }
            "pi" | "M_PI" | "TMath::Pi" => number(std::f64::consts::PI),
            "inf" => number(f64::INFINITY),
            "nan" => number(f64::NAN),
            "Iteration$" | "Length$" => {
                let lists = self.lists_in(self.scope, &place)?;
                let (of, lists) = (Type { depth: 1, ..whole }, Box::new(lists));
                Ok(match name {
                    "Length$" => Typed { step: Step::Length(lists), of: whole, place },
                    _ => Typed { step: Step::Places(lists), of, place },
                })
            }
            _ => Err(self.unknown(name, place)),
        }
    }

    /// The column or the alias of a name, or a member of a column.
    pub fn stored(&mut self, name: &str, place: &Range<usize>) -> Result<Option<Typed>> {
        if let Some(column) = self.names.column(name) {
            return self.column(column, &[], name, place).map(Some);
        }
        if let Some(text) = self.names.alias(name) {
            return self.alias(name, &text, place).map(Some);
        }
        for (dot, _) in name.rmatch_indices('.') {
            let (Some(above), Some(rest)) = (name.get(..dot), name.get(dot + 1..)) else { continue };
            if let Some(column) = self.names.column(above) {
                let members: Vec<String> = rest.split('.').map(str::to_owned).collect();
                return self.column(column, &members, above, place).map(Some);
            }
        }
        Ok(None)
    }

    fn column(&mut self, column: NamedColumn, members: &[String], name: &str, place: &Range<usize>) -> Result<Typed> {
        let of = of_arrow(&column.data_type, members);
        let of = of.map_err(|why| Error::types(format!("column {name} {why}"), place.clone()))?;
        let input = Input { number: column.number, members: members.to_vec(), of };
        let known = self.inputs.iter().position(|one| *one == input);
        let at = known.unwrap_or_else(|| {
            self.inputs.push(input);
            self.inputs.len() - 1
        });
        Ok(Typed { step: Step::Column(at), of, place: place.clone() })
    }

    fn alias(&mut self, name: &str, text: &str, place: &Range<usize>) -> Result<Typed> {
        if self.aliases.iter().any(|one| one == name) {
            let way = [&self.aliases[..], &[name.to_owned()]].concat().join(" -> ");
            return Err(Error::new(
                ErrorKind::UnknownName,
                format!("alias {name} refers to itself: {way}"),
                place.clone(),
            ));
        }
        let in_alias = |e: Error| Error::new(e.kind(), format!("alias {name}: {}", e.message()), e.place()).of(text);
        let syntax = parse(text).map_err(in_alias)?;
        let mut below = Binder {
            names: self.names,
            inputs: std::mem::take(&mut self.inputs),
            aliases: [&self.aliases[..], &[name.to_owned()]].concat(),
            scope: &syntax,
            parts: self.parts,
            depth: self.depth,
            counts_entries: self.counts_entries,
        };
        let found = below.part(&syntax).map_err(|e| if e.text().is_empty() { in_alias(e) } else { e });
        (self.inputs, self.parts, self.counts_entries) = (below.inputs, below.parts, below.counts_entries);
        found.map(|found| Typed { of: found.of, step: Step::Alias(Box::new(found)), place: place.clone() })
    }

    /// `a/b` is a path where it is a column and its parts are not.
    pub fn slashed(&mut self, binary: Binary, syntax: &Syntax) -> Result<Option<Typed>> {
        if binary != Binary::Divide || syntax.enclosed {
            return Ok(None);
        }
        let Some(path) = path_of(syntax) else { return Ok(None) };
        let is_known = |part: &str| self.names.column(part).is_some() || self.names.alias(part).is_some();
        if path.split('/').all(is_known) {
            return Ok(None);
        }
        match self.names.column(&path) {
            Some(column) => self.column(column, &[], &path, &syntax.place).map(Some),
            None => Ok(None),
        }
    }

    /// The first column of lists in a part.
    fn lists_in(&mut self, syntax: &Syntax, place: &Range<usize>) -> Result<Typed> {
        for (name, at) in names_in(syntax) {
            if let Ok(Some(column)) = self.stored(&name, &at)
                && column.of.depth == 1
            {
                return Ok(column);
            }
        }
        Err(Error::types("there is no column of lists beside it whose items it could count", place.clone()))
    }

    pub fn unknown(&self, name: &str, place: Range<usize>) -> Error {
        let known = self.names.known();
        // A column may have several names, such as those with and without the branch above it.
        let meaning = |one: &str| self.names.column(one).map(|column| column.number).ok_or_else(|| one.to_owned());
        let near = near(name, known.iter().map(String::as_str), meaning);
        let is_function = crate::function::find(name).is_some();
        let what = if is_function { "; the function needs (...)" } else { "" };
        let offered = if near.is_empty() && !is_function {
            let mut told = HashSet::new();
            listing(&known.iter().map(String::as_str).filter(|one| told.insert(meaning(one))).collect::<Vec<_>>())
        } else {
            offer(&near)
        };
        let message = format!("no column {name}{what}{offered}");
        Error::new(ErrorKind::UnknownName, message, place)
    }

    /// A fold over its argument, which is what `Iteration$` goes through.
    pub fn folded(&mut self, argument: &'a Syntax) -> Result<Typed> {
        let before = std::mem::replace(&mut self.scope, argument);
        let found = self.part(argument);
        self.scope = before;
        found
    }
}

impl Typed {
    /// Converted to a kind; constants at once.
    pub(super) fn to(self, kind: Kind) -> Self {
        if self.of.kind == kind {
            return self;
        }
        if let Step::Constant(literal) = &self.step
            && let Some(converted) = literal.to(kind)
        {
            return constant(converted, self.place);
        }
        let (of, place) = (Type { kind, ..self.of }, self.place.clone());
        Self { step: Step::Convert(Box::new(self)), of, place }
    }
}

impl Literal {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Bool(_) => Kind::Bool,
            Self::Whole(_) => Kind::Whole,
            Self::Unsigned(_) => Kind::Unsigned,
            Self::Number(_) => Kind::Number,
            Self::Text(_) => Kind::Text,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "as C and Python convert")]
    pub(super) fn to(&self, kind: Kind) -> Option<Self> {
        Some(match (self, kind) {
            (Self::Bool(value), Kind::Whole) => Self::Whole((*value).into()),
            (Self::Bool(value), Kind::Unsigned) => Self::Unsigned((*value).into()),
            (Self::Bool(value), Kind::Number) => Self::Number(f64::from(*value)),
            (Self::Whole(value), Kind::Bool) => Self::Bool(*value != 0),
            (Self::Whole(value), Kind::Unsigned) => Self::Unsigned(u64::try_from(*value).ok()?),
            (Self::Whole(value), Kind::Number) => Self::Number(*value as f64),
            (Self::Unsigned(value), Kind::Bool) => Self::Bool(*value != 0),
            (Self::Unsigned(value), Kind::Number) => Self::Number(*value as f64),
            (Self::Number(value), Kind::Bool) => Self::Bool(*value != 0.0),
            _ => return None,
        })
    }
}

pub(super) fn constant(literal: Literal, place: Range<usize>) -> Typed {
    let of = Type { kind: literal.kind(), depth: 0 };
    Typed { step: Step::Constant(literal), of, place }
}

/// All values of each entry to one value.
pub(super) fn fold(fold: Fold, of: Type, lists: Typed, place: Range<usize>) -> Typed {
    Typed { step: Step::Fold(fold, Box::new(lists)), of: Type { depth: 0, ..of }, place }
}

/// The path that names joined by slashes are.
fn path_of(syntax: &Syntax) -> Option<String> {
    match &syntax.node {
        Node::Name(name) if !syntax.enclosed => Some(name.clone()),
        Node::Binary(Binary::Divide, left, right) if !syntax.enclosed => {
            Some(format!("{}/{}", path_of(left)?, path_of(right)?))
        }
        _ => None,
    }
}

/// The names in an expression that may be those of columns or aliases, each with its place. Names with dots are whole, and names that
/// are joined by slashes are paths as well.
pub(crate) fn names_in(syntax: &Syntax) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    syntax.walk(&mut |part| match &part.node {
        Node::Name(name) | Node::Quoted(name) => found.push((name.clone(), part.place.clone())),
        Node::Binary(Binary::Divide, ..) => found.extend(path_of(part).map(|path| (path, part.place.clone()))),
        _ => {}
    });
    found
}
