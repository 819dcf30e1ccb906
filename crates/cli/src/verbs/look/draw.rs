//! `basketry draw`: prints histograms of expressions, or makes a picture of them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use flow::Entries;
use flow::inputs::{Input, inputs};
use lab::look::draw::{Bins, DrawOptions, Drawing, Format, Sample, draw, histograms};
use rootfile::{Error, Hint, Result, check_output, public_text};

use super::picture::drawing;
use crate::layout_args::NamedArgs;
use crate::options::{Following, Matching, Resources, Verbosity};
use crate::output;
use crate::verb_command::{VerbCommand, Watch, fields};

/// Draw a histogram of an expression over a tree, an RNTuple or a Parquet file, or one that a file has.
///
/// It is printed, or with -o a picture. EXPR is one expression, or Y:X for two axes, of columns, operators and functions: docs/expressions.md
/// has the language. Each item of a list is filled. Only the columns of the expressions are read, within --memory and on all threads.
/// NaN and what is outside of the bins are counted and in no bin. The error of a bin is the root of the sum of the squares of its weights.
///
/// Without --bins these reach from the least number to the largest: 40 bins, of two axes 40 and 20; whole numbers lie in the middle of theirs.
/// Several --cut, and the files of --with, are drawn into one picture, in the same bins.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry draw events.root:Events MET_pt
  basketry draw events.root:Events Muon_pt --cut 'abs(Muon_eta) < 1.2' --bins 50,0,200 --log
  basketry draw events.root:Events Muon_eta:Muon_pt -o plot.svg
  basketry draw data.root:Events MET_pt --with simulated.root:Events --weight genWeight -o plot.svg
  basketry draw hists.root:dir/pt")]
pub struct Args {
    /// FILE, FILE:TREE, or FILE:HISTOGRAM; @list.txt, or a pattern in quotes such as 'run*.root:Events', whose files count as one.
    #[arg(value_name = "FILE[:TREE]")]
    input: String,
    /// An expression, or two as Y:X. Without one a histogram of the file is drawn.
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expression: Option<String>,
    /// Draw only entries, or items of lists, that pass this condition. Several conditions make several curves.
    #[arg(long, visible_alias = "where", value_name = "EXPR", allow_hyphen_values = true)]
    cut: Vec<String>,
    #[command(flatten)]
    named: NamedArgs,
    /// Fill with this weight: an expression with a number for each entry, or for each item of the lists that are drawn.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    weight: Option<String>,
    /// Bins: how many, or how many and from where to where. A bin has its lower edge.
    #[arg(long, value_name = "N|N,LOW,HIGH", allow_hyphen_values = true)]
    bins: Option<Bins>,
    /// Bins of the axis upwards, if there are two.
    #[arg(long, value_name = "N|N,LOW,HIGH", allow_hyphen_values = true)]
    bins_y: Option<Bins>,
    /// Draw contents on a logarithmic scale.
    #[arg(long)]
    log: bool,
    /// Also draw these files in the same bins: FILE[:TREE] as the first argument. It can be given several times.
    #[arg(long, value_name = "FILE[:TREE]")]
    with: Vec<String>,
    /// Look only at these entries: ranges as in Python (100:110, or :5,-5:), a random share (1%), or entries listed in a file.
    #[arg(long, value_name = "1%|A:B,...|FILE", allow_hyphen_values = true)]
    entries: Option<Entries>,
    /// Make a picture: a file whose name ends in .svg, .png or .pdf.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing picture.
    #[arg(short, long, requires = "output")]
    force: bool,
    #[command(flatten)]
    matching: Matching,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    type Report = Drawing;
    const DONE: &'static str = "read";

    fields!(verbosity, resources);

    fn work(&self, watch: &Watch<'_>) -> Result<Drawing> {
        let samples = std::iter::once(&self.input).chain(&self.with).map(|text| sample(text));
        let samples = samples.collect::<Result<Vec<Sample>>>()?;
        let files = || samples.iter().flat_map(|sample| &sample.inputs).map(|input| &input.path);
        let output = self.output.as_ref().map(|path| picture_file(path)).transpose()?;
        if let Some((path, _)) = output {
            check_output(path, self.force, files())?;
        }
        let drawing = match &self.expression {
            Some(expression) => {
                let options = DrawOptions {
                    expression: expression.clone(),
                    cuts: self.cut.clone(),
                    defines: self.named.defines()?,
                    weight: self.weight.clone(),
                    bins: [self.bins, self.bins_y],
                    entries: self.entries.clone().unwrap_or_default(),
                    allow_no_match: self.matching.allow_no_match,
                    follow: self.following.follow(),
                    budget: self.resources.budget(),
                };
                draw(&samples, &options, watch.progress)?
            }
            None => {
                self.refuse_what_needs_an_expression()?;
                let inputs: Vec<Input> = samples.iter().flat_map(|sample| sample.inputs.iter().cloned()).collect();
                histograms(&inputs)?
            }
        };
        if let Some((path, format)) = output {
            output::bytes_file(path, &format.picture(&drawing, self.log)?, self.force)?;
        }
        Ok(drawing)
    }

    fn print(&self, found: &Drawing, _: Instant) -> Result<()> {
        let mut out = if self.output.is_some() { output::whole_lines() } else { output::stdout() };
        match &self.output {
            Some(path) if !self.verbosity.quiet => writeln!(out, "{}", path.display())?,
            Some(_) => {}
            None => drawing(&mut out, found, self.log, output::width())?,
        }
        Ok(out.flush()?)
    }
}

impl Args {
    /// Options that a histogram of a file cannot follow.
    fn refuse_what_needs_an_expression(&self) -> Result<()> {
        let given = [
            ("cut", !self.cut.is_empty()),
            ("define", !self.named.is_empty()),
            ("weight", self.weight.is_some()),
            ("bins", self.bins.is_some()),
            ("bins-y", self.bins_y.is_some()),
            ("entries", self.entries.is_some()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => {
                let hint = Hint::named(option);
                let why = format!("{hint} is for an expression: `basketry draw FILE:TREE EXPR {hint} ...`");
                Err(Error::request(why).hint(hint))
            }
            None => Ok(()),
        }
    }
}

/// The file of a picture, with its format.
fn picture_file(path: &Path) -> Result<(&Path, Format)> {
    let format = Format::of(path).ok_or_else(|| {
        let hint = Hint::named("output");
        let why = format!("{hint}: the name of a picture ends in .svg, .png or .pdf");
        Error::request(why).hint(hint).file(path)
    })?;
    Ok((path, format))
}

/// The files that an argument names.
fn sample(text: &str) -> Result<Sample> {
    Ok(Sample { name: public_text(text).into_owned(), inputs: inputs(&[text])? })
}
