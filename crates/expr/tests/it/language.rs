//! What expressions give.

use crate::table::Table;

/// Expressions with the values that they have in the four entries of the table.
const VALUES: &[(&str, &str)] = &[
    // Arithmetic: whole numbers stay whole, but for / and **.
    ("n + 1", "3 1 4 2"),
    ("n / 2", "1.0 0.0 1.5 0.5"),
    ("n // 2", "1 0 1 0"),
    ("-n // 2", "-1 0 -2 -1"),
    ("-n % 2", "0 0 1 1"),
    ("n % -2", "0 0 -1 -1"),
    ("7 // n", "3 - 2 7"),
    ("7 % n", "1 - 1 0"),
    ("n ** 2", "4.0 0.0 9.0 1.0"),
    ("2 ** 3 ** 2 + 0*n", "512.0 512.0 512.0 512.0"),
    ("-2 ** 2 + 0*n", "-4.0 -4.0 -4.0 -4.0"),
    ("2 ** -1 + 0*n", "0.5 0.5 0.5 0.5"),
    ("1.0 // 0.1 + 0*n", "9.0 9.0 9.0 9.0"),
    ("-1.5 % 1 + 0*n", "0.5 0.5 0.5 0.5"),
    ("flag + flag", "2 0 2 0"),
    ("event // 2", "9223372036854775807u 0u 1u 576460752303423488u"),
    ("(event & 3) + 0", "3u 1u 2u 0u"),
    ("n & 2", "2 0 2 0"),
    ("n | 4 ^ 1", "7 5 7 5"),
    ("n << 2 >> 1", "4 0 6 2"),
    ("~n", "-3 -1 -4 -2"),
    // Conditions.
    ("n > 1 && flag", "1 0 1 0"),
    ("n > 1 and not flag or x == 2", "0 0 0 1"),
    ("!n", "0 1 0 0"),
    ("!n == 1", "0 1 0 0"),
    ("not n == 1", "1 1 1 0"),
    ("0 < n <= 2", "1 0 0 1"),
    ("flag & (n > 2) | ~flag & (n == 0)", "0 1 1 0"),
    ("flag ^ (n > 2)", "1 0 0 0"),
    ("flag == (n > 1)", "1 1 1 1"),
    ("x < 1", "1 0 1 0"),
    ("x != x", "0 1 0 0"),
    ("!(x < 1)", "0 1 0 1"),
    ("n ? 10 : -10", "10 -10 10 10"),
    ("n > 2 ? 'a' : n > 0 ? 'b' : 'c'", "b c a b"),
    ("1 if flag else 2.5", "1.0 2.5 1.0 2.5"),
    ("where(flag, n, -1)", "2 -1 3 -1"),
    ("n in [2, 3, 5]", "1 0 1 0"),
    ("n not in (0, 1)", "1 0 1 0"),
    ("n in {2.0}", "1 0 0 0"),
    ("x in [0.5, 2]", "1 0 0 1"),
    ("n in [inf, 2, -inf, nan]", "1 0 0 0"),
    ("event in [inf, 1, 18446744073709551615]", "1 1 0 0"),
    ("(0 * x) in [nan]", "0 0 0 0"),
    ("(0 * x / 0) in [nan, 1]", "0 0 0 0"),
    ("abs(x) / 0 in [1, +inf]", "1 0 1 1"),
    ("abs(x) / 0 not in [-inf]", "1 1 1 1"),
    ("-abs(x) / 0 in {-inf, 3}", "1 0 1 1"),
    ("pi + 0*n in [3, pi]", "1 1 1 1"),
    ("-pi + 0*n in (3, -TMath::Pi())", "1 1 1 1"),
    ("event in [1, 18446744073709551615]", "1 1 0 0"),
    ("11 in id", "1 0 1 0"),
    // Whole numbers with and without a sign.
    ("event > big", "1 0 0 1"),
    ("event == 1", "0 1 0 0"),
    ("event > -1", "1 1 1 1"),
    // Texts.
    ("name == 'data'", "1 0 0 0"),
    ("name < \"e\"", "1 0 1 1"),
    ("name in ['mc', 'data']", "1 1 0 0"),
    ("'18' in name", "0 0 0 1"),
    ("startswith(name, 'data')", "1 0 0 1"),
    ("name.endswith('c')", "0 1 0 0"),
    ("len(name)", "4 2 0 6"),
    ("kind == 'mu'", "[1,0] [] [1,0,0] [1]"),
    // Lists.
    ("pt", "[10.5,30.0] [] [5.0,25.0,40.0] [7.0]"),
    ("pt > 20", "[0,1] [] [0,1,1] [0]"),
    ("pt * n", "[21.0,60.0] [] [15.0,75.0,120.0] [7.0]"),
    ("pt > 20 && abs(eta) < 1.5", "[0,0] [] [0,1,1] [0]"),
    ("any(pt > 20 && tight)", "0 0 1 0"),
    ("any(pt > 20)", "1 0 1 0"),
    ("all(pt > 6)", "1 1 0 1"),
    ("sum(pt > 20)", "1 0 2 0"),
    ("sum(pt)", "40.5 0.0 70.0 7.0"),
    ("sum(id)", "-2 0 13 22"),
    ("count(pt)", "2 0 3 1"),
    ("len(pt)", "2 0 3 1"),
    ("pt.size() == n", "1 1 1 1"),
    ("@pt.size()", "2 0 3 1"),
    ("min(pt)", "10.5 - 5.0 7.0"),
    ("max(pt)", "30.0 - 40.0 7.0"),
    ("max(n, 1)", "2 1 3 1"),
    ("max(n, 1, 2.5)", "2.5 2.5 3.0 2.5"),
    ("mean(pt)", "20.25 NaN 23.333333333333332 7.0"),
    ("argmax(pt)", "1 - 2 0"),
    ("argmin(pt)", "0 - 0 0"),
    ("eta[argmax(pt)]", "-2.0 - 0.0 3.0"),
    ("first(pt)", "10.5 - 5.0 7.0"),
    ("last(pt)", "30.0 - 40.0 7.0"),
    ("pt[0]", "10.5 - 5.0 7.0"),
    ("pt[:, 0]", "10.5 - 5.0 7.0"),
    ("pt[-1]", "30.0 - 40.0 7.0"),
    ("pt[1]", "30.0 - 25.0 -"),
    ("pt.at(0)", "10.5 - 5.0 7.0"),
    ("pt[n - 1]", "30.0 - 40.0 7.0"),
    ("pt[:2]", "[10.5,30.0] [] [5.0,25.0] [7.0]"),
    ("pt[:, 1:]", "[30.0] [] [25.0,40.0] []"),
    ("pt[-2:-1]", "[10.5] [] [25.0] []"),
    ("pt[tight]", "[10.5] [] [25.0,40.0] []"),
    ("sum(pt[abs(id) == 11])", "10.5 0.0 65.0 0.0"),
    ("pt[pt > 1000]", "[] [] [] []"),
    ("len(pt[tight]) >= 2", "0 0 1 0"),
    ("id in [11, -11]", "[1,0] [] [0,1,1] [0]"),
    ("tight ? pt : -1", "[10.5,-1.0] [] [-1.0,25.0,40.0] [-1.0]"),
    ("-id", "[-11,13] [] [-13,-11,11] [-22]"),
    ("deep", "[[1],[2,3]] [] [[]] [[4,5]]"),
    ("deep + n", "[[3],[4,5]] [] [[]] [[5,6]]"),
    ("sum(deep)", "6 0 0 9"),
    ("count(deep)", "3 0 0 2"),
    ("len(deep)", "2 0 1 1"),
    ("deep[0]", "[1] [] [] [4,5]"),
    ("deep[:, -1, 0]", "2 - - 4"),
    ("deep[0][0]", "1 - - 4"),
    ("deep[deep > 1]", "[[],[2,3]] [] [[]] [[4,5]]"),
    ("any(deep == 5)", "0 0 0 1"),
    ("fixed", "[1,2] [3,4] [5,6] [7,8]"),
    ("fixed[1] - fixed[0]", "1 1 1 1"),
    ("sum(fixed)", "3 7 11 15"),
    // TTreeFormula.
    ("Sum$(pt > 20)", "1 0 2 0"),
    ("Length$(pt)", "2 0 3 1"),
    ("Max$(pt)", "30.0 - 40.0 7.0"),
    ("MaxIf$(pt, tight)", "10.5 - 40.0 -"),
    ("Alt$(pt[1], -1)", "30.0 -1.0 25.0 -1.0"),
    ("Sum$(pt * (Iteration$ == 0))", "10.5 0.0 5.0 7.0"),
    ("Entry$", "100 101 102 103"),
    ("entry % 2", "0 1 0 1"),
    ("TMath::Abs(x)", "0.5 NaN 1.0 2.0"),
    ("TMath::Power(n, 2)", "4.0 0.0 9.0 1.0"),
    ("TMath::Pi() > 3 && M_PI > 3", "1 1 1 1"),
    // Functions.
    ("abs(-n)", "2 0 3 1"),
    ("sqrt(n)", "1.4142135623730951 0.0 1.7320508075688772 1.0"),
    ("sqrt(x - 1)", "NaN NaN NaN 1.0"),
    ("round(2.5) + 0*n", "2.0 2.0 2.0 2.0"),
    ("hypot(3, 4) + 0*n", "5.0 5.0 5.0 5.0"),
    ("int(x)", "0 - -1 2"),
    ("isnan(x)", "0 1 0 0"),
    ("isfinite(1 / n)", "1 0 1 1"),
    ("deltaphi(3, -3) > 0", "1 1 1 1"),
    ("std::round(2.5) + std::round(-2.5) + std::round(0.5) + 0*n", "1.0 1.0 1.0 1.0"),
    // Values that are absent.
    ("maybe + 1", "2.0 - 4.0 -"),
    ("isnull(maybe)", "0 1 0 1"),
    ("maybe > 2", "0 - 1 -"),
    ("maybe > 2 || n == 0", "0 1 1 -"),
    ("maybe > 0 && n == 1", "0 0 0 -"),
    ("n == 0 || pt[0] > 8", "1 1 0 0"),
    // Names.
    ("a.b", "1 2 3 4"),
    ("`a.b` + 1", "2 3 4 5"),
    ("evt/run == 7", "1 1 0 0"),
    ("`evt/run`", "7 7 8 8"),
    ("get('odd name') == 1", "1 0 1 0"),
    ("pos.x", "1.0 2.0 3.0 4.0"),
    ("pos.n + 0", "1 -1 0 5"),
    ("high", "0 0 1 1"),
    ("r > 1.2", "0 0 1 1"),
];

#[test]
fn values_are_those_of_the_language() {
    let table = Table::new();
    let wrong: Vec<String> = VALUES
        .iter()
        .filter_map(|(text, values)| {
            let found = table.array(text).map_or_else(|e| e.to_string(), |_| table.values(text));
            (found != *values).then(|| format!("{text}: {found}, not {values}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn conditions_keep_entries() {
    let table = Table::new();
    for (text, kept) in [
        ("n", vec![0, 2, 3]),
        ("x", vec![0, 1, 2, 3]),
        ("maybe", vec![0, 2]),
        ("!(maybe > 2)", vec![0]),
        ("true", vec![0, 1, 2, 3]),
        ("1 > 2", vec![]),
        ("entry >= 102", vec![2, 3]),
        ("high", vec![2, 3]),
    ] {
        assert_eq!(table.passed(text).unwrap(), kept, "{text}");
    }
}

#[test]
fn many_entries_are_evaluated_in_portions() {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array};
    use expr::{Entries, Expression};

    let count = 20_000;
    let values: ArrayRef = Arc::new(Float64Array::from_iter_values((0..count).map(f64::from)));
    let listed = crate::table::lists(values.clone(), std::iter::repeat_n(1, 20_000));
    let columns = vec![("x".to_owned(), values), ("v".to_owned(), listed)];
    let table = Table { columns, aliases: Vec::new() };
    let program = Expression::parse("x % 3 == 0 && any(v > 9000) && entry > 12000").unwrap().bind(&table).unwrap();
    let condition = program.condition().unwrap();
    let arrays = table.arrays(condition.columns());
    let passed = condition.passed_of(&arrays, 20_000, Entries::from(0)).unwrap();
    let expected = (0..20_000_usize).filter(|n| n % 3 == 0 && *n > 9000 && *n > 12_000);
    assert!(passed.set_indices().eq(expected));
    let numbers: Vec<u64> = (0..20_000).map(|n| 20_000 - n).collect();
    let program = Expression::parse("entry").unwrap().bind(&table).unwrap();
    let found = program.numbers(&[], 20_000, Entries::from(numbers.as_slice())).unwrap();
    assert_eq!((found[0], found[9000], found[19_999]), (20_000.0, 11_000.0, 1.0));
}
