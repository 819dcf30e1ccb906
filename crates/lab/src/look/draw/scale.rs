//! Numbers as people read them, and the marks of an axis: where they stand along so many pixels, and what is written at them.

/// A number of at most six digits.
pub fn short(value: f64) -> String {
    let size = value.abs();
    match value == 0.0 || (1e-4..1e7).contains(&size) || !value.is_finite() {
        true => {
            let digits = if size >= 1e5 { 1 } else { 5 - size.max(1.0).log10().floor().clamp(0.0, 5.0) as usize };
            trimmed(format!("{value:.digits$}"))
        }
        false => format!("{value:.4e}"),
    }
}

/// Without zeros behind the point.
fn trimmed(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A mark of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    /// Its place in pixels.
    pub at: f64,
    /// What is written at it.
    pub label: String,
}

/// An axis: numbers from the first to the last pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    numbers: [f64; 2],
    pixels: [f64; 2],
    is_log: bool,
}

impl Scale {
    /// A logarithmic one needs positive numbers.
    pub fn new(numbers: [f64; 2], pixels: [f64; 2], is_log: bool) -> Self {
        let [low, high] = numbers;
        let is_log = is_log && low > 0.0 && high > low;
        let is_range = high > low && (high - low).is_finite();
        Self { numbers: if is_range { numbers } else { [low - 0.5, low + 0.5] }, pixels, is_log }
    }

    /// The share of the way to the last pixel.
    pub fn share(self, number: f64) -> f64 {
        let [low, high] = self.numbers;
        let share = match self.is_log {
            true => (number.max(f64::MIN_POSITIVE) / low).ln() / (high / low).ln(),
            false => (number - low) / (high - low),
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// The pixel of a number; outside of the axis that of its end.
    pub fn pixel(self, number: f64) -> f64 {
        let [from, to] = self.pixels;
        from + self.share(number) * (to - from)
    }

    /// At most so many marks, or a few more.
    pub fn marks(self, most: usize) -> Vec<Mark> {
        let most = most.max(2);
        let numbers = if self.is_log { self.powers(most) } else { self.steps(most) };
        numbers.into_iter().map(|(number, label)| Mark { at: self.pixel(number), label }).collect()
    }

    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a few marks")]
    fn steps(self, most: usize) -> Vec<(f64, String)> {
        let [low, high] = self.numbers;
        let rough = (high - low) / most as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= rough * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let first = (low / step - 1e-9).ceil();
        let size = low.abs().max(high.abs());
        let exponent = size.log10().floor();
        let last_digit = step.log10().floor();
        (0..=2 * most)
            .map(|number| (first + number as f64) * step)
            .take_while(|number| *number <= high + step * 1e-9)
            .map(|number| {
                // Rounding of a product must not show, nor a zero with a sign.
                let number = if number.abs() < step * 1e-9 { 0.0 } else { number };
                let label = match (-4.0..6.0).contains(&exponent) || number == 0.0 {
                    true => format!("{number:.*}", (-last_digit).clamp(0.0, 12.0) as usize),
                    false => {
                        let digits = (number.abs().log10().floor() - last_digit).clamp(0.0, 12.0) as usize;
                        format!("{number:.digits$e}")
                    }
                };
                (number, label)
            })
            .collect()
    }

    #[expect(clippy::cast_possible_truncation, reason = "powers of doubles")]
    fn powers(self, most: usize) -> Vec<(f64, String)> {
        let [low, high] = self.numbers;
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let decades = usize::try_from(last - first).unwrap_or(1);
        let each = decades.div_ceil(most).max(1);
        let within: &[f64] = if decades * 3 <= most { &[1.0, 2.0, 5.0] } else { &[1.0] };
        (first..=last)
            .step_by(each)
            .flat_map(|power| within.iter().map(move |factor| (factor * 10f64.powi(power), power)))
            .filter(|(number, _)| (low..=high).contains(number))
            .map(|(number, power)| {
                let label = if (-3..6).contains(&power) { short(number) } else { format!("{number:e}") };
                (number, label)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.25, "0.25"),
            (-3.5, "-3.5"),
            (123_456.7, "123456.7"),
            (1e12, "1.0000e12"),
            (100.0, "100"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn marks_are_round_numbers() {
        let labels = |numbers: [f64; 2], most: usize, is_log: bool| -> Vec<String> {
            let marks = Scale::new(numbers, [0.0, 100.0], is_log).marks(most);
            assert!(marks.iter().all(|mark| (0.0..=100.0).contains(&mark.at)), "{marks:?}");
            marks.into_iter().map(|mark| mark.label).collect()
        };
        assert_eq!(labels([0.0, 1.0], 5, false), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels([-3.2, 3.2], 4, false), ["-2", "0", "2"]);
        assert_eq!(labels([0.0, 4e6], 4, false), ["0", "1e6", "2e6", "3e6", "4e6"]);
        assert_eq!(labels([0.5, 2e3], 5, true), ["1", "10", "100", "1000"]);
        assert_eq!(labels([7.0, 7.0], 4, false), ["6.5", "7.0", "7.5"]);
        assert!(labels([1e-300, 1e300], 5, true).len() <= 6);
        assert_eq!(Scale::new([0.0, 10.0], [100.0, 0.0], false).pixel(2.5), 75.0);
    }
}
