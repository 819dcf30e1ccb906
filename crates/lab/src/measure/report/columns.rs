//! The columns of the first level: bytes on disk in the input, and milliseconds to read an entry of each alone.

use std::collections::BTreeMap;
use std::path::Path;

use dataset::glob::TreePattern;
use rootfile::RootFile;

use super::chart::{Chart, Drawing, Scale, Tile};
use crate::inspect::{Options, inspect};
use crate::math::as_f64;
use crate::sweep::SweepInput;
use crate::sweep::findings::{Findings, Line};
use crate::sweep::metric::{Unit, amount};

/// Bytes on disk by column, if the input has not changed since the sweep.
pub(super) fn sizes(subject: &SweepInput) -> BTreeMap<String, u64> {
    let bytes = |path: &Path| std::fs::metadata(path).map(|found| found.len()).ok();
    if bytes(&subject.input) != Some(subject.bytes) {
        return BTreeMap::new();
    }
    let Ok(file) = RootFile::open(&subject.input) else { return BTreeMap::new() };
    let options = Options { tree: Some(TreePattern::exact(&subject.tree)), ..Options::default() };
    let Ok(report) = inspect(&file, &options) else { return BTreeMap::new() };
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    let mut top = String::new();
    for branch in report.trees.iter().filter(|tree| tree.newest).take(1).flat_map(|tree| &tree.branches) {
        if !branch.id.contains('.') {
            top.clone_from(&branch.name);
        }
        let bytes = found.entry(top.clone()).or_default();
        *bytes = bytes.saturating_add(branch.zip_bytes);
    }
    found
}

/// The treemap: a tile for each column. Where bytes are not known, tiles are as large as their time is long.
pub(super) fn tiles(findings: &Findings, sizes: &BTreeMap<String, u64>) -> Option<Chart> {
    let line = |point: usize| findings.lines.get(point).filter(|line| !line.columns.is_empty());
    let today = line(findings.reference).or_else(|| findings.lines.iter().find(|line| !line.columns.is_empty()));
    let chosen = findings.decision.chosen.and_then(line);
    let time = |line: Option<&Line>, name: &str| {
        line?.columns.iter().find(|(column, _)| column == name).map(|(_, milliseconds)| *milliseconds)
    };
    let names: Vec<&str> = match today {
        Some(line) => line.columns.iter().map(|(name, _)| name.as_str()).collect(),
        None => sizes.keys().map(String::as_str).collect(),
    };
    let times = Scale::of(Unit::Milliseconds, names.iter().filter_map(|name| time(today, name)));
    let bytes = Scale::of(Unit::Bytes, names.iter().filter_map(|name| sizes.get(*name)).map(|size| as_f64(*size)));
    let tile = |name: &&str| {
        let (size, milliseconds) = (sizes.get(*name).copied(), time(today, name));
        let told =
            |what: &str, milliseconds: f64| format!("{what}: {} an entry", amount(Unit::Milliseconds, milliseconds));
        let text = [
            Some((*name).to_owned()),
            size.map(|size| format!("on disk: {}", amount(Unit::Bytes, as_f64(size)))),
            milliseconds.map(|time| told("read alone", time)),
            time(chosen, name).map(|time| told("read alone in the chosen layout", time)),
        ];
        let own = match sizes.is_empty() {
            true => times.of_value(milliseconds?),
            false => bytes.of_value(as_f64(size?)),
        };
        Some(Tile {
            name: (*name).to_owned(),
            size: own,
            colour: milliseconds.map(|time| times.of_value(time)),
            text: text.into_iter().flatten().collect(),
            parts: Vec::new(),
        })
    };
    let tiles: Vec<Tile> = names.iter().filter_map(tile).filter(|tile| tile.size > 0.0).collect();
    let time = times.axis("time for an entry", true);
    let (size, note) = match (sizes.is_empty(), today.is_some()) {
        (true, _) => (time.clone(), "The area of a tile is the time to read its column alone."),
        (false, true) => (
            bytes.axis("bytes on disk", true),
            "The area of a tile is the size of its column on disk; redder tiles take longer to read alone.",
        ),
        (false, false) => (bytes.axis("bytes on disk", true), "The area of a tile is the size of its column on disk."),
    };
    (!tiles.is_empty()).then(|| Chart {
        name: "columns",
        title: "Columns".to_owned(),
        note: note.to_owned(),
        drawing: Drawing::Tiles { size, colour: time, tiles },
    })
}
