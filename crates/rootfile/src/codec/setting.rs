//! Which codec, at which level: the value users write as `zstd:5` and ROOT stores as `505`.
//!
//! ROOT's number is `100 * algorithm + level`, in `fCompress` of files and branches. [`Compressor`](super::Compressor)
//! maps levels to the codec's own scale.

use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A compression algorithm of ROOT's (`ROOT::RCompressionSetting::EAlgorithm`).
///
/// ```
/// use rootfile::codec::Algorithm;
///
/// let facts = Algorithm::Zstd.facts();
/// assert_eq!((facts.name, facts.number, facts.max_level), ("zstd", 5, 11));
/// assert_eq!(Algorithm::named("lzma"), Some(Algorithm::Lzma));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Algorithm {
    /// Blocks `ZL`: a zlib stream.
    Zlib,
    /// Blocks `XZ`: an xz stream.
    Lzma,
    /// Blocks `CS`: a bare deflate stream, what ROOT wrote before it had zlib. Only read here.
    OldCs,
    /// Blocks `L4`: one LZ4 block behind a checksum.
    Lz4,
    /// Blocks `ZS`: a Zstandard frame.
    Zstd,
}

/// What is fixed about an algorithm: everything about a codec that is data and not code, but for speeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodecFacts {
    /// The name as users write it.
    pub name: &'static str,
    /// The two letters that open its blocks.
    pub tag: [u8; 2],
    /// The third byte of its blocks. 8 is zlib's `Z_DEFLATED`; for LZ4 and Zstandard it is the library's major version,
    /// and ROOT accepts only its own.
    pub method: u8,
    /// ROOT's number of it (`RCompressionSetting::EAlgorithm`).
    pub number: i32,
    /// ROOT's default level (`RCompressionSetting::EDefaults`).
    pub default_level: u8,
    /// The highest level with an effect. Zstandard's own scale ends at 22, which is ROOT's 11.
    pub max_level: u8,
    /// The most bytes that one compressed byte can become; `None` where there is no limit.
    pub expansion: Option<usize>,
    /// The most bytes of memory that a [`Compressor`](super::Compressor) keeps for it between calls, at the default level and for
    /// 1 MiB of input; 0 where that is little.
    pub kept: usize,
    /// The algorithm that is written where a file asks for this one.
    pub written_as: Algorithm,
}

impl Algorithm {
    const ALL: [Self; 5] = [Self::Zlib, Self::Lzma, Self::OldCs, Self::Lz4, Self::Zstd];

    /// Those that are written.
    pub const WRITTEN: [Self; 4] = [Self::Zlib, Self::Lz4, Self::Zstd, Self::Lzma];

    /// What is fixed about it.
    pub const fn facts(self) -> CodecFacts {
        match self {
            Self::Zlib => CodecFacts {
                name: "zlib",
                tag: *b"ZL",
                method: 8,
                number: 1,
                default_level: 1,
                max_level: 9,
                // 258 bytes for two bits.
                expansion: Some(1032),
                kept: 0,
                written_as: Self::Zlib,
            },
            Self::Lzma => CodecFacts {
                name: "lzma",
                tag: *b"XZ",
                method: 0,
                number: 2,
                default_level: 7,
                max_level: 9,
                expansion: None,
                kept: 0,
                written_as: Self::Lzma,
            },
            Self::OldCs => CodecFacts { name: "cs", tag: *b"CS", number: 3, ..Self::Zlib.facts() },
            Self::Lz4 => CodecFacts {
                name: "lz4",
                tag: *b"L4",
                method: 1,
                number: 4,
                default_level: 4,
                max_level: 9,
                expansion: Some(255),
                kept: 0,
                written_as: Self::Lz4,
            },
            Self::Zstd => CodecFacts {
                name: "zstd",
                tag: *b"ZS",
                method: 1,
                number: 5,
                default_level: 5,
                max_level: 11,
                expansion: None,
                kept: 14 << 20,
                written_as: Self::Zstd,
            },
        }
    }

    /// The name as users write it.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// The algorithm of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// The algorithm whose blocks open with these two letters.
    pub(crate) fn from_tag(tag: [u8; 2]) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.facts().tag == tag)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How to compress: an algorithm at a level, or not at all.
///
/// ```
/// use rootfile::codec::{Algorithm, Compression};
///
/// let zstd: Compression = "zstd:5".parse()?;
/// assert_eq!(zstd, Compression::new(Algorithm::Zstd, 5));
/// assert_eq!((zstd.to_string(), zstd.to_root_setting()), ("zstd:5".to_owned(), 505));
/// // Without a level it is ROOT's own.
/// assert_eq!("lz4".parse::<Compression>()?.level(), 4);
/// # Ok::<(), rootfile::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compression {
    algorithm: Algorithm,
    /// 0 only in `NONE`: there is one value for "not compressed".
    level: u8,
}

impl Compression {
    /// No compression.
    pub const NONE: Self = Self { algorithm: Algorithm::Zlib, level: 0 };

    /// An algorithm at a level of ROOT's scale; level 0 is [`Compression::NONE`] and levels beyond
    /// [`CodecFacts::max_level`] work like that one.
    pub const fn new(algorithm: Algorithm, level: u8) -> Self {
        if level == 0 { Self::NONE } else { Self { algorithm, level } }
    }

    /// The algorithm, `None` for no compression.
    pub const fn algorithm(self) -> Option<Algorithm> {
        if self.level == 0 { None } else { Some(self.algorithm) }
    }

    /// The level on ROOT's scale, 0 for no compression.
    pub const fn level(self) -> u8 {
        self.level
    }

    /// Whether nothing is compressed.
    pub const fn is_none(self) -> bool {
        self.level == 0
    }

    /// Reads ROOT's number. A negative number means "as the file" and gives `None`. Algorithm 0 is ROOT's global
    /// default, which is zlib; so is every number without an algorithm.
    pub fn from_root_setting(setting: i32) -> Option<Self> {
        if setting < 0 {
            return None;
        }
        let algorithm =
            Algorithm::ALL.into_iter().find(|a| a.facts().number == setting / 100).unwrap_or(Algorithm::Zlib);
        let level = u8::try_from(setting % 100).unwrap_or(0);
        Some(Self::new(algorithm, level))
    }

    /// ROOT's number, 0 for no compression.
    pub fn to_root_setting(self) -> i32 {
        match self.algorithm() {
            None => 0,
            Some(algorithm) => 100 * algorithm.facts().number + i32::from(self.level),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.algorithm() {
            None => f.pad("none"),
            Some(algorithm) => f.pad(&format!("{algorithm}:{}", self.level)),
        }
    }
}

/// `none`, `zstd:5`, `zstd` (ROOT's default level for it) or ROOT's number; only what can be written.
impl FromStr for Compression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Error::request(format!("compression {text:?}: {why}; write none, zlib:1, lzma:7, lz4:4, zstd:5 or 505"))
        };
        let lower = text.trim().to_ascii_lowercase();
        let (algorithm, level) = if lower == "none" {
            return Ok(Self::NONE);
        } else if !lower.is_empty() && lower.bytes().all(|b| b.is_ascii_digit()) {
            let setting: i32 = lower.parse().map_err(|_| wrong("number too large"))?;
            if setting / 100 > Algorithm::Zstd.facts().number {
                return Err(wrong("ROOT has no such algorithm"));
            }
            let Some(Self { algorithm, level }) = Self::from_root_setting(setting) else {
                return Err(wrong("negative"));
            };
            (algorithm, level)
        } else {
            let (name, level) = lower.split_once(':').map_or((&*lower, None), |(n, l)| (n, Some(l)));
            let algorithm = Algorithm::named(name).ok_or_else(|| wrong("no such algorithm"))?;
            let level = match level {
                None => algorithm.facts().default_level,
                Some(level) => level.parse().map_err(|_| wrong("the level is not a number"))?,
            };
            (algorithm, level)
        };
        if algorithm.facts().written_as != algorithm {
            return Err(wrong("this old algorithm is only read, not written"));
        }
        let highest = algorithm.facts().max_level;
        if level > highest {
            return Err(wrong(&format!("{algorithm} has levels 1 to {highest}")));
        }
        Ok(Self::new(algorithm, level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressors_keep_as_much_memory_as_is_said() {
        let input: Vec<u8> = (0..1 << 20).map(|i: u64| ((i * i) >> 12) as u8).collect();
        for algorithm in Algorithm::WRITTEN {
            let mut compressor = crate::codec::Compressor::new();
            compressor.compress(algorithm.name().parse().unwrap(), &input, &mut Vec::new()).unwrap();
            let kept = algorithm.facts().kept;
            assert!((kept / 2..=kept).contains(&compressor.memory()), "{algorithm}: {}", compressor.memory());
        }
    }

    #[test]
    fn root_settings_both_ways() {
        for (setting, text, back) in [
            (0, "none", 0),
            (1, "zlib:1", 101),
            (9, "zlib:9", 109),
            (101, "zlib:1", 101),
            (207, "lzma:7", 207),
            (301, "cs:1", 301),
            (404, "lz4:4", 404),
            (505, "zstd:5", 505),
            (500, "none", 0),
            (609, "zlib:9", 109),
            (i32::MAX, "zlib:47", 147),
        ] {
            let compression = Compression::from_root_setting(setting).unwrap();
            assert_eq!(compression.to_string(), text, "{setting}");
            assert_eq!(compression.to_root_setting(), back, "{setting}");
        }
        assert_eq!(Compression::from_root_setting(-1), None);
        assert_eq!(Compression::from_root_setting(i32::MIN), None);
    }

    #[test]
    fn settings_are_parsed() {
        for (text, setting) in [
            ("none", 0),
            ("0", 0),
            ("zstd:0", 0),
            ("zstd", 505),
            ("ZSTD:5", 505),
            ("505", 505),
            ("lz4", 404),
            ("lzma", 207),
            ("zlib", 101),
            ("5", 105),
            ("zstd:11", 511),
        ] {
            assert_eq!(text.parse::<Compression>().unwrap().to_root_setting(), setting, "{text}");
        }
        for text in [
            "",
            ":",
            "zstd:",
            "zstd:12",
            "zlib:10",
            "zip:1",
            "cs",
            "301",
            "605",
            "-1",
            "zstd:-1",
            "zstd:300",
            "99999999999",
        ] {
            assert!(text.parse::<Compression>().is_err(), "{text}");
        }
    }

    #[test]
    fn display_parses_back() {
        for algorithm in Algorithm::WRITTEN {
            for level in 0..=algorithm.facts().max_level {
                let compression = Compression::new(algorithm, level);
                assert_eq!(compression.to_string().parse::<Compression>().unwrap(), compression);
            }
        }
    }
}
