//! Where requests for a file go, and what they carry: the URL of the file, or one that is signed anew; the places that the server
//! redirects to, the last of which is asked directly from then on; and for whom credentials are.
//!
//! Credentials that are found on this machine are for the server that the user named (scheme, host and port), and for those that he
//! lists. Once a request has left that server, nothing of it goes along: no token, no user, no signature, and never the
//! parameters of its URL.

use std::io;
use std::sync::{Mutex, PoisonError};

use reqwest::Url;
use rootfile::{Credentials, Error, Result};

use crate::s3::Bucket;
use crate::token::{NoToken, token_for};

/// Redirects of one request.
const MOST_REDIRECTS: u32 = 10;

/// Where a file is.
pub(crate) enum Origin {
    /// At a URL. All its parameters are sent.
    Url(Url),
    /// In a bucket, under this key.
    Bucket(Box<Bucket>),
}

/// Where requests go.
pub(crate) struct Endpoint {
    origin: Origin,
    /// Whose credentials go there.
    credentials: Credentials,
    /// The place of the last good reply, if the origin redirected there.
    redirected: Mutex<Option<Place>>,
}

/// A place, and how a request came there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    url: Url,
    /// Whether all before it and itself are on the server that the user named.
    is_home: bool,
    /// Whether one before it was encrypted. Then nothing is sent over a plain connection any more.
    was_encrypted: bool,
    redirects: u32,
}

/// One request's destination.
#[derive(Debug)]
pub(crate) struct Destination {
    place: Place,
    /// The token, or why there is none.
    pub token: std::result::Result<String, NoToken>,
    /// Whether the URL has a signature of ours.
    is_signed: bool,
    /// Whether the origin is passed over.
    pub is_shortcut: bool,
}

impl Destination {
    /// Its URL.
    pub fn url(&self) -> &Url {
        &self.place.url
    }

    /// Whether the request must not pass through a proxy, which would read the credentials in it.
    pub fn must_be_direct(&self) -> bool {
        self.place.url.scheme() == "http" && (self.is_signed || self.token.is_ok())
    }
}

impl Endpoint {
    pub fn new(origin: Origin, credentials: Credentials) -> Self {
        Self { origin, credentials, redirected: Mutex::default() }
    }

    /// The host, for messages.
    pub fn host(&self) -> String {
        match &self.origin {
            Origin::Url(url) => host(url),
            Origin::Bucket(bucket) => bucket.host(),
        }
    }

    /// Where the next request goes.
    pub async fn destination(&self) -> Result<Destination> {
        let shortcut = self.redirected.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(place) = shortcut {
            // The server that redirects vouches for the other by parameters in its URL.
            return Ok(self.at(place, true));
        }
        let first = |url: Url| Place {
            was_encrypted: url.scheme() == "https",
            url,
            is_home: self.credentials == Credentials::Users,
            redirects: 0,
        };
        Ok(match &self.origin {
            Origin::Url(url) => self.at(first(url.clone()), false),
            Origin::Bucket(bucket) => {
                let place = first(bucket.signed_url().await?);
                Destination { place, token: Err(NoToken::Own), is_signed: !bucket.is_public(), is_shortcut: false }
            }
        })
    }

    /// A destination with the token that it may have.
    fn at(&self, place: Place, is_shortcut: bool) -> Destination {
        let is_downgrade = place.was_encrypted && place.url.scheme() != "https";
        let token = match &self.origin {
            Origin::Url(_) if self.credentials == Credentials::None => Err(NoToken::Foreign),
            Origin::Url(_) if is_downgrade => Err(NoToken::Plain),
            Origin::Url(_) => token_for(&place.url, place.is_home),
            Origin::Bucket(_) => Err(NoToken::Own),
        };
        Destination { place, token, is_signed: false, is_shortcut }
    }

    /// Where a reply with this `Location` sends a request to.
    ///
    /// # Errors
    ///
    /// That is no place to go, or the request was signed for another.
    pub fn redirected(&self, asked: &Destination, location: &str) -> Result<Destination> {
        let Place { url: from, is_home, was_encrypted, redirects } = &asked.place;
        let unusable = || Error::unsupported("the server redirects to what is no URL");
        let mut url = from.join(location).map_err(|_| unusable())?;
        if !matches!(url.scheme(), "http" | "https") {
            let scheme = url.scheme();
            return Err(Error::unsupported(format!("the server redirects to {scheme}://, which is not followed")));
        }
        if *redirects >= MOST_REDIRECTS {
            return Err(Error::unsupported("the server redirects without end: too many redirects"));
        }
        if asked.is_signed {
            let to = host(&url);
            return Err(Error::unsupported(format!(
                "the store redirects to {to}, for which the request is not signed: AWS_REGION and AWS_ENDPOINT_URL say \
                 where the bucket is"
            )));
        }
        let is_same = url.origin() == from.origin();
        if !is_same {
            // Users that a server names are none of the user's.
            url.set_username("").and_then(|()| url.set_password(None)).map_err(|()| unusable())?;
        }
        url.set_fragment(None);
        let was_encrypted = *was_encrypted || url.scheme() == "https";
        let place = Place { url, is_home: *is_home && is_same, was_encrypted, redirects: redirects + 1 };
        Ok(self.at(place, asked.is_shortcut))
    }

    /// Remembers where a good reply came from.
    pub fn answered_by(&self, asked: &Destination) {
        if let Origin::Url(origin) = &self.origin
            && !asked.is_shortcut
            && origin.origin() != asked.place.url.origin()
        {
            let place = Place { redirects: 0, ..asked.place.clone() };
            *self.redirected.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
        }
    }

    /// Forgets where the origin redirected to: it may send the next request elsewhere.
    pub fn failed(&self) {
        *self.redirected.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The host of a URL and its port, if it is not the usual one.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Parses a URL.
pub(crate) fn parse(url: &str) -> Result<Url> {
    Url::parse(url).map_err(|e| Error::from(io::Error::new(io::ErrorKind::InvalidInput, format!("not a URL: {e}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(endpoint: &Endpoint, url: &str) -> Destination {
        let url = Url::parse(url).unwrap();
        let place = Place { was_encrypted: url.scheme() == "https", url, is_home: true, redirects: 0 };
        endpoint.at(place, false)
    }

    fn endpoint(url: &str) -> Endpoint {
        Endpoint::new(Origin::Url(Url::parse(url).unwrap()), Credentials::Users)
    }

    #[test]
    fn nothing_of_a_request_goes_along() {
        let named = "https://me:pw@h/d/a.root?authz=secret#part";
        let endpoint = endpoint(named);
        let first = asked(&endpoint, named);
        for (location, to) in [
            ("https://other/b", "https://other/b"),
            ("//other/b?c=d#e", "https://other/b?c=d"),
            ("https://they:theirs@other/b", "https://other/b"),
            ("http://h/b", "http://h/b"),
            ("https://h:8443/b", "https://h:8443/b"),
            ("/b", "https://me:pw@h/b"),
            ("b?x", "https://me:pw@h/d/b?x"),
        ] {
            let next = endpoint.redirected(&first, location).unwrap();
            assert_eq!(next.url().as_str(), to, "{location}");
            assert_eq!(next.place.is_home, to.starts_with("https://me:pw@h/"), "{location}");
        }
        // There is no way back.
        let there = endpoint.redirected(&first, "https://other/b").unwrap();
        let back = endpoint.redirected(&there, "https://h/d/a.root").unwrap();
        assert!(!back.place.is_home);
        assert!(!endpoint.redirected(&back, "/c").unwrap().place.is_home);
    }

    #[test]
    fn a_downgrade_carries_nothing() {
        let endpoint = endpoint("https://h/a");
        let first = asked(&endpoint, "https://h/a");
        for location in ["http://h/a", "http://127.0.0.1/a", "http://localhost/a"] {
            let next = endpoint.redirected(&first, location).unwrap();
            assert_eq!(next.token, Err(NoToken::Plain));
            assert!(!next.must_be_direct());
        }
    }

    #[test]
    fn some_redirects_are_not_followed() {
        let endpoint = endpoint("https://h/a");
        let mut next = asked(&endpoint, "https://h/a");
        for location in ["ftp://h/a", "file:///etc/passwd", "data:,abc", "http://[::1", "s3://b/a", "root://h//a"] {
            assert!(endpoint.redirected(&next, location).is_err(), "{location}");
        }
        for _ in 0..MOST_REDIRECTS {
            next = endpoint.redirected(&next, "/a").unwrap();
        }
        assert!(endpoint.redirected(&next, "/a").unwrap_err().to_string().contains("too many redirects"));
    }
}
