//! How the points of a sweep are measured.

use rootfile::{Error, Hint, Result};
use serde::{Deserialize, Serialize};

use super::command::JobCommand;
use super::metric::metric_of;
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
    /// The commands of the user that run instead of basketry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<JobCommand>,
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
            command: None,
        }
    }
}

impl Settings {
    /// Name of the figure that a goal makes small.
    pub(super) fn goal_metric(&self, goal: Goal) -> &'static str {
        let cold = self.cold;
        let does = |kind: Kind| self.kinds.contains(&kind);
        // With a cold cache, waiting is what counts.
        let name = |cpu: &'static str, wall: &'static str| if cold { wall } else { cpu };
        match goal {
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

    /// Refuses goals whose figure no job measures.
    ///
    /// # Errors
    ///
    /// There is such a goal.
    pub(super) fn check_goals(&self) -> Result<()> {
        for goal in self.question.goals() {
            let kind = metric_of(self.goal_metric(goal)).map(|metric| metric.kind);
            // What is chosen by itself is left to what there is.
            if let Some(kind) = kind.filter(|kind| goal != Goal::Auto && !self.kinds.contains(kind)) {
                let (goal, kind) = (goal.name(), kind.name());
                let option = if kind == Kind::Chosen.name() { "columns" } else { "only" };
                let message = format!("the goal {goal} is measured by the job {kind}, which is left out");
                return Err(Error::request(message).hint(Hint::named(option)));
            }
        }
        Ok(())
    }

    /// Name of the figure of reading everything.
    pub(super) fn reading(&self) -> &'static str {
        self.goal_metric(Goal::Full)
    }
}
