//! What `inspect` found in a file as a page: its columns as tiles, its baskets or pages along the file, clusters, findings with their
//! commands, and all that is in it as tables.

use std::collections::{BTreeMap, HashMap, HashSet};

use rootfile::Result;
use rootfile::text::{count, plural, shortened};

use super::chart::{Axis, Bar, Chart, Drawing, Part, Scale, Series, Spot, Style, Tile, amounts};
use super::page::{Plain, Told, plain};
use super::table::{Cell, Table};
use crate::inspect::report::{FileReport, Report};
use crate::math::as_f64;
use crate::sweep::metric::{Unit, amount};

/// Most tiles; the smallest columns of a group share one.
const MOST_TILES: usize = 1500;
/// Most baskets or pages that are drawn along the file: evenly chosen ones of more.
const MOST_PIECES: usize = 3000;
/// Columns with a colour of their own along the file.
const NAMED: usize = 7;
/// Columns with a bar.
const BARS: usize = 20;
/// Most rows of a table.
const MOST_ROWS: usize = 5000;
/// Most characters of a name in a chart.
const LONGEST: usize = 40;

/// A column that has bytes of its own.
struct Column {
    table: String,
    name: String,
    /// What it is a part of, if that has several.
    group: Option<String>,
    kind: String,
    codecs: String,
    pieces: u64,
    memory: u64,
    disk: u64,
}

/// A basket or a page.
struct Piece {
    /// The number of its column.
    column: usize,
    first_entry: u64,
    seek: u64,
    bytes: u64,
}

/// A table with the first entries of its clusters.
struct Clusters {
    table: String,
    starts: Vec<u64>,
}

/// What the page is made of.
#[derive(Default)]
struct Contents {
    columns: Vec<Column>,
    pieces: Vec<Piece>,
    clusters: Vec<Clusters>,
    facts: Vec<(String, String)>,
}

/// The page of a report, with its findings as they are told.
///
/// # Errors
///
/// A chart has no form in JSON.
pub fn page(report: &Report, findings: Vec<Told>) -> Result<String> {
    let mut contents = Contents::default();
    contents.facts.push(("file".to_owned(), about(&report.file)));
    trees(report, &mut contents);
    ntuples(report, &mut contents);
    parquet(report, &mut contents);
    group(&mut contents.columns);
    let charts = [tiles(&contents), along(&contents), sizes(&contents), clusters(&contents)];
    plain(&Plain {
        title: report.file.path.clone(),
        facts: contents.facts.clone(),
        said_title: "Findings, worst first".to_owned(),
        said: findings,
        charts: charts.into_iter().flatten().collect(),
        tables: tables(report, &contents),
    })
}

fn size(bytes: u64) -> String {
    amount(Unit::Bytes, as_f64(bytes))
}

/// What is known of the file as a whole.
fn about(file: &FileReport) -> String {
    let mut parts = vec![size(file.bytes)];
    if !file.root_version.is_empty() {
        parts.push(format!("ROOT {}", file.root_version));
    }
    if file.free_bytes > 0 {
        parts.push(format!("{} in gaps", size(file.free_bytes)));
    }
    if file.recovered {
        parts.push("not closed".to_owned());
    }
    parts.join(", ")
}

/// What is known of a table.
fn table_fact(what: &str, entries: u64, disk: u64) -> String {
    format!("{what}, {}, {} on disk", plural(entries, "entry", "entries"), size(disk))
}

fn codecs(all: &BTreeMap<String, u64>) -> String {
    all.keys().cloned().collect::<Vec<_>>().join(", ")
}

fn trees(report: &Report, contents: &mut Contents) {
    for tree in report.newest() {
        contents.facts.push((tree.path.clone(), table_fact("tree", tree.entries, tree.zip_bytes)));
        contents.clusters.push(Clusters { table: tree.path.clone(), starts: tree.clusters.clone() });
        let mut top: Option<&str> = None;
        let parted: HashSet<&str> =
            tree.branches.iter().filter_map(|branch| branch.id.split_once('.')).map(|(top, _)| top).collect();
        for branch in &tree.branches {
            if !branch.id.contains('.') {
                top = parted.contains(branch.id.as_str()).then_some(branch.name.as_str());
            }
            if branch.zip_bytes == 0 && branch.basket_summary.count == 0 {
                continue;
            }
            let column = contents.columns.len();
            let leaves = || branch.leaves.iter().map(|leaf| leaf.type_name.clone()).collect::<Vec<_>>().join(", ");
            contents.columns.push(Column {
                table: tree.path.clone(),
                name: branch.name.clone(),
                group: top.map(str::to_owned),
                kind: if branch.type_name.is_empty() { leaves() } else { branch.type_name.clone() },
                codecs: codecs(&branch.codecs),
                pieces: branch.basket_summary.count,
                memory: branch.tot_bytes,
                disk: branch.zip_bytes,
            });
            let pieces = branch.baskets.iter().flatten();
            contents.pieces.extend(pieces.map(|basket| Piece {
                column,
                first_entry: basket.first_entry,
                seek: basket.seek,
                bytes: u64::from(basket.bytes),
            }));
        }
    }
}

fn ntuples(report: &Report, contents: &mut Contents) {
    for ntuple in report.newest_ntuples() {
        contents.facts.push((ntuple.path.clone(), table_fact("RNTuple", ntuple.entries, ntuple.zip_bytes)));
        contents.clusters.push(Clusters { table: ntuple.path.clone(), starts: ntuple.clusters.clone() });
        let top = |path: &str| path.split_once('.').map(|(top, _)| top.to_owned());
        let parted: HashSet<String> = ntuple.fields.iter().filter_map(|field| top(&field.path)).collect();
        for field in ntuple.fields.iter().filter(|field| field.pages > 0) {
            let group = top(&field.path).or_else(|| parted.get(&field.path).cloned());
            let column = contents.columns.len();
            let mut words: BTreeMap<String, u64> = BTreeMap::new();
            field
                .columns
                .iter()
                .flat_map(|column| &column.codecs)
                .for_each(|(codec, n)| *words.entry(codec.clone()).or_default() += n);
            contents.columns.push(Column {
                table: ntuple.path.clone(),
                name: field.path.clone(),
                group,
                kind: field.type_name.clone(),
                codecs: codecs(&words),
                pieces: field.pages,
                memory: field.tot_bytes,
                disk: field.zip_bytes,
            });
            for page in field.columns.iter().flat_map(|column| column.page_list.iter().flatten()) {
                let start = usize::try_from(page.cluster).ok().and_then(|number| ntuple.clusters.get(number));
                if let (Some(seek), Some(&first_entry)) = (page.seek, start) {
                    contents.pieces.push(Piece { column, first_entry, seek, bytes: page.bytes });
                }
            }
        }
    }
}

fn parquet(report: &Report, contents: &mut Contents) {
    let Some(table) = &report.parquet else { return };
    contents.facts.push((table.path.clone(), table_fact("Parquet", table.entries, table.zip_bytes)));
    let starts = table.row_groups.iter().map(|group| group.first_entry).collect();
    contents.clusters.push(Clusters { table: table.path.clone(), starts });
    for column in &table.columns {
        let words: BTreeMap<String, u64> =
            column.leaves.iter().flat_map(|leaf| &leaf.codecs).map(|(codec, n)| (codec.to_lowercase(), *n)).collect();
        contents.columns.push(Column {
            table: table.path.clone(),
            name: column.name.clone(),
            group: None,
            kind: column.arrow_type.clone(),
            codecs: codecs(&words),
            pieces: table.row_groups.len() as u64,
            memory: column.tot_bytes,
            disk: column.zip_bytes,
        });
    }
}

/// Columns without a group belong to their prefix, as `Muon_pt` and `Muon_eta` do, if another one has it.
fn group(columns: &mut [Column]) {
    let prefix = |column: &Column| {
        let (prefix, rest) = column.name.split_once('_').or_else(|| column.name.split_once('.'))?;
        (!prefix.is_empty() && !rest.is_empty()).then(|| (column.table.clone(), prefix.to_owned()))
    };
    let mut many: HashMap<(String, String), usize> = HashMap::new();
    for key in columns.iter().filter(|column| column.group.is_none()).filter_map(prefix) {
        *many.entry(key).or_default() += 1;
    }
    for column in columns.iter_mut().filter(|column| column.group.is_none()) {
        let shared = prefix(column).filter(|key| many.get(key).is_some_and(|n| *n > 1));
        column.group = shared.map(|(_, prefix)| prefix);
    }
}

/// How much smaller a column is on disk.
fn ratio(memory: u64, disk: u64) -> Option<f64> {
    (disk > 0).then(|| as_f64(memory) / as_f64(disk))
}

/// A name that a chart has room for.
fn short(name: &str) -> String {
    shortened(name, LONGEST).into_owned()
}

impl Contents {
    fn has_several_tables(&self) -> bool {
        self.columns.iter().any(|column| self.columns.first().is_some_and(|first| first.table != column.table))
    }

    /// The name of a column, with its table if there are several.
    fn full_name(&self, column: &Column) -> String {
        if self.has_several_tables() { format!("{}: {}", column.table, column.name) } else { column.name.clone() }
    }

    /// The numbers of the columns, the largest first.
    fn by_size(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_key(|&number| std::cmp::Reverse(self.columns.get(number).map_or(0, |column| column.disk)));
        order
    }
}

fn tile_of(contents: &Contents, column: &Column, scale: Scale) -> Tile {
    let ratio = ratio(column.memory, column.disk);
    let text = [
        Some(contents.full_name(column)),
        Some(column.kind.clone()).filter(|kind| !kind.is_empty()),
        Some(format!("on disk: {}", size(column.disk))),
        Some(format!("in memory: {}", size(column.memory))),
        ratio.map(|ratio| format!("{ratio:.2} times smaller")),
        Some(column.codecs.clone()).filter(|codecs| !codecs.is_empty()),
    ];
    Tile {
        name: short(&column.name),
        size: scale.of_value(as_f64(column.disk)),
        colour: ratio,
        text: text.into_iter().flatten().collect(),
        parts: Vec::new(),
    }
}

/// The columns as tiles, those of a group together.
fn tiles(contents: &Contents) -> Option<Chart> {
    let scale = Scale::of(Unit::Bytes, contents.columns.iter().map(|column| as_f64(column.disk)));
    let mut order = contents.by_size();
    order.retain(|&number| contents.columns.get(number).is_some_and(|column| column.disk > 0));
    let rest = order.split_off(order.len().min(MOST_TILES));
    let several = contents.has_several_tables();
    let mut groups: Vec<(String, Vec<Tile>)> = Vec::new();
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    for column in order.iter().filter_map(|&number| contents.columns.get(number)) {
        let tile = tile_of(contents, column, scale);
        let Some(group) = &column.group else {
            groups.push((String::new(), vec![tile]));
            continue;
        };
        let name = if several { format!("{}: {group}", column.table) } else { group.clone() };
        let place = *places.entry((column.table.clone(), group.clone())).or_insert(groups.len());
        // What all names of a group begin with stands above them.
        let own = column.name.strip_prefix(group.as_str()).map(|own| own.trim_start_matches(['_', '.']));
        let tile = Tile { name: own.filter(|own| !own.is_empty()).map_or(tile.name, short), ..tile };
        match groups.get_mut(place) {
            Some((_, tiles)) => tiles.push(tile),
            None => groups.push((name, vec![tile])),
        }
    }
    let others: u64 = rest.iter().filter_map(|&number| contents.columns.get(number)).map(|column| column.disk).sum();
    if others > 0 {
        let name = plural(rest.len() as u64, "small column", "small columns");
        let text = vec![name.clone(), format!("on disk: {}", size(others))];
        let tile = Tile { name, size: scale.of_value(as_f64(others)), colour: None, text, parts: Vec::new() };
        groups.push((String::new(), vec![tile]));
    }
    let together = |(name, mut parts): (String, Vec<Tile>)| {
        if parts.len() == 1 {
            let only = parts.pop()?;
            let whole = only.text.first().cloned().unwrap_or_default();
            return Some(Tile { name: short(&whole), ..only });
        }
        let sum: f64 = parts.iter().map(|tile| tile.size).sum();
        let bytes = amount(Unit::Bytes, sum * scale.factor);
        let text = vec![name.clone(), format!("{} columns", parts.len()), format!("on disk: {bytes}")];
        Some(Tile { name: short(&name), size: sum, colour: None, text, parts })
    };
    let tiles: Vec<Tile> = groups.into_iter().filter_map(together).collect();
    (!tiles.is_empty()).then(|| Chart {
        name: "columns",
        title: "Bytes by column".to_owned(),
        note: "The area of a tile is the size of its column on disk; redder tiles are compressed more.".to_owned(),
        drawing: Drawing::Tiles {
            size: scale.axis("bytes on disk", true),
            colour: amounts("times smaller on disk"),
            tiles,
        },
    })
}

/// The baskets or pages where they are in the file, by their entries.
fn along(contents: &Contents) -> Option<Chart> {
    if contents.pieces.len() < 2 {
        return None;
    }
    let scale = Scale::of(Unit::Bytes, contents.pieces.iter().map(|piece| as_f64(piece.seek)));
    let several = contents.has_several_tables();
    let order = contents.by_size();
    // The largest columns have colours of their own, or the tables, if there are several.
    let named: HashMap<usize, String> = order
        .iter()
        .take(if several { usize::MAX } else { NAMED })
        .filter_map(|&number| {
            let column = contents.columns.get(number)?;
            Some((number, short(if several { &column.table } else { &column.name })))
        })
        .collect();
    let mut pieces: Vec<&Piece> = contents.pieces.iter().collect();
    pieces.sort_by_key(|piece| piece.seek);
    let mut series: Vec<Series> = Vec::new();
    // Those of columns with a colour are drawn before others.
    let (known, rest): (Vec<&Piece>, Vec<&Piece>) =
        pieces.into_iter().partition(|piece| named.contains_key(&piece.column));
    let [step, each] = [&known, &rest].map(|pieces| pieces.len().div_ceil(MOST_PIECES).max(1));
    for piece in rest.into_iter().step_by(each).chain(known.into_iter().step_by(step)) {
        let Some(column) = contents.columns.get(piece.column) else { continue };
        let name = named.get(&piece.column).cloned().unwrap_or_else(|| "other columns".to_owned());
        let text = vec![
            contents.full_name(column),
            format!("from entry {} on", count(piece.first_entry)),
            format!("{} at byte {}", size(piece.bytes), count(piece.seek)),
        ];
        let spot = Spot::new(scale.of_value(as_f64(piece.seek)), as_f64(piece.first_entry), text);
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(spot),
            None => series.push(Series::new(name, Style::Dots, vec![spot])),
        }
    }
    // What has no name of its own lies behind the others, of which the largest comes first.
    let rank = |series: &Series| order.iter().position(|number| named.get(number) == Some(&series.name)).map(|n| n + 1);
    series.sort_by_key(rank);
    let share = match (each, step) {
        (1, 1) => String::new(),
        (each, 1) => format!(" Of other columns one of {each} is drawn."),
        (each, step) => format!(" One of {} is drawn.", each.max(step)),
    };
    let note = format!(
        "A dot for each basket or page: where it begins in the file, and its first entry (of a page that of its cluster). Whoever reads \
         entries in order goes from the bottom to the top.{share}"
    );
    let y = Axis { title: "first entry".to_owned(), from_zero: true, whole: true };
    let x = scale.axis("position in the file", true);
    Some(Chart { name: "along", title: "Along the file".to_owned(), note, drawing: Drawing::Plane { x, y, series } })
}

/// The largest columns, on disk and before compression.
fn sizes(contents: &Contents) -> Option<Chart> {
    let order = contents.by_size();
    let columns: Vec<&Column> = order.iter().filter_map(|&number| contents.columns.get(number)).take(BARS).collect();
    let scale = Scale::of(Unit::Bytes, columns.iter().map(|column| as_f64(column.memory.max(column.disk))));
    let bar = |column: &&Column| Bar {
        name: short(&contents.full_name(column)),
        text: tile_of(contents, column, scale).text,
    };
    let part = |name: &str, of: fn(&Column) -> u64| Part {
        name: name.to_owned(),
        values: columns.iter().map(|column| scale.of_value(as_f64(of(column)))).collect(),
    };
    let parts = vec![
        part("on disk", |column| column.disk),
        part("saved by compression", |column| column.memory.saturating_sub(column.disk)),
    ];
    (!columns.is_empty()).then(|| Chart {
        name: "sizes",
        title: "The largest columns".to_owned(),
        note: "The whole bar is the size in memory, before compression.".to_owned(),
        drawing: Drawing::Bars { x: scale.axis("bytes", true), bars: columns.iter().map(bar).collect(), parts },
    })
}

/// Bytes of each cluster of each table.
fn clusters(contents: &Contents) -> Option<Chart> {
    let mut series = Vec::new();
    let mut found: Vec<(String, Vec<(u64, u64)>)> = Vec::new();
    for Clusters { table, starts } in contents.clusters.iter().filter(|all| all.starts.len() > 1) {
        let mut sums: Vec<(u64, u64)> = starts.iter().map(|&start| (start, 0)).collect();
        let own = |piece: &&Piece| contents.columns.get(piece.column).is_some_and(|column| column.table == *table);
        for piece in contents.pieces.iter().filter(own) {
            let place = sums.partition_point(|(start, _)| *start <= piece.first_entry).saturating_sub(1);
            if let Some((_, bytes)) = sums.get_mut(place) {
                *bytes += piece.bytes;
            }
        }
        if sums.iter().any(|(_, bytes)| *bytes > 0) {
            found.push((table.clone(), sums));
        }
    }
    let all = found.iter().flat_map(|(_, sums)| sums.iter().map(|(_, bytes)| as_f64(*bytes)));
    let scale = Scale::of(Unit::Bytes, all);
    for (table, sums) in &found {
        let spot = |(start, bytes): &(u64, u64)| {
            let text = vec![format!("from entry {} on", count(*start)), size(*bytes)];
            Spot::new(as_f64(*start), scale.of_value(as_f64(*bytes)), text)
        };
        let each = sums.len().div_ceil(MOST_PIECES).max(1);
        series.push(Series::new(short(table), Style::Line, sums.iter().step_by(each).map(spot).collect()));
    }
    let x = Axis { title: "first entry of the cluster".to_owned(), from_zero: true, whole: true };
    (!series.is_empty()).then(|| Chart {
        name: "clusters",
        title: "Clusters".to_owned(),
        note: "Bytes on disk of the baskets or pages that begin in each cluster.".to_owned(),
        drawing: Drawing::Plane { x, y: scale.axis("bytes on disk", true), series },
    })
}

fn text(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), value: None }
}

fn number(text: String, value: f64) -> Cell {
    Cell { text: text.replace(' ', "\u{a0}"), value: Some(value) }
}

fn bytes(n: u64) -> Cell {
    number(size(n), as_f64(n))
}

fn table(title: String, head: &[&str], mut rows: Vec<Vec<Cell>>) -> Option<Table> {
    let more = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    let title = if more > 0 { format!("{title}; {more} more are not listed") } else { title };
    (!rows.is_empty()).then(|| Table {
        title,
        head: head.iter().map(|&name| name.to_owned()).collect(),
        rows,
        foot: Vec::new(),
    })
}

fn tables(report: &Report, contents: &Contents) -> Vec<Table> {
    let order = contents.by_size();
    let column = |column: &Column| {
        let ratio = ratio(column.memory, column.disk);
        let factor = number(ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")), ratio.unwrap_or(0.0));
        vec![
            text(contents.full_name(column)),
            text(column.kind.clone()),
            text(column.codecs.clone()),
            bytes(column.disk),
            bytes(column.memory),
            factor,
            number(count(column.pieces), as_f64(column.pieces)),
        ]
    };
    let columns = order.iter().filter_map(|&number| contents.columns.get(number)).map(column).collect();
    let object = |object: &crate::inspect::report::ObjectReport| {
        let cycle = f64::from(object.cycle);
        vec![
            text(object.path.clone()),
            text(object.class.clone()),
            number(object.cycle.to_string(), cycle),
            bytes(object.bytes),
            bytes(object.raw_bytes),
        ]
    };
    let skipped = report.skipped.iter().map(|one| vec![text(one.object.clone()), text(one.reason.clone())]).collect();
    let heads = ["column", "type", "codecs", "on disk", "in memory", "ratio", "baskets or pages"];
    let all = [
        table("Columns".to_owned(), &heads, columns),
        table(
            "Objects besides trees and RNTuples".to_owned(),
            &["object", "class", "cycle", "on disk", "in memory"],
            report.objects.iter().map(object).collect(),
        ),
        table("What could not be read".to_owned(), &["object", "why"], skipped),
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::report::{BasketReport, BranchReport, TreeReport};

    fn branch(id: &str, name: &str, zip_bytes: u64) -> BranchReport {
        let basket = |n: u64| BasketReport { first_entry: 10 * n, entries: 10, bytes: 50, seek: 100 + n * 100 };
        let mut branch = BranchReport {
            id: id.to_owned(),
            name: name.to_owned(),
            zip_bytes,
            tot_bytes: 2 * zip_bytes,
            baskets: Some(vec![basket(0), basket(1)]),
            ..BranchReport::default()
        };
        branch.basket_summary.count = 2;
        branch
    }

    fn report(branches: Vec<BranchReport>) -> Report {
        let tree =
            TreeReport { path: "t".to_owned(), newest: true, clusters: vec![0, 10], branches, ..TreeReport::default() };
        Report {
            schema: 1,
            file: FileReport { path: "<a>.root".to_owned(), bytes: 1000, ..FileReport::default() },
            trees: vec![tree],
            ntuples: Vec::new(),
            parquet: None,
            objects: Vec::new(),
            skipped: Vec::new(),
            findings: Vec::new(),
            moved: Vec::new(),
        }
    }

    fn contents(report: &Report) -> Contents {
        let mut contents = Contents::default();
        trees(report, &mut contents);
        group(&mut contents.columns);
        contents
    }

    #[test]
    fn columns_of_a_prefix_and_members_are_groups() {
        let all = [
            ("0", "Muon_pt", 300),
            ("1", "Muon_eta", 200),
            ("2", "run", 50),
            ("3", "ev", 0),
            ("3.0", "ev.a", 20),
            ("4", "x_y", 1),
        ];
        let mut branches: Vec<BranchReport> = all.iter().map(|(id, name, bytes)| branch(id, name, *bytes)).collect();
        branches[3].basket_summary.count = 0;
        let report = report(branches);
        let contents = contents(&report);
        let groups: Vec<Option<&str>> = contents.columns.iter().map(|column| column.group.as_deref()).collect();
        assert_eq!(groups, [Some("Muon"), Some("Muon"), None, Some("ev"), None]);
        let Some(Chart { drawing: Drawing::Tiles { tiles, .. }, .. }) = tiles(&contents) else { panic!("no tiles") };
        let names: Vec<(&str, usize)> = tiles.iter().map(|tile| (tile.name.as_str(), tile.parts.len())).collect();
        assert_eq!(names, [("Muon", 2), ("run", 0), ("ev.a", 0), ("x_y", 0)]);
        let Some(Chart { drawing: Drawing::Plane { series, .. }, .. }) = along(&contents) else { panic!("no map") };
        assert_eq!(series.iter().map(|series| series.points.len()).sum::<usize>(), 10);
        let Some(Chart { drawing: Drawing::Plane { series, .. }, .. }) = clusters(&contents) else {
            panic!("no clusters")
        };
        assert_eq!(series[0].points.iter().map(|point| point.y).collect::<Vec<_>>(), [250.0, 250.0]);
    }

    #[test]
    fn names_are_escaped() {
        let report = report(vec![branch("0", "<script>alert(1)</script>", 10)]);
        let told = Told { text: "a <b>".to_owned(), command: Some("x > y".to_owned()), price: None };
        let html = page(&report, vec![told]).unwrap();
        assert!(!html.contains("<script>alert") && html.contains("&#60;script&#62;alert"));
        assert!(html.contains("a &#60;b&#62;") && html.contains("x &#62; y"));
    }
}
