//! The layout options, which all writing verbs share.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use dataset::glob::{ColumnPattern, NameFilter, TreePattern};
use dataset::layout::{ColumnLayout, Container, Key, Layout, Streaming, TreeLayout};
use flow::survey::wanted::Wanted;
use flow::{Choice, Define, Entries, EntryFilter};
use rootfile::{Error, Hint, Result};

/// The keys of a layout as options, each with its name and text. `convert` has a `compression` of its own, for two formats.
#[derive(Clone, Debug, Default)]
pub struct KeyArgs<const COMPRESSION: bool>(TreeLayout);

impl<const COMPRESSION: bool> KeyArgs<COMPRESSION> {
    fn keys() -> impl Iterator<Item = &'static Key> {
        TreeLayout::KEYS.iter().filter(|key| COMPRESSION || key.name != "compression")
    }
}

impl<const COMPRESSION: bool> Args for KeyArgs<COMPRESSION> {
    fn augment_args(command: Command) -> Command {
        command.args(Self::keys().map(|key| {
            let option = Arg::new(key.name).long(key.name).help(key.help.trim().trim_end_matches('.'));
            // Shells complete them; the help has them in its sentence.
            let option = option.value_parser(KeyParser(key)).hide_possible_values(true);
            let option = if key.name == "basket" { option.visible_alias("page-size") } else { option };
            match key.value {
                Some(value) => option.value_name(value).allow_hyphen_values(key.name == "encoding"),
                None => {
                    option.value_name("true|false").num_args(0..=1).require_equals(true).default_missing_value("true")
                }
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const COMPRESSION: bool> FromArgMatches for KeyArgs<COMPRESSION> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        Self::keys().filter_map(|key| matches.get_one(key.name)).for_each(|given| self.0.overlay(given));
        Ok(())
    }
}

/// Reads the value of a key.
#[derive(Clone, Copy)]
struct KeyParser(&'static Key);

impl TypedValueParser for KeyParser {
    type Value = TreeLayout;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> std::result::Result<TreeLayout, clap::Error> {
        let read = |text: &str| TreeLayout::of(*self.0, text);
        read.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = usual_values(self.0.name);
        (!values.is_empty()).then(|| Box::new(values.iter().map(PossibleValue::new)) as Box<dyn Iterator<Item = _>>)
    }
}

/// Values of a key that has few, or usual ones.
fn usual_values(key: &str) -> &'static [&'static str] {
    match key {
        "container" => Container::WORDS,
        "streaming" => Streaming::WORDS,
        "compression" => &["none", "zlib:1", "zlib:6", "lz4:4", "zstd:1", "zstd:5", "lzma:7"],
        "encoding" => &["plain", "split", "half", "single", "double", "exact"],
        _ => &[],
    }
}

/// The layout of the output. Settings that are not given stay as in the input.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Layout")]
pub struct LayoutArgs<const COMPRESSION: bool = true> {
    /// Read the layout from a TOML file, as `inspect --layout` prints it. Other options override it.
    #[arg(long, value_name = "FILE")]
    layout: Option<PathBuf>,
    #[command(flatten)]
    keys: KeyArgs<COMPRESSION>,
    /// Settings for matching trees, such as --tree-set 'Meta*' basket=1kB,compression=none.
    #[arg(long, value_names = ["PATTERN", "KEY=VALUE,..."], num_args = 2, action = ArgAction::Append, allow_hyphen_values = true)]
    tree_set: Vec<String>,
    /// Settings for matching branches, such as --column-set 'Muon_*' compression=lz4:4. The last match wins.
    #[arg(long, value_names = ["PATTERN", "KEY=VALUE,..."], num_args = 2, action = ArgAction::Append, allow_hyphen_values = true)]
    column_set: Vec<String>,
}

/// The layout in a file. Programs may pass the text itself, which has line breaks, as no file name has.
pub fn layout_of(file: &Path) -> Result<Layout> {
    if file.as_os_str().as_encoded_bytes().contains(&b'\n') {
        return Layout::from_toml(&file.to_string_lossy());
    }
    let text = std::fs::read_to_string(file).map_err(|e| Error::from(e).file(file))?;
    Layout::from_toml(&text).map_err(|e| e.file(file))
}

impl<const COMPRESSION: bool> LayoutArgs<COMPRESSION> {
    /// The file that the layout is read from, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.layout.as_deref()
    }

    /// The layout of the options.
    pub fn layout(&self) -> Result<Layout> {
        let mut layout = match &self.layout {
            Some(file) => layout_of(file)?,
            None => Layout::default(),
        };
        layout.common.overlay(&self.keys.0);
        for pair in self.tree_set.chunks_exact(2) {
            let mut keys = TreeLayout::default();
            for (key, value) in settings(&pair[1])? {
                keys.set(key, value)?;
            }
            layout.set_tree(TreePattern::new(&pair[0])?, &keys);
        }
        for pair in self.column_set.chunks_exact(2) {
            let mut keys = ColumnLayout::default();
            for (key, value) in settings(&pair[1])? {
                keys.set(key, value)?;
            }
            layout.set_column(ColumnPattern::new(&pair[0])?, &keys);
        }
        Ok(layout)
    }
}

impl<const COMPRESSION: bool> LayoutArgs<COMPRESSION> {
    /// Its rules, which must match some tree or column. Those of a file, which several data sets may share, need not.
    pub fn wanted(&self, wanted: Wanted) -> Result<Wanted> {
        let shared = Self { layout: self.layout.clone(), ..Self::default() }.layout()?;
        let named = Self { layout: None, ..self.clone() }.layout()?;
        Ok(wanted.layout(&named).shared_layout(&shared))
    }
}

fn settings(text: &str) -> Result<Vec<(&str, &str)>> {
    text.split(',')
        .map(|part| match part.split_once('=') {
            Some((key, value)) => Ok((key.trim(), value.trim())),
            None => Err(Error::request(format!("{part:?} is no setting; write KEY=VALUE, such as compression=zstd:5"))),
        })
        .collect()
}

/// The branches and entries to keep.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Selection")]
pub struct SelectArgs {
    /// Keep only branches that match a glob or /regex/, with the branches below them and their counters.
    #[arg(long, value_name = "PATTERN")]
    keep: Vec<String>,
    /// Drop branches that match a glob or /regex/.
    #[arg(long, value_name = "PATTERN")]
    drop: Vec<String>,
    /// First entry to keep, of all trees.
    #[arg(long, value_name = "ENTRY", conflicts_with = "entries")]
    first: Option<u64>,
    /// Last entry to keep, of all trees.
    #[arg(long, value_name = "ENTRY", conflicts_with = "entries")]
    last: Option<u64>,
    /// Keep only these entries: ranges as in Python (100:200, or :10,-10:), a random share (1%), or entries listed in a
    /// file. They apply to all trees, or to trees that match a pattern (Events=100:200). Several inputs count as one.
    #[arg(long, value_name = "[TREE=]A:B,...|1%|FILE", allow_hyphen_values = true)]
    entries: Vec<String>,
    #[command(flatten)]
    cuts: CutArgs,
}

/// The conditions on entries.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Selection")]
pub struct CutArgs {
    /// Take only entries for which an expression is true, such as 'nMuon > 1 && any(Muon_pt > 20)'. Several cuts are applied one after
    /// the other, and the cut flow tells what each leaves. Of several trees those without the columns of a cut are taken whole.
    #[arg(long, visible_alias = "where", value_name = "EXPR", allow_hyphen_values = true)]
    cut: Vec<String>,
    /// Sum this expression, such as the column genWeight, over the entries before and after each cut.
    #[arg(long, value_name = "EXPR", requires = "cut", allow_hyphen_values = true)]
    weight: Option<String>,
}

impl CutArgs {
    /// The cuts alone, and the columns that they may name.
    pub fn conditions(&self, defines: Vec<Define>) -> Choice {
        Choice { cuts: self.cut.clone(), weight: self.weight.clone(), defines, ..Choice::default() }
    }

    /// The entries of one table: those of `entries` that pass.
    pub fn choice(&self, entries: Option<&Entries>, seed: u64) -> Choice {
        let entries = entries.cloned().unwrap_or_default();
        Choice { entries, seed, cuts: self.cut.clone(), weight: self.weight.clone(), ..Choice::default() }
    }
}

/// The columns that expressions define.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Selection")]
pub struct DefineArgs {
    /// Add a column with the values of an expression, such as ht='sum(Jet_pt)'. Later ones and cuts may name it.
    #[arg(long, value_name = "NAME=EXPR")]
    define: Vec<Define>,
}

impl DefineArgs {
    /// The columns in their order.
    ///
    /// # Errors
    ///
    /// A name is given twice.
    pub fn defines(&self) -> Result<Vec<Define>> {
        for (place, define) in self.define.iter().enumerate() {
            if self.define.iter().take(place).any(|other| other.name == define.name) {
                let hint = Hint::named("define");
                return Err(Error::request(format!("{hint} {} is given twice", define.name)).hint(hint));
            }
        }
        Ok(self.define.clone())
    }
}

/// Names for expressions, which other expressions may use. No column is made of them.
#[derive(Args, Clone, Debug, Default)]
pub struct NamedArgs {
    /// Give the values of an expression a name, such as ht='sum(Jet_pt)', which later ones, cuts and other expressions may use.
    #[arg(long, value_name = "NAME=EXPR")]
    define: Vec<Define>,
}

impl NamedArgs {
    /// Whether none is given.
    pub fn is_empty(&self) -> bool {
        self.define.is_empty()
    }

    /// The names in their order.
    ///
    /// # Errors
    ///
    /// A name is given twice.
    pub fn defines(&self) -> Result<Vec<Define>> {
        DefineArgs { define: self.define.clone() }.defines()
    }
}

impl SelectArgs {
    /// The filter of branches.
    pub fn filter(&self) -> Result<NameFilter> {
        NameFilter::new(&self.keep, &self.drop)
    }

    /// What it names: branches and entries. A column of --where is looked for when it is read.
    pub fn wanted(&self) -> Result<Wanted> {
        let named = Wanted::default().kept(&self.keep, &self.drop)?;
        match (self.first, self.last) {
            (Some(first), _) => Ok(named.first_entry(first)),
            // There is an entry before the last one, unless there is none at all.
            (None, Some(_)) => Ok(named),
            (None, None) => Ok(named.entries(&self.entries()?)),
        }
    }

    /// The conditions on entries, and the columns that they may name.
    pub fn conditions(&self, defines: Vec<Define>) -> Choice {
        self.cuts.conditions(defines)
    }

    /// The filter of entries.
    pub fn entries(&self) -> Result<EntryFilter> {
        let mut filter = EntryFilter::default();
        if self.first.is_some() || self.last.is_some() {
            let (first, last) = (self.first.unwrap_or(0), self.last.unwrap_or(u64::MAX - 1));
            if first > last {
                let (first, last) = (Hint::number("first", first), Hint::number("last", last));
                return Err(Error::request(format!("{first} is after {last}")).hint(first).hint(last));
            }
            filter = (first..last.saturating_add(1)).into();
        }
        self.entries.iter().try_for_each(|text| filter.add(text))?;
        filter.cuts.clone_from(&self.cuts.cut);
        filter.weight.clone_from(&self.cuts.weight);
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shells_complete_can_be_given() {
        let keys = TreeLayout::KEYS.iter().filter(|key| !usual_values(key.name).is_empty());
        let given: Vec<_> = keys.flat_map(|key| usual_values(key.name).iter().map(|value| (*key, *value))).collect();
        assert!(given.len() > 15);
        for (key, value) in given {
            assert!(TreeLayout::of(key, value).is_ok(), "{}={value}", key.name);
        }
    }
}
