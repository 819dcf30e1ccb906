//! The file header: the first bytes of a ROOT file, in its 32-bit and 64-bit forms.
//!
//! Layout (ROOT `io/doc/TFile/header.md`, `TFile::WriteHeader`): `root`, version, fBEGIN, fEND, fSeekFree,
//! fNbytesFree, nfree, fNbytesName, fUnits, fCompress, fSeekInfo, fNbytesInfo, UUID. A version of one
//! million and more says that fEND, fSeekFree and fSeekInfo take eight bytes.

use crate::bytes::{Cursor, Writer};
use crate::foreign::foreign;
use crate::{Error, Result};

/// Where the first record starts; ROOT reserves this much for the header.
pub const BEGIN: u64 = 100;
/// Positions up to here fit the 32-bit form (ROOT's `kStartBigFile`).
pub const START_BIG_FILE: u64 = 2_000_000_000;
/// What is added to the version of a file in 64-bit form.
const BIG: i32 = 1_000_000;

/// The header's fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// ROOT version that wrote the file, `62804` for 6.28/04, without the 64-bit mark.
    pub version: i32,
    /// Whether the 64-bit form is used.
    pub big: bool,
    /// Offset of the first record.
    pub begin: u64,
    /// Offset just after the last record.
    pub end: u64,
    /// Offset of the free-segment record.
    pub seek_free: u64,
    /// Size of the free-segment record.
    pub nbytes_free: u32,
    /// Number of free segments.
    pub n_free: u32,
    /// Bytes of the root directory's key, name and title, before its fields.
    pub nbytes_name: u32,
    /// ROOT's compression setting (100 × algorithm + level).
    pub compress: i32,
    /// Offset of the streamer-info record, 0 if none.
    pub seek_info: u64,
    /// Size of the streamer-info record.
    pub nbytes_info: u32,
    /// The file's UUID.
    pub uuid: [u8; 16],
}

impl FileHeader {
    /// The UUID as text, in the usual five groups.
    pub fn uuid_text(&self) -> String {
        let mut text = String::with_capacity(36);
        for (i, byte) in self.uuid.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            text.push_str(&format!("{byte:02x}"));
        }
        text
    }

    /// Reads a header from the first bytes of a file.
    ///
    /// # Errors
    ///
    /// If the bytes do not begin as a ROOT file does, or end too early.
    pub fn parse(data: &[u8]) -> Result<Self> {
        if data.get(..4) != Some(b"root") {
            return Err(Error::corrupt(format!("not a ROOT file: {}", foreign(data))));
        }
        let mut c = Cursor::at(data, 4);
        let version = c.i32()?;
        let big = version >= BIG;
        let position = |c: &mut Cursor| if big { c.u64() } else { c.u32().map(u64::from) };
        let begin = u64::from(c.u32()?);
        let end = position(&mut c)?;
        let seek_free = position(&mut c)?;
        let nbytes_free = c.u32()?;
        let n_free = c.u32()?;
        let nbytes_name = c.u32()?;
        c.u8()?;
        let compress = c.i32()?;
        let seek_info = position(&mut c)?;
        let nbytes_info = c.u32()?;
        let mut uuid = [0; 16];
        // ROOT 2.x has no UUID: what follows is then zeros, or the first record.
        if c.u16().is_ok()
            && let Ok(bytes) = c.bytes(16)
        {
            uuid.copy_from_slice(bytes);
        }
        if !(50..=1 << 20).contains(&begin) {
            return Err(Error::corrupt(format!("the header says that records begin at byte {begin}")));
        }
        Ok(Self {
            version: version % BIG,
            big,
            begin,
            end,
            seek_free,
            nbytes_free,
            n_free,
            nbytes_name,
            compress,
            seek_info,
            nbytes_info,
            uuid,
        })
    }

    /// The bytes of the header, padded with zeros to 100 bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer::new();
        w.raw(b"root");
        w.i32(if self.big { self.version + BIG } else { self.version });
        // The 32-bit form is chosen only where all positions fit (`big` says so).
        let position = |w: &mut Writer, at: u64| {
            if self.big { w.u64(at) } else { w.u32(u32::try_from(at).unwrap_or(u32::MAX)) }
        };
        w.u32(u32::try_from(self.begin).unwrap_or(u32::MAX));
        position(&mut w, self.end);
        position(&mut w, self.seek_free);
        w.u32(self.nbytes_free);
        w.u32(self.n_free);
        w.u32(self.nbytes_name);
        w.u8(if self.big { 8 } else { 4 });
        w.i32(self.compress);
        position(&mut w, self.seek_info);
        w.u32(self.nbytes_info);
        w.u16(1);
        w.raw(&self.uuid);
        w.bytes.resize(usize::try_from(BEGIN).unwrap_or(100), 0);
        w.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_round_trip() {
        for big in [false, true] {
            let header = FileHeader {
                version: 64000,
                big,
                begin: 100,
                end: if big { 5 << 32 } else { 12345 },
                seek_free: 12000,
                nbytes_free: 60,
                n_free: 1,
                nbytes_name: 58,
                compress: 505,
                seek_info: 11000,
                nbytes_info: 900,
                uuid: [7; 16],
            };
            let bytes = header.to_bytes();
            assert_eq!(bytes.len(), 100);
            assert_eq!(FileHeader::parse(&bytes).unwrap(), header);
        }
    }

    #[test]
    fn other_files_are_refused() {
        assert!(FileHeader::parse(b"PK\x03\x04").unwrap_err().to_string().contains("not a ROOT file"));
        assert!(FileHeader::parse(b"PAR1").unwrap_err().to_string().contains("a Parquet file"));
        assert!(FileHeader::parse(b"root\0\0").is_err());
    }
}
