"""The documentation: its code runs and prints what the pages show, and the site has a page for everything public. The
site itself is built by `make docs`, which also checks every link."""

import inspect
import pydoc
import re
import tomllib
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import rattler_build
import yaml

import basketry as bk
import header_pages
import site_pages
from basketry.reading.listing import Listing
from referee import pages, paths
from referee.paths import REPO
from servers.odd import OddServer

DOCS = REPO / "docs"
WITH_CODE = [
    DOCS / "tutorial.md",
    DOCS / "format" / "records.md",
    *sorted((DOCS / "howto").glob("*.md")),
    *sorted(DOCS.glob("from-*.md")),
]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, odd_server: OddServer) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    data = tmp_path / "events.root"
    bk.generate("nano", data, size="1MB")

    pages.run_page(page, folder, {"URL": odd_server.put("events.root", data.read_bytes())})


def site() -> list[str]:
    """The pages that the site lists."""
    return re.findall(r"[\w/-]+\.md$", (REPO / "mkdocs.yml").read_text().partition("\nnav:\n")[2], re.MULTILINE)


def test_every_page_of_the_site_exists() -> None:
    made = {f"reference/{verb}.md" for verb in site_pages.verbs(paths.BINARY)} | set(header_pages.PAGES)
    files = {f"{path.relative_to(DOCS)}" for path in DOCS.rglob("*.md")}
    elsewhere = {page for page, path in site_pages.ELSEWHERE.items() if (REPO / path).is_file()}

    assert set(site()) <= made | files | elsewhere
    assert made <= set(site())


def test_the_headers_are_told_whole() -> None:
    header = (header_pages.INCLUDE / "basketry.h").read_text()
    page = header_pages.page("reference/c.md")
    declared = set(re.findall(r"^(?:[\w ]+[ *])?(basketry_\w+)\(", header, re.MULTILINE))
    declared |= set(re.findall(r"^struct (basketry_\w+) \{", header, re.MULTILINE))
    told = dict(re.findall(r"^### (\w+)\n\n```c\n(?:.*\n)+?```\n\n(.+)", page, re.MULTILINE))

    assert len(declared) > 60
    assert declared <= told.keys(), declared - told.keys()
    for name, members in re.findall(r"^struct (\w+) \{\n(.*?)^\};", header, re.MULTILINE | re.DOTALL):
        listed = page.partition(f"### {name}\n")[2].partition("\n### ")[0]
        assert listed.count("\n| `") == members.count("/**"), name
    classes = {
        name
        for path in header_pages.PAGES["reference/cpp.md"]
        for name in re.findall(r"^class (\w+).*\{$", (header_pages.INCLUDE / path).read_text(), re.MULTILINE)
    }
    assert classes <= set(re.findall(r"^## (\w+)", header_pages.page("reference/cpp.md"), re.MULTILINE))
    assert {"writer", "context", "events", "BufferMerger"} <= classes
    told_cpp = header_pages.page("reference/cpp.md")
    for name in ("writer", "dataset", "pool", "BufferMerger"):
        assert re.search(rf"^(?:explicit )?{name}\(", told_cpp.partition(f"\n## {name}\n")[2], re.MULTILINE), name
    assert "std::uint64_t batch_bytes = 0;" in told_cpp
    # What a reader sees has no marks of comments.
    for path in header_pages.PAGES:
        text = header_pages.page(path)
        assert not re.search(r"@param|@return|^\s*\*|///(?! )", text, re.MULTILINE), path
        for anchor in re.findall(r"\(c\.md#(\w+)\)", text):
            assert anchor in told, anchor


def test_everything_public_in_python_has_a_place_on_the_site() -> None:
    text = "".join(path.read_text() for path in (DOCS / "python").glob("*.md"))
    named = set(re.findall(r"^::: basketry\.(\w+)", text, re.MULTILINE))

    assert named >= set(bk.__all__)


def public() -> dict[str, Any]:
    """Functions and methods of the package by the names that docstrings use, and the options that several have."""
    found: dict[str, Any] = {"Listing": Listing}
    for module, prefix in ((bk, ""), (bk.distributed, "distributed.")):
        for name in module.__all__:
            one = getattr(module, name)
            found |= {prefix + name: one} if isinstance(one, FunctionType) else {}
            if isinstance(one, type):
                methods = inspect.getmembers(one, inspect.isfunction)
                found |= {f"{prefix}{name}.{key}": method for key, method in methods if not key.startswith("_")}
    return found


def explained(name: str, functions: dict[str, Any], seen: set[str]) -> set[str]:
    """The words of the docstring of a function, and of those that it refers to."""
    seen.add(name)
    text = inspect.getdoc(functions[name]) or ""
    words = {*re.findall(r"\w+", text), *(Listing.__annotations__ if name == "Listing" else ())}
    owner = name.rpartition(".")[0]
    for other in re.findall(r"`(?:basketry\.)?([\w.]+)`", text):
        for full in (f"{owner}.{other}", other):
            if full in functions and full not in seen:
                words |= explained(full, functions, seen)
    return words


def own_options(function: FunctionType) -> set[str]:
    """The keywords that a function itself names."""
    code = function.__code__
    return set(code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount])


def test_what_the_site_shows_of_the_package_exists() -> None:
    shown = [
        name for page in DOCS.rglob("*.md") for name in re.findall(r"^::: ([\w.]+)$", page.read_text(), re.MULTILINE)
    ]
    assert len(shown) > 50
    missing = [name for name in shown if pydoc.locate(name) is None]
    assert missing == []


def test_every_option_is_explained() -> None:
    functions = public()
    own = {name: own_options(one) for name, one in functions.items() if isinstance(one, FunctionType)}
    silent = {name: left for name, options in own.items() if (left := options - explained(name, functions, set()))}

    assert sum(map(len, own.values())) > 200
    assert silent == {}


def test_recipe_and_citation_have_the_version_and_the_needs_of_the_package() -> None:
    version = tomllib.loads((REPO / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    project = tomllib.loads((REPO / "pyproject.toml").read_text())
    recipe = yaml.safe_load((REPO / "packaging/conda/recipe.yaml").read_text())
    citation = yaml.safe_load((REPO / "CITATION.cff").read_text())
    host, run = recipe["requirements"]["host"], recipe["requirements"]["run"]

    assert recipe["context"]["version"] == citation["version"] == version
    assert {f"python {project['project']['requires-python']}", *spaced(project["project"]["dependencies"])} == set(run)
    assert set(spaced(project["build-system"]["requires"])) <= set(host)


@pytest.mark.parametrize("processor", ["linux-64", "linux-aarch64"])
def test_rattler_build_renders_the_recipe(processor: str) -> None:
    """Its own parser refuses unknown keys. To build, it would need conda-forge's packages."""
    recipe = rattler_build.Stage0Recipe.from_file(REPO / "packaging/conda/recipe.yaml")
    compilers = rattler_build.VariantConfig({"c_compiler": ["gcc"], "rust_compiler": ["rust"], "c_stdlib": ["sysroot"]})
    platform = rattler_build.PlatformConfig(target_platform=processor, build_platform="linux-64")

    (variant,) = recipe.render(compilers, rattler_build.RenderConfig(platform=platform))
    rendered = variant.recipe.to_dict()
    build = rendered["requirements"]["build"]
    runs_what_it_builds = any("completions" in line for line in rendered["build"]["script"])

    assert {f"{name}_{processor}" for name in ("gcc", "rust", "sysroot")} <= set(build)
    assert (f"cross-python_{processor}" in build) == (processor != "linux-64")
    assert runs_what_it_builds == (processor == "linux-64")


def spaced(requirements: list[str]) -> list[str]:
    """Requirements in conda's form, with a blank between name and version."""
    return [re.sub(r"(?<=\w)(?=[<>=])", " ", one, count=1) for one in requirements]
