//! Vector reads within what servers take: so many pieces in a request, so many bytes in a piece.

use crate::xrootd::library::Piece;

/// Pieces in one request: XRootD's protocol has room for 1024.
const MOST_PIECES: usize = 1024;
/// Bytes in one piece: a server's buffer of 2 MiB less a header (`readv_ior_max`).
const MOST_BYTES: usize = (2 << 20) - 16;
/// Ranges with smaller gaps are one: the header of a piece has as many bytes.
pub(super) const GAP: u64 = 16;
/// Bytes in one request. More save no round trips that count, and repeating a request that failed costs more.
const MOST_IN_ALL: usize = 256 << 20;

/// Cuts ranges into pieces: each range is an offset and the buffer of its bytes.
pub(super) fn cut<'b>(ranges: impl Iterator<Item = (u64, &'b mut [u8])>) -> Vec<Piece<'b>> {
    ranges
        .flat_map(|(offset, bytes)| {
            let starts = (offset..).step_by(MOST_BYTES);
            starts.zip(bytes.chunks_mut(MOST_BYTES)).map(|(offset, into)| Piece { offset, into })
        })
        .collect()
}

/// The pieces of each request.
pub(super) fn requests<'p, 'b>(mut pieces: &'p mut [Piece<'b>]) -> Vec<&'p mut [Piece<'b>]> {
    let mut requests = Vec::new();
    while !pieces.is_empty() {
        let mut bytes = 0;
        let fits = |piece: &&Piece<'_>| {
            bytes += piece.into.len();
            bytes <= MOST_IN_ALL
        };
        let count = pieces.iter().take(MOST_PIECES).take_while(fits).count().max(1);
        let (request, rest) = std::mem::take(&mut pieces).split_at_mut(count);
        requests.push(request);
        pieces = rest;
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_and_grouped(lens: &[usize]) -> Vec<Vec<(u64, usize)>> {
        let mut buffers: Vec<Vec<u8>> = lens.iter().map(|&len| vec![0; len]).collect();
        let mut pieces =
            cut(buffers.iter_mut().enumerate().map(|(i, bytes)| (i as u64 * 1_000_000_000, bytes.as_mut())));
        let of = |request: &mut [Piece<'_>]| request.iter().map(|piece| (piece.offset, piece.into.len())).collect();
        requests(&mut pieces).into_iter().map(of).collect()
    }

    #[test]
    fn large_ranges_are_cut() {
        let expected = [(1_000_000_000, MOST_BYTES), (1_000_000_000 + MOST_BYTES as u64, 1), (2_000_000_000, 7)];
        assert_eq!(cut_and_grouped(&[0, MOST_BYTES + 1, 7]), [expected]);
        assert!(cut_and_grouped(&[0, 0]).is_empty());
    }

    #[test]
    fn requests_are_within_the_limits() {
        let many = cut_and_grouped(&[3; 2 * MOST_PIECES + 1]);
        assert_eq!(many.iter().map(Vec::len).collect::<Vec<_>>(), [MOST_PIECES, MOST_PIECES, 1]);
        let large = cut_and_grouped(&[MOST_IN_ALL + 5]);
        assert!(large.iter().all(|request| request.iter().map(|(_, len)| len).sum::<usize>() <= MOST_IN_ALL));
        assert_eq!(large.iter().flatten().map(|(_, len)| len).sum::<usize>(), MOST_IN_ALL + 5);
        assert_eq!(large.len(), 2);
    }
}
