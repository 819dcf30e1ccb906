"""The parameters of the functions of a Rust file. It reads text and resolves no macros; unit tests are left out."""

import re
from collections.abc import Iterator

from referee.rust_imports import code

_FUNCTION = re.compile(r"\bfn (\w+)(?=[<(])")
#: What may stand in front of a tuple in the type of a parameter.
_BORROWED = re.compile(r"(?:&|'\w+\s|mut\s|\s)+")


def functions(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each function of a file, with the types of its parameters."""
    text = code(text)
    for found in _FUNCTION.finditer(text):
        start = _behind_generics(text, found.end())
        yield found[1], [_type(parameter) for parameter in _parts(text, start + 1)]


def takes_tuples(types: list[str]) -> bool:
    """Whether a function hides parameters in a tuple."""
    bare = [_BORROWED.sub("", kind, count=1) if _BORROWED.match(kind) else kind for kind in types]
    return any(kind.startswith("(") and not kind.startswith(("()", "(dyn ", "(impl ")) for kind in bare)


def _behind_generics(text: str, at: int) -> int:
    """Where the bracket of the parameters opens."""
    depth = 0
    while depth or text[at] != "(":
        depth += {"<": 1, "(": 1, ")": -1}.get(text[at], 0)
        depth -= text[at] == ">" and text[at - 1] not in "-="
        at += 1
    return at


def _parts(text: str, start: int) -> list[str]:
    """The parts between the commas up to the bracket that closes what begins before `start`."""
    parts: list[str] = []
    begin, depth = start, 0
    for at in range(start, len(text)):
        if text[at] in "([{<":
            depth += 1
        elif text[at] == ")" and depth == 0:
            return [part.strip() for part in [*parts, text[begin:at]] if part.strip()]
        elif text[at] in ")]}" or (text[at] == ">" and text[at - 1] not in "-="):
            depth -= 1
        elif text[at] == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return []


def _type(parameter: str) -> str:
    """What stands behind the colon; nothing for `self`."""
    depth = 0
    for at, sign in enumerate(parameter):
        if sign in "([{<":
            depth += 1
        elif sign in ")]}>":
            depth -= 1
        elif sign == ":" and depth == 0 and ":" not in (parameter[at - 1], parameter[at + 1]):
            return parameter[at + 1 :].strip()
    return ""
