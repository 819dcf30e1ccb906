//! Compressed bytes of pieces of any size: a line for small pieces, and less for each doubling of larger ones.

use super::line::{Line, Point};

/// The part that a doubling saves lies between nothing and this share.
const MOST: f64 = 0.1;
/// Pieces of any size compress to at least this share of what the line's last piece does.
const LEAST: f64 = 0.5;

/// Compressed bytes of a piece.
///
/// A codec learns from what it has seen of a piece, so large pieces compress better. Up to some tens of kilobytes this is a fixed part
/// for each piece, as a [`Line`] has it. Pages are a hundred times larger, and there sizes fall with the logarithm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Curve {
    /// Of small pieces.
    pub line: Line,
    /// The piece where the line ends, in bytes before compression, and the share that a piece e times as large saves. None: there
    /// are no larger pieces.
    pub beyond: Option<(f64, f64)>,
}

impl Curve {
    /// The curve through pieces of two small sizes and, for pages, of a large one. `shape` is that of other columns.
    pub fn fit([small, main, large]: [Point; 3], shape: Option<Self>) -> Option<Self> {
        let line = Line::fit(&[small, main], shape.map(|shape| shape.line));
        let curve = match (line, shape) {
            (Some(line), _) => {
                let slope = shape.and_then(|shape| shape.beyond).map(|(_, slope)| slope);
                Self { line, beyond: slope.filter(|_| main.blocks > 0.0).map(|slope| (main.raw / main.blocks, slope)) }
            }
            (None, shape) => shape?,
        };
        let expected = curve.of(large.blocks, large.raw);
        Some(if large.raw > 0.0 && expected > 0.0 { curve.scaled(large.cost / expected) } else { curve })
    }

    /// The share that pieces save for each time that they are e times as large: from pairs of a small and a large piece.
    pub fn slope(pairs: impl Iterator<Item = [Point; 2]>) -> Option<f64> {
        let (mut saved, mut all) = (0.0, 0.0);
        for [main, large] in pairs.filter(|pair| pair.iter().all(|point| point.raw > 0.0 && point.cost > 0.0)) {
            let step = ((large.raw / large.blocks) / (main.raw / main.blocks)).ln();
            if step > 0.0 {
                saved += large.raw * (1.0 - (large.cost / large.raw) / (main.cost / main.raw));
                all += large.raw * step;
            }
        }
        (all > 0.0).then(|| (saved / all).clamp(0.0, MOST))
    }

    /// The bytes of `blocks` pieces of `raw` bytes together.
    pub fn of(&self, blocks: f64, raw: f64) -> f64 {
        match self.beyond {
            Some((from, slope)) if raw > from * blocks && blocks > 0.0 => {
                let share = 1.0 - slope * (raw / blocks / from).ln();
                raw / from * self.line.of(1.0, from) * share.max(LEAST)
            }
            _ => self.line.of(blocks, raw),
        }
    }

    pub fn scaled(&self, factor: f64) -> Self {
        Self { line: self.line.scaled(factor), ..*self }
    }
}

impl From<Line> for Curve {
    fn from(line: Line) -> Self {
        Self { line, beyond: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of `size` bytes that shrink to a half, and by a twentieth more with each factor e above 8 kB.
    fn point(size: f64) -> Point {
        Point { blocks: 4.0, raw: 4.0 * size, cost: 2.0 * size * (1.0 - 0.05 * (size / 8e3).ln()) }
    }

    #[test]
    fn large_pieces_save_with_the_logarithm_of_their_size() {
        let slope = Curve::slope([[point(8e3), point(1e6)]].into_iter());
        assert!((slope.unwrap() - 0.05).abs() < 1e-9, "{slope:?}");
        let shape = Curve { line: Line { fixed: 0.0, per_byte: 0.5 }, beyond: slope.map(|slope| (8e3, slope)) };
        // One size is enough for a column, whichever it is.
        for (main, large) in [(point(8e3), Point::default()), (point(8e3), point(1e6))] {
            let found = Curve::fit([Point::default(), main, large], Some(shape)).unwrap();
            for size in [8e3, 64e3, 1e6] {
                let Point { blocks, raw, cost } = point(size);
                assert!((found.of(blocks, raw) / cost - 1.0).abs() < 1e-9, "{size} {found:?}");
            }
        }
        assert!(Curve::fit([Point::default(); 3], None).is_none());
    }

    #[test]
    fn without_large_pieces_it_is_the_line() {
        let line = Line { fixed: 20.0, per_byte: 0.25 };
        let points = [1e3, 8e3].map(|size| Point { blocks: 1.0, raw: size, cost: line.of(1.0, size) });
        let found = Curve::fit([points[0], points[1], Point::default()], None).unwrap();
        assert!((found.of(3.0, 3e6) / line.of(3.0, 3e6) - 1.0).abs() < 1e-9, "{found:?}");
        assert_eq!(Curve::slope(std::iter::empty()), None);
    }
}
