//! The little-endian words that pages consist of, and the two encodings of words that do not concern their order: zigzag for
//! signed integers, and split pages.

/// Elements that are split or joined together: enough for vector registers, and few enough to stay in them.
pub(super) const BLOCK: usize = 64;

/// An unsigned integer of 1, 2, 4 or 8 bytes.
pub(crate) trait Word: Copy + Default + Into<u64> {
    /// Bytes.
    const BYTES: usize;

    /// The word with these bytes; missing ones are zero.
    fn from_le(bytes: &[u8]) -> Self;

    /// Fills `bytes` with those of the word.
    fn to_le(self, bytes: &mut [u8]);

    /// The low bytes of a larger word.
    fn truncate(word: u64) -> Self;

    /// The sum, without its carry.
    fn wrapping_add(self, other: Self) -> Self;

    /// The difference, without its borrow.
    fn wrapping_sub(self, other: Self) -> Self;

    /// The block of words whose bytes `planes` has: all first bytes, all second bytes, and so on.
    fn join(planes: &[&[u8; BLOCK]; 8], block: &mut [Self; BLOCK]);

    /// The bytes of a block of words: all first bytes, all second bytes, and so on. Further planes stay as they are.
    fn split(block: &[Self; BLOCK], planes: &mut [[u8; BLOCK]; 8]);
}

macro_rules! word {
    ($($word:ty: $join:expr, $split:expr;)*) => {$(
        impl Word for $word {
            const BYTES: usize = size_of::<Self>();

            fn from_le(bytes: &[u8]) -> Self {
                let mut word = [0; size_of::<Self>()];
                word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                Self::from_le_bytes(word)
            }

            fn to_le(self, bytes: &mut [u8]) {
                bytes.iter_mut().zip(self.to_le_bytes()).for_each(|(to, from)| *to = from);
            }

            fn truncate(word: u64) -> Self {
                word as Self
            }

            fn wrapping_add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn wrapping_sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn join(planes: &[&[u8; BLOCK]; 8], block: &mut [Self; BLOCK]) {
                $join(planes, block);
            }

            fn split(block: &[Self; BLOCK], planes: &mut [[u8; BLOCK]; 8]) {
                $split(block, planes);
            }
        }
    )*};
}

word! {
    u8:
        |[a, ..]: &[&[u8; BLOCK]; 8], block: &mut [u8; BLOCK]| *block = **a,
        |block: &[u8; BLOCK], [a, ..]: &mut [[u8; BLOCK]; 8]| *a = *block;
    u16:
        |[a, b, ..]: &[&[u8; BLOCK]; 8], block: &mut [u16; BLOCK]| *block = join16(a, b),
        |block: &[u16; BLOCK], [a, b, ..]: &mut [[u8; BLOCK]; 8]| split16(block, a, b);
    u32:
        |[a, b, c, d, ..]: &[&[u8; BLOCK]; 8], block: &mut [u32; BLOCK]| *block = join32(&join16(a, b), &join16(c, d)),
        |block: &[u32; BLOCK], [a, b, c, d, ..]: &mut [[u8; BLOCK]; 8]| {
            let (low, high) = split32(block);
            split16(&low, a, b);
            split16(&high, c, d);
        };
    u64:
        |[a, b, c, d, e, f, g, h]: &[&[u8; BLOCK]; 8], block: &mut [u64; BLOCK]| {
            let (low, high) = (join32(&join16(a, b), &join16(c, d)), join32(&join16(e, f), &join16(g, h)));
            for ((to, low), high) in block.iter_mut().zip(&low).zip(&high) {
                *to = u64::from(*low) | u64::from(*high) << 32;
            }
        },
        |block: &[u64; BLOCK], [a, b, c, d, e, f, g, h]: &mut [[u8; BLOCK]; 8]| {
            let (mut low, mut high) = ([0; BLOCK], [0; BLOCK]);
            for ((low, high), word) in low.iter_mut().zip(&mut high).zip(block) {
                (*low, *high) = (*word as u32, (*word >> 32) as u32);
            }
            let ((first, second), (third, fourth)) = (split32(&low), split32(&high));
            split16(&first, a, b);
            split16(&second, c, d);
            split16(&third, e, f);
            split16(&fourth, g, h);
        };
}

// Words of twice or half the size, step by step: the compiler makes each an interleaving or a packing of vector registers.

fn join16(low: &[u8; BLOCK], high: &[u8; BLOCK]) -> [u16; BLOCK] {
    let mut words = [0; BLOCK];
    for ((to, low), high) in words.iter_mut().zip(low).zip(high) {
        *to = u16::from(*low) | u16::from(*high) << 8;
    }
    words
}

fn join32(low: &[u16; BLOCK], high: &[u16; BLOCK]) -> [u32; BLOCK] {
    let mut words = [0; BLOCK];
    for ((to, low), high) in words.iter_mut().zip(low).zip(high) {
        *to = u32::from(*low) | u32::from(*high) << 16;
    }
    words
}

fn split32(words: &[u32; BLOCK]) -> ([u16; BLOCK], [u16; BLOCK]) {
    let (mut low, mut high) = ([0; BLOCK], [0; BLOCK]);
    for ((low, high), word) in low.iter_mut().zip(&mut high).zip(words) {
        (*low, *high) = (*word as u16, (*word >> 16) as u16);
    }
    (low, high)
}

fn split16(words: &[u16; BLOCK], low: &mut [u8; BLOCK], high: &mut [u8; BLOCK]) {
    for ((low, high), word) in low.iter_mut().zip(high).zip(words) {
        (*low, *high) = (*word as u8, (*word >> 8) as u8);
    }
}

/// Zigzag encoding of signed integers: 0, -1, 1, -2, ... have the codes 0, 1, 2, 3, ...
pub(super) mod zigzag {
    macro_rules! zigzag {
        ($($decode:ident $encode:ident $unsigned:ty, $signed:ty;)*) => {$(
            pub(in super::super) fn $decode(code: $unsigned) -> $signed {
                ((code >> 1) ^ (code & 1).wrapping_neg()).cast_signed()
            }

            pub(in super::super) fn $encode(value: $signed) -> $unsigned {
                ((value << 1) ^ (value >> (<$signed>::BITS - 1))).cast_unsigned()
            }
        )*};
    }

    zigzag! {
        decode16 encode16 u16, i16;
        decode32 encode32 u32, i32;
        decode64 encode64 u64, i64;
    }
}
