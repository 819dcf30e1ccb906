//! How far the addresses in a file reach, as its user decides and as it was found. `file::places` has the rule; nothing is decided
//! or opened here.

use std::path::PathBuf;

/// Whether addresses inside files may lead to other machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// They may not.
    #[default]
    Paths,
    /// The user asks for it.
    Urls,
}

/// How far the addresses in an open file reach.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    /// Whether URLs are followed.
    pub follow: Follow,
    /// The file that the user named, if this one was found by an address in it.
    pub named: Option<PathBuf>,
}

impl Reach {
    /// That of a file which the user names.
    pub fn of_named(follow: Follow) -> Self {
        Self { follow, named: None }
    }
}
