//! Compression of record payloads: ROOT's framed blocks around deflate, LZMA, LZ4 and Zstandard.
//!
//! [`blocks`] lists what a payload is made of, [`Decompressor`] and [`Compressor`] turn payloads into objects and
//! back with contexts that one thread keeps and reuses. Nothing here knows keys or baskets: the callers hand in the
//! bytes behind the key header and, for reading, the key's `fObjlen`.

mod block;
mod compress;
mod decompress;
mod setting;

pub use block::{Block, BlockHeader, Blocks, blocks};
pub use compress::Compressor;
pub use decompress::{Decompressor, check_sizes};
pub use setting::{Algorithm, Compression};

/// The most uncompressed bytes that one block holds: its size field has three bytes. ROOT's `kMAXZIPBUF`.
pub const MAX_BLOCK: usize = 0xff_ffff;

/// `TKey` writes objects of up to this many bytes uncompressed, whatever the setting. Callers that write keys apply
/// it; baskets and RNTuple pages have no such floor.
pub const KEY_STORED_UP_TO: usize = 256;

/// Whether a payload of `record_len` bytes is the object itself, not blocks: ROOT takes for compressed only what is
/// shorter than `fObjlen`.
pub const fn is_stored(record_len: usize, objlen: usize) -> bool {
    record_len >= objlen
}
