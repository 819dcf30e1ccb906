//! Calls of `libXrdPosix`, the interface of XRootD's own client to POSIX programs, loaded at run time. All `unsafe` code of
//! this crate is here, each call with its contract. It finds no library and gives no advice.
//!
//! The calls are the public static functions of the C++ class `XrdPosixXrootd` (`XrdPosix/XrdPosixXrootd.hh`), which are the
//! same in XRootD 5 and 6. None takes or returns a class of C++: all arguments are numbers, pointers and C structs, so they
//! are called as C functions. An exception may pass (`C-unwind`); it would end the process.

#![expect(unsafe_code, reason = "the functions of a C++ library have no safe form")]

use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::io;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::Once;

#[cfg(not(target_os = "linux"))]
use libc::dirent as Dirent;
#[cfg(target_os = "linux")]
use libc::dirent64 as Dirent;
use libloading::os::unix::{Library as Handle, RTLD_LOCAL, RTLD_NOW};
use rootfile::Owner;

use crate::xrootd::calls::{call, end, later};

type Construct = unsafe extern "C-unwind" fn(*mut c_void, c_int, c_int, c_int);
type SetEnv = unsafe extern "C-unwind" fn(*const c_char, c_int);
type Open = unsafe extern "C-unwind" fn(*const c_char, c_int, c_uint, *mut c_void) -> c_int;
type Close = unsafe extern "C-unwind" fn(c_int) -> c_int;
type Fstat = unsafe extern "C-unwind" fn(c_int, *mut libc::stat) -> c_int;
type Pread = unsafe extern "C-unwind" fn(c_int, *mut c_void, usize, i64) -> isize;
type Vread = unsafe extern "C-unwind" fn(c_int, *const Element, c_int) -> isize;
type Opendir = unsafe extern "C-unwind" fn(*const c_char) -> *mut libc::DIR;
type Readdir = unsafe extern "C-unwind" fn(*mut libc::DIR) -> *mut Dirent;
type Closedir = unsafe extern "C-unwind" fn(*mut libc::DIR) -> c_int;

/// `XrdOucIOVec`: one element of a vector read.
#[repr(C)]
struct Element {
    offset: i64,
    size: c_int,
    info: c_int,
    data: *mut c_char,
}

/// A part of a vector read: where the bytes are in the file, and where they go.
pub(super) struct Piece<'a> {
    pub offset: u64,
    pub into: &'a mut [u8],
}

/// Files and folders that may be open at the same time. Their descriptors are numbers of the library's own, above those of the
/// system, so that they count for no limit. XRootD's proxy takes the same number.
const MOST_OPEN: c_int = 32768;

/// The loaded library.
pub(super) struct Library {
    open: Open,
    close: Close,
    fstat: Fstat,
    pread: Pread,
    vread: Vread,
    opendir: Opendir,
    readdir: Readdir,
    closedir: Closedir,
}

impl Library {
    /// Loads and initialises the library at a path, or of a name that the system's loader finds. It stays loaded until the
    /// process ends, since it has threads. The settings are defaults of its own variables: `XRD_*` in the environment win.
    ///
    /// # Errors
    ///
    /// There is none, or functions are missing: in words.
    pub fn load(path: &OsStr, settings: &[(&CStr, c_int)]) -> Result<Self, String> {
        // Contract: the library's initialisers run. Those of libXrdPosix and of what it needs set up static objects and
        // change nothing of this process. Names stay local, so that they replace none of other libraries.
        let handle =
            unsafe { Handle::open(Some(path), RTLD_NOW | RTLD_LOCAL | own_names()) }.map_err(|e| e.to_string())?;
        let handle = ManuallyDrop::new(handle);
        // Contract of each line: the mangled name has the types of the arguments, so the function has this type; the
        // results are those of the header.
        let library = unsafe {
            Self {
                open: function(&handle, "_ZN14XrdPosixXrootd4OpenEPKcijP16XrdPosixCallBack")?,
                close: function(&handle, "_ZN14XrdPosixXrootd5CloseEi")?,
                fstat: function(&handle, "_ZN14XrdPosixXrootd5FstatEiP4stat")?,
                pread: function(&handle, "_ZN14XrdPosixXrootd5PreadEiPvml")?,
                vread: function(&handle, "_ZN14XrdPosixXrootd5VReadEiPK11XrdOucIOVeci")?,
                opendir: function(&handle, "_ZN14XrdPosixXrootd7OpendirEPKc")?,
                readdir: function(&handle, "_ZN14XrdPosixXrootd9Readdir64EP11__dirstream")?,
                closedir: function(&handle, "_ZN14XrdPosixXrootd8ClosedirEP11__dirstream")?,
            }
        };
        // Contract as above. The object has no members and no virtual functions: the constructor takes its address, writes
        // nothing there, and sets up static tables, once in a process. It must run before every other call. A negative
        // number asks for descriptors of the library's own. It raises the soft limit of open files to the hard one.
        let construct: Construct = unsafe { function(&handle, "_ZN14XrdPosixXrootdC1Eiii")? };
        let mut object = [0u64; 8];
        unsafe { construct(object.as_mut_ptr().cast(), -MOST_OPEN, 0, 0) };
        // Contract: the name ends with a zero and is copied; settings of connections are read when these are made.
        let set: SetEnv = unsafe { function(&handle, "_ZN14XrdPosixConfig6SetEnvEPKci")? };
        for (name, value) in settings {
            unsafe { set(name.as_ptr(), *value) };
        }
        before_the_end();
        Ok(library)
    }

    /// Opens a file for reading. This also asks for its size.
    pub fn open(&'static self, url: &CStr) -> io::Result<Descriptor> {
        // Contract: the text ends with a zero and is copied; without a callback the call returns when the file is open.
        // It may be called from any thread.
        let opened = call(|| match unsafe { (self.open)(url.as_ptr(), libc::O_RDONLY, 0, std::ptr::null_mut()) } {
            number if number < 0 => Err(io::Error::last_os_error()),
            number => Ok(Descriptor { library: self, number, owner: Owner::this() }),
        });
        // The first call makes further static objects.
        static FIRST: Once = Once::new();
        FIRST.call_once(before_the_end);
        opened
    }

    /// The names in a folder, in no order.
    pub fn list(&self, url: &CStr) -> io::Result<Vec<String>> {
        call(|| {
            // Contract: as of `open`. The list has been fetched when the call returns.
            let folder = unsafe { (self.opendir)(url.as_ptr()) };
            if folder.is_null() {
                return Err(io::Error::last_os_error());
            }
            let mut names = Vec::new();
            loop {
                // Contract: `folder` is open and of this thread alone. The entry belongs to it and is valid until the next
                // call; its name ends with a zero. Null is the end: nothing is fetched here that could fail.
                let entry = unsafe { (self.readdir)(folder) };
                if entry.is_null() {
                    break;
                }
                let name = unsafe { CStr::from_ptr((&raw const (*entry).d_name).cast()) };
                names.push(name.to_string_lossy().into_owned());
            }
            // Contract: `folder` is open, and is not used again.
            unsafe { (self.closedir)(folder) };
            Ok(names)
        })
    }
}

/// Ends all calls before the static objects that the library has by now are destroyed: the process runs what is registered
/// last first.
fn before_the_end() {
    extern "C" fn end_all_calls() {
        end();
    }
    // Contract: the function may be called at any time, more than once, and does not unwind. If there is no room for it, the
    // process ends as it would without.
    unsafe { libc::atexit(end_all_calls) };
}

/// Elsewhere a library has its own names anyway, as on macOS, or there is no such flag.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
const PREFER_OWN: c_int = 0;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const PREFER_OWN: c_int = libc::RTLD_DEEPBIND;

/// Where the process has names of XRootD's client for everyone, as ROOT may load them, the library must prefer its own: they may
/// be of another version. Elsewhere it must not, as it would then also pass over a `malloc` that was preloaded.
fn own_names() -> c_int {
    // Contract: the name is looked up, and nothing is done with what it names.
    let is_taken = unsafe { Handle::this().get::<*const c_void>(b"_ZN5XrdCl3URLC1Ev") }.is_ok();
    if is_taken { PREFER_OWN } else { 0 }
}

/// A function of the library.
///
/// # Safety
///
/// `F` is the type of the function of this name.
unsafe fn function<F: Copy>(handle: &Handle, name: &str) -> Result<F, String> {
    // Contract: as of this function. The pointer stays valid, since the library stays loaded.
    let found = unsafe { handle.get::<F>(name.as_bytes()) };
    found.map(|symbol| *symbol).map_err(|_| format!("it has no function {name}"))
}

/// An open file, closed after its drop. All threads may read it at the same time: the library locks what it shares, and a read has
/// its own offset.
pub(super) struct Descriptor {
    library: &'static Library,
    number: c_int,
    /// A forked process shares the connection, and must say nothing on it.
    owner: Owner,
}

impl Descriptor {
    /// The size of the file in bytes, known since it was opened.
    pub fn size(&self) -> io::Result<u64> {
        let mut stat = MaybeUninit::<libc::stat>::zeroed();
        // Contract: the descriptor is open; the struct is the system's, and all zeros are valid in it.
        call(|| match unsafe { (self.library.fstat)(self.number, stat.as_mut_ptr()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        })?;
        let stat = unsafe { stat.assume_init() };
        u64::try_from(stat.st_size).map_err(io::Error::other)
    }

    /// Reads bytes from `offset` on, as many as come at once; none at the end.
    pub fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        // The library takes lengths below 2 GiB.
        let len = into.len().min(1 << 30);
        let offset = i64::try_from(offset).map_err(io::Error::other)?;
        // Contract: the descriptor is open; `len` bytes at the pointer may be written until the call returns, which it does
        // when the reply is there or has failed.
        call(|| {
            let read = unsafe { (self.library.pread)(self.number, into.as_mut_ptr().cast(), len, offset) };
            usize::try_from(read).map(|read| read.min(len)).map_err(|_| io::Error::last_os_error())
        })
    }

    /// Reads all pieces by one request, or fails. Returns the bytes of all.
    pub fn read_pieces(&self, pieces: &mut [Piece<'_>]) -> io::Result<usize> {
        let mut elements = Vec::with_capacity(pieces.len());
        for piece in pieces {
            elements.push(Element {
                offset: i64::try_from(piece.offset).map_err(io::Error::other)?,
                size: c_int::try_from(piece.into.len()).map_err(io::Error::other)?,
                info: 0,
                data: piece.into.as_mut_ptr().cast(),
            });
        }
        let count = c_int::try_from(elements.len()).map_err(io::Error::other)?;
        // Contract: the descriptor is open; there are `count` elements, which are copied; each piece is borrowed for writing
        // until the call returns, which it does when the reply is there or has failed. The bytes of all are fewer than
        // 2 GiB (`pieces::requests`), since the library counts them in an `int`.
        call(|| {
            let read = unsafe { (self.library.vread)(self.number, elements.as_ptr(), count) };
            usize::try_from(read).map_err(|_| io::Error::last_os_error())
        })
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        if !self.owner.is_this() {
            return;
        }
        let (close, number) = (self.library.close, self.number);
        // The call waits for the server's reply, which may never come, and is of no use: the file was only read.
        later(move || {
            // Contract: the descriptor is open, no read is under way, as `self` was owned, and it is not used again. Any
            // thread may call.
            unsafe { close(number) };
        });
    }
}
