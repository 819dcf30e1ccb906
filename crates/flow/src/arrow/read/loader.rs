//! Loads pieces of columns: fetches and decompresses them, with the buffers and codecs of one thread.

use dataset::ntuple::cluster_reader::PageReader;
use dataset::table::{Loaded, TableColumn};
use dataset::tree::basket::BasketData;
use rootfile::{Error, Result};

use super::cost::ReadCost;
use super::dataset::Dataset;
use super::request::RequestedEntries;
use crate::execute::fetch::fetcher::Fetcher;
use crate::table::column::Column;
use crate::table::piece::Files;

/// Buffers and codecs of one thread.
pub(super) struct Loader {
    fetcher: Fetcher,
    /// Made for the first field: a reading of a tree needs none.
    pages: Option<PageReader>,
}

impl Loader {
    pub fn new() -> Self {
        Self { fetcher: Fetcher::new(), pages: None }
    }

    /// Loads a piece of a column from the files of the data set, and adds the bytes to its cost. Of a field only the requested entries are loaded.
    pub fn load(
        &mut self,
        (dataset, files): (&Dataset, &Files),
        (column, plan): (&Column, &TableColumn),
        index: usize,
        requested: &RequestedEntries<'_>,
        spent: &mut ReadCost,
    ) -> Result<Loaded> {
        let piece = column.source.pieces.get(index).ok_or_else(|| Error::request("an unknown piece"))?;
        let Some(chain) = dataset.chain() else {
            let data = self.fetcher.load(files, column, index)?;
            let (fetch, decompress) = self.fetcher.take_times();
            spent.fetch += fetch;
            spent.decompress += decompress;
            spent.baskets += 1;
            spent.compressed += u64::from(piece.nbytes);
            spent.uncompressed += data.data.len() as u64;
            return Ok(Loaded::Basket(data));
        };
        let file = files.get(piece.file as usize).ok_or_else(|| Error::request("a piece of an unknown file"))?;
        let pages = self.pages.get_or_insert_with(PageReader::new);
        let values = chain.load((plan.node(), piece), requested, &**file, pages)?;
        let cost = pages.take_cost();
        spent.fetch += cost.fetch;
        spent.decompress += cost.decompress;
        spent.baskets += cost.pages;
        spent.compressed += cost.compressed;
        spent.uncompressed += cost.uncompressed;
        Ok(Loaded::Values(values))
    }

    /// Takes back the buffer of a basket.
    pub fn give_back(&mut self, data: BasketData) {
        self.fetcher.give_back(data);
    }
}
