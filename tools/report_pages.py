"""The tables of fields in docs/*-schema.md, made from the types in Rust that the JSON has. `python
tools/report_pages.py` writes them between their marks; the words around them stay. A test compares what is checked
in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from report_classes import TOLD
from report_types import (
    REPO,
    Printed,
    Type,
    arguments,
    outer_and_inner,
    printed,
    resolve,
    type_at,
    types,
    without_links,
)
from report_walk import WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Where tables go: the type of the whole, and the heading of the parts below it.
MARKS = re.compile(r"<!-- fields: (\S+) (#+) -->\n.*?<!-- end -->", re.DOTALL)
#: Texts, paths and what is not told.
WORDS = {"str": "text", "bool": "truth value", "Path": "path", "float": "number", "Any": "any"}


class Pages:
    """Makes the pages."""

    def __init__(self) -> None:
        self._types = types()

    def pages(self) -> dict[Path, str]:
        """The text of each page."""
        return {path: self.page(path.read_text()) for path in sorted((REPO / "docs").glob("*-schema.md"))}

    def page(self, text: str) -> str:
        """A page with its tables."""

        def made(marks: re.Match[str]) -> str:
            tables = self._tables(type_at(self._types, marks[1]), marks[2])
            return f"<!-- fields: {marks[1]} {marks[2]} -->\n{tables}<!-- end -->"

        return MARKS.sub(made, text)

    def _tables(self, root: Type, heading: str) -> str:
        places: dict[int, list[str]] = {id(root): []}
        order = [root]
        for one in order:
            above = places[id(one)] or [""]
            for field in printed(self._types, one):
                inner, ends = self._inner(field.type, field.near)
                if inner is None:
                    continue
                if id(inner) not in places:
                    places[id(inner)] = []
                    order.append(inner)
                places[id(inner)] += [f"{up}.{field.name}{ends}".lstrip(".") for up in above]
        made = []
        for one in order:
            if places[id(one)]:
                names = ", ".join(f"`{name}`" for name in dict.fromkeys(places[id(one)]))
                made.append(f"\n{heading} {names}\n\n{_text(one.docs)}\n\n")
            made.append("| field | type | what |\n|---|---|---|\n")
            made += self._rows(one)
        return "".join(made)

    def _rows(self, one: Type) -> Iterator[str]:
        for field in printed(self._types, one):
            kind = self._word(field.type, field.near, may_be_null=not field.left_out)
            yield f"| `{field.name}`{'°' if field.left_out else ''} | {kind} | {_text(_docs(field))} |\n"

    def _inner(self, text: str, near: Type) -> tuple[Type | None, str]:
        """The struct in a type, and the brackets behind its place."""
        outer, inner = outer_and_inner(text)
        if inner and outer in ("Option", "Box", "Arc", "Vec", "BTreeMap"):
            found, ends = self._inner(inner[-1], near)
            return found, {"Vec": "[]", "BTreeMap": "{}"}.get(outer, "") + ends
        plain = "<" in text or (outer in TOLD and not TOLD[outer].startswith("dict"))
        one = None if plain else resolve(self._types, outer, near.file)
        if one is None or one.what == "enum":
            return None, ""
        return self._inner(one.parts[0].type, one) if not one.parts[0].name else (one, "")

    def _word(self, text: str, near: Type, may_be_null: bool) -> str:
        """A type as readers of JSON call it."""
        text = re.sub(r"^&?('\w+ )?", "", text.strip())
        if text.startswith("["):
            inside, _, count = text[1:-1].partition("; ")
            text = f"({', '.join([inside] * int(count))})"
        if text.startswith("("):
            return f"[{', '.join(self._word(part, near, may_be_null=True) for part in arguments(text))}]"
        outer, inner = outer_and_inner(text)
        if outer == "Option":
            word = self._word(inner[0], near, may_be_null=True)
            return f"{word} or `null`" if may_be_null and word != "any" else word
        if outer in ("Vec", "BTreeSet", "HashSet"):
            return f"list of {_plural(self._word(inner[0], near, may_be_null=True))}"
        if outer in ("BTreeMap", "HashMap"):
            return f"{_plural(self._word(inner[1], near, may_be_null=True))} by name"
        if outer in ("Box", "Arc", "Cow"):
            return self._word(inner[0], near, may_be_null)
        if WHOLE.fullmatch(outer):
            return "integer"
        told = TOLD.get(outer)
        if told is not None:
            return "object" if told.startswith("dict") else WORDS.get(told, "text")
        one = resolve(self._types, outer, near.file)
        if one is None:
            raise ValueError(f"{near.name}: {outer} is not known")
        if one.what == "enum":
            return "text"
        return "object" if one.parts[0].name else self._word(one.parts[0].type, one, may_be_null)


def _docs(field: Printed) -> str:
    return "Kind of the fault; its numbers are further fields." if field.is_tag else field.docs


def _plural(word: str) -> str:
    return word if word.startswith(("[", "any", "list")) else f"{word}s"


def _text(docs: str) -> str:
    """Documentation in a cell."""
    text = re.sub(r'"([a-z0-9_-]+)": ', r"`\1`: ", without_links(docs))
    return text.replace("`None`", "`null`").replace("|", "\\|")


def main() -> None:
    """Writes the pages."""
    for path, text in Pages().pages().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
