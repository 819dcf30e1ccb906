//! Prints the fields of the first RNTuple of a file: names, types, and the values of the first entries.
//!
//! ```text
//! cargo run -p basketry-dataset --example read_ntuple -- FILE [ENTRIES]
//! ```

use dataset::ntuple::decode::fields;
use dataset::ntuple::read::read_field;
use dataset::ntuple::{is_ntuple, read_ntuple};
use rootfile::RootFile;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("which file?")?;
    let entries = args.next().map_or(Ok(3), |n| n.parse())?;

    let file = RootFile::open(path)?;
    let key = file.top().keys.iter().find(|key| is_ntuple(&key.class)).ok_or("no RNTuple")?;
    let ntuple = read_ntuple(&file, key)?;
    for plan in fields(&ntuple.schema) {
        println!("{}: {}", plan.field().name(), plan.field().data_type());
        if let Some(reason) = plan.opaque() {
            println!("  ({reason})");
        }
        println!("{:?}", read_field(file.source().as_ref(), &ntuple, &plan, 0..entries)?);
    }
    Ok(())
}
