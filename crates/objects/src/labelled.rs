//! Histograms that are made anew: a `TH1D` with one bin for each of some labels, as ROOT makes it with `SetBinLabel`. Both `merge` and
//! ROOT's hadd add such histograms up by their labels.

use std::sync::Arc;

use rootfile::object::{
    Array, Collection, Content, Graph, Members, Named, Object, ObjectWriter, Plan, Step, TObject, Value,
};
use rootfile::streamer::{StreamerInfo, builtin, code};
use rootfile::{Error, Result};

/// `TObject` bits of a new object on the heap, and of one that its directory owns.
const NEW_OBJECT: u32 = 0x0300_0000;
const IN_DIRECTORY: u32 = NEW_OBJECT | 1 << 3;
/// The value of the limits of an axis of contents that nobody has set.
const UNSET: f64 = -1111.0;

/// A histogram with labels.
#[derive(Clone, Debug)]
pub struct LabelledHistogram<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Its bins, without those for what is outside.
    pub bins: Vec<LabelledBin>,
}

/// A bin of a histogram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelledBin {
    /// Its label.
    pub label: String,
    /// Its content.
    pub content: f64,
    /// The sum of the squares of the weights. Without these an entry has weight one.
    pub squares: Option<f64>,
}

impl LabelledHistogram<'_> {
    /// The class.
    pub const CLASS: &'static str = "TH1D";

    /// The descriptions of the classes in its record.
    pub fn infos() -> impl Iterator<Item = Arc<StreamerInfo>> {
        const CLASSES: [&str; 15] = [
            "TH1D",
            "TH1",
            "TNamed",
            "TObject",
            "TAttLine",
            "TAttFill",
            "TAttMarker",
            "TAxis",
            "TAttAxis",
            "THashList",
            "TList",
            "TSeqCollection",
            "TCollection",
            "TString",
            "TObjString",
        ];
        CLASSES.into_iter().filter_map(latest)
    }

    /// The payload of its record, behind a key of this length.
    ///
    /// # Errors
    ///
    /// If it has too many bins.
    pub fn payload(&self, keylen: usize) -> Result<Vec<u8>> {
        let mut maker = Maker { histogram: self, graph: Graph::default() };
        // Pointers to the histogram itself have the first identity.
        maker.graph.objects.push(None);
        let object = maker.object(Self::CLASS, Axis::None)?;
        let mut writer = ObjectWriter::new(keylen, &maker.graph);
        writer.root(&object)?;
        Ok(writer.out.bytes)
    }
}

fn latest(class: &str) -> Option<Arc<StreamerInfo>> {
    builtin::infos().iter().filter(|info| info.name == class).max_by_key(|info| info.version).cloned()
}

/// Which axis an object belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Axis {
    None,
    Labels,
    Other(&'static str),
}

struct Maker<'a> {
    histogram: &'a LabelledHistogram<'a>,
    graph: Graph,
}

impl Maker<'_> {
    /// An object with the values that ROOT gives a new one, and what is known of the histogram.
    fn object(&mut self, class: &str, axis: Axis) -> Result<Object> {
        let made = |version, content| Ok(Object { class: Arc::from(class), version, content });
        if class == "TArrayD" {
            return made(0, self.numbers(Vec::new()));
        }
        if matches!(class, "TList" | "THashList") {
            let object = TObject { bits: NEW_OBJECT, ..TObject::default() };
            return made(0, Content::Collection(Box::new(Collection { object, ..Collection::default() })));
        }
        let info = latest(class).ok_or_else(|| Error::unsupported(format!("no description of class {class}")))?;
        let plan = Arc::new(Plan::new(&info));
        let mut values = Vec::with_capacity(plan.steps.len());
        for (name, step) in &plan.steps {
            values.push(self.value(class, name, step, axis)?);
        }
        let version = i16::try_from(plan.version).unwrap_or_default();
        made(version, Content::Members(Members { plan, values }))
    }

    fn value(&mut self, class: &str, name: &str, step: &Step, axis: Axis) -> Result<Value> {
        let axis_of = match (class, name) {
            ("TH1", "fXaxis") => Axis::Labels,
            ("TH1", "fYaxis") => Axis::Other("yaxis"),
            ("TH1", "fZaxis") => Axis::Other("zaxis"),
            _ => axis,
        };
        Ok(match step {
            Step::TNamed => {
                let (bits, name, title) = match axis {
                    Axis::None => (IN_DIRECTORY, self.histogram.name, self.histogram.title),
                    Axis::Labels => (NEW_OBJECT, "xaxis", ""),
                    Axis::Other(name) => (NEW_OBJECT, name, ""),
                };
                let object = TObject { bits, ..TObject::default() };
                Value::Named(Box::new(Named { object, name: name.to_owned(), title: title.to_owned() }))
            }
            Step::TObject => Value::TObject(TObject { bits: NEW_OBJECT, ..TObject::default() }),
            Step::TString | Step::CharStar => Value::Str(String::new()),
            Step::Basic(code::FLOAT) => Value::F32(self.float(name)),
            Step::Basic(code::DOUBLE) => Value::F64(self.double(name, axis)),
            Step::Basic(code::UCHAR | code::USHORT | code::UINT | code::ULONG | code::ULONG64 | code::BITS) => {
                Value::UInt(0)
            }
            Step::Basic(_) => Value::Int(self.whole(name, axis)?),
            Step::Base { class } if &**class == "TArrayD" => {
                let contents = self.with_outside(|bin| bin.content);
                self.array(contents)
            }
            Step::Inline(class) if &**class == "TArrayD" => {
                let has_squares = self.histogram.bins.iter().any(|bin| bin.squares.is_some());
                let numbers = match name {
                    "fSumw2" if has_squares => self.with_outside(|bin| bin.squares.unwrap_or(bin.content)),
                    _ => Vec::new(),
                };
                self.array(numbers)
            }
            Step::Base { class } | Step::Inline(class) => Value::Object(Box::new(self.object(class, axis_of)?)),
            Step::Pointer if name == "fLabels" && axis == Axis::Labels => Value::Pointer(Some(self.labels()?)),
            Step::Pointer => Value::Pointer(None),
            Step::CountedArray(code, _) => Value::Array(Box::new(Array { code: *code, raw: Vec::new() })),
            _ => return Err(Error::unsupported(format!("{class}::{name} has no value in a new histogram"))),
        })
    }

    fn labels(&mut self) -> Result<usize> {
        let plan = latest("TObjString").ok_or_else(|| Error::unsupported("no description of class TObjString"))?;
        let plan = Arc::new(Plan::new(&plan));
        let mut items = Vec::with_capacity(self.histogram.bins.len());
        for (bin, unique_id) in self.histogram.bins.iter().zip(1..) {
            let values = plan.steps.iter().map(|(_, step)| match step {
                Step::TObject => Value::TObject(TObject { unique_id, bits: NEW_OBJECT, pid: None }),
                _ => Value::Str(bin.label.clone()),
            });
            let members = Members { plan: Arc::clone(&plan), values: values.collect() };
            let version = i16::try_from(plan.version).unwrap_or(1);
            let label = Object { class: Arc::from("TObjString"), version, content: Content::Members(members) };
            items.push(Some(self.graph.add(label)));
        }
        let object = TObject { bits: NEW_OBJECT, ..TObject::default() };
        let list = Content::Collection(Box::new(Collection { object, items, ..Collection::default() }));
        Ok(self.graph.add(Object { class: Arc::from("THashList"), version: 5, content: list }))
    }

    fn numbers(&self, numbers: Vec<f64>) -> Content {
        Content::Array(Array { code: code::DOUBLE, raw: numbers.into_iter().flat_map(f64::to_be_bytes).collect() })
    }

    fn array(&self, numbers: Vec<f64>) -> Value {
        let content = self.numbers(numbers);
        Value::Object(Box::new(Object { class: Arc::from("TArrayD"), version: 0, content }))
    }

    /// A number of each bin, and none for what is outside.
    fn with_outside(&self, of: impl Fn(&LabelledBin) -> f64) -> Vec<f64> {
        let inside = self.histogram.bins.iter().map(of);
        std::iter::once(0.0).chain(inside).chain([0.0]).collect()
    }

    fn float(&self, name: &str) -> f32 {
        match name {
            "fLabelOffset" => 0.005,
            "fLabelSize" | "fTitleSize" => 0.035,
            "fTickLength" => 0.03,
            "fTitleOffset" | "fMarkerSize" => 1.0,
            _ => 0.0,
        }
    }

    fn double(&self, name: &str, axis: Axis) -> f64 {
        let bins = &self.histogram.bins;
        let squares = |bin: &LabelledBin| bin.squares.unwrap_or(bin.content);
        // The middle of each bin.
        let middles = (0_u32..).map(|bin| f64::from(bin) + 0.5);
        match name {
            "fXmax" if axis == Axis::Labels => f64::from(u32::try_from(bins.len()).unwrap_or(u32::MAX)),
            "fXmax" => 1.0,
            "fEntries" | "fTsumw" => bins.iter().map(|bin| bin.content).sum(),
            "fTsumw2" => bins.iter().map(squares).sum(),
            "fTsumwx" => bins.iter().zip(middles).map(|(bin, x)| bin.content * x).sum(),
            "fTsumwx2" => bins.iter().zip(middles).map(|(bin, x)| bin.content * x * x).sum(),
            "fMaximum" | "fMinimum" => UNSET,
            _ => 0.0,
        }
    }

    fn whole(&self, name: &str, axis: Axis) -> Result<i64> {
        let bins = i32::try_from(self.histogram.bins.len()).ok().and_then(|bins| bins.checked_add(2));
        let cells = bins.ok_or_else(|| Error::request("a histogram of too many bins"))?;
        Ok(match name {
            "fNcells" => cells.into(),
            "fNbins" if axis == Axis::Labels => i64::from(cells) - 2,
            "fNbins" | "fAxisColor" | "fLabelColor" | "fTitleColor" | "fLineStyle" | "fLineWidth" | "fMarkerColor"
            | "fMarkerStyle" => 1,
            "fNdivisions" => 510,
            "fLabelFont" | "fTitleFont" => 42,
            "fLineColor" => 602,
            "fFillStyle" => 1001,
            "fBarWidth" => 1000,
            "fStatOverflows" => 2,
            _ => 0,
        })
    }
}
