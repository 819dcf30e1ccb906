//! `basketry pick`: the entries of a list of events, from many files.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use flow::Choice;
use flow::events::{PickJob, PickOrder, Picked, PickedEvent, pick};
use flow::inputs::{inputs, lists};
use flow::survey::ahead::Expressions;
use flow::survey::tables::Tables;
use rootfile::Result;

use super::event_output::EventOutputArgs;
use super::file_output::print_summary;
use crate::options::{Asked, key_of};
use crate::output::{self, Answer};
use crate::verb_command::{VerbCommand, Watch, fields};

/// The key of an event, as CMS has it.
const USUAL_KEY: &str = "run,luminosityBlock,event";
/// Events that are printed; --json has more.
const SHOWN: usize = 10;

/// Pick events by their keys, or by cuts, from many files into one.
///
/// The columns of the key are read of all files, or an index says where events are (`basketry index`); then only files that have some are
/// opened, and only the baskets with their entries are read. They are written in the order of the files and their entries, or in that of
/// the lists; other trees and objects of these files come along as in `merge`. The report tells what each event costs, and which were not found. A list of entries
/// that ROOT wrote (TEntryList, TEventList) is FILE.root:LIST.
///
/// Exit code 0: all events were found; 1: some were not, or files were left out, and are listed; 2: bad usage or bad input.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry pick 'run*.root' --events picked.txt -o picked.root
  basketry pick --index events.parquet --events 1:24:30017 -o picked.root
  basketry pick 'run*.root' --events lists.root:elist -o picked.root
  basketry pick 'run*.root' --cut 'any(Muon_isGlobal)' -o muons.root")]
pub struct Args {
    /// FILE, or FILE:TREE for this tree without others, @list.txt, or a pattern in quotes such as 'run*.root'; paths on this machine or
    /// URLs. With --index some of its files; all, if none is named.
    #[arg(required_unless_present = "index", value_name = "FILE[:TREE]")]
    inputs: Vec<OsString>,
    /// The events: one such as 1:24:30017, or a file with a line for each. The values are those of the key in its order, with colons,
    /// commas or blanks between them; fewer values mean all events that begin with them. A JSON file is a mask of luminosity sections,
    /// such as {"1": [[10, 20]]}. FILE.root:LIST is a TEntryList, whose files are found among the inputs by their paths, or else by their
    /// names; or a TEventList, whose numbers go through all inputs.
    #[arg(long, value_name = "EVENT|FILE", allow_hyphen_values = true)]
    events: Vec<String>,
    /// The key: columns, or expressions, with commas between them. Default: run,luminosityBlock,event, or the key of the index.
    #[arg(long, value_name = "KEY", conflicts_with = "index")]
    key: Vec<String>,
    /// Look the events up in this index.
    #[arg(long, value_name = "FILE")]
    index: Option<PathBuf>,
    /// The order of the picked entries: that of the files and their entries (files), or that of the events in the lists (asked). An event
    /// that is in the lists twice is written once.
    #[arg(long, value_name = "files|asked", default_value = "files")]
    order: Ordered,
    /// Take only entries for which an expression is true, such as 'nMuon > 1 && any(Muon_pt > 20)'; of the events, if they are named.
    #[arg(long, visible_alias = "where", value_name = "EXPR", allow_hyphen_values = true)]
    cut: Vec<String>,
    /// Leave out files that cannot be read, or lack the table or the columns. They are listed, and the exit code is 1.
    #[arg(short = 'k', long)]
    skip_bad: bool,
    #[command(flatten)]
    output: EventOutputArgs,
}

/// The order of the picked entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Ordered {
    Files,
    Asked,
}

impl VerbCommand for Args {
    type Report = Picked;
    const DONE: &'static str = "written";

    fields!(output.verbosity, output.resources);

    fn asked(&self) -> Result<Asked> {
        if self.inputs.is_empty() {
            return Ok(Asked::default());
        }
        let expressions = Expressions {
            choice: Choice { cuts: self.cut.clone(), ..Choice::default() },
            keys: key_of(&self.key, "key")?.into_iter().collect(),
            ..Expressions::default()
        };
        Ok(self.output.asked(inputs(&self.inputs)?, expressions)?.of(Tables::One))
    }

    fn work(&self, watch: &Watch<'_>) -> Result<Picked> {
        // A list of events is read, and so are lists of files.
        let listed = self.events.iter().map(Path::new).filter(|path| path.is_file());
        self.output.check(lists(&self.inputs).chain(listed))?;
        let inputs = if self.inputs.is_empty() { Vec::new() } else { inputs(&self.inputs)? };
        let key = match key_of(&self.key, "key")? {
            Some(key) => key,
            None => USUAL_KEY.parse()?,
        };
        let mut options = self.output.options()?;
        options.content.entries.cuts.clone_from(&self.cut);
        options.inputs.skip_bad = self.skip_bad;
        let (events, index, output) = (&self.events, self.index.as_deref(), self.output.path());
        let order = match self.order {
            Ordered::Files => PickOrder::Files,
            Ordered::Asked => PickOrder::Asked,
        };
        pick(&PickJob { inputs: &inputs, events, key: &key, index, order, output }, &options, watch.progress)
    }

    fn take_notes(picked: &mut Picked, notes: Vec<String>) -> Vec<String> {
        match &mut picked.output {
            Some(summary) => summary.notes.extend(notes),
            None => return notes,
        }
        Vec::new()
    }

    fn answer(picked: &Picked) -> Answer {
        let is_whole = picked.missing_count == 0 && picked.skipped.is_empty();
        if is_whole && picked.picked > 0 { Answer::Yes } else { Answer::No }
    }

    fn print(&self, picked: &Picked, _: Instant) -> Result<()> {
        let mut out = output::stdout();
        for event in picked.missing.iter().take(SHOWN) {
            writeln!(out, "not found: {}", output::line(event))?;
        }
        if let Some(more @ 1..) = picked.missing_count.checked_sub(SHOWN as u64) {
            writeln!(out, "and {} more", output::count(more))?;
        }
        output::skipped(&mut out, &picked.skipped)?;
        if self.output.verbosity.quiet {
            return Ok(out.flush()?);
        }
        output::notes(&mut out, &picked.notes)?;
        let mut table = output::table(&["=event", ">entry", ">to read", ">pieces", "file"]);
        for PickedEvent { key, file, entry, bytes, pieces, .. } in picked.events.iter().take(SHOWN) {
            let file = output::line(&file.display().to_string());
            let cells = [key.join(":"), output::count(*entry), output::bytes(*bytes), output::count(*pieces), file];
            table.add_row(cells);
        }
        if !picked.events.is_empty() {
            writeln!(out, "{table}")?;
        }
        if let Some(more @ 1..) = picked.picked.checked_sub(SHOWN as u64) {
            writeln!(out, "and {} more", output::count(more))?;
        }
        let (count, files) = (output::plural(picked.picked, "entry", "entries"), output::count(picked.files_picked));
        let all = output::plural(picked.files, "file", "files");
        writeln!(out, "{count} picked from {files} of {all}, {} to read", output::bytes(picked.bytes))?;
        if picked.cut > 0 {
            let left_out = output::plural(picked.cut, "entry of these events does", "entries of these events do");
            writeln!(out, "note: {left_out} not pass the cuts")?;
        }
        if picked.repeated > 0 {
            let again = output::plural(picked.repeated, "entry has", "entries have");
            writeln!(out, "note: {again} the key of another one")?;
        }
        if picked.output.is_none() {
            let output = self.output.path();
            let before = if output.exists() { ", and what is there is from before" } else { "" };
            writeln!(out, "note: {} is not written{before}", output::line(&output.display().to_string()))?;
        }
        out.flush()?;
        drop(out);
        picked.output.as_ref().map_or(Ok(()), print_summary)
    }
}
