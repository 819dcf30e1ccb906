//! Structures of options whose first member is their size. A later version of the library has more members behind; what a caller does not
//! know stays at its default, which is zero or null for each.

use rootfile::{Error, Result};

/// A structure that callers fill: its first member is `size: usize`, the number of its bytes that the caller knows.
///
/// # Safety
///
/// The structure has the layout of C, `size` is first, and bytes that are all zero are one of its values.
pub(crate) unsafe trait Versioned: Copy {
    /// What it is called in messages.
    const NAME: &'static str;
}

/// Most bytes of a structure: a larger size is a member that was never set.
const MOST: usize = 4096;

/// The structure at a pointer, or one of zeroes for a null pointer.
///
/// # Safety
///
/// The pointer is null, or `size` bytes from it on can be read, where `size` is the structure's first member.
pub(crate) unsafe fn versioned<T: Versioned>(given: *const T) -> Result<T> {
    // SAFETY: zeroes are a value of it, see the trait.
    let mut whole: T = unsafe { std::mem::zeroed() };
    if given.is_null() {
        return Ok(whole);
    }
    // SAFETY: the size is the first member, so that it lies in what can be read. A caller need not align what it calls by this type.
    let size = unsafe { given.cast::<usize>().read_unaligned() };
    check_size::<T>(size)?;
    let own = size_of::<T>();
    // SAFETY: `size` bytes can be read; as many as both know are copied into a value of this type.
    unsafe { std::ptr::copy_nonoverlapping(given.cast::<u8>(), (&raw mut whole).cast::<u8>(), size.min(own)) };
    if size > own {
        // SAFETY: these bytes are among the `size` that can be read.
        let more = unsafe { std::slice::from_raw_parts(given.cast::<u8>().add(own), size - own) };
        if more.iter().any(|byte| *byte != 0) {
            let message = format!("the {} have a member that this library is too old for", T::NAME);
            return Err(Error::unsupported(message));
        }
    }
    Ok(whole)
}

/// Writes to a structure of the caller's, as much as the caller knows of it. Its size stays.
///
/// # Safety
///
/// As for [`versioned`]; and these bytes can be written.
pub(crate) unsafe fn write_versioned<T: Versioned>(place: *mut T, value: &T) -> Result<()> {
    if place.is_null() {
        return Err(Error::request(format!("the place for the {} is a null pointer", T::NAME)));
    }
    // SAFETY: as in `versioned`.
    let size = unsafe { place.cast::<usize>().read_unaligned() };
    check_size::<T>(size)?;
    let (first, end) = (size_of::<usize>(), size.min(size_of::<T>()));
    // SAFETY: these bytes are in both structures.
    unsafe {
        let from = (&raw const *value).cast::<u8>().add(first);
        std::ptr::copy_nonoverlapping(from, place.cast::<u8>().add(first), end - first);
    }
    Ok(())
}

/// An array of such structures. Their distance is the size that the first one has.
///
/// # Safety
///
/// As for [`versioned`], for each of `count` structures.
pub(crate) unsafe fn versioned_items<T: Versioned>(first: *const T, count: usize) -> Result<Vec<T>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if first.is_null() {
        return Err(Error::request(format!("the {} are a null pointer", T::NAME)));
    }
    // SAFETY: as in `versioned`.
    let size = unsafe { first.cast::<usize>().read_unaligned() };
    check_size::<T>(size)?;
    // SAFETY: the structures lie one behind the other, `size` bytes each.
    (0..count).map(|number| unsafe { versioned(first.cast::<u8>().add(number * size).cast::<T>()) }).collect()
}

fn check_size<T: Versioned>(size: usize) -> Result<()> {
    match (size_of::<usize>()..=MOST).contains(&size) {
        true => Ok(()),
        false => Err(Error::request(format!("the {} have no size: set the member `size` to their sizeof", T::NAME))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Newer {
        size: usize,
        one: u64,
        two: u64,
        three: u64,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Own {
        size: usize,
        one: u64,
        two: u64,
    }

    // SAFETY: layout of C, the size first, numbers only.
    unsafe impl Versioned for Own {
        const NAME: &'static str = "options";
    }

    fn read(given: &Newer) -> Result<Own> {
        // SAFETY: `Newer` has at least the bytes that its size says.
        unsafe { versioned((&raw const *given).cast::<Own>()) }
    }

    #[test]
    fn callers_of_other_versions_are_understood() {
        let given = |size, three| Newer { size, one: 1, two: 2, three };
        let older = read(&given(16, 3)).unwrap();
        assert_eq!((older.one, older.two), (1, 0));
        assert_eq!(read(&given(24, 3)).unwrap().two, 2);
        assert_eq!(read(&given(32, 0)).unwrap().two, 2);
        assert!(read(&given(32, 3)).is_err_and(|e| e.to_string().contains("too old")));
        assert!(read(&given(0, 0)).is_err_and(|e| e.to_string().contains("sizeof")));
    }
}
