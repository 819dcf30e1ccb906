//! A stream of a table that is being filled: a branch of a tree, or a stored field of an RNTuple. Entries are encoded, cut into pieces
//! (baskets or pages), and the pieces compressed. Where clusters end, and on how many threads it is done, is decided elsewhere.

use std::ops::Range;

use arrow_array::ArrayRef;
use rootfile::codec::Compressor;
use rootfile::{Error, Result};

use super::scratch::EncodeScratch;

/// A piece of fewer bytes before compression is small.
pub(crate) const SMALL_PIECE: usize = 2 << 10;

/// The arrays of a batch of entries, one for each column that a plan names. A counter of others may be missing.
pub(crate) type Arrays = [Option<ArrayRef>];

/// A stream that is being filled.
pub(crate) trait StreamFill: Send + Sync + 'static {
    /// How it is encoded.
    type Plan: Sync;
    /// Entries or elements of one basket or page.
    type Piece: Send + Sync;
    /// A piece that was cut out: its bytes before compression.
    type Cut: Send + 'static;
    /// A piece that was made apart.
    type Made: Send + 'static;

    /// Adds entries: these rows of the arrays. Returns the pieces that they fill, which the caller makes and forgets next.
    fn append(&mut self, plan: &Self::Plan, arrays: &Arrays, rows: Range<usize>) -> Result<Vec<Self::Piece>>;

    /// Makes a piece. Pieces are made in order.
    fn put(&mut self, plan: &Self::Plan, piece: &Self::Piece, scratch: &mut EncodeScratch) -> Result<()>;

    /// Whether it is little work to make a piece: less than to leave it to another thread.
    fn is_small(&self, piece: &Self::Piece) -> bool;

    /// Cuts a piece out, to be made apart from the stream, and its bytes. None if it is not compressed.
    fn cut(&mut self, plan: &Self::Plan, piece: &Self::Piece) -> Result<Option<(Self::Cut, u64)>>;

    /// Makes a piece that was cut out.
    fn make(cut: Self::Cut, compressor: &mut Compressor) -> Result<Self::Made>;

    /// Adds a piece that was made apart. Pieces are added in order.
    fn add(&mut self, made: &Self::Made);

    /// Names the stream in an error.
    fn blame(plan: &Self::Plan, error: Error) -> Error;

    /// Drops the entries or elements of pieces that were made or cut out.
    fn forget(&mut self, pieces: &[Self::Piece]);

    /// Makes the last pieces of a cluster.
    fn finish(&mut self, plan: &Self::Plan, scratch: &mut EncodeScratch) -> Result<()>;

    /// The same in steps: returns the last pieces, which the caller makes and forgets by [`StreamFill::forget_last`]. When all pieces
    /// of the cluster are added, it calls [`StreamFill::close`].
    fn last(&mut self, plan: &Self::Plan) -> Result<Vec<Self::Piece>>;

    /// Drops the entries or elements of the last pieces.
    fn forget_last(&mut self, plan: &Self::Plan, pieces: &[Self::Piece]);

    /// Ends a cluster, all pieces of which are added.
    fn close(&mut self);

    /// Resets it for another task.
    fn reset(&mut self, plan: &Self::Plan);

    /// Makes room for the pieces of `ahead` entries like the `done` ones of this cluster.
    fn make_room(&mut self, done: u64, ahead: u64);

    /// Takes buffers of pieces that were written.
    fn recycle(&mut self, buffers: &mut dyn Iterator<Item = Vec<u8>>);

    /// Frees its buffers.
    fn drop_buffers(&mut self);

    /// Frees the room of its buffers in which nothing lies.
    fn shed(&mut self);

    /// Bytes of its buffers.
    fn memory(&self) -> u64;

    /// Bytes of what is still to be encoded or copied into a piece.
    fn pending(&self) -> u64;

    /// Bytes of this cluster's pieces before and after compression, with those that lie ready and only wait for their end.
    fn written(&self) -> (u64, u64);

    /// Adds entries, and makes the pieces that they fill.
    fn fill(
        &mut self,
        plan: &Self::Plan,
        (arrays, rows): (&Arrays, Range<usize>),
        scratch: &mut EncodeScratch,
    ) -> Result<()> {
        let pieces = self.append(plan, arrays, rows)?;
        pieces.iter().try_for_each(|piece| self.put(plan, piece, scratch))?;
        self.forget(&pieces);
        Ok(())
    }
}
