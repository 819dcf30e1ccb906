//! The self-check of `readspeed`: files whose every value is known, and measurements whose verdict is known. No time is
//! judged, so the check works on a busy machine.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type};
use dataset::EntrySet;
use dataset::layout::{ClusterSize, Compression, Layout};
use flow::inputs::Input;
use flow::read::{BatchSize, Dataset, Request, batches};
use flow::{Budget, Choice, unwatched};
use rootfile::{Error, Result};
use serde::Serialize;

use super::{Columns, Options, bottleneck, measure};
use crate::cost::Goal;
use crate::cost::nominal::{candidates, last_resorts};
use crate::synthetic::sample;

/// Entries of the file, and its seed.
const ENTRIES: u64 = 20_000;
const SEED: u32 = 7;
/// One entry of this many is picked.
const PICKED: usize = 97;

/// Something that was checked.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// What.
    pub what: String,
    /// The failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
}

/// Runs all checks. An error comes from the machine, such as a full disk.
///
/// # Errors
///
/// The machine fails, such as a full disk. What is wrong with basketry is in the checks.
pub fn self_check(budget: Budget) -> Result<Vec<Check>> {
    let folder = rootfile::ScratchFolder::new()?;
    let plain = folder.path().join("plain.root");
    sample::make(&plain, ENTRIES, SEED)?;
    let mut checks = vec![check("bytes and baskets of a file are as planned", bytes(&plain, budget))];
    for codec in candidates(Goal::Reading).into_iter().chain(last_resorts()) {
        let path = folder.path().join(format!("{}.root", codec.to_root_setting()));
        let mut layout = Layout::default();
        layout.common.compression = Some(codec);
        layout.common.cluster = Some(ClusterSize::Entries(1000));
        let options = flow::Options { layout, budget, ..flow::Options::default() };
        let made = flow::rewrite(std::slice::from_ref(&plain), &path, &options, &unwatched).map(drop);
        let values = made.and_then(|()| values(&path, codec, budget));
        checks.push(check(&format!("values of a file in {codec} are the written ones"), values));
    }
    for (what, stages, expected) in bottleneck::planted() {
        let found = bottleneck::verdict(&stages);
        let wrong = || Error::request(format!("{found:?} is named, and not {expected:?}"));
        checks.push(check(&format!("the verdict on {what}"), (found == expected).then_some(()).ok_or_else(wrong)));
    }
    Ok(checks)
}

fn check(what: &str, found: Result<()>) -> Check {
    Check { what: what.to_owned(), wrong: found.err().map(|e| e.to_string()) }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(Error::request(format!("{what}: {found:?}, and not {expected:?}"))),
    }
}

/// A measurement of the whole file, compared with the written data.
fn bytes(path: &Path, budget: Budget) -> Result<()> {
    let options = Options {
        inputs: vec![Input { path: path.to_path_buf(), tree: None }],
        columns: Columns::All,
        allow_no_match: false,
        entries: Choice::default(),
        repeat: 2,
        cold: false,
        throttle: None,
        application: None,
        layouts: false,
        follow: rootfile::Follow::Paths,
        budget,
        scaling: Vec::new(),
    };
    let report = measure(&options, &|_| (), &|_| ())?;
    same("entries", report.entries, ENTRIES)?;
    same("readings", report.runs.len(), 2)?;
    let items: u64 = (0..ENTRIES).map(|i| sample::values(i, SEED).0.len() as u64).sum();
    let mut stored = 0;
    for (name, planned) in sample::BRANCHES.into_iter().zip([4 * ENTRIES, 4 * items, 8 * ENTRIES]) {
        let column = report.columns.iter().find(|column| column.name == name);
        let column = column.ok_or_else(|| Error::request(format!("{name} was not read")))?;
        same(&format!("bytes of {name}"), column.uncompressed, planned)?;
        same(&format!("baskets of {name}"), column.baskets, ENTRIES.div_ceil(sample::BASKET))?;
        stored += column.compressed;
    }
    same("bytes on disk", report.compressed, stored)?;
    let dataset = Dataset::open(&options.inputs)?;
    let planned = (0..dataset.columns().len()).map(|c| dataset.stored(c, &(0..ENTRIES)).0).sum();
    same("bytes on disk, as the tree says", stored, planned)
}

/// All entries, and some, of a file in a codec.
fn values(path: &Path, codec: Compression, budget: Budget) -> Result<()> {
    let dataset = Dataset::open(&[Input { path: path.to_path_buf(), tree: None }])?;
    let setting = dataset.tree().and_then(|tree| tree.branches.first()).map(|b| b.compress);
    same("the codec", setting, Some(codec.to_root_setting()))?;
    let picked: Vec<u64> = (0..ENTRIES).step_by(PICKED).collect();
    for entries in [(0..ENTRIES).collect(), picked] {
        let request = Request {
            columns: (0..dataset.columns().len()).collect(),
            entries: 0..ENTRIES,
            selection: (entries.len() < dataset.entries() as usize)
                .then(|| EntrySet::sorted(entries.clone()))
                .transpose()?,
            budget,
            progress: &unwatched,
        };
        let mut at = entries.iter();
        for part in batches(&dataset, request, BatchSize::Cluster) {
            let batch = part?.batch;
            let missing = || Error::request("columns have other types than written");
            let column = |name: &str| batch.column_by_name(name).ok_or_else(missing);
            let n = column("n")?.as_primitive_opt::<Int32Type>().ok_or_else(missing)?;
            let v = column("v")?.as_list_opt::<i64>().ok_or_else(missing)?;
            let x = column("x")?.as_primitive_opt::<Float64Type>().ok_or_else(missing)?;
            for (row, entry) in (0..batch.num_rows()).zip(at.by_ref()) {
                let (expected, expected_x) = sample::values(*entry, SEED);
                let items = v.value(row);
                let items = items.as_primitive_opt::<Float32Type>().ok_or_else(missing)?;
                let bits = |items: &[f32]| items.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                same(&format!("n of entry {entry}"), usize::try_from(n.value(row)).ok(), Some(expected.len()))?;
                same(&format!("v of entry {entry}"), bits(items.values()), bits(&expected))?;
                same(&format!("x of entry {entry}"), x.value(row).to_bits(), expected_x.to_bits())?;
            }
        }
        same("entries that were not read", at.count(), 0)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_well_and_what_is_not_would_be_seen() {
        let checks = self_check(Budget::new(100 << 20, 2)).unwrap();
        assert!(checks.len() > 15);
        assert_eq!(checks.iter().filter(|c| c.wrong.is_some()).map(|c| (&c.what, &c.wrong)).collect::<Vec<_>>(), []);
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other.root");
        sample::make(&other, ENTRIES, SEED + 1).unwrap();
        let wrong = values(&other, Compression::NONE, Budget::new(100 << 20, 1)).unwrap_err().to_string();
        assert!(wrong.contains("x of entry 0"), "{wrong}");
        sample::make(&other, ENTRIES + 1, SEED).unwrap();
        assert!(bytes(&other, Budget::new(100 << 20, 1)).is_err());
    }
}
