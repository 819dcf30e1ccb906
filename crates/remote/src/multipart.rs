//! Replies with several ranges: `multipart/byteranges` (RFC 9110, 14.6). Servers may merge the ranges or give them in another order, so
//! each part is placed by its `Content-Range`.

use std::ops::Range;

/// The longest boundary that is allowed (RFC 2046, 5.1.1).
const LONGEST_BOUNDARY: usize = 70;
/// Bytes before the first boundary, and of the headers of one part.
const MOST_BEFORE: usize = 1024;
const MOST_HEAD: usize = 4096;

/// Range and total size by a `Content-Range` header: `bytes 0-99/1234`. The total may be unknown.
pub(crate) fn content_range(header: &str) -> Option<(Range<u64>, Option<u64>)> {
    let (range, total) = header.trim().strip_prefix("bytes")?.trim_start().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    let total = match total.trim() {
        "*" => None,
        total => Some(total.parse().ok()?),
    };
    (first <= last && total.is_none_or(|total| last < total)).then_some((first..last.checked_add(1)?, total))
}

/// The boundary between parts, if a `Content-Type` header says that there are parts.
pub(crate) fn boundary(content_type: &str) -> Option<&str> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/byteranges") {
        return None;
    }
    let value = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then_some(value.trim())
    })?;
    let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    Some(value).filter(|value| (1..=LONGEST_BOUNDARY).contains(&value.len()))
}

/// A part of a reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Where it lies in the file.
    pub of: Range<u64>,
    /// Where it is in the body.
    pub at: Range<usize>,
    /// The size of the file, if the part says it.
    pub total: Option<u64>,
}

/// The parts of a reply, at most `most`. `None` if the body is not whole or not of this kind. Every byte is looked at once at most,
/// since each delimiter must be where the part before it ends.
pub(crate) fn parts(body: &[u8], boundary: &str, most: usize) -> Option<Vec<Part>> {
    let delimiter = format!("--{boundary}");
    let mut at = find(body, delimiter.as_bytes(), 0, MOST_BEFORE)?;
    let mut parts = Vec::new();
    loop {
        at += delimiter.len();
        if body.get(at..at + 2)? == b"--" {
            return Some(parts);
        }
        if parts.len() == most {
            return None;
        }
        let head_end = find(body, b"\r\n\r\n", at, MOST_HEAD)?;
        let head = std::str::from_utf8(body.get(at..head_end)?).ok()?;
        let (range, total) = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case("content-range").then(|| content_range(value))?
        })?;
        let start = head_end + 4;
        let end = start.checked_add(usize::try_from(range.end - range.start).ok()?)?;
        // The bytes of a part may look like a delimiter: its end is known by its length.
        at = find(body, delimiter.as_bytes(), end, 4)?;
        parts.push(Part { of: range, at: start..end, total });
    }
}

/// Where `wanted` first is, at most `most` bytes behind `from`.
fn find(bytes: &[u8], wanted: &[u8], from: usize, most: usize) -> Option<usize> {
    let end = from.checked_add(most)?.checked_add(wanted.len())?.min(bytes.len());
    memchr::memmem::find(bytes.get(from..end)?, wanted).map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        assert_eq!(content_range("bytes 0-99/1234"), Some((0..100, Some(1234))));
        assert_eq!(content_range("bytes 5-5/*"), Some((5..6, None)));
        for bad in ["bytes */1234", "bytes 9-5/100", "bytes 0-100/100", "items 0-1/2", "bytes 0-18446744073709551615/*"]
        {
            assert_eq!(content_range(bad), None, "{bad}");
        }
        assert_eq!(boundary("multipart/byteranges; boundary=\"a b\""), Some("a b"));
        assert_eq!(boundary("multipart/byteranges;boundary=xyz"), Some("xyz"));
        assert_eq!(boundary("application/octet-stream"), None);
        assert_eq!(boundary(&format!("multipart/byteranges; boundary={}", "x".repeat(70))).unwrap().len(), 70);
        assert_eq!(boundary(&format!("multipart/byteranges; boundary={}", "x".repeat(71))), None);
    }

    #[test]
    fn parts_are_found_by_their_ranges() {
        let body = b"preamble\r\n--B\r\nContent-Type: x/y\r\nContent-range: bytes 10-13/99\r\n\r\n--B-\r\n--B\r\n\
            Content-Range: bytes 50-51/99\r\n\r\nxy\r\n--B--\r\n";
        let parts_of = |body: &[u8]| parts(body, "B", 2);
        let found = parts_of(body).unwrap();
        let bytes: Vec<_> = found.iter().map(|part| (part.of.clone(), &body[part.at.clone()], part.total)).collect();
        assert_eq!(bytes, [(10..14, &b"--B-"[..], Some(99)), (50..52, &b"xy"[..], Some(99))]);
        assert_eq!(parts(body, "B", 1), None);
        for end in 0..body.len() - 4 {
            assert_eq!(parts_of(&body[..end]), None, "cut at {end}");
        }
    }
    #[test]
    fn what_is_not_where_it_must_be_is_not_searched_for() {
        let head = "\r\n--B\r\nContent-Range: bytes 10-13/99\r\n\r\n";
        let with = |before: usize, filling: usize, behind: usize| {
            let pad = |count: usize| "-".repeat(count);
            parts(format!("{}{head}abcd{}\r\n--B{}--", pad(before), pad(behind), pad(filling)).as_bytes(), "B", 2)
        };
        assert!(with(0, 0, 0).is_some());
        assert!(with(MOST_BEFORE - 2, 0, 2).is_some());
        assert!(with(MOST_BEFORE + 1, 0, 0).is_none());
        assert!(with(0, 0, 5).is_none());
        let long = format!("--B\r\nX: {}{}abcd\r\n--B--", "x".repeat(MOST_HEAD), &head[5..]);
        assert!(parts(long.as_bytes(), "B", 2).is_none());
    }
}
