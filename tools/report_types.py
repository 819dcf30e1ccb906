"""Serialised types of the Rust sources: structs and enums that derive `Serialize`, with the names that serde gives
their fields, and their documentation. Nothing is compiled; `report_classes` makes data classes of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

REPO = Path(__file__).resolve().parent.parent

_ITEM = re.compile(
    r"(?P<docs>(?:^[ \t]*///[^\n]*\n)*)(?P<attributes>(?:^[ \t]*#\[[^\n]*\]\n|^[ \t]*///[^\n]*\n)*)"
    r"^[ \t]*pub(?:\([a-z ]+\))? (?P<what>struct|enum) (?P<name>\w+)(?:<[^>{(]*>)? ?(?P<open>[{(])",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Part:
    """A field of a struct, or a variant of an enum."""

    name: str
    #: Its Rust type; of a variant the text between its brackets.
    type: str
    docs: str
    #: Its `serde` attributes, joined.
    serde: str


@dataclass
class Type:
    """A serialised type."""

    name: str
    what: str
    docs: str
    serde: str
    file: Path
    parts: list[Part] = field(default_factory=list)


def types() -> dict[str, list[Type]]:
    """The serialised types of all crates, by name."""
    found: dict[str, list[Type]] = {}
    for path in sorted((REPO / "crates").glob("*/src/**/*.rs")):
        text = path.read_text()
        if "Serialize" not in text:
            continue
        for item in _ITEM.finditer(text):
            if "Serialize" not in item["attributes"]:
                continue
            one = Type(item["name"], item["what"], _docs(item["docs"]), _serde(item["attributes"]), path)
            body = _within(text, item.end() - 1)
            one.parts = _variants(body) if item["what"] == "enum" else _fields(body)
            found.setdefault(one.name, []).append(one)
    return found


def resolve(found: dict[str, list[Type]], name: str, near: Path) -> Type | None:
    """The type of that name that a file means: its own, or the one that it imports."""
    candidates = found.get(name, [])
    own = [one for one in candidates if one.file == near]
    if own or len(candidates) < 2:
        return next(iter(own or candidates), None)
    text = near.read_text()
    used = [line for line in re.findall(r"use ([^;]+);", text) if re.search(rf"\b{name}\b", line)]
    words = {word for line in used for word in re.findall(r"\w+", line)}

    def likeness(one: Type) -> int:
        modules = {*one.file.relative_to(REPO).with_suffix("").parts}
        return 10 * len(words & modules) + len({*near.parts} & {*one.file.parts})

    return max(candidates, key=likeness)


def place(one: Type) -> str:
    """File and name of a type."""
    return f"{one.file.relative_to(REPO / 'crates').with_suffix('').as_posix()}:{one.name}"


def type_at(found: dict[str, list[Type]], where: str) -> Type:
    """The type of a file and a name, "lab/src/decide/tune/report:Report"."""
    return next(one for one in found[where.rpartition(":")[2]] if place(one) == where)


def without_links(docs: str) -> str:
    """Documentation without the links of Rust."""
    return re.sub(r"\[`(?:\w+::)*(\w+)`\](?:\([^)]*\))?", r"`\1`", docs)


def words(text: str) -> list[str]:
    """The names in a type."""
    return re.findall(r"\w+", text) or [""]


def arguments(text: str) -> list[str]:
    """The types between the brackets of a type."""
    made, depth, start = [], 0, 1
    for at in range(1, len(text)):
        if text[at] in "<([":
            depth += 1
        elif text[at] in ">)]" and depth:
            depth -= 1
        elif text[at] in ">),]" and not depth:
            made.append(text[start:at].strip())
            start = at + 1
    return [one for one in made if one]


def outer_and_inner(text: str) -> tuple[str, list[str]]:
    """The name of a type without its path, and the types between its brackets without lifetimes."""
    outer, _, rest = text.partition("<")
    inner = [one for one in arguments(f"<{rest}") if not one.startswith("'")] if rest else []
    return outer.rpartition("::")[2].strip(), inner


def spelled(part: Part, one: Type) -> str:
    """A variant as serde writes it."""
    renamed = re.search(r'rename = "([^"]+)"', part.serde)
    if renamed:
        return renamed[1]
    rule = re.search(r'rename_all = "([^"]+)"', one.serde)
    if rule is None:
        return part.name
    if rule[1] == "lowercase":
        return part.name.lower()
    return re.sub(r"(?<!^)(?=[A-Z])", {"kebab-case": "-", "snake_case": "_"}[rule[1]], part.name).lower()


def quoted(text: str) -> str:
    """As in Python and JSON."""
    return f'"{text}"'


def _lower(text: str) -> str:
    """A sentence behind a colon."""
    first = text.partition(" ")[0]
    return text if first.isupper() or first.startswith(("RN", "RO", "TT")) else text[:1].lower() + text[1:]


def values(found: dict[str, list[Type]], text: str, near: Type) -> str:
    """What the values of an enum mean, in sentences behind the documentation of a field."""
    name = words(text)[-1]
    one = resolve(found, name, near.file)
    if one is None or one.what != "enum" or any(part.type for part in one.parts):
        return ""
    return "".join(f" {quoted(spelled(part, one))}: {_lower(part.docs)}" for part in one.parts)


@dataclass(frozen=True)
class Printed:
    """A field of the JSON."""

    name: str
    #: Its Rust type, and the type in whose file that is named.
    type: str
    near: Type
    docs: str
    #: Whether it is left out where it does not apply.
    left_out: bool
    #: Whether the other fields of its enum are beside it.
    is_tag: bool = False


def printed(found: dict[str, list[Type]], one: Type) -> Iterator[Printed]:
    """The fields of a struct as they are in the JSON, those of flattened structs among them."""
    for part in one.parts:
        if re.search(r"\bskip\b(?!_)", part.serde):
            continue
        if "flatten" in part.serde:
            inner = resolve(found, words(part.type)[-1], one.file)
            if inner is None:
                raise ValueError(f"{one.name}.{part.name}: {part.type} is not known")
            tag = re.search(r'tag = "(\w+)"', inner.serde)
            if tag:
                yield Printed(tag[1], "String", one, part.docs, left_out=False, is_tag=True)
            else:
                yield from printed(found, inner)
            continue
        renamed = re.search(r'rename = "(\w+)"', part.serde)
        kind = part.type
        if "serialize_with" in part.serde:
            kind = "Option<String>" if kind.startswith("Option") else "String"
        docs = part.docs + values(found, kind, one)
        yield Printed(renamed[1] if renamed else part.name, kind, one, docs, "skip_serializing_if" in part.serde)


def _within(text: str, start: int) -> str:
    """The text between the bracket at `start` and its partner."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "{([":
            depth += 1
        elif text[at] in "})]":
            depth -= 1
            if depth == 0:
                return text[start + 1 : at]
    raise ValueError("a bracket has no partner")


def _docs(text: str) -> str:
    lines = [line.strip().removeprefix("///").strip() for line in text.splitlines() if line.strip().startswith("///")]
    return " ".join(line for line in lines if line)


def _serde(text: str) -> str:
    return ", ".join(re.findall(r"#\[serde\((.*)\)\]", text))


def _split(body: str) -> list[str]:
    """Parts of a body at the commas of its own level, with the lines of documentation in front of them."""
    parts, start, depth, at = [], 0, 0, 0
    while at < len(body):
        if body.startswith("//", at):
            at = body.find("\n", at) if "\n" in body[at:] else len(body)
        elif body[at] == '"':
            at = body.index('"', at + 1)
        elif body[at] in "{([<":
            depth += 1
        elif body[at] in "})]" or (body[at] == ">" and body[at - 1] != "-"):
            depth -= 1
        elif body[at] == "," and depth == 0:
            parts.append(body[start:at])
            start = at + 1
        at += 1
    return [part for part in [*parts, body[start:]] if part.strip()]


def _bare(part: str) -> str:
    """A part without documentation, comments and attributes."""
    lines = [line.strip() for line in part.splitlines()]
    return " ".join(line for line in lines if line and not line.startswith(("//", "#[")))


def _fields(body: str) -> list[Part]:
    made = []
    for part in _split(body):
        found = re.fullmatch(r"(?:pub(?:\([a-z: ]+\))? )?(?:r#)?(\w+): (.+)", _bare(part))
        if found:
            made.append(Part(found[1], found[2], _docs(part), _serde(part)))
        else:
            made.append(Part("", _bare(part).removeprefix("pub "), _docs(part), _serde(part)))
    return made


def _variants(body: str) -> list[Part]:
    made = []
    for part in _split(body):
        found = re.match(r"(\w+)(.*)", _bare(part))
        if found:
            made.append(Part(found[1], found[2].strip(), _docs(part), _serde(part)))
    return made
