//! Names of choices: what `--choose` takes, and what the report calls them.

use std::fmt;
use std::str::FromStr;

use dataset::layout::Container;
use rootfile::{Error, Hint, Result};
use serde::{Deserialize, Serialize};

/// The name of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    /// The fewest bytes, however long reading takes.
    Smallest,
    /// The lowest price over the file's life, among those that read as fast as today's layout, within the noise of measuring.
    Balanced,
    /// The shortest reading time of the workload within the limits.
    Fastest,
    /// The layout of the input.
    Today,
    /// The best tree.
    BestTree,
    /// The best RNTuple.
    BestRntuple,
    /// The best by the goal, where that is not the price.
    Goal,
}

const NAMES: [(Name, &str); 7] = [
    (Name::Smallest, "smallest"),
    (Name::Balanced, "balanced"),
    (Name::Fastest, "fastest"),
    (Name::Today, "today"),
    (Name::BestTree, "best-tree"),
    (Name::BestRntuple, "best-rntuple"),
    (Name::Goal, "goal"),
];

impl Name {
    /// The best in a container.
    pub(super) fn best(container: Container) -> Self {
        match container {
            Container::Ttree => Self::BestTree,
            Container::Rntuple => Self::BestRntuple,
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(NAMES.iter().find(|(name, _)| name == self).map_or("", |(_, text)| text))
    }
}

/// The choice that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choose {
    /// By its name.
    Name(Name),
    /// By its number in the report.
    Number(usize),
}

impl FromStr for Choose {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let plain = text.trim().to_lowercase().replace([' ', '_'], "-");
        if let Some((name, _)) = NAMES.iter().find(|(_, known)| *known == plain) {
            return Ok(Self::Name(*name));
        }
        let number = plain.parse().ok().filter(|number| *number > 0).map(Self::Number);
        number.ok_or_else(|| {
            let known = NAMES.map(|(_, name)| name).join(", ");
            Error::request(format!("{text:?} is no choice; write its number, or {known}")).hint(Hint::named("choose"))
        })
    }
}

impl fmt::Display for Choose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => name.fmt(f),
            Self::Number(number) => number.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        for (name, text) in NAMES {
            assert_eq!(text.parse::<Choose>().unwrap(), Choose::Name(name));
            assert_eq!(serde_json::to_value(name).unwrap(), text);
        }
        assert_eq!("best RNTuple".parse::<Choose>().unwrap(), Choose::Name(Name::BestRntuple));
        assert_eq!("3".parse::<Choose>().unwrap(), Choose::Number(3));
        for text in ["0", "", "-1", "best", "1.5"] {
            let message = text.parse::<Choose>().unwrap_err().to_string();
            assert!(message.contains("smallest, balanced, fastest"), "{message}");
        }
    }
}
