//! What an address inside a file may open: that of a branch's baskets, that of a friend. Whoever wrote the file chose the
//! address, so it is data, and never a command. This is the only place that decides it; nothing is opened before it is read from.
//!
//! - An address on another machine is followed only if the user asks for that ([`Follow::Urls`]). The user's credentials go with
//!   it only to the origin (scheme, host and port) of the file that the user named.
//! - A path counts from the folder of the file that has it, which may be at a URL: then it stays at that origin. A file at a URL
//!   never opens a path of this machine.
//! - Only regular files are opened. What lies outside of the folder is said ([`Place::remark`]).

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::RootFile;
use crate::address::{self, Credentials};
use crate::descriptors::PooledFile;
use crate::pool::FilePool;
use crate::reach::{Follow, Reach};
use crate::source::Source;
use crate::text::printable;
use crate::url::{beside, origin, url};
use crate::{Error, Hint, Result, public_path};

/// The switch that lets addresses inside files lead to other machines.
const FOLLOW_URLS: &str = "follow-urls";

/// What an address names, which decides where it is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The file with the baskets of a branch (`TBranch::GetFile`): if it is not at its address, a file of that name beside the
    /// tree's file is meant, for files that were moved together.
    Baskets,
    /// The file of a friend (`TFriendElement`): a relative path counts from the working directory as well, as in ROOT.
    Friend,
}

/// A file that an address in another file names, and may open.
#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
    credentials: Credentials,
    /// The file with the address.
    holder: PathBuf,
    reach: Reach,
    /// The address, if the file at this place stands for it.
    instead_of: Option<String>,
}

/// A file that has addresses in it, and how far they reach.
#[derive(Clone, Debug)]
pub struct Holder {
    path: PathBuf,
    reach: Reach,
}

impl RootFile {
    /// This file as one that has addresses in it.
    pub fn holder(&self) -> Holder {
        Holder { path: self.name().to_path_buf(), reach: self.reach.clone() }
    }
}

impl Holder {
    /// The places of an address in the file, the likeliest first, or the reasons why there is none. Nothing is opened.
    pub fn places(&self, address: &str, role: Role) -> Vec<Result<Place>> {
        let own = self.path.as_path();
        let (text, is_local) = without_file_scheme(address);
        let named = Path::new(text);
        let last = text.split(['?', '#']).next().and_then(|path| Path::new(path).file_name());
        let moved = last.map(|last| beside(own, Path::new(last)));
        let mut places = Vec::new();
        match (url(own), url(named)) {
            (_, Some(_)) => places.push(match self.reach.follow {
                Follow::Urls => Ok(self.place(named.to_path_buf())),
                Follow::Paths => Err(not_followed()),
            }),
            (Some(_), _) if is_local || named.is_absolute() => places.push(Err(not_from_afar())),
            (Some(_), _) if !is_plain(text) => places.push(Err(Error::unsupported(
                "has characters that mean something else in a URL, and is not looked for beside the file's own URL",
            ))),
            _ => {
                places.push(Ok(self.place(beside(own, named))));
                if role == Role::Friend && named.is_relative() && url(own).is_none() {
                    places.push(Ok(self.place(named.to_path_buf())));
                }
            }
        }
        let is_other = |moved: &PathBuf| places.iter().flatten().all(|place| place.path != *moved);
        let beside = moved.filter(|moved| role == Role::Baskets && is_plain(text_of(last)) && is_other(moved));
        if let Some(path) = beside {
            let instead_of = places.iter().any(Result::is_err) || url(named).is_some();
            let instead_of = instead_of.then(|| public_path(named).to_string_lossy().into_owned());
            places.push(Ok(Place { instead_of, ..self.place(path) }));
        }
        places
    }

    /// How far its addresses are followed.
    pub fn follow(&self) -> Follow {
        self.reach.follow
    }

    /// The place of the file itself.
    pub fn own_place(&self) -> Place {
        self.place(self.path.clone())
    }

    /// Whether an address names a file in the own folder that is not there. None for all other addresses: nothing is looked for
    /// outside of the folder, or on another machine.
    pub fn is_missing(&self, address: &str) -> Option<bool> {
        let name = Path::new(without_file_scheme(address).0);
        let mut parts = name.components();
        let is_own = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        let here = is_own && url(name).is_none() && url(&self.path).is_none();
        here.then(|| std::fs::symlink_metadata(beside(&self.path, name)).is_err())
    }

    fn place(&self, path: PathBuf) -> Place {
        let user_named = self.reach.named.as_ref().unwrap_or(&self.path).clone();
        let credentials = match url(&path) {
            Some(_) if !is_same_origin(&user_named, &path) => Credentials::None,
            _ => Credentials::Users,
        };
        let reach = Reach { named: Some(user_named), ..self.reach.clone() };
        Place { path, credentials, holder: self.path.clone(), reach, instead_of: None }
    }
}

impl Place {
    /// The path or URL.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file.
    ///
    /// # Errors
    ///
    /// There is no such file, it is not a regular one, or its server refuses.
    pub fn open(&self) -> Result<Arc<dyn Source>> {
        match url(&self.path) {
            Some(url) => address::open_url(url, self.credentials),
            None => {
                self.check_regular()?;
                Ok(Arc::new(PooledFile::alone(&self.path)?))
            }
        }
    }

    /// Opens the ROOT file through a pool.
    ///
    /// # Errors
    ///
    /// As for [`Place::open`], or it is not a ROOT file.
    pub fn open_file(&self, pool: &Arc<FilePool>) -> Result<RootFile> {
        self.check_regular()?;
        Ok(pool.open_as(&self.path, self.credentials)?.with_reach(self.reach.clone()))
    }

    /// Opening a device or a pipe may do something already. [`PooledFile`] checks it again.
    fn check_regular(&self) -> Result<()> {
        if url(&self.path).is_some() {
            return Ok(());
        }
        let found = std::fs::metadata(&self.path).map_err(|e| Error::from(e).file(&self.path))?;
        match found.is_file() {
            true => Ok(()),
            false => {
                Err(Error::request("is not a regular file, and an address inside a file opens no other")
                    .file(&self.path))
            }
        }
    }

    /// What users are told when the file is read: that it is outside of the folder of the file with the address, or that it
    /// stands for another.
    pub fn remark(&self) -> Option<String> {
        let (path, holder) = (shown(&self.path), shown(&self.holder));
        if let Some(address) = &self.instead_of {
            return Some(format!("{path} is read in place of {}, which {holder} names", printable(address)));
        }
        let how = match (url(&self.holder), url(&self.path)) {
            (from, Some(to)) if !from.is_some_and(|from| is_below(from, to)) => match self.credentials {
                Credentials::Users => "outside of that file's folder",
                Credentials::None => "at another server, which is asked without credentials",
            },
            (None, None) if self.is_outside() => "outside of that file's folder",
            _ => return None,
        };
        Some(format!("{path} is read, which {holder} names: it is {how}"))
    }

    /// Whether the file is outside of the folder of the file that names it, links followed.
    fn is_outside(&self) -> bool {
        let Ok(path) = std::fs::canonicalize(&self.path) else { return false };
        let parent = |path: &Path| path.parent().map(Path::to_path_buf);
        let as_named = parent(&self.holder).map(|folder| match folder.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => folder,
        });
        let folders = [
            as_named.and_then(|folder| std::fs::canonicalize(folder).ok()),
            std::fs::canonicalize(&self.holder).ok().as_deref().and_then(parent),
        ];
        !folders.iter().flatten().any(|folder| path.starts_with(folder))
    }
}

fn text_of(name: Option<&std::ffi::OsStr>) -> &str {
    name.and_then(std::ffi::OsStr::to_str).unwrap_or_default()
}

fn shown(path: &Path) -> String {
    printable(&public_path(path).to_string_lossy()).into_owned()
}

/// The path that `file:path`, `file:///path` or `file://localhost/path` names, and whether there is such a prefix.
fn without_file_scheme(address: &str) -> (&str, bool) {
    let Some(rest) = address.get(..5).filter(|prefix| prefix.eq_ignore_ascii_case("file:")).and(address.get(5..))
    else {
        return (address, false);
    };
    let path = rest.strip_prefix("//").map(|rest| rest.strip_prefix("localhost").unwrap_or(rest));
    (path.filter(|path| path.starts_with('/')).unwrap_or(rest), true)
}

/// Whether a relative path means the same in a URL, and stays behind the URL's host.
fn is_plain(path: &str) -> bool {
    !path.is_empty()
        && !path.contains("::")
        && !path.contains("://")
        && !path.chars().any(|c| matches!(c, '?' | '#' | '\\') || c.is_control())
}

/// Whether both are at the same scheme, host and port.
fn is_same_origin(a: &Path, b: &Path) -> bool {
    let origin_of = |path| url(path).and_then(origin);
    origin_of(a).is_some_and(|a| Some(a) == origin_of(b))
        // Chained schemes have no origin of their own: the same folder is at the same one.
        || matches!((url(a), url(b)), (Some(a), Some(b)) if a.contains("::") && is_below(a, b))
}

/// Whether a URL is in the folder of another one, or below.
fn is_below(own: &str, other: &str) -> bool {
    let path = |url: &str| url.split(['?', '#']).next().unwrap_or_default().to_owned();
    let (own, other) = (path(own), path(other));
    let rest = own.rsplit_once('/').and_then(|(folder, _)| other.strip_prefix(folder)?.strip_prefix('/'));
    rest.is_some_and(|rest| {
        !rest.split('/').any(|part| matches!(part.to_ascii_lowercase().replace("%2e", ".").as_str(), ".."))
    })
}

fn not_followed() -> Error {
    let switch = Hint::switch(FOLLOW_URLS).that("lets it lead there");
    let why = "it is on another machine, where an address inside a file leads only if you ask for it";
    Error::request(format!("{why}; {}", switch.clause())).hint(switch)
}

fn not_from_afar() -> Error {
    Error::request(
        "it is a path of this machine, which a file of another machine does not open; put the file beside that one, or get both",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_schemes_are_paths() {
        for (address, path, is_local) in [
            ("file:a.root", "a.root", true),
            ("FILE:///d/a.root", "/d/a.root", true),
            ("file://localhost/d/a.root", "/d/a.root", true),
            ("a.root", "a.root", false),
            ("file", "file", false),
        ] {
            assert_eq!(without_file_scheme(address), (path, is_local));
        }
    }

    /// The places of the baskets at an address in a file: with or without the user's credentials, or a refusal.
    fn places((own, named): (&str, Option<&str>), address: &str, follow: Follow) -> Vec<String> {
        let reach = Reach { follow, named: named.map(PathBuf::from) };
        let shown = |place: Result<Place>| match place {
            Ok(place) if place.credentials == Credentials::Users => place.path.display().to_string(),
            Ok(place) => format!("{} without", place.path.display()),
            Err(_) => "refused".to_owned(),
        };
        let holder = Holder { path: own.into(), reach };
        holder.places(address, Role::Baskets).into_iter().map(shown).collect()
    }

    #[test]
    fn addresses_lead_nowhere_else() {
        let (here, there) = (("/d/a.root", None), ("https://h/d/a.root?authz=s", None));
        let beside = "https://h/d/b.root?authz=s";
        for (own, address, found) in [
            (here, "b.root", vec!["/d/b.root"]),
            (here, "/e/b.root", vec!["/e/b.root", "/d/b.root"]),
            (here, "http://x/b.root", vec!["refused", "/d/b.root"]),
            (here, "file:http://x/b.root", vec!["refused", "/d/b.root"]),
            (here, "simplecache::s3://x/b.root", vec!["refused", "/d/b.root"]),
            (("a.root", None), "file:http://x/b.root", vec!["refused", "b.root"]),
            (there, "b.root", vec![beside]),
            (there, "/d/b.root", vec!["refused", beside]),
            (there, "file:b.root", vec!["refused", beside]),
            (there, "https://h/d/b.root", vec!["refused", beside]),
            (there, "b.root?authz=other", vec!["refused", beside]),
            (there, "c::x/b.root", vec!["refused", beside]),
            // Of a friend that was followed to another server.
            (("http://x/f.root", Some("https://h/a.root")), "b.root", vec!["http://x/b.root without"]),
        ] {
            assert_eq!(places(own, address, Follow::Paths), found, "{own:?} {address}");
        }
        for (own, address, found) in [
            (here, "http://x/b.root", vec!["http://x/b.root without", "/d/b.root"]),
            (there, "https://h/e/b.root", vec!["https://h/e/b.root", beside]),
            (there, "https://x/b.root", vec!["https://x/b.root without", beside]),
            (there, "http://h/b.root", vec!["http://h/b.root without", beside]),
            (there, "/d/b.root", vec!["refused", beside]),
        ] {
            assert_eq!(places(own, address, Follow::Urls), found, "{own:?} {address}");
        }
    }

    #[test]
    fn origins_are_scheme_host_and_port() {
        let same = |a: &str, b: &str| is_same_origin(Path::new(a), Path::new(b));
        for (a, b) in [
            ("https://h/a", "https://H:443/b"),
            ("https://u:p@h/a", "https://h/b?x=y"),
            ("root://h//a", "root://h:1094//b"),
            ("s3://bucket/a", "s3://bucket/b"),
            ("simplecache::https://h/d/a", "simplecache::https://h/d/b"),
        ] {
            assert!(same(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("https://h/a", "http://h/a"),
            ("https://h/a", "https://h:8443/a"),
            ("https://h/a", "https://h@evil/a"),
            ("https://h/a", "https://evil\\@h/a"),
            ("https://h/a", "https://h.evil/a"),
            ("https://h/a", "https://h\t/a"),
            ("s3://bucket/a", "s3://other/a"),
            ("https:///a", "https:///b"),
            ("/d/a", "https://h/a"),
            ("simplecache::https://h/d/a", "simplecache::https://h/e/a"),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
    }

    #[test]
    fn folders_of_urls() {
        for (other, below) in [
            ("https://h/d/b?x", true),
            ("https://h/d/e/b", true),
            ("https://h/d/../b", false),
            ("https://h/d/%2E./b", false),
            ("https://h/b", false),
            ("https://h/dd/b", false),
        ] {
            assert_eq!(is_below("https://h/d/a?authz=d/e", other), below, "{other}");
        }
    }
}
