//! The price book: prices with the life of a file, as TOML. A file has the keys that differ from `default.toml`.

use std::path::Path;

use rootfile::text::is_printable;
use rootfile::{Error, Result};
use serde::{Deserialize, Serialize};

/// The default prices, with their sources.
const DEFAULT: &str = include_str!("default.toml");

/// Characters of a currency's name at most.
const CURRENCY: usize = 16;
/// The largest price of a TB, an hour or a kWh, and the most watts: weak currencies have large numbers, and nobody pays more.
const PRICE: f64 = 1e9;
const WATTS: f64 = 1e6;
/// What is not 0 is at least this: results of less have no digits.
const LEAST: f64 = 1e-12;

/// Prices, and the life of the file that they are for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PriceBook {
    /// The currency of all prices.
    pub currency: String,
    /// How the file is used.
    pub life: Life,
    /// Storage on disk.
    pub disk: Storage,
    /// Storage on tape.
    pub tape: Storage,
    /// CPU time.
    pub cpu: Cpu,
    /// The wide-area network.
    pub network: Network,
    /// Energy.
    pub energy: Energy,
}

/// How a file is used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Life {
    /// Years that it is kept.
    pub years: f64,
    /// Replicas on disk.
    pub disk_copies: f64,
    /// Copies on tape.
    pub tape_copies: f64,
    /// How often the workload is read in all these years.
    pub readings: f64,
    /// How often the file is written.
    pub writings: f64,
}

/// A kind of storage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Storage {
    /// The price of a TB for a year.
    pub tb_year: f64,
    /// Watts that a TB takes.
    pub watts_per_tb: f64,
}

/// CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cpu {
    /// The price of an hour of a core.
    pub core_hour: f64,
    /// Watts that a busy core takes.
    pub watts_per_core: f64,
    /// HS23 of such a core.
    pub hs23_per_core: f64,
    /// HS23 of a core of the machine that measures.
    pub hs23_here: f64,
}

/// The wide-area network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Network {
    /// The price of a TB.
    pub tb: f64,
    /// Share of the readings that cross it.
    pub remote: f64,
}

/// Energy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Energy {
    /// Whether the other prices contain it.
    pub included: bool,
    /// The price of a kWh.
    pub kwh: f64,
    /// Power of the building over that of its computers.
    pub pue: f64,
}

impl PriceBook {
    /// The default prices as TOML, with their sources.
    pub const fn default_text() -> &'static str {
        DEFAULT
    }

    /// The default prices, with those of a TOML text in their place.
    ///
    /// # Errors
    ///
    /// The text is no TOML, has a key that prices do not have, or a number that cannot be.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &dyn std::fmt::Display| {
            Error::request(format!("is not a price book: {}", why.to_string().trim_end()))
        };
        let mut whole: toml::Table = DEFAULT.parse().map_err(|e: toml::de::Error| wrong(&e))?;
        let own: toml::Table = text.parse().map_err(|e: toml::de::Error| wrong(&e))?;
        for (key, value) in own {
            match (whole.get_mut(&key), value) {
                (Some(toml::Value::Table(known)), toml::Value::Table(new)) => known.extend(new),
                (_, value) => drop(whole.insert(key, value)),
            }
        }
        let book: Self = whole.try_into().map_err(|e: toml::de::Error| wrong(&e))?;
        book.check().map_err(|why| wrong(&why))?;
        Ok(book)
    }

    /// The prices of a TOML file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or [`Self::parse`] refuses its text.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::from(e).file(path))?;
        Self::parse(&text).map_err(|e| e.file(path))
    }

    /// All prices as TOML.
    ///
    /// # Errors
    ///
    /// They cannot be written.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|e| Error::request(format!("cannot be written as TOML: {e}")))
    }

    fn check(&self) -> std::result::Result<(), String> {
        let Self { currency, life, disk, tape, cpu, network, energy } = self;
        if currency.is_empty() || currency.chars().count() > CURRENCY || !currency.chars().all(is_printable) {
            let currency: String = currency.chars().take(2 * CURRENCY).collect();
            return Err(format!("currency = {currency:?}; it is a name of 1 to {CURRENCY} printable characters"));
        }
        let all = [
            ("life.years", life.years, 1e4),
            ("life.disk-copies", life.disk_copies, 1e4),
            ("life.tape-copies", life.tape_copies, 1e4),
            ("life.readings", life.readings, 1e12),
            ("life.writings", life.writings, 1e12),
            ("disk.tb-year", disk.tb_year, PRICE),
            ("disk.watts-per-tb", disk.watts_per_tb, WATTS),
            ("tape.tb-year", tape.tb_year, PRICE),
            ("tape.watts-per-tb", tape.watts_per_tb, WATTS),
            ("cpu.core-hour", cpu.core_hour, PRICE),
            ("cpu.watts-per-core", cpu.watts_per_core, WATTS),
            ("network.tb", network.tb, PRICE),
            ("network.remote", network.remote, 1.0),
            ("energy.kwh", energy.kwh, PRICE),
        ];
        let is_usual = |value: f64, most: f64| value == 0.0 || (LEAST..=most).contains(&value);
        if let Some((name, value, most)) = all.into_iter().find(|(_, value, most)| !is_usual(*value, *most)) {
            return Err(format!("{name} = {value:?}; it is 0, or at least {LEAST:e} and at most {most}"));
        }
        let between = [
            ("cpu.hs23-per-core", cpu.hs23_per_core, 1e-3, 1e6),
            ("cpu.hs23-here", cpu.hs23_here, 1e-3, 1e6),
            ("energy.pue", energy.pue, 1.0, 1e3),
        ];
        let is_outside = |(_, value, least, most): &(&str, f64, f64, f64)| !(*least..=*most).contains(value);
        if let Some((name, value, least, most)) = between.into_iter().find(is_outside) {
            return Err(format!("{name} = {value:?}; it is at least {least} and at most {most}"));
        }
        // Without any price all layouts cost the same.
        let rates = self.rates();
        if rates.stored_byte + rates.read_byte + rates.read_second + rates.write_second <= 0.0 {
            return Err("all prices are 0: nothing could be weighed".to_owned());
        }
        Ok(())
    }

    /// The life and the prices that weigh most, in a line.
    pub fn summary(&self) -> String {
        let Self { currency, life, disk, tape, cpu, network, .. } = self;
        let copies = |count: f64, name: &str, price: f64| match count > 0.0 {
            true => {
                format!("{count} {} on {name} at {price} {currency} a TB and year, ", many(count, "copy", "copies"))
            }
            false => String::new(),
        };
        let remote = match network.remote > 0.0 {
            true => format!(", {} % of them over a network at {} {currency} a TB", 100.0 * network.remote, network.tb),
            false => String::new(),
        };
        format!(
            "{} {}, {}{}{} {} of the workload at {} {currency} a core hour{remote}",
            life.years,
            many(life.years, "year", "years"),
            copies(life.disk_copies, "disk", disk.tb_year),
            copies(life.tape_copies, "tape", tape.tb_year),
            life.readings,
            many(life.readings, "reading", "readings"),
            cpu.core_hour,
        )
    }
}

impl Default for PriceBook {
    fn default() -> Self {
        let energy = Energy { included: true, kwh: 0.20, pue: 1.56 };
        Self {
            currency: "EUR".to_owned(),
            life: Life { years: 3.0, disk_copies: 2.0, tape_copies: 0.0, readings: 3000.0, writings: 1.0 },
            disk: Storage { tb_year: 80.0, watts_per_tb: 1.0 },
            tape: Storage { tb_year: 30.0, watts_per_tb: 0.0 },
            cpu: Cpu { core_hour: 0.012, watts_per_core: 5.0, hs23_per_core: 10.0, hs23_here: 10.0 },
            network: Network { tb: 1.0, remote: 0.05 },
            energy,
        }
    }
}

fn many<'a>(count: f64, one: &'a str, more: &'a str) -> &'a str {
    if (count - 1.0).abs() < f64::EPSILON { one } else { more }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_defaults_are_the_defaults() {
        assert_eq!(toml::from_str::<PriceBook>(DEFAULT).unwrap(), PriceBook::default());
        assert_eq!(PriceBook::parse("").unwrap(), PriceBook::default());
        assert_eq!(PriceBook::parse(&PriceBook::default().to_toml().unwrap()).unwrap(), PriceBook::default());
    }

    #[test]
    fn a_book_has_what_differs() {
        let book = PriceBook::parse("currency = \"CHF\"\n[life]\nreadings = 5\n[cpu]\ncore-hour = 0.02\n").unwrap();
        let Life { readings, years, .. } = book.life;
        assert_eq!((book.currency.as_str(), readings, years, book.cpu.core_hour), ("CHF", 5.0, 3.0, 0.02));
    }

    #[test]
    fn wrong_books_are_refused_with_the_key() {
        let free = "[disk]\ntb-year = 0\n[cpu]\ncore-hour = 0\n[network]\nremote = 0\n";
        for (text, told) in [
            ("[disk]\ntb-yaer = 3\n", "tb-yaer"),
            ("[disks]\ntb-year = 3\n", "disks"),
            ("[disk]\ntb-year = -3\n", "disk.tb-year = -3"),
            ("[life]\nyears = nan\n", "life.years"),
            ("[life]\nyears = \"three\"\n", "years"),
            ("[cpu]\nhs23-here = 0\n", "cpu.hs23-here"),
            ("[network]\nremote = 20\n", "network.remote"),
            ("[energy]\npue = 0.9\n", "energy.pue"),
            ("disk = 3\n", "disk"),
            ("nothing", "price book"),
            (free, "all prices are 0"),
            (
                "[life]\nreadings = 1e300\n",
                "life.readings = 1e300; it is 0, or at least 1e-12 and at most 1000000000000",
            ),
            ("[cpu]\ncore-hour = 1e300\n", "cpu.core-hour = 1e300"),
            ("[disk]\ntb-year = 1e-300\n", "disk.tb-year"),
            ("[life]\nyears = inf\n", "life.years"),
            ("[cpu]\nhs23-per-core = 1e-300\n", "cpu.hs23-per-core"),
            ("[energy]\npue = 1e300\n", "energy.pue"),
            ("currency = \"E\\u001b[31mR\"\n", "currency = \"E\\u{1b}[31mR\""),
            ("currency = \"E\\nR\"\n", "currency"),
            ("currency = \"\"\n", "currency"),
            ("currency = \"a currency of many words\"\n", "1 to 16"),
        ] {
            let message = PriceBook::parse(text).unwrap_err().to_string();
            assert!(message.contains("is not a price book") && message.contains(told), "{text}: {message}");
        }
    }

    #[test]
    fn a_summary_names_what_weighs_most() {
        assert_eq!(
            PriceBook::default().summary(),
            "3 years, 2 copies on disk at 80 EUR a TB and year, 3000 readings of the workload at 0.012 EUR a core hour, \
             5 % of them over a network at 1 EUR a TB"
        );
    }
}
