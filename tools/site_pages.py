"""Pages of the documentation site that are no files of docs/, as a hook of mkdocs: the reference of each verb, which is
the command's own help, that of the library for C and C++, which is the comments of its headers, and the documents in
other folders of the checkout, with their links. It writes no text of its own."""

import os
import posixpath
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

REPO = Path(__file__).resolve().parent.parent
# mkdocs does not run this file as a program of its folder.
sys.path.insert(0, str(Path(__file__).resolve().parent))
import header_pages  # noqa: E402

# Pages of the site that are documents elsewhere in the checkout.
ELSEWHERE = {
    "project/architecture.md": "ARCHITECTURE.md",
    "project/changelog.md": "CHANGELOG.md",
    "project/contributing.md": "CONTRIBUTING.md",
    "project/security.md": "SECURITY.md",
    "project/tests.md": "tests/README.md",
}
# A relative link, with its anchor.
LINK = re.compile(r"\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def verbs(binary: Path) -> list[str]:
    """The verbs of the command, in the order of its help."""
    return commands(help_text(binary))


def commands(text: str) -> list[str]:
    """The subcommands that a help text lists."""
    listed = text.partition("\nUsage:")[2].partition("\nOptions:\n")[0]
    return re.findall(r"^  ([a-z][\w-]*)(?:  |$)", listed, re.MULTILINE)


def help_text(binary: Path, *words: str) -> str:
    """The help of the command, or of a verb."""
    command = [str(binary), *words, "--help"]
    # A terminal, or the shell's COLUMNS, would give the text its width.
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "80"},
    )
    return done.stdout


def reference(binary: Path, verb: str) -> str:
    """The reference page of a verb and of its subcommands."""
    text = help_text(binary, verb)
    parts = [f"# {verb}", fenced(text)]
    for below in commands(text):
        parts += [f"## {verb} {below}", fenced(help_text(binary, verb, below))]
    return "\n\n".join(parts) + "\n"


def fenced(text: str) -> str:
    """Text as a block of Markdown that is shown as it is."""
    return f"~~~text\n{text.strip()}\n~~~"


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Adds the pages."""
    from mkdocs.structure.files import File

    binary = Path(os.environ["BASKETRY_BIN"]).resolve()
    for verb in verbs(binary):
        files.append(File.generated(config, f"reference/{verb}.md", content=reference(binary, verb)))
    for page in header_pages.PAGES:
        files.append(File.generated(config, page, content=header_pages.page(page)))
    for page, path in ELSEWHERE.items():
        files.append(File.generated(config, page, abs_src_path=str(REPO / path)))
    return files


def on_page_markdown(markdown: str, page: "Page", **_: object) -> str:
    """Turns links between files of the checkout into links between pages of the site."""
    uri = page.file.src_uri
    source = ELSEWHERE.get(uri, f"docs/{uri}")
    pages = {path: name for name, path in ELSEWHERE.items()} | {"README.md": "index.md"}

    def target(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[1]))
        name = pages.get(path, path.removeprefix("docs/"))
        return f"]({posixpath.relpath(name, posixpath.dirname(uri) or '.')}{link[2] or ''})"

    return LINK.sub(target, markdown)
