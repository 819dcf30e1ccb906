//! Entry selection: the entries that a [`dataset::EntryFilter`] names, and those that pass its cuts ([`cuts`]), become one set of
//! entries for each table ([`apply`]), or for one that is read ([`chosen`]). Columns that expressions define are computed here too
//! ([`defined`]), and the values of expressions ([`computed`]). [`meaning`] says what a text is before. What only trees have is in [`tree`].

mod aliases_used;
mod apply;
mod chosen;
mod computed;
pub(crate) mod cut_flow;
mod cuts;
mod decided;
mod define;
mod defined;
mod defined_steps;
mod defined_values;
mod defines_found;
mod meaning;
mod names;
mod parts;
mod pass;
mod passable;
mod seen;
mod source;
mod steps;
pub(crate) mod tree;

pub(crate) use aliases_used::{aliases_used, refuse_different};
pub(crate) use apply::{EntrySelection, TreeSelection};
pub use chosen::{Choice, Chosen};
pub use computed::{Computed, Given, Step};
pub use cut_flow::{CutFlow, CutStep};
pub(crate) use cuts::{Cut, filter, names_in, refused};
pub use define::Define;
pub use defined::Defined;
pub use defined_steps::DefinedSteps;
pub(crate) use defined_values::{DefinedReading, DefinedValues};
pub(crate) use defines_found::DefinesFound;
pub use meaning::Meaning;
pub(crate) use names::TableNames;
pub use parts::EvaluatedRows;
pub(crate) use parts::{columns_of, refuse_incomplete};
pub use passable::{Remembering, passable};
pub(crate) use source::{OpenColumns, SourceTree};
pub(crate) use steps::{MADE, STEP, Steps};
