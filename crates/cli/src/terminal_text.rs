//! Makes text safe for a terminal. Names and titles come from files, so characters that control a terminal, or hide or
//! reverse text, are printed as their codes. Line breaks and tabs pass, because tables and lists consist of them.

use std::io::{self, Write};

use rootfile::text::printable_lines;

/// A writer of text that passes printable characters on.
pub struct Printable<W> {
    inner: W,
    /// The beginning of a character whose other bytes come with the next call.
    started: Vec<u8>,
}

impl<W: Write> Printable<W> {
    /// Around another writer.
    pub fn new(inner: W) -> Self {
        Self { inner, started: Vec::new() }
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.inner.write_all(printable_lines(text).as_bytes())
    }
}

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.started);
        all.extend_from_slice(bytes);
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.text(chunk.valid())?;
            let invalid = chunk.invalid();
            let may_go_on = chunks.peek().is_none() && invalid.len() < 4 && invalid.first().is_some_and(|b| *b >= 0xC2);
            match invalid {
                [] => {}
                _ if may_go_on => self.started = invalid.to_vec(),
                _ => invalid.iter().try_for_each(|byte| write!(self.inner, "\\x{byte:02x}"))?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_as_codes() {
        let shown = |parts: &[&[u8]]| {
            let mut out = Printable::new(Vec::new());
            parts.iter().for_each(|part| out.write_all(part).unwrap());
            String::from_utf8(out.inner).unwrap()
        };
        assert_eq!(shown(&[b"a\tb\n", "größe ⠋".as_bytes()]), "a\tb\ngröße ⠋");
        assert_eq!(shown(&[b"\x1b[2Jx\r\x07\x7f"]), r"\u{1b}[2Jx\r\u{7}\u{7f}");
        assert_eq!(shown(&["\u{9b}31m\u{202e}\u{200b}\u{feff}é".as_bytes()]), r"\u{9b}31m\u{202e}\u{200b}\u{feff}é");
        // A character may come in pieces.
        let bytes = "ö\u{9b}⠋".as_bytes();
        assert_eq!(shown(&bytes.chunks(1).collect::<Vec<_>>()), "ö\\u{9b}⠋");
        assert_eq!(shown(&[b"a\xffb"]), r"a\xffb");
    }
}
