//! The floor of writing: compresses every basket or page of a file with the codec libraries alone, and with a third argument
//! writes a copy of the file. `bare_compress FILE CODEC [COPY]` says in JSON how long both took together, and the copy alone,
//! without reading and decompressing, which come before each.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a measuring tool for well-formed input")]

mod bare;

use std::fs::File;
use std::io::{Read, Write};
use std::time::Instant;

use bare::{Bare, each_record};
use rootfile::RootFile;
use rootfile::codec::Compression;
use rustix::time::{ClockId, clock_gettime};

/// Seconds of some parts of the program.
#[derive(Default)]
struct Clock {
    wall: f64,
    cpu: f64,
}

impl Clock {
    fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (start, before) = (Instant::now(), cpu());
        let done = work();
        self.cpu += cpu() - before;
        self.wall += start.elapsed().as_secs_f64();
        done
    }
}

fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The kernel's copy: what a program pays at least to hand these bytes to the system. Writers hand over whole clusters, which are
/// larger than the processor's caches.
fn copy(from: &str, to: &str, clock: &mut Clock) {
    let (mut from, mut to) = (File::open(from).unwrap(), File::create(to).unwrap());
    let mut buffer = vec![0; 16 << 20];
    loop {
        let n = from.read(&mut buffer).unwrap();
        if n == 0 {
            return;
        }
        clock.time(|| to.write_all(&buffer[..n]).unwrap());
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("FILE CODEC [COPY]");
    let codec: Compression = args.next().expect("FILE CODEC [COPY]").parse().unwrap();
    let (mut packing, mut copying) = (Clock::default(), Clock::default());
    let mut bare = Bare::new(codec);
    if codec != Compression::NONE {
        each_record(
            &RootFile::open(&path).unwrap(),
            |_| true,
            |record, payload| {
                bare.unpack(record, payload, true);
                bare.packed_bytes += packing.time(|| bare.pack());
            },
        );
    }
    if let Some(to) = args.next() {
        copy(&path, &to, &mut copying);
    }
    let (wall, used) = (packing.wall + copying.wall, packing.cpu + copying.cpu);
    let (payload, bytes, copy) = (bare.payload_bytes, bare.packed_bytes, copying.cpu);
    println!(
        r#"{{"wall": {wall:.6}, "cpu": {used:.6}, "copy_cpu": {copy:.6}, "payload": {payload}, "bytes": {bytes}}}"#
    );
}
