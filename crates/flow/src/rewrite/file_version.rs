//! The file version that an output must carry. Readers decode one thing by the version of the file and not of a class: if an
//! input has it, the output must carry the input's version.
//!
//! Fact (`TStreamerInfo::ReadBuffer`, kStreamLoop): in files up to 5.15/08 an array of pointers to objects that another
//! member counts (`B **fTable; //[fN]`) is stored as an array of objects.

use std::sync::Arc;

use rootfile::streamer::code;
use rootfile::{Error, Result, RootFile};

/// The last version that stores such arrays as arrays of objects.
const LAST_OLD_LOOP: i32 = 51508;

/// The version that an output of these inputs must carry, if it is not that of this writer. `refuse` gets the error of each
/// input that does not go with the first.
pub(crate) fn required_version(
    files: &[Arc<RootFile>],
    mut refuse: impl FnMut(Error) -> Result<()>,
) -> Result<Option<i32>> {
    let mut versions = files.iter().filter(|file| has_loops(file)).map(|file| (file.header().version, file));
    let Some((first, _)) = versions.next() else { return Ok(None) };
    let is_old = |version: i32| version <= LAST_OLD_LOOP;
    for (other, file) in versions.filter(|(version, _)| is_old(*version) != is_old(first)) {
        let message = format!(
            "its counted arrays of pointers use a different on-disk layout than the first input (ROOT versions {first} \
             and {other}); such files cannot be merged"
        );
        refuse(Error::unsupported(message).file(file.name()))?;
    }
    Ok(is_old(first).then_some(first))
}

fn has_loops(file: &RootFile) -> bool {
    let is_loop = |code| code == code::STREAM_LOOP || code == code::STREAM_LOOP + code::OFFSET_L;
    file.infos()
        .iter()
        .any(|info| info.elements.iter().any(|e| is_loop(e.type_code) && e.type_name.trim_end().ends_with("**")))
}
