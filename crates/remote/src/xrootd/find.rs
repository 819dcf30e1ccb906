//! Where `libXrdPosix` is: where `BASKETRY_XRDPOSIX` says, in the active Python or conda environment, or where the system has
//! it. The Python package sets the variable if the interpreter has the library.

use std::ffi::{CStr, OsStr, OsString, c_int};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use rootfile::{Error, Result};

use crate::settings::timeout;
use crate::xrootd::library::Library;

const VARIABLE: &str = "BASKETRY_XRDPOSIX";
/// Its names in XRootD 6 and 5. The last is that of development packages.
const NAMES: [&str; 3] = ["libXrdPosix.so.6", "libXrdPosix.so.3", "libXrdPosix.so"];
const HOW: &str = "root:// is read by XRootD's own client library";
const GET: &str = "`pip install xrootd` brings it, into the active environment or that of the Python package basketry; so does \
                   the system's package xrootd-client; BASKETRY_XRDPOSIX=/path/to/libXrdPosix.so names another";

/// The library, loaded by the first call that finds it.
pub(super) fn library() -> Result<&'static Library> {
    static LOADED: OnceLock<Library> = OnceLock::new();
    static LOADING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    match LOADED.get() {
        Some(library) => Ok(library),
        None => load(|name| std::env::var_os(name), |path| Library::load(path, &settings()))
            .map(|library| LOADED.get_or_init(|| library))
            .map_err(Error::unsupported),
    }
}

/// A server that does not answer is given up after the timeout of all remote files, and asked anew as long after. The library's
/// own defaults are 10 and 30 minutes.
fn settings() -> [(&'static CStr, c_int); 5] {
    let seconds = c_int::try_from(timeout().as_secs()).unwrap_or(c_int::MAX).max(2);
    [
        (c"ConnectionWindow", seconds / 2),
        (c"ConnectionRetry", 2),
        (c"StreamTimeout", seconds),
        (c"StreamErrorWindow", seconds),
        (c"TimeoutResolution", (seconds / 4).clamp(1, 15)),
    ]
}

/// Loads the first library that there is.
fn load<L>(
    variable: impl Fn(&str) -> Option<OsString>,
    load: impl Fn(&OsStr) -> std::result::Result<L, String>,
) -> std::result::Result<L, String> {
    if let Some(path) = variable(VARIABLE).filter(|path| !path.is_empty()) {
        return load(&path).map_err(|why| format!("{HOW}; {VARIABLE} names {}, but: {why}. {GET}", shown(&path)));
    }
    let mut unusable = Vec::new();
    for path in in_environments(variable) {
        match load(path.as_os_str()) {
            Ok(library) => return Ok(library),
            Err(why) => unusable.push(format!("; {} cannot be used: {why}", path.display())),
        }
    }
    for name in NAMES {
        match load(OsStr::new(name)) {
            Ok(library) => return Ok(library),
            // The loader's words for a library that is not there.
            Err(why) if why.contains("No such file") => {}
            Err(why) => unusable.push(format!("; {name} cannot be used: {why}")),
        }
    }
    Err(format!("{HOW}, libXrdPosix, and none was found{}. {GET}", unusable.concat()))
}

fn shown(path: &OsStr) -> String {
    Path::new(path).display().to_string()
}

/// The libraries of the active Python and conda environments.
fn in_environments(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let folder_of =
        |name: &str| variable(name).filter(|path| !path.is_empty()).map(|path| PathBuf::from(path).join("lib"));
    let mut folders = Vec::new();
    if let Some(lib) = folder_of("VIRTUAL_ENV") {
        let pythons = std::fs::read_dir(lib).into_iter().flatten().flatten();
        folders.extend(pythons.map(|python| python.path().join("site-packages/pyxrootd")));
    }
    folders.extend(folder_of("CONDA_PREFIX"));
    folders.iter().filter_map(|folder| NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSING: &str = "libXrdPosix.so.6: cannot open shared object file: No such file or directory";

    #[test]
    fn the_variable_goes_first_and_environments_before_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let wheel = folder.path().join("lib/python3.11/site-packages/pyxrootd");
        std::fs::create_dir_all(&wheel).unwrap();
        std::fs::write(wheel.join("libXrdPosix.so.6"), "").unwrap();
        let set = |names: &'static [&str]| {
            let folder = folder.path().as_os_str().to_os_string();
            move |name: &str| names.contains(&name).then(|| folder.clone())
        };
        let found = |path: &OsStr| Ok::<_, String>(PathBuf::from(path));
        assert_eq!(load(set(&["BASKETRY_XRDPOSIX", "VIRTUAL_ENV"]), found).unwrap(), folder.path());
        assert_eq!(load(set(&["VIRTUAL_ENV"]), found).unwrap(), wheel.join("libXrdPosix.so.6"));
        assert_eq!(load(set(&[]), found).unwrap(), Path::new("libXrdPosix.so.6"));
        let older = |path: &OsStr| if path == "libXrdPosix.so.3" { Ok(()) } else { Err(MISSING.to_owned()) };
        assert_eq!(load(set(&["VIRTUAL_ENV"]), older), Ok(()));
    }

    #[test]
    fn what_is_missing_is_said() {
        let none = load::<()>(|_| None, |_| Err(MISSING.to_owned())).unwrap_err();
        assert!(none.contains("none was found. `pip install xrootd`"), "{none}");
        let odd = load::<()>(|_| None, |_| Err("it has no function f".to_owned())).unwrap_err();
        assert!(odd.contains("libXrdPosix.so.3 cannot be used: it has no function f"), "{odd}");
        let named = load::<()>(|_| Some("/x.so".into()), |_| Err(MISSING.to_owned())).unwrap_err();
        assert!(named.contains("BASKETRY_XRDPOSIX names /x.so, but: libXrdPosix.so.6: cannot open"), "{named}");
    }

    #[test]
    fn a_library_without_the_functions_is_refused() {
        let error = Library::load(OsStr::new("libc.so.6"), &[]).err().unwrap();
        assert!(error.starts_with("it has no function _ZN14XrdPosixXrootd"), "{error}");
    }
}
