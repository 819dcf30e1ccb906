//! Measuring with a codec of known cost: the fitted costs must be exact.

pub(crate) use super::model::tests::ACCESS;
use std::path::PathBuf;

use dataset::decode::ColumnPlan;
use dataset::ntuple::element::Encoding;
use dataset::tree::basket::BasketData;
use flow::write::WriteOptions;
use flow::{Budget, unwatched};
use rootfile::Result;
use rootfile::codec::{Algorithm, Compression};

use super::allowance::Allowance;
use super::bench::{CodecBench, Trial, payload};
use super::decoding::{Decode, Decoding};
use super::line::{Line, Point};
use super::measure::measure;
use super::nominal::candidates;
use super::packing::Packing;
use super::replay::replay;
use super::statistics::FileStats;
use super::utility::Goal;
use super::workload::Workload;
use crate::synthetic::generate::{Job, generate};
use crate::synthetic::models::{Model, ModelOptions};

/// A codec that costs what [`fixed`] and [`per_byte`] say, and clocks that show it.
#[derive(Default)]
pub(crate) struct Fake {
    tried: Vec<(Compression, usize)>,
}

const ZSTD: Compression = Compression::new(Algorithm::Zstd, 1);
const NONE: Packing = Packing::of_baskets(Compression::NONE);
const DECODE: Line = Line { fixed: 1e-7, per_byte: 5e-10 };
const ZLIB: Compression = Compression::new(Algorithm::Zlib, 6);

/// Size, compression, decompression: for each basket, and for each byte.
fn known(codec: Compression) -> [Line; 3] {
    let line = |fixed, per_byte| Line { fixed, per_byte };
    match codec {
        c if c.is_none() => [line(0.0, 1.0), line(1e-6, 1e-10), line(1e-6, 1e-10)],
        c if c == ZSTD => [line(20.0, 0.25), line(1e-5, 4e-9), line(2e-6, 1e-9)],
        // Worse than zstd:1 in every way.
        c if c == ZLIB => [line(60.0, 0.5), line(1e-4, 9e-8), line(9e-6, 9e-9)],
        _ => [line(10.0, 0.75), line(5e-6, 3e-9), line(1e-6, 5e-10)],
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers"
)]
impl CodecBench for Fake {
    fn trial(&mut self, codec: Compression, payload: &[u8]) -> Result<Trial> {
        self.tried.push((codec, payload.len()));
        let [size, pack, unpack] = known(codec).map(|line| line.of(1.0, payload.len() as f64));
        Ok(Trial { stored: size.round() as usize, pack, unpack, ..Trial::default() })
    }

    fn unpack(&mut self, record: &[u8], objlen: usize, out: &mut Vec<u8>) -> Result<f64> {
        out.clear();
        out.extend_from_slice(record.get(..objlen).unwrap_or_default());
        Ok(1e-9 * objlen as f64)
    }

    fn decode_page(&mut self, _encoding: &Encoding, page: &[u8], _elements: usize) -> Result<f64> {
        Ok(1e-9 * page.len() as f64)
    }

    fn decode(&mut self, _plan: &ColumnPlan, basket: &BasketData) -> Option<[Point; 2]> {
        let raw = payload(basket) as f64;
        let point = |blocks: f64, raw| Point { blocks, raw, cost: DECODE.of(blocks, raw) };
        Some([point(1.0, raw), point(8.0, 8.0 * raw / f64::from(basket.count))])
    }
}

fn packings() -> Vec<Packing> {
    candidates(Goal::Reading).into_iter().map(Packing::of_baskets).collect()
}

fn file(name: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    crate::synthetic::sample::make(&path, 40_000, 7).unwrap();
    (dir, path)
}

#[test]
fn lines_come_out_as_the_codec_is() {
    let (_dir, path) = file("known.root");
    let stats = FileStats::read(&path, None, &Workload::default()).unwrap();
    assert_eq!(stats.units.len(), 3);
    let mut bench = Fake::default();
    let measured = measure(&stats, &packings(), NONE, 1, &Allowance::unlimited(), &mut bench).unwrap();
    assert!(measured.dropped.contains(&Packing::of_baskets(ZLIB)), "{:?}", measured.dropped);
    assert!([Packing::of_baskets(ZSTD), NONE].iter().all(|c| measured.codecs.contains(c)), "{:?}", measured.codecs);
    let zstd = measured.codecs.iter().position(|c| c.compression == ZSTD).unwrap();
    for (column, cost) in stats.columns.iter().zip(&measured.columns) {
        assert!(cost.sampled > 0.0, "{}", column.name());
        let found = cost.codecs[zstd].unwrap();
        for (line, truth) in [found.size.line, found.pack, found.unpack].iter().zip(known(ZSTD)) {
            // Sizes are whole bytes.
            assert!((line.fixed / truth.fixed - 1.0).abs() < 0.05, "{}: {line:?}", column.name());
            assert!((line.per_byte / truth.per_byte - 1.0).abs() < 0.01, "{}: {line:?}", column.name());
        }
        assert!((cost.today.of(column.count(), column.raw) / (1e-9 * column.raw) - 1.0).abs() < 1e-6);
        let decode = cost.decode.line.of(column.count(), column.raw);
        assert!((decode / DECODE.of(column.count(), column.raw) - 1.0).abs() < 1e-6, "{}", column.name());
    }
}

#[test]
fn columns_that_were_not_sampled_decode_as_their_type_does() {
    let (_dir, path) = file("types.root");
    let mut stats = FileStats::read(&path, None, &Workload::default()).unwrap();
    let point = |line: Line| [1.0, 50.0].map(|blocks| Point { blocks, raw: 1000.0, cost: line.of(blocks, 1000.0) });
    let slow = Line { fixed: 2e-6, per_byte: 3e-9 };
    stats.columns[2].plan = None;
    let mut decoding = Decoding::default();
    decoding.add(&stats.columns[0], &point(DECODE));
    decoding.add(&stats.columns[1], &point(slow));
    let near = |found: Line, line: Line| (found.of(7.0, 900.0) / line.of(7.0, 900.0) - 1.0).abs() < 1e-6;
    assert!(near(decoding.of(&stats.columns[0], &Default::default()).line, DECODE));
    assert!(near(decoding.of(&stats.columns[1], &Default::default()).line, slow));
    assert_eq!(decoding.of(&stats.columns[2], &point(slow)), Decode::default());
}

#[test]
fn the_seed_decides_the_samples() {
    let (_dir, path) = file("seeded.root");
    let stats = FileStats::read(&path, None, &Workload::default()).unwrap();
    let tried = |seed| {
        let mut bench = Fake::default();
        measure(&stats, &packings(), NONE, seed, &Allowance::unlimited(), &mut bench).unwrap();
        bench.tried
    };
    assert_eq!(tried(1), tried(1));
}

#[test]
fn replay_reads_what_is_asked() {
    let (_dir, path) = file("read.root");
    let read = |workload: &str| {
        let all = replay(&[&path, &path], None, &workload.parse().unwrap(), Budget::default(), 1).unwrap();
        assert_eq!((all[0].baskets, all[0].bytes), (all[1].baskets, all[1].bytes));
        all[0]
    };
    // 40,000 entries in baskets of 64, three columns.
    assert_eq!(read("full").baskets, 3 * 625);
    assert_eq!(read("columns:x").baskets, 625);
    // Forty entries are too few to tell, so they are picked twice.
    let sparse = read("sparse:0.1%").baskets;
    assert!((3 * 55..=3 * 120).contains(&sparse), "{sparse}");
    assert!(read("full").seconds > 0.0);
}

/// An RNTuple without compression of a kind of generated data.
fn generated(kind: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("generated.root");
    let model = Model::named(kind, &ModelOptions { size: 1_000_000, ..ModelOptions::default() }).unwrap();
    let layout = "container = \"rntuple\"\ncompression = \"none\"";
    let options = WriteOptions { layout: layout.parse().unwrap(), ..WriteOptions::default() };
    let (outputs, budget) = (vec![path.clone()], Budget::new(100_000_000, 1));
    let job = Job { model: &model, outputs, options, budget, fill: true, rate: None, timeline: false };
    generate(&job, &unwatched).unwrap();
    (dir, path)
}

#[test]
fn fewer_bits_are_tried_where_the_values_allow_them() {
    // The floats of a NanoAOD have 19 bits in columns of 32; random doubles need all of theirs.
    for (kind, bits) in [("nano", Some(19.0)), ("single", None)] {
        let (_dir, path) = generated(kind);
        let stats = FileStats::read(&path, None, &Workload::default()).unwrap();
        let packings = Packing::of_pages(&[Compression::NONE, ZSTD], true);
        let measured =
            measure(&stats, &packings, packings[0], 1, &Allowance::unlimited(), &mut Fake::default()).unwrap();
        let exact = measured.codecs.iter().position(|codec| codec.is_exact() && codec.is_none());
        let mut reals = 0;
        for (column, cost) in stats.columns.iter().zip(&measured.columns) {
            let name = column.lineage.join(".");
            let pages = column.pages.as_ref().unwrap();
            let found = exact.and_then(|k| cost.codecs[k]);
            let is_real = pages.encoding.can_be_narrower();
            reals += usize::from(is_real);
            match bits.filter(|_| is_real) {
                Some(bits) => {
                    let found = found.expect("fewer bits are measured").size.of(1.0, 32_000.0);
                    // By the bytes that the column has now.
                    assert!((found / (bits / 32.0 * 32_000.0) - 1.0).abs() < 0.01, "{name}: {found}");
                }
                None if is_real || !pages.may_be_exact => assert_eq!(found, None, "{name}"),
                None => {}
            }
        }
        assert!(reals > 0, "{kind}");
    }
}
