//! Names that a user may have meant, where a name or a pattern means nothing: the known names most like it, and the error that
//! lists them. Every such message is made here.

use std::collections::HashSet;
use std::fmt::Display;

use rootfile::{Error, Hint};

use crate::glob::Pattern;

/// Names that a message lists.
const MOST: usize = 5;
/// The switch that lets patterns match nothing.
const ALLOW_NO_MATCH: &str = "allow-no-match";

/// The known names most like a name or a pattern, best first.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // Often only the case differs.
    let folded = Pattern::ignoring_case(wanted).ok();
    let is_special = |c: char| "*?[]{}\\^$()|.+".contains(c);
    let literal: String = wanted.trim_matches('/').chars().filter(|c| !is_special(*c)).collect();
    let (literal, is_pattern) = (literal.to_lowercase(), wanted.contains(is_special));
    let last = literal.rsplit('/').next().unwrap_or(&literal);
    let distance = |name: &str| -> Option<usize> {
        if folded.as_ref().is_some_and(|folded| folded.matches(name)) {
            return Some(0);
        }
        let name = name.to_lowercase();
        let own = name.rsplit(['/', '.']).next().unwrap_or(&name);
        if literal.is_empty() {
            return None;
        }
        let far = |one: &str, other: &str| strsim::damerau_levenshtein(one, other);
        let mut least = far(&literal, &name).min(far(last, own));
        if is_pattern {
            let begin: String = own.chars().take(last.chars().count()).collect();
            least = least.min(far(last, &begin));
        }
        let is_near = least <= (literal.chars().count() / 3).max(1) && least < last.chars().count();
        // A part of a name is like it, but less so than a name with a slip.
        let is_part = last.len() > 2 && (own.contains(last) || (own.len() > 3 && last.contains(own)));
        is_near.then_some(least).or_else(|| is_part.then_some(own.len().abs_diff(last.len()).saturating_add(MOST)))
    };
    let mut near: Vec<(usize, &str)> = known.into_iter().filter_map(|name| Some((distance(name)?, name))).collect();
    // Of names that are as near the short ones are told.
    near.sort_by_key(|(distance, name)| (*distance, name.len()));
    let mut names: Vec<&str> = Vec::new();
    for (_, name) in near {
        if names.len() < MOST && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What stands behind the message that a name means nothing: the names most like it, or else some of those that there are.
pub fn advice<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    // A name may be there several times, as that of cycles.
    let mut told = HashSet::new();
    let known: Vec<&str> = known.into_iter().filter(|name| told.insert(*name)).collect();
    let near = nearest(wanted, known.iter().copied());
    if !near.is_empty() {
        return format!("; near it: {}", near.join(", "));
    }
    let some: Vec<&str> = known.iter().copied().take(MOST).collect();
    match (some.is_empty(), known.len().saturating_sub(some.len())) {
        (true, _) => "; there is none at all".to_owned(),
        (false, 0) => format!("; there are: {}", some.join(", ")),
        (false, more) => format!("; there are: {} and {more} more", some.join(", ")),
    }
}

/// The error for an option whose value means nothing. `what` is what was looked for, such as "branch of tree Events".
pub fn no_match<'a>(option: &str, wanted: &str, what: impl Display, known: impl IntoIterator<Item = &'a str>) -> Error {
    let message = format!("--{option} {wanted}: no {what} matches{}", advice(wanted, known));
    let pass = allowed();
    Error::request(format!("{message}; {}", pass.clause())).hint(Hint::named(option.to_owned())).hint(pass)
}

/// The error for a selection of entries that none of the tables has, each with its number of entries.
pub fn no_such_entries<'a>(
    option: &'static str,
    wanted: impl Display,
    tables: impl IntoIterator<Item = (&'a str, u64)>,
) -> Error {
    let tables: Vec<String> = tables.into_iter().take(MOST).map(|(path, all)| format!("{path} has {all}")).collect();
    let tables = tables.join(", ");
    let pass = allowed();
    Error::request(format!("--{option} {wanted}: there are no such entries; {tables}; {}", pass.clause()))
        .hint(Hint::named(option))
        .hint(pass)
}

/// The error for a choice of columns that leaves none.
pub fn none_left() -> Error {
    let pass = allowed();
    Error::request(format!("--drop leaves no column of any table; {}", pass.clause()))
        .hint(Hint::named("drop"))
        .hint(pass)
}

/// What lets names pass that mean nothing.
fn allowed() -> Hint {
    Hint::switch(ALLOW_NO_MATCH).that("lets it pass")
}

/// The error for a file with other tables than the one that is asked for; without one, with several of which none is the usual one.
pub fn no_such_table(wanted: Option<&str>, known: &[&str]) -> Error {
    Error::request(match (wanted, known) {
        (_, []) => "has no tree and no RNTuple".to_owned(),
        (Some(wanted), _) => format!("has no tree or RNTuple {wanted}{}", advice(wanted, known.iter().copied())),
        (None, _) => format!("has several trees and RNTuples; name one, as in FILE:TREE: {}", known.join(", ")),
    })
}

/// The error for a Parquet file whose one table is not the one that is asked for.
pub fn no_such_parquet_table(wanted: &str, own: &str) -> Error {
    Error::request(format!("is a Parquet file, whose one table is called {own}, and not {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = ["Muon_pt", "Muon_eta", "Jet_pt", "nMuon", "MET_pt", "event"];

    #[test]
    fn names_that_differ_in_case_or_by_a_slip_are_near() {
        for (wanted, near) in [
            ("muon_*", &["Muon_pt", "Muon_eta"][..]),
            ("Muno_pt", &["Muon_pt"]),
            ("/muon_(pt|x)$/", &["Muon_pt"]),
            ("Events/muon_pt", &["Muon_pt"]),
            ("EVENT", &["event"]),
            ("xyzzy", &[]),
            ("Muno_*", &["Muon_pt", "Muon_eta"]),
            // Of all that match the short ones.
            ("*", &["nMuon", "event", "Jet_pt", "MET_pt", "Muon_pt"]),
        ] {
            let found = nearest(wanted, NAMES);
            assert!(near.iter().all(|name| found.contains(name)), "{wanted}: {found:?}");
            assert_eq!(near.is_empty(), found.is_empty(), "{wanted}: {found:?}");
        }
    }

    #[test]
    fn messages_list_what_there_is() {
        let text = no_match("keep", "muon_*", "branch of tree Events", NAMES).to_string();
        assert!(text.starts_with("--keep muon_*: no branch of tree Events matches; near it: Muon_"), "{text}");
        assert!(advice("xyzzy", NAMES).ends_with("MET_pt and 1 more"));
        assert_eq!(advice("xyzzy", ["h", "t", "h"]), "; there are: h, t");
        assert_eq!(no_such_table(Some("T"), &[]).to_string(), "has no tree and no RNTuple");
        assert_eq!(no_such_table(Some("T"), &["Events"]).to_string(), "has no tree or RNTuple T; there are: Events");
    }
}
