//! Where requests for a file go: its URL, or a URL that is signed anew for each request; and the place that the server
//! redirected to, which is asked directly from then on.

use std::io;
use std::sync::{Mutex, PoisonError};

use reqwest::Url;
use rootfile::{Credentials, Error, Result};

use crate::s3::Bucket;
use crate::token::token_for;

/// Where a file is.
pub(crate) enum Origin {
    /// At a URL. All its parameters are sent, and a token if the user's credentials are.
    Url(Url, Credentials),
    /// In a bucket, under this key.
    Bucket(Box<Bucket>),
}

/// Where requests go.
pub(crate) struct Endpoint {
    origin: Origin,
    /// The URL of the last good reply, if the origin redirected there.
    redirected: Mutex<Option<Url>>,
}

/// One request's destination.
pub(crate) struct Destination {
    pub url: Url,
    pub token: Option<String>,
    /// Whether the origin is passed over.
    pub is_shortcut: bool,
}

impl Endpoint {
    pub fn new(origin: Origin) -> Self {
        Self { origin, redirected: Mutex::default() }
    }

    /// Where the next request goes.
    pub async fn destination(&self) -> Result<Destination> {
        let shortcut = self.redirected.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(url) = shortcut {
            // The server that redirects vouches for the other by parameters in its URL. Tokens are for the origin.
            return Ok(Destination { url, token: None, is_shortcut: true });
        }
        Ok(match &self.origin {
            Origin::Url(url, credentials) => {
                let token = (*credentials == Credentials::Users).then(|| token_for(url)).flatten();
                Destination { token, url: url.clone(), is_shortcut: false }
            }
            Origin::Bucket(bucket) => Destination { url: bucket.signed_url().await?, token: None, is_shortcut: false },
        })
    }

    /// Remembers where a good reply came from.
    pub fn answered_by(&self, asked: &Destination, url: &Url) {
        if let Origin::Url(origin, _) = &self.origin
            && !asked.is_shortcut
            && origin.origin() != url.origin()
        {
            *self.redirected.lock().unwrap_or_else(PoisonError::into_inner) = Some(url.clone());
        }
    }

    /// Forgets where the origin redirected to: it may send the next request elsewhere.
    pub fn failed(&self) {
        *self.redirected.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Parses a URL.
pub(crate) fn parse(url: &str) -> Result<Url> {
    Url::parse(url).map_err(|e| Error::from(io::Error::new(io::ErrorKind::InvalidInput, format!("not a URL: {e}"))))
}
