//! The tree of a parsed expression, before its names have types.

use std::ops::Range;

/// A part of an expression, with the bytes of the text that it takes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Syntax {
    pub node: Node,
    pub place: Range<usize>,
    /// How many levels it has.
    pub depth: usize,
    /// Whether it stands in parentheses.
    pub enclosed: bool,
}

impl Syntax {
    /// Calls a function with this part and all parts below it, from left to right.
    pub fn walk<'s>(&'s self, visit: &mut dyn FnMut(&'s Self)) {
        visit(self);
        match &self.node {
            Node::Literal(_) | Node::Name(_) | Node::Quoted(_) => {}
            Node::Unary(_, one) => one.walk(visit),
            Node::Binary(_, a, b) | Node::Within(a, b) => [a, b].into_iter().for_each(|one| one.walk(visit)),
            Node::Compare(first, rest) => {
                first.walk(visit);
                rest.iter().for_each(|(_, one)| one.walk(visit));
            }
            Node::All(all) | Node::Any(all) | Node::List(all) | Node::Call(_, all) => {
                all.iter().for_each(|one| one.walk(visit))
            }
            Node::Choose(all) => all.iter().for_each(|one| one.walk(visit)),
            Node::Index(one, subscripts) => {
                one.walk(visit);
                for subscript in subscripts {
                    if let Subscript::At(at) = subscript {
                        at.walk(visit);
                    }
                }
            }
        }
    }
}

/// What a part is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Literal(Literal),
    Name(String),
    /// A name in backquotes, or as an argument of `get`: a column or an alias and nothing else.
    Quoted(String),
    Unary(Unary, Box<Syntax>),
    Binary(Binary, Box<Syntax>, Box<Syntax>),
    /// Comparisons that are chained: `a < b <= c`.
    Compare(Box<Syntax>, Vec<(Comparison, Syntax)>),
    All(Vec<Syntax>),
    Any(Vec<Syntax>),
    /// A condition, and the values where it is true and where it is not.
    Choose(Box<[Syntax; 3]>),
    Within(Box<Syntax>, Box<Syntax>),
    /// `[11, 13]`.
    List(Vec<Syntax>),
    /// A function. The first argument of a method is what stands before the dot.
    Call(String, Vec<Syntax>),
    Index(Box<Syntax>, Vec<Subscript>),
}

/// A value that stands in the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Bool(bool),
    Whole(i64),
    Unsigned(u64),
    Number(f64),
    Text(String),
}

impl Literal {
    /// The same number with the other sign, if there is one of its kind.
    pub fn negative(&self) -> Option<Self> {
        Some(match self {
            Self::Whole(whole) => Self::Whole(whole.checked_neg()?),
            Self::Unsigned(whole) if *whole == 1 << 63 => Self::Whole(i64::MIN),
            Self::Number(number) => Self::Number(-number),
            Self::Unsigned(_) | Self::Bool(_) | Self::Text(_) => return None,
        })
    }
}

/// What stands in square brackets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Subscript {
    At(Syntax),
    /// A slice; the bounds are whole numbers.
    Slice(Option<i64>, Option<i64>, Range<usize>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Minus,
    Plus,
    /// `not` and `!`.
    Not,
    /// `~`
    Invert,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Binary {
    /// The operator of a sign.
    pub fn of(sign: &str) -> Option<Self> {
        Some(match sign {
            "+" => Self::Add,
            "-" => Self::Subtract,
            "*" => Self::Multiply,
            "/" => Self::Divide,
            "//" => Self::FloorDivide,
            "%" => Self::Modulo,
            "**" => Self::Power,
            "&" => Self::And,
            "|" => Self::Or,
            "^" => Self::Xor,
            "<<" => Self::ShiftLeft,
            ">>" => Self::ShiftRight,
            _ => return None,
        })
    }

    /// The sign.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::FloorDivide => "//",
            Self::Modulo => "%",
            Self::Power => "**",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
        }
    }

    /// How strongly it binds, as in Python.
    pub fn strength(self) -> u8 {
        match self {
            Self::Or => 6,
            Self::Xor => 7,
            Self::And => 8,
            Self::ShiftLeft | Self::ShiftRight => 9,
            Self::Add | Self::Subtract => 10,
            Self::Multiply | Self::Divide | Self::FloorDivide | Self::Modulo => 11,
            Self::Power => 13,
        }
    }

    /// Whether it is one of those that are weaker than comparisons in C.
    pub fn is_of_bits(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Xor)
    }
}

impl Comparison {
    pub fn of(sign: &str) -> Option<Self> {
        Some(match sign {
            "==" => Self::Equal,
            "!=" => Self::Unequal,
            "<" => Self::Less,
            "<=" => Self::LessEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterEqual,
            _ => return None,
        })
    }

    /// Whether values in this order pass; values without an order are unequal and nothing else.
    pub fn accepts(self, order: Option<std::cmp::Ordering>) -> bool {
        match self {
            Self::Equal => order.is_some_and(std::cmp::Ordering::is_eq),
            Self::Unequal => !order.is_some_and(std::cmp::Ordering::is_eq),
            Self::Less => order.is_some_and(std::cmp::Ordering::is_lt),
            Self::LessEqual => order.is_some_and(std::cmp::Ordering::is_le),
            Self::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
            Self::GreaterEqual => order.is_some_and(std::cmp::Ordering::is_ge),
        }
    }
}
