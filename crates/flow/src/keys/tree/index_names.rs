//! The two expressions of an index, as users give them: `run,event`, or `run` alone.

use std::fmt;
use std::str::FromStr;

use rootfile::{Error, Hint, Result};

use crate::keys::KeyNames;

/// The option that gives them.
pub(crate) const BUILD_INDEX: &str = "build-index";
/// The second expression where there is none, as `TTree::BuildIndex` has it.
const NO_MINOR: &str = "0";

/// The expressions of the major and of the minor value of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexNames([String; 2]);

impl IndexNames {
    /// Those that are no numbers, as a key, if there are some.
    pub fn key(&self) -> Option<KeyNames> {
        let texts = self.0.iter().map(String::as_str).filter(|text| text.trim().parse::<i64>().is_err());
        Some(KeyNames::of(texts).ok()?.given_by(BUILD_INDEX))
    }

    /// Both, as they stand in an index.
    pub(crate) fn expressions(&self) -> &[String; 2] {
        &self.0
    }
}

impl FromStr for IndexNames {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let hint = Hint::named(BUILD_INDEX);
        let wrong = |why: &str| Error::request(format!("{hint} {text}: {why}")).hint(hint.clone());
        let names: KeyNames = text.parse().map_err(|e: Error| wrong(&e.to_string()))?;
        match names.texts() {
            [major] => Ok(Self([major.clone(), NO_MINOR.to_owned()])),
            [major, minor] => Ok(Self([major.clone(), minor.clone()])),
            _ => Err(wrong("an index of ROOT has one or two expressions, such as run,event")),
        }
    }
}

impl fmt::Display for IndexNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_one_or_two_expressions() {
        let both: IndexNames = "run, event".parse().unwrap();
        assert_eq!(both.expressions(), &["run".to_owned(), "event".to_owned()]);
        assert_eq!("run".parse::<IndexNames>().unwrap().to_string(), "run,0");
        for wrong in ["", "run,", "run,run", "run,lumi,event"] {
            let error = wrong.parse::<IndexNames>().unwrap_err().to_string();
            assert!(error.contains("--build-index"), "{error}");
        }
    }
}
