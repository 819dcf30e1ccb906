//! Pages that share their bytes: each is read and written once.

use std::collections::{HashMap, HashSet};

use dataset::ntuple::model::{Locator, Page, PageList};

/// What pages have in common that share their bytes in the output: bytes in the input, bytes before compression, compression.
type SharedKey = (u64, u64, usize, i32);

/// The bytes of an input that several pages share.
#[derive(Debug, Default)]
pub(crate) struct SharedPages {
    /// Offset and size of bytes that more than one page of a page list has.
    several: HashSet<(u64, u64)>,
    /// The numbers of those that are written.
    known: HashMap<SharedKey, u32>,
}

/// How a page is written.
pub(crate) enum Sharing {
    /// It shares its bytes with no other page.
    Alone,
    /// It is the first of several. The number is that by which others find it.
    First(u32),
    /// Its bytes are written.
    Again(u32),
}

impl SharedPages {
    /// Finds the shared pages of a page list. Those of earlier lists of the same input stay known.
    pub fn add(&mut self, list: &PageList) {
        let mut places: Vec<(u64, u64)> = list.pages.iter().filter_map(place).collect();
        places.sort_unstable();
        self.several.extend(places.windows(2).filter_map(|pair| (pair[0] == pair[1]).then_some(pair[0])));
    }

    /// Forgets all, for the next input.
    pub fn clear(&mut self) {
        self.several.clear();
        self.known.clear();
    }

    /// How a page is written. `next` is the number of the next shared page.
    pub fn find(&mut self, page: &Page, (len, setting): (usize, i32), next: &mut u32) -> Sharing {
        let Some((offset, size)) = place(page).filter(|place| self.several.contains(place)) else {
            return Sharing::Alone;
        };
        match self.known.get(&(offset, size, len, setting)) {
            Some(number) => Sharing::Again(*number),
            None => {
                self.known.insert((offset, size, len, setting), *next);
                *next += 1;
                Sharing::First(*next - 1)
            }
        }
    }
}

fn place(page: &Page) -> Option<(u64, u64)> {
    match page.locator {
        Locator::File { offset, size } => Some((offset, size)),
        Locator::Unknown { .. } => None,
    }
}
