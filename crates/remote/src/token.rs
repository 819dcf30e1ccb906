//! Bearer tokens, found by the rules of the WLCG (WLCG Bearer Token Discovery, doi:10.5281/zenodo.3937438), and which servers get them:
//! that of the URL which the user named, and those that he lists. It reads no URL's content and sends nothing.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use reqwest::Url;

/// The variable with the list of servers.
pub(crate) const HOSTS: &str = "BASKETRY_TOKEN_HOSTS";

/// Why no token is sent to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoToken {
    /// There is none, as far as it was looked for.
    Unknown,
    /// The URL has credentials of its own.
    Own,
    /// The connection is not encrypted.
    Plain,
    /// It is another server than the user named.
    Foreign,
}

/// The token for a server: the first of `BEARER_TOKEN`, the file that `BEARER_TOKEN_FILE` names,
/// `$XDG_RUNTIME_DIR/bt_u<uid>` and `/tmp/bt_u<uid>`.
///
/// `is_named` says whether the server is that of the URL which the user named: scheme, host and port. Of other servers those
/// on the list `BASKETRY_TOKEN_HOSTS` get it. Connections that are not encrypted do not, but for those to this machine that the list has
/// with their scheme (`http://127.0.0.1:8080`), which are one's own tunnels. A server whose URL has a token does not need it.
pub(crate) fn token_for(url: &Url, is_named: bool) -> Result<String, NoToken> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    may_have(url, is_named, &variable(HOSTS).unwrap_or_default())?;
    discover(variable).ok_or(NoToken::Unknown)
}

/// Whether a server may have a token.
fn may_have(url: &Url, is_named: bool, list: &str) -> Result<(), NoToken> {
    let is_listed = list.split([',', ' ', '\t', '\n']).any(|entry| fits(entry, url));
    match url.scheme() {
        _ if url.query_pairs().any(|(name, _)| name == "authz") || !url.username().is_empty() => Err(NoToken::Own),
        "https" if is_named || is_listed => Ok(()),
        "https" => Err(NoToken::Foreign),
        _ if is_listed && is_this_machine(url) => Ok(()),
        _ => Err(NoToken::Plain),
    }
}

/// Whether an entry of the list is of a server: `host`, `host:port`, `*.domain`, `https://host`, or `http://host`, without which no
/// unencrypted connection is meant.
fn fits(entry: &str, url: &Url) -> bool {
    let (scheme, rest) = entry.split_once("://").unwrap_or(("https", entry));
    let rest = rest.trim_end_matches('/');
    let host = url.host_str().unwrap_or_default();
    let (name, port) = match rest.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()) {
        Some((name, port)) => (name, port.parse().ok()),
        None => (rest, None),
    };
    let is_host = match name.strip_prefix('*') {
        Some(domain) => {
            let tail = host.len().checked_sub(domain.len()).filter(|at| *at > 0).and_then(|at| host.get(at..));
            domain.starts_with('.') && domain.len() > 1 && tail.is_some_and(|tail| tail.eq_ignore_ascii_case(domain))
        }
        None => !name.is_empty() && host.eq_ignore_ascii_case(name),
    };
    scheme.eq_ignore_ascii_case(url.scheme()) && is_host && (port.is_none() || port == url.port_or_known_default())
}

/// Whether a URL is of a server on this machine, by its address or by the one name that stands for it.
pub(crate) fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
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

    fn may(url: &str, is_named: bool, list: &str) -> Result<(), NoToken> {
        may_have(&Url::parse(url).unwrap(), is_named, list)
    }

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
    fn the_named_server_and_listed_ones_may_have_it() {
        assert_eq!(may("https://h/a", true, ""), Ok(()));
        assert_eq!(may("https://h/a", false, ""), Err(NoToken::Foreign));
        for list in
            ["h.x.org", "H.X.org:443", "a, h.x.org", "*.x.org", "*.org b", "https://h.x.org", "https://h.x.org:443/"]
        {
            assert_eq!(may("https://h.x.org/a", false, list), Ok(()), "{list}");
        }
        for list in [
            "x.org",
            "*.h.x.org",
            "*",
            "*.",
            "*x.org",
            "h.x.org:8443",
            "http://h.x.org",
            "hh.x.org",
            "h.x.org.",
            ":443",
            ",",
        ] {
            assert_eq!(may("https://h.x.org/a", false, list), Err(NoToken::Foreign), "{list}");
        }
    }

    #[test]
    fn no_token_goes_over_plain_connections() {
        for list in ["", "h", "*.x.org", "http://h", "127.0.0.1", "localhost"] {
            assert_eq!(may("http://h/a", true, list), Err(NoToken::Plain), "{list}");
            assert_eq!(may("http://127.0.0.1:8080/a", true, list), Err(NoToken::Plain), "{list}");
        }
        assert_eq!(may("http://127.0.0.1:8080/a", true, "http://127.0.0.1:8080"), Ok(()));
        assert_eq!(may("http://[::1]:8080/a", true, "http://[::1]"), Ok(()));
        assert_eq!(may("http://127.0.0.1:8081/a", true, "http://127.0.0.1:8080"), Err(NoToken::Plain));
        assert_eq!(may("http://localhost/a", true, "http://127.0.0.1"), Err(NoToken::Plain));
    }

    #[test]
    fn no_token_is_added_to_another() {
        assert_eq!(may("https://h/a?authz=own", true, ""), Err(NoToken::Own));
        assert_eq!(may("https://me:pw@h/a", true, "h"), Err(NoToken::Own));
    }
}
