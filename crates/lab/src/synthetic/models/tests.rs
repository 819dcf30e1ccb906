//! The data sets: the same entries in any order, the requested size, and the promised shapes.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

use rootfile::streamer::StreamerInfos;
use rootfile::streamer::describe::{describe, parse};

use super::model::Group;
use super::random::Runs;
use super::*;

fn model(name: &str, size: u64) -> Model {
    Model::named(name, &ModelOptions { size, ..ModelOptions::default() }).unwrap()
}

/// The batch in parts, each sliced out of what is asked for separately.
fn in_parts(model: &Model, whole: &RecordBatch, cuts: &[u64]) {
    for cut in cuts.windows(2) {
        let part = model.batch(cut[0]..cut[1]).unwrap();
        let (first, length) = (usize::try_from(cut[0]).unwrap(), part.num_rows());
        assert_eq!(part, whole.slice(first, length));
    }
}

#[test]
fn entries_depend_on_their_number_and_the_seed_only() {
    for name in NAMES {
        let model = model(name, 2_000_000);
        let n = model.entries().min(300);
        let whole = model.batch(0..n).unwrap();
        in_parts(&model, &whole, &[0, 1, n / 3, n - 1, n]);
        let larger = self::model(name, 20_000_000);
        assert_eq!(larger.batch(0..n).unwrap(), whole, "{name}");
        std::thread::scope(|scope| {
            let other = scope.spawn(|| model.batch(n / 2..n).unwrap());
            assert_eq!(other.join().unwrap(), whole.slice((n / 2) as usize, (n - n / 2) as usize));
        });
        let seed = ModelOptions { size: 2_000_000, seed: 2, ..ModelOptions::default() };
        assert_ne!(Model::named(name, &seed).unwrap().batch(0..1).unwrap(), whole.slice(0, 1), "{name}");
    }
}

/// Worked out by other means; `bench/native` has the same numbers.
#[test]
fn numbers_stay_what_they_are() {
    let single = model("single", 80).batch(0..10).unwrap();
    assert_eq!(
        single.column(0).as_primitive::<Float64Type>().values()[..2],
        [0.368_189_515_651_669_46, 0.943_564_230_864_854_4]
    );
    let multi = model("multi", 1_000_000).batch(2..3).unwrap();
    let events = multi.column(3).as_list::<i64>().value(0).slice(7, 1);
    let event = events.as_struct();
    let double = |name: &str| event.column_by_name(name).unwrap().as_primitive::<Float64Type>().value(0);
    let int = |name: &str| event.column_by_name(name).unwrap().as_primitive::<Int32Type>().value(0);
    let position = event.column_by_name("position").unwrap().as_struct();
    let position = [0, 1, 2].map(|k| position.column(k).as_primitive::<Float64Type>().value(0));
    assert_eq!((position[0], position[2]), (-0.2109375, -6.622_919_485_281_868));
    assert_eq!(["energy", "mass", "time"].map(double), [60.628_634_220_407_186, 0.755_615_234_375, 76.560_302_734_375]);
    assert_eq!(["id", "status", "mother"].map(int), [1, 1, 128]);
}

#[test]
fn sizes_are_what_was_asked_for() {
    for name in NAMES {
        for size in [5_000_000, 40_000_000] {
            let model = model(name, size);
            let off = model.payload().abs_diff(size);
            assert!(off * 20 <= size, "{name}: {} for {size}", model.payload());
            let step = 64;
            let mut made = 0;
            for first in (0..model.entries()).step_by(step) {
                let batch = model.batch(first..(first + step as u64).min(model.entries())).unwrap();
                made += batch.columns().iter().map(|column| leaf_bytes(column.as_ref())).sum::<u64>();
                if size > 5_000_000 {
                    break;
                }
            }
            let counters = model.columns().iter().filter(|column| column.name.starts_with('n')).count() as u64;
            if size == 5_000_000 {
                assert_eq!(made - 4 * counters * model.entries(), model.payload(), "{name}");
            }
        }
    }
}

fn leaf_bytes(array: &dyn Array) -> u64 {
    match array.data_type() {
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let items = list.value_offsets();
            leaf_bytes(list.values().slice(items[0] as usize, (items[items.len() - 1] - items[0]) as usize).as_ref())
        }
        DataType::FixedSizeList(..) => leaf_bytes(array.as_fixed_size_list().values().as_ref()),
        DataType::Struct(_) => array.as_struct().columns().iter().map(|part| leaf_bytes(part.as_ref())).sum(),
        DataType::LargeUtf8 => array.as_string::<i64>().value_data().len() as u64,
        DataType::Boolean => array.len() as u64,
        number => (array.len() * number.primitive_width().unwrap()) as u64,
    }
}

#[test]
fn columns_are_typed_as_decoding_gives_them() {
    let multi = model("multi", 1_000_000);
    let column = &multi.columns()[9];
    assert_eq!((column.name.as_str(), column.type_name.as_str()), ("ev9", "vector<Event>"));
    let DataType::LargeList(item) = column.field.data_type() else { panic!("{}", column.field) };
    let DataType::Struct(parts) = item.data_type() else { panic!("{item}") };
    assert_eq!((item.name().as_str(), parts.len(), parts[0].name().as_str()), ("item", 9, "position"));
    assert_eq!(
        multi.classes(),
        "class Vector3D {\n  double x;\n  double y;\n  double z;\n};\nclass Event {\n  Vector3D position;\n  \
         Vector3D direction;\n  Vector3D momentum;\n  double energy;\n  double mass;\n  double time;\n  int id;\n  \
         int status;\n  int mother;\n};\n"
    );
    let nano = model("nano", 1_000_000);
    assert!((900..1100).contains(&nano.columns().len()), "{}", nano.columns().len());
    let pt = nano.columns().iter().find(|column| column.name == "Muon_pt").unwrap();
    assert_eq!((pt.type_name.as_str(), pt.counter.as_deref()), ("float", Some("nMuon")));
    let lhcb = model("lhcb", 1_000_000);
    assert!(lhcb.classes().contains("class Track : public KeyedObject {\n  double chi2PerDoF;\n"));
    assert!(lhcb.classes().contains("  vector<unsigned int> ids;\n"));
    let aod = model("aod", 1_000_000);
    assert!(aod.classes().contains("  float covariance[15];\n"));
}

#[test]
fn classes_are_described() {
    for name in NAMES {
        let model = model(name, 1_000_000);
        let classes = parse(model.classes()).unwrap();
        let infos = describe(&classes, &StreamerInfos::default()).unwrap();
        let of = |class: &str| infos.iter().find(|info| info.name == class);
        match name {
            // What ROOT 6.40 gives the class of `bench/native/Event.h`.
            "multi" => assert_eq!(of("Event").unwrap().checksum, 0xc18d_65e7),
            "lhcb" => assert_eq!(of("Track").unwrap().elements.len(), 7),
            _ => {}
        }
    }
}

#[test]
fn counters_count() {
    let nano = model("nano", 1_000_000);
    let batch = nano.batch(0..100).unwrap();
    let counts = batch.column_by_name("nJet").unwrap().as_primitive::<Int32Type>().clone();
    for name in ["Jet_pt", "Jet_mass", "Jet_real3"] {
        let lengths: Vec<i32> =
            batch.column_by_name(name).unwrap().as_list::<i64>().offsets().lengths().map(|n| n as i32).collect();
        assert_eq!(counts.values().as_ref(), lengths);
    }
}

#[test]
fn products_of_aod_are_1_on_average_and_1000_at_most() {
    let aod = model("aod", 3_000_000_000);
    let Group::Lists { count, stream, .. } = &aod.groups[0] else { panic!("values") };
    let n = usize::try_from(aod.entries()).unwrap();
    let lengths: Vec<usize> = count.items(*stream, &Runs::one(0, n)).0.runs.iter().map(|run| run.1).collect();
    let mean = lengths.iter().sum::<usize>() as f64 / n as f64;
    let most = *lengths.iter().max().unwrap() as f64;
    assert!((25.0..100.0).contains(&mean), "{mean}");
    assert!((200.0..=1000.5).contains(&(most / 50.0)), "{most}");
}

#[test]
fn impossible_options_are_refused() {
    let refused = |name: &str, branches, events| {
        let options = ModelOptions { branches, events, ..ModelOptions::default() };
        Model::named(name, &options).unwrap_err().to_string()
    };
    assert!(refused("double", 1, 1).contains("single, multi"));
    assert!(refused("multi", 0, 10).contains("0 branches"));
    assert!(refused("multi", u32::MAX, u32::MAX).contains("1 to"));
    let options = ModelOptions { size: u64::MAX, ..ModelOptions::default() };
    assert!(Model::named("nano", &options).unwrap_err().to_string().contains("too large"));
    let single = model("single", 80);
    assert!(single.batch(5..11).is_err());
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    let backwards = single.batch(5..4);
    assert!(backwards.is_err());
}
