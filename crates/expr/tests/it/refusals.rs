//! What expressions refuse, and where.

use crate::table::Table;

#[test]
fn refusals_name_the_place() {
    let table = Table::new();
    for (text, says, marked) in [
        ("ptt > 20", "no column ptt; did you mean pt?", "ptt"),
        ("nn + 1", "no column nn; did you mean n", "nn"),
        ("sqr(x)", "no function sqr; did you mean", "sqr(x)"),
        // A function once, by the name that is nearest.
        ("anny(x)", "no function anny; did you mean any?", "anny(x)"),
        ("Anny(x)", "no function Anny; did you mean Any?", "Anny(x)"),
        ("deltapi(x, x)", "no function deltapi; did you mean deltaphi or deltar?", "deltapi(x, x)"),
        ("sum", "no column sum; the function needs (...)", "sum"),
        ("pt > 20", "write any(...) or all(...) around it", "pt > 20"),
        ("n > 1 && pt", "write any(...) or all(...) around it", "n > 1 && pt"),
        ("name", "compare it, as in x == 'a'", "name"),
        ("name == 1", "a text cannot be compared with a whole number", "name == 1"),
        ("name + 1 > 0", "+ takes numbers, and this is a text", "name"),
        ("x & 1", "& takes two whole numbers or two truth values", "x & 1"),
        ("x ^ 2 > 1", "a power is **", "x ^ 2"),
        ("n > 1 & flag", "write parentheses", "1 & flag"),
        ("n > 1 & x > 2", "write parentheses around the comparisons", "1 & x"),
        ("any(n)", "any takes a list, and this is a whole number", "n"),
        ("count(pt > 20) > 1", "sum(...) counts those that are true", "pt > 20"),
        ("n[0]", "an index takes a list", "n"),
        ("pt[0.5]", "an index is a whole number", "0.5"),
        ("pos > 1", "column pos has objects; name a member of them: x, n", "pos"),
        ("pos.y > 1", "column pos has no member y", "pos.y"),
        ("sqrt(1, 2)", "sqrt takes one argument", "sqrt(1, 2)"),
        ("n = 1", "write == to compare", "="),
        ("n >", "the expression ends where a value is expected", ""),
        ("", "the expression is empty", ""),
        ("(n > 1", ") is missing to close this parenthesis", "("),
        ("n > 1)", "there is no bracket that this closes", ")"),
        ("n n", "an operator is expected here", "n"),
        ("n ? 1", ": is missing", ""),
        ("'open", "the closing ' is missing", "'open"),
        ("n # 1", "the character '#' is not part of any expression", "#"),
        ("n in [x]", "a list in an expression has constants only", "x"),
        ("n in [inf, -x]", "a list in an expression has constants only", "-x"),
        ("n in [1 + 2]", "a list in an expression has constants only", "1 + 2"),
        ("n in [infinite]", "no column infinite", "infinite"),
        ("name in [inf]", "texts before in are compared with numbers", "inf"),
        ("[1, inf] == n", "a list of constants stands behind in", "[1, inf]"),
        ("name in [1]", "texts before in are compared with whole numbers", "1"),
        ("pt[1:2, 0]", "entries are chosen elsewhere", "1:2"),
        ("loop_a > 1", "alias loop_b: alias loop_a refers to itself", ""),
        ("wrong > 1", "alias wrong: the expression ends", ""),
        ("sum(Iteration$)", "there is no column of lists beside it", "Iteration$"),
        ("any(pt > jets)", "lists of different lengths, 2 and 1, are joined in entry 100", "pt > jets"),
        ("big + 1 > 0", "does not fit into 64 bits: compute with float(...) in entry 100", "big + 1"),
        ("event - 1 > 0", "does not fit into 64 bits with a sign in entry 100", "event"),
        ("1 << 64 > 0", "does not fit into 64 bits", "1 << 64"),
    ] {
        let refused = table.refused(text);
        assert!(refused.contains(says), "{text}: {refused}");
        let lines: Vec<&str> = refused.lines().collect();
        let [.., drawn, marks] = lines.as_slice() else { panic!("{refused}") };
        if !marked.is_empty() {
            let start = marks.find('^').unwrap();
            assert_eq!(drawn.get(start..marks.trim_end().len()), Some(marked), "{refused}");
        }
    }
}

#[test]
fn unsafe_texts_are_bounded() {
    let table = Table::new();
    for text in [
        "(".repeat(10_000),
        "-".repeat(10_000) + "n",
        "!".repeat(10_000) + "n",
        "n".to_owned() + &"[0]".repeat(1000),
        "n + ".repeat(5000) + "n",
        "n ** ".repeat(5000) + "n",
        "n ? n : ".repeat(5000) + "n",
        "n > 1 if n else ".repeat(500) + "n",
        "n".repeat(70_000),
        "not ".repeat(2000) + "n",
        "sqrt(".repeat(3000) + "n",
    ] {
        assert!(table.passed(&text).is_err());
    }
    // Long chains are no deep trees.
    let chain = |sign: &str| vec!["n == 1"; 4000].join(sign);
    assert_eq!(table.passed(&chain(" || ")).unwrap(), [3]);
    assert_eq!(table.passed(&chain(" and ")).unwrap(), [3]);
    let list: Vec<String> = (0..9000).map(|n| n.to_string()).collect();
    assert_eq!(table.passed(&format!("n in [{}]", list.join(","))).unwrap(), [0, 1, 2, 3]);
}

#[test]
fn aliases_cannot_grow_without_bound() {
    let mut table = Table::new();
    table.aliases = vec![
        ("a", "b+b+b+b+b+b+b+b"),
        ("b", "c+c+c+c+c+c+c+c"),
        ("c", "d+d+d+d+d+d+d+d"),
        ("d", "e1+e1+e1+e1+e1+e1+e1+e1"),
        ("e1", "f+f+f+f+f+f+f+f"),
        ("f", "x+x+x+x+x+x+x+x"),
    ];
    assert!(table.refused("a > 1").contains("too large"));
}
