//! The same work on many things, on the threads of a budget. Who takes what does not change any result.

use std::sync::{Mutex, PoisonError};

use rootfile::Result;

/// Does the work on each, on so many threads. Of several errors the first in time is returned.
pub(crate) fn on_each<T: Send>(
    threads: usize,
    things: &mut [T],
    work: impl Fn(&mut T) -> Result<()> + Sync,
) -> Result<()> {
    let threads = threads.min(things.len());
    if threads < 2 {
        return things.iter_mut().try_for_each(work);
    }
    let (queue, failed) = (Mutex::new(things.iter_mut()), Mutex::new(None));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(thing) = next else { return };
                    if let Err(e) = work(thing) {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
                        return;
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use rootfile::Error;

    use super::*;

    #[test]
    fn each_is_worked_on_once_and_an_error_is_told() {
        let mut numbers: Vec<u32> = (0..100).collect();
        on_each(4, &mut numbers, |n| {
            *n += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(numbers, (1..101).collect::<Vec<_>>());
        assert!(on_each(4, &mut numbers, |n| if *n == 7 { Err(Error::request("7")) } else { Ok(()) }).is_err());
    }
}
