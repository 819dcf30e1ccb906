//! Whether a file names others on other machines. Other programs open such files by themselves, and with the user's credentials,
//! so measurements give them no file that has such an address. It opens none of them.

use std::path::Path;

use dataset::layout::Container;
use dataset::table::catalog::tables;
use dataset::tree::read_tree;
use rootfile::{Error, Result, RootFile, public_path, url};

/// Refuses a file with a tree whose branches or friends are at URLs.
///
/// # Errors
///
/// It has one, or it cannot be read.
pub(crate) fn refuse_urls(path: &Path, program: &str) -> Result<()> {
    let file = RootFile::open(path)?;
    for table in tables(&file).into_iter().filter(|table| table.container == Container::Ttree) {
        let tree = read_tree(&file, &table.key)?;
        let friends = tree.friends();
        let addresses = tree.branches.iter().map(|branch| branch.file_name.as_str());
        let named = addresses.chain(friends.iter().map(|friend| friend.file.as_str()));
        if let Some(found) = named.map(Path::new).find(|address| url(address).is_some()) {
            let message = format!(
                "names a file on another machine, {}, which {program} would open with your credentials",
                public_path(found).display()
            );
            return Err(Error::request(message).object(table.path).file(path));
        }
    }
    Ok(())
}
