//! What an author declares about a class.

/// A class as its author declares it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassDescription {
    /// Name with scopes and template arguments.
    pub name: String,
    /// The version of its `ClassDef`; none if it has no `ClassDef`, which files tell as version 1, and -1 where it is a
    /// base. With a version the class has virtual functions.
    pub version: Option<i16>,
    /// The comment of the `ClassDef`, which classes derived from it repeat.
    pub title: String,
    /// Base classes in order.
    pub bases: Vec<String>,
    /// Members in order.
    pub members: Vec<Member>,
}

/// A member of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its C++ type, with dimensions behind: `float`, `int[2][3]`, `std::vector<Hit>`, `float*`. An enum is
    /// `enum E`, or `enum E : short` if it is not kept in an int.
    pub cpp_type: String,
    /// What its comment says: a range (`[0,1,10]`), a counter (`[fN]`), never null (`->`), not written (`!`), text.
    pub comment: String,
}

impl Member {
    /// Whether the member is not written, which a `!` at the head of its comment says.
    pub fn is_transient(&self) -> bool {
        self.comment.starts_with('!')
    }
}
