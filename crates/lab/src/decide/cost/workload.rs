//! Workloads, what a file is read for: everything, a few entries of everything, some columns, or the columns of a cut and then what
//! passes of the others.

use std::str::FromStr;

use dataset::column_names::column_names;
use dataset::glob::{ColumnPattern, TreePattern};
use rootfile::{Error, Hint, Result};

/// One kind of reading.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    /// Every entry of every column.
    Full,
    /// This share of the entries, scattered, of every column.
    Sparse(f64),
    /// Every entry of the columns that match.
    Columns(Vec<ColumnPattern>),
    /// This share of the entries, scattered, of other columns than those: of all, or of those that match.
    Others { share: f64, than: Vec<ColumnPattern>, of: Vec<ColumnPattern> },
}

impl Term {
    /// Whether it reads a column of a tree; `lineage` has the names of its parents and then its own.
    pub fn asks_for(&self, tree: &str, lineage: &[String]) -> bool {
        let matched = |globs: &[ColumnPattern]| {
            let names = column_names(&lineage.iter().rev().map(String::as_str).collect::<Vec<_>>());
            names.iter().any(|name| globs.iter().any(|glob| glob.matches(tree, name)))
        };
        match self {
            Self::Full | Self::Sparse(_) => true,
            Self::Columns(globs) => matched(globs),
            Self::Others { than, of, .. } => (of.is_empty() || matched(of)) && !matched(than),
        }
    }

    /// The share of the entries that is read, if not all are.
    pub fn share(&self) -> Option<f64> {
        match self {
            Self::Full | Self::Columns(_) => None,
            Self::Sparse(share) | Self::Others { share, .. } => Some(*share),
        }
    }

    /// Whether it reads some columns only.
    pub fn has_columns(&self) -> bool {
        matches!(self, Self::Columns(_) | Self::Others { .. })
    }
}

/// One way to go over a file, as it is written.
#[derive(Clone, Debug, PartialEq)]
enum Pass {
    Full,
    Sparse(f64),
    Columns(Vec<ColumnPattern>),
    /// All entries of the columns of a cut, and the share that passes of the others.
    Cut {
        share: f64,
        cut: Vec<ColumnPattern>,
        of: Vec<ColumnPattern>,
    },
}

impl Pass {
    fn terms(self) -> Vec<Term> {
        match self {
            Self::Full => vec![Term::Full],
            Self::Sparse(share) => vec![Term::Sparse(share)],
            Self::Columns(globs) => vec![Term::Columns(globs)],
            Self::Cut { share, cut, of } => {
                vec![Term::Columns(cut.clone()), Term::Others { share, than: cut, of }]
            }
        }
    }

    /// Takes a part of the text without a kind, which belongs to it; none if it has no columns.
    fn add(&mut self, what: &str) -> Option<Result<()>> {
        let (globs, text) = match self {
            Self::Full | Self::Sparse(_) => return None,
            Self::Columns(globs) => (globs, what),
            Self::Cut { cut, of, .. } => match what.strip_prefix("of:") {
                Some(what) => (of, what),
                None => (cut, what),
            },
        };
        Some(ColumnPattern::new(text).map(|glob| globs.push(glob)))
    }
}

/// A workload: kinds of reading with weights.
///
/// Written `full`, `sparse:1%`, `columns:Muon_*,nMuon`, `cut:3%,MET_pt`, or mixed: `full=0.3,columns:Muon_*=0.7`. A part without a
/// kind belongs to the `columns:` or `cut:` before it; `of:Muon_*` behind a `cut:` names the columns that are read of what passes.
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
                "workload {text:?}: {what}; write full, sparse:1%, columns:GLOB,... or cut:1%,GLOB,..., or mix them: full=0.3,columns:Muon_*=0.7"
            ))
        };
        let share = |text: &str| share_of(text).ok_or_else(|| wrong(format!("{text:?} is no share")));
        let mut passes: Vec<(Option<f64>, Pass)> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (what, weight) = match part.rsplit_once('=') {
                Some((what, weight)) => {
                    let weight = weight.trim().parse::<f64>().ok().filter(|w| w.is_finite() && *w > 0.0);
                    (what.trim(), Some(weight.ok_or_else(|| wrong(format!("{part:?} has no weight above 0")))?))
                }
                None => (part, None),
            };
            if what == "full" {
                passes.push((weight, Pass::Full));
            } else if let Some(text) = what.strip_prefix("sparse:") {
                passes.push((weight, Pass::Sparse(share(text)?)));
            } else if let Some(glob) = what.strip_prefix("columns:") {
                passes.push((weight, Pass::Columns(vec![ColumnPattern::new(glob)?])));
            } else if let Some(text) = what.strip_prefix("cut:") {
                passes.push((weight, Pass::Cut { share: share(text)?, cut: Vec::new(), of: Vec::new() }));
            } else if let Some((old, pass)) = passes.last_mut() {
                pass.add(what).unwrap_or_else(|| Err(wrong(format!("{what:?} is not a kind of reading"))))?;
                *old = weight.or(*old);
            } else {
                return Err(wrong(format!("{what:?} is not a kind of reading")));
            }
        }
        if passes.is_empty() {
            return Err(wrong("it is empty".to_owned()));
        }
        if passes.iter().any(|(_, pass)| matches!(pass, Pass::Cut { cut, .. } if cut.is_empty())) {
            return Err(wrong("a cut has columns: cut:1%,GLOB,...".to_owned()));
        }
        let sum: f64 = passes.iter().map(|(weight, _)| weight.unwrap_or(1.0)).sum();
        let of_pass = |(weight, pass): (Option<f64>, Pass)| {
            let weight = weight.unwrap_or(1.0) / sum;
            pass.terms().into_iter().map(move |term| (weight, term))
        };
        Ok(Self { terms: passes.into_iter().flat_map(of_pass).collect(), text: text.trim().to_owned() })
    }
}

/// Three digits of a number.
fn rounded(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
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
        self.terms.iter().flat_map(|(_, term)| match term {
            Term::Full | Term::Sparse(_) => &[][..],
            Term::Columns(all) | Term::Others { of: all, .. } => all.as_slice(),
        })
    }

    /// The same reading of the entries that pass a cut: all entries of the columns of the cut, and this share of the other columns of the
    /// table.
    ///
    /// # Errors
    ///
    /// It has a part that reads scattered entries, or the columns of a cut, already.
    pub(crate) fn within_cut(&self, table: &str, share: f64, columns: &[String]) -> Result<Self> {
        let cut: Vec<ColumnPattern> = columns.iter().map(|column| ColumnPattern::exact(table, column)).collect();
        // The text is for people, and `--again` reads it: without the table, whose columns are meant.
        let short = |pattern: &str| {
            pattern.strip_prefix(&format!("{}/", TreePattern::exact(table).as_str())).map(str::to_owned)
        };
        let names = cut.iter().filter_map(|column| short(column.as_str())).collect::<Vec<_>>().join(",");
        let whole = format!("{}/*", TreePattern::exact(table).as_str());
        let mut text = Vec::new();
        let mut terms = Vec::new();
        for (weight, term) in &self.terms {
            let (of, named) = match term {
                Term::Full => (vec![ColumnPattern::new(&whole)?], String::new()),
                Term::Columns(globs) => {
                    (globs.clone(), globs.iter().map(|glob| format!(",of:{}", glob.as_str())).collect())
                }
                Term::Sparse(_) | Term::Others { .. } => {
                    let why =
                        format!("workload {self}: the entries of a cut are those that it reads: give full or columns:");
                    return Err(Error::request(why).hint(Hint::named("workload")));
                }
            };
            text.push(format!("cut:{}%,{names}{named}={weight}", rounded(100.0 * share)));
            let pass = Pass::Cut { share, cut: cut.clone(), of };
            terms.extend(pass.terms().into_iter().map(|term| (*weight, term)));
        }
        Ok(Self { terms, text: text.join(",").trim_end_matches("=1").to_owned() })
    }

    /// One part of it alone.
    pub(crate) fn only(&self, term: &Term) -> Self {
        Self { terms: vec![(1.0, term.clone())], text: self.text.clone() }
    }

    /// Whether some entries are read alone.
    pub(crate) fn picks_entries(&self) -> bool {
        self.terms.iter().any(|(_, term)| term.share().is_some())
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
            match term.share() {
                None => demand.full += weight,
                Some(share) => demand.sparse.push((*weight, share)),
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
    fn a_cut_reads_its_columns_and_a_share_of_the_others() {
        let lineage = |name: &str| vec![name.to_owned()];
        let demand = |workload: &Workload, name: &str| workload.demand("Events", &lineage(name));
        let cut: Workload = "cut:2%,MET_*,nMuon=1,full=1".parse().unwrap();
        assert_eq!(demand(&cut, "MET_pt"), Demand { full: 1.0, sparse: Vec::new() });
        assert_eq!(demand(&cut, "Jet_pt"), Demand { full: 0.5, sparse: vec![(0.5, 0.02)] });
        let cut: Workload = "columns:Jet_*,MET_*".parse().unwrap();
        let cut = cut.within_cut("Events", 0.25, &lineage("MET_pt")).unwrap();
        assert_eq!(cut.to_string(), "cut:25%,MET_pt,of:Jet_*,of:MET_*");
        // It is read again as it is written.
        for cut in [&cut, &cut.to_string().parse().unwrap()] {
            assert_eq!(demand(cut, "MET_pt"), Demand { full: 1.0, sparse: Vec::new() });
            assert_eq!(demand(cut, "MET_phi"), Demand { full: 0.0, sparse: vec![(1.0, 0.25)] });
            assert_eq!(demand(cut, "nMuon"), Demand::default());
        }
        let all = Workload::default().within_cut("dir/Events", 0.5, &lineage("x")).unwrap();
        assert_eq!(all.to_string(), "cut:50%,x");
        assert_eq!(all.demand("dir/Events", &lineage("y")), Demand { full: 0.0, sparse: vec![(1.0, 0.5)] });
        assert_eq!(all.demand("Runs", &lineage("y")), Demand::default());
        assert!(Workload::picked().within_cut("t", 0.5, &lineage("x")).is_err());
        assert!("cut:2%".parse::<Workload>().is_err() && "full,x".parse::<Workload>().is_err());
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "ful", "sparse:", "sparse:200%", "full=0", "full=x", "Muon_*", "sparse:-1", "cut:0%,x"] {
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
