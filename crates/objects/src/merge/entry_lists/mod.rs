//! Lists of selected entries: `TEventList`, `TEntryList` and `TEntryListArray`. The sum has every entry that one of the
//! lists has, tree by tree.

mod add;
mod block;
mod element_lists;
mod events;
mod list;
mod selected;

pub(super) use add::merge;
pub(super) use events::merge_events;
pub use selected::{SelectedEntries, is_entry_list, selected_entries};
