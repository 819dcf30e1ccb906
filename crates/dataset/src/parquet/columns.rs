//! Which columns Parquet files have as one table: those of the first file, in its order. The order may differ in the others. Nothing is
//! filled in here, and types are not widened.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::Field;
use rootfile::{Error, Hint, Result, Source};

use super::file::ParquetFile;
use crate::table::Join;

/// The columns of some files as one table.
pub(super) struct Columns {
    /// Without missing values.
    pub fields: Vec<Field>,
    /// The places of the columns in each file. None in files without entries that have no say.
    pub places: Vec<Vec<usize>>,
    /// The names of those that are left out.
    pub left_out: Vec<String>,
}

/// Where a file has the column of a name.
type Places<'a> = HashMap<&'a str, usize>;

impl Columns {
    /// The columns that `keeps` names. `join` says what becomes of those that not all files have.
    pub fn of(
        sources: &[Arc<dyn Source>],
        files: &[ParquetFile],
        keeps: &dyn Fn(&str) -> bool,
        join: Join,
    ) -> Result<Self> {
        let has_entries = |file: &ParquetFile| file.rows().any(|rows| rows > 0);
        let is_any = files.iter().any(has_entries);
        let mut counted = files.iter().zip(sources).enumerate().filter(|(_, (file, _))| !is_any || has_entries(file));
        let mut found = Self { fields: Vec::new(), places: vec![Vec::new(); files.len()], left_out: Vec::new() };
        let Some((number, (first, source))) = counted.next() else { return Ok(found) };
        let kept = first.schema().fields().iter().enumerate().filter(|(_, field)| keeps(field.name()));
        let (own, fields): (Vec<usize>, Vec<&Field>) = kept.map(|(place, field)| (place, field.as_ref())).unzip();
        let others: Vec<_> = counted.collect();
        if !others.is_empty() {
            places_of(first, keeps).map_err(|e| e.file(source.name()))?;
        }
        let known: HashSet<&str> = fields.iter().map(|field| field.name().as_str()).collect();
        let mut is_left = vec![false; fields.len()];
        let mut further: Vec<String> = Vec::new();
        let mut places_there = Vec::with_capacity(others.len());
        for (other, (file, source)) in others {
            let refused = |e: Error, name: &str| e.object(format!("column {name}")).file(source.name());
            let there = places_of(file, keeps).map_err(|e| e.file(source.name()))?;
            for (field, is_left) in fields.iter().zip(&mut is_left) {
                match fits(file, &there, field) {
                    Err(why) if join != Join::Common => return Err(refused(why, field.name())),
                    fits => *is_left |= fits.is_err(),
                }
            }
            let names = file.schema().fields().iter().map(|field| field.name().as_str());
            let mut here: Vec<&str> = names.filter(|name| there.contains_key(name) && !known.contains(name)).collect();
            if let Some(name) = here.first().filter(|_| join != Join::Common) {
                return Err(refused(Error::differs("is here, but not in the first file"), name));
            }
            further.extend(here.drain(..).map(str::to_owned));
            places_there.push((other, there));
        }
        for (number, there) in &places_there {
            let shared = fields.iter().zip(&is_left).filter(|(_, is_left)| !**is_left);
            let places = shared.filter_map(|(field, _)| there.get(field.name().as_str()).copied()).collect();
            if let Some(slot) = found.places.get_mut(*number) {
                *slot = places;
            }
        }
        let mut own_left = Vec::with_capacity(own.len());
        for ((place, field), is_left) in own.into_iter().zip(fields).zip(is_left) {
            match is_left {
                true => found.left_out.push(field.name().clone()),
                false => {
                    found.fields.push(field.clone().with_nullable(false));
                    own_left.push(place);
                }
            }
        }
        if let Some(slot) = found.places.get_mut(number) {
            *slot = own_left;
        }
        let mut told = HashSet::new();
        found.left_out.extend(further.into_iter().filter(|name| told.insert(name.clone())));
        Ok(found)
    }
}

/// The places of the columns that are kept.
fn places_of<'a>(file: &'a ParquetFile, keeps: &dyn Fn(&str) -> bool) -> Result<Places<'a>> {
    let mut places = Places::new();
    for (place, field) in file.schema().fields().iter().enumerate().filter(|(_, field)| keeps(field.name())) {
        if places.insert(field.name(), place).is_some() {
            let drop = Hint::named("drop").that("leaves it out");
            let twice = Error::request(format!("appears twice; {}", drop.clause())).hint(drop);
            return Err(twice.object(format!("column {}", field.name())));
        }
    }
    Ok(places)
}

/// Whether a file has a column of the first file with the same type.
fn fits(file: &ParquetFile, places: &Places<'_>, field: &Field) -> Result<()> {
    let there = places.get(field.name().as_str()).and_then(|place| file.schema().fields().get(*place));
    let there = there.ok_or_else(|| Error::differs("is in the first file, but not here"))?;
    match there.data_type().equals_datatype(field.data_type()) {
        true => Ok(()),
        false => {
            let what = format!("is {}, where the first file has {}", there.data_type(), field.data_type());
            Err(Error::differs(what))
        }
    }
}
