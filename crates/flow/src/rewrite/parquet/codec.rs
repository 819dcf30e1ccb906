//! The compression of a Parquet file. Levels are those of the codec; ROOT's levels for zstd count in steps of two.

use std::fmt;
use std::str::FromStr;

use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use rootfile::{Error, Result};

/// A codec of Parquet files, with its level: `zstd:5`, `snappy`, `lz4`, `zlib:6` (which Parquet calls gzip), `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParquetCodec(pub(super) Compression);

impl Default for ParquetCodec {
    fn default() -> Self {
        Self(ZstdLevel::try_new(3).map_or(Compression::UNCOMPRESSED, Compression::ZSTD))
    }
}

impl FromStr for ParquetCodec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, level) = match text.split_once(':') {
            Some((name, level)) => (name, Some(level)),
            None => (text, None),
        };
        let wrong = |why: &str| Error::request(format!("{text:?} is not a compression of Parquet files: {why}"));
        let level = level.map(str::parse::<u8>).transpose().map_err(|_| wrong("a level is a number"))?;
        let plain = |codec| if level.is_none() { Ok(codec) } else { Err(wrong("it has no levels")) };
        let codec = match name.to_lowercase().as_str() {
            "none" | "uncompressed" => plain(Compression::UNCOMPRESSED),
            "snappy" => plain(Compression::SNAPPY),
            "lz4" => plain(Compression::LZ4_RAW),
            "zlib" | "gzip" => match GzipLevel::try_new(u32::from(level.unwrap_or(6))) {
                Ok(level) => Ok(Compression::GZIP(level)),
                Err(_) => Err(wrong("zlib has the levels 0 to 9")),
            },
            "zstd" => match ZstdLevel::try_new(i32::from(level.unwrap_or(3))) {
                Ok(level) => Ok(Compression::ZSTD(level)),
                Err(_) => Err(wrong("zstd has the levels 1 to 22")),
            },
            _ => Err(wrong("use none, snappy, lz4, zlib:LEVEL or zstd:LEVEL")),
        };
        codec.map(Self)
    }
}

impl fmt::Display for ParquetCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Compression::UNCOMPRESSED => f.write_str("none"),
            Compression::GZIP(level) => write!(f, "zlib:{}", level.compression_level()),
            Compression::ZSTD(level) => write!(f, "zstd:{}", level.compression_level()),
            Compression::SNAPPY => f.write_str("snappy"),
            _ => f.write_str("lz4"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_by_name() {
        for text in ["none", "snappy", "lz4", "zlib:6", "zstd:5"] {
            assert_eq!(text.parse::<ParquetCodec>().unwrap().to_string(), text);
        }
        assert_eq!("gzip".parse::<ParquetCodec>().unwrap().to_string(), "zlib:6");
        assert_eq!("zstd".parse::<ParquetCodec>().unwrap(), ParquetCodec::default());
        for text in ["lzma", "lzma:7", "snappy:3", "zstd:40", "zstd:x", "505"] {
            assert!(text.parse::<ParquetCodec>().is_err(), "{text}");
        }
    }
}
