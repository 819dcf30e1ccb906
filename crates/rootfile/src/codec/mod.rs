//! Compression of record payloads: ROOT's framed blocks around deflate, LZMA, LZ4 and Zstandard.
//!
//! [`blocks`] lists the blocks of a payload; [`Decompressor`] and [`Compressor`] convert payloads to objects and back
//! with contexts that one thread reuses. This module does not know keys or baskets: callers pass the bytes behind the
//! key header and, for reading, the key's `fObjlen`.

mod block;
mod compress;
mod decompress;
mod setting;

pub use block::{Block, BlockHeader, Blocks, blocks};
pub use compress::Compressor;
pub use decompress::{Decompressor, check_sizes};
pub use setting::{Algorithm, CodecFacts, Compression};

/// The most uncompressed bytes that one block holds: its size field has three bytes. ROOT's `kMAXZIPBUF`.
pub const MAX_BLOCK: usize = 0xff_ffff;

/// Bytes that a compressed payload may have more than it had before, for the headers of its blocks. Buffers have room for them.
pub const CODEC_ROOM: usize = 256;

/// `TKey` stores objects of up to this many bytes uncompressed, whatever the setting. Callers that write keys apply
/// this rule; baskets and RNTuple pages have no such limit.
pub const KEY_STORED_UP_TO: usize = 256;

/// Whether a payload of `record_len` bytes is the object itself, not blocks: ROOT treats a payload as compressed only
/// if it is shorter than `fObjlen`.
pub const fn is_stored(record_len: usize, objlen: usize) -> bool {
    record_len >= objlen
}
