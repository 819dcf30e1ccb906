//! The question of a sweep: which figure to minimise, and within which limits.

use std::str::FromStr;

use rootfile::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::tune::Limit;

/// The figure to minimise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Reading, or copying where nothing is read.
    #[default]
    Auto,
    /// Reading everything.
    Full,
    /// Reading each column alone.
    Columns,
    /// Reading picked entries.
    Sparse,
    /// Reading chosen columns.
    Chosen,
    /// CPU of copying.
    Copy,
    /// Memory of copying, with the one-record tree.
    Memory,
    /// Bytes on disk.
    Size,
}

impl Goal {
    /// All of them.
    pub(super) const ALL: [Self; 8] =
        [Self::Full, Self::Columns, Self::Sparse, Self::Chosen, Self::Copy, Self::Memory, Self::Size, Self::Auto];

    /// Its name, as in the option.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Full => "full",
            Self::Columns => "columns",
            Self::Sparse => "sparse",
            Self::Chosen => "chosen",
            Self::Copy => "copy",
            Self::Memory => "memory",
            Self::Size => "size",
        }
    }
}

impl FromStr for Goal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let named = Self::ALL.into_iter().filter(|goal| *goal != Self::Auto);
        named.clone().find(|goal| goal.name() == text).ok_or_else(|| {
            let known = named.map(Self::name).collect::<Vec<_>>().join(", ");
            Error::request(format!("{text:?} is no goal; write one of: {known}"))
        })
    }
}

/// Goal and limits. Limits are as in their options: a size or a time, or `1.05x` as a multiple of today's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The figure to minimise.
    pub goal: Goal,
    /// Further figures: each has a decision of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<Goal>,
    /// The most bytes that a file may have.
    pub max_size: Option<String>,
    /// The most seconds that a copy may take.
    pub max_write_time: Option<String>,
    /// The most memory that a reader may need.
    pub max_read_memory: Option<String>,
    /// The most memory that a copy may need.
    pub max_memory: Option<String>,
}

/// Options and figures of the limits, in the order of the solver's resources.
pub(super) const LIMITS: [(&str, &str); 4] = [
    ("--max-size", "size"),
    ("--max-write-time", "copy_wall"),
    ("--max-read-memory", "full_rss"),
    ("--max-memory", "copy_rss_record"),
];

impl Question {
    /// All goals, each once.
    pub(super) fn goals(&self) -> Vec<Goal> {
        let mut goals = vec![self.goal];
        self.further.iter().for_each(|goal| {
            if !goals.contains(goal) {
                goals.push(*goal);
            }
        });
        goals
    }

    fn texts(&self) -> [Option<&str>; 4] {
        [&self.max_size, &self.max_write_time, &self.max_read_memory, &self.max_memory].map(Option::as_deref)
    }

    /// The limits, in the order of [`LIMITS`].
    pub(super) fn limits(&self) -> Result<[Option<Limit>; 4]> {
        let [size, time, read, write] = self.texts();
        let size = size.map(str::parse).transpose()?;
        let time = time.map(Limit::time).transpose()?;
        Ok([size, time, read.map(str::parse).transpose()?, write.map(str::parse).transpose()?])
    }

    /// Whether a limit is a multiple of today's.
    pub(super) fn is_relative(&self) -> bool {
        self.limits().is_ok_and(|limits| limits.into_iter().flatten().any(|limit| matches!(limit, Limit::Times(_))))
    }

    /// Refuses limits that cannot be read.
    ///
    /// # Errors
    ///
    /// A limit has no form that [`Limit`](crate::tune::Limit) has.
    pub fn check(&self) -> Result<()> {
        self.limits().map(|_| ())
    }
}
