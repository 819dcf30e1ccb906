//! Who hears of an output right before it gets its name. A record of what is about to be named lets a program that was killed in
//! between tell its own output from another file. What is recorded, and where, is the hearer's matter.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Result;
use crate::target::is_same_place;

type Hearer = Arc<dyn Fn(&Path) -> Result<()> + Send + Sync>;

static HEARERS: Mutex<Vec<(Arc<()>, PathBuf, Hearer)>> = Mutex::new(Vec::new());

fn hearers() -> MutexGuard<'static, Vec<(Arc<()>, PathBuf, Hearer)>> {
    // The list is consistent after every call, so a panic elsewhere does not matter.
    HEARERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hears of an output until it is dropped.
#[must_use]
pub struct NamingWatch(Arc<()>);

impl NamingWatch {
    /// Calls `hear` whenever a file is whole and about to get the name `target`, with the path at which the file is until
    /// then. If it fails, the file does not get the name.
    pub fn new(target: &Path, hear: impl Fn(&Path) -> Result<()> + Send + Sync + 'static) -> Self {
        let id = Arc::new(());
        hearers().push((Arc::clone(&id), target.to_path_buf(), Arc::new(hear)));
        Self(id)
    }
}

impl Drop for NamingWatch {
    fn drop(&mut self) {
        hearers().retain(|(id, _, _)| !Arc::ptr_eq(id, &self.0));
    }
}

/// Tells those who hear of `target` that the file `hidden` is about to get this name.
pub(crate) fn announce(target: &Path, hidden: &Path) -> Result<()> {
    let of_target =
        |(_, path, hear): &(Arc<()>, PathBuf, Hearer)| is_same_place(path, target).then(|| Arc::clone(hear));
    // Hearers write files, which are announced as well: the list must not be locked meanwhile.
    let told: Vec<Hearer> = hearers().iter().filter_map(of_target).collect();
    told.iter().try_for_each(|hear| hear(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, OutputFile};

    #[test]
    fn a_file_is_announced_before_it_has_its_name_and_only_to_those_who_listen() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let (sink, there) = (Arc::clone(&seen), path.clone());
        let watch = NamingWatch::new(&folder.path().join("./a"), move |hidden| {
            assert!(!there.exists());
            sink.lock().unwrap().push(std::fs::read_to_string(hidden).unwrap());
            Ok(())
        });
        OutputFile::replace(&other, "other").unwrap();
        OutputFile::replace(&path, "text").unwrap();
        drop(watch);
        OutputFile::replace(&path, "again").unwrap();
        assert_eq!(*seen.lock().unwrap(), ["text"]);
        let refused = NamingWatch::new(&path, |_| Err(Error::request("no")));
        assert!(OutputFile::replace(&path, "never").is_err());
        drop(refused);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "again");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    }
}
