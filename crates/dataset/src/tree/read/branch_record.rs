//! Reads the members of a `TBranch` into the model, by the streamer infos of the file.

use rootfile::bytes::Cursor;
use rootfile::object::{Content, Named, ObjectId, ObjectReader, Place, Span, Step};
use rootfile::{Error, Result};

use crate::tree::basket::BasketHeader;
use crate::tree::model::{BasketRef, Branch, BranchKind, Embedded};

/// A branch, and the identities of the objects in its lists.
pub(super) struct ReadBranch {
    /// The branch without its identity, kind and position in the tree.
    pub branch: Branch,
    pub children: Vec<ObjectId>,
    pub leaves: Vec<ObjectId>,
    /// The entry behind the last basket, if the list of first entries and fEntryNumber contradict each other.
    pub doubtful_end: Option<u64>,
}

/// A `TBranch` while its members are read.
pub(super) struct BranchRecord {
    branch: Branch,
    write_basket: i64,
    max_baskets: i64,
    children: Option<Vec<ObjectId>>,
    leaves: Option<Vec<ObjectId>>,
    /// The objects in fBaskets, by their index.
    baskets: Vec<(usize, ObjectId)>,
    basket_bytes: Option<Span>,
    basket_entry: Option<Span>,
    pub basket_seek: Option<Span>,
    /// Whether fBasketBytes is present.
    pub lists_bytes: bool,
}

impl Default for BranchRecord {
    fn default() -> Self {
        Self {
            branch: Branch::new(0, Named::default(), BranchKind::Plain),
            write_basket: 0,
            max_baskets: 0,
            children: None,
            leaves: None,
            baskets: Vec::new(),
            basket_bytes: None,
            basket_entry: None,
            basket_seek: None,
            lists_bytes: true,
        }
    }
}

pub(super) fn int(n: i64) -> i32 {
    i32::try_from(n).unwrap_or(0)
}

fn count(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

/// The objects of a list, by their index.
fn list(reader: &mut ObjectReader<'_>, step: &Step) -> Result<impl Iterator<Item = (usize, ObjectId)> + use<>> {
    let Step::Inline(class) = step else { return Err(Error::corrupt("is not a list")) };
    let items = reader.list(class)?.items.into_iter().enumerate();
    Ok(items.filter_map(|(i, id)| Some((i, id?))))
}

fn ids(reader: &mut ObjectReader<'_>, step: &Step) -> Result<Option<Vec<ObjectId>>> {
    Ok(Some(list(reader, step)?.map(|(_, id)| id).collect()))
}

impl BranchRecord {
    pub fn place(name: &str) -> Option<Place<Self>> {
        type Read = fn(&mut BranchRecord, &mut ObjectReader<'_>, &Step) -> Result<()>;
        let read: Read = match name {
            "TNamed" => |b, r, s| r.name(s).map(|named| b.branch.named = named),
            "fFillColor" => |b, r, s| r.integer(s).map(|n| b.branch.fill[0] = i16::try_from(n).unwrap_or(0)),
            "fFillStyle" => |b, r, s| r.integer(s).map(|n| b.branch.fill[1] = i16::try_from(n).unwrap_or(1001)),
            "fCompress" => |b, r, s| r.integer(s).map(|n| b.branch.compress = int(n)),
            "fBasketSize" => |b, r, s| r.integer(s).map(|n| b.branch.basket_size = u32::try_from(int(n)).unwrap_or(0)),
            "fEntryOffsetLen" => |b, r, s| r.integer(s).map(|n| b.branch.entry_offset_len = int(n)),
            "fIOFeatures" => return Some(Place::Inside),
            "fIOBits" => |b, r, s| r.integer(s).map(|n| b.branch.io_bits = u8::try_from(n).unwrap_or(0)),
            "fOffset" => |b, r, s| r.integer(s).map(|n| b.branch.offset = int(n)),
            "fSplitLevel" => |b, r, s| r.integer(s).map(|n| b.branch.split_level = int(n)),
            "fWriteBasket" => |b, r, s| r.integer(s).map(|n| b.write_basket = n),
            "fMaxBaskets" => |b, r, s| r.integer(s).map(|n| b.max_baskets = n),
            "fEntryNumber" => |b, r, s| r.integer(s).map(|n| b.branch.entry_number = count(n)),
            "fEntries" => |b, r, s| r.integer(s).map(|n| b.branch.entries = count(n)),
            "fFirstEntry" => |b, r, s| r.integer(s).map(|n| b.branch.first_entry = count(n)),
            "fTotBytes" => |b, r, s| r.integer(s).map(|n| b.branch.tot_bytes = count(n)),
            "fZipBytes" => |b, r, s| r.integer(s).map(|n| b.branch.zip_bytes = count(n)),
            "fBranches" => |b, r, s| ids(r, s).map(|ids| b.children = ids),
            "fLeaves" => |b, r, s| ids(r, s).map(|ids| b.leaves = ids),
            "fBaskets" => |b, r, s| list(r, s).map(|list| b.baskets = list.collect()),
            "fBasketBytes" => |b, r, s| r.span(s, b.max_baskets).map(|span| b.basket_bytes = Some(span)),
            "fBasketEntry" => |b, r, s| r.span(s, b.max_baskets).map(|span| b.basket_entry = Some(span)),
            "fBasketSeek" => |b, r, s| r.span(s, b.max_baskets).map(|span| b.basket_seek = Some(span)),
            "fFileName" => |b, r, s| r.text(s).map(|text| b.branch.file_name = text),
            _ => return None,
        };
        Some(Place::Read(read))
    }

    /// Sets an empty list of leaves.
    pub fn without_leaves(&mut self) {
        self.leaves = Some(Vec::new());
    }

    /// fMaxBaskets.
    pub fn max_baskets(&self) -> i64 {
        self.max_baskets
    }

    /// The branch, with its baskets.
    pub fn finish(mut self, reader: &mut ObjectReader<'_>) -> Result<ReadBranch> {
        let name = std::mem::take(&mut self.branch.named.name);
        let found = self.find_baskets(reader).map_err(|e| e.object(format!("branch {name}")));
        self.branch.named.name = name;
        let doubtful_end = found?;
        let missing = |name: &str| Error::corrupt(format!("TBranch::{name} is missing"));
        Ok(ReadBranch {
            branch: self.branch,
            children: self.children.ok_or_else(|| missing("fBranches"))?,
            leaves: self.leaves.ok_or_else(|| missing("fLeaves"))?,
            doubtful_end,
        })
    }

    /// Lists the baskets. Returns the entry behind the last one, if the list says another one than fEntryNumber: hadd writes such
    /// branches where inputs have fewer entries in a branch than in their tree.
    fn find_baskets(&mut self, reader: &mut ObjectReader<'_>) -> Result<Option<u64>> {
        let branch = &mut self.branch;
        branch.embedded = embedded(reader, &self.baskets)?;
        let write_basket = usize::try_from(self.write_basket).unwrap_or(0);
        // The basket in progress counts too, if it is in the record.
        let slots = branch.embedded.iter().map(|(i, _)| i + 1).max().unwrap_or(0).max(write_basket);
        let numbers = |span: Option<Span>| span.unwrap_or_default().numbers(reader);
        let (entry, seek) = (numbers(self.basket_entry.take()), numbers(self.basket_seek.take()));
        let bytes = numbers(self.basket_bytes.take());
        let mut listed = entry.len().min(seek.len());
        if self.lists_bytes {
            listed = listed.min(bytes.len());
        }
        if slots > listed {
            return Err(Error::corrupt(format!("{slots} baskets, of which {listed} are listed")));
        }
        let bytes = bytes.chain(std::iter::repeat(0));
        let place = |((entry, seek), bytes)| BasketRef {
            first_entry: count(entry),
            entries: 0,
            seek: count(seek),
            nbytes: u32::try_from(bytes).unwrap_or(0),
        };
        let mut entry = entry;
        branch.baskets = entry.by_ref().zip(seek).zip(bytes).take(slots).map(place).collect();
        let last = branch.baskets.last().map(|basket| basket.first_entry);
        let end = entry.next().map(count).filter(|end| last.is_some_and(|last| last < *end));
        Ok(end.filter(|end| *end != branch.entry_number && branch.embedded.is_empty()))
    }
}

/// The baskets in the tree's record that have entries. ROOT may also write empty ones.
fn embedded(reader: &mut ObjectReader<'_>, listed: &[(usize, ObjectId)]) -> Result<Vec<(usize, Embedded)>> {
    let mut found = Vec::new();
    for &(i, id) in listed {
        let Some(object) = reader.graph_mut().take(id) else { continue };
        if let (Content::Opaque(bytes), "TBasket") = (object.content, &*object.class) {
            let header = BasketHeader::parse(&mut Cursor::new(&bytes))?;
            if header.nev_buf > 0 && header.flag != 0 {
                found.push((i, Embedded { bytes }));
            }
        }
    }
    Ok(found)
}
