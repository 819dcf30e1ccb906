//! The bill of a file: what its bytes and CPU seconds cost over its life by a price book.

use serde::{Deserialize, Serialize};

use super::book::PriceBook;

const HOUR: f64 = 3600.0;
const TB: f64 = 1e12;
/// Hours of a year.
const YEAR: f64 = 8766.0;

/// What a file needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Bytes on disk.
    pub stored: f64,
    /// Bytes that a reading fetches.
    pub read: f64,
    /// CPU seconds of a reading.
    pub reading: f64,
    /// CPU seconds of writing it once.
    pub writing: f64,
}

/// What a file costs over its life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bill {
    /// The currency.
    pub currency: String,
    /// All of it.
    pub total: f64,
    /// Of this, bytes on disk, in all copies and years.
    pub disk: f64,
    /// Bytes on tape.
    pub tape: f64,
    /// CPU time of all readings.
    pub reading: f64,
    /// Bytes over the wide-area network.
    pub network: f64,
    /// CPU time of writing.
    pub writing: f64,
    /// Energy; 0 if the other prices contain it.
    pub energy: f64,
    /// Hours of a core with the price of the book, to read and to write.
    pub cpu_hours: f64,
    /// TB times years on disk and tape, in all copies.
    pub tb_years: f64,
    /// Energy in kWh of computers and storage, with that of the building.
    pub kwh: f64,
}

/// The price of each unit of [`Usage`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// A byte on disk.
    pub stored_byte: f64,
    /// A byte that a reading fetches.
    pub read_byte: f64,
    /// A CPU second of a reading.
    pub read_second: f64,
    /// A CPU second of writing.
    pub write_second: f64,
}

impl PriceBook {
    /// What a file costs.
    pub fn bill(&self, usage: &Usage) -> Bill {
        let Self { life, disk, tape, cpu, network, energy, .. } = self;
        let faster = cpu.hs23_here / cpu.hs23_per_core;
        let reading_hours = life.readings * usage.reading / HOUR * faster;
        let writing_hours = life.writings * usage.writing / HOUR * faster;
        let on_disk = life.disk_copies * life.years * usage.stored / TB;
        let on_tape = life.tape_copies * life.years * usage.stored / TB;
        let cpu_hours = reading_hours + writing_hours;
        let watt_hours =
            cpu_hours * cpu.watts_per_core + (on_disk * disk.watts_per_tb + on_tape * tape.watts_per_tb) * YEAR;
        let kwh = watt_hours * energy.pue / 1e3;
        let mut bill = Bill {
            currency: self.currency.clone(),
            total: 0.0,
            disk: on_disk * disk.tb_year,
            tape: on_tape * tape.tb_year,
            reading: reading_hours * cpu.core_hour,
            network: life.readings * network.remote * usage.read / TB * network.tb,
            writing: writing_hours * cpu.core_hour,
            energy: if energy.included { 0.0 } else { kwh * energy.kwh },
            cpu_hours,
            tb_years: on_disk + on_tape,
            kwh,
        };
        bill.total = bill.disk + bill.tape + bill.reading + bill.network + bill.writing + bill.energy;
        bill
    }

    /// The price of each unit: their sum over a [`Usage`] is the total of its bill.
    pub fn rates(&self) -> Rates {
        let of = |usage: Usage| self.bill(&usage).total;
        Rates {
            // A single byte is too small a number to be exact.
            stored_byte: of(Usage { stored: TB, ..Usage::default() }) / TB,
            read_byte: of(Usage { read: TB, ..Usage::default() }) / TB,
            read_second: of(Usage { reading: HOUR, ..Usage::default() }) / HOUR,
            write_second: of(Usage { writing: HOUR, ..Usage::default() }) / HOUR,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: Usage = Usage { stored: 2e12, read: 1e12, reading: 7200.0, writing: 36_000.0 };

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} {b}");
    }

    #[test]
    fn every_part_is_counted() {
        let book = PriceBook::parse("[life]\ntape-copies = 1\nreadings = 100\n").unwrap();
        let bill = book.bill(&USAGE);
        // 2 TB in 2 copies for 3 years, and 1 on tape; 100 readings of 2 h; 5 % of 100 TB; 10 h.
        close(bill.disk, 2.0 * 2.0 * 3.0 * 80.0);
        close(bill.tape, 2.0 * 3.0 * 30.0);
        close(bill.reading, 200.0 * 0.012);
        close(bill.network, 5.0);
        close(bill.writing, 0.12);
        close(bill.energy, 0.0);
        close(bill.total, 960.0 + 180.0 + 2.4 + 5.0 + 0.12);
        close(bill.cpu_hours, 210.0);
        close(bill.tb_years, 18.0);
        close(bill.kwh, 1.56 * (210.0 * 5.0 + 12.0 * 8766.0) / 1e3);
    }

    #[test]
    fn energy_is_paid_where_prices_do_not_contain_it() {
        let book = PriceBook::parse("[energy]\nincluded = false\n").unwrap();
        let bill = book.bill(&USAGE);
        close(bill.energy, 0.20 * bill.kwh);
        close(bill.total, bill.disk + bill.reading + bill.network + bill.writing + bill.energy);
    }

    #[test]
    fn a_faster_machine_measures_less() {
        let book = PriceBook::parse("[cpu]\nhs23-here = 20\n").unwrap();
        close(book.bill(&USAGE).cpu_hours, 2.0 * PriceBook::default().bill(&USAGE).cpu_hours);
    }

    #[test]
    fn rates_are_the_bill_of_one_unit() {
        for text in ["", "[energy]\nincluded = false\n[life]\ntape-copies = 2\n"] {
            let book = PriceBook::parse(text).unwrap();
            let rates = book.rates();
            let sum = rates.stored_byte * USAGE.stored
                + rates.read_byte * USAGE.read
                + rates.read_second * USAGE.reading
                + rates.write_second * USAGE.writing;
            close(sum, book.bill(&USAGE).total);
        }
    }
}
