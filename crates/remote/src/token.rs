//! Bearer tokens, found by the rules of the WLCG (WLCG Bearer Token Discovery, doi:10.5281/zenodo.3937438).

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use reqwest::Url;

/// The token for a server: the first of `BEARER_TOKEN`, the file that `BEARER_TOKEN_FILE` names,
/// `$XDG_RUNTIME_DIR/bt_u<uid>` and `/tmp/bt_u<uid>`. Only encrypted connections and this machine get it, and no server
/// whose URL has a token already.
pub(crate) fn token_for(url: &Url) -> Option<String> {
    let local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    let has_own = url.query_pairs().any(|(name, _)| name == "authz") || !url.username().is_empty();
    if has_own || !(url.scheme() == "https" || local) {
        return None;
    }
    discover(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()))
}

/// The token by these environment variables.
fn discover(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    if let Some(token) = variable("BEARER_TOKEN") {
        return clean(&token);
    }
    if let Some(file) = variable("BEARER_TOKEN_FILE") {
        return clean(&std::fs::read_to_string(file).ok()?);
    }
    // The owner of the own process's folder is its effective user.
    let user = std::fs::metadata("/proc/self").ok()?.uid();
    let folders = variable("XDG_RUNTIME_DIR").into_iter().chain(["/tmp".to_owned()]);
    let files = folders.map(|folder| PathBuf::from(folder).join(format!("bt_u{user}")));
    // Anybody may write to /tmp: a file of another user is not ours.
    let own = |file: &PathBuf| std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.uid() == user);
    files.into_iter().filter(own).find_map(|file| clean(&std::fs::read_to_string(file).ok()?))
}

/// A token without white space around it. A header can hold no other characters than these.
fn clean(token: &str) -> Option<String> {
    let token = token.trim();
    let is_plain = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    is_plain.then(|| token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_with_a_token_counts() {
        let folder = tempfile::tempdir().unwrap();
        let user = std::fs::metadata("/proc/self").unwrap().uid();
        std::fs::write(folder.path().join("named"), "from-file\n").unwrap();
        std::fs::write(folder.path().join(format!("bt_u{user}")), " from-folder ").unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let known = |names: &'static [&str]| {
            let (file, runtime) = (path("named"), path(""));
            move |name: &str| match name {
                _ if !names.contains(&name) => None,
                "BEARER_TOKEN" => Some("direct".to_owned()),
                "BEARER_TOKEN_FILE" => Some(file.clone()),
                _ => Some(runtime.clone()),
            }
        };
        let all = &["BEARER_TOKEN", "BEARER_TOKEN_FILE", "XDG_RUNTIME_DIR"];
        assert_eq!(discover(known(all)).as_deref(), Some("direct"));
        assert_eq!(discover(known(&all[1..])).as_deref(), Some("from-file"));
        assert_eq!(discover(known(&all[2..])).as_deref(), Some("from-folder"));
        assert_eq!(clean("a b"), None);
    }

    #[test]
    fn no_token_for_plain_connections() {
        let url = |text: &str| Url::parse(text).unwrap();
        assert_eq!(token_for(&url("http://example.org/a")), None);
        assert_eq!(token_for(&url("https://example.org/a?authz=own")), None);
    }
}
