//! What a histogram class holds: its dimensions, whether it is a profile, and the names of its sums.

const SUMS: [&str; 11] = [
    "fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2", "fTsumwy", "fTsumwy2", "fTsumwxy", "fTsumwz", "fTsumwz2", "fTsumwxz",
    "fTsumwyz",
];

/// What a class of histograms is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub dimensions: usize,
    pub profile: bool,
}

impl Shape {
    /// The shape of ROOT's own histogram classes; `TH1K`, `TH2Poly` and user classes have rules of their own.
    pub fn of(class: &str) -> Option<Self> {
        let profile = match class {
            "TProfile" => Some(1),
            "TProfile2D" => Some(2),
            "TProfile3D" => Some(3),
            _ => None,
        };
        if let Some(dimensions) = profile {
            return Some(Self { dimensions, profile: true });
        }
        let mut letters = class.strip_prefix("TH")?.chars();
        let dimensions = letters.next().and_then(|c| c.to_digit(10)).filter(|d| (1..=3).contains(d))?;
        let known = letters.next().is_some_and(|c| "CSILFD".contains(c)) && letters.next().is_none();
        known.then_some(Self { dimensions: dimensions as usize, profile: false })
    }

    /// The members that hold the sums, in the order of `GetStats`. The sums of a profile's values are named after the next
    /// letter.
    pub fn sum_names(self) -> impl Iterator<Item = &'static str> {
        let (own, profile): (usize, &[&str]) = match self.dimensions {
            1 => (4, &["fTsumwy", "fTsumwy2"]),
            2 => (7, &["fTsumwz", "fTsumwz2"]),
            _ => (11, &["fTsumwt", "fTsumwt2"]),
        };
        let profile = if self.profile { profile } else { &[] };
        SUMS.iter().take(own).chain(profile).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_classes() {
        assert_eq!(Shape::of("TH2L"), Some(Shape { dimensions: 2, profile: false }));
        assert_eq!(Shape::of("TProfile3D"), Some(Shape { dimensions: 3, profile: true }));
        for other in ["TH1", "TH1K", "TH4F", "THStack", "TH2Poly", "TProfile2Poly", "TH1DD"] {
            assert_eq!(Shape::of(other), None, "{other}");
        }
    }
}
