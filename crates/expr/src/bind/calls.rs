//! The types of functions: how many arguments each takes, of which kinds.

use std::ops::Range;

use super::binder::{Binder, constant, fold};
use super::operators::{alike, arithmetic, choose, common, compare, logic, not, test, truth, unary};
use super::subscripts;
use crate::error::{Error, ErrorKind, Result, offer};
use crate::function::{self, Function};
use crate::syntax::{Comparison, Literal, Syntax, Unary};
use crate::typed::{Arithmetic, Fold, Logic, Step, Typed};
use crate::types::{Kind, Type};

/// A function that is called, for messages.
struct Called<'a> {
    name: &'a str,
    place: Range<usize>,
}

impl<'a> Binder<'a> {
    /// A function of arguments.
    pub(super) fn call(&mut self, name: &'a str, arguments: &'a [Syntax], place: Range<usize>) -> Result<Typed> {
        let called = Called { name, place };
        let Some(function) = function::find(name) else {
            let message = match name {
                "get" => "get takes a name in quotes".to_owned(),
                _ => format!("no function {name}{}", offer(&function::like(name))),
            };
            return Err(Error::new(ErrorKind::UnknownName, message, called.place));
        };
        let folds = match function {
            Function::Fold(_) | Function::Count | Function::Length => true,
            Function::Min | Function::Max => arguments.len() == 1,
            _ => false,
        };
        let values = match arguments {
            [one] if folds => vec![self.folded(one)?],
            all => self.all(all)?,
        };
        called.typed(function, values)
    }
}

impl Called<'_> {
    fn typed(&self, function: Function, values: Vec<Typed>) -> Result<Typed> {
        let place = self.place.clone();
        let boxed = |pair: [Typed; 2]| Box::new(pair);
        match function {
            Function::Math(math) => {
                let [value] = self.numbers(values)?;
                Ok(Typed { of: value.of, step: Step::Math(math, Box::new(value)), place })
            }
            Function::Rising(math) => {
                let [value] = self.numbers(values)?;
                Ok(Typed { of: value.of, step: Step::Rising(math, Box::new(value)), place })
            }
            Function::Math2(math) => {
                let pair = self.numbers(values)?;
                let of = Type { kind: Kind::Number, depth: pair.iter().map(|one| one.of.depth).max().unwrap_or(0) };
                Ok(Typed { of, step: Step::Math2(math, boxed(pair)), place })
            }
            Function::DeltaPhi => Ok(arithmetic(Arithmetic::DeltaPhi, Kind::Number, self.numbers(values)?, place)),
            Function::DeltaR => {
                let [eta1, eta2, phi1, phi2] = self.numbers(values)?;
                let eta = arithmetic(Arithmetic::Subtract, Kind::Number, [eta1, eta2], place.clone());
                let phi = arithmetic(Arithmetic::DeltaPhi, Kind::Number, [phi1, phi2], place.clone());
                let of = Type { kind: Kind::Number, depth: eta.of.depth.max(phi.of.depth) };
                Ok(Typed { of, step: Step::Math2(f64::hypot, boxed([eta, phi])), place })
            }
            Function::Abs => {
                let [value] = self.numeric(values)?;
                let value = if value.of.kind == Kind::Bool { value.to(Kind::Whole) } else { value };
                Ok(Typed { of: value.of, step: Step::Abs(Box::new(value)), place })
            }
            Function::Negative => {
                let [value] = self.take(values)?;
                unary(Unary::Minus, value, place)
            }
            Function::Min | Function::Max => self.extreme(function, values),
            Function::Fold(kind) => {
                let [lists] = self.take(values)?;
                self.fold(kind, lists)
            }
            Function::FoldIf(kind) => {
                let [lists, condition] = self.take(values)?;
                let chosen = subscripts::at_index(lists, truth(condition)?, place)?;
                self.fold(kind, chosen)
            }
            Function::Count => {
                let [lists] = self.take(values)?;
                let lists = self.lists(lists)?;
                if lists.of.kind == Kind::Bool {
                    let message =
                        "count would count the false ones, too: sum(...) counts those that are true, len(...) all";
                    return Err(Error::types(message, lists.place.clone()));
                }
                Ok(Typed { of: WHOLE, step: Step::Count(Box::new(lists)), place })
            }
            Function::Length | Function::Empty => {
                let [value] = self.take(values)?;
                if value.of.depth == 0 && value.of.kind != Kind::Text {
                    return Err(self.wants("a list or a text", &value));
                }
                let length = Typed { of: WHOLE, step: Step::Length(Box::new(value)), place: place.clone() };
                match function {
                    Function::Empty => {
                        compare(Comparison::Equal, [length, constant(Literal::Whole(0), place.clone())], place)
                    }
                    _ => Ok(length),
                }
            }
            Function::First | Function::Last => {
                let [lists] = self.take(values)?;
                let at = if matches!(function, Function::First) { 0 } else { -1 };
                subscripts::item(lists, at, self.name, place)
            }
            Function::At => {
                let [lists, at] = self.take(values)?;
                subscripts::at_index(lists, at, place)
            }
            Function::Where => choose(self.take(values)?, place),
            Function::And | Function::Or => {
                let all = if matches!(function, Function::And) { Logic::All } else { Logic::Any };
                logic(all, self.take::<2>(values)?.into(), place)
            }
            Function::Not => {
                let [value] = self.take(values)?;
                Ok(not(truth(value)?, place))
            }
            Function::Alternative => {
                let pair = alike(self.take(values)?)?;
                if let Some(lists) = pair.iter().find(|one| one.of.depth > 0) {
                    let message = format!("{} takes one value for each entry, such as x[0]", self.name);
                    return Err(Error::types(message, lists.place.clone()));
                }
                let [value, _] = &pair;
                Ok(Typed { of: value.of, step: Step::Alternative(Box::new(pair)), place })
            }
            Function::IsNull => {
                let [value] = self.take(values)?;
                let of = Type { kind: Kind::Bool, ..value.of };
                Ok(Typed { of, step: Step::IsNull(Box::new(value)), place })
            }
            Function::IsNan => {
                let [value] = self.numbers(values)?;
                compare(Comparison::Unequal, [value.clone(), value], place)
            }
            Function::IsInf | Function::IsFinite => {
                let [value] = self.numbers(values)?;
                let size = Typed { of: value.of, step: Step::Abs(Box::new(value)), place: place.clone() };
                let infinite = constant(Literal::Number(f64::INFINITY), place.clone());
                let comparison = if matches!(function, Function::IsInf) { Comparison::Equal } else { Comparison::Less };
                compare(comparison, [size, infinite], place)
            }
            Function::ToWhole | Function::ToNumber => {
                let [value] = self.numeric(values)?;
                let kind = match (function, value.of.kind) {
                    (Function::ToNumber, _) => Kind::Number,
                    (_, Kind::Unsigned) => Kind::Unsigned,
                    _ => Kind::Whole,
                };
                Ok(Typed { place, ..value.to(kind) })
            }
            Function::ToBool => {
                let [value] = self.take(values)?;
                truth(value)
            }
            Function::Test(kind) => {
                let pair = self.take::<2>(values)?;
                match pair.iter().find(|one| one.of.kind != Kind::Text) {
                    Some(wrong) => Err(self.wants("texts", wrong)),
                    None => Ok(test(kind, pair, place)),
                }
            }
            Function::Pi => self.take::<0>(values).map(|_| constant(Literal::Number(std::f64::consts::PI), place)),
            Function::E => self.take::<0>(values).map(|_| constant(Literal::Number(std::f64::consts::E), place)),
        }
    }

    /// `min` and `max`: of the values of an entry, or of two or more values.
    fn extreme(&self, function: Function, values: Vec<Typed>) -> Result<Typed> {
        let is_min = matches!(function, Function::Min);
        let is_one = values.len() == 1;
        let mut values = values.into_iter();
        let Some(first) = values.next() else { return Err(self.count(1)) };
        if is_one {
            return self.fold(if is_min { Fold::Min } else { Fold::Max }, first);
        }
        let operation = if is_min { Arithmetic::Min } else { Arithmetic::Max };
        values.try_fold(first, |found, next| {
            if let Some(text) = [&found, &next].into_iter().find(|one| one.of.kind == Kind::Text) {
                return Err(self.wants("numbers", text));
            }
            let kind = common([&found, &next]);
            Ok(arithmetic(operation, kind, [found, next], self.place.clone()))
        })
    }

    fn fold(&self, kind: Fold, lists: Typed) -> Result<Typed> {
        let (lists, place) = (self.lists(lists)?, self.place.clone());
        if kind != Fold::Any && kind != Fold::All && lists.of.kind == Kind::Text {
            return Err(self.wants("numbers", &lists));
        }
        Ok(match kind {
            Fold::Any | Fold::All => {
                let lists = truth(lists)?;
                fold(kind, lists.of, lists, place)
            }
            Fold::Sum | Fold::Min | Fold::Max => {
                let lists = if lists.of.kind == Kind::Bool { lists.to(Kind::Whole) } else { lists };
                fold(kind, lists.of, lists, place)
            }
            Fold::Mean => {
                let lists = lists.to(Kind::Number);
                fold(kind, lists.of, lists, place)
            }
            Fold::ArgMin | Fold::ArgMax => {
                if lists.of.depth > 1 {
                    return Err(self.wants("a list", &lists));
                }
                let lists = if lists.of.kind == Kind::Bool { lists.to(Kind::Whole) } else { lists };
                fold(kind, WHOLE, lists, place)
            }
        })
    }

    /// As many arguments as the function takes.
    fn take<const N: usize>(&self, values: Vec<Typed>) -> Result<[Typed; N]> {
        values.try_into().map_err(|_| self.count(N))
    }

    fn numeric<const N: usize>(&self, values: Vec<Typed>) -> Result<[Typed; N]> {
        match values.iter().find(|one| one.of.kind == Kind::Text) {
            Some(text) => Err(self.wants("numbers", text)),
            None => self.take(values),
        }
    }

    fn numbers<const N: usize>(&self, values: Vec<Typed>) -> Result<[Typed; N]> {
        Ok(self.numeric(values)?.map(|one| one.to(Kind::Number)))
    }

    fn lists(&self, value: Typed) -> Result<Typed> {
        if value.of.depth == 0 { Err(self.wants("a list", &value)) } else { Ok(value) }
    }

    fn count(&self, wanted: usize) -> Error {
        let takes = match wanted {
            0 => "no argument".to_owned(),
            1 => "one argument".to_owned(),
            many => format!("{many} arguments"),
        };
        Error::types(format!("{} takes {takes}", self.name), self.place.clone())
    }

    fn wants(&self, what: &str, value: &Typed) -> Error {
        Error::types(format!("{} takes {what}, and this is {}", self.name, value.of), value.place.clone())
    }
}

const WHOLE: Type = Type { kind: Kind::Whole, depth: 0 };
