//! Objects in S3 buckets, also of other services with this interface. Credentials and signatures are `object_store`'s; its requests
//! are sent by our client, so that no redirect takes them elsewhere. An object is read like any file on an HTTP server, from a URL that is
//! signed for a short time.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService};
use object_store::path::Path as Key;
use object_store::signer::Signer;
use object_store::{ClientOptions, ObjectMeta, ObjectStore, RetryConfig};
use reqwest::{Method, Url};
use rootfile::{Credentials, Error, Result};

use crate::runtime::Engine;
use crate::settings::Limits;

/// How long a signature is valid, and for how long it is used.
const VALID: Duration = Duration::from_secs(3600);
const USED: Duration = Duration::from_secs(600);

/// Variables that say where credentials are (object_store reads them).
const CREDENTIALS: [&str; 4] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// The names of the objects directly below `s3://bucket/folder/`, sorted.
///
/// # Errors
///
/// As for [`Bucket::of`], or the server refuses.
pub(crate) fn list(folder: &str) -> Result<Vec<String>> {
    let Bucket { store, key, .. } = Bucket::of(folder, Credentials::Users)?;
    let listed = Engine::get()?.wait_for(store.list_with_delimiter(Some(&key)));
    let listed = listed.map_err(|e| Error::from(io::Error::other(e.to_string())))?;
    let name = |object: &ObjectMeta| object.location.filename().map(str::to_owned);
    let mut names: Vec<String> = listed.objects.iter().filter_map(name).collect();
    names.sort_unstable();
    Ok(names)
}

/// An object in a bucket.
pub(crate) struct Bucket {
    store: AmazonS3,
    name: String,
    key: Key,
    is_public: bool,
    signed: Mutex<Option<(Instant, Url)>>,
}

impl Bucket {
    /// The object at `s3://bucket/key`. Endpoint, region and credentials are those of the usual variables (`AWS_ENDPOINT_URL`,
    /// `AWS_REGION`, `AWS_ACCESS_KEY_ID` and so on). Without credentials, or if none may be used, the bucket must be public.
    ///
    /// # Errors
    ///
    /// There is no key, or a variable has no valid value.
    pub fn of(url: &str, credentials: Credentials) -> Result<Self> {
        let engine = Engine::get()?;
        let limits = Limits::get();
        let invalid = |why: String| Error::from(io::Error::new(io::ErrorKind::InvalidInput, why));
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (bucket, key) = rest
            .split_once('/')
            .filter(|(bucket, _)| !bucket.is_empty())
            .ok_or_else(|| invalid("an address in S3 is s3://bucket/key".to_owned()))?;
        let key = Key::parse(key).map_err(|e| invalid(e.to_string()))?;
        let skips = std::env::var("AWS_SKIP_SIGNATURE").is_ok_and(|value| value == "true" || value == "1");
        let is_public = credentials == Credentials::None
            || skips
            || !CREDENTIALS.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        let retry = RetryConfig {
            max_retries: usize::try_from(limits.retries).unwrap_or(usize::MAX),
            retry_timeout: limits.patience(),
            ..RetryConfig::default()
        };
        let mut builder = AmazonS3Builder::from_env()
            .with_bucket_name(bucket)
            .with_http_connector(OurClient(engine))
            .with_retry(retry);
        // An endpoint without TLS is a server of one's own.
        if endpoint().is_some_and(|endpoint| endpoint.starts_with("http://")) {
            builder = builder.with_allow_http(true);
        }
        if is_public {
            // Signed so as to get the URL, and the signature is taken off.
            builder = builder.with_access_key_id("none").with_secret_access_key("none");
        }
        let store = builder.build().map_err(|e| invalid(e.to_string()))?;
        Ok(Self { store, name: format!("s3://{bucket}"), key, is_public, signed: Mutex::default() })
    }

    /// The bucket, for messages.
    pub fn host(&self) -> String {
        self.name.clone()
    }

    /// Whether requests are not signed.
    pub fn is_public(&self) -> bool {
        self.is_public
    }

    /// A URL that reads the object.
    pub async fn signed_url(&self) -> Result<Url> {
        let known = self.signed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, url)) = known.filter(|(when, _)| when.elapsed() < USED) {
            return Ok(url);
        }
        let signed = self.store.signed_url(Method::GET, &self.key, VALID).await;
        let mut url = signed.map_err(|e| Error::from(io::Error::other(e.to_string())))?;
        if self.is_public {
            url.set_query(None);
        }
        *self.signed.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), url.clone()));
        Ok(url)
    }
}

/// Lets object_store send by our client: it follows no redirects, tells no server the URL of another, and sends nothing that is not
/// encrypted through a proxy.
struct OurClient(Arc<Engine>);

impl std::fmt::Debug for OurClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OurClient")
    }
}

impl HttpConnector for OurClient {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Self(Arc::clone(&self.0))))
    }
}

impl HttpService for OurClient {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = std::result::Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
    {
        let is_encrypted = request.uri().scheme_str() == Some("https");
        let client = if is_encrypted { &self.0.client } else { &self.0.direct };
        client.call(request)
    }
}

/// The server that the variables name, if it is not Amazon's.
fn endpoint() -> Option<String> {
    ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"].iter().find_map(|name| std::env::var(name).ok())
}
