//! The charts of a page about a file: tiles of columns, baskets or pages along the file, the largest columns, clusters.

use std::collections::HashMap;

use rootfile::text::{count, plural, shortened};

use super::gathered::{Clusters, Column, Contents, Piece, ratio, size};
use crate::math::as_f64;
use crate::report::chart::{Axis, Bar, Chart, Drawing, Part, Scale, Series, Spot, Style, Tile, amounts};
use crate::sweep::metric::{Unit, amount};

/// Most tiles; the smallest columns of a group share one.
const MOST_TILES: usize = 1500;
/// Most baskets or pages that are drawn along the file: evenly chosen ones of more.
const MOST_PIECES: usize = 3000;
/// Columns with a colour of their own along the file.
const NAMED: usize = 7;
/// Columns with a bar.
const BARS: usize = 20;
/// Most characters of a name in a chart.
const LONGEST: usize = 40;

/// A name that a chart has room for.
fn short(name: &str) -> String {
    shortened(name, LONGEST).into_owned()
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
pub(super) fn tiles(contents: &Contents) -> Option<Chart> {
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
pub(super) fn along(contents: &Contents) -> Option<Chart> {
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
pub(super) fn sizes(contents: &Contents) -> Option<Chart> {
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
pub(super) fn clusters(contents: &Contents) -> Option<Chart> {
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
