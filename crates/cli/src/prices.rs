//! `--price`: the price book by which verbs count money.

use std::path::Path;

use lab::price::PriceBook;
use rootfile::{Error, Hint, Result};

/// The prices of a file's life.
#[derive(clap::Args, Clone, Debug)]
pub struct Prices {
    /// Count money: what a file costs over its life on disk, on tape, over the network, and in CPU time, by the default prices or
    /// by those of a TOML file with what differs from them (docs/howto/cost.md). Give it behind the inputs.
    #[arg(long, value_name = "FILE.toml", num_args = 0..=1, default_missing_value = "true")]
    price: Option<String>,
}

impl Prices {
    /// The price book; none if no money is asked for.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no price book.
    pub fn book(&self) -> Result<Option<PriceBook>> {
        match self.price.as_deref() {
            None | Some("false") => Ok(None),
            Some("true") => Ok(Some(PriceBook::default())),
            // Programs give the text itself.
            Some(text) if text.contains('\n') => {
                PriceBook::parse(text).map(Some).map_err(|e| e.hint(Hint::named("price")))
            }
            Some(file) => {
                let path = Path::new(file);
                if path.extension().is_none_or(|end| end != "toml") {
                    let price = Hint::named("price");
                    let why = format!("prices are in a TOML file; give {price} without one behind the inputs");
                    return Err(Error::request(why).hint(price).file(path));
                }
                PriceBook::read(path).map(Some)
            }
        }
    }

    /// Whether money is asked for.
    pub fn is_given(&self) -> bool {
        self.price.as_deref().is_some_and(|text| text != "false")
    }
}
