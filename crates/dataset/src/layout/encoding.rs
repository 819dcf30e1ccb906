//! How the elements of an RNTuple's column are stored in its pages.
//!
//! Facts: `RColumnElement.hxx`, and the specification's column types `Real32Trunc` and `Real32Quant`.

use std::fmt;
use std::str::FromStr;

use rootfile::{Error, Result};

/// How the elements of a column are stored in its pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColumnEncoding {
    /// One after the other.
    Plain,
    /// All first bytes, then all second ones; signed integers without their sign bit in front, ends as differences.
    Split,
    /// Floating-point numbers in 16 bits.
    Half,
    /// Floating-point numbers in 32 bits, those of doubles as well.
    Single,
    /// Numbers of type double in 64 bits, as without a request; also where the file has fewer.
    Double,
    /// Floating-point numbers of their own type, rounded to 1 to 51 bits of mantissa: the relative error is at most 2^-(bits + 1), and
    /// the codec finds zeros.
    Mantissa(u16),
    /// Floating-point numbers by their leading bits, 10 to 31 of 32, to which they are rounded: the relative error is at most
    /// 2^(8 - bits).
    Truncated(u16),
    /// Floating-point numbers by the fewest bits that keep every one of them as it is, and not by fewer than these (10 to 32). Which ones
    /// these are the values tell: a rewrite looks at all of them first, others take the given bits and refuse what needs more.
    Exact(Option<u16>),
    /// Floating-point numbers as integers of 1 to 32 bits, evenly over a range: the error is at most half a step.
    Quantized {
        /// Bits of a number.
        bits: u16,
        /// The least value.
        least: f64,
        /// The largest value.
        most: f64,
    },
}

impl FromStr for ColumnEncoding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::request(format!(
                "{text:?} is not an encoding; write plain, split, half, single, double, exact, exact:BITS, mantissa:BITS, truncated:BITS or \
                 quantized:BITS:LEAST:MOST"
            ))
        };
        let parts: Vec<&str> = text.split(':').map(str::trim).collect();
        let bits = |text: &str, least: u16, most: u16| {
            text.parse().ok().filter(|bits| (least..=most).contains(bits)).ok_or_else(wrong)
        };
        let real = |text: &str| text.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(wrong);
        match parts.as_slice() {
            ["plain"] => Ok(Self::Plain),
            ["split"] => Ok(Self::Split),
            ["half"] => Ok(Self::Half),
            ["single"] => Ok(Self::Single),
            ["double"] => Ok(Self::Double),
            ["exact"] => Ok(Self::Exact(None)),
            ["exact", n] => Ok(Self::Exact(Some(bits(n, 10, 32)?))),
            ["mantissa", n] => Ok(Self::Mantissa(bits(n, 1, 51)?)),
            ["truncated", n] => Ok(Self::Truncated(bits(n, 10, 31)?)),
            ["quantized", n, least, most] => {
                let (least, most) = (real(least)?, real(most)?);
                if least < most { Ok(Self::Quantized { bits: bits(n, 1, 32)?, least, most }) } else { Err(wrong()) }
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for ColumnEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => f.write_str("plain"),
            Self::Split => f.write_str("split"),
            Self::Half => f.write_str("half"),
            Self::Single => f.write_str("single"),
            Self::Double => f.write_str("double"),
            Self::Exact(None) => f.write_str("exact"),
            Self::Exact(Some(bits)) => write!(f, "exact:{bits}"),
            Self::Mantissa(bits) => write!(f, "mantissa:{bits}"),
            Self::Truncated(bits) => write!(f, "truncated:{bits}"),
            Self::Quantized { bits, least, most } => write!(f, "quantized:{bits}:{least}:{most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_read_as_they_are_written() {
        for text in [
            "plain",
            "split",
            "half",
            "single",
            "double",
            "exact",
            "exact:16",
            "mantissa:8",
            "truncated:16",
            "quantized:12:-3.5:4",
        ] {
            assert_eq!(text.parse::<ColumnEncoding>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "exact:9",
            "exact:33",
            "truncated",
            "truncated:9",
            "truncated:32",
            "quantized:0:0:1",
            "quantized:8:1:1",
            "quarter",
        ] {
            assert!(text.parse::<ColumnEncoding>().is_err(), "{text}");
        }
    }
}
