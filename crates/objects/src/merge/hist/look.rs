//! A histogram or profile to look at: axes, the contents of its bins, and its moments. Nothing is merged here.

use rootfile::object::ObjectReader;
use rootfile::{Error, Key, Result, RootFile};
use serde::Serialize;

use super::histogram::{Hist, ProfileCells};
use super::shape::Shape;
use crate::merge::members::{int, title_of};

/// A histogram or profile of ROOT's own classes.
#[derive(Clone, Debug, Serialize)]
pub struct Histogram {
    /// Title.
    pub title: String,
    /// Axes, one for each dimension.
    pub axes: Vec<HistogramAxis>,
    /// Whether bins hold means of values: a profile.
    pub profile: bool,
    /// The content of each cell as `TH1::GetBinContent` gives it; the first axis runs fastest, each axis with its underflow and overflow.
    pub contents: Vec<f64>,
    /// The error of each cell, as `GetBinError` of `TH1` or of the profile gives it.
    pub errors: Vec<f64>,
    /// Number of entries.
    pub entries: f64,
    /// Mean of each axis, by the sums that were kept while it was filled.
    pub means: Vec<f64>,
    /// Standard deviation of each axis.
    pub deviations: Vec<f64>,
    /// Entries that wait in the buffer of a histogram whose limits are not chosen yet; they are in no bin.
    pub waiting: u64,
}

/// An axis.
#[derive(Clone, Debug, Serialize)]
pub struct HistogramAxis {
    /// Title.
    pub title: String,
    /// Edges of the bins, one more than there are bins.
    pub edges: Vec<f64>,
    /// Labels of the bins; empty if there are none.
    pub labels: Vec<String>,
}

/// Whether objects of a class can be looked at as histograms.
pub fn is_histogram(class: &str) -> bool {
    Shape::of(class).is_some()
}

impl Histogram {
    /// Reads the histogram of a key.
    ///
    /// # Errors
    ///
    /// If the record is damaged, or its class is no histogram of ROOT's own.
    pub fn read(file: &RootFile, key: &Key) -> Result<Self> {
        let wrong = |why: String| Error::corrupt(why).object(key.name.clone()).file(file.name());
        let payload = file.payload(key)?;
        let (object, graph) =
            ObjectReader::new(&payload, usize::from(key.keylen), file.infos()).read_root(&key.class)?;
        let hist = Hist::decode(&object, &graph).map_err(wrong)?;
        let members = object.members();
        let axes = hist.axes.iter().zip(["fXaxis", "fYaxis", "fZaxis"]).map(|(axis, name)| {
            let title = members.and_then(|m| m.get(name)).and_then(title_of).unwrap_or_default();
            let labels =
                axis.labels.as_ref().map(|all| (1..=axis.bins).map(|bin| all.of_bin(bin).to_owned()).collect());
            HistogramAxis {
                title,
                edges: edges(axis.bins, [axis.min, axis.max], &axis.edges),
                labels: labels.unwrap_or_default(),
            }
        });
        let cells = 0..hist.cells.len();
        let entries_of = |cell: usize| hist.profile.as_ref().and_then(|p| p.entries.get(cell).copied());
        let content = |cell: usize| match entries_of(cell) {
            Some(0.0) => 0.0,
            Some(entries) => hist.cells.get(cell) / entries,
            None => hist.cells.get(cell),
        };
        let spread = members.map(|m| Spread::of(int(m, "fErrorMode"))).unwrap_or_default();
        let error = |cell: usize| match &hist.profile {
            Some(profile) => profile_error(&hist, profile, cell, spread),
            None => hist.sumw2.get(cell).copied().unwrap_or_else(|| hist.cells.get(cell).abs()).sqrt(),
        };
        let sum = |place: usize| hist.sums.get(place).copied().unwrap_or(0.0);
        // Sums of weights, of their squares, and of the coordinates and their squares: x, x², y, y², xy, z, z².
        let moments: Vec<(f64, f64)> = [(2, 3), (4, 5), (7, 8)]
            .into_iter()
            .take(hist.shape.dimensions)
            .map(|(first, second)| {
                let mean = sum(first) / sum(0);
                (mean, (sum(second) / sum(0) - mean * mean).abs().sqrt())
            })
            .filter(|(mean, _)| mean.is_finite())
            .collect();
        Ok(Self {
            title: members.and_then(|m| m.named()).map(|named| named.title.clone()).unwrap_or_default(),
            axes: axes.collect(),
            profile: hist.shape.profile,
            contents: cells.clone().map(content).collect(),
            errors: cells.map(error).collect(),
            entries: hist.entries,
            means: moments.iter().map(|(mean, _)| *mean).collect(),
            deviations: moments.iter().map(|(_, deviation)| *deviation).collect(),
            waiting: hist.buffer.waiting(hist.shape),
        })
    }
}

/// What the error of a profile's cell says: `EErrorType` of `TProfile`, the option of `SetErrorOption`.
#[derive(Clone, Copy, Default)]
enum Spread {
    /// The error of the mean.
    #[default]
    Mean,
    /// "s": the standard deviation of the values.
    Values,
    /// "i": the error of the mean of whole numbers, each of which is known to 1/√12.
    WholeNumbers,
    /// "g": the error of the mean of values that are weighted by the inverse of their squared errors.
    Measurements,
}

impl Spread {
    fn of(mode: i64) -> Self {
        match mode {
            1 => Self::Values,
            2 => Self::WholeNumbers,
            3 => Self::Measurements,
            _ => Self::Mean,
        }
    }
}

/// The error of a profile's cell, as `TProfile::GetBinError` has it.
fn profile_error(hist: &Hist, profile: &ProfileCells, cell: usize, spread: Spread) -> f64 {
    let at = |values: &[f64]| values.get(cell).copied();
    let entries = at(&profile.entries).unwrap_or(0.0);
    if entries == 0.0 {
        return 0.0;
    }
    // How many entries without weights would say as much.
    let effective = match at(&profile.sumw2) {
        Some(squares) if squares > 0.0 => entries * entries / squares,
        Some(_) => 0.0,
        None => entries,
    };
    let mean = hist.cells.get(cell) / entries;
    let deviation = (at(&hist.sumw2).unwrap_or(0.0) / entries - mean * mean).abs().sqrt();
    match spread {
        Spread::Mean => deviation / effective.sqrt(),
        Spread::Values => deviation,
        Spread::WholeNumbers if deviation == 0.0 => 1.0 / (12.0 * effective).sqrt(),
        Spread::WholeNumbers => deviation / effective.sqrt(),
        Spread::Measurements => 1.0 / entries.sqrt(),
    }
}

/// The edges of bins.
#[expect(clippy::cast_precision_loss, reason = "bins are counted in ints")]
fn edges(bins: usize, [min, max]: [f64; 2], given: &[f64]) -> Vec<f64> {
    if given.len() == bins.saturating_add(1) {
        return given.to_vec();
    }
    let width = (max - min) / bins.max(1) as f64;
    (0..=bins).map(|bin| min + bin as f64 * width).collect()
}
