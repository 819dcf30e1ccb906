//! Reads members straight into a struct of the caller, by the same plans and without a value for each.
//!
//! For classes with thousands of objects in a record. The streamer infos still define the members, their order and
//! their widths; members without a place in the struct are skipped.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::plan::{Plan, Step};
use super::read::ObjectReader;
use super::value::{Named, ObjectId, numbers};
use crate::tags::Frame;
use crate::{Error, Result};

/// Deepest nesting of bases.
const MAX_BASES: usize = 8;
/// Plans that are resolved at the same time; a file has a few.
const MOST_PLANS: usize = 32;

/// The place of a member in a `T`.
#[derive(Clone, Copy)]
pub enum Place<T> {
    /// A function reads the member.
    Read(fn(&mut T, &mut ObjectReader<'_>, &Step) -> Result<()>),
    /// An object by value whose members are members of the `T`. Bases always are.
    Inside,
}

/// Reads members of a `T`.
pub struct Typed<T> {
    place: fn(&str) -> Option<Place<T>>,
    plans: RefCell<Vec<(Arc<Plan>, Places<T>)>>,
}

type Places<T> = Rc<[Option<Place<T>>]>;

impl<T> Typed<T> {
    /// `place` returns the place of a member by its name.
    pub fn new(place: fn(&str) -> Option<Place<T>>) -> Self {
        Self { place, plans: RefCell::default() }
    }

    /// Reads an object of `class` whose frame has been read, up to its end.
    ///
    /// # Errors
    ///
    /// If the class is not described, or if the bytes do not fit it.
    pub fn object(&self, into: &mut T, class: &str, frame: Frame, reader: &mut ObjectReader<'_>) -> Result<()> {
        self.framed(into, class, frame, reader, 0)
    }

    /// Reads the members of a plan.
    ///
    /// # Errors
    ///
    /// If the bytes do not fit the plan.
    pub fn members(&self, into: &mut T, plan: &Arc<Plan>, reader: &mut ObjectReader<'_>) -> Result<()> {
        self.steps(into, plan, reader, 0)
    }

    fn framed(
        &self,
        into: &mut T,
        class: &str,
        frame: Frame,
        reader: &mut ObjectReader<'_>,
        depth: usize,
    ) -> Result<()> {
        let plan = reader.plan(class, frame)?;
        self.steps(into, &plan, reader, depth)?;
        frame.finish(&mut reader.cursor, class)
    }

    fn steps(&self, into: &mut T, plan: &Arc<Plan>, reader: &mut ObjectReader<'_>, depth: usize) -> Result<()> {
        if depth > MAX_BASES {
            return Err(Error::corrupt(format!("bases nest more than {MAX_BASES} deep")));
        }
        reader.begin_members(plan)?;
        for ((name, step), place) in plan.steps.iter().zip(self.places(plan).iter()) {
            let done = match (place, step) {
                (Some(Place::Read(read)), step) => read(into, reader, step),
                (Some(Place::Inside), Step::Inline(class)) | (None, Step::Base { class }) => {
                    let frame = Frame::read(&mut reader.cursor);
                    frame.and_then(|frame| self.framed(into, class, frame, reader, depth + 1))
                }
                (_, step) => reader.pass(step),
            };
            done.map_err(|e| e.object(format!("{}::{name}", plan.class)))?;
        }
        Ok(())
    }

    /// The places of a plan's members. Shared, since an object may contain others of its class.
    fn places(&self, plan: &Arc<Plan>) -> Places<T> {
        let mut plans = self.plans.borrow_mut();
        if let Some((_, places)) = plans.iter().find(|(known, _)| Arc::ptr_eq(known, plan)) {
            return Rc::clone(places);
        }
        let places: Places<T> = plan.steps.iter().map(|(name, _)| (self.place)(name)).collect();
        if plans.len() >= MOST_PLANS {
            plans.clear();
        }
        plans.push((Arc::clone(plan), Rc::clone(&places)));
        places
    }
}

/// The position of skipped numbers in the record.
#[derive(Clone, Debug, Default)]
pub struct Span {
    code: i32,
    at: Range<usize>,
}

impl Span {
    /// The numbers, if they are integers.
    pub fn numbers<'a>(&self, reader: &ObjectReader<'a>) -> impl ExactSizeIterator<Item = i64> + use<'a> {
        numbers(self.code, reader.cursor.data().get(self.at.clone()).unwrap_or_default())
    }
}

impl ObjectReader<'_> {
    /// An integer member; 0 if the member has another type.
    ///
    /// # Errors
    ///
    /// If the member cannot be read. So do the other readers of members.
    pub fn integer(&mut self, step: &Step) -> Result<i64> {
        match step {
            Step::Basic(t) => Ok(self.basic(*t)?.as_i64().unwrap_or(0)),
            step => self.pass(step).map(|()| 0),
        }
    }

    /// The identity of the object that a pointer member refers to; none if the pointer is null or the member is not a pointer.
    ///
    /// # Errors
    ///
    /// If the member cannot be read.
    pub fn reference(&mut self, step: &Step) -> Result<Option<ObjectId>> {
        match step {
            Step::Pointer => self.pointer(),
            step => self.pass(step).map(|()| None),
        }
    }

    /// A name and title; empty if the member is not a `TNamed`.
    ///
    /// # Errors
    ///
    /// If the member cannot be read.
    pub fn name(&mut self, step: &Step) -> Result<Named> {
        match step {
            Step::TNamed => self.named(),
            step => self.pass(step).map(|()| Named::default()),
        }
    }

    /// A string member; empty if the member has another type.
    ///
    /// # Errors
    ///
    /// If the member cannot be read.
    pub fn text(&mut self, step: &Step) -> Result<String> {
        match step {
            Step::TString => self.cursor.string(),
            step => self.pass(step).map(|()| String::new()),
        }
    }

    /// The position of an array of numbers, which is fixed, counted by `count`, or a `TArray`. The numbers are decoded later.
    ///
    /// # Errors
    ///
    /// If the bytes end before the array.
    pub fn span(&mut self, step: &Step, count: i64) -> Result<Span> {
        match step {
            Step::FixedArray(t, n) => self.span_of(*t, *n),
            Step::CountedArray(t, _) => {
                let n = if self.cursor.u8()? == 0 { 0 } else { self.cursor.checked_count(count, 1)? };
                self.span_of(*t, n)
            }
            Step::Inline(class) => match super::read::array_class(class) {
                Some(t) => {
                    let n = self.cursor.count(1)?;
                    self.span_of(t, n)
                }
                None => self.pass(step).map(|()| Span::default()),
            },
            step => self.pass(step).map(|()| Span::default()),
        }
    }

    /// The position of `n` numbers of a basic type. The numbers are decoded later.
    ///
    /// # Errors
    ///
    /// If the bytes end before the numbers.
    pub fn span_of(&mut self, type_code: i32, n: usize) -> Result<Span> {
        let start = self.cursor.pos();
        self.raw_array(type_code, n)?;
        Ok(Span { code: type_code, at: start..self.cursor.pos() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Writer;
    use crate::streamer::{StreamerInfos, code};
    use crate::tags::{begin_frame, end_frame};

    #[derive(Default)]
    struct Line {
        width: i64,
        style: i64,
        list: Span,
    }

    fn place(name: &str) -> Option<Place<Line>> {
        Some(Place::Read(match name {
            "fLineWidth" => |line, reader, step| reader.integer(step).map(|n| line.width = n),
            "fLineStyle" => |line, reader, step| reader.integer(step).map(|n| line.style = n),
            "fList" => |line, reader, step| reader.span(step, line.style).map(|span| line.list = span),
            _ => return None,
        }))
    }

    fn plan(steps: Vec<(&str, Step)>) -> Arc<Plan> {
        let steps = steps.into_iter().map(|(name, step)| (name.to_owned(), step)).collect();
        Arc::new(Plan { class: "TOther".to_owned(), version: 1, checksum: 0, steps })
    }

    fn line(w: &mut Writer) {
        let frame = begin_frame(w, 2);
        [602, 3, 7].iter().for_each(|&v| w.i16(v));
        end_frame(w, frame);
    }

    #[test]
    fn members_of_bases_and_arrays_find_their_places() {
        let mut w = Writer::new();
        line(&mut w);
        w.string("passed over");
        w.u8(1);
        [5, -6, 7].iter().for_each(|&v| w.i32(v));
        let plan = plan(vec![
            ("TAttLine", Step::Base { class: "TAttLine".into() }),
            ("fComment", Step::TString),
            ("fList", Step::CountedArray(code::INT, "fLineStyle".to_owned())),
        ]);
        let infos = StreamerInfos::new();
        let mut reader = ObjectReader::new(&w.bytes, 0, &infos);
        let mut read = Line::default();
        Typed::new(place).members(&mut read, &plan, &mut reader).unwrap();
        assert_eq!((read.style, read.width), (3, 7));
        assert_eq!(read.list.numbers(&reader).collect::<Vec<_>>(), [5, -6, 7]);
        assert_eq!(reader.cursor.remaining(), 0);
    }

    #[test]
    fn a_base_that_ends_elsewhere_is_an_error() {
        let mut w = Writer::new();
        line(&mut w);
        w.patch_u32(0, 0x4000_0009);
        w.u8(0);
        let plan = plan(vec![("TAttLine", Step::Base { class: "TAttLine".into() })]);
        let infos = StreamerInfos::new();
        let read = Typed::new(place).members(&mut Line::default(), &plan, &mut ObjectReader::new(&w.bytes, 0, &infos));
        assert!(read.unwrap_err().to_string().contains("TAttLine"));
    }

    #[test]
    fn bases_within_themselves_end() {
        let mut infos = StreamerInfos::new();
        let mut info = infos.latest("TLeafI").unwrap().as_ref().clone();
        info.name = "TLoop".to_owned();
        info.version = 1;
        info.elements.truncate(1);
        info.elements[0].name = "TLoop".to_owned();
        infos.add(Arc::new(info));
        let record = [0, 1].repeat(100_000);
        let plan = plan(vec![("TLoop", Step::Base { class: "TLoop".into() })]);
        let read = Typed::new(place).members(&mut Line::default(), &plan, &mut ObjectReader::new(&record, 0, &infos));
        assert!(read.is_err());
    }
}
