//! Bins of equal width: how many, from where to where, and which one a number is in.

use std::str::FromStr;

/// Most cells of a histogram.
const MOST_CELLS: usize = 1 << 18;
/// Most bins of width one that whole numbers get.
const MOST_ONES: f64 = 100.0;

/// Bins as users ask for them: `N`, or `N,LOW,HIGH`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bins {
    /// How many.
    pub count: usize,
    /// From where to where; from the least to the largest number, if not given.
    pub range: Option<[f64; 2]>,
}

impl FromStr for Bins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not N or N,LOW,HIGH, as in 40 or 40,0,200");
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let number = |text: &&str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let (count, range) = match parts.as_slice() {
            [count] => (count, None),
            [count, low, high] => (count, Some([number(low).ok_or_else(wrong)?, number(high).ok_or_else(wrong)?])),
            _ => return Err(wrong()),
        };
        let count: usize = count.parse().map_err(|_| wrong())?;
        if !(1..=MOST_CELLS).contains(&count) {
            return Err(format!("there can be 1 to {MOST_CELLS} bins"));
        }
        if let Some([low, high]) = range
            && (low >= high || !(high - low).is_finite())
        {
            return Err(format!("`{text}`: the bins end where they begin, or before"));
        }
        Ok(Self { count, range })
    }
}

/// The least and the largest of the numbers that are finite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Extent(Option<[f64; 2]>);

impl Extent {
    /// Adds a number.
    pub fn add(&mut self, number: f64) {
        if number.is_finite() {
            let [least, most] = self.0.unwrap_or([number; 2]);
            self.0 = Some([least.min(number), most.max(number)]);
        }
    }
}

/// The bins of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Binning {
    /// Edges, one more than there are bins.
    pub edges: Vec<f64>,
    /// Whether the last bin has its upper edge, as a range that is made of the numbers needs.
    is_closed: bool,
}

impl Binning {
    /// Bins in a range that is known.
    fn new(count: usize, [low, high]: [f64; 2], is_closed: bool) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "at most 2^18 bins")]
        let step = (high - low) / count as f64;
        #[expect(clippy::cast_precision_loss, reason = "at most 2^18 bins")]
        let edges = (0..count).map(|bin| low + bin as f64 * step).chain([high]);
        Self { edges: edges.collect(), is_closed }
    }

    /// The bins for what is asked: where nothing is, `default` bins; whole numbers then lie in the middle of their bins.
    pub fn of(asked: Option<Bins>, default: usize, extent: Extent, is_whole: bool) -> Result<Self, String> {
        if let Some(Bins { count, range: Some(range) }) = asked {
            return Ok(Self::new(count, range, false));
        }
        let [least, most] = extent.0.unwrap_or([0.0, 1.0]);
        if !(most - least).is_finite() {
            return Err(format!("numbers from {least:e} to {most:e} have no common bins"));
        }
        if is_whole && asked.is_none() {
            let values = most - least + 1.0;
            #[expect(clippy::cast_precision_loss, reason = "a few bins")]
            let width = if values <= MOST_ONES { 1.0 } else { (values / default as f64).ceil() };
            let bins = (values / width).ceil();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a hundred")]
            let count = bins.clamp(1.0, MOST_ONES) as usize;
            // Numbers beyond 2^53 have no half, and their sums are rounded.
            let high = (least - 0.5 + bins * width).max(most);
            return Ok(Self::new(count, [least - 0.5, high], true));
        }
        // NumPy does the same where all numbers are equal.
        let range = if least < most { [least, most] } else { [least - 0.5, most + 0.5] };
        Ok(Self::new(asked.map_or(default, |asked| asked.count), range, true))
    }

    /// Number of bins.
    pub fn count(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    /// The middle of all bins.
    pub fn middle(&self) -> f64 {
        let (low, high) = self.ends();
        low + (high - low) / 2.0
    }

    fn ends(&self) -> (f64, f64) {
        (self.edges.first().copied().unwrap_or(0.0), self.edges.last().copied().unwrap_or(0.0))
    }

    /// The cell of a number that is not NaN: 0 below all bins, 1 for the first bin, and the number of bins and one above all. A bin has
    /// its lower edge.
    pub fn cell(&self, number: f64) -> usize {
        let ((low, high), count) = (self.ends(), self.count());
        if number < low {
            return 0;
        }
        if number > high || (number == high && !self.is_closed) {
            return count + 1;
        }
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a bin within the range"
        )]
        let guess = ((number - low) / (high - low) * count as f64) as usize;
        let mut bin = guess.min(count.saturating_sub(1));
        // Rounding can miss by one: the edges decide, as in NumPy.
        let edge = |bin: usize| self.edges.get(bin).copied().unwrap_or(high);
        if number < edge(bin) {
            bin = bin.saturating_sub(1);
        }
        if number >= edge(bin + 1) && bin + 1 < count {
            bin += 1;
        }
        bin + 1
    }
}

/// Fails for more cells than a histogram may have.
pub(super) fn check_cells(axes: &[Binning]) -> Result<(), String> {
    let cells = axes.iter().map(Binning::count).fold(1, usize::saturating_mul);
    match cells > MOST_CELLS {
        true => Err(format!("{cells} bins are more than the {MOST_CELLS} that a histogram may have")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(numbers: &[f64]) -> Extent {
        let mut extent = Extent::default();
        numbers.iter().for_each(|number| extent.add(*number));
        extent
    }

    #[test]
    fn what_users_ask_for_is_checked() {
        assert_eq!("40".parse(), Ok(Bins { count: 40, range: None }));
        assert_eq!(" 40, -1.5,2e3 ".parse(), Ok(Bins { count: 40, range: Some([-1.5, 2000.0]) }));
        for wrong in
            ["", "0", "4,1", "4,1,1", "4,2,1", "4,nan,1", "4,0,inf", "x,0,1", "99999999", "4,0,1,2", "2,-1e308,1.7e308"]
        {
            assert!(wrong.parse::<Bins>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_number_is_in_the_bin_whose_edges_are_around_it() {
        let given = Binning::of("4,0,8".parse().ok(), 40, Extent::default(), false).unwrap();
        assert_eq!(given.edges, [0.0, 2.0, 4.0, 6.0, 8.0]);
        for (number, cell) in
            [(-0.1, 0), (0.0, 1), (1.9, 1), (2.0, 2), (7.9, 4), (8.0, 5), (f64::INFINITY, 5), (f64::NEG_INFINITY, 0)]
        {
            assert_eq!(given.cell(number), cell, "{number}");
        }
        let found = Binning::of("3".parse().ok(), 40, extent(&[0.0, 0.3, f64::NAN, f64::INFINITY]), false).unwrap();
        assert_eq!((found.cell(0.3), found.cell(0.1), found.cell(0.2)), (3, 2, 3));
        for bin in 0..3 {
            assert_eq!(found.cell(found.edges[bin]), bin + 1);
        }
    }

    #[test]
    fn whole_numbers_lie_in_the_middle_of_their_bins() {
        let few = Binning::of(None, 40, extent(&[2.0, 5.0]), true).unwrap();
        assert_eq!(few.edges, [1.5, 2.5, 3.5, 4.5, 5.5]);
        let many = Binning::of(None, 40, extent(&[0.0, 399.0]), true).unwrap();
        assert_eq!((many.count(), many.edges[1]), (40, 9.5));
        let one = Binning::of(None, 40, extent(&[7.0]), false).unwrap();
        assert_eq!((one.edges[0], one.edges[40]), (6.5, 7.5));
        assert_eq!(Binning::of(None, 4, Extent::default(), false).unwrap().edges, [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert!(Binning::of(None, 4, extent(&[f64::MAX, f64::MIN]), false).is_err());
    }
}
