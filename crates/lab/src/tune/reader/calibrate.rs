//! Measures a profile: small files that differ in codecs, baskets, branches, entries and kinds of values are generated, read
//! by basketry's decompression and by the program itself, and numbers are fitted that explain the program's times.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dataset::glob::NameFilter;
use dataset::tree::basket::BasketHeader;
use flow::write::WriteOptions;
use flow::{Budget, Progress, unwatched};
use rootfile::bytes::Cursor;
use rootfile::codec::Algorithm;
use rootfile::{Error, Result};
use serde::Serialize;

use super::fit::fit;
use super::profile::{Decompress, FORMAT, Fit, PerValue, Profile, Read, Speed, Stored, wide};
use super::proof::parts;
use super::session::{Session, Wanted};
use crate::cost::facts::{Column, Facts, as_f64};
use crate::cost::{Bench, Codecs, Kind, Workload};
use crate::generate::{Job, generate};
use crate::machine::Machine;
use crate::models::{Model, ModelOptions};
use crate::stats::median;

/// How often all files are read, by the program and by basketry's decompression. Of each file the shortest reading counts:
/// what other work on the machine adds is no property of the reader, and comes and goes between the rounds.
const ROUNDS: usize = 5;
/// Readings of a file in a round.
const READINGS: usize = 2;
/// No round is begun after so long, but for the first two: some readers are slow.
const LONG: Duration = Duration::from_secs(90);
/// A codec is never taken to be faster than this share of basketry's time: what a fit says of the fastest may be nothing.
const FASTEST: f64 = 0.2;

/// So many times less data to show that it works.
const QUICK: u64 = 10;
/// Fits, each with what the one before was off by; errors below this share are noise.
const REWEIGHTED: usize = 10;
const NOISE: f64 = 0.02;

/// A data set, and the layouts that it is written in.
struct Source {
    model: &'static str,
    /// Bytes of values.
    size: u64,
    /// Branches of `multi`.
    branches: u32,
    /// The branches that are kept.
    keep: &'static [&'static str],
    /// The layout that it is generated in.
    layout: &'static str,
    /// Compression and basket sizes of the files.
    files: &'static [(&'static str, &'static str)],
}

const ALL: &[&str] = &[];
const EVERY_CODEC: &[(&str, &str)] =
    &[("none", "32kB"), ("zlib:1", "32kB"), ("lz4:4", "32kB"), ("zstd:5", "32kB"), ("lzma:1", "32kB")];
const SPLIT: &str = "split-level = 99\ncompression = \"none\"";
const WHOLE: &str = "split-level = 0\ncompression = \"none\"";

/// What is generated. Wide rows and long columns, numbers that compress well and badly, all kinds of values.
const SOURCES: [Source; 12] = [
    // The same with next to no entries, and with more.
    Source {
        model: "nano",
        size: 250_000,
        branches: 1,
        keep: ALL,
        layout: "compression = \"none\"",
        files: &[("none", "32kB"), ("zlib:1", "32kB"), ("lz4:4", "32kB")],
    },
    Source {
        model: "nano",
        size: 1_500_000,
        branches: 1,
        keep: ALL,
        layout: "compression = \"none\"",
        files: &[("none", "32kB"), ("zlib:6", "32kB")],
    },
    // A thousand branches of leaves: the branches and baskets cost most.
    Source {
        model: "nano",
        size: 5_000_000,
        branches: 1,
        keep: ALL,
        layout: "compression = \"none\"",
        files: &[
            ("none", "2kB"),
            ("none", "32kB"),
            ("zlib:6", "32kB"),
            ("zlib:1", "4kB"),
            ("lz4:4", "8kB"),
            ("zstd:5", "32kB"),
            ("lzma:1", "32kB"),
        ],
    },
    // Some columns of many entries.
    Source {
        model: "nano",
        size: 40_000_000,
        branches: 1,
        keep: &["nMuon", "Muon_*", "MET_*", "HLT_path1*"],
        layout: "compression = \"none\"",
        files: &[("none", "64kB"), ("zlib:6", "64kB"), ("zstd:5", "8kB"), ("lz4:4", "64kB"), ("zlib:1", "2kB")],
    },
    // Long arrays: nearly all is decompression.
    Source {
        model: "nano",
        size: 60_000_000,
        branches: 1,
        keep: &["nLHEPdfWeight", "LHEPdfWeight"],
        layout: "compression = \"none\"",
        files: EVERY_CODEC,
    },
    // One column of many entries: the entries cost most.
    Source {
        model: "single",
        size: 6_000_000,
        branches: 1,
        keep: ALL,
        layout: "compression = \"none\"",
        files: &[("none", "32kB"), ("zlib:1", "32kB"), ("zstd:1", "1MB"), ("lz4:1", "256kB"), ("none", "4kB")],
    },
    Source {
        model: "lhcb",
        size: 6_000_000,
        branches: 1,
        keep: ALL,
        layout: SPLIT,
        files: &[("none", "32kB"), ("zlib:1", "32kB"), ("zstd:5", "4kB"), ("lz4:4", "32kB")],
    },
    Source {
        model: "lhcb",
        size: 6_000_000,
        branches: 1,
        keep: ALL,
        layout: WHOLE,
        files: &[("none", "32kB"), ("zlib:1", "32kB"), ("zstd:5", "8kB")],
    },
    Source {
        model: "aod",
        size: 8_000_000,
        branches: 1,
        keep: ALL,
        layout: SPLIT,
        files: &[("none", "256kB"), ("zlib:1", "32kB"), ("zstd:5", "32kB"), ("lzma:1", "32kB")],
    },
    Source {
        model: "aod",
        size: 8_000_000,
        branches: 1,
        keep: ALL,
        layout: WHOLE,
        files: &[("none", "32kB"), ("zlib:1", "32kB"), ("lz4:4", "256kB")],
    },
    Source {
        model: "multi",
        size: 8_000_000,
        branches: 10,
        keep: ALL,
        layout: SPLIT,
        files: &[("none", "32kB"), ("zlib:1", "4kB"), ("zstd:1", "32kB")],
    },
    Source {
        model: "multi",
        size: 8_000_000,
        branches: 1,
        keep: ALL,
        layout: WHOLE,
        files: &[("none", "32kB"), ("lz4:1", "8kB")],
    },
];

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
    /// What the profile says.
    pub expected: f64,
}

impl Row {
    /// How far off the profile is, as a share of what was measured.
    pub fn error(&self) -> f64 {
        self.expected / self.measured - 1.0
    }
}

/// What a calibration came to.
#[derive(Clone, Debug, Serialize)]
pub struct Calibration {
    /// The numbers.
    pub profile: Profile,
    /// The files that they explain.
    pub rows: Vec<Row>,
}

/// Number of files of a calibration.
pub fn files() -> usize {
    SOURCES.iter().map(|source| source.files.len()).sum()
}

/// Measures the profile of a program that is installed; `quick` shows that it works, with little files. `progress` is told
/// after each reading.
pub fn calibrate(
    name: &str,
    python: &OsString,
    (budget, quick): (Budget, bool),
    progress: Progress<'_>,
) -> Result<Calibration> {
    let mut session = Session::start(name, python)?;
    let folder = tempfile::tempdir()?;
    let mut cases: Vec<Case> = Vec::with_capacity(files());
    for (number, source) in SOURCES.iter().enumerate() {
        let size = if quick { source.size / QUICK } else { source.size };
        let made = source.make(folder.path(), number, (size, budget))?;
        for (compression, basket) in source.files {
            let path = folder.path().join(format!("{number}-{}.root", cases.len()));
            source.rewrite(&made, &path, (compression, basket), budget)?;
            cases.push(Case::new(&mut session, path, source.name(compression, basket))?);
        }
        std::fs::remove_file(&made).map_err(|e| Error::from(e).file(&made))?;
    }
    let begun = Instant::now();
    for round in 0..ROUNDS {
        if round >= 2 && begun.elapsed() > LONG || quick && round > 0 {
            break;
        }
        for case in &mut cases {
            case.measure(&mut session)?;
            if progress(1).is_break() {
                return Err(Error::request("the calibration was given up"));
            }
        }
    }
    // Of branches that are passed over there is nothing to learn.
    let seen: Vec<(Row, Features)> =
        cases.into_iter().filter(|case| case.unread == 0).map(|case| (case.row, case.features)).collect();
    let mut profile = profile_of(&seen);
    profile.reader = name.to_owned();
    session.version().clone_into(&mut profile.version);
    profile.command = format!("basketry tune --calibrate {name}");
    let mut rows = Vec::with_capacity(seen.len());
    for (mut row, features) in seen {
        row.expected = features.expected(&profile);
        rows.push(row);
    }
    let errors: Vec<f64> = rows.iter().map(|row| row.error().abs()).collect();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    profile.fit = Fit { files: rows.len(), median_error: median(&errors).unwrap_or(0.0), worst_error: worst };
    // What is kept is what would be taken.
    Profile::parse(&profile.to_toml()?, Path::new(name))?;
    Ok(Calibration { profile, rows })
}

impl Source {
    fn name(&self, compression: &str, basket: &str) -> String {
        let split = if self.layout == WHOLE { ", unsplit" } else { "" };
        let some = if self.keep.is_empty() { "" } else { ", some branches" };
        format!("{}{split}{some}, {compression}, {basket}", self.model)
    }

    /// Generates the data set.
    fn make(&self, folder: &Path, number: usize, (size, budget): (u64, Budget)) -> Result<PathBuf> {
        let options = ModelOptions { size, branches: self.branches, ..ModelOptions::default() };
        let model = Model::named(self.model, &options)?;
        let path = folder.join(format!("{number}.root"));
        let options = WriteOptions { layout: self.layout.parse()?, ..WriteOptions::default() };
        generate(&Job { model: &model, outputs: vec![path.clone()], options, budget, fill: true }, &unwatched)?;
        Ok(path)
    }

    /// Writes it with another codec and baskets of another size.
    fn rewrite(&self, made: &Path, path: &Path, (codec, basket): (&str, &str), budget: Budget) -> Result<()> {
        let keep: Vec<String> = self.keep.iter().map(|&name| name.to_owned()).collect();
        let options = flow::Options {
            layout: format!("compression = \"{codec}\"\nbasket = \"{basket}\"").parse()?,
            filter: NameFilter::new(&keep, &[])?,
            budget,
            overwrite: true,
            ..flow::Options::default()
        };
        flow::rewrite(&[made.to_path_buf()], path, &options, &unwatched).map(drop)
    }
}

/// What there is in a file, as far as a profile has a number for it.
#[derive(Clone, Debug, Default)]
struct Features {
    trees: f64,
    branches: f64,
    baskets: f64,
    stored: f64,
    /// Bytes without compression.
    none: f64,
    /// Objects of split collections.
    items: f64,
    /// Entries of branches of wide trees.
    wide: f64,
    /// By codec, in the order of [`CODECS`].
    codecs: [Packed; CODECS.len()],
    /// By kind: entries, and values.
    values: [(f64, f64); Kind::ALL.len()],
}

/// What is compressed by a codec.
#[derive(Clone, Copy, Debug, Default)]
struct Packed {
    /// That basketry takes to decompress it.
    seconds: f64,
    baskets: f64,
    bytes: f64,
}

const CODECS: [Algorithm; 4] = [Algorithm::Zlib, Algorithm::Lz4, Algorithm::Zstd, Algorithm::Lzma];

impl Features {
    fn row(&self) -> Vec<f64> {
        let besides = [self.trees, self.branches, self.baskets, self.stored, self.none, self.items, self.wide];
        let codecs = self.codecs.iter().flat_map(|packed| [packed.seconds, packed.baskets]);
        let values = self.values.iter().flat_map(|(entries, values)| [*entries, *values]);
        besides.into_iter().chain(codecs).chain(values).collect()
    }

    /// The seconds that a profile says.
    fn expected(&self, profile: &Profile) -> f64 {
        let Read { tree, branch, basket, stored_byte, item, wide_entry } = profile.read;
        let codecs = self.codecs.iter().zip(CODECS).map(|(packed, codec)| {
            let speed = profile.speed(codec);
            packed.seconds * speed.seconds_per_byte / speed.basketry + packed.baskets * speed.seconds_per_basket
        });
        let values = self.values.iter().zip(Kind::ALL).map(|((entries, values), kind)| {
            let PerValue { entry, value } = profile.values(kind);
            entries * entry + values * value
        });
        let besides = self.trees * tree + self.branches * branch + self.baskets * basket + self.items * item;
        let besides = besides + self.wide * wide_entry;
        let stored = self.stored * stored_byte + self.none * profile.decompress.none.seconds_per_byte;
        besides + stored + codecs.sum::<f64>() + values.sum::<f64>()
    }
}

/// A file, and what was measured of it.
struct Case {
    path: PathBuf,
    wanted: Vec<Wanted>,
    facts: Facts,
    row: Row,
    features: Features,
    /// Branches that the program cannot read.
    unread: u64,
}

impl Case {
    fn new(session: &mut Session, path: PathBuf, file: String) -> Result<Self> {
        let facts = Facts::read(&path, None, &Workload::default())?;
        let wanted = parts([&path, &path], None, &Workload::default(), 1)?;
        let wanted: Vec<_> = wanted.into_iter().next().unwrap_or_default().into_iter().flat_map(|(_, w)| w).collect();
        // What is done once for a class is done by then.
        session.warm(&path, &wanted)?;
        let features = features_of(&facts)?;
        let sum = |of: fn(&(f64, f64)) -> f64| features.values.iter().map(of).sum();
        let row = Row {
            file,
            branches: features.branches,
            baskets: features.baskets,
            entries: sum(|value| value.0),
            values: sum(|value| value.1),
            measured: f64::INFINITY,
            expected: 0.0,
        };
        Ok(Self { path, wanted, facts, row, features, unread: 0 })
    }

    /// Reads the file by basketry's decompression and by the program, in turns.
    fn measure(&mut self, session: &mut Session) -> Result<()> {
        for _ in 0..READINGS {
            let again = features_of(&self.facts)?;
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

fn features_of(facts: &Facts) -> Result<Features> {
    let mut bench = Codecs::default();
    let mut buffer = Vec::new();
    let mut features = Features { trees: as_f64(facts.trees.len() as u64), ..Features::default() };
    features.items = facts.items().into_iter().sum();
    for column in &facts.columns {
        features.branches += 1.0;
        features.baskets += column.count();
        features.stored += column.on_disk();
        let codec = column.compression.algorithm().and_then(|codec| CODECS.iter().position(|known| *known == codec));
        match codec.and_then(|codec| features.codecs.get_mut(codec)) {
            Some(packed) => {
                packed.seconds += unpack(facts, column, (&mut bench, &mut buffer))?;
                packed.baskets += column.count();
                packed.bytes += column.raw;
            }
            None => features.none += column.raw,
        }
        if let Some((entries, values)) =
            Kind::ALL.iter().position(|kind| *kind == column.kind).and_then(|kind| features.values.get_mut(kind))
        {
            *entries += column.entries;
            *values += column.values();
        }
    }
    // Each file has one tree.
    features.wide = wide(features.branches) * features.values.iter().map(|values| values.0).sum::<f64>();
    Ok(features)
}

/// Seconds that basketry takes to decompress all baskets of a column.
fn unpack(facts: &Facts, column: &Column, (bench, buffer): (&mut Codecs, &mut Vec<u8>)) -> Result<f64> {
    let mut seconds = 0.0;
    for basket in column.written() {
        let record = facts.file.source().read(basket.seek, basket.nbytes as usize)?;
        let header = BasketHeader::parse(&mut Cursor::new(&record))?;
        let stored = record.get(header.keylen()..).unwrap_or_default();
        seconds += bench.unpack(stored, header.key.objlen as usize, buffer)?;
    }
    Ok(seconds)
}

/// The numbers that explain the readings best, each reading by the share that it is off.
fn profile_of(seen: &[(Row, Features)]) -> Profile {
    let share = |(row, features): &(Row, Features)| features.row().iter().map(|x| x / row.measured).collect();
    let rows: Vec<Vec<f64>> = seen.iter().map(share).collect();
    let found = robust(&rows);
    let of = |number: usize| found.get(number).copied().unwrap_or(0.0);
    let besides = 7;
    let speed = |number: usize| {
        let all = seen.iter().filter_map(|(_, features)| features.codecs.get(number));
        let (seconds, bytes) = all.fold((0.0, 0.0), |sum, one| (sum.0 + one.seconds, sum.1 + one.bytes));
        let basketry = seconds / f64::max(bytes, 1.0);
        let at = besides + 2 * number;
        Speed { seconds_per_byte: basketry * of(at).max(FASTEST), seconds_per_basket: of(at + 1), basketry }
    };
    let values = Kind::ALL.into_iter().enumerate().map(|(number, kind)| {
        let at = besides + 2 * CODECS.len() + 2 * number;
        (kind, PerValue { entry: of(at), value: of(at + 1) })
    });
    Profile {
        format: FORMAT,
        reader: String::new(),
        version: String::new(),
        date: date(std::time::SystemTime::now()),
        processor: Machine::here().processor,
        command: String::new(),
        decompress: Decompress {
            none: Stored { seconds_per_byte: of(4) },
            zlib: speed(0),
            lz4: speed(1),
            zstd: speed(2),
            lzma: speed(3),
        },
        read: Read { tree: of(0), branch: of(1), basket: of(2), stored_byte: of(3), item: of(5), wide_entry: of(6) },
        values: values.collect(),
        fit: Fit::default(),
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

/// The day of a time, in UTC: days since 1970 to year, month and day, by H. Hinnant's algorithm (civil_from_days).
fn date(time: std::time::SystemTime) -> String {
    let seconds = time.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flow::spread;
    use std::time::UNIX_EPOCH;

    #[test]
    fn days_have_their_dates() {
        let day = |days: u64| date(UNIX_EPOCH + Duration::from_secs(days * 86_400 + 1));
        let known = [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_780, "2026-11-23")];
        known.into_iter().for_each(|(days, text)| assert_eq!(day(days), text));
    }

    #[test]
    fn a_planted_reader_is_found() {
        let planted = super::super::profile::tests::sample();
        let seen: Vec<(Row, Features)> = (0..40)
            .map(|i| {
                let x = |j: u64| spread(i, j);
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
                    measured: features.expected(&planted),
                    expected: 0.0,
                };
                (row, features)
            })
            .collect();
        let found = profile_of(&seen);
        for (row, features) in &seen {
            assert!((features.expected(&found) / row.measured - 1.0).abs() < 1e-6, "{found:?}");
        }
        let times = found.times("zlib:1".parse().unwrap()).unwrap();
        assert!((times - 2.0).abs() < 1e-3, "{times}");
    }
}
