//! How the points of a sweep are measured.

use serde::{Deserialize, Serialize};

use super::plan::Kind;
use super::question::{Goal, Question};

/// Version of the files in a sweep's folder, and of its JSON form (`docs/sweep-schema.md`).
pub const SCHEMA: u32 = 1;

/// How the points are measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The jobs at each point.
    pub kinds: Vec<Kind>,
    /// Repeats.
    pub repeat: usize,
    /// Decides the order, and which entries are picked.
    pub seed: u64,
    /// Share of the entries that is picked.
    pub share: f64,
    /// Patterns for the chosen columns.
    pub columns: Vec<String>,
    /// Whether files are dropped from the page cache before each job.
    pub cold: bool,
    /// Whether each job has as many processors as threads.
    pub pin: bool,
    /// Bytes of memory that each job may take.
    pub memory: u64,
    /// Whether to drop points early that cannot win.
    pub drop: bool,
    /// Goal and limits.
    pub question: Question,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kinds: vec![Kind::Copy, Kind::Full, Kind::Columns, Kind::Sparse],
            repeat: 5,
            seed: 1,
            share: 0.01,
            columns: Vec::new(),
            cold: false,
            pin: true,
            memory: flow::DEFAULT_MEMORY,
            drop: false,
            question: Question::default(),
        }
    }
}

impl Settings {
    /// Name of the figure that is to be made small.
    pub(super) fn goal_metric(&self) -> &'static str {
        let cold = self.cold;
        let does = |kind: Kind| self.kinds.contains(&kind);
        // With a cold cache, waiting is what counts.
        let name = |cpu: &'static str, wall: &'static str| if cold { wall } else { cpu };
        match self.question.goal {
            Goal::Auto if does(Kind::Full) => name("full_cpu", "full_wall"),
            Goal::Auto | Goal::Copy => "copy_cpu",
            Goal::Full => name("full_cpu", "full_wall"),
            Goal::Columns => name("columns_cpu", "columns_wall"),
            Goal::Sparse => name("sparse_cpu", "sparse_wall"),
            Goal::Chosen => name("chosen_cpu", "chosen_wall"),
            Goal::Memory => "copy_rss_record",
            Goal::Size => "size",
        }
    }
}
