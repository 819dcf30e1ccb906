//! Branches whose baskets are in another file than their tree (`TBranch::SetFile`): a source that opens that file when it is first
//! read, since metadata need it not. [`rootfile::Holder`] decides what may be opened.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use dataset::tree::{Branch, Tree};
use rootfile::{Error, Hint, Place, Result, Role, RootFile, Source, Traffic, public_path, url};

use super::schema;
use crate::table::text_list::listed;
use crate::table::tree::added::is_added;

/// A branch whose baskets are in an absent file.
pub(crate) struct AbsentBranch {
    /// Its index.
    pub branch: usize,
    /// Its path.
    pub name: String,
    /// The reason.
    pub why: Absence,
}

/// The reason why a file is absent, and the options that help.
#[derive(Clone)]
pub(crate) struct Absence {
    /// In words.
    pub text: String,
    hints: Vec<Hint>,
}

impl Absence {
    fn of(address: &str, error: &Error) -> Self {
        let address = public_path(Path::new(address));
        let text = format!("its baskets are in another file, {}, which cannot be opened ({error})", address.display());
        Self { text, hints: error.hints().to_vec() }
    }

    fn error(&self, message: String) -> Error {
        self.hints.iter().cloned().fold(Error::request(message), Error::hint)
    }
}

/// The file with the baskets of a branch. It is opened when it is first read, and reading fails if it is absent.
pub(crate) struct ExternalFile {
    /// The file that names it.
    holder: PathBuf,
    address: String,
    places: Vec<Result<Place>>,
    opened: OnceLock<std::result::Result<Opened, Absence>>,
}

struct Opened {
    source: Arc<dyn Source>,
    remark: Option<String>,
}

impl ExternalFile {
    /// The file that a branch of a tree in `file` names.
    pub fn of(file: &RootFile, address: &str) -> Self {
        let places = file.holder().places(address, Role::Baskets);
        Self { holder: file.name().to_owned(), address: address.to_owned(), places, opened: OnceLock::new() }
    }

    fn opened(&self) -> std::result::Result<&Opened, &Absence> {
        let open = || {
            let mut first = None;
            for place in &self.places {
                match place.as_ref().map_or_else(|e| Err(Absence::of(&self.address, e)), |place| self.open(place)) {
                    Ok(opened) => return Ok(opened),
                    Err(why) => first = first.or(Some(why)),
                }
            }
            Err(first.unwrap_or_else(|| Absence::of(&self.address, &Error::request("it has no name"))))
        };
        self.opened.get_or_init(open).as_ref()
    }

    fn open(&self, place: &Place) -> std::result::Result<Opened, Absence> {
        let source = place.open().map_err(|e| Absence::of(&self.address, &e))?;
        Ok(Opened { source, remark: place.remark() })
    }

    fn source(&self) -> Result<&Arc<dyn Source>> {
        self.opened().map(|opened| &opened.source).map_err(|why| why.error(why.text.clone()))
    }
}

impl Source for ExternalFile {
    fn name(&self) -> &Path {
        match self.opened.get() {
            Some(Ok(opened)) => opened.source.name(),
            _ => &self.holder,
        }
    }

    /// A file with baskets is not empty: 0 means that it is absent.
    fn size(&self) -> u64 {
        self.source().map_or(0, |source| source.size())
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.source()?.read_exact_at(offset, buf)
    }

    fn read(&self, offset: u64, len: usize) -> Result<Vec<u8>> {
        self.source()?.read(offset, len)
    }

    fn read_ranges(&self, ranges: &[std::ops::Range<u64>]) -> Result<Vec<Vec<u8>>> {
        self.source()?.read_ranges(ranges)
    }

    fn will_need(&self, ranges: &[std::ops::Range<u64>]) {
        if let (false, Ok(source)) = (ranges.is_empty(), self.source()) {
            source.will_need(ranges);
        }
    }

    fn is_unchanged(&self) -> bool {
        self.source().is_ok_and(|source| source.is_unchanged())
    }

    fn release(&self) {
        if let Some(Ok(opened)) = self.opened.get() {
            opened.source.release();
        }
    }

    fn is_remote(&self) -> bool {
        match self.opened.get() {
            Some(opened) => opened.as_ref().is_ok_and(|opened| opened.source.is_remote()),
            None => self.places.iter().flatten().next().is_some_and(|place| url(place.path()).is_some()),
        }
    }

    fn traffic(&self) -> Option<Traffic> {
        self.opened.get()?.as_ref().ok()?.source.traffic()
    }

    fn remark(&self) -> Option<String> {
        self.opened().ok()?.remark.clone()
    }
}

/// Whether a branch has baskets in the file that it names. A branch without baskets of its own needs no file.
fn needs_file(branch: &Branch) -> bool {
    !branch.file_name.is_empty() && !is_added(&branch.file_name) && branch.baskets.iter().any(|basket| basket.seek != 0)
}

/// The branches of a tree whose baskets are in absent files.
pub(crate) fn absent(tree: &Tree, file: &RootFile) -> Vec<AbsentBranch> {
    let mut known: Vec<(&str, Option<Absence>)> = Vec::new();
    let mut found = Vec::new();
    let mut names = Vec::new();
    for (i, branch) in tree.branches.iter().enumerate().filter(|(_, branch)| needs_file(branch)) {
        let address = branch.file_name.as_str();
        if !known.iter().any(|(name, _)| *name == address) {
            known.push((address, ExternalFile::of(file, address).opened().err().cloned()));
        }
        let Some((_, Some(why))) = known.iter().find(|(name, _)| *name == address) else { continue };
        if names.is_empty() {
            names = schema::paths(tree);
        }
        let name = names.get(i).map(schema::path_text).unwrap_or_default();
        found.push(AbsentBranch { branch: i, name, why: why.clone() });
    }
    found
}

/// The error that names the absent branches, and what to do.
pub(crate) fn refuse(absent: &[AbsentBranch]) -> Error {
    let Some(first) = absent.first() else { return Error::request("a file is absent") };
    let names: Vec<&str> = absent.iter().map(|branch| branch.name.as_str()).collect();
    let of = if names.len() == 1 { String::new() } else { format!(" (the same for {})", listed(&names)) };
    let message = format!(
        "branch {}: {}{of}; put that file beside this one, or leave the branches out with `rewrite --skip-absent`",
        first.name, first.why.text
    );
    first.why.error(message).hint(Hint::switch("skip-absent"))
}
