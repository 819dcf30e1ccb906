//! Options and arguments that several verbs share. A verb flattens the groups that it needs.

use std::path::{Path, PathBuf};

use clap::Args;
use dataset::layout::ByteSize;
use flow::inputs::Input;
use flow::keys::{KeyNames, SortKey};
use flow::survey::ahead::{Expressions, look_ahead};
use flow::survey::tables::Tables;
use flow::survey::wanted::Wanted;
use flow::{Budget, Join};
use rootfile::{Follow, Hint, Result, check_output};

/// How much of the machine a verb may use.
#[derive(Args, Clone, Debug)]
pub struct Resources {
    /// Threads to use; 0 means all cores.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// Maximum memory of the work, such as 512MB.
    #[arg(long, value_name = "SIZE", default_value_t = ByteSize(flow::DEFAULT_MEMORY))]
    pub memory: ByteSize,
}

impl Resources {
    /// The budget.
    pub fn budget(&self) -> Budget {
        Budget::new(self.memory.bytes(), self.threads)
    }
}

/// What addresses inside the input files may open.
#[derive(Args, Clone, Debug)]
pub struct Following {
    /// Also read branches and friends from other machines where the inputs name URLs. Your credentials go only to the
    /// server of the input itself. Default: files name only files that are at hand.
    #[arg(long)]
    follow_urls: bool,
}

impl Following {
    /// How far addresses are followed.
    pub fn follow(&self) -> Follow {
        follow(self.follow_urls)
    }
}

/// How far addresses are followed, by the switch.
pub fn follow(urls: bool) -> Follow {
    if urls { Follow::Urls } else { Follow::Paths }
}

/// What is done with names and patterns that mean nothing.
#[derive(Args, Clone, Copy, Debug)]
pub struct Matching {
    /// Go on where a name, a pattern or a range of entries matches nothing in any input. Without this option that is an error,
    /// with the names that are most like it.
    #[arg(long)]
    pub allow_no_match: bool,
}

impl Matching {
    /// What is looked for in inputs before the work begins; nothing if it may be missing.
    pub fn asked(self, inputs: Vec<Input>, wanted: Wanted, expressions: Expressions) -> Asked {
        let wanted = if expressions.choice.defines.is_empty() { wanted } else { wanted.beside_new_columns() };
        match self.allow_no_match {
            true => Asked::default(),
            false => Asked { inputs, tables: Tables::All, wanted, expressions },
        }
    }
}

/// The names, patterns and ranges among the arguments of a verb that must mean something in its inputs.
#[derive(Default)]
pub struct Asked {
    /// The inputs.
    pub inputs: Vec<Input>,
    /// Which of their tables the verb takes.
    pub tables: Tables,
    /// What is named in them.
    pub wanted: Wanted,
    /// The expressions, which are bound to the inputs when these are read.
    pub expressions: Expressions,
}

impl Asked {
    /// The same of these tables.
    pub fn of(self, tables: Tables) -> Self {
        Self { tables, ..self }
    }

    /// Looks for all of it, and for the columns of the expressions, where no input is to be read now.
    pub fn check_ahead(self) -> Result<()> {
        look_ahead(&self.inputs, self.tables, self.wanted, &self.expressions)
    }

    /// Looks for it. Returns a sentence for each rule of a shared file that matches nothing.
    pub fn check(self) -> Result<Vec<String>> {
        if self.wanted.is_empty() { Ok(Vec::new()) } else { self.wanted.check(&self.inputs) }
    }
}

/// What a verb prints.
#[derive(Args, Clone, Copy, Debug)]
pub struct Verbosity {
    /// Print only the result: no progress, no summary.
    #[arg(short, long)]
    pub quiet: bool,
    /// Print one JSON object, for machines.
    #[arg(long)]
    pub json: bool,
}

/// Where a verb writes.
#[derive(Args, Clone, Debug)]
pub struct Target {
    /// The file to write. It gets its name only when it is complete.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace an existing output.
    #[arg(short, long)]
    pub force: bool,
}

impl Target {
    /// Refuses an output that must not be written, before any work: see [`check_output`].
    pub fn check<P: AsRef<Path>>(&self, read: impl IntoIterator<Item = P>) -> Result<()> {
        check_output(&self.output, self.force, read)
    }
}

/// The key in the texts of an option, if it is given.
pub fn key_of(texts: &[String], option: &'static str) -> Result<Option<KeyNames>> {
    if texts.is_empty() {
        return Ok(None);
    }
    let key = KeyNames::of(texts.iter().map(String::as_str)).map(|key| key.given_by(option));
    key.map(Some).map_err(|e| e.hint(Hint::named(option)))
}

/// What entries are sorted by, if an option was given.
pub fn sort_key_of(texts: &[String], option: &'static str) -> Result<Option<SortKey>> {
    if texts.is_empty() {
        return Ok(None);
    }
    let key = SortKey::of(texts.iter().map(String::as_str)).map(|key| key.given_by(option));
    key.map(Some).map_err(|e| e.hint(Hint::named(option)))
}

/// How inputs whose columns differ are joined.
#[derive(Args, Clone, Copy, Debug)]
pub struct Differing {
    /// Keep only branches that all inputs have.
    #[arg(long, conflicts_with = "fill")]
    common: bool,
    /// Keep the branches of all inputs. Zeros, empty arrays and empty strings stand for branches that an input lacks.
    #[arg(long)]
    fill: bool,
}

impl Differing {
    /// The treatment of different schemas.
    pub fn schema(self) -> Join {
        schema(self.common, self.fill)
    }
}

/// How numbers of other types are joined.
#[derive(Args, Clone, Copy, Debug)]
pub struct Widening {
    /// Join leaves of trees whose numbers have other types in some inputs (Int_t with Short_t, Long64_t with Long_t, Float_t
    /// with Double_t) in the smallest type that holds all of them without a loss; notes name them. Without this option, and
    /// where no type holds all (Long64_t with ULong64_t or Float_t), such inputs are refused. Not for RNTuples and classes.
    #[arg(long)]
    pub widen: bool,
}

/// The treatment of different schemas by --common and --fill, which exclude each other.
pub fn schema(common: bool, fill: bool) -> Join {
    match (common, fill) {
        (true, _) => Join::Common,
        (_, true) => Join::Fill,
        _ => Join::Strict,
    }
}
