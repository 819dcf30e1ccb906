//! Copies one object of the top directory into a new file, without decompressing it:
//! `cargo run -p basketry-rootfile --example copy_object IN NAME OUT`.

use std::error::Error;
use std::path::Path;

use rootfile::{FileWriter, RootFile};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, name, output] = arguments.as_slice() else { return Err("usage: copy_object IN NAME OUT".into()) };
    let file = RootFile::open(input)?;
    let key = file.top().keys.iter().find(|key| key.name == *name).ok_or("there is no object of this name")?;

    let compression = file.header().compress;
    let mut writer = FileWriter::create(Path::new(output), false, compression, key.datime, "")?;
    // The new file describes the same classes.
    writer.infos_mut().extend(file.infos());
    writer.copy_object(writer.top(), key, &file.raw_payload(key)?)?;
    let size = writer.finish()?;
    println!("{output}: {size} bytes");
    Ok(())
}
