//! The work on one column: facts in a first pass, errors and a sample in a second, then sizes and the proposal.

use dataset::layout::ColumnEncoding;
use flow::read::CountedColumn;
use rootfile::Result;
use rootfile::codec::Algorithm;

use super::candidates::{Candidate, candidates};
use super::columns::FloatColumn;
use super::errors::Losses;
use super::facts::{Facts, Repeated};
use super::limits::Limit;
use super::report::{ChoiceReport, ColumnReport};
use super::sample::{RUNS, Sample};
use crate::math::as_f64;

/// Share of a column's bytes below which a saving is none: samples are no better.
const LEAST_SAVING: f64 = 0.02;

/// Bytes of all samples together: codecs that are slow get less.
const SAMPLES: u64 = 32 << 20;
const SAMPLES_OF_SLOW: u64 = 4 << 20;
/// The least bytes of a column's sample in the file, and in memory.
const LEAST_BYTES: u64 = 4096;
const LEAST_SAMPLE: u64 = 2 * LEAST_BYTES;

/// A column that is looked at.
pub(super) struct ColumnWork {
    pub column: FloatColumn,
    limit: Limit,
    facts: Facts,
    kept: Vec<Repeated>,
    candidates: Vec<Candidate>,
    losses: Losses,
    sample: Sample,
    /// Expected bytes in each candidate.
    bytes: Vec<f64>,
}

impl ColumnWork {
    pub fn new(limit: Limit, column: FloatColumn) -> Self {
        Self {
            column,
            limit,
            facts: Facts::default(),
            kept: Vec::new(),
            candidates: Vec::new(),
            losses: Losses::new(Vec::new(), &[]),
            sample: Sample::new(0, 1, 1),
            bytes: Vec::new(),
        }
    }

    /// Bytes on disk.
    pub fn bytes(&self) -> f64 {
        self.column.bytes
    }

    /// Numbers in the first pass.
    pub fn survey(&mut self, values: &[f64]) {
        self.facts.add(values);
    }

    /// Bytes of a number in the file.
    fn each(&self) -> u64 {
        if self.column.subject.double { 8 } else { 4 }
    }

    /// Numbers that its sample should have, after the first pass. All columns together have `all` bytes.
    pub fn wanted(&self, all: f64) -> u64 {
        let slow = self.column.stored.compression.algorithm() == Some(Algorithm::Lzma);
        let most = if slow { SAMPLES_OF_SLOW } else { SAMPLES };
        let numbers = share(self.column.bytes, all, most) / self.each();
        numbers.min(self.facts.values).min(RUNS.saturating_mul(self.piece()))
    }

    /// Numbers of a basket or page.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes of a basket")]
    fn piece(&self) -> u64 {
        (self.column.piece.max(0.0) as u64 / self.each()).max(1)
    }

    /// Decides what is tried, between the passes. Its sample has at most so many numbers, or very few.
    pub fn prepare(&mut self, numbers: u64) {
        self.kept = self.facts.kept();
        if self.column.reduced.is_none() && self.column.stays.is_none() && !self.facts.are_few() {
            self.candidates = candidates(self.column.subject, &self.facts, &self.kept, &self.limit);
        }
        self.sample = Sample::new(self.facts.values, self.piece(), numbers.max(LEAST_BYTES / self.each()));
        self.losses = Losses::new(self.candidates.iter().map(|one| one.reduction).collect(), &self.kept);
    }

    /// Numbers in the second pass.
    pub fn measure(&mut self, values: &[f64]) {
        self.losses.add(values);
        self.sample.see(values);
    }

    /// Bytes of memory that measuring the sizes takes.
    pub fn weighing(&self) -> u64 {
        if self.candidates.is_empty() { 0 } else { self.sample.weighing() }
    }

    /// Measures the sizes, and drops the sample.
    ///
    /// # Errors
    ///
    /// The codec fails.
    pub fn weigh(&mut self) -> Result<()> {
        if self.candidates.is_empty() {
            return Ok(());
        }
        let today = self.sample.bytes(&self.column.stored, None)?;
        for Candidate { encoding, reduction } in &self.candidates {
            let bytes = self.sample.bytes(&self.column.stored, Some((*encoding, reduction)))?;
            // What is not numbers stays: offsets, keys.
            let saved = (today - bytes) * as_f64(self.facts.values);
            self.bytes.push((self.column.bytes - saved).max(0.0));
        }
        self.sample = Sample::new(0, 1, 1);
        Ok(())
    }

    /// The report of the column, and what is proposed.
    pub fn finish(self) -> (ColumnReport, Option<ColumnEncoding>) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let whole = |bytes: f64| bytes.max(0.0).round() as u64;
        let moments = &self.losses.moments;
        let tried = self.candidates.iter().zip(&self.losses.each).zip(&self.bytes);
        let mut choices: Vec<(ChoiceReport, ColumnEncoding)> = Vec::new();
        for ((candidate, loss), bytes) in tried {
            let relative = Some(loss.relative).filter(|share| share.is_finite());
            let choice = ChoiceReport {
                encoding: candidate.encoding.to_string(),
                bytes: whole(*bytes),
                largest_absolute: loss.absolute,
                largest_relative: relative,
                mean_shift: loss.mean_shift(moments),
                width_change: loss.width_change(moments),
                holds: loss.holds(),
                allowed: loss.holds() && self.limit.allows(loss.absolute, relative),
            };
            choices.push((choice, candidate.encoding));
        }
        // Of equal sizes that with the smaller error comes first.
        choices.sort_by(|(a, _), (b, _)| a.bytes.cmp(&b.bytes).then(a.largest_absolute.total_cmp(&b.largest_absolute)));
        let most = whole(self.column.bytes * (1.0 - LEAST_SAVING));
        let proposed = choices.iter().find(|(choice, _)| choice.allowed && choice.bytes <= most);
        let (expected, encoding) =
            proposed.map_or((whole(self.column.bytes), None), |(choice, encoding)| (choice.bytes, Some(*encoding)));
        let range = self.facts.range(&self.kept);
        let reason = encoding.is_none().then(|| self.reason(&choices));
        let report = ColumnReport {
            name: self.column.name,
            typename: self.column.typename,
            stored: whole(self.column.bytes),
            values: self.facts.values,
            least: range.map(|(least, _)| least),
            most: range.map(|(_, most)| most),
            mean: moments.mean(),
            width: moments.width(),
            kept: self.kept,
            nans: self.facts.nans,
            infinite: self.facts.infinite,
            mantissa: self.facts.mantissa(),
            reduced: self.column.reduced,
            limit: self.limit,
            proposed: encoding.map(|encoding| encoding.to_string()),
            choices: choices.into_iter().map(|(choice, _)| choice).collect(),
            expected,
            reason,
        };
        (report, encoding)
    }

    /// Why nothing is proposed.
    fn reason(&self, choices: &[(ChoiceReport, ColumnEncoding)]) -> String {
        if let Some(how) = &self.column.reduced {
            return format!("it is reduced already: {how}");
        }
        if let Some(why) = self.column.stays {
            return why.to_owned();
        }
        let text = match choices {
            _ if self.facts.values == 0 => "it has no values",
            _ if self.facts.are_few() => "it has few values, which compress well",
            [] => "no encoding fits",
            choices if !choices.iter().any(|(choice, _)| choice.holds) => "no encoding keeps all of its values",
            choices if !choices.iter().any(|(choice, _)| choice.allowed) => "no encoding keeps the limit",
            _ => "what keeps the limit saves nothing",
        };
        text.to_owned()
    }
}

/// A column as it is read, and its memory counted.
pub(super) fn counted(column: &FloatColumn) -> CountedColumn {
    CountedColumn { column: column.number, growth: column.growth, beside: LEAST_SAMPLE }
}

/// The bytes of a share of all, at least some.
fn share(part: f64, all: f64, of: u64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
    let bytes = (as_f64(of) * part / all.max(1.0)) as u64;
    bytes.max(LEAST_BYTES)
}
