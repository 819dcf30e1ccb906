//! Prints a report as tables.

use std::io::{Result, Write};

use lab::inspect::report::{BranchReport, ClustersKnown, FileReport, LeafReport, Probed, Report, Spread, TreeReport};

use super::findings::findings;
use super::format::{memory_line, ratio, reading_line, setting, spread};
use super::rows::Top;
use super::{ntuples, parquet};
use crate::output::{self, bytes, count, no_room_for, percent, plural, table};

/// Columns of tables that are left out where lines would be too long, the first ones first.
const SPARE_OF_TREES: [&str; 4] = ["keys", "metadata", "ratio", "class"];
const SPARE_OF_BRANCHES: [&str; 9] =
    ["mean", "keys", "fill", "crossing", "ratio", "largest", "baskets", "in memory", "codec"];

/// Prints a report with tables of so many columns of a terminal; `writer` adds the findings, with or without those of writers.
pub fn print(out: &mut impl Write, report: &Report, top: &Top, writer: Option<bool>, width: usize) -> Result<()> {
    if let Some(table) = &report.parquet {
        return parquet::print(out, &report.file, table, top, writer.is_some(), width);
    }
    file_line(out, &report.file)?;
    objects(out, report)?;
    if !report.trees.is_empty() {
        writeln!(out)?;
        trees(out, report, width)?;
    }
    for tree in report.newest() {
        writeln!(out)?;
        one_tree(out, tree, top, width)?;
    }
    if !report.ntuples.is_empty() {
        writeln!(out)?;
        ntuples::overview(out, report, width)?;
    }
    for ntuple in report.newest_ntuples() {
        writeln!(out)?;
        ntuples::one(out, ntuple, top, width)?;
    }
    for line in &report.skipped {
        let cycle = line.cycle.map(|cycle| format!(";{cycle}")).unwrap_or_default();
        writeln!(out, "\nskipped {}{cycle}: {}", output::name(&line.object), output::name(&line.reason))?;
    }
    let Some(writer) = writer else { return Ok(()) };
    let none = report.trees.is_empty() && report.ntuples.is_empty();
    if report.findings.is_empty() && none && !report.skipped.is_empty() {
        return writeln!(out, "\nNo tree or RNTuple could be read, so there are no findings.");
    }
    findings(out, report, writer)
}

fn file_line(out: &mut impl Write, file: &FileReport) -> Result<()> {
    let compression = setting(file.compression);
    let path = output::name(&file.path);
    let mut line = format!("{path}: {}, ROOT {}, {compression}", bytes(file.bytes), file.root_version);
    if file.big {
        line += ", 64-bit positions";
    }
    if file.directories > 0 {
        line += &format!(", {}", plural(file.directories, "directory", "directories"));
    }
    if file.free_bytes > 0 {
        line += &format!(", {} in free gaps", bytes(file.free_bytes));
    }
    if file.recovered {
        line += ", not closed: keys found by scanning";
    }
    writeln!(out, "{line}")
}

/// Objects that are neither trees nor RNTuples, by class: a file may have thousands.
fn objects(out: &mut impl Write, report: &Report) -> Result<()> {
    let mut classes: Vec<(&str, u64, u64)> = Vec::new();
    for object in &report.objects {
        match classes.iter_mut().find(|(class, ..)| *class == object.class) {
            Some((_, n, size)) => {
                *n += 1;
                *size += object.bytes;
            }
            None => classes.push((&object.class, 1, object.bytes)),
        }
    }
    if classes.is_empty() {
        return Ok(());
    }
    classes.sort_by_key(|(_, _, size)| std::cmp::Reverse(*size));
    let rest = classes.split_off(classes.len().min(8));
    let mut parts: Vec<_> = classes.iter().map(|(class, n, size)| format!("{n} {class} ({})", bytes(*size))).collect();
    if !rest.is_empty() {
        parts.push(format!("{} of other classes", rest.iter().map(|(_, n, _)| n).sum::<u64>()));
    }
    let tables = if report.ntuples.is_empty() { "trees" } else { "trees and RNTuples" };
    writeln!(out, "besides {tables}: {}", parts.join(", "))
}

fn trees(out: &mut impl Write, report: &Report, width: usize) -> Result<()> {
    let columns = [
        "tree",
        "class",
        ">entries",
        ">branches",
        ">in memory",
        ">keys",
        ">on disk",
        ">ratio",
        ">of file",
        ">clusters",
        ">baskets",
        ">metadata",
    ];
    let mut table = table(&columns);
    for tree in &report.trees {
        let old = if tree.newest { String::new() } else { format!(";{} (older cycle)", tree.cycle) };
        table.add_row([
            format!("{}{old}", tree.path),
            tree.class.clone(),
            count(tree.entries),
            count(tree.branches.len() as u64),
            bytes(tree.content_bytes()),
            bytes(tree.key_bytes),
            bytes(tree.zip_bytes),
            ratio(tree.tot_bytes, tree.zip_bytes),
            percent(tree.zip_bytes, report.file.bytes),
            count(tree.cluster_count),
            count(tree.baskets),
            bytes(tree.metadata.bytes),
        ]);
    }
    table.fit(Some(width), &SPARE_OF_TREES);
    writeln!(out, "{table}")
}

fn one_tree(out: &mut impl Write, tree: &TreeReport, top: &Top, width: usize) -> Result<()> {
    branches(out, tree, top, width)?;
    codecs(out, tree)?;
    summary(out, tree)
}

fn branches(out: &mut impl Write, tree: &TreeReport, top: &Top, width: usize) -> Result<()> {
    let mut shown: Vec<&BranchReport> = match top {
        Top::All => tree.branches.iter().collect(),
        Top::Largest(_) => tree.holders().collect(),
    };
    let all = shown.len();
    if let Top::Largest(n) = top {
        shown.sort_by_key(|branch| std::cmp::Reverse(branch.zip_bytes));
        shown.truncate(*n);
    }
    let columns = [
        "branch",
        "type",
        ">in memory",
        ">keys",
        ">on disk",
        ">ratio",
        ">of tree",
        "=codec",
        ">baskets",
        ">fill",
        ">mean",
        ">largest",
        ">crossing",
    ];
    let mut table = table(&columns);
    for branch in &shown {
        table.add_row(branch_row(tree, branch));
    }
    let which =
        if shown.len() < all { format!(", the largest {} of {all} branches", shown.len()) } else { String::new() };
    let hidden = no_room_for(&table.fit(Some(width), &SPARE_OF_BRANCHES));
    writeln!(out, "{}{which}{hidden}\n{}", output::name(&tree.path), table)
}

fn branch_row(tree: &TreeReport, branch: &BranchReport) -> [String; 13] {
    let baskets = &branch.basket_summary;
    let on_disk = baskets.count > 0;
    let some = |text: String| if on_disk { text } else { String::new() };
    let depth = branch.id.matches('.').count();
    let embedded = if branch.embedded.is_empty() { "" } else { "*" };
    [
        format!("{}{}", "  ".repeat(depth), branch.name),
        type_text(branch),
        bytes(branch.content_bytes()),
        bytes(branch.key_bytes),
        bytes(branch.zip_bytes),
        ratio(branch.tot_bytes, branch.zip_bytes),
        percent(branch.zip_bytes, tree.zip_bytes),
        some(codec_text(branch)),
        format!("{}{embedded}", count(baskets.count)),
        baskets.fill.map(|fill| format!("{:.0}%", 100.0 * fill)).unwrap_or_default(),
        baskets.raw.map(|raw| bytes(raw.mean)).unwrap_or_default(),
        baskets.raw.map(|raw| bytes(raw.max)).unwrap_or_default(),
        some(count(baskets.crossing)),
    ]
}

/// The type as text: of the leaf if there is one, else of the class.
fn type_text(branch: &BranchReport) -> String {
    match &branch.leaves[..] {
        [leaf] if branch.class == "TBranch" => leaf_text(leaf),
        [leaf] if !leaf.type_name.is_empty() && leaf.type_name != "BASE" && branch.id.contains('.') => leaf_text(leaf),
        leaves if branch.type_name.is_empty() => leaves.iter().map(leaf_text).collect::<Vec<_>>().join(" "),
        _ => branch.type_name.clone(),
    }
}

fn leaf_text(leaf: &LeafReport) -> String {
    match (&leaf.count, leaf.len) {
        (Some(count), 0 | 1) => format!("{}[{count}]", leaf.type_name),
        (Some(count), n) => format!("{}[{count}][{n}]", leaf.type_name),
        (None, 0 | 1) => leaf.type_name.clone(),
        (None, n) => format!("{}[{n}]", leaf.type_name),
    }
}

/// The setting, and the codecs of baskets where these differ.
fn codec_text(branch: &BranchReport) -> String {
    let text = setting(branch.compression);
    let expected = text.split(':').next().unwrap_or_default();
    let others: Vec<&str> = branch.codecs.keys().map(String::as_str).filter(|codec| *codec != expected).collect();
    match (others.is_empty(), branch.codecs.contains_key(expected)) {
        (true, _) => text,
        (false, true) => format!("{text} ({})", others.join(", ")),
        (false, false) => format!("{text} → {}", others.join(", ")),
    }
}

fn codecs(out: &mut impl Write, tree: &TreeReport) -> Result<()> {
    if tree.codecs.is_empty() {
        return Ok(());
    }
    let mut table = table(&["codec", ">baskets", ">branches", ">in memory", ">on disk", ">of tree"]);
    for (codec, baskets) in &tree.codecs {
        // A branch's bytes are shared out as its baskets are.
        let (mut branches, mut tot, mut zip) = (0u64, 0u64, 0u64);
        for branch in &tree.branches {
            let all: u64 = branch.codecs.values().sum();
            let Some(own) = branch.codecs.get(codec).filter(|_| all > 0) else { continue };
            let part = |n: u64| u64::try_from(u128::from(n) * u128::from(*own) / u128::from(all)).unwrap_or(n);
            branches += 1;
            tot += part(branch.content_bytes());
            zip += part(branch.zip_bytes);
        }
        table.add_row([
            codec.clone(),
            count(*baskets),
            count(branches),
            bytes(tot),
            bytes(zip),
            percent(zip, tree.zip_bytes),
        ]);
    }
    writeln!(out, "\n{}", table)?;
    match tree.probed {
        Probed::All => Ok(()),
        Probed::Some => writeln!(out, "from a sample of the baskets; --codecs looks at all"),
    }
}

fn summary(out: &mut impl Write, tree: &TreeReport) -> Result<()> {
    writeln!(out, "\n{}", clusters_line(tree))?;
    let summaries = || tree.branches.iter().map(|branch| branch.basket_summary);
    let sizes = spread(summaries().filter_map(|baskets| Some((baskets.disk?, baskets.count))));
    let raw = spread(summaries().filter_map(|baskets| Some((baskets.raw?, baskets.count))));
    let embedded: usize = tree.branches.iter().map(|branch| branch.embedded.len()).sum();
    let mut line = format!("baskets: {}", count(tree.baskets));
    if let (Some(sizes), Some(raw)) = (sizes, raw) {
        // Means of branches are rounded.
        let mean = |total: u64, of: Spread| (total / tree.baskets.max(1)).clamp(of.min, of.max);
        line += &format!(
            ", {} in memory and {} on disk on average, {} to {}; keys {}",
            bytes(mean(tree.content_bytes(), raw)),
            bytes(mean(tree.zip_bytes, sizes)),
            bytes(sizes.min),
            bytes(sizes.max),
            bytes(tree.key_bytes)
        );
    }
    if tree.clusters_known == ClustersKnown::Declared && tree.baskets > 0 {
        line += &format!("; {} cross clusters", count(tree.crossing));
    }
    if embedded > 0 {
        line += &format!("; {embedded} more in the tree's record (*)");
    }
    writeln!(out, "{line}")?;
    writeln!(out, "{}", memory_line(&tree.memory, "branches", "baskets"))?;
    reading_line(out, tree.read_time, "; readspeed measures")?;
    extras(out, tree)
}

fn clusters_line(tree: &TreeReport) -> String {
    let n = tree.cluster_count;
    let root = tree.clusters.len() as u64;
    let more = if tree.clusters_cut { " or more" } else { "" };
    let largest = bytes(tree.largest_cluster);
    let (how, largest) = match tree.clusters_known {
        ClustersKnown::Estimated => {
            let roots = format!("; ROOT would take {}{more}, the largest of {largest}", count(root));
            ("none declared: all branches begin a basket there", roots)
        }
        ClustersKnown::Declared if n != root => {
            let roots = format!("; {}{more} are declared, the largest of {largest}", count(root));
            ("where all branches begin a basket", roots)
        }
        ClustersKnown::Declared => ("declared", format!(", the largest {largest}")),
    };
    format!(
        "clusters: {} ({how}), {} and {} on average{largest}",
        count(n),
        plural(tree.entries / n.max(1), "entry", "entries"),
        bytes(tree.zip_bytes / n.max(1)),
    )
}

fn extras(out: &mut impl Write, tree: &TreeReport) -> Result<()> {
    let list = |pairs: &[lab::inspect::report::Pair], between: &str| {
        let texts: Vec<String> =
            pairs.iter().map(|p| format!("{}{between}{}", output::name(&p.name), output::name(&p.value))).collect();
        texts.join(", ")
    };
    if !tree.friends.is_empty() {
        writeln!(out, "friends: {}", list(&tree.friends, " in "))?;
    }
    if !tree.aliases.is_empty() {
        writeln!(out, "aliases: {}", list(&tree.aliases, " = "))?;
    }
    if let Some(index) = &tree.index {
        writeln!(out, "index: {}", output::name(index))?;
    }
    if !tree.user_info.is_empty() {
        writeln!(out, "user info: {}", list(&tree.user_info, " of class "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of `inspect --json` for a small file made by ROOT (two trees, three codecs, a histogram).
    const REPORT: &str = include_str!("golden/small.json");

    fn printed(report: &Report, top: &Top) -> String {
        let mut out = Vec::new();
        print(&mut out, report, top, Some(true), 200).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn prints_as_before() {
        let report: Report = serde_json::from_str(REPORT).unwrap();
        // To renew: write the printed text into the file, and review the difference.
        assert_eq!(printed(&report, &Top::Largest(3)), include_str!("golden/small.txt"));
    }

    #[test]
    fn the_schema_is_as_before() {
        let value: serde_json::Value = serde_json::from_str(REPORT).unwrap();
        let report: Report = serde_json::from_str(REPORT).unwrap();
        assert_eq!(serde_json::to_value(&report).unwrap(), value);
        assert_eq!(report.schema, lab::inspect::report::SCHEMA);
    }

    #[test]
    fn an_empty_file_has_no_findings() {
        let mut report: Report = serde_json::from_str(REPORT).unwrap();
        report.trees.clear();
        report.objects.clear();
        report.findings.clear();
        let text = printed(&report, &Top::All);
        assert!(text.ends_with("a full read are not reported.\n"), "{text}");
    }
}
