//! Which encodings are tried for a column: some that everybody asks about, and those that the limits, the kept values and the range
//! call for. What they cost is not known here.

use dataset::layout::{ColumnEncoding, Container};
use dataset::precision::{HEAD32, MANTISSA32, MANTISSA64, Reduction};

use super::facts::{Facts, Repeated};
use super::limits::Limit;

/// Bits of mantissa that every table shows.
const SHOWN: [u32; 7] = [4, 6, 8, 10, 12, 16, 20];
/// Bits of a quantised range that every table shows.
const SHOWN_BITS: [u16; 3] = [8, 12, 16];

/// A column, as far as its encodings depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    pub container: Container,
    pub double: bool,
    /// Whether a leaf of another type may store the numbers: those of plain branches of a tree.
    pub may_change_type: bool,
}

/// An encoding with what it does to numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub encoding: ColumnEncoding,
    pub reduction: Reduction,
}

/// The encodings to try.
pub(super) fn candidates(of: Subject, facts: &Facts, kept: &[Repeated], limit: &Limit) -> Vec<Candidate> {
    let range = facts.range(kept);
    let used = facts.mantissa();
    let most = range.map_or(0.0, |(least, most)| least.abs().max(most.abs()));
    let own = if of.double { MANTISSA64 } else { MANTISSA32 };
    let mut mantissas = SHOWN.to_vec();
    let kept_bits = kept.iter().map(|one| mantissa_of(one.value)).max().unwrap_or(0);
    let needed = [limit.relative.map(bits_of_share), limit.absolute.map(|limit| bits_of_error(most, limit))];
    if let Some(needed) = needed.into_iter().flatten().max() {
        mantissas.extend([needed.saturating_sub(1), needed, needed.max(kept_bits)]);
    }
    mantissas.push(kept_bits);
    mantissas.sort_unstable();
    mantissas.dedup();
    // More bits than are used change nothing.
    mantissas.retain(|bits| (1..own.min(used)).contains(bits));
    let mut encodings: Vec<ColumnEncoding> = Vec::new();
    for bits in mantissas {
        let short = u16::try_from(bits).unwrap_or(u16::MAX);
        encodings.push(ColumnEncoding::Mantissa(short));
        if of.container == Container::Rntuple && bits < MANTISSA32 {
            encodings.push(ColumnEncoding::Truncated(short.saturating_add(u16::try_from(HEAD32).unwrap_or(9))));
        }
    }
    if of.may_change_type {
        if used > 10 {
            encodings.push(ColumnEncoding::Half);
        }
        if of.double {
            encodings.push(ColumnEncoding::Single);
        }
        encodings.extend(quantized(of, facts, kept, limit));
    }
    let candidate =
        |encoding| Some(Candidate { encoding, reduction: Reduction::new(encoding, of.container, of.double)? });
    encodings.into_iter().filter_map(candidate).collect()
}

/// Quantised ranges that hold all values, those to be kept as well; none holds infinity, or what is no number.
fn quantized(of: Subject, facts: &Facts, kept: &[Repeated], limit: &Limit) -> Vec<ColumnEncoding> {
    if facts.nans + facts.infinite > 0 || facts.are_few() {
        return Vec::new();
    }
    let Some((least, most)) = facts.range(kept) else { return Vec::new() };
    let nearest = if least > 0.0 {
        least
    } else if most < 0.0 {
        -most
    } else {
        0.0
    };
    let values = || kept.iter().map(|one| one.value);
    let (least, most) = (values().fold(least, f64::min), values().fold(most, f64::max));
    let width = most - least;
    if !(width.is_finite() && width > 0.0) {
        return Vec::new();
    }
    let errors = [limit.absolute, limit.relative.map(|share| share * nearest)];
    let error = errors.into_iter().flatten().filter(|error| *error > 0.0).fold(f64::INFINITY, f64::min);
    let mut bits = SHOWN_BITS.to_vec();
    if error.is_finite() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
        let needed = (width / (2.0 * error) + 1.0).log2().ceil().clamp(2.0, 32.0) as u16;
        bits.extend([needed, needed.saturating_add(1).min(32)]);
    }
    bits.sort_unstable();
    bits.dedup();
    // A float holds no more steps than it has digits.
    let most_bits = if of.double { 32 } else { 24 };
    bits.into_iter().filter(|n| *n <= most_bits).map(|bits| ColumnEncoding::Quantized { bits, least, most }).collect()
}

/// Bits of mantissa that a number needs.
fn mantissa_of(value: f64) -> u32 {
    let mantissa = value.to_bits() & ((1 << MANTISSA64) - 1);
    if mantissa == 0 { 0 } else { MANTISSA64 - mantissa.trailing_zeros() }
}

/// Bits of mantissa that keep a relative error.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
fn bits_of_share(share: f64) -> u32 {
    (-share.max(f64::MIN_POSITIVE).log2() - 1.0).ceil().clamp(1.0, f64::from(MANTISSA64)) as u32
}

/// Bits of mantissa that keep an absolute error for numbers up to `most`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
fn bits_of_error(most: f64, error: f64) -> u32 {
    let exponent = if most > 0.0 { most.log2().floor() } else { 0.0 };
    (exponent - 1.0 - error.max(f64::MIN_POSITIVE).log2()).ceil().clamp(1.0, f64::from(MANTISSA64)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_limits_and_kept_values_need_is_tried() {
        let mut facts = Facts::default();
        facts.add(&(0..999).map(|i| f64::from(0.1_f32 * i as f32)).collect::<Vec<_>>());
        let kept = [Repeated { value: -999.0, count: 2 }];
        let subject = Subject { container: Container::Rntuple, double: false, may_change_type: true };
        let texts = |kept: &[Repeated], limit: &Limit, subject: Subject| -> Vec<String> {
            candidates(subject, &facts, kept, limit).iter().map(|one| one.encoding.to_string()).collect()
        };
        let relative = Limit { relative: Some(1e-2), absolute: None };
        let found = texts(&kept, &relative, subject);
        for text in ["mantissa:6", "mantissa:9", "truncated:18", "half", "quantized:16:-999:99.80000305175781"] {
            assert!(found.iter().any(|one| one == text), "{text}: {found:?}");
        }
        let absolute = Limit { relative: None, absolute: Some(0.05) };
        let found = texts(&[], &absolute, subject);
        assert!(found.contains(&"quantized:10:0:99.80000305175781".to_owned()), "{found:?}");
        let branch = Subject { container: Container::Ttree, double: false, may_change_type: false };
        assert!(texts(&[], &absolute, branch).iter().all(|text| text.starts_with("mantissa")));
    }
}
