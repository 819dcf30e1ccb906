//! `basketry fileset`: coffea's preprocessed fileset of many files.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use flow::inputs::inputs;
use flow::survey::fileset::{FilesetInput, FilesetOptions, FilesetReport, STEP_SIZE, fileset};
use rootfile::{OutputFile, Result, check_output};

use crate::options::{Resources, Verbosity};
use crate::output::{self, Answer};
use crate::verb_command::{VerbCommand, Watch, fields};

/// Write the fileset of data sets as coffea's preprocess does: for each file its tree, entries, UUID, and the steps in which
/// jobs read it.
///
/// Steps end where clusters end: at entries at which all branches start a basket. The result is for coffea's Runner and for
/// apply_to_fileset. Only metadata are read.
///
/// Exit code 0: done; 1: files were left out (--skip-bad), and are listed; 2: a file cannot be read.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry fileset 'run*.root' -o fileset.json
  basketry fileset zmm='mc/zmm*.root' data='run*.root' --tree Events -o fileset.json")]
pub struct Args {
    /// FILE, FILE:TREE, @list.txt, or a pattern in quotes; DATASET=FILE for a data set of this name.
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<String>,
    /// The file to write, JSON. Default: standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing output.
    #[arg(short, long)]
    force: bool,
    /// The tree or RNTuple in all files, by its path. Default: the only one, or Events.
    #[arg(long, value_name = "NAME")]
    tree: Option<String>,
    /// The name of the data set of all files that name none.
    #[arg(long, value_name = "NAME", default_value = "dataset")]
    dataset: String,
    /// The fewest entries of a step, except for the last one of a file.
    #[arg(long, value_name = "N", default_value_t = STEP_SIZE, value_parser = clap::value_parser!(u64).range(1..))]
    step_size: u64,
    /// Make steps of nearly the same size, which may end within clusters.
    #[arg(long)]
    split_clusters: bool,
    /// Leave out files that cannot be read. They are listed, and the exit code is 1.
    #[arg(short = 'k', long)]
    skip_bad: bool,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl Args {
    fn files(&self) -> Result<Vec<FilesetInput>> {
        let mut files = Vec::new();
        for argument in &self.inputs {
            let (dataset, argument) = named(argument).unwrap_or((&self.dataset, argument));
            for input in inputs(&[argument.to_owned()])? {
                let tree = input.tree.or_else(|| self.tree.clone());
                files.push(FilesetInput { dataset: dataset.to_owned(), path: input.path, tree });
            }
        }
        Ok(files)
    }
}

/// Data set and inputs of `DATASET=FILE`. A path or URL that contains the sign names no data set.
fn named(argument: &str) -> Option<(&str, &str)> {
    let (name, files) = argument.split_once('=')?;
    (!name.is_empty() && !files.is_empty() && !name.contains(['/', ':', '@', '*', '?'])).then_some((name, files))
}

impl VerbCommand for Args {
    type Report = FilesetReport;

    fields!(verbosity, resources);

    fn work(&self, watch: &Watch<'_>) -> Result<FilesetReport> {
        let files = self.files()?;
        if let Some(output) = &self.output {
            check_output(output, self.force, files.iter().map(|file| &file.path))?;
        }
        let Self { step_size, split_clusters, skip_bad, .. } = *self;
        let options = FilesetOptions { step_size, split_clusters, skip_bad, budget: self.resources.budget() };
        let report = fileset(&files, &options, watch.progress)?;
        if let Some(output) = &self.output {
            let text = serde_json::to_string_pretty(&report.fileset).map_err(std::io::Error::from)?;
            OutputFile::replace(output, &text)?;
        }
        Ok(report)
    }

    fn tells_of_unclosed(&self, _: &FilesetReport) -> bool {
        true
    }

    fn answer(report: &FilesetReport) -> Answer {
        if report.skipped.is_empty() { Answer::Yes } else { Answer::No }
    }

    fn print(&self, report: &FilesetReport, _: Instant) -> Result<()> {
        for file in &report.skipped {
            let path = output::line(&file.path.display().to_string());
            eprintln!("basketry: left out: {path}: {}", output::line(&file.reason));
        }
        if self.output.is_none() {
            output::json(&report.fileset)?;
        } else if !self.verbosity.quiet {
            let mut out = output::stdout();
            let sums = [
                output::plural(report.fileset.len() as u64, "data set", "data sets"),
                output::plural(report.files, "file", "files"),
                output::plural(report.entries, "entry", "entries"),
                output::plural(report.steps, "step", "steps"),
            ];
            writeln!(out, "{}", sums.join(", "))?;
            out.flush()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn data_sets_are_told_from_paths() {
        assert_eq!(named("zmm=run*.root"), Some(("zmm", "run*.root")));
        assert_eq!(named("zmm=@list"), Some(("zmm", "@list")));
        for text in ["a.root", "https://h/a?authz=x", "dir/a=b.root", "=a", "a=", "@l=x"] {
            assert_eq!(named(text), None, "{text}");
        }
    }
}
