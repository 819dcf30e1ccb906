//! Pools: memory and threads that one or several writers share.

use std::ffi::c_void;

use flow::Budget;
use flow::write::WritePool;
use rootfile::Result;

use crate::answer::{handle, quietly};
use crate::error::Error;
use crate::options::{Versioned, versioned};

/// The options of a pool. Set `size` to its sizeof, and all else to zero for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PoolOptions {
    /// The sizeof of this structure.
    pub size: usize,
    /// Bytes of all writers' clusters that are filled or wait to be written, with their buffers and the files' metadata; 0: 1 GiB.
    pub memory: u64,
    /// Threads of the library's own that encode and compress: 0 for none. Then the threads that fill do all the work, which is right where
    /// they are as many as the cores. With threads of its own the library helps a program that fills from few.
    pub threads: u32,
    /// Must be 0.
    pub reserved: u32,
    /// If given, the pool's threads are the host's: the function is called `threads` times by ::basketry_pool_new, each time with a
    /// function that it is to run, with its argument, on a thread of its own. That returns when the pool is freed, and its writers are.
    /// Returns 0, or another number if there is no thread: then the pool cannot be made.
    pub submit:
        Option<extern "C" fn(user: *mut c_void, work: extern "C" fn(*mut c_void), argument: *mut c_void) -> i32>,
    /// What `submit` gets first.
    pub user: *mut c_void,
}

// SAFETY: the layout is C's, the size is first, and zeroes are numbers, a null pointer and no function.
unsafe impl Versioned for PoolOptions {
    const NAME: &'static str = "options of the pool";
}

/// Memory and threads that one or several writers share. Any thread may use it. A writer without one has its own.
pub struct Pool(pub(crate) WritePool);

/// A host's function that runs work on its threads.
struct Executor {
    submit: extern "C" fn(*mut c_void, extern "C" fn(*mut c_void), *mut c_void) -> i32,
    user: *mut c_void,
}

/// Runs the thread that the argument is, on a thread of the host's.
extern "C" fn run(argument: *mut c_void) {
    // SAFETY: the argument is the box that `Executor::start` has given away, and the host calls this once.
    let thread = unsafe { Box::from_raw(argument.cast::<flow::write::LentThread>()) };
    quietly(|| thread.run());
}

impl Executor {
    fn start(&self, thread: flow::write::LentThread) -> std::io::Result<()> {
        let argument = Box::into_raw(Box::new(thread)).cast::<c_void>();
        match (self.submit)(self.user, run, argument) {
            0 => Ok(()),
            number => {
                // SAFETY: the host says that it will not call: the box is still ours.
                drop(unsafe { Box::from_raw(argument.cast::<flow::write::LentThread>()) });
                Err(std::io::Error::other(format!("the host has no thread: its submit returned {number}")))
            }
        }
    }
}

fn made(options: &PoolOptions) -> Result<Pool> {
    let memory = if options.memory == 0 { flow::DEFAULT_MEMORY } else { options.memory };
    let budget = Budget { memory, threads: options.threads as usize };
    Ok(Pool(match (options.threads, options.submit) {
        (0, _) => WritePool::new(budget),
        (_, Some(submit)) => {
            let executor = Executor { submit, user: options.user };
            WritePool::with_lent_team(budget, |thread| executor.start(thread))?
        }
        (threads, None) => WritePool::with_team(Budget::new(memory, threads as usize))?,
    }))
}

/// Makes a pool. The caller frees it by ::basketry_pool_free.
///
/// @param options  May be null.
/// @param error    See ::basketry_error.
/// @return The pool, or null after an error.
///
/// Starts the threads that are asked for; allocates little.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_pool_new(
    options: *const PoolOptions,
    error: Option<&mut std::mem::MaybeUninit<*mut Error>>,
) -> Option<Box<Pool>> {
    // SAFETY: the interface asks for null or a structure of the size that it says.
    handle(error, || made(&unsafe { versioned(options) }?))
}

/// Frees a pool. Its threads end when its last writer is freed as well. A null pointer is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_pool_free(pool: Option<Box<Pool>>) {
    quietly(|| drop(pool));
}
