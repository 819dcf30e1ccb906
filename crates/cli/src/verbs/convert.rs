//! `basketry convert`: trees to Parquet, and Parquet to trees.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use dataset::glob::NameFilter;
use dataset::layout::{ClusterSize, Compression, Layout};
use flow::convert::{Conversion, Converted, Format, FromParquet, ParquetCodec, ToParquet, from_parquet, to_parquet};
use flow::inputs::{Input, inputs, lists};
use flow::keys::IndexNames;
use flow::survey::ahead::Expressions;
use flow::survey::decided::decided_by_columns;
use flow::survey::tables::Tables;
use flow::survey::wanted::Wanted;
use flow::{Choice, Entries, EntryFilter};
use rootfile::{Error, Hint, Result, check_output};

use crate::container_words::words;
use crate::layout_args::{CutArgs, DefineArgs, LayoutArgs};
use crate::options::{Asked, Following, Matching, Resources, Verbosity};
use crate::output;
use crate::verb_command::{VerbCommand, Watch, fields};

/// Convert trees to Parquet, or Parquet files to a tree: the same columns and entries.
///
/// ROOT files become a Parquet file with a row group for each cluster; Parquet files become a ROOT
/// file with one tree. Several inputs count as one, in their order.
///
/// To Parquet: branches become columns of the same names, each split branch for itself, with their C++ types as metadata.
/// Branches that cannot be decoded are left out, with a note. To ROOT: lists get a counter `nNAME`, records
/// become columns NAME_PART, lists of lists become vectors. C++ types in the metadata take precedence.
/// Times become whole numbers. Missing values are refused, unless --fill-null gives a value. This is a `rewrite` of the Parquet
/// files, which has more options for the layout and for the selection of entries.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry convert events.root:Events -o events.parquet --keep 'Muon_*'
  basketry convert events.parquet -o events.root:Events")]
pub struct Args {
    /// FILE or FILE:TREE, @list.txt, or patterns.
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<OsString>,
    /// OUT.parquet, or OUT.root, or OUT.root:TREE. The file gets its name only when it is complete.
    #[arg(short, long, value_name = "FILE")]
    output: String,
    /// Replace an existing output.
    #[arg(short, long)]
    force: bool,
    /// Name of the tree to write. Default: the tree that the Parquet file was made from, or Events.
    #[arg(long, value_name = "NAME")]
    tree: Option<String>,
    /// Value for missing numbers; missing texts and lists become empty.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    fill_null: Option<f64>,
    /// Give the tree an index (TTreeIndex) of one or two columns, or sums and products of columns, as BuildIndex makes it: ROOT then finds
    /// entries by their values, and friends by them.
    #[arg(long, value_name = "MAJOR[,MINOR]")]
    build_index: Option<IndexNames>,
    /// Size of a row group: entries (100000) or bytes before compression (64MB). Default: one cluster.
    #[arg(long, value_name = "SIZE")]
    row_group: Option<ClusterSize>,
    /// Codec and level. Trees: as for rewrite. Parquet: none, snappy, lz4, zlib:6, zstd:3, with the levels of the codec.
    #[arg(long, value_name = "CODEC")]
    compression: Option<String>,
    /// Convert only columns that match a glob or /regex/. A branch includes the branches below it.
    #[arg(long, value_name = "PATTERN")]
    keep: Vec<String>,
    /// Leave out columns that match a glob or /regex/.
    #[arg(long, value_name = "PATTERN")]
    drop: Vec<String>,
    /// Convert only these entries: a random share (1%), a range (100:200), or entries listed in a file.
    #[arg(long, value_name = "1%|A:B|FILE")]
    entries: Option<Entries>,
    /// Seed of a random share.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    cuts: CutArgs,
    #[command(flatten)]
    defines: DefineArgs,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    layout: LayoutArgs<false>,
    #[command(flatten)]
    matching: Matching,
    #[command(flatten)]
    verbosity: Verbosity,
}

/// The direction of a conversion.
enum Job {
    ToParquet { inputs: Vec<Input>, output: PathBuf, codec: ParquetCodec },
    FromParquet { inputs: Vec<Input>, output: PathBuf, tree: Option<String>, layout: Layout },
}

impl Args {
    /// The inputs. Where no table is named, the columns that are kept may tell which one is meant.
    fn files(&self) -> Result<Vec<Input>> {
        decided_by_columns(inputs(&self.inputs)?, &self.keep)
    }

    fn job(&self) -> Result<Job> {
        let inputs = self.files()?;
        let mut formats = inputs.iter().map(|input| Format::of(&input.path));
        let Some(format) = formats.next().transpose()? else { return Err(Error::request("no input")) };
        for other in formats {
            if other? != format {
                return Err(Error::request("the inputs are ROOT and Parquet files; convert takes files of one format"));
            }
        }
        match format {
            Format::Root => self.root(inputs),
            Format::Parquet => self.parquet(inputs),
        }
    }

    fn root(&self, inputs: Vec<Input>) -> Result<Job> {
        let output = PathBuf::from(&self.output);
        check_output_format(&output, Format::Parquet)?;
        let refused = [
            (self.tree.is_some(), "--tree names the tree to write; name the tree to read as FILE:TREE"),
            (self.build_index.is_some(), "--build-index is only for output to trees: Parquet has no index of ROOT's"),
            (self.fill_null.is_some(), "--fill-null is only for output to trees: Parquet stores missing values"),
            (self.layout.layout()? != Layout::default(), "only trees have a layout; see --row-group for Parquet"),
        ];
        if let Some((_, why)) = refused.iter().find(|(given, _)| *given) {
            let hints = ["tree", "build-index", "fill-null", "row-group"].map(Hint::named);
            return Err(hints.into_iter().fold(Error::request(*why), Error::hint));
        }
        let codec = self.compression.as_deref().map(str::parse).transpose()?.unwrap_or_default();
        Ok(Job::ToParquet { inputs, output, codec })
    }

    fn parquet(&self, inputs: Vec<Input>) -> Result<Job> {
        let Ok(target) = self.output.parse::<Input>();
        check_output_format(&target.path, Format::Root)?;
        if self.row_group.is_some() {
            let message = "--row-group is for Parquet; trees have clusters: use --cluster";
            return Err(Error::request(message).hint(Hint::named("row-group")).hint(Hint::named("cluster")));
        }
        let tree = match (target.tree, &self.tree) {
            (Some(_), Some(_)) => {
                return Err(Error::request("--tree and -o both name the tree").hint(Hint::named("tree")));
            }
            (named, given) => named.or_else(|| given.clone()),
        };
        let mut layout = self.layout.layout()?;
        if let Some(compression) = &self.compression {
            layout.common.compression = Some(compression.parse::<Compression>()?);
        }
        Ok(Job::FromParquet { inputs, output: target.path, tree, layout })
    }
}

/// Refuses an output whose extension is not that of its format.
fn check_output_format(output: &Path, format: Format) -> Result<()> {
    let why = match (format, Format::named(output)) {
        (wanted, Some(named)) if wanted == named => return Ok(()),
        (Format::Parquet, Some(_)) => "the inputs are ROOT files already; use rewrite or merge for ROOT output",
        (Format::Root, Some(_)) => "the inputs are Parquet files already; give the output a name that ends in .root",
        (Format::Parquet, None) => "ROOT files are converted to Parquet; give the output a name that ends in .parquet",
        (Format::Root, None) => "Parquet files are converted to ROOT; give the output a name that ends in .root",
    };
    Err(Error::request(why).file(output))
}

impl VerbCommand for Args {
    type Report = Converted;
    const DONE: &'static str = "read";

    fields!(verbosity, resources);

    fn asked(&self) -> Result<Asked> {
        let wanted = Wanted::default().kept(&self.keep, &self.drop)?;
        let entries = self.entries.iter().map(|entries| (None, entries.clone())).collect();
        let wanted = wanted.entries(&EntryFilter { entries, ..EntryFilter::default() });
        let expressions = Expressions {
            choice: self.cuts.conditions(self.defines.defines()?),
            kept: NameFilter::new(&self.keep, &self.drop)?,
            keys: self.build_index.iter().filter_map(IndexNames::key).collect(),
        };
        let asked = self.matching.asked(self.files()?, self.layout.wanted(wanted)?, expressions);
        Ok(asked.of(Tables::Only))
    }

    fn work(&self, watch: &Watch<'_>) -> Result<Converted> {
        let job = self.job()?;
        let (Job::ToParquet { output, .. } | Job::FromParquet { output, .. }) = &job;
        check_output(output, self.force, lists(&self.inputs).chain(self.layout.file()))?;
        let how = Conversion {
            filter: NameFilter::new(&self.keep, &self.drop)?,
            entries: Choice { defines: self.defines.defines()?, ..self.cuts.choice(self.entries.as_ref(), self.seed) },
            follow: self.following.follow(),
            budget: self.resources.budget(),
            overwrite: self.force,
            progress: watch.progress,
        };
        match &job {
            Job::ToParquet { inputs, output, codec } => {
                watch.will_read(inputs.iter().map(|input| &input.path));
                to_parquet(&ToParquet { inputs, output, codec: *codec, row_group: self.row_group }, &how)
            }
            Job::FromParquet { inputs, output, tree, layout } => {
                watch.will_read(inputs.iter().map(|input| &input.path));
                let tree = tree.as_deref();
                let (fill_null, build_index) = (self.fill_null, self.build_index.as_ref());
                from_parquet(&FromParquet { inputs, output, tree, layout, fill_null, build_index }, &how)
            }
        }
    }

    fn print(&self, done: &Converted, _: Instant) -> Result<()> {
        if self.verbosity.quiet { Ok(()) } else { print(done) }
    }
}

fn print(done: &Converted) -> Result<()> {
    let mut out = output::stdout();
    for column in &done.left_out {
        writeln!(out, "left out: {}: {}", output::name(&column.name), output::line(&column.why))?;
    }
    output::cut_flow(&mut out, &done.tree, &done.cuts)?;
    output::notes(&mut out, &done.notes)?;
    writeln!(
        out,
        "{} {}: {} of {}, {}; {} read, {} written ({})",
        done.container.map_or("table", |container| words(container).table),
        output::name(&done.tree),
        output::plural(done.entries, "entry", "entries"),
        output::plural(done.columns.len() as u64, "column", "columns"),
        output::plural(done.row_groups, "row group", "row groups"),
        output::bytes(done.bytes_read),
        output::bytes(done.bytes_written),
        output::percent(done.bytes_written, done.bytes_read)
    )?;
    out.flush()?;
    Ok(())
}
