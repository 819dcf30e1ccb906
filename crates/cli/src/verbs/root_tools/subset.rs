//! Copies some entries and branches of trees into a file: each tree is rewritten into a scratch file, and copied from there. A tree whose
//! name is taken becomes a new cycle, as in ROOT.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use dataset::glob::{NameFilter, Pattern};
use flow::edit::{Taken, TransferOptions, copy};
use flow::inputs::{Input, inputs};
use flow::read::Dataset;
use flow::{Budget, ContentOptions, Entries, EntryFilter, Options, rewrite, unwatched};
use lab::look::listing::{ListOptions, list};
use rootfile::{Error, Result, ScratchFolder};

use super::tool::compression;
use crate::output::Answer;
use crate::verbs::edit::cp::split_last;

/// The flags of both tools that copy trees.
#[derive(clap::Args)]
pub struct SubsetArgs {
    /// Trees, and at the end the destination.
    #[arg(required = true, num_args = 2.., value_name = "SOURCE")]
    inputs: Vec<OsString>,
    /// Change the compression settings of the destination, if it is not there.
    #[arg(short, long, value_name = "COMPRESS")]
    compress: Option<u32>,
    /// Make the destination anew.
    #[arg(long)]
    recreate: bool,
    /// Branches to include again, separated by commas.
    #[arg(short = 'i', long, default_value = "")]
    branchinclude: String,
    /// Branches to leave out, separated by commas.
    #[arg(short = 'e', long, default_value = "")]
    branchexclude: String,
}

/// Entries of trees.
#[derive(Default)]
pub(super) struct ChosenEntries<'a> {
    pub first: u64,
    /// The last one, if it is given.
    pub last: Option<u64>,
    /// An expression that is true for them.
    pub selection: &'a str,
}

impl SubsetArgs {
    /// Copies all trees, with some of their entries.
    pub(super) fn copy(&self, entries: &ChosenEntries<'_>) -> Result<Answer> {
        let compression = compression(self.compress)?;
        let (destination, sources) = split_last(&self.inputs);
        let folder = destination.path.parent().filter(|folder| folder.is_dir()).unwrap_or(Path::new("."));
        let scratch = ScratchFolder::within(folder)?;
        let mut made = Vec::new();
        let trees = trees(&inputs(sources)?)?;
        refuse_same_names(&trees)?;
        for tree in trees {
            let path = scratch.path().join(format!("{}.root", made.len()));
            let options = self.options(&tree, entries)?;
            rewrite(std::slice::from_ref(&tree.path), &path, &options, &unwatched)?;
            made.push(Input { path, tree: tree.tree });
        }
        let options =
            TransferOptions { taken: Taken::Older, recreate: self.recreate, compression, ..TransferOptions::default() };
        copy(&made, &destination, &options, &unwatched)?;
        Ok(Answer::Yes)
    }

    fn options(&self, tree: &Input, chosen: &ChosenEntries<'_>) -> Result<Options> {
        let entries = Entries::from(chosen.first..chosen.last.map_or(u64::MAX, |last| last.saturating_add(1)));
        let is_all = chosen.first == 0 && chosen.last.is_none();
        let cuts = Some(chosen.selection.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
        let content = ContentOptions {
            filter: self.filter(tree)?,
            entries: EntryFilter {
                entries: if is_all { Vec::new() } else { vec![(None, entries)] },
                cuts: cuts.into_iter().collect(),
                weight: None,
            },
            tree: tree.tree.clone(),
            ..ContentOptions::default()
        };
        Ok(Options { content, budget: Budget::default(), ..Options::default() })
    }

    /// The branches that stay: first those to leave out go, then those to include come back.
    fn filter(&self, tree: &Input) -> Result<NameFilter> {
        if self.branchexclude.is_empty() {
            return Ok(NameFilter::default());
        }
        let patterns = |text: &str| -> Result<Vec<Pattern>> {
            text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(Pattern::new).collect()
        };
        let (include, exclude) = (patterns(&self.branchinclude)?, patterns(&self.branchexclude)?);
        let dataset = Dataset::open(std::slice::from_ref(tree))?;
        let matches = |patterns: &[Pattern], name: &str| patterns.iter().any(|pattern| pattern.matches(name));
        let (top, nodes) = (dataset.schema().top(), dataset.schema().nodes());
        let names = top.iter().filter_map(|node| nodes.get(*node)).map(|node| node.name.clone());
        let gone: Vec<String> = names.filter(|name| matches(&exclude, name) && !matches(&include, name)).collect();
        NameFilter::new(&[], &gone)
    }
}

/// Refuses two trees of one name: in the destination the second would hide the first.
fn refuse_same_names(trees: &[Input]) -> Result<()> {
    let name = |tree: &Input| tree.tree.as_deref().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
    let mut names = HashSet::new();
    match trees.iter().find(|tree| !names.insert(name(tree))) {
        Some(second) => {
            let why = "another source has this name as well, and one would hide the other: copy them to two files";
            Err(Error::request(why).object(second.tree.clone().unwrap_or_default()).file(&second.path))
        }
        None => Ok(()),
    }
}

/// The trees that sources name: all of a file that is named alone.
fn trees(sources: &[Input]) -> Result<Vec<Input>> {
    let listing = list(sources, &ListOptions { tables: true, ..ListOptions::default() })?;
    let mut found = Vec::new();
    for file in listing.files {
        // A pattern stays within a directory.
        let pattern = file.asked.as_deref().filter(|asked| asked.contains(['*', '?', '[', '{']));
        let depth = |path: &str| path.trim_matches('/').matches('/').count();
        let level = pattern.map(depth);
        let is_meant = |path: &str| level.is_none_or(|level| level == depth(path));
        let tables = file.objects.into_iter().filter(|object| object.table.is_some() && is_meant(&object.path));
        found.extend(tables.map(|object| Input { path: file.path.clone().into(), tree: Some(object.path) }));
    }
    Ok(found)
}
