//! An evaluator of one entry at a time, over trees that are made at random: the language agrees with it.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, BooleanArray, Float64Array};
use expr::{Entries, Expression};
use proptest::prelude::*;

use crate::table::{Table, lists};

/// One number of an entry.
#[derive(Clone, Debug)]
pub enum Number {
    Constant(i8),
    Column,
    Maybe,
    Negative(Box<Number>),
    Binary(&'static str, Box<[Number; 2]>),
    Fold(&'static str, Box<Many>),
    FoldWhere(&'static str, Box<Many>, Box<Flags>),
    Item(Box<Many>, i8),
    Choose(Box<Flag>, Box<[Number; 2]>),
}

/// A list of numbers of an entry.
#[derive(Clone, Debug)]
pub enum Many {
    Column(&'static str),
    Binary(&'static str, Box<[Many; 2]>),
    With(&'static str, Box<Many>, Box<Number>),
}

/// A truth value of an entry.
#[derive(Clone, Debug)]
pub enum Flag {
    Column,
    Compare(&'static str, Box<[Number; 2]>),
    Logic(&'static str, Box<[Flag; 2]>),
    Not(Box<Flag>),
    Any(Box<Flags>),
    All(Box<Flags>),
}

/// A list of truth values of an entry.
#[derive(Clone, Debug)]
pub enum Flags {
    Compare(&'static str, Box<[Many; 2]>),
    Logic(&'static str, Box<[Flags; 2]>),
    Not(Box<Flags>),
}

/// An entry of the table.
#[derive(Clone, Debug)]
pub struct Entry {
    x: f64,
    maybe: Option<f64>,
    flag: bool,
    items: Vec<(f64, f64)>,
}

const OPERATORS: [&str; 4] = ["+", "-", "*", "/"];
const COMPARISONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];

impl Number {
    fn text(&self) -> String {
        match self {
            Self::Constant(n) => format!("({n}.0)"),
            Self::Column => "x".to_owned(),
            Self::Maybe => "maybe".to_owned(),
            Self::Negative(one) => format!("(-{})", one.text()),
            Self::Binary(sign, pair) => format!("({} {sign} {})", pair[0].text(), pair[1].text()),
            Self::Fold(fold, many) => format!("float({fold}({}))", many.text()),
            Self::FoldWhere(fold, many, flags) => format!("float({fold}({}[{}]))", many.text(), flags.text()),
            Self::Item(many, at) => format!("{}[{at}]", many.text()),
            Self::Choose(flag, pair) => format!("({} ? {} : {})", flag.text(), pair[0].text(), pair[1].text()),
        }
    }

    fn of(&self, entry: &Entry) -> Option<f64> {
        match self {
            Self::Constant(n) => Some((*n).into()),
            Self::Column => Some(entry.x),
            Self::Maybe => entry.maybe,
            Self::Negative(one) => Some(-one.of(entry)?),
            Self::Binary(sign, pair) => Some(computed(sign, pair[0].of(entry)?, pair[1].of(entry)?)),
            Self::Fold(fold, many) => folded(fold, &many.of(entry)),
            Self::FoldWhere(fold, many, flags) => {
                let (values, kept) = (many.of(entry), flags.of(entry));
                let kept: Vec<_> =
                    values.into_iter().zip(kept).filter(|(_, keep)| *keep == Some(true)).map(|(v, _)| v).collect();
                folded(fold, &kept)
            }
            Self::Item(many, at) => {
                let values = many.of(entry);
                let len = i8::try_from(values.len()).unwrap();
                let at = if *at < 0 { at + len } else { *at };
                usize::try_from(at).ok().and_then(|at| values.get(at).copied()?)
            }
            Self::Choose(flag, pair) => {
                if flag.of(entry)? {
                    pair[0].of(entry)
                } else {
                    pair[1].of(entry)
                }
            }
        }
    }
}

fn computed(sign: &str, a: f64, b: f64) -> f64 {
    match sign {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        _ => a / b,
    }
}

fn compared(sign: &str, a: f64, b: f64) -> bool {
    match sign {
        "<" => a < b,
        "<=" => a <= b,
        ">" => a > b,
        ">=" => a >= b,
        "==" => a == b,
        _ => a != b,
    }
}

fn joined(sign: &str, a: Option<bool>, b: Option<bool>) -> Option<bool> {
    let decisive = sign == "||";
    if a == Some(decisive) || b == Some(decisive) { Some(decisive) } else { a.and(b).map(|_| !decisive) }
}

fn folded(fold: &str, values: &[Option<f64>]) -> Option<f64> {
    let there: Vec<f64> = values.iter().flatten().copied().collect();
    let numbers: Vec<f64> = there.iter().copied().filter(|one| !one.is_nan()).collect();
    let or_nan = |found: Option<f64>| found.or(there.first().map(|_| f64::NAN));
    match fold {
        // From zero on: the sum of no values has no sign.
        "sum" => Some(there.iter().fold(0.0, |sum, one| sum + one)),
        "count" => Some(f64::from(u32::try_from(there.len()).unwrap())),
        "len" => Some(f64::from(u32::try_from(values.len()).unwrap())),
        "min" => or_nan(numbers.iter().copied().reduce(f64::min)),
        _ => or_nan(numbers.iter().copied().reduce(f64::max)),
    }
}

impl Many {
    fn text(&self) -> String {
        match self {
            Self::Column(name) => (*name).to_owned(),
            Self::Binary(sign, pair) => format!("({} {sign} {})", pair[0].text(), pair[1].text()),
            Self::With(sign, many, one) => format!("({} {sign} {})", one.text(), many.text()),
        }
    }

    fn of(&self, entry: &Entry) -> Vec<Option<f64>> {
        match self {
            Self::Column("v") => entry.items.iter().map(|(v, _)| Some(*v)).collect(),
            Self::Column(_) => entry.items.iter().map(|(_, w)| Some(*w)).collect(),
            Self::Binary(sign, pair) => {
                let both = pair[0].of(entry).into_iter().zip(pair[1].of(entry));
                both.map(|(a, b)| Some(computed(sign, a?, b?))).collect()
            }
            Self::With(sign, many, one) => {
                let one = one.of(entry);
                many.of(entry).into_iter().map(|many| Some(computed(sign, one?, many?))).collect()
            }
        }
    }
}

impl Flag {
    pub fn text(&self) -> String {
        match self {
            Self::Column => "flag".to_owned(),
            Self::Compare(sign, pair) => format!("({} {sign} {})", pair[0].text(), pair[1].text()),
            Self::Logic(sign, pair) => format!("({} {sign} {})", pair[0].text(), pair[1].text()),
            Self::Not(one) => format!("(not {})", one.text()),
            Self::Any(flags) => format!("any({})", flags.text()),
            Self::All(flags) => format!("all({})", flags.text()),
        }
    }

    fn of(&self, entry: &Entry) -> Option<bool> {
        match self {
            Self::Column => Some(entry.flag),
            Self::Compare(sign, pair) => Some(compared(sign, pair[0].of(entry)?, pair[1].of(entry)?)),
            Self::Logic(sign, pair) => joined(sign, pair[0].of(entry), pair[1].of(entry)),
            Self::Not(one) => Some(!one.of(entry)?),
            Self::Any(flags) => Some(flags.of(entry).contains(&Some(true))),
            Self::All(flags) => Some(!flags.of(entry).contains(&Some(false))),
        }
    }
}

impl Flags {
    fn text(&self) -> String {
        match self {
            Self::Compare(sign, pair) => format!("({} {sign} {})", pair[0].text(), pair[1].text()),
            Self::Logic(sign, pair) => format!("({} {sign} {})", pair[0].text(), pair[1].text()),
            Self::Not(one) => format!("!{}", one.text()),
        }
    }

    fn of(&self, entry: &Entry) -> Vec<Option<bool>> {
        match self {
            Self::Compare(sign, pair) => {
                let both = pair[0].of(entry).into_iter().zip(pair[1].of(entry));
                both.map(|(a, b)| Some(compared(sign, a?, b?))).collect()
            }
            Self::Logic(sign, pair) => {
                let both = pair[0].of(entry).into_iter().zip(pair[1].of(entry));
                both.map(|(a, b)| joined(sign, a, b)).collect()
            }
            Self::Not(one) => one.of(entry).into_iter().map(|one| Some(!one?)).collect(),
        }
    }
}

fn pair<T: Clone + std::fmt::Debug>(one: BoxedStrategy<T>) -> impl Strategy<Value = Box<[T; 2]>> {
    (one.clone(), one).prop_map(|(a, b)| Box::new([a, b]))
}

fn number(depth: u32) -> BoxedStrategy<Number> {
    let leaf = prop_oneof![any::<i8>().prop_map(Number::Constant), Just(Number::Column), Just(Number::Maybe)];
    if depth == 0 {
        return leaf.boxed();
    }
    let below = depth - 1;
    let folds = || prop::sample::select(&["sum", "count", "len", "min", "max"][..]);
    prop_oneof![
        leaf,
        number(below).prop_map(|one| Number::Negative(Box::new(one))),
        (prop::sample::select(&OPERATORS[..]), pair(number(below))).prop_map(|(sign, pair)| Number::Binary(sign, pair)),
        (folds(), many(below)).prop_map(|(fold, many)| Number::Fold(fold, Box::new(many))),
        (folds(), many(below), flags(below)).prop_map(|(fold, many, flags)| Number::FoldWhere(
            fold,
            Box::new(many),
            Box::new(flags)
        )),
        (many(below), -4..4_i8).prop_map(|(many, at)| Number::Item(Box::new(many), at)),
        (flag(below), pair(number(below))).prop_map(|(flag, pair)| Number::Choose(Box::new(flag), pair)),
    ]
    .boxed()
}

fn many(depth: u32) -> BoxedStrategy<Many> {
    let leaf = prop::sample::select(&["v", "w"][..]).prop_map(Many::Column);
    if depth == 0 {
        return leaf.boxed();
    }
    let signs = || prop::sample::select(&OPERATORS[..]);
    prop_oneof![
        leaf,
        (signs(), pair(many(depth - 1))).prop_map(|(sign, pair)| Many::Binary(sign, pair)),
        (signs(), many(depth - 1), number(depth - 1)).prop_map(|(sign, many, one)| Many::With(
            sign,
            Box::new(many),
            Box::new(one)
        )),
    ]
    .boxed()
}

pub fn flag(depth: u32) -> BoxedStrategy<Flag> {
    if depth == 0 {
        return Just(Flag::Column).boxed();
    }
    prop_oneof![
        Just(Flag::Column),
        (prop::sample::select(&COMPARISONS[..]), pair(number(depth - 1)))
            .prop_map(|(sign, pair)| Flag::Compare(sign, pair)),
        (prop::sample::select(&["&&", "||"][..]), pair(flag(depth - 1)))
            .prop_map(|(sign, pair)| Flag::Logic(sign, pair)),
        flag(depth - 1).prop_map(|one| Flag::Not(Box::new(one))),
        flags(depth - 1).prop_map(|flags| Flag::Any(Box::new(flags))),
        flags(depth - 1).prop_map(|flags| Flag::All(Box::new(flags))),
    ]
    .boxed()
}

fn flags(depth: u32) -> BoxedStrategy<Flags> {
    let below = depth.saturating_sub(1);
    let compare =
        (prop::sample::select(&COMPARISONS[..]), pair(many(below))).prop_map(|(sign, pair)| Flags::Compare(sign, pair));
    if depth == 0 {
        return compare.boxed();
    }
    prop_oneof![
        compare,
        (prop::sample::select(&["&&", "||"][..]), pair(flags(below))).prop_map(|(sign, pair)| Flags::Logic(sign, pair)),
        flags(below).prop_map(|one| Flags::Not(Box::new(one))),
    ]
    .boxed()
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![8 => (-8..8_i8).prop_map(f64::from), 1 => Just(f64::NAN), 1 => Just(f64::INFINITY)]
}

pub fn entry() -> impl Strategy<Value = Entry> {
    let items = prop::collection::vec((value(), value()), 0..4);
    (value(), prop::option::of(value()), any::<bool>(), items).prop_map(|(x, maybe, flag, items)| Entry {
        x,
        maybe,
        flag,
        items,
    })
}

pub fn table(entries: &[Entry]) -> Table {
    let numbers = |of: fn(&(f64, f64)) -> f64| -> ArrayRef {
        let all = entries.iter().flat_map(|entry| &entry.items).map(of);
        lists(Arc::new(Float64Array::from_iter_values(all)), entries.iter().map(|entry| entry.items.len()))
    };
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("x", Arc::new(Float64Array::from_iter_values(entries.iter().map(|entry| entry.x)))),
        ("maybe", Arc::new(entries.iter().map(|entry| entry.maybe).collect::<Float64Array>())),
        ("flag", Arc::new(entries.iter().map(|entry| Some(entry.flag)).collect::<BooleanArray>())),
        ("v", numbers(|item| item.0)),
        ("w", numbers(|item| item.1)),
    ];
    Table { columns: columns.into_iter().map(|(name, array)| (name.to_owned(), array)).collect(), aliases: Vec::new() }
}

fn same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b || (a.is_nan() && b.is_nan()),
        (a, b) => a.is_none() && b.is_none(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn conditions_keep_what_each_entry_says(entries in prop::collection::vec(entry(), 1..12), flag in flag(4)) {
        let (table, text) = (table(&entries), flag.text());
        let passed = table.passed(&text).unwrap_or_else(|e| panic!("{e}"));
        let expected: Vec<usize> = (0..entries.len()).filter(|at| flag.of(&entries[*at]) == Some(true)).collect();
        prop_assert_eq!(passed, expected, "{}", text);
    }

    #[test]
    fn numbers_are_what_each_entry_says(entries in prop::collection::vec(entry(), 1..12), number in number(4)) {
        let (table, text) = (table(&entries), number.text());
        let program = Expression::parse(&text).unwrap().bind(&table).unwrap_or_else(|e| panic!("{e}"));
        let array = program.array(&table.arrays(program.columns()), entries.len(), Entries::from(0)).unwrap();
        let found: Vec<Option<f64>> = array.as_primitive::<Float64Type>().iter().collect();
        for (entry, found) in entries.iter().zip(found) {
            prop_assert!(same(number.of(entry), found), "{} in {:?}: {:?} {:?}", text, entry, number.of(entry), found);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in "[a-z0-9 .,+*/<>=!&|^~?:()\\[\\]{}'`\"$@\\\\-]{0,40}") {
        let table = Table::new();
        if let Err(e) = table.passed(&text) {
            let _ = e.to_string();
        }
    }
}
