//! What a plan needs of memory while it runs, besides its metadata.

use super::table::TablePlan;
use crate::column::{Column, Shape};

impl TablePlan {
    /// Bytes of buffers that one thread needs at most, by what is known of basket sizes.
    pub fn scratch(&self) -> u64 {
        let longest = self.bounds.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0).max(1);
        let of_column = |column: &Column| {
            let record = column.pieces.iter().map(|p| u64::from(p.nbytes)).max().unwrap_or(0);
            let raw = column.pieces.iter().map(|p| column.expanded(p)).max().unwrap_or(0);
            let total: u64 = column.pieces.iter().map(|p| column.expanded(p)).sum();
            let entries = column.recorded_entries().max(1);
            let basket = match column.shape {
                Shape::Size(size) | Shape::Keep(size) => {
                    // A buffer said to be large holds no more than there is.
                    u64::from(size.max(column.packed_size.unwrap_or(0))).min(column.tot_bytes).max(raw)
                }
                Shape::PerCluster => total.div_ceil(entries).saturating_mul(longest).min(total),
            };
            record + raw + 2 * basket
        };
        let recodes = self.recodes.iter().map(|recode| recode.scratch(longest)).max().unwrap_or(0);
        // Besides: a window of copies or finished baskets, and the codecs' own state.
        self.columns.iter().map(of_column).max().unwrap_or(0).max(recodes) + (8 << 20)
    }
}
