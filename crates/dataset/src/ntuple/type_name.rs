//! Names of C++ types as ROOT has written them since 6.36. Files from before have other spaces, other names of integers, or no
//! `std::`, so names are normalised before they are compared.

use crate::type_name::arguments;

/// Templates of the standard library that fields may have, and how many of their arguments count: the others (allocators,
/// comparisons) are dropped.
const TEMPLATES: &[(&str, usize)] = &[
    ("array", 2),
    ("atomic", 1),
    ("bitset", 1),
    ("map", 2),
    ("multimap", 2),
    ("multiset", 1),
    ("optional", 1),
    ("pair", 2),
    ("set", 1),
    ("tuple", usize::MAX),
    ("unique_ptr", 1),
    ("unordered_map", 2),
    ("unordered_multimap", 2),
    ("unordered_multiset", 1),
    ("unordered_set", 1),
    ("variant", usize::MAX),
    ("vector", 1),
];

/// Names of fundamental types and of typedefs, and the names that files have for them. `long` has 64 bits where ROOT writes
/// RNTuples.
const NAMES: &[(&str, &[&str])] = &[
    ("bool", &["Bool_t"]),
    ("char", &["Char_t"]),
    ("double", &["Double_t", "Double32_t"]),
    ("float", &["Float_t", "Float16_t"]),
    ("std::byte", &["byte"]),
    ("std::int8_t", &["int8_t", "signed char"]),
    ("std::int16_t", &["int16_t", "Short_t", "short", "short int", "signed short", "signed short int"]),
    ("std::int32_t", &["int32_t", "Int_t", "int", "signed", "signed int"]),
    (
        "std::int64_t",
        &[
            "int64_t",
            "Long_t",
            "Long64_t",
            "long",
            "long int",
            "signed long",
            "signed long int",
            "long long",
            "long long int",
            "signed long long",
            "signed long long int",
            "__int64",
        ],
    ),
    ("std::uint8_t", &["uint8_t", "UChar_t", "unsigned char"]),
    ("std::uint16_t", &["uint16_t", "UShort_t", "unsigned short", "unsigned short int"]),
    ("std::uint32_t", &["uint32_t", "UInt_t", "unsigned", "unsigned int"]),
    (
        "std::uint64_t",
        &[
            "uint64_t",
            "ULong_t",
            "ULong64_t",
            "size_t",
            "std::size_t",
            "unsigned long",
            "unsigned long int",
            "unsigned long long",
            "unsigned long long int",
            "unsigned __int64",
        ],
    ),
    ("std::string", &["string", "basic_string<char>", "std::basic_string<char>"]),
];

/// Names nest this deep at most; deeper ones are left as they are.
const MAX_DEPTH: usize = 100;

/// Whether two names are the same type.
pub fn is_same_type(a: &str, b: &str) -> bool {
    a == b || normalized(a) == normalized(b)
}

/// The name by the rules of the specification ("Type Name Normalization"), as far as the name alone tells: typedefs other than
/// ROOT's and those of integers stay, as do default arguments of class templates.
pub fn normalized(type_name: &str) -> String {
    name(type_name, 0)
}

fn name(text: &str, depth: usize) -> String {
    let spaced = squeezed(text);
    if depth > MAX_DEPTH {
        return spaced;
    }
    let text = spaced.as_str();
    // The right-most dimension of an array is the innermost.
    if let Some((item, size)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        let sizes = size.split("][").map(integer).collect::<Vec<_>>();
        return sizes.iter().rev().fold(name(item, depth + 1), |item, size| format!("std::array<{item},{size}>"));
    }
    let text = unqualified(text);
    let text = ["class ", "struct ", "enum "].iter().find_map(|keyword| text.strip_prefix(keyword)).unwrap_or(text);
    let text = text.strip_prefix("::").unwrap_or(text);
    if let Some(known) = known_name(text) {
        return known.to_owned();
    }
    let Some((prefix, rest)) = text.split_once('<') else { return text.to_owned() };
    let Some((inside, after)) = closing(rest) else { return text.to_owned() };

    let bare = prefix.strip_prefix("std::").unwrap_or(prefix);
    // Inline namespaces of compilers' libraries.
    let bare = bare.strip_prefix("__1::").or_else(|| bare.strip_prefix("__cxx11::")).unwrap_or(bare);
    let standard = TEMPLATES.iter().find(|(template, _)| *template == bare);
    if bare == "basic_string" && arguments(inside).first() == Some(&"char") && after.is_empty() {
        return "std::string".to_owned();
    }
    let is_rvec = matches!(prefix, "ROOT::RVec" | "ROOT::VecOps::RVec");
    let prefix = match standard {
        Some((template, _)) => format!("std::{template}"),
        None if is_rvec => "ROOT::VecOps::RVec".to_owned(),
        None => prefix.to_owned(),
    };
    let most = standard.map_or(if is_rvec { 1 } else { usize::MAX }, |(_, most)| *most);
    let is_user_class = standard.is_none() && !is_rvec && !prefix.starts_with("std::");
    let args = arguments(inside).into_iter().take(most).map(|arg| argument(arg, is_user_class, depth + 1));
    let args = args.collect::<Vec<_>>().join(",");
    // Classes inside a class template: `Outer<T>::Inner<U>`.
    let after = match after.split_once('<') {
        Some((inner, rest)) => match closing(rest) {
            Some((inside, end)) => {
                let args = arguments(inside).into_iter().map(|arg| argument(arg, true, depth + 1));
                format!("{inner}<{}>{end}", args.collect::<Vec<_>>().join(","))
            }
            None => after.to_owned(),
        },
        None => after.to_owned(),
    };
    format!("{prefix}<{args}>{after}")
}

/// A template argument. Those of the user's classes keep `const` and `volatile`, in front.
fn argument(text: &str, is_user_class: bool, depth: usize) -> String {
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return integer(text);
    }
    let normal = name(text, depth);
    if !is_user_class {
        return normal;
    }
    let item = text.split_once('[').map_or(text, |(item, _)| item).trim();
    let words: Vec<&str> = item.split(' ').collect();
    let (front, back) = (words.iter().take(2), words.iter().rev().take(2));
    let has = |keyword: &str| front.clone().chain(back.clone()).any(|word| *word == keyword);
    let (constant, volatile) = (has("const"), has("volatile"));
    format!("{}{}{normal}", if constant { "const " } else { "" }, if volatile { "volatile " } else { "" })
}

/// An integer in decimal digits, with a suffix only if it needs one.
fn integer(text: &str) -> String {
    let digits = text.trim().trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.parse::<i128>() {
        Ok(value) if value > i128::from(i64::MAX) => format!("{value}u"),
        Ok(value) => value.to_string(),
        Err(_) => text.to_owned(),
    }
}

fn known_name(text: &str) -> Option<&'static str> {
    NAMES.iter().find(|(normal, others)| *normal == text || others.contains(&text)).map(|(normal, _)| *normal)
}

/// The name without `const` and `volatile` on either side.
fn unqualified(mut text: &str) -> &str {
    loop {
        let front = text.strip_prefix("const ").or_else(|| text.strip_prefix("volatile "));
        let Some(shorter) = front.or_else(|| text.strip_suffix(" const")).or_else(|| text.strip_suffix(" volatile"))
        else {
            return text;
        };
        text = shorter;
    }
}

/// The name with only the spaces that C++ needs: those between words.
fn squeezed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut space = false;
    for c in text.trim().chars() {
        if c.is_whitespace() {
            space = true;
            continue;
        }
        // `vector<int> const` and `class ::Event` need one as well.
        let before = out.chars().next_back();
        let needed = before.is_some_and(|before| {
            (is_word(before) && (is_word(c) || c == ':')) || (matches!(before, '>' | ']' | '*') && is_word(c))
        });
        if space && needed {
            out.push(' ');
        }
        space = false;
        out.push(c);
    }
    out
}

/// The text up to the bracket that closes, and what follows.
fn closing(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    for (i, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if depth == 0 => return Some((text.get(..i)?, text.get(i + 1..)?)),
            '>' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rules_of_the_specification() {
        for (old, new) in [
            ("const pair<size_t, array<class ::Event, 2>>", "std::pair<std::uint64_t,std::array<Event,2>>"),
            ("vector<vector<int> >", "std::vector<std::vector<std::int32_t>>"),
            ("ElementLink<DataVector<xAOD::Jet_v1> >", "ElementLink<DataVector<xAOD::Jet_v1>>"),
            ("std::vector<float, std::allocator<float> >", "std::vector<float>"),
            ("map<string,vector<unsigned char>,less<string> >", "std::map<std::string,std::vector<std::uint8_t>>"),
            ("unsigned  long long", "std::uint64_t"),
            ("Float_t", "float"),
            ("signed char", "std::int8_t"),
            ("char", "char"),
            ("Double32_t", "double"),
            ("ROOT::RVec<Int_t>", "ROOT::VecOps::RVec<std::int32_t>"),
            ("ROOT::VecOps::RVec<float>", "ROOT::VecOps::RVec<float>"),
            ("unsigned char[2][3]", "std::array<std::array<std::uint8_t,3>,2>"),
            ("struct Point", "Point"),
            ("::ns::Point", "ns::Point"),
            ("volatile int const", "std::int32_t"),
            ("My<const int, -3, 7ul, 18446744073709551615ull>", "My<const std::int32_t,-3,7,18446744073709551615u>"),
            ("My<int const>", "My<const std::int32_t>"),
            ("vector<const int>", "std::vector<std::int32_t>"),
            ("Outer<int>::Inner<long>", "Outer<std::int32_t>::Inner<std::int64_t>"),
            ("std::__1::vector<char>", "std::vector<char>"),
            ("std::__cxx11::basic_string<char>", "std::string"),
            ("std::bitset<65u>", "std::bitset<65>"),
            ("ROOT::RNTupleCardinality<unsigned int>", "ROOT::RNTupleCardinality<std::uint32_t>"),
            ("optional<tuple<short>>", "std::optional<std::tuple<std::int16_t>>"),
            ("", ""),
        ] {
            assert_eq!(normalized(old), new, "{old}");
            assert_eq!(normalized(new), new, "{new} again");
            assert!(is_same_type(old, new));
        }
        assert!(!is_same_type("std::vector<float>", "std::vector<double>"));
    }

    #[test]
    fn any_text_is_accepted() {
        for text in ["<", ">", "a<", "a<b", "a<b>c<", "[", "]", "a]", "a[", "a[x]", "-", "::", "const ", "a<>", "a<,>"]
        {
            normalized(text);
        }
        normalized(&"vector<".repeat(10_000));
        normalized(&format!("{}int{}", "vector<".repeat(1_000), ">".repeat(1_000)));
    }
}
