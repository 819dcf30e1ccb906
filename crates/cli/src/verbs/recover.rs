//! `basketry recover`: recovers a file that was not closed, or was cut short.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use flow::recover::{RecoverOptions, RecoveredTree, Recovery, recover};
use rootfile::Result;

use crate::options::{Resources, Target, Verbosity};
use crate::output::{self, Answer};
use crate::verb_command::{VerbCommand, Watch, fields};

/// Branches and groups of baskets that are printed; --json has them all.
const SHOWN: usize = 10;

/// Recover the contents of a file that was never closed, or was cut short.
///
/// The records of the file are scanned for the last saved state of each tree (AutoSave), and the
/// baskets written after it. The entries that all branches of a tree have are kept. The output is a normal,
/// closed file. A tree that was never saved can be recovered with --like, which supplies its branches.
/// Every basket is decompressed first. Entries with an unreadable basket are left out, also in the middle of a
/// tree, and later entries are kept. Several trees of one name become cycles. An RNTuple is recovered if it was closed,
/// or up to its last AutoSave: its lists of pages are written only then.
///
/// Exit code 0: all is recovered, except entries at the end of a tree that only some branches have; 1: damaged baskets
/// or objects, baskets without a tree, or RNTuples that were not closed, are left out and listed; 2: nothing can be
/// recovered.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry recover broken.root -o recovered.root
  basketry recover broken.root --like good.root -o recovered.root")]
pub struct Args {
    /// The file, written by ROOT or basketry.
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// A file of the same job: trees without a saved record take their branches from it.
    #[arg(long, value_name = "OTHER")]
    like: Option<PathBuf>,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    type Report = Recovery;
    const DONE: &'static str = "written";

    fields!(verbosity, resources);

    fn work(&self, watch: &Watch<'_>) -> Result<Recovery> {
        self.target.check([Some(&self.input), self.like.as_ref()].into_iter().flatten())?;
        watch.will_read([&self.input]);
        let options = RecoverOptions { budget: self.resources.budget(), overwrite: self.target.force };
        recover(&self.input, self.like.as_deref(), &self.target.output, &options, watch.progress)
    }

    fn tells_of_unclosed(&self, _: &Recovery) -> bool {
        true
    }

    fn answer(recovery: &Recovery) -> Answer {
        if recovery.whole { Answer::Yes } else { Answer::No }
    }

    fn print(&self, recovery: &Recovery, _: Instant) -> Result<()> {
        if self.verbosity.quiet { Ok(()) } else { print(recovery) }
    }
}

fn print(recovery: &Recovery) -> Result<()> {
    let mut table = output::table(&["tree", ">entries", ">saved", ">lost", ">baskets found"]);
    for RecoveredTree { path, entries, saved_entries, entries_lost, baskets_found, .. } in &recovery.trees {
        table.add_row([
            path.clone(),
            output::count(*entries),
            saved_entries.map_or_else(|| "-".to_owned(), output::count),
            output::count(*entries_lost),
            output::count(*baskets_found),
        ]);
    }
    let mut out = output::stdout();
    if !recovery.trees.is_empty() {
        writeln!(out, "{table}")?;
    }
    for ntuple in &recovery.ntuples {
        let path = output::name(&ntuple.path);
        writeln!(out, "RNTuple {path}: {}, whole", output::plural(ntuple.entries, "entry", "entries"))?;
    }
    for tree in &recovery.trees {
        let path = output::name(&tree.path);
        for branch in tree.branches.iter().take(SHOWN) {
            let lost = output::plural(branch.entries_lost, "entry", "entries");
            if branch.baskets_unreadable > 0 {
                writeln!(
                    out,
                    "{path}: branch {}: {} in {} ({}) cannot be read: {}",
                    output::name(&branch.name),
                    output::plural(branch.entries_unreadable, "entry", "entries"),
                    output::plural(branch.baskets_unreadable, "basket", "baskets"),
                    output::bytes(branch.bytes_unreadable),
                    ranges(&branch.ranges_unreadable)
                )?;
            }
            if branch.entries_lost > 0 {
                writeln!(out, "{path}: branch {} has {lost} that not all have", output::name(&branch.name))?;
            }
        }
        if let Some(more @ 1..) = tree.branches.len().checked_sub(SHOWN) {
            let more = output::plural(more as u64, "branch", "branches");
            writeln!(out, "{path}: and {more} more; --json lists all")?;
        }
        if !tree.ranges_lost.is_empty() {
            writeln!(out, "{path}: left out: {}", ranges(&tree.ranges_lost))?;
        }
    }
    for lost in &recovery.unreadable {
        writeln!(out, "left out: {}", output::line(&lost.to_string()))?;
    }
    output::notes(&mut out, &recovery.notes)?;
    writeln!(
        out,
        "{}, {} and {} recovered, {} written",
        output::plural(recovery.trees.len() as u64, "tree", "trees"),
        output::plural(recovery.ntuples.len() as u64, "RNTuple", "RNTuples"),
        output::plural(recovery.objects, "other object", "other objects"),
        output::bytes(recovery.bytes_written)
    )?;
    Ok(out.flush()?)
}

/// Ranges of entries as `entries 5 to 9, 20 to 29`, the first few of them.
fn ranges(ranges: &[(u64, u64)]) -> String {
    let text: Vec<String> =
        ranges.iter().take(SHOWN).map(|(from, to)| format!("{from} to {}", to.saturating_sub(1))).collect();
    let more = match ranges.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!(", and {more} ranges more"),
        _ => String::new(),
    };
    format!("entries {}{more}", text.join(", "))
}
