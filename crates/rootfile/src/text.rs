//! Conversion of names to text. ROOT's strings are bytes without an encoding: most are ASCII, some UTF-8, old ones
//! Latin-1.
//!
//! Bytes that are not UTF-8 are mapped to U+F780..U+F7FF (a private use area), so that any name is text and can be
//! written back byte for byte.
//!
//! Text for people is measured here as well: how many columns of a terminal it takes, and how it is cut to fewer. A letter with
//! its accents is one, and those of Chinese, Japanese and Korean take two columns.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

const ESCAPE: u32 = 0xF700;

/// Text for any bytes; [`encode`] gives the same bytes back.
pub fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(s) => s.to_owned(),
        Err(_) => bytes
            .utf8_chunks()
            .flat_map(|chunk| {
                chunk
                    .valid()
                    .chars()
                    .chain(chunk.invalid().iter().filter_map(|&b| char::from_u32(ESCAPE + u32::from(b))))
            })
            .collect(),
    }
}

/// The bytes of a text made by [`decode`].
pub fn encode(text: &str) -> Cow<'_, [u8]> {
    let escaped = |c: char| u8::try_from(u32::from(c).wrapping_sub(ESCAPE)).ok().filter(|b| *b >= 0x80);
    if text.is_ascii() || !text.chars().any(|c| escaped(c).is_some()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        match escaped(c) {
            Some(b) => out.push(b),
            None => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(out)
}

/// Whether a character is safe to show: it does not control a terminal, hide, or reverse text.
pub fn is_printable(c: char) -> bool {
    let hidden = matches!(
        u32::from(c),
        0xAD | 0x61C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE007F
    );
    !c.is_control() && !hidden
}

/// Text from a file for one line of a terminal: unprintable characters are shown as codes, `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if is_printable(c) => out.push(c),
            '\n' | '\r' | '\t' => out.extend(c.escape_default()),
            c => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

/// Text of several lines for a terminal: as [`printable`] shows it, but line breaks and tabs stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    let passes = |c: char| is_printable(c) || c == '\n' || c == '\t';
    if text.chars().all(passes) {
        return Cow::Borrowed(text);
    }
    let parts = text.split_inclusive(['\n', '\t']).flat_map(|part| {
        let plain = part.trim_end_matches(['\n', '\t']);
        [printable(plain), Cow::Borrowed(part.get(plain.len()..).unwrap_or_default())]
    });
    Cow::Owned(parts.collect())
}

/// A count for people, with a comma before every three digits.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A count with its noun.
pub fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// The columns of a terminal that a text in one line takes.
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// The longest beginning of a text, in whole letters, that takes at most so many columns; and the rest.
pub fn split_at_width(text: &str, most: usize) -> (&str, &str) {
    text.split_at(letters_within(text.grapheme_indices(true).map(|(_, letter)| letter), most))
}

/// The bytes of the first of these letters that together take at most so many columns.
fn letters_within<'a>(letters: impl Iterator<Item = &'a str>, most: usize) -> usize {
    let mut used = 0;
    let fitting = letters.take_while(|letter| {
        used += width(letter);
        used <= most
    });
    fitting.map(str::len).sum()
}

/// Text of at most so many columns, three at least: a longer one is cut in the middle, as names often differ in their ends.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    // No letter takes more columns than bytes.
    if text.len() <= most || width(text) <= most {
        return Cow::Borrowed(text);
    }
    let kept = most.max(3) - 1;
    let behind = (kept / 3).max(1);
    let (begin, rest) = split_at_width(text, kept - behind);
    let end = rest.len() - letters_within(rest.graphemes(true).rev(), behind);
    Cow::Owned(format!("{begin}…{}", rest.get(end..).unwrap_or_default()))
}

/// Text of at most so many columns: a longer one is cut at its end.
pub fn begun(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most || width(text) <= most {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", split_at_width(text, most.saturating_sub(1)).0))
}

/// Text with blanks behind it, so many columns together.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Text with blanks before it, so many columns together.
pub fn to_the_right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_commas() {
        for (n, text) in [(0, "0"), (999, "999"), (1_234_567, "1,234,567")] {
            assert_eq!(count(n), text);
        }
        assert_eq!([0, 1, 2].map(|n| plural(n, "tree", "trees")), ["0 trees", "1 tree", "2 trees"]);
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(printable_lines("a\tb\n\u{1b}c\r\n\n"), "a\tb\n\\u{1b}c\\r\n\n");
    }

    #[test]
    fn long_texts_are_cut_in_the_middle() {
        assert_eq!(shortened("größe", 5), "größe");
        assert_eq!(shortened("aäbcdefghij", 7), "aäbc…ij");
        for (length, most) in [(30_000, 160), (4, 3), (200, 100)] {
            assert_eq!(width(&shortened(&"ä".repeat(length), most)), most);
        }
    }

    #[test]
    fn letters_take_their_columns_and_stay_whole() {
        for (text, columns) in
            [("pt", 2), ("größe", 5), ("gro\u{308}ße", 5), ("横運動量", 8), ("한", 2), ("ｐｔ", 4), ("", 0)]
        {
            assert_eq!(width(text), columns, "{text}");
        }
        assert_eq!(shortened("横運動量の誤差", 9), "横運動…差");
        assert_eq!(split_at_width("横運動量", 5), ("横運", "動量"));
        assert_eq!(split_at_width("ae\u{301}b", 2), ("ae\u{301}", "b"));
        assert_eq!((begun("横運動量", 7), begun("横運動量", 8)), ("横運動…".into(), "横運動量".into()));
        assert_eq!((to_the_right("横", 4), to_the_right("long", 2)), ("  横".into(), "long".into()));
        assert_eq!(
            (padded("横", 4), padded("pt", 4), padded("long", 2)),
            ("横  ".into(), "pt  ".into(), "long".into())
        );
    }

    #[test]
    fn what_is_cut_is_no_wider_than_it_may_be() {
        let letters = ["a", "é", "e\u{301}", "横", "한", "👍🏽", "🇨🇭", "ｶﾞ", "\u{f7ff}", "…", "q\u{323}\u{307}"];
        for seed in 0..200usize {
            let text: String =
                (0..seed % 40).filter_map(|n| letters.get((seed * 7 + n * n * 3) % letters.len())).copied().collect();
            for most in 3..30 {
                let (begin, rest) = split_at_width(&text, most);
                assert_eq!(format!("{begin}{rest}"), text);
                for cut in [&*shortened(&text, most), &*begun(&text, most), begin] {
                    assert!(width(cut) <= most, "{text}: {cut}");
                    let parts = cut.split('…').flat_map(|part| part.graphemes(true));
                    assert!(parts.clone().all(|letter| letters.contains(&letter)), "{text}: {cut}");
                }
            }
        }
    }

    #[test]
    fn any_bytes_survive() {
        for bytes in [&b"plain"[..], "größe".as_bytes(), b"gr\xf6\xdfe", b"\xff\xfe\x80", b""] {
            assert_eq!(&*encode(&decode(bytes)), bytes);
        }
    }

    #[test]
    fn unprintable_characters_are_shown_as_codes() {
        assert!(matches!(printable("größe ⠋ \u{f780}"), Cow::Borrowed(_)));
        assert_eq!(printable("a\n\u{1b}[1m\u{9b}\u{202e}\u{200d}b"), r"a\n\u{1b}[1m\u{9b}\u{202e}\u{200d}b");
    }
}
