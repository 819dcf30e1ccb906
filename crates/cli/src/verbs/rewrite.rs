//! `basketry rewrite`: one output in the asked layout.

use std::path::{Path, PathBuf};

use flow::{Budget, Depths, Forecast, Options, Summary, TableSummary};
use rootfile::{Error, Result};

use crate::layout_args::{LayoutArgs, SelectArgs};
use crate::options::{Resources, Talk, Target, inputs};
use crate::output::{self, Answer};

/// Rewrite trees in another layout: the same entries, other clusters, baskets and compression.
///
/// Each column is treated at the shallowest depth that reaches the asked layout: copied where it is as asked
/// already, recompressed where only the codec differs, regrouped where baskets change. Entries are moved by
/// their boundaries, so branches of any class can be rewritten. Objects that are no trees are carried over.
/// Several inputs are put one after the other (see also `merge`).
#[derive(clap::Args)]
pub struct Args {
    /// FILE, FILE:TREE, or @list.txt.
    #[arg(required = true)]
    inputs: Vec<String>,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    select: SelectArgs,
    /// Show what would be done, with the expected size and memory; write nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    talk: Talk,
}

pub fn run(args: &Args) -> Result<Answer> {
    let inputs = inputs(&args.inputs)?;
    let options = Options {
        layout: args.layout.layout()?,
        filter: args.select.filter()?,
        entries: args.select.entries()?,
        tree: one_tree(&inputs)?,
        budget: Budget::new(args.resources.memory.bytes(), args.resources.threads),
        overwrite: args.target.force,
        ..Options::default()
    };
    let paths: Vec<_> = inputs.into_iter().map(|i| i.path).collect();
    if args.dry_run {
        return dry_run(&paths, &args.target.output, &options, args.talk.json);
    }
    args.target.check()?;
    let summary = execute(&paths, &args.target.output, &options, &args.talk)?;
    if args.talk.json {
        output::json(&summary)?;
    } else if !args.talk.quiet {
        print_summary(&summary)?;
    }
    Ok(Answer::Yes)
}

/// Runs a rewrite or merge, with a progress bar.
pub fn execute(paths: &[PathBuf], target: &Path, options: &Options, talk: &Talk) -> Result<Summary> {
    let total = paths.iter().filter_map(|p| std::fs::metadata(p).ok()).map(|m| m.len()).sum();
    let bar = output::progress(total, "written", talk.quiet || talk.json);
    let summary = flow::rewrite(paths, target, options, &|bytes| bar.inc(bytes));
    bar.finish_and_clear();
    summary
}

/// The tree that all inputs name, if they do.
pub fn one_tree(inputs: &[crate::options::Input]) -> Result<Option<String>> {
    let mut trees = inputs.iter().map(|i| i.tree.clone());
    let first = trees.next().flatten();
    if trees.any(|t| t != first) {
        return Err(Error::request("the inputs name different trees; a rewrite takes the same tree from each"));
    }
    Ok(first)
}

/// Prints what was done.
pub fn print_summary(summary: &Summary) -> Result<()> {
    let mut table =
        output::table(&["tree", "entries", "clusters", "baskets", "before compression", "on disk", "depth"]);
    for t in &summary.tables {
        let TableSummary { path, entries, clusters, baskets, tot_bytes, zip_bytes, depths } = t;
        table.add_row([
            path.clone(),
            output::count(*entries),
            output::count(*clusters),
            output::count(*baskets),
            output::bytes(*tot_bytes),
            output::bytes(*zip_bytes),
            depth_text(*depths),
        ]);
    }
    use std::io::Write;
    let mut out = output::stdout();
    writeln!(out, "{table}")?;
    for skipped in &summary.skipped {
        writeln!(out, "skipped: {}", skipped.reason)?;
    }
    for note in &summary.notes {
        writeln!(out, "note: {note}")?;
    }
    writeln!(
        out,
        "{} read, {} written ({})",
        output::bytes(summary.bytes_read),
        output::bytes(summary.bytes_written),
        output::percent(summary.bytes_written, summary.bytes_read)
    )?;
    out.flush()?;
    Ok(())
}

/// Depths as text: `copy`, or shares where they are mixed.
fn depth_text(d: Depths) -> String {
    let all = d.copy + d.recompress + d.regroup;
    let parts = [("copy", d.copy), ("recompress", d.recompress), ("regroup", d.regroup)];
    let some: Vec<_> = parts.iter().filter(|(_, n)| *n > 0).collect();
    match some.as_slice() {
        [] => "-".to_owned(),
        [(name, _)] => (*name).to_owned(),
        _ => some.iter().map(|(name, n)| format!("{name} {}", output::percent(*n, all))).collect::<Vec<_>>().join(", "),
    }
}

/// Says what would be done.
pub fn dry_run(paths: &[PathBuf], target: &Path, options: &Options, json: bool) -> Result<Answer> {
    let forecast = flow::forecast(paths, target, options, true)?;
    if json {
        output::json(&forecast)?;
        return Ok(Answer::Yes);
    }
    use std::io::Write;
    let mut out = output::stdout();
    for Forecast { path, entries, clusters, columns, notes } in &forecast.tables {
        writeln!(out, "{path}: {} entries in {} clusters", output::count(*entries), output::count(*clusters))?;
        let mut table = output::table(&["branch", "depth", "compression", "now", "expected"]);
        for c in columns {
            table.add_row([
                c.name.clone(),
                depth_text(c.depths),
                c.compression.to_string(),
                output::bytes(c.bytes_before),
                output::bytes(c.bytes_after),
            ]);
        }
        writeln!(out, "{table}")?;
        for note in notes {
            writeln!(out, "note: {note}")?;
        }
    }
    writeln!(
        out,
        "expected: {} (now {}), at least {} of memory, {} with {} threads",
        output::bytes(forecast.bytes_after),
        output::bytes(forecast.bytes_before),
        output::bytes(forecast.least_memory),
        output::bytes(forecast.memory),
        forecast.threads
    )?;
    out.flush()?;
    Ok(Answer::Yes)
}
