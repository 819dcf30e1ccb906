//! The parser: words to a tree, by the strength of the operators (a Pratt parser). Python's operators and those of C stand beside each
//! other; where both have the same sign, it has Python's strength and meaning.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::syntax::{Binary, Comparison, Literal, Node, Subscript, Syntax, Unary};
use crate::token::{Token, Word, tokens};

/// The most levels of an expression: evaluation takes a stack frame for each.
pub(crate) const DEEPEST: usize = 200;

const CHOOSE: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const NOT: u8 = 4;
const COMPARE: u8 = 5;
const UNARY: u8 = 12;
const POWER: u8 = 13;

/// Parses a text.
pub(crate) fn parse(text: &str) -> Result<Syntax> {
    let parsed = tokens(text).and_then(|tokens| {
        let mut parser = Parser { tokens, at: 0, depth: 0 };
        let found = parser.expression(CHOOSE)?;
        match parser.next() {
            Token { word: Word::End, .. } => Ok(found),
            rest => Err(behind(&rest)),
        }
    });
    parsed.map_err(|e| e.of(text))
}

/// The error of a word that does not continue an expression.
fn behind(token: &Token) -> Error {
    let what = match &token.word {
        Word::Sign("=") => "= assigns; write == to compare",
        Word::Sign("<=>") => "<=> is no operator here",
        Word::Sign("->") => "-> is not supported; write a dot",
        Word::Sign(":") => "a : is part of slices in square brackets and of ? :",
        Word::Sign(")" | "]" | "}") => "there is no bracket that this closes",
        _ => "an operator is expected here",
    };
    Error::syntax(what, token.place.clone())
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Word {
        self.tokens.get(self.at).map_or(&Word::End, |token| &token.word)
    }

    fn place(&self) -> Range<usize> {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0..0, |token| token.place.clone())
    }

    fn next(&mut self) -> Token {
        let token = Token { word: self.peek().clone(), place: self.place() };
        self.at += 1;
        token
    }

    fn takes(&mut self, sign: &'static str) -> bool {
        let found = *self.peek() == Word::Sign(sign);
        self.at += usize::from(found);
        found
    }

    fn takes_name(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), Word::Name(found) if found == name);
        self.at += usize::from(found);
        found
    }

    fn needs(&mut self, sign: &'static str, why: &str) -> Result<Range<usize>> {
        let place = self.place();
        if self.takes(sign) {
            return Ok(place);
        }
        match self.peek() {
            Word::End => Err(Error::syntax(format!("{sign} is missing {why}"), place)),
            _ => Err(Error::syntax(format!("{sign} is expected here, {why}"), place)),
        }
    }

    /// An expression of operators that are at least as strong as `least`.
    fn expression(&mut self, least: u8) -> Result<Syntax> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(too_deep(self.place()));
        }
        let mut left = self.operand(least)?;
        while let Some(next) = self.longer(least) {
            left = match next {
                Longer::Choose => self.choice(left)?,
                Longer::Python => self.python_choice(left)?,
                Longer::All => self.chain(left, AND, Node::All)?,
                Longer::Any => self.chain(left, OR, Node::Any)?,
                Longer::Compare => self.comparison(left)?,
                Longer::Binary(binary) => {
                    // Powers group to the right, and their exponents may have a sign.
                    let strength = binary.strength();
                    let right = self.expression(if strength == POWER { UNARY } else { strength + 1 })?;
                    binary_node(binary, left, right)?
                }
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Which operator continues an expression, if it is strong enough. Operators of one word are taken.
    fn longer(&mut self, least: u8) -> Option<Longer> {
        let (found, strength) = match self.peek() {
            Word::Sign("?") => (Longer::Choose, CHOOSE),
            Word::Name(name) if name == "if" => (Longer::Python, CHOOSE),
            Word::Sign("||") => (Longer::Any, OR),
            Word::Name(name) if name == "or" => (Longer::Any, OR),
            Word::Sign("&&") => (Longer::All, AND),
            Word::Name(name) if name == "and" => (Longer::All, AND),
            Word::Name(name) if name == "in" || name == "not" => (Longer::Compare, COMPARE),
            Word::Sign(sign) if Comparison::of(sign).is_some() => (Longer::Compare, COMPARE),
            Word::Sign(sign) => match Binary::of(sign) {
                Some(binary) => (Longer::Binary(binary), binary.strength()),
                None => return None,
            },
            _ => return None,
        };
        if strength < least {
            return None;
        }
        self.at += usize::from(matches!(found, Longer::Choose | Longer::Python | Longer::Binary(_)));
        Some(found)
    }

    fn operand(&mut self, least: u8) -> Result<Syntax> {
        let place = self.place();
        let (unary, strength) = match self.peek() {
            Word::Sign("-") => (Unary::Minus, UNARY),
            Word::Sign("+") => (Unary::Plus, UNARY),
            Word::Sign("~") => (Unary::Invert, UNARY),
            Word::Sign("!") => (Unary::Not, UNARY),
            Word::Name(name) if name == "not" => (Unary::Not, NOT),
            _ => {
                let first = self.primary()?;
                return self.postfix(first);
            }
        };
        if strength < least {
            return Err(Error::syntax("not is weaker than this operator: write it in parentheses", place));
        }
        self.at += 1;
        let operand = self.expression(strength)?;
        let place = place.start..operand.place.end;
        if let (Unary::Minus, Node::Literal(literal)) = (unary, &operand.node)
            && let Some(negative) = literal.negative()
        {
            return Ok(leaf(Node::Literal(negative), place));
        }
        let depth = operand.depth + 1;
        node(Node::Unary(unary, Box::new(operand)), place, depth)
    }

    fn primary(&mut self) -> Result<Syntax> {
        let Token { word, place } = self.next();
        let node = match word {
            Word::Whole(whole) => Node::Literal(i64::try_from(whole).map_or(Literal::Unsigned(whole), Literal::Whole)),
            Word::Number(number) => Node::Literal(Literal::Number(number)),
            Word::Text(text) => Node::Literal(Literal::Text(text)),
            Word::Quoted(name) => Node::Quoted(name),
            Word::Name(name) if matches!(name.as_str(), "true" | "True") => Node::Literal(Literal::Bool(true)),
            Word::Name(name) if matches!(name.as_str(), "false" | "False") => Node::Literal(Literal::Bool(false)),
            Word::Name(name) if is_reserved(&name) => {
                return Err(Error::syntax("a value is expected before this operator", place));
            }
            Word::Name(name) if *self.peek() == Word::Sign("(") => return self.call(name, place),
            Word::Name(name) => Node::Name(name),
            Word::Sign("(") => return self.enclosed(place),
            Word::Sign(open @ ("[" | "{")) => {
                let close = if open == "[" { "]" } else { "}" };
                let (items, end) = self.items(close, "behind the values of the list")?;
                return list(items, place.start..end);
            }
            Word::Sign(sign) => {
                let what = match sign {
                    ")" | "]" | "}" => "a value is expected before this bracket".to_owned(),
                    _ => format!("a value is expected before {sign}"),
                };
                return Err(Error::syntax(what, place));
            }
            Word::End if self.at <= 1 => return Err(Error::syntax("the expression is empty", place)),
            Word::End => return Err(Error::syntax("the expression ends where a value is expected", place)),
        };
        Ok(leaf(node, place))
    }

    /// What stands in parentheses: an expression, or several values as a list.
    fn enclosed(&mut self, open: Range<usize>) -> Result<Syntax> {
        let first = self.expression(CHOOSE)?;
        if *self.peek() == Word::Sign(",") {
            self.at += 1;
            let (mut items, end) = self.items(")", "behind the values of the list")?;
            items.insert(0, first);
            return list(items, open.start..end);
        }
        let end = self.needs(")", "to close this parenthesis").map_err(|e| unclosed(e, &open))?.end;
        Ok(Syntax { place: open.start..end, enclosed: true, ..first })
    }

    /// Values up to a closing bracket, and the end of that.
    fn items(&mut self, close: &'static str, why: &str) -> Result<(Vec<Syntax>, usize)> {
        let mut items = Vec::new();
        while *self.peek() != Word::Sign(close) {
            items.push(self.expression(CHOOSE)?);
            if !self.takes(",") {
                break;
            }
        }
        Ok((items, self.needs(close, why)?.end))
    }

    /// A function, or a method of what stands before the last dot.
    fn call(&mut self, name: String, place: Range<usize>) -> Result<Syntax> {
        self.at += 1;
        let (mut items, end) = self.items(")", "behind the arguments")?;
        let place = place.start..end;
        if name == "get"
            && let [Syntax { node: Node::Literal(Literal::Text(column)), .. }] = items.as_slice()
        {
            return Ok(leaf(Node::Quoted(column.clone()), place));
        }
        let mut function = name.clone();
        if let Some((of, method)) = name.rsplit_once('.') {
            let of = of.trim_start_matches('@');
            items.insert(0, leaf(Node::Name(of.to_owned()), place.start..place.start + of.len()));
            method.clone_into(&mut function);
        }
        let depth = 1 + items.iter().map(|item| item.depth).max().unwrap_or(0);
        node(Node::Call(function, items), place, depth)
    }

    /// Indices and methods behind a value.
    fn postfix(&mut self, mut value: Syntax) -> Result<Syntax> {
        loop {
            if self.takes("[") {
                let subscripts = self.subscripts()?;
                let end = self.needs("]", "behind the index")?.end;
                let depths = subscripts.iter().map(|one| if let Subscript::At(at) = one { at.depth } else { 0 });
                let depth = 1 + depths.max().unwrap_or(0).max(value.depth);
                let place = value.place.start..end;
                value = node(Node::Index(Box::new(value), subscripts), place, depth)?;
            } else if self.takes(".") {
                let Token { word: Word::Name(method), place } = self.next() else {
                    return Err(Error::syntax("the name of a method is expected here", self.place()));
                };
                self.needs("(", "behind the name of a method: members are named without brackets before the dot")?;
                let (mut items, end) = self.items(")", "behind the arguments")?;
                items.insert(0, value);
                let depth = 1 + items.iter().map(|item| item.depth).max().unwrap_or(0);
                let start = items.first().map_or(place.start, |item| item.place.start);
                value = node(Node::Call(method, items), start..end, depth)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn subscripts(&mut self) -> Result<Vec<Subscript>> {
        let mut found = Vec::new();
        loop {
            let start = self.place().start;
            let first = if *self.peek() == Word::Sign(":") { None } else { Some(self.expression(OR)?) };
            if self.takes(":") {
                let has_end = !matches!(self.peek(), Word::Sign("]" | ","));
                let second = if has_end { Some(self.expression(OR)?) } else { None };
                let end = self.place().start;
                let bounds = (first.map(bound).transpose()?, second.map(bound).transpose()?);
                found.push(Subscript::Slice(bounds.0, bounds.1, start..end));
            } else if let Some(at) = first {
                found.push(Subscript::At(at));
            }
            if !self.takes(",") {
                return Ok(found);
            }
        }
    }

    /// `condition ? yes : no`, behind the `?`.
    fn choice(&mut self, condition: Syntax) -> Result<Syntax> {
        let yes = self.expression(CHOOSE)?;
        self.needs(":", "behind ? and the value where the condition is true")?;
        let no = self.expression(CHOOSE)?;
        choose([condition, yes, no])
    }

    /// `yes if condition else no`, behind the `if`.
    fn python_choice(&mut self, yes: Syntax) -> Result<Syntax> {
        let condition = self.expression(OR)?;
        if !self.takes_name("else") {
            return Err(Error::syntax("else is missing behind if and its condition", self.place()));
        }
        let no = self.expression(CHOOSE)?;
        choose([condition, yes, no])
    }

    /// Operands of one strength that are joined by and, or by or: one node, so that long lists are not deep.
    fn chain(&mut self, first: Syntax, strength: u8, make: impl Fn(Vec<Syntax>) -> Node) -> Result<Syntax> {
        let (word, sign) = if strength == AND { ("and", "&&") } else { ("or", "||") };
        let mut operands = vec![first];
        while self.takes(sign) || self.takes_name(word) {
            operands.push(self.expression(strength + 1)?);
        }
        let place = span(&operands);
        let depth = 1 + operands.iter().map(|operand| operand.depth).max().unwrap_or(0);
        node(make(operands), place, depth)
    }

    fn comparison(&mut self, first: Syntax) -> Result<Syntax> {
        let mut rest: Vec<(Comparison, Syntax)> = Vec::new();
        loop {
            let place = self.place();
            let sign = if let Word::Sign(sign) = self.peek() { Comparison::of(sign) } else { None };
            if let Some(comparison) = sign {
                self.at += 1;
                rest.push((comparison, self.expression(COMPARE + 1)?));
                continue;
            }
            let is_not = self.takes_name("not");
            if !self.takes_name("in") {
                if is_not {
                    return Err(Error::syntax("in is expected behind not", place));
                }
                break;
            }
            if !rest.is_empty() {
                return Err(Error::syntax("in is not chained with comparisons: write parentheses", place));
            }
            let list = self.expression(COMPARE + 1)?;
            let (whole, depth) = (first.place.start..list.place.end, 1 + first.depth.max(list.depth));
            let within = node(Node::Within(Box::new(first), Box::new(list)), whole.clone(), depth)?;
            return if is_not { node(Node::Unary(Unary::Not, Box::new(within)), whole, depth + 1) } else { Ok(within) };
        }
        let middle = rest.iter().rev().skip(1).map(|(_, operand)| operand);
        if let Some(unclear) = middle.into_iter().find(|operand| is_unclear(operand)) {
            let message = "&, | and ^ are stronger than comparisons, as in Python: write parentheses around the comparisons, or && and ||";
            return Err(Error::syntax(message, unclear.place.clone()));
        }
        let end = rest.last().map_or(first.place.end, |(_, operand)| operand.place.end);
        let depth = 1 + rest.iter().map(|(_, operand)| operand.depth).max().unwrap_or(0).max(first.depth);
        let place = first.place.start..end;
        node(Node::Compare(Box::new(first), rest), place, depth)
    }
}

/// What continues an expression.
enum Longer {
    Choose,
    Python,
    All,
    Any,
    Compare,
    Binary(Binary),
}

fn is_reserved(name: &str) -> bool {
    matches!(name, "and" | "or" | "not" | "in" | "if" | "else")
}

/// Whether C would have another meaning: `a > 1 & b > 2`.
fn is_unclear(operand: &Syntax) -> bool {
    !operand.enclosed && matches!(operand.node, Node::Binary(binary, ..) if binary.is_of_bits())
}

fn unclosed(error: Error, open: &Range<usize>) -> Error {
    if error.message().contains("missing") { Error::syntax(error.message(), open.clone()) } else { error }
}

fn too_deep(place: Range<usize>) -> Error {
    Error::new(ErrorKind::TooLarge, format!("the expression has more than {DEEPEST} levels"), place)
}

fn leaf(node: Node, place: Range<usize>) -> Syntax {
    Syntax { node, place, depth: 1, enclosed: false }
}

fn node(node: Node, place: Range<usize>, depth: usize) -> Result<Syntax> {
    if depth > DEEPEST { Err(too_deep(place)) } else { Ok(Syntax { node, place, depth, enclosed: false }) }
}

fn binary_node(binary: Binary, left: Syntax, right: Syntax) -> Result<Syntax> {
    let (place, depth) = (left.place.start..right.place.end, 1 + left.depth.max(right.depth));
    node(Node::Binary(binary, Box::new(left), Box::new(right)), place, depth)
}

fn choose(parts: [Syntax; 3]) -> Result<Syntax> {
    let (place, depth) = (span(&parts), 1 + parts.iter().map(|part| part.depth).max().unwrap_or(0));
    node(Node::Choose(Box::new(parts)), place, depth)
}

fn span(parts: &[Syntax]) -> Range<usize> {
    let start = parts.iter().map(|part| part.place.start).min().unwrap_or(0);
    start..parts.iter().map(|part| part.place.end).max().unwrap_or(start)
}

fn list(items: Vec<Syntax>, place: Range<usize>) -> Result<Syntax> {
    let depth = 1 + items.iter().map(|item| item.depth).max().unwrap_or(1);
    node(Node::List(items), place, depth)
}

fn bound(value: Syntax) -> Result<i64> {
    match value.node {
        Node::Literal(Literal::Whole(whole)) => Ok(whole),
        _ => Err(Error::syntax("the bounds of a slice are constant whole numbers", value.place)),
    }
}
