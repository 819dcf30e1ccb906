//! Measuring with a codec of known cost in the place of the real ones: the lines must come out exactly.

use std::path::PathBuf;

use rootfile::Result;
use rootfile::codec::{Algorithm, Compression};

use super::bench::{Bench, Trial};
use super::facts::Facts;
use super::line::Line;
use super::measure::{candidates, measure};
use super::replay::replay;
use super::workload::Workload;

#[path = "../../../flow/tests/sample/mod.rs"]
mod sample_file;

/// A codec that costs what [`fixed`] and [`per_byte`] say, and clocks that show it.
#[derive(Default)]
struct Fake {
    tried: Vec<(Compression, usize)>,
}

const ZSTD: Compression = Compression::new(Algorithm::Zstd, 1);
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
impl Bench for Fake {
    fn trial(&mut self, codec: Compression, payload: &[u8]) -> Result<Trial> {
        self.tried.push((codec, payload.len()));
        let [size, pack, unpack] = known(codec).map(|line| line.of(1.0, payload.len() as f64));
        Ok(Trial { stored: size.round() as usize, pack, unpack })
    }

    fn unpack(&mut self, record: &[u8], objlen: usize, out: &mut Vec<u8>) -> Result<f64> {
        out.clear();
        out.extend_from_slice(record.get(..objlen).unwrap_or_default());
        Ok(1e-9 * objlen as f64)
    }
}

fn file(name: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    sample_file::make(&path, 40_000, 7);
    (dir, path)
}

#[test]
fn lines_come_out_as_the_codec_is() {
    let (_dir, path) = file("known.root");
    let facts = Facts::read(&path, None, &Workload::default()).unwrap();
    assert_eq!(facts.units.len(), 3);
    let mut bench = Fake::default();
    let measured = measure(&facts, &candidates(), Compression::NONE, 1, &mut bench).unwrap();
    assert!(measured.dropped.contains(&ZLIB), "{:?}", measured.dropped);
    assert!([ZSTD, Compression::NONE].iter().all(|c| measured.codecs.contains(c)), "{:?}", measured.codecs);
    let zstd = measured.codecs.iter().position(|c| *c == ZSTD).unwrap();
    for (column, cost) in facts.columns.iter().zip(&measured.columns) {
        assert!(cost.sampled > 0.0, "{}", column.name());
        let found = cost.codecs[zstd].unwrap();
        for (line, truth) in [found.size, found.pack, found.unpack].iter().zip(known(ZSTD)) {
            // Sizes are whole bytes.
            assert!((line.fixed / truth.fixed - 1.0).abs() < 0.05, "{}: {line:?}", column.name());
            assert!((line.per_byte / truth.per_byte - 1.0).abs() < 0.01, "{}: {line:?}", column.name());
        }
        assert!((cost.today.of(column.count(), column.raw) / (1e-9 * column.raw) - 1.0).abs() < 1e-6);
    }
}

#[test]
fn the_seed_decides_what_is_sampled() {
    let (_dir, path) = file("seeded.root");
    let facts = Facts::read(&path, None, &Workload::default()).unwrap();
    let tried = |seed| {
        let mut bench = Fake::default();
        measure(&facts, &candidates(), Compression::NONE, seed, &mut bench).unwrap();
        bench.tried
    };
    assert_eq!(tried(1), tried(1));
}

#[test]
fn replay_reads_what_is_asked() {
    let (_dir, path) = file("read.root");
    let read = |workload: &str| {
        let all = replay(&[&path, &path], None, &workload.parse().unwrap(), 1).unwrap();
        assert_eq!((all[0].baskets, all[0].bytes), (all[1].baskets, all[1].bytes));
        all[0]
    };
    // 40,000 entries in baskets of 64, three columns.
    assert_eq!(read("full").baskets, 3 * 625);
    assert_eq!(read("columns:x").baskets, 625);
    let sparse = read("sparse:0.1%").baskets;
    assert!((3 * 30..=3 * 40).contains(&sparse), "{sparse}");
    assert!(read("full").seconds > 0.0);
}
