//! What is asked for and not yet read: queued requests, and the blocks of bytes that they bring. It fetches nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Range;

use dataset::table::FileRange;

/// Ranges of one file that are asked for together.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub file: u32,
    pub ranges: Vec<Range<u64>>,
    bytes: u64,
    number: u64,
}

/// The state of a block.
enum State {
    /// Its request waits.
    Queued,
    /// Its request is under way.
    Running,
    Here(Vec<u8>),
}

/// An announced range.
struct Block {
    end: u64,
    /// Bytes that readers have not read yet, those of several readers added up.
    unread: u64,
    request: u64,
    state: State,
}

/// The answer to a reader.
pub(super) enum Piece {
    /// So many bytes were copied.
    Taken(usize),
    /// They are on their way. `now_urgent` if their request waits, and no other reader has asked for it.
    Coming { now_urgent: bool },
    /// They were not announced, or are not here any more.
    Absent,
}

/// Everything that is asked for.
pub(super) struct Held {
    queue: VecDeque<Request>,
    /// The blocks of each file, by the offset of their first byte.
    blocks: HashMap<u32, BTreeMap<u64, Block>>,
    /// Bytes of blocks that are running or here.
    held: u64,
    /// Blocks that all readers have read, the oldest first. They stay until their room is needed: pages at the ends of a step are
    /// read again for the next one.
    read: VecDeque<(u32, u64)>,
    /// Their bytes.
    spent: u64,
    /// Bytes of blocks that are queued.
    waiting: u64,
    room: u64,
    next_number: u64,
    /// The requests that readers wait for.
    urgent: BTreeSet<u64>,
    closed: bool,
    /// Threads that fetch.
    pub threads: usize,
}

impl Held {
    pub fn new(room: u64) -> Self {
        Self {
            queue: VecDeque::new(),
            blocks: HashMap::new(),
            held: 0,
            read: VecDeque::new(),
            spent: 0,
            waiting: 0,
            room,
            next_number: 0,
            urgent: BTreeSet::new(),
            closed: false,
            threads: 0,
        }
    }

    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    pub fn close(&mut self) {
        self.closed = true;
        self.queue.clear();
        self.blocks.clear();
    }

    pub fn wants_more(&self) -> bool {
        self.held - self.spent.min(self.held) + self.waiting < self.room
    }

    /// Bytes of blocks that are running or here, and of those the unread ones.
    #[cfg(test)]
    pub fn bytes(&self) -> (u64, u64) {
        (self.held, self.held - self.spent)
    }

    /// Queues requests for ranges, in the order of reading. One request has at most a quarter of the room, or one range. A request
    /// that still waits takes in more.
    pub fn queue(&mut self, places: Vec<FileRange>) {
        for (file, range) in places {
            let bytes = range.end.saturating_sub(range.start);
            // What is larger than the room is read where it is needed.
            if bytes == 0 || bytes > self.room || self.is_announced(file, &range) {
                continue;
            }
            let most = (self.room / 4).max(bytes);
            let open = self.queue.back_mut().filter(|last| last.file == file && last.bytes + bytes <= most);
            let number = match open {
                Some(last) => {
                    last.ranges.push(range.clone());
                    last.bytes += bytes;
                    last.number
                }
                None => {
                    let number = self.next_number;
                    self.next_number += 1;
                    self.queue.push_back(Request { file, ranges: vec![range.clone()], bytes, number });
                    number
                }
            };
            let block = Block { end: range.end, unread: bytes, request: number, state: State::Queued };
            self.blocks.entry(file).or_default().insert(range.start, block);
            self.waiting += bytes;
        }
    }

    /// Whether a range is announced already. Then its bytes are kept for one more reader: the sizes of a collection are read with
    /// each of its columns.
    fn is_announced(&mut self, file: u32, range: &Range<u64>) -> bool {
        let before = self.blocks.get_mut(&file).and_then(|blocks| blocks.range_mut(..range.end).next_back());
        let Some((start, block)) = before.filter(|(_, block)| block.end > range.start) else { return false };
        let bytes = range.end - range.start;
        if (*start, block.end) == (range.start, range.end) {
            if block.unread == 0 {
                self.spent = self.spent.saturating_sub(bytes);
            }
            block.unread = block.unread.saturating_add(bytes);
        }
        true
    }

    /// The next request, if there is room for its bytes. Its ranges are in the order of the file.
    pub fn start_next(&mut self) -> Option<Request> {
        let is_urgent = |request: &Request| self.urgent.contains(&request.number);
        let urgent = self.queue.iter().position(is_urgent);
        let index = urgent.unwrap_or(0);
        let (number, bytes) = self.queue.get(index).map(|request| (request.number, request.bytes))?;
        self.drop_read(bytes);
        if urgent.is_some() {
            self.make_room(bytes, number);
        }
        if self.held + bytes > self.room && self.held > 0 {
            return None;
        }
        self.urgent.remove(&number);
        let mut request = self.queue.remove(index)?;
        request.ranges.sort_unstable_by_key(|range| range.start);
        for range in &request.ranges {
            if let Some(block) = self.block(request.file, range.start) {
                block.state = State::Running;
            }
        }
        self.waiting -= request.bytes;
        self.held += request.bytes;
        Some(request)
    }

    fn block(&mut self, file: u32, start: u64) -> Option<&mut Block> {
        self.blocks.get_mut(&file)?.get_mut(&start)
    }

    /// Drops blocks that are read, until so many bytes fit.
    fn drop_read(&mut self, bytes: u64) {
        while self.held + bytes > self.room {
            let Some((file, start)) = self.read.pop_front() else { return };
            // It may have been announced again since.
            if self.block(file, start).is_some_and(|block| block.unread == 0) {
                self.remove(file, start);
            }
        }
    }

    /// Drops the oldest blocks that are here and unread, until a request fits that a reader waits for.
    fn make_room(&mut self, bytes: u64, number: u64) {
        while self.held + bytes > self.room {
            let here = self.blocks.iter().flat_map(|(file, blocks)| blocks.iter().map(move |(at, b)| (*file, *at, b)));
            let droppable = here.filter(|(.., block)| block.request != number && matches!(block.state, State::Here(_)));
            let Some((file, at)) = droppable.min_by_key(|(.., block)| block.request).map(|(file, at, _)| (file, at))
            else {
                return;
            };
            self.remove(file, at);
        }
    }

    fn remove(&mut self, file: u32, start: u64) {
        if let Some(block) = self.blocks.get_mut(&file).and_then(|blocks| blocks.remove(&start)) {
            self.held = self.held.saturating_sub(block.end - start);
            if block.unread == 0 {
                self.spent = self.spent.saturating_sub(block.end - start);
            }
        }
    }

    /// Takes in the bytes of a request, or drops its blocks if it failed.
    pub fn arrived(&mut self, request: &Request, bytes: Option<Vec<Vec<u8>>>) {
        let mut bytes = bytes.map(Vec::into_iter);
        for range in &request.ranges {
            let bytes = bytes.as_mut().and_then(Iterator::next);
            match (bytes, self.block(request.file, range.start)) {
                (Some(bytes), Some(block)) if bytes.len() as u64 == range.end - range.start => {
                    block.state = State::Here(bytes);
                }
                _ => self.remove(request.file, range.start),
            }
        }
    }

    /// Copies the bytes of a file from `at` on, as far as one block has them.
    pub fn take(&mut self, file: u32, at: u64, into: &mut [u8]) -> Piece {
        let Some(blocks) = self.blocks.get_mut(&file) else { return Piece::Absent };
        let Some((&start, block)) = blocks.range_mut(..=at).next_back().filter(|(_, block)| block.end > at) else {
            return Piece::Absent;
        };
        let number = block.request;
        let State::Here(bytes) = &block.state else {
            let is_queued = matches!(block.state, State::Queued);
            return Piece::Coming { now_urgent: is_queued && self.urgent.insert(number) };
        };
        let from = bytes.get(usize::try_from(at - start).unwrap_or(usize::MAX)..).unwrap_or_default();
        let len = from.len().min(into.len());
        if let (Some(to), Some(from)) = (into.get_mut(..len), from.get(..len)) {
            to.copy_from_slice(from);
        }
        let was_unread = block.unread > 0;
        block.unread = block.unread.saturating_sub(len as u64);
        if was_unread && block.unread == 0 {
            self.spent += block.end - start;
            self.read.push_back((file, start));
        }
        Piece::Taken(len)
    }
}
