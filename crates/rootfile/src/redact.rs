//! What messages, reports and logs may show of URLs: no user, no password, no parameters, since any of them may be a secret.
//! Paths that are locations go through [`public_path`], sentences in which a location may stand through [`public_text`]. It
//! is the only place that decides this.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::url::url;

/// Parameters whose values let in (WLCG tokens, OAuth, signatures of S3 and of Google's and Microsoft's stores), in small letters.
const SECRETS: [&str; 19] = [
    "access_token",
    "apikey",
    "api_key",
    "auth",
    "authorization",
    "authz",
    "awsaccesskeyid",
    "id_token",
    "key",
    "passwd",
    "password",
    "refresh_token",
    "secret",
    "sig",
    "signature",
    "token",
    "x-amz-credential",
    "x-amz-security-token",
    "x-amz-signature",
];

/// Schemes of URLs, for text in which `://` may have become `:/`, as paths of Python's `pathlib` have it.
const SCHEMES: [&str; 12] =
    ["http", "https", "s3", "s3a", "gs", "root", "roots", "xroot", "xroots", "dav", "davs", "gsiftp"];

/// What messages and reports may show of a path: URLs without user, password and parameters, which may be secrets. Of other
/// paths everything, but for values of parameters that are known to be secrets: the scheme may have been forgotten.
pub fn public_path(path: &Path) -> Cow<'_, Path> {
    let changed = |shown: Cow<'_, str>| match shown {
        Cow::Borrowed(_) => Cow::Borrowed(path),
        Cow::Owned(shown) => Cow::Owned(PathBuf::from(shown)),
    };
    match (url(path), path.to_str()) {
        (Some(url), _) => {
            let end = url.find(['?', '#']).unwrap_or(url.len());
            Cow::Owned(PathBuf::from(without_users(url.get(..end).unwrap_or_default()).into_owned()))
        }
        (None, Some(text)) => changed(public_text(text)),
        // What is no text is no URL, and yet may have been made of one.
        (None, None) => match path.to_string_lossy() {
            text if text.contains(['?', '@']) && public_text(&text) != text => {
                changed(public_text(&text).into_owned().into())
            }
            _ => Cow::Borrowed(path),
        },
    }
}

/// A sentence, the words of a command or a name that somebody typed, as messages may show it: each URL in it without user,
/// password and parameters, and elsewhere `?authz=...` and other parameters that are secrets without their values.
pub fn public_text(text: &str) -> Cow<'_, str> {
    if !text.contains([':', '=', '@']) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, url, behind)) = next_url(rest) {
        shown.push_str(&without_values(before));
        let end = url.find(['?', '#']).unwrap_or(url.len());
        let (address, parameters) = url.split_at(end);
        shown.push_str(&without_users(address));
        // The stop of a sentence is none of the URL.
        shown.push_str(
            parameters.get(parameters.trim_end_matches(['.', ',', ':', ';', ')']).len()..).unwrap_or_default(),
        );
        rest = behind;
    }
    shown.push_str(&without_values(rest));
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// Whether a text has what [`public_text`] hides: a file with such a text is for its owner alone.
pub fn has_secrets(text: &str) -> bool {
    matches!(public_text(text), Cow::Owned(_))
}

/// The first URL of a text: what is before it, the URL up to a blank or a quotation mark, and what is behind it.
fn next_url(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find(":/")?;
        let before = text.get(..at)?;
        let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let start = before
            .rfind(|c| !is_of_scheme(c))
            .map_or(0, |other| other + before.get(other..).and_then(|t| t.chars().next()).map_or(1, char::len_utf8));
        let scheme = before.get(start..)?;
        let known = || SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
        if scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && (text.get(at..)?.starts_with("://") || known()) {
            let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
            let end = text.get(at..)?.find(is_end).map_or(text.len(), |end| at + end);
            return Some((text.get(..start)?, text.get(start..end)?, text.get(end..)?));
        }
        from = at + 2;
    }
}

/// An address without `user:password@` before its hosts. Chained URLs (`zip://a::https://user@host`) have several.
fn without_users(address: &str) -> Cow<'_, str> {
    if !address.contains('@') {
        return Cow::Borrowed(address);
    }
    let mut shown = String::with_capacity(address.len());
    let mut rest = address;
    while let Some(at) = rest.find(":/") {
        let slashes = rest.get(at + 1..).map_or(0, |behind| behind.len() - behind.trim_start_matches('/').len());
        let (head, behind) = rest.split_at(at + 1 + slashes);
        shown.push_str(head);
        // `root://host//path` has its path behind the host, and a host has no `/`.
        let host_end = behind.find('/').unwrap_or(behind.len());
        let user = behind.get(..host_end).and_then(|host| host.rfind('@')).map_or(0, |at| at + 1);
        rest = behind.get(user..).unwrap_or_default();
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// A text without the values of parameters that are secrets: `?authz=...`.
fn without_values(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('=') {
        let (before, behind) = rest.split_at(at + 1);
        shown.push_str(before);
        rest = behind;
        let name = before.strip_suffix('=').unwrap_or(before);
        let start = name.rfind(['?', '&', ';']).map_or(name.len(), |start| start + 1);
        if SECRETS.iter().any(|secret| name.get(start..).is_some_and(|name| name.eq_ignore_ascii_case(secret))) {
            let is_end = |c: char| c.is_whitespace() || matches!(c, '&' | '"' | '\'' | '`' | '<' | '>' | '=');
            let end = rest.find(is_end).unwrap_or(rest.len());
            // `?token==5` is a condition.
            if end > 0 {
                shown.push_str("...");
                rest = rest.get(end..).unwrap_or_default();
            }
        }
    }
    if shown.is_empty() {
        return Cow::Borrowed(text);
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_do_not_show_secrets() {
        for (path, shown) in [
            ("https://h/a.root?authz=secret", "https://h/a.root"),
            ("https://me:secret@h:1/a@b", "https://h:1/a@b"),
            ("root://u@h//a", "root://h//a"),
            ("s3://key:secret@bucket/a", "s3://bucket/a"),
            ("zip://a.root::https://me:secret@h/a.zip?token=secret", "zip://a.root::https://h/a.zip"),
            ("simplecache::https://me:secret@h/a.root#t", "simplecache::https://h/a.root"),
            // As `pathlib.Path` has it: no URL any more.
            ("https:/me:secret@h/a.root?authz=secret", "https:/h/a.root"),
            ("h/a.root?x=1&authz=secret", "h/a.root?x=1&authz=..."),
            ("dir/a?b", "dir/a?b"),
            ("dir/a@b:/c", "dir/a@b:/c"),
        ] {
            assert_eq!(public_path(Path::new(path)).to_string_lossy(), shown);
        }
    }

    #[test]
    fn texts_do_not_show_secrets() {
        for (text, shown) in [
            ("error at https://me:secret@h/a?X-Amz-Signature=secret: gone", "error at https://h/a: gone"),
            ("GET 'http://h/a?sig=secret&b' and (root://u:secret@h//b).", "GET 'http://h/a' and (root://h//b)."),
            ("no tree Nope?authz=secret", "no tree Nope?authz=..."),
            ("a?X-Amz-Credential=AKIA/x&b=2&TOKEN=secret&c", "a?X-Amz-Credential=...&b=2&TOKEN=...&c"),
            ("é https:/me:secret@h/é?x=secret ü", "é https:/h/é ü"),
        ] {
            assert_eq!(public_text(text), shown);
        }
    }

    #[test]
    fn other_texts_stay() {
        for text in [
            "a && sig == 1",
            "sig=1",
            "x?1:2",
            "a: b",
            "C:/x/a@b",
            "://",
            "é://h/?a=1é",
            "=?token=",
            "?token== 5",
            "me@h.org",
        ] {
            assert!(matches!(public_text(text), Cow::Borrowed(same) if same == text), "{text}: {}", public_text(text));
        }
    }
}
