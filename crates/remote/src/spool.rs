//! A file that a server sends only whole, since it ignores ranges: received once, into a temporary file without a name.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;

use reqwest::Response;
use rootfile::{Error, Result};

/// The whole file.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    pub size: u64,
}

impl Spool {
    /// Receives a reply to its end.
    pub async fn receive(mut reply: Response) -> std::result::Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let expected = reply.content_length();
        let mut file = tempfile::tempfile()?;
        let mut size = 0;
        while let Some(bytes) = reply.chunk().await? {
            file.write_all(&bytes)?;
            size += bytes.len() as u64;
        }
        match expected.is_none_or(|expected| expected == size) {
            true => Ok(Self { file, size }),
            false => Err(format!("the reply ended after {size} of {} bytes", expected.unwrap_or(0)).into()),
        }
    }

    /// Bytes of the file.
    pub fn read(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(buf, offset).map_err(|e| Error::from(e).at(offset))
    }
}
