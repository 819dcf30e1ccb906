//! Trials of a part: where there is no time to write a choice with all entries, it is written with some, and what reading these takes
//! corrects the expected times. Sizes, and how long compression takes, are not learned here: a part has smaller baskets.

use dataset::layout::Layout;
use rootfile::Result;

use crate::cost::column::TreeStats;
use crate::cost::statistics::FileStats;
use crate::cost::trial::{self, Trial};
use crate::cost::{Access, Allowance};
use crate::math::as_f64;

use super::copied_part::CopiedPart;
use super::options::Options;
use super::search::Search;

/// Parts at most, and the share of the time that is left which one takes.
const PARTS: u32 = 2;
const OF_THE_REST: f64 = 0.45;
/// The share of the entries at most: with more, all are nearly as quick.
const MOST: f64 = 0.5;
/// Bytes on disk that a part has of each column at least: with fewer, what a column takes by itself says more than its layout.
const LEAST_BYTES: f64 = 16e3;

impl Search {
    /// Tries the choice on a part of the entries and decides again, until it stays or `allowance` is used up. Returns the share of the
    /// entries of the last part, if one was tried.
    pub(super) fn try_parts(
        &mut self,
        stats: &FileStats,
        options: &Options,
        access: Access,
        allowance: &Allowance,
    ) -> Result<Option<f64>> {
        let mut tried = None;
        // basketry's reading times do not apply to another reader. A part of a file on another machine would be fetched once more.
        if options.reader.is_some() || stats.is_elsewhere() {
            return Ok(tried);
        }
        for _ in 0..PARTS {
            let Ok(chosen) = self.decision.clone() else { break };
            let (Some(layout), Some(table)) = (self.layout(stats, &chosen)?, stats.largest_table()) else { break };
            let share = OF_THE_REST * allowance.left() / self.trial_seconds(stats, access, &chosen);
            let columns = as_f64(stats.now().count() as u64);
            if self.space.is_today(&chosen) || share * table.bytes() < LEAST_BYTES * columns {
                break;
            }
            // A layout that cannot be written fails later, at the output, with its reason.
            let Ok((share, trial)) = of_part(stats, options, layout, table, share.min(MOST)) else { break };
            tried = Some(share);
            self.space.learn_times(&chosen, self.now.1.read * trial.ratio(), 1.0);
            self.decide_again(stats);
            if self.is_decided(&chosen) {
                break;
            }
        }
        Ok(tried)
    }
}

/// Writes a part of a file in a layout, and reads it as it is and so. Returns the share of the entries.
fn of_part(
    stats: &FileStats,
    options: &Options,
    layout: Layout,
    table: &TreeStats,
    share: f64,
) -> Result<(f64, Trial)> {
    let part = CopiedPart::new(stats, options, Layout::default(), table, share)?;
    // A cycle of the input is the newest one there.
    let tree = super::measured_file::path_alone(options.tree.as_deref());
    let trial = trial::run(&part.path, tree.as_deref(), &layout, &options.workload, options.budget(), options.seed)?;
    Ok((part.share, trial))
}
