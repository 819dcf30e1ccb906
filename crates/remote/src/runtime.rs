//! The HTTP client and the threads that it runs on, shared by all files of the process. Callers block until their request
//! is answered, so nothing outside of this crate is asynchronous.

use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;
use rootfile::{Error, Result};
use tokio::runtime::{Builder, Runtime};

use crate::settings::timeout;

/// Threads that send requests and receive replies. The work is TLS and copying: it never waits.
const THREADS: usize = 2;

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// The client and its threads.
pub(crate) struct Engine {
    runtime: Runtime,
    /// By the proxies of the environment (`https_proxy`, `http_proxy`, `no_proxy`).
    pub client: Client,
    /// Without proxies: what carries credentials unencrypted must not pass through others' hands.
    pub direct: Client,
}

/// The engine of the process with this number. A forked process has no threads, so it needs an engine of its own.
static ENGINE: Mutex<Option<(u32, Arc<Engine>)>> = Mutex::new(None);

impl Engine {
    /// The engine of this process.
    pub fn get() -> Result<Arc<Self>> {
        let mut engine = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        match engine.take() {
            Some((owner, known)) if owner == process => {
                *engine = Some((owner, Arc::clone(&known)));
                return Ok(known);
            }
            // Dropping it would wait for threads that are not in this process.
            other => std::mem::forget(other),
        }
        let made = Arc::new(Self::new().map_err(|e| Error::from(io::Error::other(e)))?);
        *engine = Some((process, Arc::clone(&made)));
        Ok(made)
    }

    fn new() -> std::result::Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        // An error means that the process has a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime =
            Builder::new_multi_thread().worker_threads(THREADS).thread_name("basketry-net").enable_all().build()?;
        let builder = || {
            Client::builder()
                .user_agent(concat!("basketry/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(CONNECT.min(timeout()))
                .read_timeout(timeout())
                // Parallel requests on connections of their own are faster over long distances than one connection for all.
                .http1_only()
                // The URL of a request may have secrets, and redirects are followed by the rules of `endpoint`.
                .referer(false)
                .redirect(Policy::none())
        };
        Ok(Self { runtime, client: builder().build()?, direct: builder().no_proxy().build()? })
    }

    /// Runs a future to its end, on the calling thread.
    pub fn wait_for<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }
}
