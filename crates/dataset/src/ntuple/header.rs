//! The header: name, description, writer and schema; and the feature flags, which the footer has as well.
//!
//! Facts: `RNTupleSerialize.cxx`, `DeserializeHeader` and `DeserializeFeatureFlags`.

use rootfile::{Error, Result};

use super::envelope::{EnvelopeKind, open_envelope, seal_envelope};
use super::frame::{Reader, Writer};
use super::model::Ntuple;
use super::schema::{PartialSchema, write_schema};

/// The bit that says that a word of flags follows.
const MORE: u64 = 1 << 63;
/// The features that are understood, in the first word: 0 is deferred columns below collections.
const KNOWN: u64 = 1;

/// What the header has.
#[derive(Debug, Default)]
pub struct Header {
    /// The feature flags.
    pub features: Vec<u64>,
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The program that wrote it.
    pub writer: String,
    /// The schema without its extension.
    pub schema: PartialSchema,
    /// The envelope's checksum.
    pub checksum: u64,
}

/// Reads a header.
///
/// # Errors
///
/// If it is damaged, or if it has a feature that is unknown.
pub fn parse_header(envelope: &[u8]) -> Result<Header> {
    let (mut r, checksum) = open_envelope(EnvelopeKind::Header, envelope)?;
    let features = read_features(&mut r)?;
    let mut header = Header {
        features,
        name: r.string()?,
        description: r.string()?,
        writer: r.string()?,
        schema: PartialSchema::default(),
        checksum,
    };
    header.schema.read(&mut r, false)?;
    Ok(header)
}

/// The envelope of a header.
///
/// # Errors
///
/// If something in it is too large for the format.
pub fn write_header(ntuple: &Ntuple) -> Result<Vec<u8>> {
    seal_envelope(EnvelopeKind::Header, |w| {
        write_features(w, &ntuple.features);
        w.string(&ntuple.name)?;
        w.string(&ntuple.description)?;
        w.string(&ntuple.writer)?;
        write_schema(w, &ntuple.schema, false)
    })
}

/// Reads the feature flags.
///
/// # Errors
///
/// If one is set that is unknown: what follows cannot be understood.
pub fn read_features(r: &mut Reader<'_>) -> Result<Vec<u64>> {
    let mut words = Vec::new();
    loop {
        let word = r.u64()?;
        let flags = word & !MORE;
        let unknown = if words.is_empty() { flags & !KNOWN } else { flags };
        if unknown != 0 {
            // ROOT counts 64 flags a word, though the highest is none.
            let flag = words.len() as u64 * 64 + u64::from(unknown.trailing_zeros());
            return Err(Error::unsupported(format!(
                "the RNTuple uses format feature {flag}, which this version does not know"
            )));
        }
        words.push(flags);
        if word & MORE == 0 {
            return Ok(words);
        }
    }
}

/// Appends feature flags.
pub fn write_features(w: &mut Writer, words: &[u64]) {
    match words.split_last() {
        None => w.u64(0),
        Some((last, others)) => {
            for word in others {
                w.u64(word | MORE);
            }
            w.u64(*last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_words_of_flags() {
        for words in [vec![0], vec![1, 0], vec![1, 0, 0]] {
            let mut w = Writer::default();
            write_features(&mut w, &words);
            assert_eq!(w.bytes.len(), words.len() * 8);
            assert_eq!(read_features(&mut Reader::new("test", &w.bytes, 0)).unwrap(), words);
        }
    }

    #[test]
    fn unknown_flags_are_named() {
        for (words, flag) in
            [(vec![2], "feature 1,"), (vec![1, 1], "feature 64,"), (vec![0, 0, 1 << 9], "feature 137,")]
        {
            let mut w = Writer::default();
            write_features(&mut w, &words);
            let error = read_features(&mut Reader::new("test", &w.bytes, 0)).unwrap_err();
            assert!(error.to_string().contains(flag), "{error}");
        }
    }

    #[test]
    fn flags_without_end() {
        assert!(read_features(&mut Reader::new("test", &[255, 255, 255, 255, 255, 255, 255, 128], 0)).is_err());
        let endless = [0, 0, 0, 0, 0, 0, 0, 128].repeat(3);
        assert!(read_features(&mut Reader::new("test", &endless, 0)).is_err());
    }
}
