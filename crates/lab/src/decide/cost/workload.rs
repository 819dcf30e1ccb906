//! Workloads, what a file is read for: everything, a few entries of everything, or some columns.

use std::str::FromStr;

use dataset::column_names::column_names;
use dataset::glob::ColumnPattern;
use rootfile::{Error, Result};

/// One kind of reading.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    /// Every entry of every column.
    Full,
    /// This share of the entries, scattered, of every column.
    Sparse(f64),
    /// Every entry of the columns that match.
    Columns(Vec<ColumnPattern>),
}

impl Term {
    /// Whether it reads a column of a tree; `lineage` has the names of its parents and then its own.
    pub fn asks_for(&self, tree: &str, lineage: &[String]) -> bool {
        match self {
            Self::Full | Self::Sparse(_) => true,
            Self::Columns(globs) => {
                let names = column_names(&lineage.iter().rev().map(String::as_str).collect::<Vec<_>>());
                names.iter().any(|name| globs.iter().any(|glob| glob.matches(tree, name)))
            }
        }
    }
}

/// A workload: kinds of reading with weights.
///
/// Written `full`, `sparse:1%`, `columns:Muon_*,nMuon`, or mixed: `full=0.3,columns:Muon_*=0.7`. A part without a
/// kind belongs to the `columns:` before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    pub(crate) terms: Vec<(f64, Term)>,
    text: String,
}

impl Default for Workload {
    fn default() -> Self {
        Self { terms: vec![(1.0, Term::Full)], text: "full".to_owned() }
    }
}

impl Workload {
    /// One per cent of the entries.
    pub(crate) fn picked() -> Self {
        Self { terms: vec![(1.0, Term::Sparse(0.01))], text: "sparse:1%".to_owned() }
    }
}

impl FromStr for Workload {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |what: String| {
            Error::request(format!(
                "workload {text:?}: {what}; write full, sparse:1% or columns:GLOB,..., or mix them: full=0.3,columns:Muon_*=0.7"
            ))
        };
        let mut terms: Vec<(Option<f64>, Term)> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (what, weight) = match part.rsplit_once('=') {
                Some((what, weight)) => {
                    let weight = weight.trim().parse::<f64>().ok().filter(|w| w.is_finite() && *w > 0.0);
                    (what.trim(), Some(weight.ok_or_else(|| wrong(format!("{part:?} has no weight above 0")))?))
                }
                None => (part, None),
            };
            if what == "full" {
                terms.push((weight, Term::Full));
            } else if let Some(share) = what.strip_prefix("sparse:") {
                terms.push((
                    weight,
                    Term::Sparse(share_of(share).ok_or_else(|| wrong(format!("{share:?} is no share")))?),
                ));
            } else if let Some(glob) = what.strip_prefix("columns:") {
                terms.push((weight, Term::Columns(vec![ColumnPattern::new(glob)?])));
            } else if let Some((old, Term::Columns(globs))) = terms.last_mut() {
                globs.push(ColumnPattern::new(what)?);
                *old = weight.or(*old);
            } else {
                return Err(wrong(format!("{what:?} is not a kind of reading")));
            }
        }
        if terms.is_empty() {
            return Err(wrong("it is empty".to_owned()));
        }
        let sum: f64 = terms.iter().map(|t| t.0.unwrap_or(1.0)).sum();
        let terms = terms.into_iter().map(|(weight, term)| (weight.unwrap_or(1.0) / sum, term)).collect();
        Ok(Self { terms, text: text.trim().to_owned() })
    }
}

/// `1%` or `0.01`.
fn share_of(text: &str) -> Option<f64> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number, 0.01),
        None => (text, 1.0),
    };
    let share = number.trim().parse::<f64>().ok()? * unit;
    (share > 0.0 && share <= 1.0).then_some(share)
}

impl std::fmt::Display for Workload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.text)
    }
}

/// The demand of a workload on one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Demand {
    /// How often all its entries are read, on average.
    pub full: f64,
    /// How often a share of them is: weight and share.
    pub sparse: Vec<(f64, f64)>,
}

impl Workload {
    /// The columns that it names.
    pub fn patterns(&self) -> impl Iterator<Item = &ColumnPattern> {
        self.terms.iter().filter_map(|(_, term)| if let Term::Columns(all) = term { Some(all) } else { None }).flatten()
    }

    /// One part of it alone.
    pub(crate) fn only(&self, term: &Term) -> Self {
        Self { terms: vec![(1.0, term.clone())], text: self.text.clone() }
    }

    /// Whether some entries are read alone.
    pub(crate) fn picks_entries(&self) -> bool {
        self.terms.iter().any(|(_, term)| matches!(term, Term::Sparse(_)))
    }

    /// The demand on a column of a tree.
    #[cfg(test)]
    pub(crate) fn demand(&self, tree: &str, lineage: &[String]) -> Demand {
        self.demand_of_any(tree, std::slice::from_ref(&lineage.to_vec()))
    }

    /// The demand on a column of a tree that is read if any of `lineages` would be.
    pub(crate) fn demand_of_any(&self, tree: &str, lineages: &[Vec<String>]) -> Demand {
        let mut demand = Demand::default();
        let asks = |term: &Term| lineages.iter().any(|lineage| term.asks_for(tree, lineage));
        for (weight, term) in self.terms.iter().filter(|(_, term)| asks(term)) {
            match term {
                Term::Full | Term::Columns(_) => demand.full += weight,
                Term::Sparse(share) => demand.sparse.push((*weight, *share)),
            }
        }
        demand
    }
}

impl Demand {
    /// How often the column is read at all, weights and all.
    pub fn readings(&self) -> f64 {
        self.full + self.sparse.iter().map(|(weight, _)| weight).sum::<f64>()
    }

    /// The weighted share of baskets with `entries` each that is read.
    pub fn touched(&self, entries: f64) -> f64 {
        // A basket is skipped if none of its entries is read.
        let hit = |share: f64| 1.0 - (1.0 - share).powf(entries.max(1.0));
        self.full + self.sparse.iter().map(|(weight, share)| weight * hit(*share)).sum::<f64>()
    }

    /// The weighted numbers of decoded runs of neighbouring entries, and of decoded entries, for a column with these
    /// baskets and entries.
    pub fn decoded(&self, baskets: f64, entries: f64) -> (f64, f64) {
        let sparse = self.sparse.iter().map(|&(weight, share)| {
            // A run ends where the next entry is not picked, or is in another basket.
            let picked = share * entries;
            (weight * (picked * (1.0 - share)).max(baskets.min(picked)), weight * picked)
        });
        let all = (self.full * baskets, self.full * entries);
        sparse.fold(all, |sum, more| (sum.0 + more.0, sum.1 + more.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_weights() {
        let mixed: Workload = "full=0.3,columns:Muon_*,nMuon=0.9, sparse:1%=1.8".parse().unwrap();
        let weights: Vec<f64> = mixed.terms.iter().map(|t| (t.0 * 10.0).round()).collect();
        assert_eq!(weights, [1.0, 3.0, 6.0]);
        let demand = |name: &str| mixed.demand("Events", &[name.to_owned()]);
        assert!((demand("Muon_pt").full - 0.4).abs() < 1e-12);
        assert!((demand("nMuon").full - 0.4).abs() < 1e-12);
        assert!((demand("Jet_pt").full - 0.1).abs() < 1e-12);
        assert_eq!(demand("Jet_pt").sparse.len(), 1);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "ful", "sparse:", "sparse:200%", "full=0", "full=x", "Muon_*", "sparse:-1"] {
            let message = text.parse::<Workload>().unwrap_err().to_string();
            assert!(message.contains("columns:GLOB"), "{message}");
        }
    }

    #[test]
    fn sparse_reading_touches_most_baskets_of_many_entries() {
        let demand = "sparse:1%".parse::<Workload>().unwrap().demand("t", &[]);
        assert!((demand.touched(1.0) - 0.01).abs() < 1e-12);
        assert!((demand.touched(100.0) - (1.0 - 0.99f64.powi(100))).abs() < 1e-12);
        assert!(demand.touched(10_000.0) > 0.999);
    }
}
