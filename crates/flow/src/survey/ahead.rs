//! Whether inputs have what users name, where they are not to be read now: before tasks are planned that other machines do. Names and
//! ranges are [looked for](super::wanted), and expressions are bound to the tables; no entry is read.

use dataset::EntryFilter;
use dataset::glob::NameFilter;
use rootfile::{Error, Result};

use super::tables::{Tables, tables_of};
use super::wanted::Wanted;
use crate::arrow::read::Dataset;
use crate::keys::KeyNames;
use crate::keys::columns::lacking_of;
use crate::plan::inputs::Input;
use crate::select::{Choice, Define, Defined, DefinesFound, EntrySelection, refused};

/// The expressions of a job.
#[derive(Clone, Debug, Default)]
pub struct Expressions {
    /// The cuts, and the columns that are defined, which the others may name.
    pub choice: Choice,
    /// The columns that get to the output.
    pub kept: NameFilter,
    /// Keys.
    pub keys: Vec<KeyNames>,
}

impl Expressions {
    fn is_empty(&self) -> bool {
        self.choice.cuts.is_empty() && self.choice.defines.is_empty() && self.keys.is_empty()
    }
}

/// A key, and what tables have said to it.
struct AskedKey<'a> {
    names: &'a KeyNames,
    found: bool,
    /// Why the tables so far do not have its columns.
    lacking: Option<Error>,
}

impl AskedKey<'_> {
    fn look_at(&mut self, path: &str, dataset: &Dataset, defines: &[Define]) -> Result<()> {
        match lacking_of(dataset, path, self.names, defines)? {
            None => self.found = true,
            Some(error) => _ = self.lacking.get_or_insert_with(|| refused(&error, self.names.option()).object(path)),
        }
        Ok(())
    }
}

/// Looks for what is named and for the columns of expressions. Each table is opened once.
///
/// # Errors
///
/// None of the inputs has the table that is named, or something else that must be there; or an expression is none on entries. Inputs that
/// cannot be read are left to those who read them.
pub fn look_ahead(inputs: &[Input], of: Tables, wanted: Wanted, expressions: &Expressions) -> Result<()> {
    let Expressions { choice, kept, keys } = expressions;
    let opens = !expressions.is_empty();
    if wanted.is_empty() && !opens && inputs.iter().all(|input| input.tree.is_none()) {
        return Ok(());
    }
    let filter = EntryFilter { cuts: choice.cuts.clone(), weight: choice.weight.clone(), ..EntryFilter::default() };
    let mut selection = EntrySelection::new(&filter).with_defines(&choice.defines).with_kept(kept);
    if of == Tables::One {
        selection = selection.about_one();
    }
    let mut defines = DefinesFound::new(&choice.defines);
    let mut keys: Vec<_> = keys.iter().map(|names| AskedKey { names, found: false, lacking: None }).collect();
    let mut search = wanted.search();
    let (mut is_readable, mut lacking) = (false, None);
    for input in inputs {
        if is_readable && !opens && search.is_done() {
            break;
        }
        let Ok(found) = tables_of(input, of, opens) else { continue };
        is_readable |= !found.tables.is_empty();
        lacking = lacking.or(found.lacking);
        search.look_at(&found.tables);
        for table in &found.tables {
            let Some(dataset) = &table.dataset else { continue };
            selection.look_at(&table.path, dataset)?;
            let defined = Defined::bind(dataset, &table.path, &choice.defines)?;
            let names: Vec<String> = defined.names().map(str::to_owned).collect();
            defines.tell(&table.path, &names, defined.lacking);
            keys.iter_mut().try_for_each(|key| key.look_at(&table.path, dataset, &choice.defines))?;
        }
    }
    match (is_readable, lacking) {
        (false, Some(lacking)) => return Err(lacking),
        (false, None) => return Ok(()),
        (true, _) => {}
    }
    search.finish(inputs)?;
    selection.finish()?;
    defines.finish()?;
    let missing = keys.into_iter().filter(|key| !key.found).find_map(|key| key.lacking);
    missing.map_or(Ok(()), Err)
}
