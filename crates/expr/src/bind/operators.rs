//! The types of operators: what each takes, and the kind in which it computes.

use std::ops::Range;

use super::binder::{Binder, constant, fold};
use crate::error::{Error, Result};
use crate::syntax::{Binary, Comparison, Literal, Node, Syntax, Unary};
use crate::typed::{Arithmetic, Fold, Logic, Step, TextTest, Typed};
use crate::types::{Kind, Type};

impl<'a> Binder<'a> {
    /// `item in list`.
    pub(super) fn within(&mut self, item: &'a Syntax, list: &'a Syntax, place: Range<usize>) -> Result<Typed> {
        let one = self.part(item)?;
        if let Node::List(items) = &list.node {
            let literals = items.iter().map(|item| Ok((self.constant(item)?, item.place.clone())));
            let literals: Vec<(Literal, Range<usize>)> = literals.collect::<Result<_>>()?;
            return within_constants(one, literals, place);
        }
        let lists = self.part(list)?;
        if lists.of.depth == 0 {
            if (one.of.kind, lists.of.kind) == (Kind::Text, Kind::Text) {
                return Ok(test(TextTest::Contains, [lists, one], place));
            }
            let message = format!("in takes a list behind it, such as [1, 2], and this is {}", lists.of);
            return Err(Error::types(message, list.place.clone()));
        }
        if one.of.depth > 0 {
            let message = format!("in takes one value before a list of the entry, and this is {}", one.of);
            return Err(Error::types(message, item.place.clone()));
        }
        let equal = compare(Comparison::Equal, [lists, one], place.clone())?;
        Ok(fold(Fold::Any, equal.of, equal, place))
    }

    /// An item of a list of constants: a literal, or what means one, such as `-inf`.
    fn constant(&mut self, item: &'a Syntax) -> Result<Literal> {
        if let Node::Literal(literal) = &item.node {
            return Ok(literal.clone());
        }
        let literal = match self.part(item)?.step {
            Step::Constant(literal) => Some(literal),
            Step::Negative(of) => match of.step {
                Step::Constant(literal) => literal.negative(),
                _ => None,
            },
            _ => None,
        };
        literal.ok_or_else(|| Error::syntax("a list in an expression has constants only", item.place.clone()))
    }
}

fn within_constants(item: Typed, literals: Vec<(Literal, Range<usize>)>, place: Range<usize>) -> Result<Typed> {
    let mut found = Vec::new();
    for (literal, at) in literals {
        if (literal.kind() == Kind::Text) != (item.of.kind == Kind::Text) {
            let message = format!("{} before in are compared with {}", item.of.kind.plural(), literal.kind().plural());
            return Err(Error::types(message, at));
        }
        found.push(literal);
    }
    // No whole number is infinite or NaN: these leave whole numbers what they are, with all of their digits.
    let is_number = |one: &Literal| matches!(one, Literal::Number(number) if number.is_finite());
    let has_numbers = item.of.kind == Kind::Number || found.iter().any(is_number);
    let item = match item.of.kind {
        Kind::Bool => item.to(if has_numbers { Kind::Number } else { Kind::Whole }),
        Kind::Whole | Kind::Unsigned if has_numbers => item.to(Kind::Number),
        _ => item,
    };
    // Constants of the item's kind; one that the kind has no value for is never equal.
    let kind = item.of.kind;
    let converted = found.into_iter().filter_map(|one| match (one.kind(), kind) {
        (own, kind) if own == kind => Some(one),
        (_, kind) => one.to(kind),
    });
    let (literals, of) = (converted.collect(), Type { kind: Kind::Bool, ..item.of });
    Ok(Typed { step: Step::Within(Box::new(item), literals), of, place })
}

/// What an operator of one operand gives.
pub(super) fn unary(unary: Unary, operand: Typed, place: Range<usize>) -> Result<Typed> {
    let kind = operand.of.kind;
    if kind == Kind::Text {
        return Err(Error::types("this operator takes no texts", operand.place));
    }
    let of = operand.of;
    let made = |step: fn(Box<Typed>) -> Step, operand: Typed| Typed {
        of: operand.of,
        step: step(Box::new(operand)),
        place: place.clone(),
    };
    Ok(match unary {
        Unary::Not => not(truth(operand)?, place),
        Unary::Plus => operand.to(if kind == Kind::Bool { Kind::Whole } else { kind }),
        Unary::Minus if kind == Kind::Number => made(Step::Negative, operand),
        Unary::Minus => made(Step::Negative, operand.to(Kind::Whole)),
        Unary::Invert if kind == Kind::Bool => not(operand, place),
        Unary::Invert if kind == Kind::Number => {
            return Err(Error::types(
                format!("~ takes whole numbers or truth values, and this is {of}"),
                operand.place,
            ));
        }
        Unary::Invert => made(Step::Invert, operand),
    })
}

pub(super) fn not(operand: Typed, place: Range<usize>) -> Typed {
    Typed { of: Type { kind: Kind::Bool, ..operand.of }, step: Step::Not(Box::new(operand)), place }
}

/// What an operator of two operands gives.
pub(super) fn binary(binary: Binary, [left, right]: [Typed; 2], place: Range<usize>) -> Result<Typed> {
    for operand in [&left, &right] {
        if operand.of.kind == Kind::Text {
            let message = format!("{} takes numbers, and this is {}", binary.sign(), operand.of);
            return Err(Error::types(message, operand.place.clone()));
        }
    }
    let operation = match binary {
        Binary::Add => Arithmetic::Add,
        Binary::Subtract => Arithmetic::Subtract,
        Binary::Multiply => Arithmetic::Multiply,
        Binary::Divide => Arithmetic::Divide,
        Binary::FloorDivide => Arithmetic::FloorDivide,
        Binary::Modulo => Arithmetic::Modulo,
        Binary::Power => Arithmetic::Power,
        Binary::And => Arithmetic::And,
        Binary::Or => Arithmetic::Or,
        Binary::Xor => Arithmetic::Xor,
        Binary::ShiftLeft => Arithmetic::ShiftLeft,
        Binary::ShiftRight => Arithmetic::ShiftRight,
    };
    if binary.is_of_bits() {
        return bits(binary, operation, [left, right], place);
    }
    match binary {
        Binary::Divide | Binary::Power => Ok(arithmetic(operation, Kind::Number, [left, right], place)),
        Binary::ShiftLeft | Binary::ShiftRight => {
            if let Some(wrong) = [&left, &right].into_iter().find(|one| one.of.kind == Kind::Number) {
                let message = format!("{} takes whole numbers, and this is {}", binary.sign(), wrong.of);
                return Err(Error::types(message, wrong.place.clone()));
            }
            Ok(arithmetic(operation, Kind::Whole, [left, right], place))
        }
        _ => {
            let kind = common([&left, &right]);
            // A difference may be negative.
            let kind = if binary == Binary::Subtract && kind == Kind::Unsigned { Kind::Whole } else { kind };
            Ok(arithmetic(operation, kind, [left, right], place))
        }
    }
}

fn bits(binary: Binary, operation: Arithmetic, operands: [Typed; 2], place: Range<usize>) -> Result<Typed> {
    let kinds = operands.each_ref().map(|one| one.of.kind);
    if kinds == [Kind::Bool; 2] {
        let logic = match binary {
            Binary::And => Logic::All,
            Binary::Or => Logic::Any,
            _ => return compare(Comparison::Unequal, operands, place),
        };
        return self::logic(logic, operands.into(), place);
    }
    let is_whole = |kind: Kind| matches!(kind, Kind::Whole | Kind::Unsigned);
    if !kinds.into_iter().all(is_whole) {
        let sign = binary.sign();
        let more = if binary == Binary::Xor {
            "; a power is **"
        } else {
            "; it is stronger than comparisons, as in Python: write parentheses around these"
        };
        let message = format!(
            "{sign} takes two whole numbers or two truth values, and here are {} and {}{more}",
            kinds.map(Kind::plural)[0],
            kinds.map(Kind::plural)[1]
        );
        return Err(Error::types(message, place));
    }
    let [left, right] = &operands;
    let kind = common([left, right]);
    Ok(arithmetic(operation, kind, operands, place))
}

/// An operation in a kind.
pub(super) fn arithmetic(operation: Arithmetic, kind: Kind, operands: [Typed; 2], place: Range<usize>) -> Typed {
    let operands = operands.map(|one| one.to(kind));
    let of = Type { kind, depth: depth(&operands) };
    Typed { step: Step::Arithmetic(operation, Box::new(operands)), of, place }
}

/// The kind in which two numbers are computed.
pub(super) fn common([left, right]: [&Typed; 2]) -> Kind {
    let is_natural = |one: &Typed| {
        one.of.kind == Kind::Unsigned
            || one.of.kind == Kind::Bool
            || matches!(one.step, Step::Constant(Literal::Whole(value)) if value >= 0)
    };
    let has = |kind| left.of.kind == kind || right.of.kind == kind;
    if has(Kind::Number) {
        Kind::Number
    } else if has(Kind::Unsigned) && is_natural(left) && is_natural(right) {
        Kind::Unsigned
    } else {
        Kind::Whole
    }
}

/// A comparison.
pub(super) fn compare(comparison: Comparison, [left, right]: [Typed; 2], place: Range<usize>) -> Result<Typed> {
    let kinds = [left.of.kind, right.of.kind];
    if kinds.contains(&Kind::Text) && kinds != [Kind::Text; 2] {
        let message = format!("{} cannot be compared with {}", left.of, right.of);
        return Err(Error::types(message, place));
    }
    let is_equality = matches!(comparison, Comparison::Equal | Comparison::Unequal);
    let operands = match kinds {
        [Kind::Text, _] => [left, right],
        [Kind::Bool, Kind::Bool] if is_equality => [left, right],
        [Kind::Bool, Kind::Bool] => [left, right].map(|one| one.to(Kind::Whole)),
        _ => {
            let kind = common([&left, &right]);
            match kind {
                Kind::Number | Kind::Unsigned => [left, right].map(|one| one.to(kind)),
                // Whole numbers with and without a sign are compared as they are.
                _ => [left, right].map(|one| if one.of.kind == Kind::Bool { one.to(Kind::Whole) } else { one }),
            }
        }
    };
    let of = Type { kind: Kind::Bool, depth: depth(&operands) };
    Ok(Typed { step: Step::Compare(comparison, Box::new(operands)), of, place })
}

/// Conditions that are joined.
pub(super) fn logic(logic: Logic, operands: Vec<Typed>, place: Range<usize>) -> Result<Typed> {
    let operands = operands.into_iter().map(truth).collect::<Result<Vec<_>>>()?;
    Ok(joined(logic, operands, place))
}

/// Truth values that are all true.
pub(super) fn all_of(mut found: Vec<Typed>, place: Range<usize>) -> Typed {
    match found.len() {
        1 => found.pop().unwrap_or_else(|| constant(Literal::Bool(true), place)),
        _ => joined(Logic::All, found, place),
    }
}

fn joined(logic: Logic, operands: Vec<Typed>, place: Range<usize>) -> Typed {
    let of = Type { kind: Kind::Bool, depth: depth(&operands) };
    Typed { step: Step::Logic(logic, operands), of, place }
}

/// A value as a condition: numbers are true if they are not zero.
pub(super) fn truth(value: Typed) -> Result<Typed> {
    if value.of.kind == Kind::Text {
        return Err(Error::types("a text is no condition: compare it, as in x == 'a'", value.place));
    }
    Ok(value.to(Kind::Bool))
}

/// One value or the other.
pub(super) fn choose([condition, yes, no]: [Typed; 3], place: Range<usize>) -> Result<Typed> {
    let condition = truth(condition)?;
    let [yes, no] = alike([yes, no])?;
    let parts = [condition, yes, no];
    let [_, yes, _] = &parts;
    let of = Type { kind: yes.of.kind, depth: depth(&parts) };
    Ok(Typed { step: Step::Choose(Box::new(parts)), of, place })
}

/// Two values as one kind.
pub(super) fn alike([left, right]: [Typed; 2]) -> Result<[Typed; 2]> {
    let kinds = [left.of.kind, right.of.kind];
    if kinds[0] == kinds[1] {
        return Ok([left, right]);
    }
    if kinds.contains(&Kind::Text) {
        let message = format!("both values have one type, and here are {} and {}", left.of, right.of);
        return Err(Error::types(message, right.place));
    }
    let kind = common([&left, &right]);
    Ok([left, right].map(|one| one.to(kind)))
}

pub(super) fn test(test: TextTest, operands: [Typed; 2], place: Range<usize>) -> Typed {
    let of = Type { kind: Kind::Bool, depth: depth(&operands) };
    Typed { step: Step::Test(test, Box::new(operands)), of, place }
}

fn depth(operands: &[Typed]) -> usize {
    operands.iter().map(|one| one.of.depth).max().unwrap_or(0)
}
