"""THIRD-PARTY.txt: the libraries that the command, the package and the library for C contain, with the texts of their
licences, for the wheel and for `make install`, which run this. It is made of Cargo.lock and of the sources that cargo
has fetched, and decides nothing: of several licences that a library offers it takes MIT's, where there is a text of it.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parent.parent
FILE = REPO / "THIRD-PARTY.txt"
#: What is given to others.
PRODUCTS = ("basketry-cli", "basketry-python", "basketry-capi")
TARGET = "x86_64-unknown-linux-gnu"
#: Files with the texts of licences.
LICENCE = re.compile(r"(?i)^(licen[sc]e|copying|notice|unlicense|copyright)([-._].*)?$")
#: Texts for programs and documents of a library in C that are not linked.
NOT_LINKED = re.compile(r"(?i)copying\.(gpl|lgpl|cc-by)|/(programs|examples|tests|contrib)/")
#: Where a library in C offers its own licence or the GPL: the latter.
OTHER_CHOICE = {"zstd/COPYING"}
#: The licence of a library that comes without its text.
MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""


@dataclass(frozen=True, order=True)
class Library:
    """A library, and where its sources are."""

    name: str
    version: str
    licence: str
    home: str
    authors: tuple[str, ...]
    folder: Path

    @property
    def title(self) -> str:
        """What its entry begins with."""
        return f"{self.name} {self.version}"


def libraries() -> list[Library]:
    """The libraries of the products, with those that they need themselves."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", TARGET]
    said = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=True).stdout
    found: dict[str, Any] = json.loads(said)
    packages = {package["id"]: package for package in found["packages"]}
    needs = {node["id"]: node["deps"] for node in found["resolve"]["nodes"]}
    waiting = [name for name, package in packages.items() if package["name"] in PRODUCTS and not package["source"]]
    known: set[str] = set()
    while waiting:
        one = waiting.pop()
        if one not in known:
            known.add(one)
            waiting += [dep["pkg"] for dep in needs[one] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    return sorted(
        Library(
            package["name"],
            package["version"],
            package["license"] or "see its text",
            package["repository"] or package["homepage"] or "",
            tuple(package["authors"]),
            Path(package["manifest_path"]).parent,
        )
        for package in (packages[name] for name in known)
        if package["source"]
    )


def texts(library: Library) -> list[str]:
    """The texts of its licence; none for Apache's alone, which names no holder."""
    depth = 3 if library.name.endswith("-sys") else 1
    files = [
        path
        for path in sorted(library.folder.rglob("*"))
        if len(path.relative_to(library.folder).parts) <= depth
        and path.is_file()
        and LICENCE.match(path.name)
        and not NOT_LINKED.search(str(path.relative_to(library.folder)))
        and str(path.relative_to(library.folder)) not in OTHER_CHOICE
    ]
    own = [path for path in files if path.parent == library.folder]
    chosen = [path for path in own if re.search(r"(?i)[-_.]mit", path.name)]
    if chosen and " AND " not in library.licence:
        files = chosen + [path for path in files if path not in own or path.name.upper().startswith("NOTICE")]
    found = [path.read_text(errors="replace").strip() for path in files]
    if not found and re.search(r"\bMIT\b", library.licence):
        holders = ", ".join(library.authors) or f"the authors of {library.name}"
        found = [f"Copyright (c) {holders}\n\n{MIT}"]
    if not found and "Apache-2.0" not in library.licence:
        raise SystemExit(f"{library.title} ({library.licence}) has no text of its licence in {library.folder}")
    return found


def notices() -> str:
    """The text of the file."""
    by_text: dict[str, tuple[str, list[Library]]] = {}
    all_of_them = libraries()
    apache = next(path for one in all_of_them for path in one.folder.glob("LICENSE-APACHE"))
    for library in all_of_them:
        for text in texts(library) or [apache.read_text().strip()]:
            by_text.setdefault(" ".join(text.split()), (text, []))[1].append(library)
    parts = [
        "basketry contains these libraries. Each is used under the licence below its name.\n"
        "The standard library of Rust is used under the MIT licence: Copyright (c) The Rust Project Contributors."
    ]
    for text, of in by_text.values():
        names = "\n".join(f"{one.title} ({one.licence}) {one.home}".rstrip() for one in of)
        # Lines of a text that would part it.
        text = re.sub(r"^(={80}|-{80})$", lambda line: line[0][1:], text, flags=re.MULTILINE)
        parts.append(f"{'=' * 80}\n{names}\n{'-' * 80}\n{text}")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    FILE.write_text(notices())
