//! Puts the script of ECharts where `report::page` includes it: as released and minified, out of the crate that carries
//! it (`charming`), so that neither this repository nor a report needs to fetch it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const CARRIER: &str = "charming";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=Cargo.toml");
    let script = script(&folder_of(CARRIER)?.join("src/asset"))?;
    fs::copy(script, Path::new(&env::var("OUT_DIR")?).join("echarts.js"))?;
    Ok(())
}

/// Where cargo has the sources of a dependency.
fn folder_of(package: &str) -> Result<PathBuf, Box<dyn Error>> {
    let target = env::var("TARGET")?;
    let metadata = Command::new(env::var("CARGO")?)
        .args(["metadata", "--format-version=1", "--filter-platform", &target, "--manifest-path"])
        .arg(Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("Cargo.toml"))
        .output()?;
    if !metadata.status.success() {
        return Err(String::from_utf8_lossy(&metadata.stderr).into());
    }
    let answer: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
    let packages = answer["packages"].as_array().into_iter().flatten();
    let manifest = packages.filter(|found| found["name"] == package).find_map(|found| found["manifest_path"].as_str());
    let folder = manifest.and_then(|path| Path::new(path).parent());
    Ok(folder.ok_or_else(|| format!("cargo does not say where {package} is"))?.to_path_buf())
}

/// The script, whatever version of ECharts it is.
fn script(folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with("echarts-") && name.ends_with(".min.js") {
            return Ok(path);
        }
    }
    Err(format!("no ECharts in {}", folder.display()).into())
}
