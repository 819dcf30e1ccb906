//! What is known of columns tells no more of a condition than their values do.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int8Array, Int32Array, Int64Array, LargeStringArray,
    UInt16Array, UInt64Array,
};
use arrow_schema::DataType;
use expr::{Condition, Entries, Expression, Extent, Passing, Span};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::naive::{entry, flag, table};
use crate::table::{Table, lists};

/// The first entry of the tables.
const FIRST: u64 = 100;

fn condition(table: &Table, text: &str) -> Condition {
    let program = Expression::parse(text).and_then(|parsed| parsed.bind(table));
    program.and_then(expr::Program::condition).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// What extents say of a condition, and how many of the entries pass it, or that this is an error.
fn both(table: &Table, text: &str, known: impl Fn(usize) -> bool) -> (Passing, Option<usize>, usize) {
    let (condition, rows) = (condition(table, text), table.columns[0].1.len());
    let arrays = table.arrays(condition.columns());
    let extent = |column: &usize| match known(*column) {
        true => Extent::of(&table.columns[*column].1, 0),
        false => Extent::of_type(table.columns[*column].1.data_type()),
    };
    let extents: Vec<_> = condition.columns().iter().map(extent).collect();
    let passing = condition.passing(&extents, FIRST..FIRST + rows as u64);
    let passed = condition.passed_of(&arrays, rows, Entries::from(FIRST));
    (passing, passed.ok().map(|passed| passed.count_set_bits()), rows)
}

fn is_sound(passing: Passing, passed: Option<usize>, rows: usize) -> bool {
    match passing {
        Passing::None => passed == Some(0),
        Passing::Some => true,
        Passing::All => passed == Some(rows),
    }
}

/// Names of columns, and of what is made of others: `?` is any number, `#` a whole one, `!` a truth value, and with `*` a list of these.
const NUMBERS: &[&str] = &[
    "x",
    "f",
    "maybe",
    "#",
    "#",
    "v[0]",
    "v[-1]",
    "w[n]",
    "(? + ?)",
    "(? - ?)",
    "(? * ?)",
    "x * x",
    "(? / ?)",
    "(? % ?)",
    "(? // ?)",
    "?**2",
    "?**3",
    "(-?)",
    "abs(?)",
    "sqrt(?)",
    "exp(?)",
    "log(?)",
    "floor(?)",
    "sin(?)",
    "min(?, ?)",
    "max(?, ?)",
    "hypot(?, ?)",
    "sum(?*)",
    "mean(?*)",
    "min(?*)",
    "max(?*)",
    "where(!, ?, ?)",
    "Alt$(?, ?)",
    "float(#)",
    "2.5",
    "0.0",
    "nan",
    "inf",
    "(-1e300)",
    "deltaphi(?, ?)",
    "copysign(?, ?)",
];
const WHOLES: &[&str] = &[
    "n",
    "small",
    "big",
    "short",
    "event",
    "entry",
    "(# + #)",
    "(# - #)",
    "(# * #)",
    "(# // #)",
    "(# % #)",
    "(# & #)",
    "(# | #)",
    "(# ^ #)",
    "(# << 3)",
    "(# << #)",
    "(# >> 1)",
    "(# >> #)",
    "(-#)",
    "~#",
    "abs(#)",
    "min(#, #)",
    "max(#, #)",
    "len(?*)",
    "count(?*)",
    "sum(#*)",
    "sum(!*)",
    "argmax(?*)",
    "argmin(?*)",
    "max(#*)",
    "id[1]",
    "int(?)",
    "where(!, #, #)",
    "Alt$(#, #)",
    "7",
    "0",
    "-3",
    "100",
    "9223372036854775807",
    "len(name)",
    "len(deep)",
    "count(deep)",
    "sum(deep)",
];
const FLAGS: &[&str] = &[
    "flag",
    "(? < ?)",
    "(? <= ?)",
    "(? > ?)",
    "(? >= ?)",
    "(? == ?)",
    "(? != ?)",
    "(# < #)",
    "(# == #)",
    "(# != #)",
    "(# >= #)",
    "(! && !)",
    "(! || !)",
    "(not !)",
    "any(!*)",
    "all(!*)",
    "any(?*)",
    "# in [0, 1, 7]",
    "? in [2.5, 1]",
    "? in [inf, 1, nan]",
    "# not in [-inf, 3]",
    "# not in [3, -3]",
    "isnull(?)",
    "isnan(?)",
    "isinf(?)",
    "bool(?)",
    "bool(#)",
    "(! == !)",
    "(0 < ? < 5)",
    "(name == 'b')",
    "name.contains('a')",
    "# in id",
    "isnull(id[2])",
    "where(!, !, !)",
    "true",
    "(name in ['a', 'x'])",
    "empty(?*)",
    "any(deep > #)",
];
const LISTS: &[(&str, &[&str])] = &[
    (
        "?*",
        &[
            "v",
            "w",
            "#*",
            "(?* + ?)",
            "(?* * ?*)",
            "(?* / ?*)",
            "(-?*)",
            "v[!*]",
            "w[1:]",
            "sqrt(?*)",
            "where(!*, ?*, ?)",
            "jets",
        ],
    ),
    ("#*", &["id", "(#* + #)", "(#* * #*)", "id[!*]", "int(?*)", "Iteration$", "(#* // #*)", "id[:2]"]),
    ("!*", &["(?* > ?)", "(?* <= ?*)", "(#* == #)", "(#* != #*)", "(!* && !*)", "(!* || !)", "not(!*)", "isnan(?*)"]),
];

/// An expression by the choices of a list of numbers: leaves where it is at its end.
fn grown(of: &str, choices: &mut std::slice::Iter<'_, u16>, depth: usize) -> String {
    let mut found = String::new();
    let mut rest = of;
    while let Some(at) = rest.find(['?', '#', '!']) {
        let (before, mark) = rest.split_at(at);
        if mark.starts_with("!=") {
            found.push_str(&rest[..at + 1]);
            rest = &mark[1..];
            continue;
        }
        let key = if mark[1..].starts_with('*') && !mark.starts_with("?**") { &mark[..2] } else { &mark[..1] };
        let all = match key {
            "?" => NUMBERS,
            "#" => WHOLES,
            "!" => FLAGS,
            lists => LISTS.iter().find(|(own, _)| *own == lists).unwrap().1,
        };
        let leaves = all.iter().filter(|one| !one.contains(['?', '#', '!'])).count();
        let next = choices.next().copied().unwrap_or(0);
        let made = match depth {
            0 if leaves > 0 => {
                all.iter().filter(|one| !one.contains(['?', '#', '!'])).nth(usize::from(next) % leaves).unwrap()
            }
            0 if key == "!*" => "(v > 1)",
            _ => all[usize::from(next) % all.len()],
        };
        found.push_str(before);
        found.push_str(&grown(made, choices, depth.saturating_sub(1)));
        rest = &mark[key.len()..];
    }
    found + rest
}

type Row = ((f64, f32, Option<f64>, bool), (i32, i8, i64, u16, u64), Vec<(f64, f64, i32)>, Vec<Vec<i64>>);

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => (-9..9_i8).prop_map(f64::from),
        1 => prop::sample::select(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e308, -5e-324, 0.1][..]),
    ]
}

fn row() -> impl Strategy<Value = Row> {
    let extreme = |least: i64, most: i64| prop_oneof![9 => -9..9_i64, 1 => Just(least), 1 => Just(most)];
    let wholes = (
        -9..9_i32,
        any::<i8>(),
        extreme(i64::MIN, i64::MAX),
        0..9_u16,
        prop_oneof![5 => 0..9_u64, 1 => Just(u64::MAX), 1 => Just(1 << 63)],
    );
    let numbers = (number(), number().prop_map(|one| one as f32), prop::option::of(number()), any::<bool>());
    let items = prop::collection::vec((number(), number(), -9..9_i32), 0..4);
    (numbers, wholes, items, prop::collection::vec(prop::collection::vec(-9..9_i64, 0..3), 0..3))
}

fn made(rows: &[Row]) -> Table {
    let numbers =
        |of: fn(&Row) -> f64| -> ArrayRef { Arc::new(rows.iter().map(|row| Some(of(row))).collect::<Float64Array>()) };
    let items = || rows.iter().map(|row| row.2.len());
    let of_items = |of: fn(&(f64, f64, i32)) -> f64| -> ArrayRef {
        lists(Arc::new(Float64Array::from_iter_values(rows.iter().flat_map(|row| &row.2).map(of))), items())
    };
    let id = Int32Array::from_iter_values(rows.iter().flat_map(|row| &row.2).map(|item| item.2));
    let deep = Int64Array::from_iter_values(rows.iter().flat_map(|row| row.3.iter().flatten()).copied());
    let deep = lists(Arc::new(deep), rows.iter().flat_map(|row| &row.3).map(Vec::len));
    // Lists of lengths of their own.
    let jets = rows.iter().enumerate().flat_map(|(row, _)| (0..row % 3).map(|jet| 10.0 * jet as f64));
    let names = rows.iter().map(|row| ["a", "b", "ba"][usize::from(row.1.3) % 3]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("x", numbers(|row| row.0.0)),
        ("f", Arc::new(Float32Array::from_iter_values(rows.iter().map(|row| row.0.1)))),
        ("maybe", Arc::new(rows.iter().map(|row| row.0.2).collect::<Float64Array>())),
        ("flag", Arc::new(rows.iter().map(|row| Some(row.0.3)).collect::<BooleanArray>())),
        ("n", Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.1.0)))),
        ("small", Arc::new(Int8Array::from_iter_values(rows.iter().map(|row| row.1.1)))),
        ("big", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1.2)))),
        ("short", Arc::new(UInt16Array::from_iter_values(rows.iter().map(|row| row.1.3)))),
        ("event", Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.1.4)))),
        ("name", Arc::new(LargeStringArray::from_iter_values(names))),
        ("v", of_items(|item| item.0)),
        ("w", of_items(|item| item.1)),
        ("id", lists(Arc::new(id), items())),
        ("jets", lists(Arc::new(Float64Array::from_iter_values(jets)), (0..rows.len()).map(|row| row % 3))),
        ("deep", lists(deep, rows.iter().map(|row| row.3.len()))),
    ];
    Table { columns: columns.into_iter().map(|(name, array)| (name.to_owned(), array)).collect(), aliases: Vec::new() }
}

/// Whether a text is an expression of the table: a fold may have got a list of lists, a `#` a number.
fn fits(table: &Table, text: &str) -> bool {
    let program = Expression::parse(text).and_then(|parsed| parsed.bind(table));
    program.and_then(expr::Program::condition).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn nothing_is_said_that_values_do_not_say(
        rows in prop::collection::vec(row(), 1..6),
        choices in prop::collection::vec(any::<u16>(), 40),
        known in any::<u16>(),
        depth in 1..4_usize,
    ) {
        let (table, text) = (made(&rows), grown("!", &mut choices.iter(), depth));
        prop_assume!(fits(&table, &text));
        for mask in [known, u16::MAX, 0] {
            let (passing, passed, count) = both(&table, &text, |column| mask >> column & 1 == 1);
            prop_assert!(is_sound(passing, passed, count), "{}: {:?}, and {:?} of {} pass", text, passing, passed, count);
        }
    }

    #[test]
    fn nothing_is_said_that_entries_do_not_say(entries in prop::collection::vec(entry(), 1..6), flag in flag(4)) {
        let (passing, passed, rows) = both(&table(&entries), &flag.text(), |_| true);
        prop_assert!(is_sound(passing, passed, rows), "{}: {:?}, and {:?} pass", flag.text(), passing, passed);
    }

    #[test]
    fn parts_have_the_extent_of_the_whole(rows in prop::collection::vec(row(), 1..9), at in 0..9_usize) {
        let (table, at) = (made(&rows), at.min(rows.len()));
        for (name, array) in &table.columns {
            let (start, end) = (array.slice(0, at), array.slice(at, array.len() - at));
            let parts = Extent::of(&start, 0).unwrap().merge(&Extent::of(&end, at as u64).unwrap());
            prop_assert_eq!(parts, Extent::of(array, 0).unwrap(), "{}", name);
        }
    }
}

/// Of conditions by chance that no entry passes, many are known to be such.
#[test]
fn much_of_what_passes_nothing_is_known() {
    let mut runner = TestRunner::new_with_rng(Config::default(), deterministic());
    let (mut none, mut known) = (0, 0);
    for _ in 0..3000 {
        let rows = prop::collection::vec(row(), 3).new_tree(&mut runner).unwrap().current();
        let choices = prop::collection::vec(any::<u16>(), 40).new_tree(&mut runner).unwrap().current();
        let (table, text) = (made(&rows), grown("!", &mut choices.iter(), 2));
        if !fits(&table, &text) {
            continue;
        }
        let (passing, passed, _) = both(&table, &text, |_| true);
        none += usize::from(passed == Some(0));
        known += usize::from(passing == Passing::None);
    }
    assert!(5 * known > 2 * none && none > 500, "{known} of {none}");
}

fn deterministic() -> TestRng {
    TestRng::deterministic_rng(RngAlgorithm::ChaCha)
}

/// Conditions on the entries of the usual table, and what is known of each.
#[test]
fn what_conditions_are_known_to_be() {
    let table = Table::new();
    for text in [
        "x > 2",
        "n > 3",
        "n < 0",
        "not n <= 3",
        "n in [4, 7]",
        "x > 2 and event > 5",
        "any(pt > 40)",
        "max(pt) > 40.5",
        "sum(pt) > 1000",
        "any(pt > 30 and eta > 3)",
        "any(pt[abs(eta) < 1] > 50)",
        "len(pt) > 3",
        "pt[3] > 0",
        "sum(pt > 50) >= 1",
        "mean(pt) < 4",
        "entry < 100",
        "entry >= 104",
        "sqrt(n) > 2",
        "n ** 2 > 9",
        "flag and n > 3",
        "n // 2 > 3",
        "event < 1",
        "big < 1",
        "entry % 2 > 1",
        "isnull(n)",
        "name != 'a' and n > 3",
        "(flag ? n : 2) > 3",
        "any(deep > 5)",
        "first(pt) < 5",
        "all(pt > 40) and n > 0 and min(n, 3) > 3",
        "r > 1e9",
        "log(x) > 1",
        "x * x < 0",
    ] {
        let (passing, passed, _) = both(&table, text, |_| true);
        assert_eq!((passing, passed), (Passing::None, Some(0)), "{text}");
    }
    for text in [
        "n >= 0",
        "entry >= 100",
        "any(pt > 4) or n == 0 or n > 0",
        "true",
        "big != 0",
        "len(pt) < 4",
        "isnull(maybe) or n >= 0",
    ] {
        assert_ne!(both(&table, text, |_| true).0, Passing::None, "{text}");
    }
    assert_eq!(both(&table, "n >= 0 and entry >= 100", |_| true).0, Passing::All);
    // What may be an error is looked at: lists of different lengths, and whole numbers that do not fit.
    for text in ["any(pt > 50 and jets > 100)", "big + 1 < 0", "any(pt > 40 and jets > 1)"] {
        assert_eq!(both(&table, text, |_| true).0, Passing::Some, "{text}");
    }
}

#[test]
fn extents_are_those_of_values() {
    let of = |array: ArrayRef| Extent::of(&array, 0).unwrap();
    let number = |least: f64, most: f64, nan: bool| {
        Extent::of_type(&DataType::Float64).unwrap().bounded(Some(Span::Number { least, most, nan }), false)
    };
    let many: Vec<f32> = (0..100).map(|one| one as f32 - 50.0).chain([f32::NAN]).collect();

    assert_eq!(of(Arc::new(Float32Array::from(many))), number(-50.0, 49.0, true));
    assert_eq!(of(Arc::new(Float64Array::from(vec![f64::NAN]))), number(f64::INFINITY, f64::NEG_INFINITY, true));
    assert_eq!(of(Arc::new(Float64Array::from(vec![f64::INFINITY; 9]))), number(f64::INFINITY, f64::INFINITY, false));
    let whole = Extent::of_type(&DataType::UInt64).unwrap();
    let bounds = Span::Whole { least: 3, most: u64::MAX.into() };
    assert_eq!(of(Arc::new(UInt64Array::from(vec![u64::MAX, 3]))), whole.bounded(Some(bounds), false));
    assert_eq!(Extent::of_type(&DataType::Binary), None);
}
