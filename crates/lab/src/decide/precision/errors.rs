//! What an encoding does to the numbers of a column: the largest errors, and the change of mean and width. Every number is counted.

use dataset::precision::Reduction;

use super::facts::Repeated;

/// Numbers that are reduced at a time. They stay in a core's cache.
const BLOCK: usize = 2048;

/// Sums over the ordinary numbers of a column: those that are finite and stand for themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    n: f64,
    /// What is taken off of each, so that little is lost in sums.
    offset: Option<f64>,
    sum: f64,
    squares: f64,
}

impl Moments {
    /// The mean.
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0.0).then(|| self.offset.unwrap_or(0.0) + self.sum / self.n)
    }

    /// The standard deviation.
    pub fn width(&self) -> Option<f64> {
        let mean = self.sum / self.n;
        (self.n > 0.0).then(|| (self.squares / self.n - mean * mean).max(0.0).sqrt())
    }
}

/// What one encoding does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Loss {
    /// The largest change of a number.
    pub absolute: f64,
    /// The largest change as a share of the number; infinite where a zero changes.
    pub relative: f64,
    /// Numbers that it cannot hold.
    pub lost: u64,
    /// Whether a value that is to be kept changes.
    pub changes_kept: bool,
    errors: f64,
    squares: f64,
    /// Sum of the products of numbers, less their offset, and errors.
    products: f64,
}

impl Loss {
    /// Whether every number is there, and each value to be kept is kept.
    pub fn holds(&self) -> bool {
        self.lost == 0 && !self.changes_kept
    }

    /// The change of the mean, in widths.
    pub fn mean_shift(&self, of: &Moments) -> Option<f64> {
        let (width, shift) = (of.width()?, self.errors / of.n);
        Some(if shift == 0.0 { 0.0 } else { shift / width }).filter(|shift| shift.is_finite())
    }

    /// The change of the width, as a share of it.
    pub fn width_change(&self, of: &Moments) -> Option<f64> {
        let (before, n) = (of.width()?, of.n);
        let (mean, error) = (of.sum / n, self.errors / n);
        let change = 2.0 * (self.products / n - mean * error) + self.squares / n - error * error;
        let after = (before * before + change).max(0.0).sqrt();
        Some(if after == before { 0.0 } else { after / before - 1.0 }).filter(|change| change.is_finite())
    }
}

/// The losses of all encodings that are tried for a column.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    reductions: Vec<Reduction>,
    kept: Vec<f64>,
    pub moments: Moments,
    pub each: Vec<Loss>,
}

impl Losses {
    pub fn new(reductions: Vec<Reduction>, kept: &[Repeated]) -> Self {
        let each = vec![Loss::default(); reductions.len()];
        Self { reductions, kept: kept.iter().map(|one| one.value).collect(), moments: Moments::default(), each }
    }

    /// Adds numbers.
    pub fn add(&mut self, values: &[f64]) {
        let mut read = Vec::with_capacity(BLOCK);
        for block in values.chunks(BLOCK) {
            let is_ordinary = |value: f64| value.is_finite() && !self.kept.contains(&value);
            let offset = block.iter().copied().find(|value| is_ordinary(*value));
            let Self { moments, .. } = self;
            moments.offset = moments.offset.or(offset);
            let offset = moments.offset.unwrap_or(0.0);
            for value in block.iter().copied().filter(|value| value.is_finite() && !self.kept.contains(value)) {
                let value = value - offset;
                moments.n += 1.0;
                moments.sum += value;
                moments.squares += value * value;
            }
            for (reduction, loss) in self.reductions.iter().zip(&mut self.each) {
                reduction.read_back(block, &mut read);
                add(loss, block.iter().zip(&read), &self.kept, offset);
            }
        }
    }
}

fn add<'a>(loss: &mut Loss, pairs: impl Iterator<Item = (&'a f64, &'a Option<f64>)>, kept: &[f64], offset: f64) {
    for (&value, read) in pairs {
        let Some(read) = *read else {
            loss.lost += 1;
            continue;
        };
        if !value.is_finite() {
            // Infinity keeps its sign, and what is no number stays none.
            loss.changes_kept |= if value.is_nan() { !read.is_nan() } else { read != value };
            continue;
        }
        let error = read - value;
        if error == 0.0 {
            continue;
        }
        loss.absolute = loss.absolute.max(error.abs());
        loss.relative = loss.relative.max(error.abs() / value.abs());
        if kept.contains(&value) {
            loss.changes_kept = true;
            continue;
        }
        loss.errors += error;
        loss.squares += error * error;
        loss.products += (value - offset) * error;
    }
}

#[cfg(test)]
mod tests {
    use dataset::layout::Container;

    use super::*;

    #[test]
    fn losses_are_those_of_the_numbers_that_are_read() {
        let encodings = ["mantissa:4", "half", "quantized:8:0:255", "mantissa:9"];
        let reduction = |text: &&str| Reduction::new(text.parse().unwrap(), Container::Rntuple, false).unwrap();
        let values: Vec<f64> = (0..5000).map(|i| f64::from(0.37_f32 * i as f32 % 200.0)).collect();
        let mut with: Vec<f64> = values.clone();
        with.extend([-999.0, -999.0]);
        let mut losses =
            Losses::new(encodings.iter().map(reduction).collect(), &[Repeated { value: -999.0, count: 2 }]);
        losses.add(&with);
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let width = |of: &[f64]| (of.iter().map(|x| (x - mean(of)).powi(2)).sum::<f64>() / of.len() as f64).sqrt();
        assert!((losses.moments.mean().unwrap() - mean(&values)).abs() < 1e-9);
        assert!((losses.moments.width().unwrap() - width(&values)).abs() < 1e-9);
        let [mantissa, half, quantized, fine] = losses.each[..] else { panic!("four") };
        let rounded: Vec<f64> = values.iter().map(|x| f64::from(dataset::precision::rounded32(*x as f32, 4))).collect();
        let worst = values.iter().zip(&rounded).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // -999 becomes -992: it is kept by none but those that hold it.
        assert!(mantissa.changes_kept && mantissa.absolute == worst.max(7.0) && mantissa.relative <= 2.0_f64.powi(-5));
        assert!(half.holds() && half.relative <= 2.0_f64.powi(-11) * 1.001);
        assert_eq!(quantized.lost, 2);
        assert!(quantized.relative > 0.01 && quantized.absolute <= 0.5);
        assert!(fine.holds());
        let shift = (mean(&rounded) - mean(&values)) / width(&values);
        assert!((mantissa.mean_shift(&losses.moments).unwrap() - shift).abs() < 1e-9);
        let change = width(&rounded) / width(&values) - 1.0;
        assert!((mantissa.width_change(&losses.moments).unwrap() - change).abs() < 1e-9);
    }

    #[test]
    fn a_zero_that_changes_has_no_relative_error() {
        let reduction = Reduction::new("quantized:3:-1:2".parse().unwrap(), Container::Rntuple, true).unwrap();
        let mut losses = Losses::new(vec![reduction], &[]);
        losses.add(&[0.0, 1.0]);
        assert!(losses.each[0].relative.is_infinite());
    }
}
