//! Schema evolution: adapts the operation of a member to a column of another shape.

use crate::decode::program::op::Op;
use crate::decode::program::types::{Number, Shape};

/// A member's step where its column has another shape: numbers are converted, alone or in arrays and lists.
pub(super) fn fitted(shape: &Shape, op: Op, wanted: &Shape) -> Option<Op> {
    if shape == wanted {
        return Some(op);
    }
    match (shape, wanted, op) {
        (Shape::Number(from), Shape::Number(_), op) => Some(converted(*from, op)),
        (Shape::Fixed(n, inner), Shape::Fixed(m, target), Op::Fixed(size, item)) if n == m => {
            Some(Op::Fixed(size, Box::new(fitted(inner, *item, target)?)))
        }
        (Shape::List(inner), Shape::List(target), Op::Counted { counter, flag, item }) => {
            Some(Op::Counted { counter, flag, item: Box::new(fitted(inner, *item, target)?) })
        }
        (shape @ Shape::List(_), wanted @ Shape::List(_), Op::Framed(inner)) => {
            Some(Op::Framed(Box::new(fitted(shape, *inner, wanted)?)))
        }
        (Shape::List(inner), Shape::List(target), Op::Container(mut container)) if container.members.is_none() => {
            container.item = fitted(inner, container.item, target)?;
            Some(Op::Container(container))
        }
        _ => None,
    }
}

fn converted(from: Number, op: Op) -> Op {
    match op {
        Op::Number(_) => Op::Convert(from),
        // Packed numbers go into columns of either width; bits are as wide as they are.
        Op::TObjectBits => Op::Convert(Number::U32),
        other => other,
    }
}
