//! Header and footer of an RNTuple, with checksums that fit: the first two bytes are the length of the header's payload. Parsed
//! metadata are written, and must be parsed to the same. Every field has a plan.
#![no_main]

use dataset::ntuple::decode::FieldPlan;
use dataset::ntuple::model::{Anchor, FormatVersion, Link, Locator, Ntuple};
use dataset::ntuple::{EnvelopeKind, envelope_checksum, parse_ntuple, seal_envelope, write_footer, write_header};
use libfuzzer_sys::fuzz_target;

/// Fields for which plans are made. A plan has all fields below its own.
const PLANS: usize = 50;

fn sealed(kind: EnvelopeKind, payload: &[u8]) -> Vec<u8> {
    seal_envelope(kind, |w| {
        w.bytes.extend_from_slice(payload);
        Ok(())
    })
    .unwrap()
}

fn anchor() -> Anchor {
    let link = Link { len: 1, locator: Locator::File { offset: 1, size: 1 } };
    let version = FormatVersion { epoch: 1, major: 0, minor: 2, patch: 0 };
    Anchor { version, header: link, footer: link, max_key_size: 0 }
}

/// Uses the schema as readers do.
fn walk(ntuple: &Ntuple) {
    let schema = &ntuple.schema;
    for id in 0..schema.fields.len().min(PLANS) {
        let plan = FieldPlan::new(schema, id);
        assert!(plan.columns().iter().all(|column| *column < schema.columns.len()));
        assert_eq!(plan.start(0).unwrap().finish().unwrap().data_type(), plan.field().data_type());
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((length, payloads)) = data.split_first_chunk() else { return };
    let Some((header, footer)) = payloads.split_at_checked(u16::from_le_bytes(*length).into()) else { return };
    let header = sealed(EnvelopeKind::Header, header);
    // Behind the word with the footer's own feature flags the footer repeats the header's checksum.
    let Some((features, rest)) = footer.split_first_chunk::<8>() else { return };
    let footer = [&features[..], &envelope_checksum(&header).to_le_bytes(), rest].concat();
    let Ok(mut ntuple) = parse_ntuple(anchor(), &header, &sealed(EnvelopeKind::Footer, &footer)) else { return };
    walk(&ntuple);
    let Ok(header) = write_header(&ntuple) else { return };
    ntuple.header_checksum = envelope_checksum(&header);
    // Locators that are not into a file are not written.
    let Ok(footer) = write_footer(&ntuple) else { return };
    let again = parse_ntuple(anchor(), &header, &footer).unwrap();
    assert_eq!(again.schema.fields.len(), ntuple.schema.fields.len());
    assert_eq!((&again.groups, &again.attribute_sets), (&ntuple.groups, &ntuple.attribute_sets));
});
