//! The proof by another reader: the program reads input and output in turns, as the workload does. Where the program is not
//! installed, or cannot read the input, basketry reads in its place and the report says so.

use std::collections::HashSet;
use std::path::Path;

use rootfile::Result;

use super::super::compare::{Comparison, compare};
use super::Reader;
use super::session::{Session, Wanted, programs};
use crate::addresses::refuse_urls;
use crate::cost::column::Column;
use crate::cost::statistics::FileStats;
use crate::cost::{Term, Workload, replay};

/// The readings of a file: the weight of each part of the workload, and its columns and entries.
type Parts = Vec<(f64, Vec<Wanted>)>;

/// The program that judges.
pub(crate) struct Judge {
    session: Session,
    /// Its name and version.
    pub name: String,
}

impl Judge {
    /// Starts the program and lets it see the input. The error says why basketry has to do.
    pub fn start(
        reader: &Reader,
        input: &Path,
        tree: Option<&str>,
        workload: &Workload,
    ) -> std::result::Result<Self, String> {
        let name = &reader.profile().reader;
        if !programs().any(|known| known == name) {
            return Err(format!("basketry cannot run {name}"));
        }
        let start = || -> Result<Self> {
            refuse_urls(input, name)?;
            let mut session = Session::start(name, &reader.python)?;
            for (_, wanted) in parts([input, input], tree, workload, 1)?.into_iter().next().unwrap_or_default() {
                session.warm(input, &wanted)?;
            }
            Ok(Self { name: format!("{name} {}", session.version()), session })
        };
        start().map_err(|e| e.to_string())
    }

    /// Reads both files in turns until it is clear which takes longer.
    pub fn compare(
        &mut self,
        [input, output]: [&Path; 2],
        tree: Option<&str>,
        workload: &Workload,
        seed: u64,
        most: f64,
    ) -> Result<Comparison> {
        let parts = parts([input, output], tree, workload, seed)?;
        for (file, parts) in [input, output].into_iter().zip(&parts) {
            for (_, wanted) in parts {
                self.session.warm(file, wanted)?;
            }
        }
        let mut read = |file: &Path, parts: Option<&Parts>| -> Result<f64> {
            let all = parts.into_iter().flatten();
            all.map(|(weight, wanted)| Ok(weight * self.session.read(file, wanted)?)).sum()
        };
        compare(most, &mut |swapped| {
            let (mut before, mut after) = (0.0, 0.0);
            for is_output in [swapped, !swapped] {
                match is_output {
                    true => after = read(output, parts.get(1))?,
                    false => before = read(input, parts.first())?,
                }
            }
            Ok((before, after))
        })
    }
}

/// The readings of a workload on each of two files with the same content.
pub(crate) fn parts(files: [&Path; 2], tree: Option<&str>, workload: &Workload, seed: u64) -> Result<Vec<Parts>> {
    let stats = files.map(|file| FileStats::read_written(file, tree, workload));
    let stats = stats.into_iter().collect::<Result<Vec<_>>>()?;
    let mut all = vec![Parts::new(); stats.len()];
    for (weight, term) in &workload.terms {
        let draws = match term.share() {
            Some(share) => {
                let most = stats.iter().flat_map(|f| &f.trees).map(|tree| tree.entries).fold(0.0, f64::max);
                replay::draws(most, share, seed)
            }
            None => vec![None],
        };
        #[expect(clippy::cast_precision_loss, reason = "a few draws")]
        let each = weight / draws.len() as f64;
        for draw in &draws {
            for ((parts, own), path) in all.iter_mut().zip(&stats).zip(files) {
                // Who reads a field reads the ends of its collections, and who names a projected field what it shows.
                let asked =
                    own.has_pages().then(|| FileStats::read_written(path, tree, &workload.only(term))).transpose()?;
                let of = |number: usize| match asked.as_ref().filter(|own| own.is_ntuple(number)) {
                    Some(own) => fields(own, number, term, draw.as_deref()),
                    None => wanted(own, &stats, number, term, draw.as_deref()),
                };
                parts.push((each, (0..own.trees.len()).filter_map(of).collect()));
            }
        }
    }
    Ok(all)
}

/// The reading of an RNTuple for a part of the workload: `own` has its demands.
fn fields(own: &FileStats, number: usize, term: &Term, draw: Option<&[u64]>) -> Option<Wanted> {
    let table = own.trees.get(number).filter(|table| table.entries > 0.0)?;
    let here = || own.columns.iter().filter(|column| column.tree == number && column.demand.readings() > 0.0);
    // Ends are read with what they are the ends of.
    let has_items = |ends: &Column| {
        let below = |other: &Column| !other.has_ends() && other.lineage.starts_with(&ends.lineage);
        here().any(below)
    };
    let mut names: Vec<String> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    for column in here().filter(|column| !column.has_ends() || !has_items(column)) {
        let Some(pages) = &column.pages else { continue };
        if known.insert(&pages.view) {
            names.push(pages.view.clone());
        }
    }
    let columns = term.has_columns().then(Vec::new);
    let entries = draw.map(|picks| inside(picks, table.entries));
    (!names.is_empty()).then(|| Wanted { tree: table.address.clone(), columns, fields: Some(names), entries })
}

/// The picked entries that a table has.
fn inside(picks: &[u64], entries: f64) -> Vec<u64> {
    picks.iter().copied().filter(|&pick| crate::math::as_f64(pick) < entries).collect()
}

/// The reading of a tree for a part of the workload. Where one file has a selected member as a branch,
/// the unsplit column of the other is read.
fn wanted(own: &FileStats, all: &[FileStats], number: usize, term: &Term, draw: Option<&[u64]>) -> Option<Wanted> {
    let tree = own.trees.get(number).filter(|tree| tree.entries > 0.0)?;
    let entries = draw.map(|picks| inside(picks, tree.entries));
    let (path, address) = (&tree.path, tree.address.clone());
    if !term.has_columns() {
        return Some(Wanted { tree: address, columns: None, fields: None, entries });
    }
    let mut tops: HashSet<&str> = HashSet::new();
    for stats in all {
        let requested = stats.columns.iter().filter(|column| {
            stats.trees.get(column.tree).is_some_and(|t| t.path == *path) && term.asks_for(path, &column.lineage)
        });
        tops.extend(requested.filter_map(|column| column.lineage.first().map(String::as_str)));
    }
    let here = || own.columns.iter().filter(|column| column.tree == number);
    let split: HashSet<&str> =
        here().filter(|c| c.lineage.len() > 1).filter_map(|c| c.lineage.first().map(String::as_str)).collect();
    let is_whole = |top: &str| tops.contains(top) && !split.contains(top);
    let requested = here().filter(|column| {
        let whole = column.lineage.first().is_some_and(|top| column.lineage.len() == 1 && is_whole(top));
        whole || term.asks_for(path, &column.lineage)
    });
    let columns: Vec<Vec<String>> = requested.map(|column| column.lineage.clone()).collect();
    (!columns.is_empty()).then_some(Wanted { tree: address, columns: Some(columns), fields: None, entries })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_follow_the_workload() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.root");
        crate::synthetic::sample::make(&path, 500, 7).unwrap();
        let of = |workload: &str| {
            let mut parts = parts([&path, &path], None, &workload.parse().unwrap(), 1).unwrap();
            assert_eq!(parts.len(), 2, "one for each file");
            parts.remove(0)
        };
        let full = of("full");
        assert_eq!(full.len(), 1);
        assert!(full[0].1[0].columns.is_none() && full[0].1[0].entries.is_none());
        let mixed = of("full=0.25,columns:v=0.75");
        assert_eq!((mixed[0].0, mixed[1].0), (0.25, 0.75));
        assert_eq!(mixed[1].1[0].columns, Some(vec![vec!["v".to_owned()]]));
        assert!(of("columns:nothing")[0].1.is_empty());
        let sparse = of("sparse:10%");
        let weights: f64 = sparse.iter().map(|part| part.0).sum();
        assert!((weights - 1.0).abs() < 1e-9);
        for (_, wanted) in &sparse {
            let picks = wanted[0].entries.as_ref().unwrap();
            assert!(!picks.is_empty() && picks.iter().all(|&pick| pick < 500));
        }
    }
}
