//! A cost with one part for each basket and one for each byte.

/// The cost of a basket: a fixed part, and a part for each of its bytes before compression.
///
/// Compressed sizes follow the same form: a codec spends some bytes on tables and on learning, and then a constant
/// number on each byte. Two basket sizes determine both parts, and so the cost of any size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Line {
    /// For each basket.
    pub fixed: f64,
    /// For each byte.
    pub per_byte: f64,
}

/// A measurement of some baskets of about one size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Point {
    /// Baskets.
    pub blocks: f64,
    /// Their bytes before compression.
    pub raw: f64,
    /// Their cost.
    pub cost: f64,
}

impl Point {
    pub fn add(&mut self, raw: f64, cost: f64) {
        self.blocks += 1.0;
        self.raw += raw;
        self.cost += cost;
    }

    pub fn merge(&mut self, other: &Self) {
        self.blocks += other.blocks;
        self.raw += other.raw;
        self.cost += other.cost;
    }
}

impl Line {
    /// The line nearest to the points, with no negative part. With baskets of one size only, `shape` (a line of other
    /// columns) gives the proportion of the two parts.
    pub fn fit(points: &[Point], shape: Option<Self>) -> Option<Self> {
        let known: Vec<(f64, f64, f64)> = points
            .iter()
            .filter(|p| p.blocks > 0.0 && p.raw > 0.0)
            .map(|p| (p.blocks / p.raw, p.cost / p.raw, p.raw))
            .collect();
        let weight: f64 = known.iter().map(|k| k.2).sum();
        if weight <= 0.0 {
            return None;
        }
        // Least squares of cost per byte over baskets per byte: slope is the fixed part.
        let x = known.iter().map(|k| k.0 * k.2).sum::<f64>() / weight;
        let y = known.iter().map(|k| k.1 * k.2).sum::<f64>() / weight;
        let spread = known.iter().map(|k| (k.0 - x).powi(2) * k.2).sum::<f64>() / weight;
        let fixed = if spread > 0.01 * x * x {
            known.iter().map(|k| (k.0 - x) * (k.1 - y) * k.2).sum::<f64>() / weight / spread
        } else {
            let share = shape.map_or(0.0, |s| s.fixed * x / (s.fixed * x + s.per_byte).max(f64::MIN_POSITIVE));
            share * y / x
        };
        let fixed = fixed.clamp(0.0, y / x);
        Some(Self { fixed, per_byte: (y - fixed * x).max(0.0) })
    }

    /// The cost of `blocks` baskets of `raw` bytes together.
    pub fn of(&self, blocks: f64, raw: f64) -> f64 {
        self.fixed * blocks + self.per_byte * raw
    }

    pub fn scaled(&self, factor: f64) -> Self {
        Self { fixed: self.fixed * factor, per_byte: self.per_byte * factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(blocks: f64, raw: f64, line: Line) -> Point {
        Point { blocks, raw, cost: line.of(blocks, raw) }
    }

    #[test]
    fn two_sizes_give_the_line() {
        let line = Line { fixed: 100.0, per_byte: 0.5 };
        let fitted = Line::fit(&[point(16.0, 64_000.0, line), point(1.0, 64_000.0, line)], None).unwrap();
        assert!((fitted.fixed - 100.0).abs() < 1e-6 && (fitted.per_byte - 0.5).abs() < 1e-9, "{fitted:?}");
    }

    #[test]
    fn one_size_takes_its_shape_from_others() {
        let line = Line { fixed: 100.0, per_byte: 0.5 };
        let fitted = Line::fit(&[point(2.0, 8000.0, line.scaled(3.0))], Some(line)).unwrap();
        assert!((fitted.fixed - 300.0).abs() < 1e-6 && (fitted.per_byte - 1.5).abs() < 1e-9, "{fitted:?}");
        assert_eq!(Line::fit(&[], Some(line)), None);
    }

    #[test]
    fn no_part_is_negative() {
        // Larger baskets that cost more for each byte: all is for the bytes.
        let points = [Point { blocks: 10.0, raw: 1000.0, cost: 1.0 }, Point { blocks: 1.0, raw: 1000.0, cost: 2.0 }];
        let fitted = Line::fit(&points, None).unwrap();
        assert_eq!(fitted.fixed, 0.0);
        assert!((fitted.per_byte - 0.0015).abs() < 1e-9);
    }
}
