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

/// Scheme, host and port of a URL, in one spelling. None where a host has characters that readers of URLs may take for something
/// else, and of schemes that are chained.
pub(crate) fn origin(url: &str) -> Option<(String, String)> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?.to_ascii_lowercase();
    let is_plain = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-._:[]".contains(c));
    if !is_plain || scheme.contains("::") {
        return None;
    }
    let usual = match scheme.as_str() {
        "http" => "80",
        "https" => "443",
        "root" | "roots" | "xroot" | "xroots" => "1094",
        _ => "",
    };
    let (name, port) = host.rsplit_once(':').filter(|(_, port)| !port.contains(']')).unwrap_or((&host, usual));
    let port = if port.is_empty() { usual } else { port };
    Some((scheme, format!("{name}:{port}")))
}

/// The path of another file, counted from the folder of `own`. At a URL the other has its parameters too: those that let in to a
/// file of a folder are for the folder as a rule.
pub fn beside(own: &Path, name: &Path) -> PathBuf {
    let Some(own) = url(own) else { return own.parent().unwrap_or(Path::new("")).join(name) };
    let (address, parameters) = own.split_at(own.find(['?', '#']).unwrap_or(own.len()));
    // A URL that ends with its host has no folder to leave.
    let host = address.find("://").map_or(0, |at| at + 3);
    let folder = address.rsplit_once('/').map_or(address, |(folder, _)| folder);
    let folder = if folder.len() < host { address } else { folder };
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
            ("https://h?f=a.root", "b.root", "https://h/b.root?f=a.root"),
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
