//! The report of `tune` as plain values, for tables and JSON. `docs/tune-schema.md` describes it. Within a version fields
//! may be added; no field changes its meaning or disappears.

use flow::Form;
use rootfile::{Error, Hint, Result};
use serde::{Deserialize, Serialize};

pub use crate::cost::model::Cost;
pub use crate::cost::{Goal, Reading};
pub use crate::price::Bill;

use super::Access;
pub use super::acceptance::Written;
pub use super::compare::Comparison;
pub use super::names::{Choose, Name};
pub use super::reader::ReaderReport;

/// Version of the JSON form. It grows when a field disappears or changes its meaning.
pub const SCHEMA: u32 = 1;

/// The report of `tune`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Version of this structure.
    pub schema: u32,
    /// The file; of several the first, and how many more.
    pub input: String,
    /// The tree that was named, if one was.
    pub tree: Option<String>,
    /// Number of inputs.
    pub files: usize,
    /// Number of inputs that were measured: they stand for all.
    pub measured_files: usize,
    /// The workload.
    pub workload: String,
    /// What was minimised.
    pub goal: Goal,
    /// Whose reading is expected, and measured in the proof.
    pub reader: ReaderReport,
    /// How the costs were measured.
    pub measuring: Measuring,
    /// The limits.
    #[serde(skip_deserializing)]
    pub limits: Vec<LimitReport>,
    /// The prices of the file's life as TOML, for `--price`.
    pub prices: String,
    /// The choice that was asked for, by its name or number; `None`: the best by the goal.
    pub asked: Option<String>,
    /// The choices that `--choose` takes, the smallest first.
    pub choices: Vec<Choice>,
    /// The cost of the present file.
    pub today: Figures,
    /// Seconds to fetch and decompress all of it once, whatever the workload.
    pub read_all: f64,
    /// CPU seconds that a rewrite into the chosen layout is expected to take.
    pub rewrite: f64,
    /// The expected cost of the chosen layout; `None` if the limits cannot be met.
    pub chosen: Option<Figures>,
    /// The largest possible gain of another choice, as a share, by the measured costs.
    pub gap: f64,
    /// The changes, by codec, most bytes first.
    #[serde(skip_deserializing)]
    pub groups: Vec<Group>,
    /// Columns of objects that change their split level or streaming, slowest to read first.
    #[serde(skip_deserializing)]
    pub recasts: Vec<Recasting>,
    /// The same in words.
    pub why: Vec<String>,
    /// The best choice in each container, if they were compared.
    #[serde(skip_deserializing)]
    pub containers: Vec<ContainerReport>,
    /// What was tried: a choice is the best of this alone.
    pub tried: Vec<String>,
    /// What was not, with the option that would try it, where there is one.
    pub not_tried: Vec<String>,
    /// Best reading times by size of the file, smallest first.
    pub front: Vec<FrontPoint>,
    /// The gains of looser limits.
    #[serde(skip_deserializing)]
    pub sensitivity: Vec<Loosened>,
    /// The chosen layout as TOML.
    pub layout: Option<String>,
    /// Whether the chosen layout is the file's own: nothing that was tried is better by more than the noise.
    pub unchanged: bool,
    /// Rewrites that were made and measured, in order.
    #[serde(skip_deserializing)]
    pub attempts: Vec<Attempt>,
    /// Whether the output was delivered under its name; `None` without an output.
    pub delivered: Option<bool>,
    /// The result, as a sentence.
    pub verdict: String,
    /// The measurements of the delivered output, if there is one.
    #[serde(skip_deserializing)]
    pub proof: Option<Proof>,
}

impl Report {
    /// Whether `groups` compare with the input as converted with the defaults: the choice is in another container.
    pub fn groups_are_of_a_conversion(&self) -> bool {
        let container = |is: fn(&&Choice) -> bool| self.choices.iter().find(is).map(|choice| &choice.container);
        let own = container(|choice| choice.is_today());
        own.is_some() && container(|choice| choice.chosen).is_some_and(|chosen| Some(chosen) != own)
    }

    /// Takes over the choices of the report before it, with another one as the chosen one.
    pub(super) fn choices_of(&mut self, before: Self, chosen: &Choice) {
        self.choices = before.choices;
        self.containers = before.containers;
        self.not_tried = before.not_tried;
        for choice in self.choices.iter_mut().filter(|choice| choice.chosen) {
            *choice = Choice { names: std::mem::take(&mut choice.names), chosen: true, ..chosen.clone() };
        }
        number(&mut self.choices);
    }
}

/// A rewrite into a chosen layout, measured before the file got its name.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Attempt {
    /// Bytes that were expected.
    pub expected_size: f64,
    /// The written output.
    #[serde(flatten)]
    pub written: Written,
    /// How input and output compare, if the size was within the limit.
    pub reading: Option<Comparison>,
    /// Differences between the contents, if any.
    pub differences: Vec<String>,
    /// Why the rewrite was not delivered; none if it was.
    pub rejected: Option<Rejected>,
}

/// Why a rewrite was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rejected {
    /// The file is larger than the limit.
    TooLarge,
    /// Reading takes longer than today, by more than the noise.
    Slower,
    /// The content differs from the input's.
    Different,
    /// It is neither smaller nor quicker to read, by more than the noise.
    NoGain,
}

/// How the costs were measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measuring {
    /// Seed of the samples.
    pub seed: u64,
    /// CPU seconds that measuring and deciding may take, announced beforehand: three, or a quarter of a rewrite's.
    pub allowed: f64,
    /// CPU seconds that measuring and deciding took.
    pub cpu_seconds: f64,
    /// Trials: how often the file was written and read to correct a choice.
    pub trials: u32,
    /// CPU seconds that reading the metadata took.
    pub metadata: f64,
    /// Bytes before compression that were sampled.
    pub sampled_bytes: f64,
    /// Share of all bytes before compression.
    pub sampled_share: f64,
    /// Columns with baskets.
    pub columns: usize,
    /// Columns of which baskets were sampled.
    pub sampled_columns: usize,
    /// Codecs between which the choice was made.
    pub codecs: Vec<String>,
    /// Codecs that were tried and are worse than another for nearly all bytes.
    pub dropped: Vec<String>,
    /// Costs of reading beside decompression and decoding.
    pub access: Access,
    /// The share by which sizes of the first choice were too small, by a second look at other baskets.
    pub optimism: f64,
}

/// A limit.
#[derive(Clone, Debug, Serialize)]
pub struct LimitReport {
    /// The option.
    pub name: &'static str,
    /// Bytes or seconds.
    pub value: f64,
    /// Whether it was not asked for, but is the default.
    pub is_default: bool,
    /// Whether this limit determines the choice.
    pub binding: bool,
    /// If the limits cannot be met together and this limit is a cause: the nearest value that could be met.
    pub nearest: Option<Nearest>,
}

/// The nearest limit that could be met.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Nearest {
    /// Bytes or seconds; none if loosening this one limit does not help.
    pub value: Option<f64>,
}

/// The cost of a file. Times are CPU seconds of one thread.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    /// Costs.
    #[serde(flatten)]
    pub cost: Cost,
    /// Clusters of all trees.
    pub clusters: f64,
    /// Chosen size of a cluster, in bytes on disk; `None` where clusters stay.
    pub cluster_bytes: Option<u64>,
}

/// A choice that `--choose` takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Choice {
    /// Its number.
    pub number: usize,
    /// Its names; none if it lies between others.
    pub names: Vec<Name>,
    /// `ttree` or `rntuple`.
    pub container: String,
    /// Its expected cost.
    #[serde(flatten)]
    pub figures: Figures,
    /// Seconds to read everything; `None` if the reader cannot.
    pub read_all: Option<f64>,
    /// Seconds to read 1 % of the entries, scattered; `None` if the reader cannot.
    pub read_sparse: Option<f64>,
    /// CPU seconds that a rewrite into it is expected to take.
    pub rewrite: f64,
    /// What it costs over the file's life.
    pub bill: Bill,
    /// Its layout as TOML; `None` if it is the input's.
    pub layout: Option<String>,
    /// Whether it is the choice of this report.
    pub chosen: bool,
}

impl Choice {
    /// Whether it is the input's own layout.
    pub fn is_today(&self) -> bool {
        self.names.contains(&Name::Today)
    }

    /// Its names, or the word for those that have none.
    pub fn title(&self) -> String {
        let names: Vec<String> = self.names.iter().map(ToString::to_string).collect();
        if names.is_empty() { "between".to_owned() } else { names.join(", ") }
    }
}

/// Puts choices into their order, the smallest first, and numbers them.
pub(super) fn number(choices: &mut [Choice]) {
    choices.sort_by(|a, b| a.figures.cost.size.total_cmp(&b.figures.cost.size));
    for (number, choice) in (1..).zip(choices) {
        choice.number = number;
    }
}

/// The place of the choice that is asked for.
///
/// # Errors
///
/// There is none.
pub(super) fn number_of(choices: &[Choice], asked: Choose) -> Result<usize> {
    let is = |choice: &Choice| match asked {
        Choose::Name(name) => choice.names.contains(&name),
        Choose::Number(number) => choice.number == number,
    };
    choices.iter().position(is).ok_or_else(|| {
        let compared = matches!(asked, Choose::Name(Name::BestTree | Name::BestRntuple));
        let (name, container) = (Hint::named("choose"), Hint::named("container"));
        let why = match (asked, compared) {
            (_, true) => format!("{asked} is not among the choices: {container} any looks for it"),
            (Choose::Number(_), _) => format!("there is no choice {asked}; there are {}", choices.len()),
            (Choose::Name(_), _) => format!("no choice is {asked} within the limits"),
        };
        let error = Error::request(why).hint(name);
        if compared { error.hint(container) } else { error }
    })
}

/// Columns that change from one codec to another.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Group {
    /// Codec today.
    pub from: String,
    /// Codec chosen.
    pub to: String,
    /// How many columns.
    pub columns: usize,
    /// Their costs today.
    pub today: Cost,
    /// Their costs in the chosen layout.
    pub chosen: Cost,
}

/// A column of objects that is to be split or streamed otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct Recasting {
    /// Path of its tree.
    pub tree: String,
    /// The branch of the first level.
    pub column: String,
    /// Its present form.
    pub before: Form,
    /// How it is to.
    pub after: Form,
    /// Its costs today.
    pub today: Cost,
    /// Its costs in the chosen layout.
    pub chosen: Cost,
}

/// The best choice in a container.
#[derive(Clone, Debug, Serialize)]
pub struct ContainerReport {
    /// `ttree` or `rntuple`.
    pub container: String,
    /// Its expected cost; `None` if the limits cannot be met.
    pub chosen: Option<Figures>,
    /// Its layout as TOML.
    pub layout: Option<String>,
    /// Why the content cannot be in the container.
    pub refused: Option<String>,
}

/// A point of the Pareto front.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct FrontPoint {
    /// Bytes of the file.
    pub size: f64,
    /// Seconds to read.
    pub read: f64,
    /// Seconds to compress.
    pub write: f64,
}

/// The gain of a looser limit.
#[derive(Clone, Debug, Serialize)]
pub struct Loosened {
    /// The option.
    pub name: &'static str,
    /// Its value then; none for no limit.
    pub value: Option<f64>,
    /// Size of the file then.
    pub size: f64,
    /// Seconds to read then.
    pub read: f64,
}

/// The measurements of the delivered output.
#[derive(Clone, Debug, Serialize)]
pub struct Proof {
    /// The file that was written.
    pub output: String,
    /// Bytes that were expected, and that it has.
    pub size: Compared,
    /// Seconds to read the input, expected and measured.
    pub read_today: Compared,
    /// Seconds to read the output, expected and measured.
    pub read_chosen: Compared,
    /// How many times cheaper to read, expected and measured.
    pub speedup: Compared,
    /// Measured reading time of the output over that of the input, with the interval of 95 % on each side.
    pub reading: Comparison,
    /// Baskets, expected and written.
    pub baskets: Compared,
    /// CPU seconds of the whole rewrite: as expected, and measured.
    pub rewrite: Compared,
    /// Measuring took this share of the CPU time of the rewrite.
    pub measuring_share: f64,
    /// Whether the content was found equal.
    pub equal: bool,
    /// The differences.
    pub differences: Vec<String>,
    /// Whether the size limit holds.
    pub within_size: bool,
}

/// A prediction with its measurement.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Compared {
    /// The expected value.
    pub expected: f64,
    /// The measured value.
    pub measured: f64,
}

impl Compared {
    /// The error of the prediction, as a share of the measured value; positive if it was too high.
    pub fn error(&self) -> f64 {
        if self.measured == 0.0 { 0.0 } else { self.expected / self.measured - 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_stay_in_their_order_when_one_changes() {
        let choice = |size: f64| {
            let figures = Figures { cost: Cost { size, ..Cost::default() }, ..Figures::default() };
            let bill = crate::price::PriceBook::default().bill(&crate::price::Usage::default());
            let (names, container, layout) = (Vec::new(), "ttree".to_owned(), None);
            let (read_all, read_sparse, rewrite, chosen) = (None, None, 0.0, false);
            Choice { number: 0, names, container, figures, read_all, read_sparse, rewrite, bill, layout, chosen }
        };
        let mut choices = [3.0, 1.0, 2.0].map(choice);
        number(&mut choices);
        assert_eq!(
            choices.each_ref().map(|choice| (choice.number, choice.figures.cost.size)),
            [(1, 1.0), (2, 2.0), (3, 3.0)]
        );
    }
}
