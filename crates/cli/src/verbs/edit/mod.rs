//! The verbs that edit files: objects and directories are copied, moved, removed and made, and tables are split into several files.

pub mod cp;
pub mod mkdir;
pub mod mv;
pub mod rm;
pub mod split;

use std::io::{BufRead, Write};
use std::path::Path;

use flow::edit::{Change, ChangeKind, Edited, Taken};
use rootfile::{Result, public_path};

use crate::output::{self, Answer};

/// What becomes of objects whose names are taken.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct TakenArgs {
    /// Replace objects that have the name already, all cycles of them. Directories are never replaced.
    #[arg(long)]
    replace: bool,
    /// Keep objects that have the name already, as older cycles.
    #[arg(long, conflicts_with = "replace")]
    add_cycle: bool,
}

impl TakenArgs {
    fn taken(self) -> Taken {
        match (self.replace, self.add_cycle) {
            (true, _) => Taken::Replace,
            (_, true) => Taken::Older,
            _ => Taken::Refuse,
        }
    }
}

/// What the verbs that edit have in common in `VerbCommand`: the report, whether everything was done, and what is printed, each change in
/// the line that `$line` makes of it, given the arguments.
macro_rules! edited {
    ($line:expr) => {
        type Report = flow::edit::Edited;
        const DONE: &'static str = "written";

        crate::verb_command::fields!(verbosity, resources);

        fn answer(edited: &flow::edit::Edited) -> crate::output::Answer {
            crate::verbs::edit::answer(edited)
        }

        fn print(&self, edited: &flow::edit::Edited, _: std::time::Instant) -> rootfile::Result<()> {
            let line: fn(&Self) -> fn(&flow::edit::Change) -> String = $line;
            crate::verbs::edit::print_as(edited, self.verbosity.quiet, line(self))
        }
    };
    () => {
        edited!(|_| crate::verbs::edit::sentence);
    };
}
use edited;

/// Whether everything was done.
pub fn answer(edited: &Edited) -> Answer {
    if edited.left_out.is_empty() { Answer::Yes } else { Answer::No }
}

/// Prints what changed, each change in a line of its own form.
pub fn print_as(edited: &Edited, quiet: bool, line: impl Fn(&Change) -> String) -> Result<()> {
    for left in &edited.left_out {
        output::warn(&format!("{left} is a directory and was left out; -r takes it with all in it"));
    }
    if quiet {
        return Ok(());
    }
    let mut out = output::stdout();
    edited.changes.iter().try_for_each(|change| writeln!(out, "{}", output::line(&line(change))))?;
    output::notes(&mut out, &edited.notes)?;
    Ok(out.flush()?)
}

/// A change in a line.
pub fn sentence(change: &Change) -> String {
    let Change { kind, file, object, from_file, from_object, .. } = change;
    let to = at(file, object);
    let from = from_file.as_ref().map(|file| at(file, from_object.as_deref().unwrap_or_default()));
    match (kind, from) {
        (ChangeKind::Copied, Some(from)) => format!("copied {from} to {to}"),
        (ChangeKind::Moved, Some(from)) => format!("moved {from} to {to}"),
        (ChangeKind::Removed, _) => format!("removed {}", removed(change)),
        (ChangeKind::Made, _) => format!("made {to}"),
        (ChangeKind::Copied | ChangeKind::Moved, None) => to,
    }
}

/// What a removal that only is told would do.
pub fn would_remove(change: &Change) -> String {
    format!("would remove {}", removed(change))
}

/// What is removed: one cycle of an object by its number, or all of them.
fn removed(change: &Change) -> String {
    let place = at(&change.file, &change.object);
    if let [cycle] = change.cycles.as_slice() { format!("{place};{cycle}") } else { place }
}

/// A place in a file as users write it.
fn at(file: &Path, object: &str) -> String {
    let file = public_path(file).display().to_string();
    if object.is_empty() { file } else { format!("{file}:{object}") }
}

/// Asks a question on the terminal; `y` is yes.
pub fn ask(question: &str) -> Result<bool> {
    let mut out = std::io::stdout().lock();
    write!(out, "{} ? (y/n) ", output::line(question))?;
    out.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(answer.trim().eq_ignore_ascii_case("y"))
}

/// Asks nobody.
pub fn yes(_: &str) -> Result<bool> {
    Ok(true)
}
