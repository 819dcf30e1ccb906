//! Whether inputs have what users name, where they are not to be read now: before tasks are planned that other machines do. Names and
//! ranges are [looked for](super::wanted), and cuts are bound to the tables; no entry is read.

use dataset::EntryFilter;
use dataset::glob::NameFilter;
use rootfile::Result;

use super::tables::{Tables, tables_of};
use super::wanted::Wanted;
use crate::plan::inputs::Input;
use crate::select::{Choice, EntrySelection};

/// The cuts of a job, and what they are about.
#[derive(Clone, Debug, Default)]
pub struct AskedCuts {
    /// The cuts, with the columns that they may name.
    pub choice: Choice,
    /// The columns that get to the output.
    pub kept: NameFilter,
}

/// Looks for what is named and for the columns of cuts. Each table is opened once.
///
/// # Errors
///
/// None of the inputs has the table that is named, or something else that must be there; or a cut is no condition on entries. Inputs that
/// cannot be read are left to those who read them.
pub fn look_ahead(inputs: &[Input], of: Tables, wanted: Wanted, cuts: &AskedCuts) -> Result<()> {
    let AskedCuts { choice, kept } = cuts;
    let has_cuts = !choice.cuts.is_empty();
    if wanted.is_empty() && !has_cuts && inputs.iter().all(|input| input.tree.is_none()) {
        return Ok(());
    }
    let filter = EntryFilter { cuts: choice.cuts.clone(), weight: choice.weight.clone(), ..EntryFilter::default() };
    let mut selection = EntrySelection::new(&filter).with_defines(&choice.defines).with_kept(kept);
    if of == Tables::One {
        selection = selection.about_one();
    }
    let mut search = wanted.search();
    let (mut is_readable, mut lacking) = (false, None);
    for input in inputs {
        if is_readable && !has_cuts && search.is_done() {
            break;
        }
        let Ok(found) = tables_of(input, of, has_cuts) else { continue };
        is_readable |= !found.tables.is_empty();
        lacking = lacking.or(found.lacking);
        search.look_at(&found.tables);
        for table in found.tables {
            if let Some(dataset) = &table.dataset {
                selection.look_at(&table.path, dataset)?;
            }
        }
    }
    match (is_readable, lacking) {
        (false, Some(lacking)) => return Err(lacking),
        (false, None) => return Ok(()),
        (true, _) => {}
    }
    search.finish(inputs)?;
    selection.finish().map(drop)
}
