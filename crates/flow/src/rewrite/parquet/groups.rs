//! The entries of each row group: a cluster, or the requested number, but no more than memory allows.

use std::ops::Range;

use dataset::EntrySet;

/// The rule for row groups.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    /// One for each cluster.
    Clusters,
    /// This many entries each.
    Entries(u64),
}

/// The row groups of the requested entries, each of at most `most` entries. With a selection, clusters are joined until they
/// have as many selected entries as a cluster has on average.
pub(super) fn groups(
    bounds: &[u64],
    requested: &Range<u64>,
    selection: Option<&EntrySet>,
    rule: Rule,
    most: u64,
) -> Vec<Range<u64>> {
    let most = most.max(1);
    let mut groups = Vec::new();
    if let Rule::Entries(each) = rule
        && selection.is_none()
    {
        cut(requested.clone(), each.min(most), &mut groups);
        return groups;
    }
    let clusters = bounds.len().saturating_sub(1).max(1) as u64;
    let all = bounds.last().copied().unwrap_or(0);
    let aim = match rule {
        Rule::Clusters if selection.is_none() => 1,
        Rule::Clusters => (all / clusters).clamp(1, most),
        Rule::Entries(each) => each.clamp(1, most),
    };
    let (mut from, mut have) = (requested.start, 0);
    for &bound in bounds.iter().skip(1) {
        // The last row group takes the entries behind the last cluster.
        let end = if bound == all { requested.end } else { bound.min(requested.end) };
        if end <= from {
            continue;
        }
        have = count(selection, &(from..end));
        if have >= aim {
            cut_selected(selection, from..end, most, &mut groups);
            (from, have) = (end, 0);
        }
    }
    if from < requested.end && (have > 0 || selection.is_none()) {
        cut_selected(selection, from..requested.end, most, &mut groups);
    }
    groups
}

/// Number of selected entries in a range.
fn count(selection: Option<&EntrySet>, range: &Range<u64>) -> u64 {
    match selection {
        None => range.end - range.start,
        Some(selection) => selection.count(range),
    }
}

fn cut_selected(selection: Option<&EntrySet>, range: Range<u64>, most: u64, groups: &mut Vec<Range<u64>>) {
    let Some(selection) = selection else { return even(range, most, groups) };
    let mut at = range.start;
    let first = selection.rank(range.start).saturating_add(most);
    let ranks = (first..selection.rank(range.end)).step_by(usize::try_from(most).unwrap_or(usize::MAX));
    for entry in ranks.filter_map(|rank| selection.nth(rank)) {
        groups.push(at..entry);
        at = entry;
    }
    groups.push(at..range.end);
}

/// Cuts a range into the fewest parts, of about equal size.
fn even(range: Range<u64>, most: u64, groups: &mut Vec<Range<u64>>) {
    let entries = range.end - range.start;
    let parts = entries.div_ceil(most).max(1);
    cut(range, entries.div_ceil(parts).max(1), groups);
}

fn cut(range: Range<u64>, each: u64, groups: &mut Vec<Range<u64>>) {
    let mut at = range.start;
    while at < range.end {
        let end = range.end.min(at.saturating_add(each.max(1)));
        groups.push(at..end);
        at = end;
    }
}

/// Joins neighbouring row groups, as evenly as possible, until at most `fitting` are left. A joined row group has at most
/// `most` entries, so more row groups may be left.
pub(super) fn join(groups: &[Range<u64>], fitting: usize, most: u64) -> Vec<Range<u64>> {
    let all: u64 = groups.iter().map(|group| group.end - group.start).sum();
    let aim = all.div_ceil(fitting.max(1) as u64).min(most);
    let mut fewer: Vec<Range<u64>> = Vec::new();
    for group in groups {
        match fewer.last_mut() {
            Some(last) if last.end - last.start < aim && group.end - last.start <= most => last.end = group.end,
            _ => fewer.push(group.clone()),
        }
    }
    fewer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_kept_and_cut_where_they_are_too_large() {
        let bounds = [0, 10, 30, 35];
        assert_eq!(groups(&bounds, &(0..35), None, Rule::Clusters, 100), [0..10, 10..30, 30..35]);
        assert_eq!(groups(&bounds, &(5..32), None, Rule::Clusters, 8), [5..10, 10..17, 17..24, 24..30, 30..32]);
        assert_eq!(groups(&bounds, &(0..35), None, Rule::Entries(20), 100), [0..20, 20..35]);
        assert_eq!(groups(&bounds, &(0..0), None, Rule::Clusters, 8), []);
    }

    #[test]
    fn row_groups_are_joined_until_they_are_few_enough() {
        let groups: Vec<_> = (0..10).map(|i| i..i + 1).collect();
        assert_eq!(join(&groups, 3, 100), [0..4, 4..8, 8..10]);
        assert_eq!(join(&groups, 3, 2).len(), 5, "none is larger than memory allows");
        assert_eq!(join(&groups, 20, 100), groups);
    }

    #[test]
    fn clusters_of_few_selected_entries_are_joined() {
        let bounds = [0, 10, 20, 30, 40];
        let selection = EntrySet::sorted([1, 2, 3, 11, 12, 13, 14, 15, 16, 17, 18, 35]).unwrap();
        assert_eq!(groups(&bounds, &(0..40), Some(&selection), Rule::Clusters, 100), [0..20, 20..40]);
        assert_eq!(groups(&bounds, &(0..40), Some(&selection), Rule::Clusters, 6), [0..14, 14..20, 20..40]);
        assert_eq!(groups(&bounds, &(20..30), Some(&selection), Rule::Clusters, 6), []);
    }
}
