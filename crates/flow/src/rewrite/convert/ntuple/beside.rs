//! Columns of RNTuples whose entries lie beside those of the table that is read, one by one: what a join adds to an RNTuple.

use dataset::ntuple::make::{FieldEncoding, MadeSchema, schema_again};
use dataset::ntuple::model::{Role, Schema};
use dataset::table::TableSchema;
use rootfile::{Error, Hint, Result};

use crate::arrow::read::Dataset;
use crate::plan::inputs::Input;

/// The columns of one such RNTuple.
pub(crate) struct BesideColumns {
    pub dataset: Dataset,
    /// Its fields at the top.
    pub read: Vec<usize>,
    /// Their names in the output.
    names: Vec<String>,
    /// Its fields by these names.
    schema: Schema,
}

impl BesideColumns {
    /// Opens all fields of an RNTuple, by the names that they get in the output.
    pub fn open(input: Input, name_of: &dyn Fn(&str) -> String) -> Result<Self> {
        let dataset = Dataset::open(&[input])?;
        let TableSchema::Ntuple { schema, .. } = dataset.schema() else {
            return Err(Error::request("internal error: columns beside an RNTuple are of no RNTuple"));
        };
        // What projected fields show is read of others.
        let is_stored = |id: &usize| schema.fields.get(*id).is_some_and(|field| field.source.is_none());
        let read: Vec<usize> = schema.children(None).into_iter().filter(is_stored).collect();
        let mut fields = schema.fields.clone();
        for field in fields.iter_mut().filter(|field| field.parent.is_none()) {
            field.name = name_of(&field.name);
        }
        let names = read.iter().filter_map(|id| Some(fields.get(*id)?.name.clone())).collect();
        let schema = Schema::new(fields, schema.columns.clone(), schema.aliases.clone(), schema.extra.clone());
        Ok(Self { dataset, read, names, schema })
    }

    /// Bytes of an entry, about.
    pub fn each(&self) -> u64 {
        self.dataset.bytes_of(&self.read).checked_div(self.dataset.entries()).unwrap_or(0)
    }

    /// Its fields for an RNTuple that is written.
    pub fn made(&self, encoding: &dyn Fn(&[&str]) -> FieldEncoding) -> Result<MadeSchema> {
        if !self.schema.extra.is_empty() {
            let streamed = self.schema.fields.iter().filter(|field| field.role == Role::Streamer);
            let names: Vec<&str> = streamed.map(|field| field.name.as_str()).collect();
            let drop = Hint::named("drop").that("leaves them out");
            let message = format!(
                "fields of streamed objects cannot be put beside those of another RNTuple: {}; {}",
                names.join(", "),
                drop.clause()
            );
            return Err(Error::unsupported(message).hint(drop));
        }
        schema_again(&self.schema, &|_| true, encoding)
    }

    /// The names of its fields in the output.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}
