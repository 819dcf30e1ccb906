//! The command under the names of ROOT's tools: each takes the flags of its tool, says what went wrong in ROOT's form, and does its work by
//! the code of the verbs. `hadd` and `rootreadspeed` have verbs that take their flags.

pub mod rootcp;
pub mod rooteventselector;
pub mod rootls;
pub mod rootmkdir;
pub mod rootmv;
pub mod rootprint;
pub mod rootrm;
pub mod rootslimtree;
mod subset;
mod tool;

use std::ffi::{OsStr, OsString};

/// The names of ROOT's tools, and the verb that takes the flags of each.
const TOOLS: [(&str, &str); 10] = [
    ("hadd", "hadd"),
    ("rootreadspeed", "readspeed"),
    ("rootls", "rootls"),
    ("rootprint", "rootprint"),
    ("rootcp", "rootcp"),
    ("rootmv", "rootmv"),
    ("rootrm", "rootrm"),
    ("rootmkdir", "rootmkdir"),
    ("rooteventselector", "rooteventselector"),
    ("rootslimtree", "rootslimtree"),
];

/// The verb for the name by which the command is called, if that is one of ROOT's tools.
pub fn verb_of(name: &OsStr) -> Option<OsString> {
    let stem = std::path::Path::new(name).file_stem()?.to_str()?;
    TOOLS.iter().find(|(tool, _)| *tool == stem).map(|(_, verb)| (*verb).into())
}
