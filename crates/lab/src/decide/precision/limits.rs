//! The errors that the user allows, by column. What an encoding costs or loses is not known here.

use dataset::glob::ColumnPattern;
use rootfile::{Error, Result};
use serde::Serialize;

/// The relative error that is allowed where the user names none.
pub const DEFAULT_RELATIVE: f64 = 1e-3;

/// The errors that are allowed in one column. Each that is there must be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Limit {
    /// Share of each number by which it may change.
    pub relative: Option<f64>,
    /// By how much each number may change.
    pub absolute: Option<f64>,
}

impl Limit {
    /// Whether these errors are allowed. A relative error is none where a zero changes.
    pub(super) fn allows(&self, absolute: f64, relative: Option<f64>) -> bool {
        let relative = self.relative.is_none_or(|limit| relative.is_some_and(|relative| relative <= limit));
        relative && self.absolute.is_none_or(|limit| absolute <= limit)
    }
}

/// The errors that are allowed: for columns that match a pattern, or for all. The last one that matches counts; limits for columns by
/// name replace those for all.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    relative: Vec<(Option<ColumnPattern>, f64)>,
    absolute: Vec<(Option<ColumnPattern>, f64)>,
}

impl Limits {
    /// Adds `[COLUMN=]LIMIT` for the relative error: a share such as `1e-3` or `0.1%`.
    ///
    /// # Errors
    ///
    /// If the text is neither.
    pub fn add_relative(&mut self, text: &str) -> Result<()> {
        self.relative.push(limit(text, true)?);
        Ok(())
    }

    /// Adds `[COLUMN=]LIMIT` for the absolute error: a number.
    ///
    /// # Errors
    ///
    /// If the text is none.
    pub fn add_absolute(&mut self, text: &str) -> Result<()> {
        self.absolute.push(limit(text, false)?);
        Ok(())
    }

    /// The patterns of limits for columns by name.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &ColumnPattern> {
        self.relative.iter().chain(&self.absolute).filter_map(|(pattern, _)| pattern.as_ref())
    }

    /// The options of `verify` that prove them, which takes one tolerance for a column: the relative one, if there are both.
    pub(super) fn tolerances(&self) -> Vec<String> {
        let mut found: Vec<(Option<&ColumnPattern>, String)> = Vec::new();
        let shares = self.relative.iter().map(|(pattern, share)| (pattern, format!("{}%", share * 100.0)));
        let limits = self.absolute.iter().map(|(pattern, limit)| (pattern, limit.to_string()));
        for (pattern, text) in limits.chain(shares) {
            found.retain(|(known, _)| *known != pattern.as_ref());
            found.push((pattern.as_ref(), text));
        }
        // Those for all come first: the last one counts.
        let (mut named, mut all): (Vec<_>, Vec<_>) = found.into_iter().partition(|(pattern, _)| pattern.is_some());
        if all.is_empty() {
            all.push((None, format!("{}%", DEFAULT_RELATIVE * 100.0)));
        }
        all.append(&mut named);
        let text = |(pattern, limit): (Option<&ColumnPattern>, String)| match pattern {
            Some(pattern) => format!("{}={limit}", pattern.as_str()),
            None => limit,
        };
        all.into_iter().map(text).collect()
    }

    /// The limit of a column that has one of these names.
    pub(super) fn of(&self, table: &str, names: &[&str]) -> Limit {
        let matches = |pattern: &ColumnPattern| names.iter().any(|name| pattern.matches(table, name));
        let last = |limits: &[(Option<ColumnPattern>, f64)], named: bool| {
            let fits = |(pattern, _): &&(Option<ColumnPattern>, f64)| match pattern {
                Some(pattern) => named && matches(pattern),
                None => !named,
            };
            limits.iter().rev().find(fits).map(|(_, limit)| *limit)
        };
        let limit = |named| Limit { relative: last(&self.relative, named), absolute: last(&self.absolute, named) };
        let found = [limit(true), limit(false)].into_iter().find(|limit| *limit != Limit::default());
        found.unwrap_or(Limit { relative: Some(DEFAULT_RELATIVE), absolute: None })
    }
}

fn limit(text: &str, share: bool) -> Result<(Option<ColumnPattern>, f64)> {
    let (pattern, number) = match text.rsplit_once('=') {
        Some((pattern, number)) => (Some(ColumnPattern::new(pattern)?), number),
        None => (None, text),
    };
    let number = number.trim();
    let (digits, unit) = number.strip_suffix('%').filter(|_| share).map_or((number, 1.0), |digits| (digits, 100.0));
    let value = digits.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    let example = if share { "1e-3 or 0.1%" } else { "0.001" };
    let wrong = || Error::request(format!("{number:?} is not a largest error; write {example}, or COLUMN={example}"));
    Ok((pattern, value.ok_or_else(wrong)? / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_columns_by_name_replace_those_for_all() {
        let mut limits = Limits::default();
        assert_eq!(limits.of("t", &["x"]), Limit { relative: Some(DEFAULT_RELATIVE), absolute: None });
        for text in ["0.1%", "*_pt=1e-4", "Muon_pt=1e-5"] {
            limits.add_relative(text).unwrap();
        }
        limits.add_absolute("*_phi=0.01").unwrap();
        let of = |name: &str| limits.of("Events", &[name]);
        assert_eq!(of("Jet_mass"), Limit { relative: Some(1e-3), absolute: None });
        assert_eq!(of("Jet_pt"), Limit { relative: Some(1e-4), absolute: None });
        assert_eq!(of("Muon_pt"), Limit { relative: Some(1e-5), absolute: None });
        assert_eq!(of("Muon_phi"), Limit { relative: None, absolute: Some(0.01) });
        assert_eq!(limits.tolerances(), ["0.1%", "*_phi=0.01", "*_pt=0.01%", "Muon_pt=0.001%"]);
        assert_eq!(Limits::default().tolerances(), ["0.1%"]);
        assert!(of("Muon_phi").allows(0.01, None) && !of("Muon_phi").allows(0.02, Some(0.0)));
        assert!(of("Muon_pt").allows(1.0, Some(1e-6)) && !of("Muon_pt").allows(0.0, None));
        for text in ["", "x", "-1", "a=b", "NaN"] {
            assert!(Limits::default().add_relative(text).is_err() && Limits::default().add_absolute(text).is_err());
        }
        assert!(Limits::default().add_absolute("1%").is_err());
    }
}
