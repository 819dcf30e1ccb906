//! How fast a data set is made: `model_speed NAME BYTES [BATCH_BYTES]`, in CPU seconds of one thread. It must not be what
//! a measurement of writing measures.
#![expect(clippy::unwrap_used, reason = "a measuring tool")]

use lab::synthetic::models::{Model, ModelOptions};
use rustix::time::{ClockId, clock_gettime};

/// CPU seconds so far.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_else(|| "multi".to_owned());
    let mut bytes = || args.next().map_or(1e6, |text| text.parse::<f64>().unwrap()) as u64;
    let options = ModelOptions { size: bytes(), ..ModelOptions::default() };
    let started = cpu();
    let model = Model::named(&name, &options).unwrap();
    let planned = cpu() - started;
    let step = (bytes() * model.entries() / model.payload()).max(1);
    let mut rows = 0;
    for first in (0..model.entries()).step_by(step as usize) {
        rows += model.batch(first..(first + step).min(model.entries())).unwrap().num_rows();
    }
    let made = cpu() - started - planned;
    let speed = model.payload() as f64 / made / 1e9;
    let each = model.payload() / model.entries();
    println!("{name}: {rows} entries of {each} bytes, planned in {planned:.3} s, made in {made:.3} s: {speed:.2} GB/s");
}
