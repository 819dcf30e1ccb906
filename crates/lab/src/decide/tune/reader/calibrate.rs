//! Measures a profile: reads generated files with basketry's decompression and with the program itself, and fits the numbers
//! that explain the program's times.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flow::{Budget, Progress};
use rootfile::codec::Algorithm;
use rootfile::{Error, Result};
use serde::Serialize;

pub use super::calibration_files::files;
use super::calibration_files::{QUICK, RECIPES};
use super::features::{BESIDES, Features, features_of};
use super::fit::fit;
use super::ntuple_costs::KINDS;
use super::profile::{Decompress, FORMAT, Fit, PerValue, Profile, Read, Speed, Stored};
use super::proof::parts;
use super::session::{Session, Wanted};
use super::{NtupleCosts, NtupleRead};
use crate::cost::statistics::FileStats;
use crate::cost::{Kind, Workload};
use crate::math::statistics::median;
use crate::system::clock::date;
use crate::system::host::HostInfo;

/// How often all files are read, by the program and by basketry's decompression. Of each file the shortest reading counts:
/// other work on the machine only adds time, and varies between the rounds.
const ROUNDS: usize = 5;
/// Readings of a file in a round.
const READINGS: usize = 2;
/// No round but the first two begins after this time: some readers are slow.
const LONG: Duration = Duration::from_secs(90);
/// A codec takes at least this share of basketry's time: the fit of the fastest codec may give zero.
const FASTEST: f64 = 0.2;

/// Fits, each weighted by the errors of the one before; errors below this share are noise.
const REWEIGHTED: usize = 10;
const NOISE: f64 = 0.02;

/// A file of the calibration.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Data set, split level, compression and basket size.
    pub file: String,
    /// Branches with baskets.
    pub branches: f64,
    /// Baskets.
    pub baskets: f64,
    /// Entries of all branches.
    pub entries: f64,
    /// Numbers in all entries.
    pub values: f64,
    /// CPU seconds that the program took: the shortest of its readings.
    pub measured: f64,
    /// CPU seconds by the profile.
    pub expected: f64,
    /// Whether it has an RNTuple: then branches are columns, and baskets are pages.
    pub ntuple: bool,
}

impl Row {
    /// The error of the profile, as a share of the measured time.
    pub fn error(&self) -> f64 {
        self.expected / self.measured - 1.0
    }
}

/// The result of a calibration.
#[derive(Clone, Debug, Serialize)]
pub struct Calibration {
    /// The numbers.
    pub profile: Profile,
    /// The files that they explain.
    pub rows: Vec<Row>,
}

/// Measures the profile of an installed program; `quick` only shows that it works, with small files. Calls `progress`
/// after each reading.
///
/// # Errors
///
/// The program is not installed, a file cannot be written or read, or the measurements do not give a profile.
pub fn calibrate(
    name: &str,
    python: &OsString,
    budget: Budget,
    quick: bool,
    progress: Progress<'_>,
) -> Result<Calibration> {
    let mut session = Session::start(name, python)?;
    let folder = tempfile::tempdir()?;
    let mut cases: Vec<Case> = Vec::with_capacity(files());
    for (number, recipe) in RECIPES.iter().enumerate() {
        let size = if quick { recipe.size / QUICK } else { recipe.size };
        let made = recipe.make(folder.path(), number, size, budget)?;
        for (compression, basket) in recipe.files {
            let path = folder.path().join(format!("{number}-{}.root", cases.len()));
            recipe.rewrite(&made, &path, compression, basket, budget)?;
            cases.push(Case::new(&mut session, path, recipe.name(compression, basket))?);
        }
        std::fs::remove_file(&made).map_err(|e| Error::from(e).file(&made))?;
    }
    let started = Instant::now();
    for round in 0..ROUNDS {
        if round >= 2 && started.elapsed() > LONG || quick && round > 0 {
            break;
        }
        for case in &mut cases {
            case.measure(&mut session)?;
            flow::tell(progress, 1)?;
        }
    }
    // Files with branches that the program skips are left out.
    let seen = cases.into_iter().filter(|case| case.unread == 0).map(|case| (case.row, case.features));
    let (ntuples, seen): (Vec<_>, Vec<(Row, Features)>) = seen.partition(|(row, _)| row.ntuple);
    let mut profile = profile_of(&seen);
    profile.reader = name.to_owned();
    session.version().clone_into(&mut profile.version);
    profile.command = format!("basketry tune --calibrate {name}");
    let mut rows = Vec::with_capacity(seen.len() + ntuples.len());
    for (mut row, features) in seen {
        row.expected = features.expected(&profile);
        rows.push(row);
    }
    profile.fit = fit_of(&rows);
    let mut costs = ntuples_of(&ntuples);
    let mut read = Vec::with_capacity(ntuples.len());
    for (mut row, features) in ntuples {
        row.expected = features.expected_of_pages(&costs);
        read.push(row);
    }
    costs.fit = fit_of(&read);
    profile.ntuple = (!read.is_empty()).then_some(costs);
    rows.append(&mut read);
    // A profile that would be refused is not kept.
    Profile::parse(&profile.to_toml()?, Path::new(name))?;
    Ok(Calibration { profile, rows })
}

/// A file, and its measurements.
struct Case {
    path: PathBuf,
    wanted: Vec<Wanted>,
    stats: FileStats,
    row: Row,
    features: Features,
    /// Branches that the program cannot read.
    unread: u64,
}

impl Case {
    fn new(session: &mut Session, path: PathBuf, file: String) -> Result<Self> {
        let stats = FileStats::read(&path, None, &Workload::default())?;
        let wanted = parts([&path, &path], None, &Workload::default(), 1)?;
        let wanted: Vec<_> = wanted.into_iter().next().unwrap_or_default().into_iter().flat_map(|(_, w)| w).collect();
        // One-time work for classes is done here.
        session.warm(&path, &wanted)?;
        let features = features_of(&stats)?;
        let sum = |of: fn(&(f64, f64)) -> f64| features.values.iter().map(of).sum();
        let row = Row {
            file,
            branches: features.branches,
            baskets: features.baskets,
            entries: sum(|value| value.0),
            values: sum(|value| value.1),
            measured: f64::INFINITY,
            expected: 0.0,
            ntuple: stats.has_pages(),
        };
        Ok(Self { path, wanted, stats, row, features, unread: 0 })
    }

    /// Reads the file by basketry's decompression and by the program, in turns.
    fn measure(&mut self, session: &mut Session) -> Result<()> {
        for _ in 0..READINGS {
            let again = features_of(&self.stats)?;
            for (packed, again) in self.features.codecs.iter_mut().zip(again.codecs) {
                packed.seconds = packed.seconds.min(again.seconds);
            }
            let seconds = session.read(&self.path, &self.wanted)?;
            self.unread = session.unread();
            self.row.measured = self.row.measured.min(seconds).max(f64::MIN_POSITIVE);
        }
        Ok(())
    }
}

/// How well the numbers explain the rows.
fn fit_of(rows: &[Row]) -> Fit {
    let errors: Vec<f64> = rows.iter().map(|row| row.error().abs()).collect();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    Fit { files: rows.len(), median_error: median(&errors).unwrap_or(0.0), worst_error: worst }
}

/// The numbers that explain the readings best, each reading by the share that it is off.
struct Numbers {
    besides: [f64; BESIDES],
    decompress: Decompress,
    values: BTreeMap<Kind, PerValue>,
}

fn numbers_of(seen: &[(Row, Features)]) -> Numbers {
    let share = |(row, features): &(Row, Features)| features.row().iter().map(|x| x / row.measured).collect();
    let rows: Vec<Vec<f64>> = seen.iter().map(share).collect();
    let found = robust(&rows);
    let of = |number: usize| found.get(number).copied().unwrap_or(0.0);
    let speed = |number: usize| {
        let all = seen.iter().filter_map(|(_, features)| features.codecs.get(number));
        let (seconds, bytes) = all.fold((0.0, 0.0), |sum, one| (sum.0 + one.seconds, sum.1 + one.bytes));
        let basketry = seconds / f64::max(bytes, 1.0);
        let at = BESIDES + 2 * number;
        Speed { seconds_per_byte: basketry * of(at).max(FASTEST), seconds_per_basket: of(at + 1), basketry }
    };
    let values = Kind::ALL.into_iter().enumerate().map(|(number, kind)| {
        let at = BESIDES + 2 * Algorithm::WRITTEN.len() + 2 * number;
        (kind, PerValue { entry: of(at), value: of(at + 1) })
    });
    Numbers {
        besides: std::array::from_fn(of),
        decompress: Decompress {
            none: Stored { seconds_per_byte: of(4) },
            zlib: speed(0),
            lz4: speed(1),
            zstd: speed(2),
            lzma: speed(3),
        },
        values: values.collect(),
    }
}

/// The costs of RNTuples.
fn ntuples_of(seen: &[(Row, Features)]) -> NtupleCosts {
    let Numbers { besides, decompress, mut values } = numbers_of(seen);
    let [table, column, page, stored_byte, _, split_byte, plain_byte] = besides;
    values.retain(|kind, _| KINDS.contains(kind));
    let read = NtupleRead { table, column, page, stored_byte, split_byte, plain_byte };
    NtupleCosts { decompress, read, values, fit: Fit::default() }
}

/// The costs of trees.
fn profile_of(seen: &[(Row, Features)]) -> Profile {
    let Numbers { besides, decompress, values } = numbers_of(seen);
    let [tree, branch, basket, stored_byte, _, item, wide_entry] = besides;
    Profile {
        format: FORMAT,
        reader: String::new(),
        version: String::new(),
        date: date(std::time::SystemTime::now()),
        processor: HostInfo::here().processor,
        command: String::new(),
        decompress,
        read: Read { tree, branch, basket, stored_byte, item, wide_entry },
        values,
        fit: Fit::default(),
        ntuple: None,
    }
}

/// Numbers that make most rows' products nearest to 1: rows that are far off have little say. Objects of some classes are,
/// and would take the others with them.
fn robust(rows: &[Vec<f64>]) -> Vec<f64> {
    let mut weights = vec![1.0; rows.len()];
    let mut found = Vec::new();
    for _ in 0..REWEIGHTED {
        let weighted: Vec<Vec<f64>> =
            rows.iter().zip(&weights).map(|(row, weight)| row.iter().map(|x| x * weight).collect()).collect();
        found = fit(&weighted, &weights);
        for (row, weight) in rows.iter().zip(&mut weights) {
            let product: f64 = row.iter().zip(&found).map(|(a, b)| a * b).sum();
            *weight = 1.0 / (product - 1.0).abs().max(NOISE).sqrt();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::features::Packed;
    use super::*;
    use flow::uniform;

    #[test]
    fn a_planted_reader_is_found() {
        let planted = Profile::example();
        let seen = planted_rows(&|features| features.expected(&planted));
        let found = profile_of(&seen);
        for (row, features) in &seen {
            assert!((features.expected(&found) / row.measured - 1.0).abs() < 1e-6, "{found:?}");
        }
        let times = found.decompress.times("zlib:1".parse().unwrap()).unwrap();
        assert!((times - 2.0).abs() < 1e-3, "{times}");
    }

    #[test]
    fn a_planted_reader_of_rntuples_is_found() {
        let planted = NtupleCosts::example();
        let seen = planted_rows(&|features| features.expected_of_pages(&planted));
        let found = ntuples_of(&seen);
        for (row, features) in &seen {
            assert!((features.expected_of_pages(&found) / row.measured - 1.0).abs() < 1e-6, "{found:?}");
        }
        assert!((found.read.page / planted.read.page - 1.0).abs() < 1e-3, "{found:?}");
        assert!((found.read.split_byte / planted.read.split_byte - 1.0).abs() < 1e-3, "{found:?}");
    }

    fn planted_rows(seconds: &dyn Fn(&Features) -> f64) -> Vec<(Row, Features)> {
        (0..40)
            .map(|i| {
                let x = |j: u64| uniform(i, j);
                let bytes = 1e6 + 1e7 * x(0);
                let mut features = Features {
                    trees: 1.0,
                    branches: (1000.0 * x(1)).ceil(),
                    baskets: 1e4 * x(2),
                    stored: bytes * x(3),
                    items: 1e5 * x(4),
                    wide: 1e6 * x(5),
                    ..Features::default()
                };
                let ours = [2e-9, 4e-10, 1e-9, 2e-8];
                match usize::try_from(i % 5).unwrap() {
                    4 => features.none = bytes,
                    codec => {
                        features.codecs[codec] = Packed { seconds: bytes * ours[codec], baskets: 1e4 * x(2), bytes }
                    }
                }
                for (kind, values) in features.values.iter_mut().enumerate() {
                    *values = (1e6 * x(10 + kind as u64), bytes * x(20 + kind as u64));
                }
                let row = Row {
                    file: String::new(),
                    branches: features.branches,
                    baskets: features.baskets,
                    entries: 0.0,
                    values: 0.0,
                    measured: seconds(&features),
                    expected: 0.0,
                    ntuple: false,
                };
                (row, features)
            })
            .collect()
    }
}
