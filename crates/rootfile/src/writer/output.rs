//! An output that is not a ROOT file: bytes under a temporary name until all are written.

use std::io::{self, Write};
use std::path::Path;

use super::disk::Disk;
use crate::Result;
use crate::redact::has_secrets;
use crate::temporary::Readers;

/// A file that gets its name only when it is finished, and is removed if dropped before.
pub struct OutputFile {
    disk: Disk,
    at: u64,
}

impl OutputFile {
    /// Starts a file with the name `path`.
    ///
    /// # Errors
    ///
    /// If the file exists and `overwrite` is false, if another process writes it, or if it cannot be created.
    pub fn create(path: &Path, overwrite: bool) -> Result<Self> {
        Ok(Self { disk: Disk::create(path, overwrite)?, at: 0 })
    }

    /// Writes a whole file, and replaces an existing one. A text with secrets of URLs is for the user's eyes alone (mode 0600).
    ///
    /// # Errors
    ///
    /// As for [`create`](Self::create) and [`finish`](Self::finish). An existing file then stays as it is.
    pub fn replace(path: &Path, text: &str) -> Result<()> {
        let readers = if has_secrets(text) { Readers::Owner } else { Readers::AsUsual };
        let mut file = Self { disk: Disk::create_for(path, true, readers)?, at: 0 };
        file.write_all(text.as_bytes())?;
        file.finish().map(drop)
    }

    /// Syncs the file and renames it to its name. Returns its size in bytes.
    ///
    /// # Errors
    ///
    /// If writing or renaming fails. The temporary file is then removed.
    pub fn finish(self) -> Result<u64> {
        self.disk.stage(self.at)?.deliver()
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The `io::Error` wraps this crate's error, so that callers can take it out again.
        self.disk.write_at(self.at, bytes).map_err(io::Error::other)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_secrets_is_for_its_owner() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.json");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o077;
        std::fs::write(&path, "").unwrap();
        let as_usual = mode(&path);
        for (text, expected) in [
            (r#"{"a": ["x.root", "https://h/a.root"]}"#, as_usual),
            (r#"{"a": ["x.root", "https://h/a.root?authz=t&x=1"]}"#, 0),
            (r#"["root://me:t@h//a.root:tree"]"#, 0),
            ("a.root?sig=t", 0),
        ] {
            OutputFile::replace(&path, text).unwrap();
            assert_eq!((mode(&path), std::fs::read_to_string(&path).unwrap().as_str()), (expected, text));
        }
    }

    #[test]
    fn a_file_appears_once_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.parquet");
        let mut given_up = OutputFile::create(&path, false).unwrap();
        given_up.write_all(b"half").unwrap();
        drop(given_up);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        let mut whole = OutputFile::create(&path, false).unwrap();
        whole.write_all(b"who").unwrap();
        whole.write_all(b"le").unwrap();
        assert!(!path.exists());
        assert_eq!(whole.finish().unwrap(), 5);
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        assert!(OutputFile::create(&path, false).is_err() && OutputFile::create(&path, true).is_ok());
    }
}
