//! Edits files: objects and directories are copied, moved, removed and made. An edited file is changed in place
//! (`rootfile::FileWriter::update`), or written anew under a temporary name, at
//! copy depth, and takes the place of the old one when it is whole: a reader, a full disk or a kill finds the old file or the new one.
//! What an edit would lose refuses it.

mod desk;
mod folders;
mod place;
mod remove;
mod report;
mod transfer;

pub use folders::make_directories;
pub use objects::contents::Taken;
pub use remove::{RemoveOptions, remove};
pub use report::{Change, ChangeKind, Edited, EditedFile};
pub use transfer::{TransferOptions, copy, move_objects};

/// Asks the user whether to go on with a question; `true` without a user.
pub type Confirm<'a> = &'a dyn Fn(&str) -> rootfile::Result<bool>;
