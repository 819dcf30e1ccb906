"""The reference of libbasketry on the documentation site, made from the comments of its headers: functions, structures
and constants of C, and the classes of C++ with their public members. It writes no text of its own but headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

INCLUDE = Path(__file__).resolve().parent.parent / "crates" / "capi" / "include"
#: The pages, and the headers that each is made from.
PAGES = {
    "reference/c.md": ("basketry.h",),
    "reference/cpp.md": ("basketry.hpp", "basketry_root.hpp"),
    "reference/reports.md": ("basketry_reports.hpp", "basketry_report_types.hpp", "basketry_json.hpp"),
}
#: Titles of the pages.
TITLES = {"reference/c.md": "C", "reference/cpp.md": "C++", "reference/reports.md": "C++: reports as structures"}


@dataclass
class Declared:
    """Something with a comment: its name, its words, and how it is declared."""

    name: str
    text: str
    code: str
    members: "list[Declared]" = field(default_factory=list)


def page(path: str) -> str:
    """The text of a page."""
    texts = [(INCLUDE / name).read_text() for name in PAGES[path]]
    if path.endswith("/c.md"):
        blocks = list(c_blocks(texts[0]))
    else:
        known = {one.name for one in c_declared((INCLUDE / "basketry.h").read_text())}
        blocks = [_linked(block, known) for text in texts for block in cpp_blocks(text)]
    return "\n\n".join([f"# {TITLES[path]}", *blocks]) + "\n"


def _linked(block: str, known: set[str]) -> str:
    """Names of C in the words of C++ as links."""
    if block.startswith(("```", "#")):
        return block

    def link(name: re.Match[str]) -> str:
        return f"[`{name[0]}`](c.md#{name[0]})" if name[0] in known else name[0]

    return re.sub(r"(?<!`)\bbasketry_\w+", link, block)


def c_blocks(header: str) -> Iterator[str]:
    """The page of C: how the header begins, constants, types, functions."""
    about = header.partition("*/")[0].lstrip("/*")
    yield _prose(about.replace(" Made by cbindgen of crates/capi/src: change that, not this.", ""))
    declared = list(c_declared(header))
    yield "## Constants"
    constants = [one for one in declared if one.code.startswith("#define")]
    rows = [f"| `{one.name}` | `{one.code.split()[2]}` | {' '.join(_prose(one.text).split())} |" for one in constants]
    yield "\n".join(["| constant | value | what |", "|---|---|---|", *rows])
    yield "## Types"
    functions = [one for one in declared if one.code.endswith(");") and not one.code.startswith("typedef")]
    for one in declared:
        if one not in constants and one not in functions:
            yield from _entry(one)
    yield "## Functions"
    for one in functions:
        yield from _entry(one)


def c_declared(header: str) -> Iterator[Declared]:
    """What the header of C declares with a comment before it."""
    for comment, code in re.findall(r"^/\*\*\n(.*?)^ \*/\n(.*?)(?=^/\*\*|^#endif|^#ifdef|\Z)", header, re.M | re.S):
        code = code.strip()
        if code.startswith("#define"):
            code = code.splitlines()[0]
            yield Declared(code.split()[1], comment, code)
            continue
        head, brace, body = code.partition("{")
        if brace and not head.rstrip().endswith(")"):
            inner = re.findall(r"/\*\*\n(.*?)\*/\n\s*(.*?;)", body, re.S)
            members = [Declared(_name(text), words, " ".join(text.split())) for words, text in inner]
            yield Declared(head.split()[-1], comment, f"{head.strip()};", members)
        else:
            yield Declared(_name(code), comment, code)


def _name(code: str) -> str:
    """The name that a declaration gives."""
    called = re.search(r"(\w+)\((?!\*)|\(\*\s*(\w+)\)", code)
    return called[1] or called[2] if called else re.findall(r"\w+", code.partition("[")[0])[-1]


def _entry(one: Declared) -> Iterator[str]:
    yield f"### {one.name}"
    yield f"```c\n{one.code}\n```"
    yield _prose(one.text)
    if one.members:
        rows = [f"| `{member.code}` | {' '.join(_prose(member.text).split())} |" for member in one.members]
        yield "\n".join(["| member | what |", "|---|---|", *(row.replace("||", "\\|\\|") for row in rows)])


def _prose(comment: str) -> str:
    """A comment as Markdown: parameters as a list, names as links."""
    lines = [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in comment.strip().splitlines()]
    text = "\n".join(lines).strip()
    text = re.sub(r"\n?@param (\w+)\s+", r"\n- `\1`: ", text)
    text = re.sub(r"\n?@return\s+", "\n\nReturns: ", text)
    # A list needs an empty line before it, and what continues an item is a part of its line.
    text = re.sub(r"\n {2,}(?=\S)", " ", text)
    text = re.sub(r"\n((?:- [^\n]*\n?)+)", r"\n\n\1\n", text)
    text = re.sub(r"::(BASKETRY_\w+)", r"`\1`", text)
    return re.sub(r"::(basketry_\w+)", r"[`\1`](c.md#\1)", re.sub(r"\n{3,}", "\n\n", text)).strip()


def cpp_blocks(header: str) -> Iterator[str]:
    """The part of the page of C++ that a header has: how it begins, then functions and classes of the namespace."""
    lines = header.splitlines()
    first = next(number for number, line in enumerate(lines) if not line.startswith("//"))
    yield _list("\n".join(line[2:].removeprefix(" ") for line in lines[:first]))
    for one in cpp_declared(lines[first:]):
        yield f"## {one.name}"
        yield f"```cpp\n{one.code}\n```"
        yield one.text
        for member in one.members:
            yield f"```cpp\n{member.code}\n```"
            yield member.text


def _list(text: str) -> str:
    """Text in which items of a list are indented."""
    return re.sub(r"\n(?: {2,}- )", "\n- ", re.sub(r"(?<=:)\n {2,}- ", "\n\n- ", text))


def cpp_declared(lines: list[str]) -> Iterator[Declared]:
    """The classes and functions of the namespace that have a comment, with the public members that have one."""
    words: list[str] = []
    current: Declared | None = None
    public = hidden = False
    number = 0
    while number < len(lines):
        line = lines[number]
        bare = line.strip()
        number += 1
        hidden = (hidden or bare == "namespace detail {") and bare != "} // namespace detail"
        if hidden:
            continue
        if bare.startswith("///"):
            words.append(bare[3:].removeprefix(" ").rstrip())
            continue
        if line == "};" and current is not None:
            yield current
            current = None
        elif bare in {"public:", "private:", "protected:"}:
            public = bare == "public:"
        elif words and not bare.startswith("#"):
            code, number = _declaration(lines, number - 1)
            one = Declared(_cpp_name(code), _prose("\n".join(words)), code)
            opens = re.match(r"(class|struct) \w+", code) and line[:1] != " "
            if opens:
                current, public = one, code.startswith("struct")
            elif current is None and line[:1] != " ":
                yield one
            elif current is not None and public:
                current.members.append(one)
        words = []


def _declaration(lines: list[str], number: int) -> tuple[str, int]:
    """A declaration without its body, and the number of the line behind what was taken."""
    indent = len(lines[number]) - len(lines[number].lstrip())
    if indent and lines[number].lstrip().startswith("struct ") and lines[number].endswith("{"):
        end = next(i for i in range(number, len(lines)) if lines[i] == " " * indent + "};")
        return "\n".join(line[indent:] for line in lines[number : end + 1]), end + 1
    taken: list[str] = []
    while number < len(lines):
        line = lines[number]
        number += 1
        text = line[indent:].rstrip()
        # Initializers and bodies are no part of it.
        head = re.split(r"\s*(?<!= )\{|^\s*: |\s+: (?=\w+_?\()", text, maxsplit=1)[0].rstrip()
        is_template = text.startswith("template") and not taken
        if head:
            taken.append(head)
        if not is_template and (head != text or text.endswith((";", ","))):
            if text.endswith(",") and "".join(taken).count("(") > "".join(taken).count(")"):
                continue
            break
    return "\n".join(taken).rstrip(",;") + ";", number


def _cpp_name(code: str) -> str:
    """The name that a declaration in C++ gives."""
    kind = re.search(r"^(?:class|struct|using) (\w+)", code, re.M)
    function = re.search(r"([\w~]+|operator\W+)\(", code)
    return kind[1] if kind else function[1] if function else re.findall(r"\w+", code)[-1]
