//! Options of a plan: what happens to differing schemas, absent files and small clusters.

use dataset::table::Join;
use rootfile::Hint;

/// How branches are handled whose baskets are in another file (`TBranch::SetFile`) that is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absent {
    /// Fails with the names of all such branches.
    #[default]
    Refuse,
    /// Leaves them out, with a note.
    LeaveOut,
    /// Only reading them fails.
    Fail,
}

/// Whether small clusters are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pack {
    /// Keeps clusters as they are.
    #[default]
    No,
    /// Packs up to the cluster size that the first input aims at.
    Auto,
    /// Packs up to this many compressed bytes.
    Bytes(u64),
}

/// How the trees of the inputs are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanOptions {
    /// How differences between schemas are handled.
    pub schema: Join,
    /// Whether numbers of other types are joined in the smallest type that holds all of them without a loss.
    pub widen: bool,
    /// How branches in absent files are handled.
    pub absent: Absent,
    /// Whether small clusters are packed.
    pub pack: Pack,
    /// Whether the inputs are only read, by a caller who cannot ask for another way to join them.
    pub is_read: bool,
    /// Whether the columns of one input, too, lack the members of records that a filter leaves out: columns of several have no others.
    pub prunes: bool,
    /// Whether the columns are those that expressions name: each input must have them, whatever the others become.
    pub is_named: bool,
    /// Whether the table gets another index than those of the inputs, which are left out without a word.
    pub replaces_index: bool,
}

impl PlanOptions {
    /// What is asked of tables that differ, if it is more than to be alike, and the other ways to join them. `columns` is what the container
    /// calls them.
    pub fn ways_out(&self, columns: &str) -> (Option<String>, Vec<Hint>) {
        if !self.is_named {
            return (None, self.schema.ways_out(columns));
        }
        let fill = Hint::switch("fill").that("fills in missing ones");
        let ways = if self.schema == Join::Fill { Vec::new() } else { vec![fill] };
        (Some(format!("{columns} that expressions name must be alike in all inputs")), ways)
    }
}
