//! Classes described, against the infos that ROOT made of the same declarations.

use std::sync::Arc;

use super::*;
use crate::{MemoryFile, RootFile};

/// A header that real ROOT has compiled, read as it is, and a file with what came of it.
const HEADER: &str = include_str!("../../../tests/data/described.h");
const BY_ROOT: &[u8] = include_bytes!("../../../tests/data/described.root");

fn one(text: &str) -> Result<Vec<StreamerInfo>> {
    describe(&parse(text)?, &StreamerInfos::new())
}

fn message(text: &str) -> String {
    one(text).unwrap_err().to_string()
}

/// ROOT's infos, without those of its own classes, which it used, and of pairs of which ROOT did not know the members in
/// time (it gives them all the same checksum, no sizes, and the title "Emulation").
fn by_root() -> Vec<Arc<StreamerInfo>> {
    let file = RootFile::from_source(Arc::new(MemoryFile(BY_ROOT.to_vec()))).unwrap();
    let none = StreamerInfos::new();
    let kept = |info: &&Arc<StreamerInfo>| none.latest(&info.name).is_none() && info.checksum != 0x0b5f_b752;
    file.infos().iter().filter(kept).cloned().collect()
}

#[test]
fn infos_equal_those_that_root_made_of_the_same_header() {
    let classes = parse(HEADER).unwrap();
    let infos = describe(&classes, &StreamerInfos::new()).unwrap();
    let by_root = by_root();
    assert!(by_root.len() > 30);
    let mut wrong = Vec::new();
    for expected in &by_root {
        let Some(info) = infos.iter().find(|info| info.name == expected.name) else {
            wrong.push(format!("{}: missing", expected.name));
            continue;
        };
        if (info.version, info.checksum, info.bits) != (expected.version, expected.checksum, expected.bits) {
            wrong.push(format!("{}: version or checksum {:x} {:x}", info.name, info.checksum, expected.checksum));
        }
        for i in 0..info.elements.len().max(expected.elements.len()) {
            if info.elements.get(i) != expected.elements.get(i) {
                wrong.push(format!("{}: {:?}\n     {:?}", info.name, info.elements.get(i), expected.elements.get(i)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The pairs that are not compared.
    assert_eq!(infos.len(), by_root.len() + 7);
}

#[test]
fn unsupported_declarations_are_errors() {
    for (text, why) in [
        ("struct A { Unknown x; };", "A::x: the class Unknown is unknown"),
        ("struct A { float *x; };", "A::x: an array of numbers needs a member that counts it"),
        ("struct A { float *x; //[n]\n int n; };", "A::x: the counter n must be an earlier member"),
        ("struct A { short n; float *x; //[n]\n};", "n counts, so it must be an int"),
        ("struct A { A a; };", "has itself as a base or member"),
        ("struct A { std::vector<A> a; std::map<int,A*> b; A *c; int c; };", "A::c: declared twice"),
        ("struct A { int x; }; struct A { int y; };", "A: described twice"),
        ("struct A { int x[0]; };", "an array must have between 1 and"),
        ("struct A { int x[1][1][1][1][1][1]; };", "more than five dimensions"),
        ("struct A { int x[65536][65536]; };", "an array must have between 1 and"),
        ("struct A { double x[2000000000]; };", "the member is too large"),
    ] {
        let message = message(text);
        assert!(message.contains(why), "{text}: {message}");
    }
}

#[test]
fn syntax_errors_name_line_and_column() {
    for (text, why) in [
        ("class A {\n  int;\n};", "line 2, column 6: expected a name, found `;`"),
        ("class A { int x };", "line 1, column 17: expected `;`, found `}`"),
        ("class A {\n int x;\n void f();\n};", "line 3, column 2: functions are not allowed here"),
        ("class A { int &x; };", "a reference cannot be written"),
        ("class A { int x; }", "expected `;`, but the text ends"),
        ("class A { long double x; };", "ROOT does not write a long double"),
        ("class A : virtual B { };", "ROOT does not write virtual bases"),
        ("class A { version 99999; };", "expected a number that fits, found `99999`"),
        ("int x;", "expected a class, an enum or a namespace, found `int`"),
        ("class A { /* ", "the comment does not end"),
        ("namespace a { class A { }; ", "but the text ends"),
        ("class A { ~A(); };", "line 1, column 11"),
    ] {
        let message = parse(text).unwrap_err().to_string();
        assert!(message.contains(why), "{text}: {message}");
    }
}

#[test]
fn declarations_follow_cpp_syntax() {
    let classes = parse(
        "namespace ns { enum E : short { a, b }; struct In; struct In { E e; std::vector<E> v; }; }\n\
         // a comment\n\
         class Box<int> : public ns::In, TObject { /* none */ private:\n\
         float *a, b[2] = {1, 2}; // [n] both \n\
         mutable const unsigned int c = f(1, 2), d{3}; //! not kept\n\
         enum G { x }; G g; static int s; enum Other o;\n\
         version 3; // A box\n};",
    )
    .unwrap();
    let member = |name: &str, cpp_type: &str, comment: &str| Member {
        name: name.into(),
        cpp_type: cpp_type.into(),
        comment: comment.into(),
    };
    assert_eq!(classes[0].name, "ns::In");
    assert_eq!(
        classes[0].members,
        [member("e", "enum ns::E : short", ""), member("v", "vector<enum ns::E : short>", "")]
    );
    let members = vec![
        member("a", "float*", "[n] both"),
        member("b", "float[2]", "[n] both"),
        member("c", "const unsigned int", "! not kept"),
        member("d", "const unsigned int", "! not kept"),
        member("g", "enum Box<int>::G", ""),
        member("o", "enum Other", ""),
    ];
    let expected = ClassDescription {
        name: "Box<int>".into(),
        version: Some(3),
        title: "A box".into(),
        bases: vec!["ns::In".into(), "TObject".into()],
        members,
    };
    assert_eq!(classes[1..], [expected]);
}
