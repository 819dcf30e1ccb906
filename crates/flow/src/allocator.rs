//! What the system's allocator is asked for. How much memory a job may take is the [`Budget`](crate::Budget)'s to say.

/// Lets the allocator keep what is given back for what comes next, up to twice so many bytes: handing pages back to the
/// kernel and having them cleared again costs more than decoding or encoding. glibc raises its limits to the size of the
/// largest mapped block that was ever freed (`mallopt(3)`, M_MMAP_THRESHOLD); elsewhere this does nothing. The block is
/// not touched.
pub(crate) fn keep(bytes: u64) {
    // A little less than the most that it will raise them to (DEFAULT_MMAP_THRESHOLD_MAX).
    const MOST: u64 = 31 << 20;
    // What nobody sees the compiler leaves out.
    drop(std::hint::black_box(Vec::<u8>::with_capacity(usize::try_from(bytes.min(MOST)).unwrap_or(0))));
}
