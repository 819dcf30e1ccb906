//! Explains a choice: which columns change, and what that gains, as sums and as sentences.

use std::collections::BTreeMap;

use dataset::layout::Container;
use flow::Form;

use crate::cost::Packing;
use crate::cost::column::{METADATA_PER_BASKET, Recast};
use crate::cost::model::Cost;
use crate::cost::statistics::FileStats;

use super::candidates::Pick;
use super::choice::{Chosen, READ_NOISE, SIZE_NOISE};
use super::forms::TopColumns;
use super::report::{Group, Recasting};

/// Columns in another form that have a sentence each.
const RECASTS: usize = 8;

/// Columns grouped by the change of their codec. A column that changes its form is a group of its own.
pub(crate) fn groups(
    stats: &FileStats,
    codecs: &[Packing],
    today: &[Cost],
    tops: &TopColumns,
    chosen: &Chosen,
) -> Vec<Group> {
    let mut members = vec![0usize; stats.units.len()];
    let mut now = vec![Cost::default(); stats.units.len()];
    let mut from: Vec<Option<Packing>> = vec![None; stats.units.len()];
    for (column, cost) in stats.columns.iter().zip(today) {
        let unit = column.unit;
        if let (Some(members), Some(now), Some(from)) = (members.get_mut(unit), now.get_mut(unit), from.get_mut(unit)) {
            *members += 1;
            *now += *cost;
            from.get_or_insert(column.packing());
        }
    }
    let mut groups: BTreeMap<(String, String), Group> = BTreeMap::new();
    let units = from.iter().zip(&members).zip(&now).zip(chosen.picks.iter().zip(&chosen.costs));
    for (unit, (((from, members), now), (pick, cost))) in units.enumerate() {
        let Some(pick) = pick.filter(|_| !tops.is_recast(unit, &chosen.forms)) else { continue };
        let from = from.map_or_else(String::new, |packing| packing.to_string());
        let to = pick.codec.and_then(|k| codecs.get(k)).map_or_else(|| from.clone(), ToString::to_string);
        let group = groups.entry((from.clone(), to.clone())).or_insert_with(|| Group { from, to, ..Group::default() });
        group.columns += members;
        group.today += of_baskets(*now);
        group.chosen += of_baskets(*cost);
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by(|a, b| b.today.size.total_cmp(&a.today.size));
    groups
}

/// A cost with the bytes of baskets alone: what they add to the metadata is an upper bound, and not in them.
fn of_baskets(cost: Cost) -> Cost {
    Cost { size: (cost.size - METADATA_PER_BASKET * cost.baskets).max(0.0), ..cost }
}

/// Columns that change their form, most expensive first.
pub(crate) fn recasts(stats: &FileStats, today: &[Cost], tops: &TopColumns, chosen: &Chosen) -> Vec<Recasting> {
    let recasting = |recast: &Recast| {
        let mut found = Recasting {
            tree: stats.trees.get(recast.tree).map_or_else(String::new, |tree| tree.path.clone()),
            column: recast.name.clone(),
            before: recast.before,
            after: recast.after,
            today: Cost::default(),
            chosen: Cost::default(),
        };
        for (column, cost) in stats.columns.iter().zip(today) {
            if recast.own.contains(&column.unit) {
                found.today += *cost;
            }
        }
        recast.units.iter().filter_map(|&unit| chosen.costs.get(unit)).for_each(|cost| found.chosen += *cost);
        found
    };
    let mut found: Vec<Recasting> =
        tops.chosen(&chosen.forms).filter_map(|recast| stats.recasts.get(recast)).map(recasting).collect();
    found.sort_by(|a, b| b.today.read.total_cmp(&a.today.read));
    found
}

/// A sentence about each column that changes its form, or about columns that could.
pub(crate) fn recast_sentences(
    stats: &FileStats,
    recasts: &[Recasting],
    clusters: f64,
    requested: bool,
) -> Vec<String> {
    let mut out: Vec<String> = recasts.iter().take(RECASTS).map(|recast| recast_sentence(recast, clusters)).collect();
    if let Some(more @ 1..) = recasts.len().checked_sub(RECASTS) {
        out.push(format!("and {more} more columns in another form"));
    }
    let objects: usize = stats.trees.iter().map(|tree| tree.objects.len()).sum();
    match (requested, objects) {
        (_, 0) => {}
        (false, n) => {
            let columns = if n == 1 { "1 column of objects".to_owned() } else { format!("{n} columns of objects") };
            out.push(format!(
                "{columns} could have another split level: --recode tries this, and changes branch names"
            ));
        }
        (true, _) if recasts.is_empty() => {
            out.push("columns of objects are best split and streamed as they are".to_owned());
        }
        (true, _) => {}
    }
    out
}

fn recast_sentence(recast: &Recasting, clusters: f64) -> String {
    let form = |form: &Form| match (form.branches, form.streaming) {
        (1, Some(streaming)) => format!("unsplit {streaming}"),
        (1, None) => "unsplit".to_owned(),
        _ => format!("split {}", form.split_level),
    };
    let Recasting { column, before, after, today, chosen, .. } = recast;
    let fewer = (today.baskets - chosen.baskets) / clusters.max(1.0);
    let baskets = match fewer {
        n if n >= 1.5 => format!("{n:.0} baskets fewer a cluster, "),
        n if n <= -1.5 => format!("{:.0} baskets more a cluster, ", -n),
        _ => String::new(),
    };
    let (read, size) = gains(today, chosen, TODAYS);
    format!("{column}: {} instead of {}: {baskets}{read}, {size}", form(after), form(before))
}

/// Whose costs those of today's file are.
pub(super) const TODAYS: &str = "today's";

/// Sentences about groups, about baskets and about clusters. The costs before are those of today, or of a converted file: `whose` says it.
pub(crate) fn sentences(
    stats: &FileStats,
    groups: &[Group],
    (today, whose): (&Cost, &str),
    chosen: &Chosen,
    clusters: (f64, f64),
) -> Vec<String> {
    let changed = groups.iter().filter(|group| changes(&group.today, &group.chosen));
    let mut out: Vec<String> = changed.map(|group| sentence(group, whose)).collect();
    let picks = || chosen.picks.iter().flatten();
    let pieces = if stats.has_pages() { "page" } else { "basket" };
    let reshaped = picks().filter(|p: &&Pick| p.basket.is_some()).count();
    let count = |cost: &Cost| cost.baskets.round().max(1.0);
    if reshaped > 0 && (count(&chosen.total) / count(today) - 1.0).abs() > SIZE_NOISE {
        out.push(format!(
            "other {pieces} sizes on {reshaped} of {} columns: {} instead of {}{:.0}, {} on average before compression",
            picks().count(),
            plural(chosen.total.baskets, pieces),
            if whose == TODAYS { String::new() } else { format!("{whose} ") },
            today.baskets,
            kilobytes(stats.now().map(|c| c.raw).sum::<f64>() / chosen.total.baskets.max(1.0)),
        ));
    }
    match clusters {
        (before, after) if before.round() == after.round() => {}
        (before, after) => out.push(format!("{} instead of {before:.0}", plural(after, "cluster"))),
    }
    out
}

/// Whether a group gains or loses anything beyond the noise.
fn changes(today: &Cost, chosen: &Cost) -> bool {
    let off = |after: f64, before: f64| (after / before.max(f64::MIN_POSITIVE) - 1.0).abs();
    off(chosen.read, today.read) > READ_NOISE || off(chosen.size, today.size) > SIZE_NOISE
}

/// A number with its noun.
fn plural(n: f64, noun: &str) -> String {
    match n.round() {
        1.0 => format!("1 {noun}"),
        n => format!("{n:.0} {noun}s"),
    }
}

/// A sentence about another container.
pub(super) fn container_sentence(container: Container, today: &Cost, chosen: &Cost) -> String {
    let what = match container {
        Container::Rntuple => "an RNTuple instead of a tree",
        Container::Ttree => "a tree instead of an RNTuple",
    };
    let (read, size) = gains(today, chosen, TODAYS);
    format!("{what}: {read}, {size}")
}

fn sentence(group: &Group, whose: &str) -> String {
    let Group { from, to, columns, today, chosen } = group;
    let columns = format!("{columns} column{}", if *columns == 1 { "" } else { "s" });
    let (read, size) = gains(today, chosen, whose);
    match from == to {
        true => format!("{to} stays on {columns}: {read}, {size}"),
        false => format!("{to} instead of {from} on {columns}: {read}, {size}"),
    }
}

/// How reading time and size change. `whose` they were before.
fn gains(today: &Cost, chosen: &Cost, whose: &str) -> (String, String) {
    let factor = chosen.read.max(f64::MIN_POSITIVE) / today.read.max(f64::MIN_POSITIVE);
    let read = match factor {
        f if (f - 1.0).abs() <= READ_NOISE => "reading time stays".to_owned(),
        f if (0.01..=100.0).contains(&f) => format!("{:.0} % of {whose} reading time", 100.0 * f),
        _ => format!("reading time {} instead of {}", milliseconds(chosen.read), milliseconds(today.read)),
    };
    let change = 100.0 * (chosen.size / today.size.max(1.0) - 1.0);
    let size = if change.abs() <= 100.0 * SIZE_NOISE {
        "same size".to_owned()
    } else if change > 9900.0 {
        format!("{} instead of {}", kilobytes(chosen.size), kilobytes(today.size))
    } else {
        format!("{:.0} % {}", change.abs(), if change < 0.0 { "smaller" } else { "larger" })
    };
    (read, size)
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.3} ms", seconds * 1000.0)
}

fn kilobytes(bytes: f64) -> String {
    format!("{:.1} kB", bytes / 1000.0)
}
