//! Looks events up in an index: row groups are read whose keys may be looked for, and no file of the index is opened.

use std::ops::ControlFlow;

use rootfile::Result;

use super::asked::AskedKeys;
use super::hits::Found;
use super::index_file::IndexFile;
use crate::execute::budget::Budget;
use crate::select::{MADE, STEP, Steps};

/// The entries in an index whose keys are looked for, by the numbers of their files.
///
/// # Errors
///
/// The index cannot be read.
pub(super) fn look_up(index: &IndexFile, asked: &AskedKeys, budget: Budget) -> Result<Vec<Vec<Found>>> {
    let mut found: Vec<Vec<Found>> = index.record.files.iter().map(|_| Vec::new()).collect();
    let (firsts, columns, team) = (index.record.first_keys()?, index.columns(), budget.helpers()?);
    let groups = index.dataset.clusters().windows(2).zip(&firsts);
    let ends = firsts.iter().skip(1).copied().chain([u128::MAX]);
    for ((bounds, first), end) in groups.zip(ends) {
        let ([start, stop], true) = (bounds, asked.any_between(*first, end)) else { continue };
        let (entries, team) = (*start..*stop, team.clone());
        let steps = Steps {
            table: &index.dataset,
            columns: &columns,
            entries,
            selection: None,
            budget: Budget { memory: budget.memory / 2, ..budget },
            bytes: STEP,
            made: MADE,
            team,
            before: 0,
        };
        steps.each(|step| {
            let rows = index.rows(&step.arrays)?;
            let keys = index.of.pack(rows.keys, step.rows().count)?;
            for ((key, file), entry) in keys.into_iter().zip(rows.files).zip(rows.entries) {
                if asked.has(key)
                    && let Some(found) = found.get_mut(*file as usize)
                {
                    found.push(Found { key, entry: *entry });
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    found.iter_mut().for_each(|found| found.sort_unstable_by_key(|found| found.entry));
    Ok(found)
}
