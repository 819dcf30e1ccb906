//! A number of bytes as people write it: `32kB`, `30MB`, `1GiB`, `64k`, `512`.

use std::fmt;
use std::str::FromStr;

use rootfile::{Error, Result};

/// A number of bytes. Printed in the largest unit that gives an exact number, decimal before binary, so that the text
/// reads back as the same number.
///
/// ```
/// use dataset::layout::ByteSize;
///
/// assert_eq!("32kB".parse::<ByteSize>()?, ByteSize(32_000));
/// assert_eq!(ByteSize(1 << 20).to_string(), "1MiB");
/// # Ok::<(), rootfile::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(pub u64);

impl ByteSize {
    /// The number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

/// Units and their values. The first unit of a value is printed.
const UNITS: [(&str, u64); 9] = [
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

impl FromStr for ByteSize {
    type Err = Error;

    /// Reads digits (with a fraction, if the result is a whole number of bytes) and a unit in either case, with or
    /// without `B`. No unit means bytes.
    fn from_str(text: &str) -> Result<Self> {
        parse(text.trim()).map(Self).ok_or_else(|| {
            Error::request(format!("{text:?} is not a size; write bytes with a unit, like 512, 32kB, 30MB or 1GiB"))
        })
    }
}

fn parse(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let unit = unit.trim();
    let factor = match unit {
        "" => 1,
        _ => UNITS.iter().find(|(name, _)| is_unit(unit, name))?.1,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.len() > 12 || number.ends_with('.') {
        return None;
    }
    let scale = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let scaled = digits.checked_mul(u128::from(factor))?;
    if scaled % scale != 0 {
        return None;
    }
    u64::try_from(scaled / scale).ok()
}

fn is_unit(given: &str, name: &str) -> bool {
    given.eq_ignore_ascii_case(name) || (name.len() > 1 && given.eq_ignore_ascii_case(&name[..name.len() - 1]))
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |unit: &&(&str, u64)| self.0 >= unit.1 && self.0.is_multiple_of(unit.1);
        let (name, factor) = UNITS.iter().find(fits).copied().unwrap_or(("B", 1));
        f.pad(&format!("{}{name}", self.0 / factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_spellings_of_sizes_are_parsed() {
        let cases = [
            ("32kB", 32_000),
            ("30MB", 30_000_000),
            ("1GiB", 1 << 30),
            ("64k", 64_000),
            ("64ki", 65_536),
            ("64KiB", 65_536),
            ("512", 512),
            ("512B", 512),
            ("512 b", 512),
            ("2G", 2_000_000_000),
            ("2gi", 2 << 30),
            ("1T", 1_000_000_000_000),
            ("1.5MB", 1_500_000),
            ("0.5KiB", 512),
            ("0", 0),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in cases {
            assert_eq!(text.parse::<ByteSize>().unwrap(), ByteSize(bytes), "{text}");
        }
    }

    #[test]
    fn refuses_the_rest_by_name() {
        for text in [
            "",
            "MB",
            "-1",
            "1.",
            ".5k",
            "1.2.3M",
            "3 apples",
            "1e6",
            "0.3B",
            "18446744073709551616",
            "99999999999T",
            "i",
        ] {
            let message = text.parse::<ByteSize>().unwrap_err().to_string();
            assert!(message.contains(&format!("{text:?}")), "{message}");
        }
    }

    #[test]
    fn prints_the_largest_exact_unit() {
        let cases =
            [(0, "0B"), (512, "512B"), (32_000, "32kB"), (65_536, "64KiB"), (1 << 30, "1GiB"), (30_000_000, "30MB")];
        for (bytes, text) in cases {
            assert_eq!(ByteSize(bytes).to_string(), text);
        }
        assert_eq!(format!("{:>6}", ByteSize(1000)), "   1kB");
    }

    #[test]
    fn printed_sizes_parse_to_the_same_number() {
        for shift in 0..64 {
            for size in [1u64 << shift, (1u64 << shift).saturating_mul(1000), (1u64 << shift) - 1, u64::MAX >> shift] {
                assert_eq!(ByteSize(size).to_string().parse::<ByteSize>().unwrap(), ByteSize(size));
            }
        }
    }
}
