//! The reader that a file is tuned for: basketry itself, or another program with a [`profile`] of its reading costs. `expect`
//! applies the profile, `session` runs the program where it is installed, `proof` reads the result with it, and
//! [`calibrate`] measures a profile.

pub mod calibrate;
mod calibration_files;
mod costs;
pub(crate) mod expect;
mod features;
mod fit;
mod ntuple_costs;
pub mod profile;
pub(crate) mod proof;
pub(crate) mod session;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rootfile::{Error, Hint, Result};
use serde::{Deserialize, Serialize};

use crate::cost::Workload;
use profile::Profile;

pub use ntuple_costs::{NtupleCosts, NtupleRead};

/// Profiles that come with basketry, by the reader's name.
const SHIPPED: [(&str, &str); 2] = [("root", include_str!("root.toml")), ("uproot", include_str!("uproot.toml"))];
/// No profile is larger.
const LARGEST: u64 = 1 << 20;
/// Basketry's own name.
const OURS: &str = "basketry";

/// Another program that will read the file.
#[derive(Clone, Debug)]
pub struct Reader {
    profile: Profile,
    /// The profile's file; none: it came with basketry.
    place: Option<PathBuf>,
    /// The Python interpreter that runs the program.
    python: OsString,
}

/// Whose reading is expected and measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReaderReport {
    /// `basketry`, `root`, `uproot`, or the name in a profile.
    pub name: String,
    /// Its version.
    pub version: String,
    /// File of the profile, or `shipped`; none for basketry, whose costs are measured on the file itself.
    pub profile: Option<String>,
    /// Day on which the profile was measured.
    pub date: Option<String>,
    /// Model of the processor that it was measured on.
    pub processor: Option<String>,
    /// The program that reads input and output in the proof; `None` without an output.
    pub proven_by: Option<String>,
    /// Why that is not the reader itself.
    pub instead: Option<String>,
}

impl Reader {
    /// The reader of that name, or of the profile in the file of that name; none for basketry itself. A profile that a
    /// calibration kept goes before the one that came with basketry.
    ///
    /// # Errors
    ///
    /// There is no reader and no profile of that name, or the profile cannot be read.
    pub fn named(name: &str, python: OsString) -> Result<Option<Self>> {
        if name == OURS {
            return Ok(None);
        }
        if let Some((_, text)) = SHIPPED.iter().find(|(known, _)| *known == name) {
            let kept = kept(name).filter(|path| path.exists());
            let profile = match &kept {
                Some(path) => of_file(path)?,
                None => Profile::parse(text, Path::new(name))?,
            };
            return Ok(Some(Self { profile, place: kept, python }));
        }
        let path = Path::new(name);
        if path.extension().is_none_or(|end| end != "toml") && !path.exists() {
            let why = format!("no reader {name:?}; known readers: basketry, root, uproot, or a profile FILE.toml");
            return Err(Error::request(why).hint(Hint::named("reader")));
        }
        Ok(Some(Self { profile: of_file(path)?, place: Some(path.to_path_buf()), python }))
    }

    /// Refuses workloads that the program cannot do.
    pub(crate) fn check(&self, workload: &Workload) -> Result<()> {
        if self.profile.reader == "uproot" && workload.picks_entries() {
            let why = "uproot reads whole columns and cannot read some entries alone, as sparse: and cuts do; choose another workload or --reader root";
            return Err(Error::request(why));
        }
        Ok(())
    }

    /// Refuses to expect costs of RNTuples by a profile that has none.
    pub(crate) fn check_ntuples(&self) -> Result<()> {
        if self.profile.ntuple.is_some() {
            return Ok(());
        }
        let name = &self.profile.reader;
        let place = self.place.as_ref().map_or_else(|| "the shipped profile".to_owned(), |p| p.display().to_string());
        let (calibrate, force) = (Hint::named("calibrate"), Hint::switch("force"));
        let why = format!(
            "{place} was measured with trees alone, by an earlier version, and says nothing of RNTuples; \
             measure {name} again with {calibrate} and {force}"
        );
        Err(Error::request(why).hint(calibrate).hint(force))
    }

    /// Whether branches that basketry cannot decode are read, too.
    pub(crate) fn reads_all(&self) -> bool {
        self.profile.reader == "root"
    }

    /// The reader, for the report.
    pub(crate) fn report(&self) -> ReaderReport {
        let Profile { reader, version, date, processor, .. } = self.profile.clone();
        let place = self.place.as_ref().map_or_else(|| "shipped".to_owned(), |path| path.display().to_string());
        ReaderReport {
            name: reader,
            version,
            profile: Some(place),
            date: Some(date),
            processor: Some(processor),
            proven_by: None,
            instead: None,
        }
    }

    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }
}

impl ReaderReport {
    /// Basketry itself.
    pub(crate) fn ours() -> Self {
        Self {
            name: OURS.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            profile: None,
            date: None,
            processor: None,
            proven_by: None,
            instead: None,
        }
    }

    /// Whether the proof was read by another program than the one whose reading is expected.
    pub fn is_proven_by_another(&self) -> bool {
        self.instead.is_some()
    }
}

/// Where a calibration keeps a reader's profile: below `$XDG_CONFIG_HOME`, or else `~/.config`. None if neither is known.
pub fn kept(name: &str) -> Option<PathBuf> {
    // A relative folder is to be ignored, the specification says.
    let of = |key: &str| std::env::var_os(key).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = of("XDG_CONFIG_HOME").or_else(|| Some(of("HOME")?.join(".config")))?;
    Some(folder.join("basketry/readers").join(format!("{name}.toml")))
}

fn of_file(path: &Path) -> Result<Profile> {
    let size = std::fs::metadata(path).map_err(|e| Error::from(e).file(path))?.len();
    if size > LARGEST {
        return Err(Error::request(format!("has {size} bytes; not a valid reader profile is so large")).file(path));
    }
    let text = std::fs::read_to_string(path).map_err(|e| Error::from(e).file(path))?;
    Profile::parse(&text, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_profiles_are_complete() {
        for (name, text) in SHIPPED {
            let profile = Profile::parse(text, Path::new(name)).unwrap();
            assert_eq!(profile.reader, name);
            assert!(profile.command.contains("--calibrate"), "{}", profile.command);
            assert!(profile.fit.files >= 20 && profile.fit.median_error < 0.25, "{:?}", profile.fit);
            let fit = profile.ntuple.map(|ntuple| ntuple.fit).unwrap();
            assert!(fit.files >= 15 && fit.median_error < 0.25, "{fit:?}");
        }
    }

    #[test]
    fn readers_have_names_or_files() {
        let named = |name: &str| Reader::named(name, "python3".into());
        assert!(named("basketry").unwrap().is_none());
        assert!(named("rot").unwrap_err().to_string().contains("known readers: basketry, root, uproot"));
        assert!(named("absent.toml").is_err());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let mut profile = Profile::example();
        profile.reader = "mine".to_owned();
        std::fs::write(&path, profile.to_toml().unwrap()).unwrap();
        let reader = named(path.to_str().unwrap()).unwrap().unwrap();
        let report = reader.report();
        assert_eq!((report.name.as_str(), report.profile), ("mine", Some(path.display().to_string())));
        assert!(reader.check(&"sparse:1%".parse().unwrap()).is_ok());
        std::fs::File::create(&path).unwrap().set_len(LARGEST + 1).unwrap();
        assert!(named(path.to_str().unwrap()).unwrap_err().to_string().contains("not a valid reader profile"));
    }

    #[test]
    fn uproot_picks_no_entries() {
        let profile = Profile { reader: "uproot".to_owned(), ..Profile::example() };
        let reader = Reader { profile, place: None, python: "python3".into() };
        assert!(reader.check(&"full=0.5,sparse:1%=0.5".parse().unwrap()).is_err());
        assert!(reader.check(&"columns:a*".parse().unwrap()).is_ok());
    }
}
