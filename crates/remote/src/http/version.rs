//! What identifies the content of a file on a server, and what is known of the server.

use std::sync::atomic::{AtomicU8, Ordering};

use reqwest::header::{ETAG, HeaderMap, LAST_MODIFIED};

/// What identifies the content of a file, as far as the server says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Version {
    etag: Option<String>,
    modified: Option<String>,
    pub size: Option<u64>,
}

impl Version {
    pub fn of(headers: &HeaderMap, size: Option<u64>) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Self { etag: text(ETAG), modified: text(LAST_MODIFIED), size }
    }

    /// The same, of a file of this size.
    pub fn of_size(self, size: u64) -> Self {
        Self { size: Some(size), ..self }
    }

    /// Whether both may be of the same content. What one of them does not know says nothing.
    pub fn fits(&self, other: &Self) -> bool {
        fn fits<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        let by_etag = self.etag.is_some() && other.etag.is_some();
        fits(self.size.as_ref(), other.size.as_ref())
            && fits(self.etag.as_ref(), other.etag.as_ref())
            // Servers behind one name may disagree about the time.
            && (by_etag || fits(self.modified.as_ref(), other.modified.as_ref()))
    }
}

/// Whether the server sends several ranges in one reply.
#[derive(Default)]
pub(crate) struct Several(AtomicU8);

impl Several {
    const YES: u8 = 1;
    const NO: u8 = 2;

    pub fn is_refused(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::NO
    }

    pub fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::YES
    }

    pub fn set(&self, works: bool) {
        self.0.store(if works { Self::YES } else { Self::NO }, Ordering::Relaxed);
    }
}
