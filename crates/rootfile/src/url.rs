//! Which paths are URLs, and the URLs of files beside others. It opens nothing. What messages may show of a URL is in
//! `redact`.

use std::path::{Path, PathBuf};

/// The text of a path that is a URL: `scheme://rest`, or `cache::scheme://rest` as fsspec chains them. `file:///path` is none: it
/// names a path. Schemes may be written in capitals (RFC 3986, 3.1).
pub fn url(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = |part: &str| {
        let letters = part.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        letters && part.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    (scheme.split("::").all(is_scheme) && !scheme.eq_ignore_ascii_case("file")).then_some(text)
}

/// The path of another file, counted from the folder of `own`. At a URL the other has its parameters too: those that let in to a
/// file of a folder are for the folder as a rule.
pub fn beside(own: &Path, name: &Path) -> PathBuf {
    let Some(own) = url(own) else { return own.parent().unwrap_or(Path::new("")).join(name) };
    let (address, parameters) = own.split_at(own.find(['?', '#']).unwrap_or(own.len()));
    let folder = address.rsplit_once('/').map_or(address, |(folder, _)| folder);
    PathBuf::from(format!("{folder}/{}{parameters}", name.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_beside() {
        for (own, name, found) in [
            ("https://h/d/a.root?authz=x/y", "b.root", "https://h/d/b.root?authz=x/y"),
            ("root://h//d/a.root", "e/b.root", "root://h//d/e/b.root"),
            ("d/a.root", "b.root", "d/b.root"),
            ("a.root", "b.root", "b.root"),
        ] {
            assert_eq!(beside(Path::new(own), Path::new(name)), Path::new(found));
        }
    }

    #[test]
    fn urls_are_told_from_paths() {
        for text in ["http://h/a.root", "https://h/a?authz=x", "root://h:1094//a", "s3://b/k", "ROOT://h//a"] {
            assert_eq!(url(Path::new(text)), Some(text));
        }
        for text in ["a.root", "/a/b", "a:b", "://x", "a b://c", "file:///a", "File:///a", "1://x"] {
            assert_eq!(url(Path::new(text)), None, "{text}");
        }
    }
}
