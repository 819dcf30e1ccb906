//! Replies with several ranges: `multipart/byteranges` (RFC 9110, 14.6). Servers may merge the ranges or give them in another order, so
//! each part is placed by its `Content-Range`.

use std::ops::Range;

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
    Some(value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)).filter(|b| !b.is_empty())
}

/// The parts of a reply: where each lies in the file, and where in `body`. `None` if the body is not whole or not of this kind.
pub(crate) fn parts(body: &[u8], boundary: &str) -> Option<Vec<(Range<u64>, Range<usize>)>> {
    let delimiter = format!("--{boundary}");
    let mut at = find(body, delimiter.as_bytes(), 0)?;
    let mut parts = Vec::new();
    loop {
        at += delimiter.len();
        if body.get(at..at + 2)? == b"--" {
            return Some(parts);
        }
        let head_end = find(body, b"\r\n\r\n", at)?;
        let head = std::str::from_utf8(body.get(at..head_end)?).ok()?;
        let (range, _) = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case("content-range").then(|| content_range(value))?
        })?;
        let start = head_end + 4;
        let end = start.checked_add(usize::try_from(range.end - range.start).ok()?)?;
        // The bytes of a part may look like a delimiter: its end is known by its length.
        let next = find(body, delimiter.as_bytes(), end).filter(|next| *next <= end + 4)?;
        parts.push((range, start..end));
        at = next;
    }
}

/// Where `wanted` first is at or behind `from`.
fn find(bytes: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let behind = bytes.get(from..)?;
    behind.windows(wanted.len()).position(|window| window == wanted).map(|at| from + at)
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
    }

    #[test]
    fn parts_are_found_by_their_ranges() {
        let body = b"preamble\r\n--B\r\nContent-Type: x/y\r\nContent-range: bytes 10-13/99\r\n\r\n--B-\r\n--B\r\n\
            Content-Range: bytes 50-51/99\r\n\r\nxy\r\n--B--\r\n";
        let parts_of = |body: &[u8]| parts(body, "B");
        let found = parts_of(body).unwrap();
        let bytes: Vec<_> = found.iter().map(|(range, at)| (range.clone(), &body[at.clone()])).collect();
        assert_eq!(bytes, [(10..14, &b"--B-"[..]), (50..52, &b"xy"[..])]);
        for end in 0..body.len() - 4 {
            assert_eq!(parts_of(&body[..end]), None, "cut at {end}");
        }
    }
}
