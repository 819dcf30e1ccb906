//! Settings by name: `compression=zstd:5, cluster=30MB, order=tasks`. The keys of a layout are those of the command and of its layout
//! files; a writer has a few of its own.

use dataset::layout::{ByteSize, ClusterSize, Layout, TreeLayout};
use flow::write::{AutoSave, Casting, Order};
use flow::{Budget, DEFAULT_MEMORY};
use rootfile::{Error, Result};

use crate::foreign::Text;

/// The keys of a writer beside those of a layout.
const OWN: &str = "order, overwrite, auto-save, casting, date, memory, threads";

/// What a writer is asked for.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub layout: Layout,
    pub overwrite: bool,
    pub order: Order,
    pub casting: Casting,
    pub auto_save: Option<AutoSave>,
    pub date: Option<i64>,
    pub memory: Option<u64>,
    pub threads: Option<usize>,
}

impl Settings {
    /// Settings by name, over those of a layout in TOML.
    pub fn parse(settings: Text, layout: Text) -> Result<Self> {
        Self::parse_with(settings, layout, &mut |_, _| false)
    }

    /// The same, with settings that only the caller knows: `own` takes them, and says whether it did.
    pub fn parse_with(settings: Text, layout: Text, own: &mut dyn FnMut(&str, &str) -> bool) -> Result<Self> {
        let layout = layout.or_empty("the layout")?.parse().map_err(|e: Error| e.object("layout"))?;
        let mut all = Self { layout, ..Self::default() };
        for (key, value) in pairs(settings.or_empty("the settings")?)? {
            if own(key, value) {
                continue;
            }
            all.set(key, value).map_err(|e| e.object(format!("setting {key}")))?;
        }
        Ok(all)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key.replace('_', "-").as_str() {
            "order" => {
                self.order = match value {
                    "arrival" => Order::Arrival,
                    "tasks" => Order::Tasks,
                    _ => return Err(unknown(value, "arrival or tasks")),
                };
            }
            "casting" => {
                self.casting = match value {
                    "exact" => Casting::Exact,
                    "same-kind" => Casting::SameKind,
                    _ => return Err(unknown(value, "exact or same-kind")),
                };
            }
            "overwrite" => self.overwrite = switch(value)?,
            "auto-save" => {
                self.auto_save = Some(match value.parse()? {
                    ClusterSize::Entries(entries) => AutoSave::Entries(entries),
                    ClusterSize::Bytes(bytes) => AutoSave::Bytes(bytes),
                });
            }
            "date" => self.date = Some(value.parse().map_err(|_| unknown(value, "seconds since 1970"))?),
            "memory" => self.memory = Some(value.parse::<ByteSize>()?.bytes()),
            "threads" => self.threads = Some(value.parse().map_err(|_| unknown(value, "a number of threads"))?),
            key => match TreeLayout::NAMES.contains(&key) {
                true => self.layout.common.set(key, value)?,
                false => {
                    let known = TreeLayout::NAMES.join(", ");
                    return Err(Error::request(format!("no such setting; there are {OWN}; and of a layout {known}")));
                }
            },
        }
        Ok(())
    }

    /// The resources that were asked for.
    pub fn budget(&self) -> Budget {
        Budget::new(self.memory.unwrap_or(DEFAULT_MEMORY), self.threads.unwrap_or(1).max(1))
    }
}

/// A layout that has the keys of a text over others.
pub(crate) fn overlaid(layout: &Layout, settings: Text) -> Result<Layout> {
    let mut own = layout.clone();
    for (key, value) in pairs(settings.or_empty("the settings")?)? {
        let set = own.common.set(&key.replace('_', "-"), value);
        set.map_err(|e| e.object(format!("setting {key}")))?;
    }
    Ok(own)
}

/// Keys and values, divided by commas or line ends.
pub(crate) fn pairs(text: &str) -> Result<Vec<(&str, &str)>> {
    let settings = text.split([',', '\n']).map(str::trim).filter(|setting| !setting.is_empty());
    let pair = |setting: &'_ str| -> Result<(usize, usize)> {
        let at =
            setting.find('=').ok_or_else(|| Error::request(format!("{setting:?} is not of the form key=value")))?;
        Ok((at, at + 1))
    };
    settings
        .map(|setting| {
            let (end, start) = pair(setting)?;
            Ok((setting.get(..end).unwrap_or_default().trim(), setting.get(start..).unwrap_or_default().trim()))
        })
        .collect()
}

fn switch(value: &str) -> Result<bool> {
    value.parse().map_err(|_| unknown(value, "true or false"))
}

#[cold]
fn unknown(value: &str, known: &str) -> Error {
    Error::request(format!("{value:?} is not {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(settings: &std::ffi::CStr) -> Result<Settings> {
        Settings::parse(Text::of(settings), Text::of(c"compression = \"lz4:4\"\n[column.\"a*\"]\nbasket = \"1kB\""))
    }

    #[test]
    fn settings_go_over_the_layout() {
        let all = parsed(c"order=tasks, overwrite=true,\n compression=zstd:5,one_basket_per_cluster=true").unwrap();
        assert_eq!((all.order, all.overwrite, all.layout.columns().len()), (Order::Tasks, true, 1));
        assert_eq!(all.layout.common.compression.unwrap().to_root_setting(), 505);
        assert_eq!(parsed(c"auto-save=100").unwrap().auto_save, Some(AutoSave::Entries(100)));
        for (wrong, why) in [(c"ordre=tasks", "no such setting"), (c"order=x", "arrival"), (c"order", "key=value")] {
            let said = parsed(wrong).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
    }
}
