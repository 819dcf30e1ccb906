//! Why: what changes for which columns, and what that gains, as sums and as sentences.

use std::collections::BTreeMap;

use dataset::layout::Compression;

use crate::cost::facts::Facts;
use crate::cost::model::Cost;

use super::candidates::Pick;
use super::decide::Chosen;
use super::report::Group;

/// Columns by what happens to their codec.
pub(crate) fn groups(facts: &Facts, codecs: &[Compression], today: &[Cost], chosen: &Chosen) -> Vec<Group> {
    let mut members = vec![0usize; facts.units.len()];
    let mut now = vec![Cost::default(); facts.units.len()];
    let mut from: Vec<Option<Compression>> = vec![None; facts.units.len()];
    for (column, cost) in facts.columns.iter().zip(today) {
        let unit = column.unit;
        if let (Some(members), Some(now), Some(from)) = (members.get_mut(unit), now.get_mut(unit), from.get_mut(unit)) {
            *members += 1;
            *now += *cost;
            from.get_or_insert(column.compression);
        }
    }
    let mut groups: BTreeMap<(String, String), Group> = BTreeMap::new();
    let units = from.iter().zip(&members).zip(&now).zip(chosen.picks.iter().zip(&chosen.costs));
    for (((from, members), now), (pick, cost)) in units {
        let from = from.unwrap_or(Compression::NONE).to_string();
        let to = pick.codec.and_then(|k| codecs.get(k)).map_or_else(|| from.clone(), ToString::to_string);
        let group = groups.entry((from.clone(), to.clone())).or_insert_with(|| Group { from, to, ..Group::default() });
        group.columns += members;
        group.today += *now;
        group.chosen += *cost;
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by(|a, b| b.today.size.total_cmp(&a.today.size));
    groups
}

/// Sentences about groups, about baskets and about clusters.
pub(crate) fn sentences(
    facts: &Facts,
    groups: &[Group],
    today: &Cost,
    chosen: &Chosen,
    clusters: (f64, f64),
) -> Vec<String> {
    let mut out: Vec<String> = groups.iter().map(sentence).collect();
    let reshaped = chosen.picks.iter().filter(|p: &&Pick| p.basket.is_some()).count();
    if reshaped > 0 {
        out.push(format!(
            "other basket sizes on {reshaped} of {} columns: {:.0} baskets instead of {:.0}, {} on average before compression",
            facts.units.len(),
            chosen.total.baskets,
            today.baskets,
            kilobytes(facts.columns.iter().map(|c| c.raw).sum::<f64>() / chosen.total.baskets.max(1.0)),
        ));
    }
    match clusters {
        (before, after) if before == after => {}
        (before, after) => {
            out.push(format!("{after:.0} clusters instead of {before:.0}: room for baskets of that many entries"))
        }
    }
    out
}

fn sentence(group: &Group) -> String {
    let Group { from, to, columns, today, chosen } = group;
    let columns = format!("{columns} column{}", if *columns == 1 { "" } else { "s" });
    let read = if chosen.read <= today.read {
        format!("{:.1}x cheaper to read", today.read / chosen.read.max(f64::MIN_POSITIVE))
    } else {
        format!("{:.1}x dearer to read", chosen.read / today.read.max(f64::MIN_POSITIVE))
    };
    let change = 100.0 * (chosen.size / today.size.max(1.0) - 1.0);
    let size = if change.abs() < 0.5 {
        "as large".to_owned()
    } else {
        format!("{:.0} % {}", change.abs(), if change < 0.0 { "smaller" } else { "larger" })
    };
    match from == to {
        true => format!("{to} stays on {columns}: {read}, {size}"),
        false => format!("{to} instead of {from} on {columns}: {read}, {size}"),
    }
}

fn kilobytes(bytes: f64) -> String {
    format!("{:.1} kB", bytes / 1000.0)
}
