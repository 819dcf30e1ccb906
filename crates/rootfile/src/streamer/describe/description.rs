//! The declaration of a class.

/// A class as its author declares it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassDescription {
    /// Name with scopes and template arguments.
    pub name: String,
    /// The version of its `ClassDef`. None without a `ClassDef`: files then have version 1, or -1 where the class is a
    /// base. With a version the class has virtual functions.
    pub version: Option<i16>,
    /// The comment of the `ClassDef`, which derived classes repeat.
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
    /// Its C++ type, followed by dimensions: `float`, `int[2][3]`, `std::vector<Hit>`, `float*`. An enum is `enum E`,
    /// or `enum E : short` if its underlying type is not int.
    pub cpp_type: String,
    /// Its comment: a range (`[0,1,10]`), a counter (`[fN]`), never null (`->`), not written (`!`), text.
    pub comment: String,
}

impl Member {
    /// Whether the member is not written: its comment begins with `!`.
    pub fn is_transient(&self) -> bool {
        self.comment.starts_with('!')
    }
}
